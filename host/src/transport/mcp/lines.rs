//! Cuts the input into lines and holds at most one, of bounded length.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The envelope around the arguments of a call, in bytes: its id, its name, `_meta`.
const ENVELOPE: usize = 512 * 1024;
/// What one byte of arguments can take when a client writes it as an escape (`\u0061`): such a line is still read, so that
/// the gate says what is too long and by how much.
const ESCAPE: usize = 6;
/// What is read even where arguments may be shorter than usual: other requests have lines, too.
const LEAST: usize = 2 * 1024 * 1024;

/// Longest line that is read, in bytes: room for arguments at their limit. Longer ones are answered with an error and
/// skipped.
pub(crate) fn longest(max_arguments: u32) -> usize {
    let arguments = usize::try_from(max_arguments).unwrap_or(usize::MAX);
    arguments.saturating_mul(ESCAPE).saturating_add(ENVELOPE).max(LEAST)
}

/// Capacity that is kept between lines: one long line does not hold its memory for ever.
const KEPT: usize = 64 * 1024;

/// What came in.
#[derive(Debug, PartialEq)]
pub(crate) enum Input<'a> {
    /// A line, without its line feed.
    Line(&'a [u8]),
    /// The beginning of a line that was too long. The rest has been skipped.
    TooLong(&'a [u8]),
    /// The input has ended or is broken.
    End,
}

/// The lines of an input. Dropping `next` loses nothing: call it again.
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Longest line, in bytes.
    longest: usize,
    /// The line in hand has been given out.
    given: bool,
    too_long: bool,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R, longest: usize) -> Self {
        Self {
            input: BufReader::with_capacity(KEPT, input),
            line: Vec::new(),
            longest,
            given: false,
            too_long: false,
            ended: false,
        }
    }

    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    pub(crate) async fn next(&mut self) -> Input<'_> {
        if self.given {
            self.given = false;
            self.too_long = false;
            self.line.clear();
            self.line.shrink_to(KEPT);
        }
        while !self.ended {
            let chunk = match self.input.fill_buf().await {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    tracing::warn!(%error, "the input can no longer be read");
                    self.ended = true;
                    break;
                }
            };
            if chunk.is_empty() {
                self.ended = true;
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let room = self.longest.saturating_sub(self.line.len());
            self.too_long |= part.len() > room;
            self.line.extend_from_slice(part.get(..part.len().min(room)).unwrap_or_default());
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                return self.give();
            }
        }
        // The last line needs no line feed.
        if self.line.is_empty() { Input::End } else { self.give() }
    }

    fn give(&mut self) -> Input<'_> {
        self.given = true;
        if self.too_long { Input::TooLong(&self.line) } else { Input::Line(&self.line) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_room_for_the_arguments_that_the_gate_takes() {
        assert_eq!(longest(1), LEAST);
        assert_eq!(longest(256 << 10), LEAST);
        assert_eq!(longest(16 << 20), 6 * (16 << 20) + ENVELOPE);
    }
}
