//! Stores whose checksums hold and whose writer had a bug: each such rule, broken and kept.

use super::forge::{Forge, key};
use super::*;
use crate::log::body;
use crate::log::chain::SessionKey;
use crate::log::encoded::Encoded;
use crate::log::frame::Kind;
use crate::log::segment_header::SegmentHeader;
use crate::log::table::{CREATED, SessionRow};

fn said(act: impl FnOnce(&mut Forge) -> &mut Forge) -> Vec<&'static str> {
    act(&mut Forge::new(|_| ())).said()
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_session_is_created_once_before_its_use_and_its_frames_are_linked() {
    assert_eq!(said(|forge| forge.create("a").data("a", 1, 2).data("a", 2, 3)), NOTHING);
    assert_eq!(said(|forge| forge.data("a", 0, 2)), ["frame/malformed"]);
    assert_eq!(said(|forge| forge.create("a").data("b", 1, 2)), ["frame/no-session"]);
    assert_eq!(said(|forge| forge.create("a").create("a")), ["frame/created-again"]);
    let linked = said(|forge| forge.create("a").data("a", 1, 2).data("a", 1, 3));
    assert_eq!(linked, ["frame/session-link"]);
    let deleted = said(|forge| {
        forge.create("a").put(key("a"), 1, body::encode_delete(key("a"), 2)).data("a", 2, 2)
    });
    assert_eq!(deleted, ["frame/no-session"]);
    let again = said(|forge| {
        forge.create("a").put(key("a"), 1, body::encode_delete(key("a"), 2)).create("a")
    });
    assert_eq!(again, ["frame/created-again"]);
    let deleted = said(|forge| {
        forge.create("a").put(key("a"), 1, body::encode_delete(key("a"), 2)).create("b")
    });
    assert_eq!(deleted, NOTHING);
}

#[test]
fn a_session_that_was_deleted_has_no_report() {
    let mut forge = Forge::new(|_| ());
    forge.create("a").create("b").put(key("a"), 1, body::encode_delete(key("a"), 2));
    let check = forge.check();
    let ids: Vec<_> = check.sessions.iter().map(|session| &*session.id).collect();
    assert_eq!(ids, ["b"]);
}

#[test]
fn seqs_that_are_not_dense_are_counted_beyond_what_is_kept() {
    for (count, dropped) in [(100, 0), (105, 5)] {
        let mut forge = Forge::new(|header| header.segment_bytes = 512 << 10);
        forge.create("a");
        for number in 1..=count {
            forge.data("a", number, 2 * number + 2);
        }
        let check = forge.check();
        let [a] = &*check.sessions else { panic!("one session") };
        assert_eq!((a.findings.len(), a.dropped), (100, dropped));
    }
}

#[test]
fn seqs_are_dense_in_a_session_and_said_in_its_report() {
    for (first_seq, rule) in [(3, "envelope/seq-gap"), (1, "envelope/seq-overlap")] {
        let mut forge = Forge::new(|_| ());
        forge.create("a").create("b").data("a", 1, first_seq).data("b", 2, 2);
        let check = forge.check();
        assert_eq!(forge.said(), NOTHING);
        let [a, b] = &*check.sessions else { panic!("two sessions") };
        assert_eq!(a.findings.iter().map(|it| it.rule).collect::<Vec<_>>(), [rule]);
        assert_eq!(a.findings[0].place.seq, Some(first_seq));
        assert_eq!(b.findings, []);
    }
}

