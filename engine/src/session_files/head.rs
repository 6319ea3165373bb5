//! The header line, as the host writes it: its members in the host's order, no other ones.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 5.1 and 5.2.

use std::fmt::Write as _;

use super::layout::{Layout, Presence};
use super::spell::document;
use crate::backend::Refusal;
use crate::dsh::header;
use crate::json::{Document, Json};
use crate::rules::SessionHeader;

/// A header that the host reads back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The line, without its line feed.
    pub(super) line: String,
    /// The working directory, in WTF-8.
    pub(super) cwd: Option<Vec<u8>>,
}

impl Head {
    /// Spells the header of a session.
    ///
    /// # Errors
    ///
    /// [`Refusal::Unsupported`] for another format or a member that the format does not have,
    /// [`Refusal::Malformed`] for what the host would not read back.
    pub(super) fn of(layout: &Layout, id: &str, given: &SessionHeader) -> Result<Self, Refusal> {
        let format = layout.format;
        if given.dialect != format {
            let what = format!("a session of format {} among those of {format}", given.dialect);
            return Err(Refusal::Unsupported { what });
        }
        let malformed = |what: String| Refusal::Malformed { what: format!("the header {what}") };
        let document = document(&given.json).map_err(malformed)?;
        let root = document.root();
        let line = line(layout, root)?;
        let is_own = root.get("id").and_then(|id| id.as_text()).is_some_and(|own| own.eq_str(id));
        if !is_own {
            return Err(malformed("names another session".to_owned()));
        }
        let read = Document::parse(line.as_str());
        let read = read.as_ref().map(Document::root).map_err(|defect| *defect);
        let judged = header::judge(line.as_bytes(), read, Some(u64::from(format)));
        let unread = |host: String| malformed(format!("is none that the host reads: {host}"));
        let header = judged.header.map_err(|fault| unread(fault.message))?;
        if let Some((_, host)) = header.late() {
            return Err(unread(host));
        }
        let cwd = root.get("cwd").and_then(|cwd| cwd.as_text());
        Ok(Self { line, cwd: cwd.map(|cwd| cwd.to_wtf8().into_owned()) })
    }
}

fn line(layout: &Layout, root: Json<'_>) -> Result<String, Refusal> {
    let mut line = String::from("{");
    for (name, presence) in layout.header {
        let value = root.get(name).map(|value| value.to_json());
        let value = match (value, presence) {
            (Some(value), _) => value,
            (None, Presence::Default(value)) => (*value).to_owned(),
            (None, Presence::Optional) => continue,
            (None, Presence::Required) => {
                return Err(Refusal::Malformed { what: format!("the header has no {name}") });
            }
        };
        let comma = if line.len() > 1 { "," } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(line, "{comma}\"{name}\":{value}");
    }
    line.push('}');
    let is_listed = |key: &str| layout.header.iter().any(|(name, _)| *name == key);
    for (key, _) in root.members() {
        let key = key.to_lossy();
        if !is_listed(&key) {
            let what = format!("the header's member {}", super::shown(&key));
            return Err(Refusal::Unsupported { what });
        }
    }
    Ok(line)
}
