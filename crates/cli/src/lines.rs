//! Lines of what another deadheat writes.

/// Lines of a stream that comes in pieces.
#[derive(Default)]
pub(crate) struct Lines(Vec<u8>);

impl Lines {
    /// Takes a piece, and passes on the lines that are whole now, each with its end.
    pub(crate) fn take(&mut self, piece: &[u8], pass_on: &mut dyn FnMut(&str)) {
        self.0.extend_from_slice(piece);
        if let Some(end) = self.0.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.0.split_off(end + 1);
            let whole = std::mem::replace(&mut self.0, rest);
            for line in whole.split_inclusive(|byte| *byte == b'\n') {
                pass_on(&String::from_utf8_lossy(line));
            }
        }
    }

    /// What is left in the end.
    pub(crate) fn rest(self, pass_on: &mut dyn FnMut(&str)) {
        if !self.0.is_empty() {
            pass_on(&String::from_utf8_lossy(&self.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_passed_on_whole_wherever_a_stream_is_split() {
        let text = "one\n\u{1b}[1mtwö\u{1b}[0m\n\nthree";
        for split in 0..=text.len() {
            let (one, two) = text.as_bytes().split_at(split);
            let mut seen = Vec::new();
            let mut lines = Lines::default();
            for piece in [one, two] {
                lines.take(piece, &mut |line| seen.push(line.to_owned()));
            }
            lines.rest(&mut |line| seen.push(line.to_owned()));
            let expected: Vec<&str> = text.split_inclusive('\n').collect();
            assert_eq!(seen, expected, "split at {split}");
        }
    }
}
