//! Folders that hold compressed logs.

use crate::Fixture;
use crate::frame::frame;
use crate::log::{HEADER, turns};

/// Returns the files of the cases that are folders.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let log = |id: &str, version: u64, count: u64| {
        let seeded = if version >= 2 { ",\"isSeeded\":false" } else { "" };
        let header = HEADER
            .replace("\"id\":\"s\"", &format!("\"id\":\"{id}\""))
            .replace("\"version\":0", &format!("\"version\":{version}"))
            .replace(",\"delegationDepth\"", &format!("{seeded},\"delegationDepth\""));
        let mut text = turns(count);
        if version >= 2 {
            text = text.replace(",\"usage\"", ",\"stream\":[],\"usage\"");
        }
        [frame(format!("{header}\n")), frame(text)].concat()
    };
    let at = |path: &str, bytes: Vec<u8>| (format!("dsh/v0/{path}"), bytes);
    vec![
        at("directory/mixed-encoding/--p--/b/session.jsonl.zstd", log("b", 0, 1)),
        at("field-reports/FR-012-two-encodings/--p--/a/session.jsonl.zstd", log("a", 0, 1)),
        at("field-reports/FR-016-newer-is-shorter/--p--/s/session.jsonl.zstd", log("s", 0, 6)),
        at("field-reports/FR-016-newer-is-shorter/--p--/s/session.v3.jsonl.zstd", log("s", 3, 2)),
        at("field-reports/FR-016-beyond-the-newest/--p--/s/session.v4.jsonl.zstd", log("s", 4, 2)),
        at("field-reports/FR-016-beyond-the-newest/--p--/s/session.v5.jsonl.zstd", log("s", 5, 0)),
        at("field-reports/FR-017-odd-names/--p--/s/session.v4.jsonl.zstd", log("s", 4, 2)),
        at("field-reports/FR-081-only-format-3/--p--/s/session.v3.jsonl.zstd", log("s", 3, 2)),
    ]
}
