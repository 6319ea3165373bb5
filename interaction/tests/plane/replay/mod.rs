//! Replay, repair, and whole interleavings.