#[test]
fn header_and_body_of_a_frame_are_of_its_kind() {
    let strange = |forge: &mut Forge| {
        forge.put(key("other"), 0, {
            let header = SessionHeader { dialect: 0, json: b"{}".to_vec() };
            body::encode_create("a", &header, &batch(0, 1), 1 << 20).expect("it fits")
        });
        forge.said()
    };
    assert_eq!(strange(&mut Forge::new(|_| ())), ["frame/malformed"]);
    let garbage = Encoded::of_store(Kind::Rules, 3, |body| body.extend_from_slice(b"abc"));
    assert_eq!(said(|forge| forge.put(SessionKey::STORE, 0, garbage)), ["frame/malformed"]);
    let watermark = |forge: &mut Forge, durable_lsn| {
        forge.create("a");
        forge.stamp.durable_lsn = durable_lsn;
        forge.put(SessionKey::STORE, 0, body::encode_watermark()).said()
    };
    assert_eq!(watermark(&mut Forge::new(|_| ()), 1), NOTHING);
    assert_eq!(watermark(&mut Forge::new(|_| ()), 0), ["frame/malformed"]);
    let fork = Encoded::of_store(Kind::Fork, 0, |_| ());
    let said = said(|forge| forge.put(key("a"), 0, fork));
    assert!(said == ["frame/malformed"] || said == ["format/unsupported"], "{said:?}");
}

#[test]
fn a_table_says_what_the_frames_say() {
    let row = SessionRow {
        key: key("a"),
        first_seq: 0,
        last_seq: 2,
        first_lsn: 1,
        last_lsn: 2,
        last_time_ms: 1_002,
        frame_count: 2,
        flags: CREATED,
        id: Some("a".into()),
    };
    let of = |rows: &[SessionRow]| {
        let table = body::encode_table(Kind::Close, rows);
        said(|forge| forge.create("a").data("a", 1, 2).put(SessionKey::STORE, 0, table))
    };
    assert_eq!(of(std::slice::from_ref(&row)), NOTHING);
    let changes: [fn(&mut SessionRow); 6] = [
        |row| row.last_seq = 1,
        |row| row.first_lsn = 2,
        |row| row.last_time_ms = 5,
        |row| row.frame_count = 1,
        |row| row.flags = 0,
        |row| row.id = None,
    ];
    for change in changes {
        let mut row = row.clone();
        change(&mut row);
        assert_eq!(of(std::slice::from_ref(&row)), ["frame/table"], "{row:?}");
    }
    assert_eq!(of(&[]), ["frame/table"]);
    let rotated = said(|forge| {
        let table = body::encode_table(Kind::Rotate, &[]);
        forge.put(SessionKey::STORE, 0, table).create("a")
    });
    assert_eq!(rotated, ["frame/malformed"]);
}

#[test]
fn epochs_and_what_is_durable_never_fall() {
    let epochs = |second| {
        let mut forge = Forge::new(|_| ());
        forge.create("a");
        forge.stamp.epoch = second;
        forge.data("a", 1, 2).said()
    };
    assert_eq!((epochs(3), epochs(1)), (vec![], vec!["frame/epoch"]));
    let durable = |third| {
        let mut forge = Forge::new(|_| ());
        forge.create("a").data("a", 1, 2);
        forge.stamp.durable_lsn = third;
        forge.data("a", 2, 3).said()
    };
    assert_eq!((durable(2), durable(0)), (vec![], vec!["frame/durable"]));
}

#[test]
fn no_lsn_is_skipped_and_the_chain_begins_with_the_store() {
    let begun = |act: fn(&mut SegmentHeader)| {
        let sim = Sim::new(3);
        let mut forge = Forge::new(act);
        forge.create("a");
        let name = format!("/s/{:020}.log", forge.stamp.lsn - 1);
        sim.put(&name, &forge.into_bytes()).expect("it is put");
        let mut said = rules(&checked(&sim));
        said.retain(|rule| !["store/no-superblock", "log/unconfirmed"].contains(rule));
        said
    };
    assert_eq!(begun(|_| ()), NOTHING);
    assert_eq!(begun(|header| header.first_lsn = 5), ["log/gap"]);
    assert_eq!(begun(|header| header.prev_digest.0[0] ^= 1), ["frame/chain"]);
}

#[test]
fn a_frame_that_does_not_follow_is_corruption_whatever_w_says() {
    for (lsn, prev) in [(1, 0), (0, 1)] {
        let mut forge = Forge::new(|_| ());
        forge.create("a");
        forge.stamp.lsn += lsn;
        forge.stamp.prev.0[0] ^= prev;
        forge.stamp.durable_lsn = 0;
        assert_eq!(forge.data("a", 1, 2).said(), ["frame/chain"]);
    }
}
