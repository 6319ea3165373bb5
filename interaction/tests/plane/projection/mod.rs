//! Projections, and reading a log cold.
