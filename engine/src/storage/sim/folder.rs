//! A directory: the names that processes see, and those on the device.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// A directory, whose names are two images as well.
#[derive(Clone, Debug, Default)]
pub(super) struct Folder {
    pub(super) names: BTreeMap<OsString, u64>,
    device: BTreeMap<OsString, u64>,
    pending: Vec<NameChange>,
    pub(super) path: PathBuf,
}

/// What one call did to the names of one directory; a crash keeps it whole or not at all.
#[derive(Clone, Debug)]
pub(super) struct NameChange {
    pub(super) operation: u64,
    /// A name that is no longer the file's.
    take: Option<(OsString, u64)>,
    /// A name that is now the file's.
    put: Option<(OsString, u64)>,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, ..Self::default() }
    }

    pub(super) fn put(&mut self, operation: u64, name: OsString, inode: u64) {
        self.change(NameChange { operation, take: None, put: Some((name, inode)) });
    }

    pub(super) fn take(&mut self, operation: u64, name: OsString, inode: u64) {
        self.change(NameChange { operation, take: Some((name, inode)), put: None });
    }

    pub(super) fn rename(&mut self, operation: u64, from: OsString, to: OsString, inode: u64) {
        let (take, put) = (Some((from, inode)), Some((to, inode)));
        self.change(NameChange { operation, take, put });
    }

    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending.push(change);
    }

    /// Carries to the device what was done up to an operation.
    pub(super) fn sync(&mut self, last: u64) {
        self.pending.retain(|change| {
            if change.operation <= last {
                change.apply(&mut self.device);
            }
            change.operation > last
        });
    }

    /// Forgets what a failed sync was to carry: processes see it, and the device lacks it.
    pub(super) fn sync_failed(&mut self, last: u64) {
        self.pending.retain(|change| change.operation > last);
    }

    /// Returns every file and directory that has a name here, or may have one after a crash.
    pub(super) fn referred(&self) -> impl Iterator<Item = u64> {
        let changed = |change: &NameChange| {
            let named = [change.take.as_ref(), change.put.as_ref()];
            named.into_iter().flatten().map(|(_, inode)| *inode).collect::<Vec<_>>()
        };
        let listed = self.names.values().chain(self.device.values()).copied();
        listed.chain(self.pending.iter().flat_map(changed))
    }

    pub(super) fn pending(&self) -> impl Iterator<Item = &NameChange> {
        self.pending.iter()
    }

    /// Gives the device a change that a crash kept.
    pub(super) fn keep(&mut self, operation: u64) {
        for change in &self.pending {
            if change.operation == operation {
                change.apply(&mut self.device);
            }
        }
    }

    /// Restarts the machine: only the device is left.
    pub(super) fn restart(&mut self) {
        self.names.clone_from(&self.device);
        self.pending.clear();
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<OsString, u64>) {
        if let Some((name, inode)) = &self.take
            && names.get(name) == Some(inode)
        {
            names.remove(name);
        }
        if let Some((name, inode)) = &self.put {
            names.insert(name.clone(), *inode);
        }
    }

    /// Returns the name that the change is about.
    pub(super) fn name(&self) -> OsString {
        let named = self.put.as_ref().or(self.take.as_ref());
        named.map(|(name, _)| name.clone()).unwrap_or_default()
    }
}
