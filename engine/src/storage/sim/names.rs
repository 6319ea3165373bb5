//! Calls that change names.

use std::io;
use std::path::Path;

use super::state::State;
use super::tree::{Node, clean};

pub(super) fn rename(state: &mut State, from: &Path, to: &Path) -> io::Result<()> {
    let (source, target) = (state.tree.place(from)?, state.tree.place(to)?);
    let inode = state.tree.at(&source).ok_or(io::ErrorKind::NotFound)?;
    let replaced = state.tree.at(&target);
    if replaced == Some(inode) {
        // Two names of one file: as POSIX has it, nothing happens.
        return Ok(());
    }
    let is_folder = state.tree.folder(inode).is_ok();
    if is_folder && clean(to).starts_with(clean(from)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    match replaced.and_then(|inode| state.tree.nodes.get(&inode)) {
        Some(Node::File(_)) if is_folder => return Err(io::ErrorKind::NotADirectory.into()),
        Some(Node::Folder(_)) if !is_folder => return Err(io::ErrorKind::IsADirectory.into()),
        Some(Node::Folder(folder)) if !folder.names.is_empty() => {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        _ => {}
    }
    let operation = state.operation();
    if source.folder == target.folder {
        let folder = state.tree.folder_mut(source.folder)?;
        folder.rename(operation, source.name, target.name, inode);
    } else {
        // Each directory has its own part, and a crash may keep one without the other.
        state.tree.folder_mut(target.folder)?.put(operation, target.name, inode);
        state.tree.folder_mut(source.folder)?.take(operation, source.name, inode);
    }
    if is_folder {
        for (path, inode) in state.tree.paths() {
            state.tree.named(inode, path);
        }
    } else {
        state.tree.named(inode, clean(to));
    }
    if let Some(replaced) = replaced {
        state.release(replaced);
    }
    Ok(())
}

pub(super) fn link(state: &mut State, from: &Path, to: &Path) -> io::Result<()> {
    let inode = state.file_of(from)?;
    let target = state.tree.place(to)?;
    if state.tree.at(&target).is_some() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let operation = state.operation();
    state.tree.folder_mut(target.folder)?.put(operation, target.name, inode);
    Ok(())
}

pub(super) fn remove(state: &mut State, path: &Path) -> io::Result<()> {
    let inode = state.file_of(path)?;
    take(state, path, inode)
}

pub(super) fn remove_dir(state: &mut State, path: &Path) -> io::Result<()> {
    let inode = state.tree.find(path)?;
    if !state.tree.folder(inode)?.names.is_empty() {
        return Err(io::ErrorKind::DirectoryNotEmpty.into());
    }
    take(state, path, inode)
}

fn take(state: &mut State, path: &Path, inode: u64) -> io::Result<()> {
    let place = state.tree.place(path)?;
    let operation = state.operation();
    state.tree.folder_mut(place.folder)?.take(operation, place.name, inode);
    state.release(inode);
    Ok(())
}
