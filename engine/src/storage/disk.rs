//! The file system of the machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Entry, File, FileId, Kind, Stat, Storage};

/// Where Linux lists the locks of all processes.
const LOCK_TABLE: &str = "/proc/locks";

/// `O_NONBLOCK`: a FIFO that takes a file's place between `stat` and `open` must not make us wait.
/// 0 where the number is not known; the file is judged again once it is open.
#[cfg(unix)]
const NON_BLOCKING: i32 = if cfg!(any(target_os = "linux", target_os = "android")) {
    if cfg!(any(target_arch = "mips", target_arch = "mips64", target_arch = "sparc64")) {
        0
    } else {
        0o4000
    }
} else if cfg!(target_vendor = "apple") {
    0x4
} else {
    0
};

/// The real file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

struct DiskFile(fs::File);

impl Storage for Disk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>> {
        super::refuse_unless_regular(kind_of(fs::metadata(path)?.file_type()))?;
        let mut options = fs::OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NON_BLOCKING);
        let file = DiskFile(options.open(path)?);
        super::refuse_unless_regular(file.stat()?.kind)?;
        Ok(Box::new(file))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            // An entry that vanishes while its kind is asked for is nothing that we could read.
            let kind = entry.file_type().map_or(Kind::Other, kind_of);
            entries.push(Entry { name: entry.file_name(), kind });
        }
        super::sort(&mut entries);
        Ok(entries)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        Ok(stat_of(&fs::metadata(path)?))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn lock_holders(&self, file: FileId) -> Option<bool> {
        let table = fs::read(LOCK_TABLE).ok()?;
        Some(names_file(&String::from_utf8_lossy(&table), file))
    }
}

impl File for DiskFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            #[cfg(unix)]
            let read = std::os::unix::fs::FileExt::read_at(&self.0, buffer, offset);
            #[cfg(windows)]
            let read = std::os::windows::fs::FileExt::seek_read(&self.0, buffer, offset);
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }

    fn stat(&self) -> io::Result<Stat> {
        Ok(stat_of(&self.0.metadata()?))
    }
}

fn kind_of(file_type: fs::FileType) -> Kind {
    if file_type.is_file() {
        Kind::Regular
    } else if file_type.is_dir() {
        Kind::Directory
    } else if file_type.is_symlink() {
        Kind::Symlink
    } else {
        Kind::Other
    }
}

#[cfg(unix)]
fn stat_of(metadata: &fs::Metadata) -> Stat {
    use std::os::unix::fs::MetadataExt;
    let nanoseconds =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stat {
        bytes: metadata.len(),
        identity: FileId { device: metadata.dev(), inode: metadata.ino() },
        modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        kind: kind_of(metadata.file_type()),
    }
}

#[cfg(windows)]
fn stat_of(metadata: &fs::Metadata) -> Stat {
    use std::os::windows::fs::MetadataExt;
    // The system counts units of 100 ns from 1601; the years between are 11,644,473,600 seconds.
    let units = i64::try_from(metadata.last_write_time()).unwrap_or(i64::MAX);
    let modified_ns = units.saturating_sub(116_444_736_000_000_000).saturating_mul(100);
    Stat {
        bytes: metadata.len(),
        identity: FileId::default(),
        modified_ns,
        changed_ns: modified_ns,
        kind: kind_of(metadata.file_type()),
    }
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

    #[test]
    fn only_regular_files_are_opened() {
        let refused = Disk.open(Path::new("/")).err().expect("a directory is refused");
        assert_eq!(refused.kind(), io::ErrorKind::IsADirectory);
        #[cfg(unix)]
        {
            let refused = Disk.open(Path::new("/dev/null")).err().expect("a device is refused");
            assert_eq!(refused.to_string(), "not a regular file");
        }
    }

    #[test]
    fn a_file_is_read_by_offset_and_ends_with_zero() {
        let path = std::env::temp_dir().join(format!("gatelog-read-{}", std::process::id()));
        fs::write(&path, b"abcdef").expect("a temporary file");
        let file = Disk.open(&path).expect("a regular file");
        let mut buffer = [0; 4];
        assert_eq!(file.read_at(4, &mut buffer).expect("readable"), 2);
        assert_eq!(&buffer[..2], b"ef");
        assert_eq!(file.read_at(6, &mut buffer).expect("readable"), 0);
        assert_eq!(file.stat().expect("open").bytes, 6);
        fs::remove_file(&path).expect("our own file");
    }
}
