//! The seam before a tool runs: allow, deny or ask, and guards after a grant.
