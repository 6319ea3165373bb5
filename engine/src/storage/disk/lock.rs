//! Locks of the machine: who holds one, and one on a directory.

use std::fs;
use std::io;
use std::path::Path;

use super::super::FileId;
#[cfg(unix)]
use super::super::volume::DirLock;
use super::super::volume::DirLocked;

/// Where Linux lists the locks of all processes.
const LOCK_TABLE: &str = "/proc/locks";

#[cfg(unix)]
struct DiskDirLock(fs::File);

#[cfg(unix)]
impl DirLock for DiskDirLock {
    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
}

pub(super) fn holders(file: FileId) -> Option<bool> {
    let table = fs::read(LOCK_TABLE).ok()?;
    Some(names_file(&String::from_utf8_lossy(&table), file))
}

#[cfg(unix)]
pub(super) fn try_lock_dir(dir: &Path) -> io::Result<DirLocked> {
    let opened = fs::File::open(dir)?;
    if !opened.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    match opened.try_lock() {
        Ok(()) => Ok(DirLocked::Ours(Box::new(DiskDirLock(opened)))),
        Err(fs::TryLockError::WouldBlock) => Ok(DirLocked::Taken),
        Err(fs::TryLockError::Error(error)) if unsupported(&error) => Ok(DirLocked::Unsupported),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Windows opens no directory without a flag that takes its locks away.
#[cfg(windows)]
pub(super) fn try_lock_dir(dir: &Path) -> io::Result<DirLocked> {
    fs::read_dir(dir).map(|_| DirLocked::Unsupported)
}

/// Returns whether an error says that directories cannot be locked here. NFS locks only what is
/// open for writing, and no directory is: `EBADF`, or `ENOLCK` without its lock service.
#[cfg(unix)]
fn unsupported(error: &io::Error) -> bool {
    const EBADF: i32 = 9;
    const ENOLCK: i32 = if cfg!(target_os = "linux") { 37 } else { 77 };
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
        || matches!(error.raw_os_error(), Some(EBADF | ENOLCK))
}

/// Returns whether a lock table in the form of `/proc/locks` names a file. The device is its two
/// halves in hexadecimal, the inode is decimal: `1: FLOCK ADVISORY WRITE 77 fe:00:1234 0 EOF`.
///
/// # Source
///
/// proc(5), `/proc/locks`; the halves are those of glibc's `gnu_dev_major` and `gnu_dev_minor`.
fn names_file(table: &str, file: FileId) -> bool {
    let major = ((file.device >> 8) & 0xfff) | ((file.device >> 32) & 0xffff_f000);
    let minor = (file.device & 0xff) | ((file.device >> 12) & 0xffff_ff00);
    table.split_whitespace().any(|word| {
        let mut parts = word.split(':');
        let mut next = |radix| parts.next().and_then(|part| u64::from_str_radix(part, radix).ok());
        (next(16), next(16), next(10)) == (Some(major), Some(minor), Some(file.inode))
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::Storage;
    use super::super::Disk;
    use super::*;

    const TABLE: &str = "1: FLOCK  ADVISORY  WRITE 8038 fe:00:10010754 0 EOF\n\
                         1: -> FLOCK  ADVISORY  WRITE 8039 fe:00:10010754 0 EOF\n\
                         2: POSIX  ADVISORY  READ 12 08:12:7 100 200\n";

    #[test]
    fn a_lock_table_names_the_file_of_its_device_and_inode() {
        let device = 0xfe00;
        assert!(names_file(TABLE, FileId { device, inode: 10_010_754 }));
        assert!(names_file(TABLE, FileId { device: 0x0812, inode: 7 }));
        // Another inode, and the same inode of another device.
        assert!(!names_file(TABLE, FileId { device, inode: 10_010_755 }));
        assert!(!names_file(TABLE, FileId { device: 0xfe01, inode: 10_010_754 }));
        assert!(!names_file("", FileId { device, inode: 10_010_754 }));
    }

    #[test]
    fn a_lock_that_somebody_holds_is_seen_without_taking_it() {
        let path = std::env::temp_dir().join(format!("gatelog-lock-{}", std::process::id()));
        let file = fs::File::create(&path).expect("a temporary file");
        let identity = Disk.stat(&path).expect("the file is there").identity;
        assert_ne!(Disk.lock_holders(identity), Some(true));
        file.lock().expect("nobody else has this file");
        // Where there is no lock table, nobody can say.
        assert_ne!(Disk.lock_holders(identity), Some(false));
        fs::remove_file(&path).expect("our own file");
    }
}
