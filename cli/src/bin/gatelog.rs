//! `gatelog`: the toolbox around session logs.

use std::process::ExitCode;

fn main() -> ExitCode {
    gatelog_cli::toolbox()
}
