//! Criterion benches of gatelog's hot paths; see `benches/`.
