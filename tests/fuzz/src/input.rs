//! An input as a row of choices, for targets whose subjects are made and not given.

/// Takes choices off the front; behind the end every choice is zero.
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    pub fn place(&mut self, bound: usize) -> usize {
        (usize::from(self.byte()) << 8 | usize::from(self.byte())) % bound
    }

    pub fn text(&mut self) -> String {
        let length = self.below(12).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    /// Does to some bytes what the input says: bytes are changed, taken out, put in, copied, or the end is cut.
    pub fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.below(5) {
            if bytes.is_empty() {
                return;
            }
            let at = self.place(bytes.len());
            match self.below(5) {
                0 => bytes[at] ^= self.byte(),
                1 => {
                    bytes.remove(at);
                }
                2 => bytes.insert(at, self.byte()),
                3 => {
                    let from = self.place(bytes.len());
                    let copied = bytes[from..(from + self.below(12)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, copied);
                }
                _ => bytes.truncate(at),
            }
        }
    }
}
