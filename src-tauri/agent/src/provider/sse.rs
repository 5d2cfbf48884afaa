//! Server-sent events, as far as both providers use them: the `data:` lines of each event.

use std::io::{self, BufRead};

/// The longest line taken: 16 MiB.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// Reads the next event's data; none at the end of the stream.
pub(super) fn next_data(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut data: Option<String> = None;
    loop {
        let mut line = Vec::new();
        let read = io::Read::take(&mut *reader, MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
        let ended = line.last() == Some(&b'\n');
        if read == 0 || !ended {
            // An event that its blank line does not close was cut off.
            return if read as u64 == MAX_LINE_BYTES { Err(io::ErrorKind::InvalidData.into()) } else { Ok(None) };
        }
        let line = std::str::from_utf8(&line).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        let line = line.trim_end_matches(['\n', '\r']);
        if line.is_empty() {
            if data.is_some() {
                return Ok(data);
            }
        } else if let Some(piece) = line.strip_prefix("data:") {
            let piece = piece.strip_prefix(' ').unwrap_or(piece);
            match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(piece);
                }
                None => data = Some(piece.to_owned()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn events_are_read_and_a_cut_off_one_is_not() {
        let mut text: &[u8] = b": hi\r\nevent: x\r\ndata: {\"a\":1}\r\n\r\ndata: b\ndata: c\n\ndata: cut";
        assert_eq!(next_data(&mut text).unwrap().unwrap(), "{\"a\":1}");
        assert_eq!(next_data(&mut text).unwrap().unwrap(), "b\nc");
        assert_eq!(next_data(&mut text).unwrap(), None);
    }
}
