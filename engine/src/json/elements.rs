//! The elements of an array, one after the other.

use super::block::Window;
use super::lex::{self, Scalar};
use super::tape::Node;
use super::value::Json;

/// The elements of an array, in order; an iterator.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    window: Window<'a>,
    from: From<'a>,
    /// Elements that are still to come.
    left: usize,
}

/// Where the elements are.
#[derive(Clone, Debug)]
enum From<'a> {
    /// In the text, from this offset: all of them are scalars.
    Text(usize),
    /// On the tape.
    Tape(&'a [Node]),
}

impl<'a> Elements<'a> {
    /// No elements.
    pub(super) fn none() -> Self {
        Self { window: Window::new(&[]), from: From::Text(0), left: 0 }
    }

    /// The first `count` elements, all scalars, from behind the opening bracket at `start`.
    pub(super) fn flat(text: &'a [u8], start: usize, count: u32) -> Self {
        Self { window: Window::new(text), from: From::Text(start), left: count as usize }
    }

    /// The elements whose nodes are these.
    pub(super) fn taped(text: &'a [u8], nodes: &'a [Node], count: u32) -> Self {
        Self { window: Window::new(text), from: From::Tape(nodes), left: count as usize }
    }

    /// Returns the next element and where it starts, when the elements are in the text.
    #[inline]
    pub(super) fn next_scalar(&mut self) -> Option<(usize, Scalar)> {
        let From::Text(position) = &mut self.from else { return None };
        self.left = self.left.checked_sub(1)?;
        let text = self.window.text;
        let start = lex::skip_space(text, *position);
        let scalar = lex::scalar(&mut self.window, start, text[start]).expect("a scanned scalar");
        // Behind the element and its comma, or the bracket that nobody looks past.
        *position = lex::skip_space(text, scalar.end) + 1;
        Some((start, scalar))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    #[inline]
    fn next(&mut self) -> Option<Json<'a>> {
        if let From::Tape(nodes) = &mut self.from {
            self.left = self.left.checked_sub(1)?;
            let element = Json::on(self.window.text, nodes, 0);
            *nodes = &nodes[element.span()..];
            return Some(element);
        }
        let (start, scalar) = self.next_scalar()?;
        Some(Json::scalar(self.window.text, start, scalar))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Elements<'_> {}
