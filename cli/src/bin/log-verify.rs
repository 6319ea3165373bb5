//! `log-verify`: says of session files whether they are sound, and if not where and why.

use std::process::ExitCode;

fn main() -> ExitCode {
    gatelog_cli::main()
}
