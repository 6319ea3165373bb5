//! Ways to people: a terminal, a byte stream, ACP.
