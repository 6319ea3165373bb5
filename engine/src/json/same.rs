//! Deep equality, as the host's own comparison of parsed values has it.

use super::members;
use super::tape::Kind;
use super::text::Text;
use super::value::Json;

impl Json<'_> {
    /// Returns whether two values are the same: numbers as doubles with `-0` equal to `0`, strings
    /// by their units, arrays by order, objects by their distinct keys and last values, in any
    /// order. It does not recurse.
    pub fn same(&self, other: &Json<'_>) -> bool {
        // What is written alike is alike. Asked at every level this would be quadratic.
        if self.raw() == other.raw() {
            return true;
        }
        // Pairs of nodes still to be compared, as places below the two roots.
        let mut pairs = Vec::new();
        if !shallow(self, other, (0, 0), &mut pairs) {
            return false;
        }
        let ((text, nodes), (other_text, other_nodes)) = (self.parts(), other.parts());
        while let Some((place, other_place)) = pairs.pop() {
            let value = Json::on(text, nodes, place as usize);
            let other_value = Json::on(other_text, other_nodes, other_place as usize);
            let below = (place + 1, other_place + 1);
            if !shallow(&value, &other_value, below, &mut pairs) {
                return false;
            }
        }
        true
    }
}

/// Compares two values but for what is on the tape below them; that is put in `pairs`, as places
/// counted from `below`.
fn shallow(a: &Json<'_>, b: &Json<'_>, below: (u32, u32), pairs: &mut Vec<(u32, u32)>) -> bool {
    if a.kind() != b.kind() {
        return false;
    }
    match a.kind() {
        Kind::Null | Kind::False | Kind::True => true,
        Kind::Number => a.as_number() == b.as_number(),
        Kind::String => a.as_text() == b.as_text(),
        Kind::Array => arrays(a, b, below, pairs),
        Kind::Object => objects(a, b, below, pairs),
    }
}

fn arrays(a: &Json<'_>, b: &Json<'_>, below: (u32, u32), pairs: &mut Vec<(u32, u32)>) -> bool {
    if a.len() != b.len() || a.element_kinds() != b.element_kinds() {
        return false;
    }
    let ((_, nodes), (_, other_nodes)) = (a.parts(), b.parts());
    if nodes.is_empty() {
        // All scalars on both sides, since their kinds are equal.
        return a.elements().zip(b.elements()).all(|(x, y)| shallow(&x, &y, (0, 0), pairs));
    }
    let (mut place, mut other_place) = (0, 0);
    while place < nodes.len() {
        pairs.push((below.0 + place as u32, below.1 + other_place as u32));
        place += nodes[place].span as usize;
        other_place += other_nodes[other_place].span as usize;
    }
    true
}

fn objects(a: &Json<'_>, b: &Json<'_>, below: (u32, u32), pairs: &mut Vec<(u32, u32)>) -> bool {
    let ((text, nodes), (other_text, other_nodes)) = (a.parts(), b.parts());
    let (places, other_places) = (members::by_key(a), members::by_key(b));
    if places.len() != other_places.len() {
        return false;
    }
    for (place, other_place) in places.iter().zip(&other_places) {
        let key = Text::of(text, &nodes[place.key as usize]);
        if key != Text::of(other_text, &other_nodes[other_place.key as usize]) {
            return false;
        }
        pairs.push((below.0 + place.value, below.1 + other_place.value));
    }
    true
}
