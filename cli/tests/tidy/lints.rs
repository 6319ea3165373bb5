//! The lints that no crate may opt out of.

use crate::tree::File;

/// Finds where unsafe code is not forbidden.
pub(crate) fn unsafe_code(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.is(&["Cargo.toml"])) {
        let lines: Vec<&str> = file.text.lines().collect();
        let inherits = lines.windows(2).any(|pair| pair == ["[lints]", "workspace = true"]);
        let forbids = lines.contains(&"unsafe_code = \"forbid\"");
        match &*file.path {
            "Cargo.toml" if !forbids => {
                faults.push(
                    "Cargo.toml: [workspace.lints.rust] has unsafe_code = \
                    \"forbid\""
                        .into(),
                );
            }
            // Its own workspace; the entry point that the fuzzer's macro writes is unsafe.
            "Cargo.toml" | "fuzz/Cargo.toml" => {}
            path if !inherits => faults.push(format!("{path}: add [lints] with workspace = true")),
            _ => {}
        }
    }
    faults
}
