//! Payloads that hold frames.

use super::build::{Built, Written, dir};
use crate::log::behind::{Expected, witness};
use crate::log::encoded::{Encoded, Stamp};
use crate::log::frame::FrameHead;
use crate::log::limit::FRAME_HEADER_BYTES;
use crate::log::source::{Cached, Window};
use crate::log::tail::Verdict::{self, Corrupt, Torn};
use crate::storage::Storage;

/// A frame for its own future place in a payload, as somebody would make who can read the store.
struct Forged {
    segment_id: u64,
    lsn: u64,
    durable_lsn: u64,
    body_bytes: usize,
}

const SECTOR: usize = 512;

/// Two synced groups, then one frame whose payload has forged frames at two multiples of 4,096.
/// Returns the log and where the frame lies.
fn with_payload(forged: &Forged) -> (Written, u64) {
    let mut log = Written::first().groups(2);
    log.align();
    let start = log.end;
    let plain = log.batch(&[b' '; 9000]);
    // Where the payload starts in the frame.
    let front = FRAME_HEADER_BYTES + plain.body().len() - 9000;
    let mut payload = vec![b' '; 9000];
    for page in [start + 4096, start + 8192] {
        let mut frame = Encoded::of(crate::log::frame::Kind::Data, {
            let mut bytes = vec![0; FRAME_HEADER_BYTES];
            bytes.resize(FRAME_HEADER_BYTES + forged.body_bytes, b'f');
            bytes
        });
        frame.stamp(&Stamp {
            segment_id: forged.segment_id,
            offset: page,
            lsn: forged.lsn,
            durable_lsn: forged.durable_lsn,
            session: crate::log::chain::SessionKey([1; 16]),
            session_prev_lsn: 0,
            prev: log.digest,
            epoch: 1,
        });
        let place = (page - start) as usize - front;
        payload[place..][..frame.bytes().len()].copy_from_slice(frame.bytes());
    }
    log.frame(log.batch(&payload), 2);
    (log, start)
}

/// Every state in which one sector of the frame did not arrive, the whole frame, and every prefix.
fn states(log: &Written, start: u64) -> Vec<Written> {
    let sectors = (start as usize / SECTOR)..(log.end as usize).div_ceil(SECTOR);
    let mut states = vec![log.clone()];
    for sector in sectors {
        let mut torn = log.clone();
        torn.bytes[sector * SECTOR..][..SECTOR].fill(0);
        states.push(torn);
        let mut prefix = log.clone();
        prefix.bytes[sector * SECTOR..].fill(0);
        states.push(prefix);
    }
    states
}

fn verdicts(forged: &Forged) -> Vec<(Verdict, Vec<u64>)> {
    let (log, start) = with_payload(forged);
    let judged = states(&log, start).into_iter().map(|log| {
        let reader = Built::of(&[&log]).read().expect("a reader");
        (reader.judgement().ruling.verdict, super::build::lsns(&reader))
    });
    judged.collect()
}

#[test]
fn a_frame_in_a_payload_counts_for_nothing_unless_it_is_plausible_and_its_owner_is_torn() {
    let plausible = Forged { segment_id: 11, lsn: 4, durable_lsn: 3, body_bytes: 64 };
    let without_id = Forged { segment_id: 12, ..plausible };
    let absurd = Forged { lsn: 1 << 62 | 1, durable_lsn: 1 << 62, ..plausible };
    for forged in [&without_id, &absurd] {
        for (verdict, lsns) in verdicts(forged) {
            assert!(!matches!(verdict, Corrupt(_)), "{verdict:?}");
            assert!(lsns.starts_with(&[1, 2]));
        }
    }
    let verdicts = verdicts(&plausible);
    // Whole: nothing in it counts.
    assert_eq!(verdicts[0], (Verdict::Clean, vec![1, 2, 3]));
    // Torn: at worst a refusal; what was synced is shown whatever is said.
    assert!(verdicts.iter().all(|(_, lsns)| lsns.starts_with(&[1, 2])));
    assert!(verdicts.iter().any(|(verdict, _)| matches!(verdict, Corrupt(_))));
    // Where its own header is there, the frame owns its payload and nothing is refused.
    let (log, start) = with_payload(&plausible);
    for state in states(&log, start).iter().skip(1) {
        let at = start as usize;
        if state.bytes[at..at + SECTOR] == log.bytes[at..at + SECTOR] {
            let reader = Built::of(&[state]).read().expect("a reader");
            assert_eq!(reader.judgement().ruling.row, "P8");
        }
    }
}

#[test]
fn a_forged_header_hides_no_witness_behind_it() {
    // The forged frame claims the rest of the file, behind which a synced group vouches for the
    // frame that it lies in. Its own header has rotted.
    let claims = Forged { segment_id: 11, lsn: 4, durable_lsn: 0, body_bytes: 64 };
    let (mut log, start) = with_payload(&claims);
    log.group(1, 3);
    let whole = log.clone();
    let page = start as usize + 4096;
    let mut head = FrameHead::parse(log.bytes[page..].first_chunk().expect("a header"))
        .expect("the forged one");
    head.body_bytes = (log.bytes.len() - page - FRAME_HEADER_BYTES) as u32;
    log.bytes[page..page + FRAME_HEADER_BYTES].copy_from_slice(&head.encode());
    log.bytes[start as usize + 20] ^= 1;
    let reader = Built::of(&[&log]).read().expect("a reader");
    assert_eq!(reader.judgement().ruling.verdict, Corrupt("frame/header"));
    // The witness behind it was needed for that.
    let mut alone = whole;
    alone.bytes[start as usize + 20] ^= 1;
    alone.bytes[log.end as usize - 512..].fill(0);
    let from = (start + 12288) as usize;
    alone.bytes[from..].fill(0);
    let reader = Built::of(&[&alone]).read().expect("a reader");
    assert_eq!(reader.judgement().ruling.verdict, Torn);
}

#[test]
fn many_forged_headers_cost_no_more_than_a_few_passes() {
    // Each claims everything behind it; the search stops reading bodies at its budget.
    let mut log = super::reads::large().groups(1);
    log.align();
    let start = log.end as usize;
    for page in (start + 4096..log.bytes.len()).step_by(4096) {
        let mut head = FrameHead::parse(log.bytes[4096..].first_chunk().expect("a header"))
            .expect("the first frame");
        head.offset = page as u64;
        head.lsn = 3;
        head.durable_lsn = 1;
        head.body_bytes = (log.bytes.len() - page - FRAME_HEADER_BYTES) as u32;
        log.bytes[page..page + FRAME_HEADER_BYTES].copy_from_slice(&head.encode());
    }
    log.bytes[start] = 1;
    let store = Built::of(&[&log]);
    let reader = store.read().expect("a reader");
    assert_eq!(reader.judgement().ruling.row, "P11");
    let file = store.0.disk().open(&dir().join(log.name())).expect("a file");
    let mut source = Cached::new(&*file, dir());
    let mut window = Window::new(&mut source, log.header.segment_bytes);
    let expected = Expected {
        segment_id: log.header.segment_id,
        stop_offset: start as u64,
        next_lsn: 2,
        digest: log.digest,
        end: log.header.segment_bytes,
    };
    let heard = witness(&mut window, &expected).expect("readable");
    assert_eq!(heard.durable_lsn, 1);
    assert!(heard.checked_bytes > log.header.segment_bytes, "they are hopped over at first");
    assert!(heard.checked_bytes <= 3 * log.header.segment_bytes, "{}", heard.checked_bytes);
}
