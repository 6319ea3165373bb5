//! Two who would write.

use crate::bench::{Bench, Kind, Opened, SYNCED, notes, refusal};
use crate::world::T0;
use gatelog_engine::backend::{AppendError, ErrorKind, Refusal};

pub(crate) fn a_second_open_is_refused(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let before = bench.ground.bytes();
    for _ in 0..2 {
        let error = bench.try_open(&opened.setup).map(drop).expect_err("it is locked");
        assert_eq!(error.kind, ErrorKind::Locked);
        assert_eq!(error.holder.map(|holder| holder.pid), Some(1));
    }
    assert_eq!(bench.ground.bytes(), before);
    session.append(notes([1]), SYNCED).expect("it is ours");
    opened.reopen().expect("nothing fails");
    assert!(bench.try_open(&opened.setup).is_err(), "a reopen keeps the lock");
    opened.close().expect("nothing fails");
    bench.open()
}

pub(crate) fn a_lock_that_was_deleted_still_holds(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    bench.ground.remove("LOCK");
    let error = bench.try_open(&opened.setup).map(drop).expect_err("it is locked");
    assert_eq!(error.kind, ErrorKind::Locked);
    session.append(notes([1]), SYNCED).expect("it is ours");
    opened
}

pub(crate) fn two_of_us_are_kept_apart_by_the_lock_of_a_session(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let second = bench.open();
    second.make("b", &[7]);
    let ended = second.session("a").expect("it can be read").append(notes([1]), SYNCED);
    match ended {
        Err(AppendError::NotWritten(error)) => assert_eq!(error.kind, ErrorKind::Locked),
        other => panic!("{other:?}"),
    }
    session.append(notes([1]), SYNCED).expect("it is ours");
    opened.close().expect("nothing fails");
    // Who looked before is not there where the other has gone on to.
    let late = second.session("a").expect("it can be read").append(notes([9]), SYNCED);
    assert!(matches!(late, Err(AppendError::Refused(_))), "{late:?}");
    second.release("a").expect("the gate is free");
    second.session("a").expect("it can be read").append(notes([2]), SYNCED).expect("it is free");
    assert_eq!(second.numbers("a"), [0, 1, 2]);
    second
}

fn write_as_a_host(bench: &Bench, seq: u64, n: u64) {
    let row =
        format!("{{\"type\":\"plan/mode\",\"seq\":{seq},\"time\":{T0},\"data\":{{\"n\":{n}}}}}\n");
    bench.ground.edit(bench.log_path("a"), |bytes| {
        if bench.kind == Kind::FilesPlain {
            return bytes.extend_from_slice(row.as_bytes());
        }
        let mut frame = Vec::with_capacity(4_096);
        let mut context = zstd_safe::CCtx::create();
        let checked = context.set_parameter(zstd_safe::CParameter::ChecksumFlag(true));
        checked.expect("a parameter of the library's");
        context.compress2(&mut frame, row.as_bytes()).expect("there is room");
        bytes.extend(frame);
    });
}

pub(crate) fn a_foreign_write_is_found_before_ours(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    session.append(notes([1]), SYNCED).expect("nobody else writes");
    write_as_a_host(bench, 2, 50);
    let before = bench.ground.bytes();
    match refusal(session.append(notes([2]), SYNCED)) {
        Refusal::ForeignWrite { path } => {
            assert_eq!(path, bench.ground.root().join(bench.log_path("a")));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.ground.bytes(), before);
    drop((session, opened));
    // Whoever opens anew has seen it, and goes on behind it.
    let opened = bench.open();
    assert_eq!(opened.numbers("a"), [0, 1, 50]);
    opened.session("a").expect("it is there").append(notes([2]), SYNCED).expect("we have seen it");
    assert_eq!(opened.numbers("a"), [0, 1, 50, 2]);
    opened
}

pub(crate) fn a_lock_that_was_deleted_is_noticed_by_the_first_write(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    bench.ground.remove("_no-cwd/a/session.lock");
    let second = bench.open();
    let other = second.session("a").expect("it can be read");
    other.append(notes([1]), SYNCED).expect("the name was free");
    let refused = refusal(session.append(notes([2]), SYNCED));
    assert!(matches!(refused, Refusal::ForeignWrite { .. }), "{refused:?}");
    second
}
