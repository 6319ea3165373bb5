//! Which network file system a path lies on.

use std::path::Path;

/// Types of file systems whose bytes lie on another machine, or whose driver may keep them there.
const NETWORK: [&str; 24] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "davfs2",
    "fuse.ceph",
    "fuse.glusterfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
    "gfs2",
    "glusterfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "smb3",
    "smbfs",
    "virtiofs",
];

/// Returns the type of the network file system that a path lies on. A path that is not there yet
/// lies where its nearest directory does.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn name(path: &Path) -> Option<String> {
    use std::os::unix::ffi::OsStrExt;
    let real = nearest(path)?;
    let table = std::fs::read("/proc/self/mountinfo").ok()?;
    network_of(&table, real.as_os_str().as_bytes())
}

/// Returns `smb` for a path of another machine.
#[cfg(windows)]
pub(super) fn name(path: &Path) -> Option<String> {
    use std::path::{Component, Prefix};
    let real = nearest(path)?;
    match real.components().next()? {
        Component::Prefix(prefix)
            if matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)) =>
        {
            Some("smb".to_owned())
        }
        _ => None,
    }
}

/// Nobody can say.
#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
pub(super) fn name(_: &Path) -> Option<String> {
    None
}

#[cfg(any(target_os = "linux", target_os = "android", windows))]
fn nearest(path: &Path) -> Option<std::path::PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    absolute.ancestors().find_map(|above| std::fs::canonicalize(above).ok())
}

/// Reads a table in the form of `/proc/self/mountinfo`: the longest mount point that a path lies
/// below counts, and of two mounts on one point the later one, which covers the other.
///
/// # Source
///
/// proc(5), `/proc/pid/mountinfo`: the mount point is the fifth field, with blanks and backslashes
/// as three octal digits; the type is the first field behind a lone `-`.
#[cfg_attr(
    not(any(target_os = "linux", target_os = "android", test)),
    expect(dead_code, reason = "only Linux has the table; its reading is tested everywhere")
)]
fn network_of(table: &[u8], path: &[u8]) -> Option<String> {
    let mut best: Option<(usize, &[u8])> = None;
    for line in table.split(|byte| *byte == b'\n') {
        let mut fields = line.split(|byte| *byte == b' ');
        let Some(point) = fields.nth(4).map(unescaped) else { continue };
        let Some(kind) = fields.skip_while(|field| *field != b"-").nth(1) else { continue };
        if lies_below(path, &point) && best.is_none_or(|(longest, _)| point.len() >= longest) {
            best = Some((point.len(), kind));
        }
    }
    let kind = String::from_utf8_lossy(best?.1).into_owned();
    NETWORK.contains(&kind.as_str()).then_some(kind)
}

fn lies_below(path: &[u8], point: &[u8]) -> bool {
    let point = point.strip_suffix(b"/").unwrap_or(point);
    path.strip_prefix(point).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, behind)) = rest.split_first() {
        let octal = (*first == b'\\').then(|| behind.get(..3)).flatten();
        let value = octal
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(value) = value {
            bytes.push(value);
            rest = &behind[3..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
        30 22 0:40 / /srv rw - nfs4 server:/srv rw,vers=4.2\n\
        31 30 0:41 / /srv/local rw master:2 shared:9 - xfs /dev/vdb rw\n\
        32 22 0:42 / /mnt/a\\040b rw - fuse.sshfs host: rw\n\
        33 22 0:43 / /mnt/covered rw - ext4 /dev/vdc rw\n\
        34 22 0:44 / /mnt/covered rw - cifs //host/share rw\n\
        a line of another kind\n";

    #[test]
    fn the_longest_mount_point_above_a_path_counts() {
        let name = |path: &str| network_of(TABLE, path.as_bytes());
        assert_eq!(name("/var/store"), None);
        assert_eq!(name("/srv").as_deref(), Some("nfs4"));
        assert_eq!(name("/srv/me/store").as_deref(), Some("nfs4"));
        assert_eq!(name("/srv/local/store"), None);
        // A name that only begins like a mount point does not lie below it.
        assert_eq!(name("/srvs/store"), None);
        assert_eq!(name("/mnt/a b/store").as_deref(), Some("fuse.sshfs"));
        assert_eq!(name("/mnt/covered/store").as_deref(), Some("cifs"));
        assert_eq!(network_of(b"", b"/var"), None);
    }

    #[test]
    fn escapes_that_are_none_stay_as_they_are() {
        assert_eq!(unescaped(b"a\\040b\\134\\0"), b"a b\\\\0");
        assert_eq!(unescaped(b"\\999\\"), b"\\999\\");
    }

    #[test]
    fn the_table_of_this_machine_is_read() {
        // A table in which nothing lies above a path would be one that we cannot read.
        let here = std::env::temp_dir();
        assert_eq!(name(&here), name(&here.join("not/there/yet")));
        assert_eq!(name(Path::new("/proc")), None);
    }
}
