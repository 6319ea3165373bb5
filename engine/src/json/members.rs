//! The members of an object, with the host's opinion on duplicate keys: the last value wins, and
//! the key keeps its first place.

use super::tape::Node;
use super::text::Text;
use super::value::Json;

/// Up to this many members keys are compared each with each; beyond, they are sorted.
const PAIRWISE_MAX: usize = 16;

/// Members as they were written.
#[derive(Clone, Debug)]
pub(super) struct RawMembers<'a> {
    text: &'a [u8],
    /// From the next key on.
    nodes: &'a [Node],
}

impl<'a> RawMembers<'a> {
    #[inline]
    pub(super) fn new(text: &'a [u8], nodes: &'a [Node]) -> Self {
        Self { text, nodes }
    }
}

impl<'a> Iterator for RawMembers<'a> {
    type Item = (Text<'a>, Json<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let key = self.nodes.first()?;
        let value = Json::on(self.text, self.nodes, 1);
        self.nodes = &self.nodes[1 + value.span()..];
        Some((Text::of(self.text, key), value))
    }
}

/// The members of an object, each key once: at its first place, with its last value; an iterator.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    form: Form<'a>,
    /// Members that are still to come.
    left: usize,
}

#[derive(Clone, Debug)]
enum Form<'a> {
    /// No key occurs twice.
    Distinct(RawMembers<'a>),
    /// Some do: the places of the first key and the last value.
    Resolved { text: &'a [u8], nodes: &'a [Node], places: std::vec::IntoIter<Place> },
}

/// Where a member is among the nodes below its object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The key.
    pub(super) key: u32,
    /// The value.
    pub(super) value: u32,
}

impl<'a> Members<'a> {
    /// The members of an object; none of anything else.
    pub(super) fn of(object: &Json<'a>) -> Self {
        let left = if object.is_object() { object.raw_count() } else { 0 };
        let plain = Self { form: Form::Distinct(object.raw_members()), left };
        if left <= PAIRWISE_MAX && are_distinct(object.raw_members()) {
            return plain;
        }
        let mut places = by_key(object);
        if places.len() == left {
            return plain;
        }
        places.sort_unstable_by_key(|place| place.key);
        let (text, nodes) = object.parts();
        Self {
            left: places.len(),
            form: Form::Resolved { text, nodes, places: places.into_iter() },
        }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Text<'a>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.saturating_sub(1);
        match &mut self.form {
            Form::Distinct(members) => members.next(),
            Form::Resolved { text, nodes, places } => {
                let place = places.next()?;
                let key = Text::of(text, &nodes[place.key as usize]);
                Some((key, Json::on(text, nodes, place.value as usize)))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Members<'_> {}

/// Returns the places of an object's keys, in the order of the text.
fn key_places(object: &Json<'_>) -> Vec<Place> {
    let (_, nodes) = object.parts();
    let mut places = Vec::with_capacity(object.raw_count());
    let mut key = 0;
    while key < nodes.len() {
        let value = key + 1;
        places.push(Place { key: key as u32, value: value as u32 });
        key = value + nodes[value].span as usize;
    }
    places
}

/// Returns where an object's distinct members are, ordered by key: of equal keys the first one's
/// place and the last one's value.
pub(super) fn by_key(object: &Json<'_>) -> Vec<Place> {
    let (text, nodes) = object.parts();
    let key_of = |place: &Place| Text::of(text, &nodes[place.key as usize]);
    let mut places = key_places(object);
    places.sort_by(|a, b| key_of(a).cmp(&key_of(b)));
    places.dedup_by(|later, earlier| {
        let equal = key_of(later) == key_of(earlier);
        if equal {
            earlier.value = later.value;
        }
        equal
    });
    places
}

/// Returns whether no key occurs twice, by comparing each with each.
fn are_distinct(mut members: RawMembers<'_>) -> bool {
    while let Some((key, _)) = members.next() {
        if members.clone().any(|(other, _)| other == key) {
            return false;
        }
    }
    true
}

/// Returns whether the keys are all the `required` ones and, beyond them, `optional` ones only.
pub(super) fn has_exactly(members: &RawMembers<'_>, required: &[&str], optional: &[&str]) -> bool {
    // A set of the required keys seen; past 128 of them, which no format comes near, a slow path.
    let mut seen = 0u128;
    for (key, _) in members.clone() {
        if let Some(index) = required.iter().position(|name| key.eq_str(name)) {
            seen |= 1u128.checked_shl(index as u32).unwrap_or(0);
        } else if !optional.iter().any(|name| key.eq_str(name)) {
            return false;
        }
    }
    if required.len() <= 128 {
        return seen.count_ones() as usize == required.len();
    }
    required.iter().all(|name| members.clone().any(|(key, _)| key.eq_str(name)))
}
