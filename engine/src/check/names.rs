//! What the directory says: ids, versions, who names whom (rows L3 to L6, F3 and F12 of the table).

use super::finding::{Finding, Weight};
use super::layout::Layout;
use crate::log::chain::StoreId;
use crate::log::name;
use crate::log::segment_header::SegmentHeaderFault;
use crate::log::superblock::SlotFault;
use crate::storage::FileId;

/// What the directory says.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    pub(super) findings: Vec<Finding>,
    /// Segments, by first lsn, whose predecessor is not there.
    pub(super) orphans: Vec<u64>,
    /// Nothing further is looked at.
    pub(super) is_decided: bool,
    /// There is nothing of a store.
    pub(super) is_nothing: bool,
}

/// Judges what lies in a directory.
pub(super) fn judge(layout: &Layout) -> Named {
    let mut named = Named::default();
    if layout.store.is_none()
        && !layout.has_durable
        && layout.segments.is_empty()
        && layout.sealed.is_empty()
        && layout.newer_spare.is_none()
    {
        named.is_nothing = true;
        return named;
    }
    if let Some(finding) = sealed(layout).or_else(|| mixed(layout)).or_else(|| newer(layout)) {
        named.findings.push(finding);
        named.is_decided = true;
        return named;
    }
    if layout.slot().is_none() {
        let message = "`STORE` is absent or has no valid slot: one witness less";
        named.findings.push(Finding::note("store/no-superblock", message));
    }
    missing(layout, &mut named);
    copied(layout, &mut named.findings);
    named
}

/// Row L5.
fn mixed(layout: &Layout) -> Option<Finding> {
    let slots = layout.slots.iter().flatten();
    let store = slots.map(|slot| (slot.store_id, "`STORE`".to_owned(), None));
    let segments = layout.headers().map(|(file, header)| {
        (header.store_id, name::segment(file.first_lsn), Some(file.first_lsn))
    });
    let durable = layout.durable.map(|durable| (durable.store_id, "`DURABLE`".to_owned(), None));
    let mut ids = store.chain(segments).chain(durable);
    let first: (StoreId, String, Option<u64>) = ids.next()?;
    let (_, what, segment) = ids.find(|(id, _, _)| *id != first.0)?;
    let message = format!("{what} is of another store than {}", first.1);
    let finding = Finding::corrupt("store/mixed", message);
    Some(match segment {
        Some(segment) => finding.at(segment, 16),
        None => finding,
    })
}

/// Row L6.
fn newer(layout: &Layout) -> Option<Finding> {
    let unsupported =
        |message: String| Finding::new("format/unsupported", Weight::Unsupported, message);
    let known = "which this version does not know; nothing is damaged";
    for file in &layout.segments {
        if let Err(SegmentHeaderFault::Major(major)) = file.header {
            let finding = unsupported(format!("the segment is of format {major}, {known}"));
            return Some(finding.at(file.first_lsn, 8));
        }
    }
    if let Some((path, major)) = &layout.newer_spare {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Some(unsupported(format!("{name} is of format {major}, {known}")));
    }
    let version = layout.slots.iter().filter_map(|slot| match slot {
        Err(SlotFault::Version(version)) => Some(*version),
        _ => None,
    });
    if let Some(version) = version.max() {
        return Some(unsupported(format!("`STORE` is of version {version}, {known}")));
    }
    None
}

/// What this version cannot read yet.
fn sealed(layout: &Layout) -> Option<Finding> {
    let sealed = layout.sealed.first()?;
    let message = "the store has sealed segments, which this version cannot read; use a newer one";
    let finding = Finding::new("format/unsupported", Weight::Unsupported, message);
    Some(finding.at(*sealed, 0))
}

/// Row F3.
fn missing(layout: &Layout, named: &mut Named) {
    let lost = |what: String, by: &str| {
        Finding::corrupt("segment/missing", format!("{by} names {what}, and it is not there"))
    };
    let mut findings: Vec<Finding> = Vec::new();
    if let Some(slot) = layout.slot()
        && !layout.has_segment(slot.active_first_lsn)
    {
        let finding = lost(name::segment(slot.active_first_lsn), "`STORE`");
        findings.push(finding.at(slot.active_first_lsn, 0));
    }
    for (file, header) in layout.headers() {
        let before = header.prev_first_lsn;
        if before == 0 || layout.has_segment(before) {
            continue;
        }
        named.orphans.push(file.first_lsn);
        if findings.iter().all(|finding| finding.place.segment != Some(before)) {
            let by = name::segment(file.first_lsn);
            findings.push(lost(name::segment(before), &by).at(before, 0));
        }
    }
    let has_all = layout.segments.iter().all(|file| file.header.is_ok());
    let id = layout.durable.map(|durable| durable.segment_id);
    let is_known = |id| layout.headers().any(|(_, header)| header.segment_id == id);
    if findings.is_empty() && has_all && id.is_some_and(|id| !is_known(id)) {
        findings.push(lost("the segment of the durable end".to_owned(), "`DURABLE`"));
    }
    if findings.is_empty() && layout.segments.is_empty() {
        let by = if layout.store.is_some() { "`STORE`" } else { "`DURABLE`" };
        findings.push(lost(name::segment(1), by).at(1, 0));
    }
    named.findings.append(&mut findings);
}

fn copied(layout: &Layout, findings: &mut Vec<Finding>) {
    let (Some(identity), Some(slot)) = (layout.store, layout.slot()) else { return };
    let stated = FileId { device: slot.device, inode: slot.inode };
    let unknown = FileId::default();
    if stated != identity && stated != unknown && identity != unknown {
        let message = "`STORE` says that it is another file: the store was copied or moved";
        findings.push(Finding::note("store/copied", message));
    }
}
