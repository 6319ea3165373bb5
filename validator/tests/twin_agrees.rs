//! Reader and loader are held equal to their naive twin, on logs that are lawful, odd or broken.

#[path = "support/mod.rs"]
mod support;
#[path = "twin/mod.rs"]
mod twin;

use proptest::prelude::*;
use support::{answer, report};
use twin::story::{Choices, framed, tell};

/// The twin's word is the report's, on a plain log.
fn check_plain(log: &[u8]) {
    let shown = || String::from_utf8_lossy(log).into_owned();
    assert_eq!(answer(&report(log, false)), twin::judge(log), "{}", shown());
}

/// The same on a compressed one, where the twin has a word.
fn check_framed(log: &[u8]) {
    if let Some(expected) = twin::container::judge(log) {
        assert_eq!(answer(&report(log, true)), expected, "{log:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn a_plain_log_has_the_answer_of_the_twin(
        tape in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        check_plain(&tell(&mut Choices::new(&tape)));
    }

    #[test]
    fn a_compressed_log_has_the_answer_of_the_twin(
        tape in proptest::collection::vec(any::<u8>(), 0..600),
        frames in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let text = tell(&mut Choices::new(&tape));
        check_framed(&framed(&text, &mut Choices::new(&frames)));
    }
}

/// The generator is worth something: each answer is given often, and logs have a length.
#[test]
fn stories_end_in_all_ways() {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    };
    let mut counts = [0usize; 3];
    let mut events = 0;
    for round in 0..1000 {
        let tape: Vec<u8> = (0..round % 600).map(|_| next()).collect();
        let answer = twin::judge(&tell(&mut Choices::new(&tape)));
        counts[answer.host as usize] += 1;
        events += answer.events;
    }
    println!("loads, repairs, refuses: {counts:?}; {events} events");
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
    assert!(events > 3000, "{events}");
}

#[test]
fn the_hash_of_the_frames_is_the_one_that_libzstd_checks() {
    for bytes in [0, 1, 3, 4, 7, 8, 11, 31, 32, 33, 63, 64, 100, 1000] {
        let mut text = vec![b' '; bytes];
        text.push(b'\n');
        let header = twin::container::frame(
            b"{\"type\":\"session\",\"version\":0,\"id\":\"s\",\
            \"createdAt\":1,\"delegationDepth\":0}\n",
            9,
            true,
        );
        let log = [header, twin::container::frame(&text, 9, true)].concat();
        // The frame decodes: its blank line is what is found.
        let report = report(&log, true);
        assert_eq!(report.findings[0].rule, "line/blank", "{bytes}: {report:?}");
    }
}
