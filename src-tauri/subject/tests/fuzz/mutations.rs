//! Inputs that differ a little from those of a corpus, the same for the same seed.

/// A series of random numbers (`SplitMix64`).
pub(crate) struct Series(u64);

impl Series {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, or 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or_default()
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..(start + self.below(12)).min(length)
    }

    /// One of the corpus after a few changes; `words` are what its language is made of.
    pub(crate) fn mutated(&mut self, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(4) {
            let at = self.below(input.len() + 1);
            match self.below(9) {
                0..=3 => {
                    let word = words[self.below(words.len())].as_bytes();
                    input.splice(at..at, word.iter().copied());
                }
                4 => {
                    let range = self.range(input.len());
                    let word = words[self.below(words.len())].as_bytes();
                    input.splice(range, word.iter().copied());
                }
                5 => {
                    let range = self.range(input.len());
                    input.drain(range);
                }
                6 => {
                    let range = self.range(input.len());
                    let copied = input[range].to_vec();
                    input.splice(at..at, copied);
                }
                7 => {
                    // What one input begins with, and another ends with.
                    let other = &corpus[self.below(corpus.len())];
                    let from = self.below(other.len() + 1);
                    input.truncate(at);
                    input.extend_from_slice(&other[from..]);
                }
                _ => {
                    let byte = self.next().to_le_bytes()[0];
                    if let Some(place) = input.get_mut(at) {
                        *place = byte;
                    }
                }
            }
        }
        input
    }
}
