//! Cancel, answer, unload, drop and drain, at once.
