//! JSON as the host reads it: `JSON.parse` over a UTF-8 decoding that replaces bad bytes.
//!
//! One pass over the bytes decides well-formedness and lays down a [`Tape`] of nodes; a [`Json`]
//! is a cursor on that tape. Nothing is built: strings stay spans of the text until somebody asks.
//! A text that is too large to hold goes through a [`Push`] in pieces, which keeps its envelope.
//!
//! The opinions, all of them the host's: the grammar is RFC 8259 strict; white space is space,
//! tab, LF and CR; a byte order mark is an error; bytes at or above 0x80 are legal inside strings
//! only, and are read as UTF-8 with U+FFFD for what is not; the last of duplicate keys wins and
//! keeps the first one's place; a number is a double (`1e400` is infinite, `-0` is minus zero);
//! lone surrogate escapes are kept; there is no depth limit and no recursion.

mod block;
mod brief;
mod code_points;
mod defect;
mod digest;
mod document;
mod elements;
mod flat;
mod grammar;
mod lex;
mod members;
mod number;
mod numbers;
mod plain;
mod print;
mod same;
mod scan;
mod skeleton;
mod stream;
mod tape;
mod text;
mod value;

pub use brief::Brief;
pub use defect::{Defect, DefectKind};
pub use digest::DigestKeys;
pub use document::Document;
pub use elements::Elements;
pub use members::Members;
pub use number::{display, is_count, is_safe_integer, is_seq};
pub use numbers::Numbers;
pub use scan::Scanner;
pub use skeleton::Skeleton;
pub use stream::Push;
pub use tape::{Kind, Node, Tape};
pub use text::Text;
pub use value::Json;
