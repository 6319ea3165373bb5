//! Spellings of paths.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

pub(super) fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    path.components().filter_map(part).collect()
}

/// The absolute path that a spelling means, links not looked at.
pub(super) fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::from("/");
    for part in parts(path) {
        if part == ".." {
            cleaned.pop();
        } else {
            cleaned.push(part);
        }
    }
    cleaned
}
