//! How many tests a step ran, read from what its test runner printed.

/// Numbers of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Counts {
    pub(crate) const ONE_PASSED: Self = Self { passed: 1, failed: 0, skipped: 0 };
    pub(crate) const ONE_FAILED: Self = Self { passed: 0, failed: 1, skipped: 0 };
    pub(crate) const ONE_SKIPPED: Self = Self { passed: 0, failed: 0, skipped: 1 };

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Sums up every line in which libtest, vitest or one of our own scripts says how its tests went; nothing if there
    /// is no such line.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut sum = None;
        for line in text.lines() {
            if let Some(counts) = Self::of_line(&without_colours(line)) {
                sum.get_or_insert_with(Self::default).add(counts);
            }
        }
        sum
    }

    fn of_line(line: &str) -> Option<Self> {
        let line = line.trim();
        let told = line
            .strip_prefix("test result: ")
            .or_else(|| line.strip_prefix("Tests  "))
            .or_else(|| line.starts_with(|first: char| first.is_ascii_digit()).then_some(line))?;
        let words: Vec<&str> = told.split([' ', ';', ',', '|', '.']).filter(|word| !word.is_empty()).collect();
        let before = |names: &[&str]| {
            let at = words.iter().position(|word| names.contains(word))?;
            words.get(at.checked_sub(1)?)?.parse::<usize>().ok()
        };
        let (passed, failed) = (before(&["passed"]), before(&["failed"]));
        if passed.is_none() && failed.is_none() {
            return None;
        }
        Some(Self {
            passed: passed.unwrap_or(0),
            failed: failed.unwrap_or(0),
            skipped: before(&["ignored", "skipped"]).unwrap_or(0),
        })
    }
}

pub(crate) fn without_colours(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        if next == '\u{1b}' {
            rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(next);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn the_three_runners_are_understood() {
        let read = |text| Counts::read(text).map(|counts| (counts.passed, counts.failed, counts.skipped));
        let libtest = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.1s\n\
                       test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(read(libtest), Some((15, 2, 1)));
        assert_eq!(read("\u{1b}[2m Tests \u{1b}[22m \u{1b}[1m5 passed\u{1b}[22m | 1 skipped (6)"), Some((5, 0, 1)));
        assert_eq!(read(" Test Files  2 passed (2)\n      Tests  1 failed | 5 passed (6)"), Some((5, 1, 0)));
        assert_eq!(read("7 passed, 0 failed, 2 skipped"), Some((7, 0, 2)));
        assert_eq!(read("Compiling placet v0.1.0\nFinished"), None);
    }
}
