//! The end of a log file, for messages.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

/// How much of a log's end is read; more would not fit a message anyway.
const TAIL_BYTES: u64 = 64 * 1024;

/// The last `lines` lines of the file at `path`; none when it cannot be read.
pub fn log_tail(path: &Path, lines: usize) -> Vec<String> {
    let Ok(bytes) = read_tail(path) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = all.len().saturating_sub(lines);
    all[from..].iter().map(|line| (*line).to_owned()).collect()
}

fn read_tail(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_last_lines_and_skips_blank_ones() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "one\ntwo\n\nthree\n").unwrap();
        assert_eq!(log_tail(file.path(), 2), ["two", "three"]);
        assert!(log_tail(Path::new("/nonexistent/log"), 2).is_empty());
    }
}
