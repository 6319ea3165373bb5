//! Session files of the `dsh` harness ("the host"): `session[.vN].jsonl[.zstd]`, formats 0 to 4.
//!
//! A log is a header line and event rows, as plain lines or as a concatenation of Zstandard frames.
//! Reading goes through these modules in their order: [`discover`] finds files and says what their
//! names and places claim; [`frame`] walks the container by its structure; [`decode`] makes text of
//! frames; [`text`] cuts the text that [`source`] gives into blocks of lines and scans them, on all
//! cores by the [`pipe`]; [`row`] reads a line's envelope, packed rows included; [`mod@line`] joins
//! the lines of the blocks; [`header`] judges line 1; [`scan`] keeps the longest lawful prefix (in
//! format 1 of the rows that its [`codec`] decodes, in formats 2 to 4 of the exact rows of
//! [`strict`]), decides between a torn tail and corruption, and lets [`damage`] say in words what
//! lies there; [`legacy`] gives old shapes of format 0 their present form; [`closer`] makes the
//! events that crash recovery adds; `intake` has line 1 judged and the rest scanned; [`read`]
//! drives them all. What an event means is not known here.

pub mod vocabulary;
pub mod segment;
pub mod name;
pub mod identity;
pub mod discover;
pub mod fault;
pub mod bytes;
pub mod frame;
pub mod decode;
pub mod row;
pub mod text;
pub mod source;
pub mod pipe;
pub mod line;
pub mod header;
pub mod chunk;
pub mod damage;
pub mod codec;
pub mod strict;
pub mod record;
pub mod scan;
pub mod legacy;
pub mod closer;
mod intake;
pub mod read;
