//! Every case on every store that it is for, on both disks. Nothing is skipped.

use crate::bench::{Bench, KINDS, Kind};
use crate::cases::{CASES, Case, PARTS};
use crate::ground::{WHICH, Which};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The cases for a store.
fn cases_for(kind: Kind) -> Vec<&'static Case> {
    let parts = Bench::new(kind, Which::Simulated).parts();
    CASES.iter().filter(|case| case.stores.fits(parts)).collect()
}

fn run(kind: Kind, which: Which) {
    let mut failed = Vec::new();
    for case in cases_for(kind) {
        if std::env::var("GATELOG_CASE").is_ok_and(|only| !case.name.contains(&only)) {
            continue;
        }
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let bench = Bench::new(kind, which);
            let opened = (case.run)(&bench);
            bench.check_reopened(opened);
        }));
        if ended.is_err() {
            failed.push(case.name);
        }
    }
    assert!(failed.is_empty(), "{kind:?} on a {which:?} disk fails: {failed:#?}");
}

macro_rules! combinations {
    ($($test:ident: $kind:ident, $which:ident;)*) => {
        $(#[test]
        fn $test() {
            run(Kind::$kind, Which::$which);
        })*

        const COMBINATIONS: &[(Kind, Which)] = &[$((Kind::$kind, Which::$which),)*];
    };
}

combinations! {
    native_on_the_real_disk: Native, Real;
    native_on_the_simulated_disk: Native, Simulated;
    session_files_zstd_on_the_real_disk: FilesZstd, Real;
    session_files_zstd_on_the_simulated_disk: FilesZstd, Simulated;
    session_files_plain_on_the_real_disk: FilesPlain, Real;
    session_files_plain_on_the_simulated_disk: FilesPlain, Simulated;
}

#[test]
fn every_store_meets_every_disk() {
    for kind in KINDS {
        for which in WHICH {
            assert!(COMBINATIONS.contains(&(kind, which)), "{kind:?} on a {which:?} disk");
        }
    }
}

#[test]
fn every_part_has_a_case_for_who_keeps_it_and_for_who_does_not() {
    use crate::cases::For;
    for part in PARTS {
        for stores in [For::Keeping(part), For::Without(part)] {
            assert!(CASES.iter().any(|case| case.stores == stores), "{stores:?} has no case");
        }
        // And so has each store one of the two.
        for kind in KINDS {
            let cases = cases_for(kind);
            let is_of =
                |case: &&Case| [For::Keeping(part), For::Without(part)].contains(&case.stores);
            assert!(cases.iter().any(is_of), "{kind:?}: {part:?}");
        }
    }
}

#[test]
fn every_case_is_run_by_some_store() {
    for case in CASES {
        let is_run = |kind: &Kind| cases_for(*kind).iter().any(|it| it.name == case.name);
        assert!(KINDS.iter().any(is_run), "nobody runs {}", case.name);
    }
}
