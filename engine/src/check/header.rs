//! Whether the header of a segment belongs to its file, and says true things of the segment before.

use super::finding::Finding;
use super::layout::{Layout, SegmentFile};
use crate::log::chain::Digest;
use crate::log::segment_header::{Begin, SegmentHeader, SegmentHeaderFault};

/// Judges the header of the segment at `index` (rows H2, H3 and F5); one that is not valid is not
/// judged here.
pub(super) fn judge(layout: &Layout, index: usize) -> Option<Finding> {
    let file = &layout.segments[index];
    let Ok(header) = &file.header else { return None };
    if file.bytes < header.segment_bytes {
        let message = format!(
            "the segment has {} bytes of the {} that its header states",
            file.bytes, header.segment_bytes
        );
        return Some(Finding::corrupt("segment/short", message).at(file.first_lsn, file.bytes));
    }
    let before = index.checked_sub(1).map(|before| &layout.segments[before]);
    let names = before.map_or(0, |before| before.first_lsn);
    let id = match before.map(|before| &before.header) {
        None => 0,
        Some(Ok(before)) => before.segment_id,
        Some(Err(_)) => header.prev_segment_id,
    };
    let slot = layout.slot().filter(|slot| slot.active_first_lsn == file.first_lsn);
    let wrong = if header.first_lsn != file.first_lsn {
        "the name of the segment is not the first lsn that its header states"
    } else if file.bytes != header.segment_bytes {
        "the segment is larger than its header states"
    } else if header.prev_first_lsn != names {
        "the header names another segment before this one than the directory has"
    } else if header.prev_segment_id != id {
        "the header names another life of the segment before"
    } else if slot.is_some_and(|slot| slot.active_segment_id != header.segment_id) {
        "`STORE` names another life of this segment"
    } else {
        return None;
    };
    Some(Finding::corrupt("segment/foreign", wrong).at(file.first_lsn, 0))
}

/// Judges what a header of its place states that no open needs: that no lsn is skipped, and where
/// the chain begins.
pub(super) fn statements(file: &SegmentFile, header: &SegmentHeader, take: &mut Vec<Finding>) {
    let is_first = header.begin == Begin::First;
    let expected =
        if is_first { 1 } else { (header.prev_last_lsn + 1).max(header.prev_first_lsn + 1) };
    if header.first_lsn != expected {
        let message = format!(
            "the segment begins with lsn {}; after lsn {} it should be {expected}",
            header.first_lsn, header.prev_last_lsn
        );
        take.push(Finding::violation("log/gap", message).at(file.first_lsn, 48));
    }
    let chained = header.prev_digest == Digest::before_first(&header.store_id);
    if header.prev_last_lsn == 0 && !chained {
        let message = "the chain does not begin with the store's id";
        take.push(Finding::corrupt("frame/chain", message).at(file.first_lsn, 96));
    }
}

/// Returns the finding on a segment without a valid header (rows F5, H4, H5).
pub(super) fn invalid(file: &SegmentFile) -> Finding {
    let why = match &file.header {
        Err(SegmentHeaderFault::Field(field)) => format!(": its {field} cannot be"),
        Err(SegmentHeaderFault::Short) => ": the file ends within it".to_owned(),
        _ => String::new(),
    };
    let message = format!("the segment has no valid header, which was synced before its use{why}");
    Finding::corrupt("segment/header", message).at(file.first_lsn, 0)
}
