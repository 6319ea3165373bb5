//! Reading a stretch of a file whole.

use crate::storage::File;
use std::io;

/// Fills a buffer from `offset` on and returns how much there was; less only at the file's end.
///
/// # Errors
///
/// What the system says.
pub fn read_full(file: &dyn File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        let got = file.read_at(offset + done as u64, &mut buffer[done..])?;
        if got == 0 {
            break;
        }
        done += got;
    }
    Ok(done)
}
