//! The rows of a batch, or one stored event, with their texts scanned: what a judge is shown.

use crate::backend::{Batch, Refusal, Stored};
use crate::event::{Event, Place};
use crate::json::{Defect, Scanner, Tape};
use crate::rules::Draft;

/// Where the values of one row lie on the tape.
struct Roots {
    data: u32,
    sources: Option<u32>,
    surface: Option<u32>,
}

/// The texts of a batch, scanned onto one tape; the texts stay in the batch.
#[derive(Default)]
pub(crate) struct Sheet {
    tape: Tape,
    rows: Vec<Roots>,
}

impl Sheet {
    /// Scans drafts. Their texts must not change afterwards, but may move.
    pub(crate) fn of(drafts: &[Draft]) -> Result<Self, Refusal> {
        let mut sheet = Self::default();
        let mut scanner = Scanner::new();
        for (index, draft) in drafts.iter().enumerate() {
            let (sources, surface) = (draft.sources.as_deref(), draft.surface.as_deref());
            let roots = roots(&mut scanner, &mut sheet.tape, &draft.data, sources, surface);
            sheet.rows.push(roots.map_err(|(part, defect)| Refusal::Malformed {
                what: format!(
                    "draft {index} ({}): its {part} is no JSON: {} at byte {}",
                    draft.kind, defect.what, defect.offset
                ),
            })?);
        }
        Ok(sheet)
    }

    /// Returns the payload of a draft that was scanned.
    pub(crate) fn data<'a>(&'a self, drafts: &'a [Draft], index: usize) -> crate::json::Json<'a> {
        self.tape.json(&drafts[index].data, self.rows[index].data)
    }

    /// Returns a row of the batch that was made of the drafts, as an event.
    pub(crate) fn event<'a>(&'a self, batch: &'a Batch, index: usize) -> Event<'a> {
        let (row, roots) = (&batch.rows[index], &self.rows[index]);
        let stored = Stored {
            seq: batch.first_seq + index as u64,
            time_ms: row.time_ms,
            kind: &row.draft.kind,
            data: &row.draft.data,
            sources: row.draft.sources.as_deref(),
            surface: row.draft.surface.as_deref(),
            ignorable: row.draft.ignorable,
            lsn: None,
            batch_first_seq: batch.first_seq,
            key: None,
            confirmed: false,
        };
        event(&self.tape, roots, &stored)
    }
}

/// Scans stored events, one at a time, and keeps its memory.
#[derive(Default)]
pub(crate) struct Reader {
    scanner: Scanner,
    tape: Tape,
}

impl Reader {
    /// Shows a stored event to `look`.
    pub(crate) fn show<T>(
        &mut self,
        stored: &Stored<'_>,
        look: impl FnOnce(&Event<'_>) -> T,
    ) -> Result<T, Defect> {
        self.tape.clear();
        let (scanner, tape) = (&mut self.scanner, &mut self.tape);
        let roots = roots(scanner, tape, stored.data, stored.sources, stored.surface);
        let roots = roots.map_err(|(_, defect)| defect)?;
        Ok(look(&event(&self.tape, &roots, stored)))
    }
}

fn roots(
    scanner: &mut Scanner,
    tape: &mut Tape,
    data: &[u8],
    sources: Option<&[u8]>,
    surface: Option<&[u8]>,
) -> Result<Roots, (&'static str, Defect)> {
    let mut scan = |part, text: &[u8]| scanner.scan(text, tape).map_err(|defect| (part, defect));
    Ok(Roots {
        data: scan("payload", data)?,
        sources: sources.map(|text| scan("sourceEventSeqs", text)).transpose()?,
        surface: surface.map(|text| scan("surfaceOp", text)).transpose()?,
    })
}

fn event<'a>(tape: &'a Tape, roots: &Roots, stored: &Stored<'a>) -> Event<'a> {
    let time_ms = stored.time_ms as f64;
    let value = |text: Option<&'a [u8]>, root: Option<u32>| Some(tape.json(text?, root?));
    Event {
        seq: stored.seq,
        members: 1,
        time_ms,
        last_time_ms: time_ms,
        kind: stored.kind,
        data: tape.json(stored.data, roots.data),
        packed: false,
        ignorable: stored.ignorable,
        sources: value(stored.sources, roots.sources),
        surface: value(stored.surface, roots.surface),
        place: Place { seq: Some(stored.seq), ..Place::default() },
    }
}
