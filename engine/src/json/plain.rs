//! Members as the host writes nearly all of them: no white space, keys without escapes, values that
//! are plain strings, whole numbers or objects of the same make.
//!
//! This takes as many of them as come, and leaves the rest to the [scanner](super::scan). What it
//! takes must be sound; what it leaves may be anything.

#![expect(clippy::inline_always, reason = "these are the body of one loop, which is hot")]

use super::block::Window;
use super::lex::{self, Scalar};
use super::scan::{self, At, Next};
use super::tape::{Kind, Node};

/// Scans members from the key of one on, up to one that is not plain. Returns what comes next, or
/// nothing when that is a member, be it the first.
#[inline(never)]
pub(super) fn members(
    window: &mut Window<'_>,
    nodes: &mut [Node],
    open: &mut Vec<u32>,
    to: &mut At,
) -> Option<Next> {
    let text = window.text;
    if text.get(to.position) != Some(&b'"') {
        return None;
    }
    let mut at = *to;
    let next = loop {
        let key_stop = window.stop_from(at.position + 1);
        let Some(&[b'"', b':', first]) = chunk(text, key_stop) else { break None };
        let Some([key, value]) = nodes.get_mut(at.used..).and_then(<[Node]>::first_chunk_mut)
        else {
            break None;
        };
        let flag = lex::is_high(window, at.position, key_stop);
        key.set(Kind::String, flag, at.position, key_stop + 1);
        let start = key_stop + 2;
        if first == b'{' && text.get(start + 1) == Some(&b'"') {
            value.set(Kind::Object, false, start, start);
            scan::open(nodes, open, at.used + 1, at.count + 1);
            at = At { position: start + 1, used: at.used + 2, count: 0 };
            continue;
        }
        let Some(scalar) = scalar(window, start, first) else { break None };
        if !matches!(text.get(scalar.end), Some(b',' | b'}')) {
            break None;
        }
        value.set(scalar.kind, scalar.flag, start, scalar.end);
        at = At { position: scalar.end, used: at.used + 2, count: at.count + 1 };
        if let Some(next) = after(text, nodes, open, &mut at) {
            break Some(next);
        }
    };
    *to = at;
    next
}

/// Closes what closes behind a member. Returns nothing at the key of another one.
#[inline(always)]
fn after(text: &[u8], nodes: &mut [Node], open: &mut Vec<u32>, at: &mut At) -> Option<Next> {
    loop {
        match chunk(text, at.position) {
            Some(b",\"") => {
                at.position += 1;
                return None;
            }
            Some([b'}', _]) => {
                at.position += 1;
                match scan::close(nodes, open, at) {
                    Next::AfterMember => {}
                    next => return Some(next),
                }
            }
            _ => return Some(Next::AfterMember),
        }
    }
}

/// Returns a string without escapes, or what may be a whole number; whether it ends there, what
/// comes behind it must tell.
#[inline(always)]
fn scalar(window: &mut Window<'_>, start: usize, first: u8) -> Option<Scalar> {
    let text = window.text;
    match first {
        b'"' => {
            let stop = window.stop_from(start + 1);
            if text.get(stop) != Some(&b'"') {
                return None;
            }
            let flag = lex::is_high(window, start, stop);
            Some(Scalar { kind: Kind::String, flag, end: stop + 1 })
        }
        b'1'..=b'9' => {
            let mut count = lex::digits(text, start);
            if count == 8 {
                count += lex::digits(text, start + 8);
            }
            Some(Scalar { kind: Kind::Number, flag: false, end: start + count })
        }
        b'0' => Some(Scalar { kind: Kind::Number, flag: false, end: start + 1 }),
        _ => None,
    }
}

#[inline(always)]
fn chunk<const N: usize>(text: &[u8], position: usize) -> Option<&[u8; N]> {
    text.get(position..)?.first_chunk()
}
