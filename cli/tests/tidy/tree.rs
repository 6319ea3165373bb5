//! The text files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// What was built or fetched, or what a fuzzer wrote; in a linked work tree `.git` is a file.
const SKIPPED: [&str; 6] = [".git", "target", "node_modules", "corpus", "artifacts", "coverage"];

/// One file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Its path below the root of the repository, with `/`.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) text: String,
}

impl File {
    pub(crate) fn new(path: &str, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), text: text.into() }
    }

    /// Returns whether the name ends in one of these.
    pub(crate) fn is(&self, ends: &[&str]) -> bool {
        ends.iter().any(|end| self.path.ends_with(end))
    }

    /// Returns the numbered lines, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// Returns the numbered lines of code: without comments, and without the tests at the end of a
    /// module, which may do what the module may not.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_test = |line: &str| line.trim() == "#[cfg(test)]";
        // `#[cfg(test)] mod testing;` declares a file; what follows is no test.
        let end = self.text.lines().zip(self.text.lines().skip(1)).position(|(line, next)| {
            is_test(line) && next.trim_start().starts_with("mod ") && next.ends_with('{')
        });
        let is_comment = |line: &str| line.trim_start().starts_with("//");
        self.lines().take(end.unwrap_or(usize::MAX)).filter(move |(_, line)| !is_comment(line))
    }
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().expect("the repository is there")
}

/// Returns one file.
pub(crate) fn file(path: &str) -> File {
    let text = fs::read_to_string(root().join(path));
    File::new(path, text.unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// Returns every file that is text, in the order of their paths.
pub(crate) fn all() -> Vec<File> {
    let mut files = Vec::new();
    visit(&root(), "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn visit(folder: &Path, prefix: &str, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed") {
        let entry = entry.expect("an entry can be read");
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("an entry has a type");
        if kind.is_dir() {
            let is_built = entry.path().join("CACHEDIR.TAG").exists();
            if !is_built && !SKIPPED.contains(&&*name) {
                visit(&entry.path(), &format!("{path}/"), files);
            }
        } else if kind.is_file()
            && !SKIPPED.contains(&&*name)
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            files.push(File { path, text });
        }
    }
}
