//! Cuts the input into lines and holds at most one, of bounded length.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Longest line that is read, in bytes: room for arguments at their limit (256 KiB) with every character written as an
/// escape, and the envelope around them. Longer lines are answered with an error and skipped.
pub(super) const MAX_LINE: usize = 2 * 1024 * 1024;
/// Capacity that is kept between lines: one long line does not hold its memory for ever.
const KEPT: usize = 64 * 1024;

/// What came in.
#[derive(Debug, PartialEq)]
pub(super) enum Input<'a> {
    /// A line, without its line feed.
    Line(&'a [u8]),
    /// The beginning of a line that was too long. The rest has been skipped.
    TooLong(&'a [u8]),
    /// The input has ended or is broken.
    End,
}

/// The lines of an input. Dropping `next` loses nothing: call it again.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// The line in hand has been given out.
    given: bool,
    too_long: bool,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input: BufReader::with_capacity(KEPT, input),
            line: Vec::new(),
            given: false,
            too_long: false,
            ended: false,
        }
    }

    pub(super) async fn next(&mut self) -> Input<'_> {
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
            let room = MAX_LINE.saturating_sub(self.line.len());
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
