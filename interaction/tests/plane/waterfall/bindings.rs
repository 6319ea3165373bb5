//! The tree of scopes: its links, its generations and what holds them.

use crate::waterfall::scene::{is_pending, soon};
use gatelog_interaction::scope::{Binding, Scope, ScopeError};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_scope_is_bound_once() {
    let (one, other, below) = (Scope::new("one"), Scope::new("other"), Scope::new("below"));
    let binding = below.bind(&one).expect("it has no parent");
    let refused = below.bind(&other).expect_err("it has one");
    assert_eq!(refused, ScopeError::AlreadyBound);
    assert_eq!(
        refused.to_string(),
        "dsh-scope: scope key is already bound to a parent; re-linking requires the binding \
         returned by the original bind"
    );
    assert_eq!(below.chain(), [below.clone(), one.clone()]);
    binding.rebind(&other).expect("its binding may");
    assert_eq!(below.chain(), [below.clone(), other]);
    drop(binding);
    assert_eq!(below.chain(), std::slice::from_ref(&below));
    below.bind(&one).expect("it is free again").keep();
    assert_eq!(below.chain(), [below.clone(), one]);
}

#[test]
fn no_link_closes_a_cycle() {
    let top = Scope::new("top");
    let middle = top.child("middle").expect("two deep");
    let below = middle.child("below").expect("three deep");
    for parent in [&top, &middle, &below] {
        let refused = top.bind(parent).expect_err("it would be above itself");
        assert_eq!(refused, ScopeError::Cycle);
        assert_eq!(refused.to_string(), "dsh-scope: scope parent link would form a cycle");
    }
    let free = Scope::new("free");
    let binding = free.bind(&top).expect("it has no parent");
    let under = free.child("under").expect("three deep");
    assert_eq!(binding.rebind(&under), Err(ScopeError::Cycle));
    assert_eq!(free.chain(), [free.clone(), top], "the old link stays");
}

/// A scope and the lowest of many below it.
fn tall(label: &str) -> (Scope, Scope) {
    let top = Scope::new(label);
    let lowest = (0..30).fold(top.clone(), |scope, depth| {
        scope.child(format!("{label}-{depth}")).expect("not too deep")
    });
    (top, lowest)
}

#[test]
fn two_links_at_once_close_no_cycle() {
    for _ in 0..500 {
        let ((one, below_one), (other, below_other)) = (tall("one"), tall("other"));
        let ready = AtomicUsize::new(0);
        let link = |below: &Scope, above: &Scope| {
            ready.fetch_add(1, Ordering::SeqCst);
            while ready.load(Ordering::SeqCst) < 2 {
                std::hint::spin_loop();
            }
            below.bind(above).map(Binding::keep)
        };
        let linked = std::thread::scope(|threads| {
            let first = threads.spawn(|| link(&one, &below_other));
            let second = threads.spawn(|| link(&other, &below_one));
            [first.join().expect("sound"), second.join().expect("sound")]
        });
        let refused: Vec<_> = linked.into_iter().filter_map(Result::err).collect();
        assert_eq!(refused, [ScopeError::Cycle]);
    }
}

#[test]
fn a_scope_lies_below_at_most_sixty_four_others() {
    let mut scope = Scope::new("0");
    for depth in 1..=64 {
        scope = scope.child(depth.to_string()).expect("not too deep");
    }
    assert_eq!(scope.child("65").expect_err("too deep"), ScopeError::TooDeep);
    assert_eq!(scope.chain().len(), 65);
}

#[test]
fn scopes_are_compared_by_identity_and_not_by_label() {
    let (one, other) = (Scope::new("same"), Scope::new("same"));
    assert_ne!(one, other);
    assert_eq!(one, one.clone());
}

#[tokio::test(start_paused = true)]
async fn a_generation_drains_when_its_last_lease_is_given_back() {
    let top = Scope::new("top");
    let below = top.child("below").expect("two deep");
    assert_eq!(top.generation(), 1);
    let (first, second) = (top.lease(), below.lease());
    let replaced = top.publish();
    assert_eq!((top.generation(), below.generation()), (2, 1));
    assert_eq!(replaced.leases(), 2, "a lease holds what is above, too");
    let of_the_new = below.lease();
    drop(first);
    assert!(is_pending(replaced.drained()).await, "one lease is out");
    drop(second);
    soon(replaced.drained()).await;
    assert_eq!(replaced.leases(), 0);
    assert!(of_the_new.is_of(&below) && !of_the_new.is_of(&top));
    drop(of_the_new);
    soon(top.release()).await;
    assert_eq!(top.generation(), 3);
}

#[test]
fn no_lease_is_counted_behind_a_publication() {
    let scope = Scope::new("busy");
    std::thread::scope(|threads| {
        let taker = threads.spawn(|| {
            let mut held = VecDeque::new();
            for _ in 0..20_000 {
                held.push_back(scope.lease());
                if held.len() > 8 {
                    held.pop_front();
                }
            }
        });
        let mut replaced = VecDeque::new();
        while !taker.is_finished() {
            replaced.push_back((scope.publish(), false));
            if replaced.len() > 16 {
                replaced.pop_front();
            }
            for (replaced, is_drained) in &mut replaced {
                let leases = replaced.leases();
                assert!(!*is_drained || leases == 0, "a drained generation was taken again");
                *is_drained |= leases == 0;
            }
        }
    });
}
