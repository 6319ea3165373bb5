//! Line 1, and the scan of the rows behind it.

use crate::dsh::fault::{Fault, FaultKind};
use crate::dsh::header::{self, Header, Judged, NEWEST};
use crate::dsh::line::{LineSink, LineView};
use crate::dsh::record::RecordSink;
use crate::dsh::row::Row;
use crate::dsh::scan::LogScan;
use crate::json::{Defect, DefectKind};

/// What is wrong with a header that is longer than any line that is judged.
const OVER_LIMIT: Defect =
    Defect { offset: 0, what: "the line is longer than 512 MiB", kind: DefectKind::TooLong };

/// Takes a log's header and records.
pub trait HeaderSink: RecordSink {
    /// Takes the header that the reader accepted, before the first record.
    fn header(&mut self, header: &Header);
}

/// Takes line 1, then scans the rest.
pub(super) struct Intake<'s> {
    generation: Option<u64>,
    /// The header, once it was seen.
    pub(super) judged: Option<Judged>,
    /// The scan of what follows it.
    pub(super) scan: Option<LogScan<'s>>,
    sink: Option<&'s mut dyn HeaderSink>,
    /// A fault that came before the header was seen.
    pub(super) early: Option<Fault>,
    /// Lines whose payload was not kept and is read after all.
    pub(super) unkept: Vec<u64>,
}

impl<'s> Intake<'s> {
    pub(super) fn new(generation: Option<u64>, sink: &'s mut dyn HeaderSink) -> Self {
        Self {
            generation,
            judged: None,
            scan: None,
            sink: Some(sink),
            early: None,
            unkept: Vec::new(),
        }
    }

    fn begin(&mut self, line: &LineView<'_>) {
        // Line 1 is the first that was scanned onto its tape, whatever it holds.
        let root = match line.row {
            Row::Malformed(defect) => Err(*defect),
            _ if line.over_limit => Err(OVER_LIMIT),
            _ => Ok(line.tape.json(line.text, 0)),
        };
        let judged = header::judge(line.text, root, self.generation);
        let Some(sink) = self.sink.take() else { return };
        let format = match &judged.header {
            Ok(header) => {
                sink.header(header);
                header.version
            }
            // A header that its reader refuses does not hide what the rows are.
            Err(_) => self.generation.or(judged.version).unwrap_or(0),
        };
        let mut scan = LogScan::new(format.min(NEWEST), sink, line.bytes + 1);
        scan.fault = match &judged.header {
            // How another program's file is framed is nobody's concern.
            Err(fault) if fault.kind == FaultKind::Unreadable => Some(fault.clone()),
            Err(fault) => self.early.take().or_else(|| Some(fault.clone())),
            Ok(_) => self.early.take(),
        };
        self.scan = Some(scan);
        self.judged = Some(judged);
    }
}

impl LineSink for Intake<'_> {
    fn line(&mut self, line: LineView<'_>) {
        if line.unkept {
            self.unkept.push(line.number);
        }
        match &mut self.scan {
            None => self.begin(&line),
            Some(scan) => scan.line(line),
        }
    }

    fn fault(&mut self, fault: Fault) {
        match &mut self.scan {
            None => {
                self.early.get_or_insert(fault);
            }
            Some(scan) => scan.fault(fault),
        }
    }
}
