//! Writes a generated log: `make-log PATH BYTES zstd|plain [SEED]`.

use gatelog_benches::{Encoding, log};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, bytes, encoding, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: make-log PATH BYTES zstd|plain [SEED]");
        return ExitCode::from(2);
    };
    let encoding = if encoding == "plain" { Encoding::Plain } else { Encoding::Zstd };
    let seed = rest.first().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let Ok(bytes) = bytes.parse() else {
        eprintln!("make-log: {bytes} is no number of bytes");
        return ExitCode::from(2);
    };
    let (log, text_bytes) = log(seed, bytes, encoding);
    if let Err(error) = std::fs::write(path, &log) {
        eprintln!("make-log: {path}: {error}");
        return ExitCode::FAILURE;
    }
    println!("{} bytes, {text_bytes} bytes of text", log.len());
    ExitCode::SUCCESS
}
