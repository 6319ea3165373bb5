//! What is asked of a draft before any rule: its size, its JSON, and the catalogue.

use super::config::{SAFE_MAX, StoreConfig};
use super::contained::contained;
use super::sheet::Sheet;
use crate::backend::{Limited, Refusal};
use crate::rules::{Catalogue, Draft, Placement};

/// Judges the drafts of one batch and scans them.
pub(crate) fn check(
    config: &StoreConfig,
    catalogue: &Catalogue,
    drafts: &[Draft],
) -> Result<Sheet, Refusal> {
    let (records, limit) = (drafts.len(), config.records_max());
    if records > limit {
        let what = Limited::Records;
        return Err(Refusal::TooLarge { what, bytes: records as u64, limit: limit as u64 });
    }
    let bytes = drafts.iter().map(bytes).fold(0, u64::saturating_add);
    let limit = config.batch_bytes_max;
    if bytes > limit {
        return Err(Refusal::TooLarge { what: Limited::FrameBytes, bytes, limit });
    }
    for draft in drafts {
        admit(catalogue, draft)?;
    }
    let sheet = Sheet::of(drafts)?;
    for (index, draft) in drafts.iter().enumerate() {
        let Some(check) = catalogue.get(&draft.kind).and_then(|entry| entry.check) else {
            continue;
        };
        let verdict = contained(|| check(sheet.data(drafts, index)));
        let verdict = verdict.map_err(|said| Refusal::Internal {
            what: format!("the check of {}'s payload panicked: {said}", draft.kind),
        })?;
        verdict.map_err(|what| Refusal::Malformed { what: format!("{}: {what}", draft.kind) })?;
    }
    Ok(sheet)
}

/// Asks the catalogue for a type and where its events stand.
fn admit(catalogue: &Catalogue, draft: &Draft) -> Result<(), Refusal> {
    let kind = &draft.kind;
    if let Some(time_ms) = draft.time_ms.filter(|time_ms| *time_ms > SAFE_MAX) {
        let what = format!("{kind}: its time {time_ms} is no safe integer");
        return Err(Refusal::Malformed { what });
    }
    let Some(entry) = catalogue.get(kind) else {
        let unregistered = || Refusal::Unregistered { kind: kind.clone() };
        return if draft.ignorable { Ok(()) } else { Err(unregistered()) };
    };
    let what = match (entry.placement, draft.surface.is_some()) {
        (Placement::Surface, false) => "stands on the surface, and has no surfaceOp here",
        (Placement::LogOnly, true) => "stands in the log only, and has a surfaceOp here",
        _ => return Ok(()),
    };
    Err(Refusal::Malformed { what: format!("{kind} {what}") })
}

/// Returns how many bytes of text a draft has.
fn bytes(draft: &Draft) -> u64 {
    let part = |part: &Option<Vec<u8>>| part.as_ref().map_or(0, Vec::len);
    (draft.kind.len() + draft.data.len() + part(&draft.sources) + part(&draft.surface)) as u64
}
