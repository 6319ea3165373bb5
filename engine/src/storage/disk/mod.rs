//! The file system of the machine.

mod direct;
mod file;
mod lock;
mod network;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::volume::{Create, DirLocked, Volume, WriteFile};
use super::{Entry, File, FileId, Kind, Stat, Storage};
use file::DiskFile;

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

impl Storage for Disk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>> {
        super::refuse_unless_regular(kind_of(fs::metadata(path)?.file_type()))?;
        let mut options = fs::OpenOptions::new();
        options.read(true);
        Ok(Box::new(open_regular(&mut options, path)?))
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
        lock::holders(file)
    }
}

impl Volume for Disk {
    fn open_write(&self, path: &Path, create: Create) -> io::Result<Arc<dyn WriteFile>> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true);
        match create {
            Create::Existing => {}
            Create::New => {
                options.create_new(true);
            }
            Create::Either => {
                options.create(true);
            }
        }
        if create != Create::New {
            // As in `open`: what is no regular file is not opened at all.
            match fs::metadata(path) {
                Ok(metadata) => super::refuse_unless_regular(kind_of(metadata.file_type()))?,
                Err(error)
                    if create == Create::Either && error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Arc::new(open_regular(&mut options, path)?))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        #[cfg_attr(windows, expect(unused_mut, reason = "a mode is set where there are modes"))]
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    /// On Windows a directory has no sync of its own: the file system's journal keeps its names in
    /// order, and nobody can ask when they are durable. There this only says whether the directory
    /// is there.
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        #[cfg(unix)]
        return fs::File::open(dir)?.sync_all();
        #[cfg(windows)]
        return fs::read_dir(dir).map(|_| ());
    }

    fn try_lock_dir(&self, dir: &Path) -> io::Result<DirLocked> {
        lock::try_lock_dir(dir)
    }

    /// On Windows the system does not say it without `unsafe`; there every file has one name.
    fn link_count(&self, path: &Path) -> io::Result<u64> {
        let metadata = fs::metadata(path)?;
        #[cfg(unix)]
        return Ok(std::os::unix::fs::MetadataExt::nlink(&metadata));
        #[cfg(windows)]
        return Ok(u64::from(metadata.is_file()));
    }

    fn network_name(&self, path: &Path) -> Option<String> {
        network::name(path)
    }
}

fn open_regular(options: &mut fs::OpenOptions, path: &Path) -> io::Result<DiskFile> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, NON_BLOCKING);
    let file = DiskFile::new(options.open(path)?);
    super::refuse_unless_regular(file.stat()?.kind)?;
    Ok(file)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let refused = Disk.open(Path::new("/")).err().expect("a directory is refused");
        assert_eq!(refused.kind(), io::ErrorKind::IsADirectory);
        for create in [Create::Existing, Create::Either] {
            let refused = Disk.open_write(Path::new("/"), create).err().expect("no file");
            assert_eq!(refused.kind(), io::ErrorKind::IsADirectory);
        }
        #[cfg(unix)]
        {
            let refused = Disk.open(Path::new("/dev/null")).err().expect("a device is refused");
            assert_eq!(refused.to_string(), "not a regular file");
            let refused = Disk.open_write(Path::new("/dev/null"), Create::Either).err();
            assert_eq!(refused.expect("a device is refused").to_string(), "not a regular file");
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

    #[cfg(unix)]
    #[test]
    fn what_is_made_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = std::env::temp_dir().join(format!("gatelog-mode-{}", std::process::id()));
        Disk.create_dir(&dir).expect("a temporary directory");
        let path = dir.join("f");
        drop(Disk.open_write(&path, Create::New).expect("a new file"));
        // The bits for group and others are the claim; a umask can only take more away.
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&path)), (0o700, 0o600));
        Disk.remove(&path).expect("our own file");
        Disk.remove_dir(&dir).expect("our own directory");
    }
}
