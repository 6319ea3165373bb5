//! Many bytes of text at a time, as bit masks: bit 0 is the first byte.
//!
//! It is all plain arithmetic and loops that the compiler turns into vector instructions.

#![expect(clippy::inline_always, reason = "a call costs more than what these do")]

/// Bytes in a block: as many as a mask has bits.
pub(super) const WIDTH: usize = 64;

/// A block of text.
pub(super) type Block = [u8; WIDTH];

/// Returns a bit for each byte of a block that is meant.
#[inline(always)]
pub(super) fn mask(block: &Block, is_meant: impl Fn(u8) -> bool) -> u64 {
    let mut meant = [0; WIDTH];
    for (meant, byte) in meant.iter_mut().zip(block) {
        *meant = u8::from(is_meant(*byte));
    }
    let (lanes, _) = meant.as_chunks();
    // Each of the eight bits is moved into the top byte by one term of the product.
    let gather =
        |lane: &[u8; 8]| u64::from_le_bytes(*lane).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let mut mask = 0;
    for (place, lane) in lanes.iter().enumerate() {
        mask |= gather(lane) << (8 * place);
    }
    mask
}

/// Returns whether a byte ends a string or is special in it: a quote, a backslash or a control
/// character.
#[inline(always)]
#[expect(clippy::needless_bitwise_bool, reason = "without branches it is done for many at once")]
pub(super) fn is_string_stop(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Returns whether a byte of some is at or above 0x80.
#[inline(always)]
pub(super) fn has_high(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |all, byte| all | byte) >= 0x80
}

/// A block of a text that moves along it and knows where strings stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window<'t> {
    pub(super) text: &'t [u8],
    /// Where the block starts.
    base: usize,
    /// Its bytes that end a string or are special in it.
    stops: u64,
    /// A byte at or above 0x80 may be in it; or was, in a string that goes on in it.
    pub(super) high: bool,
}

impl<'t> Window<'t> {
    /// Makes a window on no block yet.
    #[inline(always)]
    pub(super) fn new(text: &'t [u8]) -> Self {
        // No place is within a block of this one.
        Self { text, base: usize::MAX - WIDTH, stops: 0, high: false }
    }

    /// Returns the offset of the first byte from `position` that ends a string or is special in
    /// it; past the end of the text where there is none.
    #[inline(always)]
    pub(super) fn stop_from(&mut self, position: usize) -> usize {
        let offset = position.wrapping_sub(self.base);
        if offset < WIDTH {
            let stops = self.stops >> offset;
            if stops != 0 {
                return position + stops.trailing_zeros() as usize;
            }
        }
        self.stop_beyond(position)
    }

    /// Goes on in the blocks behind the current one.
    #[inline(never)]
    fn stop_beyond(&mut self, position: usize) -> usize {
        let within = position.wrapping_sub(self.base) < WIDTH;
        // A string that spans blocks has a high byte if one of them has.
        let mut high = within && self.high;
        let mut next = if within { self.base + WIDTH } else { position };
        while next < self.text.len() {
            self.load(next);
            high |= self.high;
            let stops = self.stops >> (next - self.base);
            if stops != 0 {
                self.high = high;
                return next + stops.trailing_zeros() as usize;
            }
            next = self.base + WIDTH;
        }
        self.text.len()
    }

    /// Moves to the block at `position`, or to the last one of the text, which has it in it.
    #[inline(always)]
    fn load(&mut self, position: usize) {
        let text = self.text;
        self.base = position.min(text.len().saturating_sub(WIDTH));
        match text.get(self.base..).and_then(|rest| rest.first_chunk()) {
            Some(block) => self.look_at(block),
            None => self.look_at_short(),
        }
    }

    #[inline(always)]
    fn look_at(&mut self, block: &Block) {
        self.stops = mask(block, is_string_stop);
        let (words, _) = block.as_chunks::<8>();
        let all = words.iter().fold(0, |all, word| all | u64::from_le_bytes(*word));
        self.high = all & 0x8080_8080_8080_8080 != 0;
    }

    /// Looks at a text that is shorter than a block, with zeros behind it.
    #[inline(never)]
    fn look_at_short(&mut self) {
        let mut block = [0; WIDTH];
        block[..self.text.len()].copy_from_slice(self.text);
        self.look_at(&block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_a_bit_for_each_byte_that_is_meant() {
        for place in 0..WIDTH {
            for byte in 0..=u8::MAX {
                for around in [0, b'!', b'"', b'\\', 0x1F, 0x20, 0x7F, 0x80, 0xFF] {
                    let mut block = [around; WIDTH];
                    block[place] = byte;
                    let bit = |(i, b): (usize, &u8)| u64::from(is_string_stop(*b)) << i;
                    let expected = block.iter().enumerate().map(bit).sum::<u64>();
                    assert_eq!(mask(&block, is_string_stop), expected, "{block:?}");
                    assert_eq!(has_high(&block), block.iter().any(|b| *b >= 0x80));
                }
            }
        }
    }

    #[test]
    fn a_window_finds_the_next_stop_wherever_it_is_asked_from() {
        // Texts of all lengths around a few blocks, with stops that are near and far apart.
        for length in 0..4 * WIDTH {
            for gap in [1, 2, 7, 63, 64, 65, 150, 1_000] {
                let stop_at = |i: usize| if i % gap == gap / 2 { b'"' } else { b'a' };
                let text: Vec<u8> = (0..length).map(stop_at).collect();
                for step in [1, 3, 40, 70, 130] {
                    let mut window = Window::new(&text);
                    for from in (0..=length).step_by(step) {
                        let naive = text[from..].iter().position(|b| is_string_stop(*b));
                        let found = window.stop_from(from);
                        assert_eq!(
                            text.get(found..).is_some_and(|rest| !rest.is_empty()),
                            naive.is_some()
                        );
                        assert!(
                            naive.is_none_or(|stop| from + stop == found),
                            "{length} {gap} {from}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_window_knows_of_high_bytes_in_a_string_that_spans_blocks() {
        for high in 0..3 * WIDTH {
            let mut text = vec![b'a'; 3 * WIDTH];
            text[high] = 0x80;
            text.push(b'"');
            let mut window = Window::new(&text);
            assert_eq!(window.stop_from(0), 3 * WIDTH);
            assert!(window.high, "a high byte at {high}");
        }
    }
}
