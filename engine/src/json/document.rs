//! A text with its tape: for values that are built or kept, where a borrowed one will not do.

use super::defect::Defect;
use super::scan::Scanner;
use super::tape::Tape;
use super::value::Json;

/// A JSON text that was scanned, with its nodes; it owns both.
#[derive(Clone, Debug)]
pub struct Document {
    text: Vec<u8>,
    tape: Tape,
    root: u32,
}

impl Document {
    /// Scans a text and keeps it.
    ///
    /// # Errors
    /// Those of [`Scanner::scan`].
    pub fn parse(text: impl Into<Vec<u8>>) -> Result<Self, Defect> {
        let text = text.into();
        let mut tape = Tape::new();
        let root = Scanner::new().scan(&text, &mut tape)?;
        Ok(Self { text, tape, root })
    }

    /// Returns the value.
    pub fn root(&self) -> Json<'_> {
        self.tape.json(&self.text, self.root)
    }

    /// Returns the text, white space around the value included.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}
