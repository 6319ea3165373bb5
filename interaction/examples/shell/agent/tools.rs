//! The tools: their calls, and their bodies.

use gatelog_interaction::question::AskTool;
use gatelog_interaction::sandbox::SandboxMode;
use gatelog_interaction::tool::RefusalCode;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Reads a file.
pub(crate) const READ: &str = "read";

/// Writes a file. Somebody is asked before.
pub(crate) const WRITE: &str = "write";

/// As much of a file as a model is shown.
const SHOWN_BYTES_MAX: u64 = 1 << 16;

/// A call of a tool, as a model would make it.
pub(crate) struct Call {
    /// The name of the tool.
    pub(crate) name: &'static str,
    /// Its arguments.
    pub(crate) arguments: Value,
}

/// What a tool came to.
pub(crate) struct Told {
    /// What the model reads.
    pub(crate) text: String,
    /// Name and code of what went wrong, if something did.
    pub(crate) error: Option<(String, Option<String>)>,
}

impl Told {
    /// It worked.
    pub(crate) fn well(text: impl Into<String>) -> Self {
        Self { text: text.into(), error: None }
    }

    /// It did not.
    pub(crate) fn badly(text: impl Into<String>) -> Self {
        Self { text: text.into(), error: Some(("Error".to_owned(), None)) }
    }

    /// It did not, with a code for programs.
    pub(crate) fn coded(text: impl Into<String>, name: &str, code: &str) -> Self {
        Self { text: text.into(), error: Some((name.to_owned(), Some(code.to_owned()))) }
    }
}

impl Call {
    /// Returns the call that a line stands for, if it stands for one.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once(' ')?;
        let rest = rest.trim();
        match name {
            "read" if !rest.is_empty() => {
                Some(Self { name: READ, arguments: json!({"path": rest}) })
            }
            "write" => {
                let (path, text) = rest.split_once(' ')?;
                Some(Self { name: WRITE, arguments: json!({"path": path, "text": text}) })
            }
            "ask" if !rest.is_empty() => Some(Self::asking(rest)),
            _ => None,
        }
    }

    fn asking(rest: &str) -> Self {
        let mut parts = rest.split('|').map(str::trim);
        let mut question = json!({"id": "q1", "question": parts.next().unwrap_or_default()});
        let options: Vec<_> = parts.map(|label| json!({"label": label})).collect();
        if !options.is_empty() {
            question["options"] = options.into();
        }
        Self { name: AskTool::NAME, arguments: json!({"questions": [question]}) }
    }

    /// Returns the text of an argument.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.arguments.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Runs the body of a tool that works on files, under a mode if there is one.
pub(crate) fn run(call: &Call, workspace: &Path, mode: Option<SandboxMode>) -> Told {
    let path = call.text("path");
    let Some(place) = place(workspace, path, mode) else {
        return Told::badly(format!("Error: {path} is outside of the workspace"));
    };
    let done = match call.name {
        READ => shown(&place),
        WRITE => {
            let text = call.text("text");
            let written = std::fs::write(&place, text);
            written.map(|()| format!("wrote {} bytes to {path}", text.len()))
        }
        other => return Told::badly(format!("Error: unknown tool \"{other}\"")),
    };
    match done {
        Ok(text) => Told::well(text),
        Err(error) => Told::badly(format!("Error: {path}: {}", error.kind())),
    }
}

/// Runs a call where no service is mounted: what needs a person is refused.
pub(crate) fn bare(call: &Call, workspace: &Path) -> Told {
    match call.name {
        WRITE => Told::coded(
            "Error: tool \"write\" requires approval, but no approval channel is available",
            "Error",
            RefusalCode::Unavailable.as_str(),
        ),
        AskTool::NAME => Told::badly("Error: no user-questions answerer accepted the request"),
        _ => run(call, workspace, None),
    }
}

/// Returns where a path leads, if the mode lets it. It stands for a sandbox and is none: a link
/// that leads out of the workspace is followed.
fn place(workspace: &Path, path: &str, mode: Option<SandboxMode>) -> Option<PathBuf> {
    let is_within = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let is_inside = Path::new(path).components().all(is_within);
    let may = is_inside || mode == Some(SandboxMode::DangerFullAccess);
    may.then(|| workspace.join(path))
}

fn shown(place: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(place)?.take(SHOWN_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
