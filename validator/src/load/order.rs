//! The order of the surface's nodes, in which a replacement costs no more than what it removes.
//!
//! A replacement takes the place of a run of nodes, so it can have the place of the first of them,
//! and no place ever has to be renumbered: places are counted up as nodes are appended, and places
//! whose nodes were removed are skipped by links. How many nodes come before a place, which only
//! messages ask for, is kept in a tree of partial sums.

/// A node index that stands for no place.
const NONE: usize = usize::MAX;

/// The nodes in their order.
#[derive(Clone, Debug, Default)]
pub struct Order {
    places: Vec<Place>,
    /// Every seq that was ever put in, with its place; `NONE` once it is removed. Events come in
    /// the order of their seqs, so that this is sorted.
    entered: Vec<(u64, usize)>,
    /// At N - 1, how many nodes there are at the places from N minus the lowest bit of N on to
    /// N - 1: a binary indexed tree.
    sums: Vec<usize>,
}

/// A place, with the node at it.
#[derive(Clone, Copy, Debug)]
struct Place {
    seq: u64,
    /// The next place that has a node.
    next: usize,
}

/// A run of nodes, from one place to another, both of which have a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    start: usize,
    end: usize,
}

impl Order {
    /// Puts a node at the end. Its seq must be greater than all that were put in before.
    pub fn push(&mut self, seq: u64) {
        let place = self.places.len();
        self.entered.push((seq, place));
        self.places.push(Place { seq, next: place + 1 });
        let number = place + 1;
        let covered = number & number.wrapping_neg();
        let sum = 1 + self.before(number - 1) - self.before(number - covered);
        self.sums.push(sum);
    }

    /// Returns about how many bytes the order takes.
    pub fn state_bytes(&self) -> usize {
        self.places.len() * 16 + self.entered.len() * 16 + self.sums.len() * 8
    }

    /// Returns the run from one node to another, or which of them is not there (the first of two).
    ///
    /// # Errors
    ///
    /// [`NoRange`] when a node is not there, or the second comes before the first.
    pub fn range(&self, start: u64, end: u64) -> Result<Range, NoRange> {
        let range = Range {
            start: self.place(start).ok_or(NoRange::NoStart)?,
            end: self.place(end).ok_or(NoRange::NoEnd)?,
        };
        if range.start > range.end {
            let (start, end) = (self.before(range.start), self.before(range.end));
            return Err(NoRange::Reversed { start, end });
        }
        Ok(range)
    }

    /// Returns the nodes of a run, in their order.
    pub fn nodes(&self, range: Range) -> impl Iterator<Item = u64> + use<'_> {
        let mut at = range.start;
        std::iter::from_fn(move || {
            let place = (at <= range.end).then(|| self.places[at])?;
            at = place.next;
            Some(place.seq)
        })
    }

    /// Puts a node in the place of a run. Its seq must be greater than all that were put in before.
    pub fn replace(&mut self, range: Range, seq: u64) {
        let removed: Vec<u64> = self.nodes(range).collect();
        for old in &removed {
            if let Ok(at) = self.entered.binary_search_by_key(old, |entry| entry.0) {
                let place = std::mem::replace(&mut self.entered[at].1, NONE);
                if place != range.start {
                    self.uncount(place);
                }
            }
        }
        let next = self.places[range.end].next;
        self.places[range.start] = Place { seq, next };
        self.entered.push((seq, range.start));
    }

    /// Returns where a node is.
    fn place(&self, seq: u64) -> Option<usize> {
        let at = self.entered.binary_search_by_key(&seq, |entry| entry.0).ok()?;
        Some(self.entered[at].1).filter(|place| *place != NONE)
    }

    /// Returns how many nodes there are before a place.
    fn before(&self, place: usize) -> usize {
        let (mut number, mut sum) = (place, 0);
        while number > 0 {
            sum += self.sums[number - 1];
            number &= number - 1;
        }
        sum
    }

    /// Takes a node out of the partial sums.
    fn uncount(&mut self, place: usize) {
        let mut number = place + 1;
        while number <= self.sums.len() {
            self.sums[number - 1] -= 1;
            number += number & number.wrapping_neg();
        }
    }
}

/// Why two nodes bound no run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRange {
    /// The first is not there.
    NoStart,
    /// The second is not there.
    NoEnd,
    /// The second comes before the first.
    Reversed {
        /// How many nodes come before the first.
        start: usize,
        /// How many nodes come before the second.
        end: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, as a list that is searched and spliced.
    #[derive(Default)]
    struct Naive(Vec<u64>);

    impl Naive {
        fn range(&self, start: u64, end: u64) -> Result<std::ops::RangeInclusive<usize>, NoRange> {
            let find = |seq| self.0.iter().position(|node| *node == seq);
            let start = find(start).ok_or(NoRange::NoStart)?;
            let end = find(end).ok_or(NoRange::NoEnd)?;
            if start > end { Err(NoRange::Reversed { start, end }) } else { Ok(start..=end) }
        }
    }

    /// Numbers that look random and are the same in every run.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (self.0 >> 33) % bound
        }
    }

    #[test]
    fn the_order_is_that_of_a_spliced_list() {
        let mut replaced = 0;
        for round in 0..200 {
            let mut dice = Dice(round);
            let (mut order, mut naive) = (Order::default(), Naive::default());
            for number in 0..150 {
                // Seqs have gaps, so that some ends are never there.
                let seq = number * 2 + dice.below(2);
                if dice.below(2) == 0 {
                    order.push(seq);
                    naive.0.push(seq);
                    continue;
                }
                let nodes = naive.0.len() as u64;
                let node = |at: u64| naive.0.get(at as usize).copied().unwrap_or(seq + 1);
                // Now and then one past the last node, which is not there.
                let at = dice.below(nodes + 1);
                let (start, end) = (node(at), node(at.saturating_sub(1) + dice.below(5)));
                let (fast, slow) = (order.range(start, end), naive.range(start, end));
                match (fast, slow) {
                    (Ok(fast), Ok(slow)) => {
                        let nodes: Vec<u64> = order.nodes(fast).collect();
                        assert_eq!(nodes, naive.0[slow.clone()]);
                        order.replace(fast, seq);
                        naive.0.splice(slow, [seq]);
                        replaced += 1;
                    }
                    (fast, slow) => assert_eq!(fast.err(), slow.err()),
                }
            }
        }
        assert!(replaced > 1000, "{replaced}");
    }

    #[test]
    fn a_hundred_thousand_replacements_far_from_the_end_are_no_work() {
        let (mut order, count) = (Order::default(), 100_000);
        (0..count).for_each(|seq| order.push(seq));
        for number in 0..count {
            let range = order.range(number, number).expect("it is there");
            order.replace(range, count + number);
        }
        assert_eq!(order.range(count + 1, count), Err(NoRange::Reversed { start: 1, end: 0 }));
    }
}
