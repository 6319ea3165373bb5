//! The seam before a tool runs.
