//! Reads that go to the device and not to the page cache.

use std::fs;
use std::io;

/// Boundary of memory and file that every device with direct reads takes.
const ALIGNMENT: usize = 4096;

/// Bytes of one read at most, so that the aligned copy stays small.
const READ_MAX: usize = 1 << 20;

/// `O_DIRECT`, or 0 where the number is not known.
#[cfg(any(target_os = "linux", target_os = "android"))]
const DIRECT: i32 = if cfg!(any(target_arch = "arm", target_arch = "aarch64")) {
    0o200_000
} else if cfg!(any(target_arch = "powerpc", target_arch = "powerpc64")) {
    0o400_000
} else if cfg!(any(
    target_arch = "x86",
    target_arch = "x86_64",
    target_arch = "riscv32",
    target_arch = "riscv64",
    target_arch = "s390x",
    target_arch = "loongarch64"
)) {
    0o40_000
} else {
    0
};

/// A second descriptor of a file, which reads past the cache.
#[cfg_attr(
    not(any(target_os = "linux", target_os = "android")),
    expect(dead_code, reason = "only Linux has direct reads without `unsafe`")
)]
pub(super) struct Direct(fs::File);

/// Opens the file again for direct reads, or returns nothing where that is not to be had.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn open(file: &fs::File) -> io::Result<Option<Direct>> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    if DIRECT == 0 {
        return Ok(None);
    }
    // By descriptor and not by name: the name may be another file's by now.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    match fs::OpenOptions::new().read(true).custom_flags(DIRECT).open(path) {
        Ok(direct) => Ok(Some(Direct(direct))),
        Err(error) if refuses(&error) || error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens the file again for direct reads, or returns nothing where that is not to be had.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn open(_: &fs::File) -> io::Result<Option<Direct>> {
    Ok(None)
}

impl Direct {
    /// Reads as `File::read_at` does, or returns nothing where the file system takes the flag and
    /// refuses the read.
    pub(super) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let wanted = buffer.len().min(READ_MAX);
        let mut bytes = vec![0; wanted + ALIGNMENT];
        // Without `unsafe` a vector is not aligned; a part of a larger one is.
        let start = bytes.as_ptr().align_offset(ALIGNMENT);
        let Some(aligned) = start.checked_add(wanted).and_then(|end| bytes.get_mut(start..end))
        else {
            return Ok(None);
        };
        match super::file::read_at(&self.0, offset, aligned) {
            Ok(count) => {
                buffer[..count].copy_from_slice(&aligned[..count]);
                Ok(Some(count))
            }
            Err(error) if refuses(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether an error says that this file system has no direct reads.
fn refuses(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
}

#[cfg(test)]
mod tests {
    use super::super::super::volume::{Create, Volume};
    use super::super::Disk;

    #[test]
    fn a_direct_read_gives_the_bytes_that_were_synced_or_says_that_it_cannot() {
        let path = std::env::temp_dir().join(format!("gatelog-direct-{}", std::process::id()));
        let file = Disk.open_write(&path, Create::Either).expect("a temporary file");
        let bytes: Vec<u8> = (0..10_000_u32).map(|place| (place % 251) as u8).collect();
        assert_eq!(file.write_at(0, &bytes).expect("writable"), bytes.len());
        file.sync_data().expect("a disk that syncs");
        // An odd address, so that the copy is what makes it right.
        let mut buffer = vec![0; 8193];
        let read = file.read_device_at(4096, &mut buffer[1..]).expect("readable");
        // An older tmpfs, say, has no direct reads; there the buffer stays as it was. Where the
        // flag is taken, a refusal would be our own bad alignment.
        let opened = std::fs::File::open(&path).expect("our own file");
        assert_eq!(read.is_some(), super::open(&opened).expect("no error").is_some());
        let expected: &[u8] = if read.is_some() { &bytes[4096..] } else { &[] };
        assert_eq!(buffer[1..=read.unwrap_or(0)], *expected);
        Disk.remove(&path).expect("our own file");
    }
}
