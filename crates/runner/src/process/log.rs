//! Log files: what is kept of a child's output, and the end of it, for messages.

use std::{
    fs::{File, OpenOptions},
    io::{self, PipeReader, Read, Seek, SeekFrom, Write},
    os::{
        fd::{AsRawFd, RawFd},
        unix::fs::FileExt,
    },
    path::Path,
};

use super::sys;
use crate::secret::without_userinfo;

/// How much one child may add to a log.
const LIMIT: u64 = 8 << 20;
/// Of a child that writes more, how much is kept of the beginning, …
const HEAD: u64 = 1 << 20;
/// … and of the end at least: what PostgreSQL says of the statements of a check ([`crate::services::postgres`]) fits.
pub(crate) const LOG_END: u64 = 4 << 20;
/// What the pipe to the log holds, where the system allows that (`/proc/sys/fs/pipe-max-size`): a child that writes much
/// at once need not wait.
const PIPE_BYTES: usize = 1 << 20;

/// How much of a log's end is read; more would not fit a message anyway.
const TAIL_BYTES: u64 = 64 * 1024;

/// The last `lines` lines of the file at `path`, without passwords of URLs; none when it cannot be read.
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
    all[from..]
        .iter()
        .map(|line| without_userinfo(line))
        .collect()
}

fn read_tail(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The reading end of a pipe that a child writes to, and the file that it goes to.
pub(super) struct LogPipe {
    /// `None` once nobody can write any more.
    pipe: Option<PipeReader>,
    log: BoundedLog,
    buffer: Vec<u8>,
}

impl LogPipe {
    pub(super) fn new(pipe: PipeReader, log: File) -> io::Result<Self> {
        sys::make_log_pipe(pipe.as_raw_fd(), PIPE_BYTES)?;
        Ok(Self {
            pipe: Some(pipe),
            log: BoundedLog::new(log)?,
            buffer: vec![0; 64 << 10],
        })
    }

    /// What becomes readable when there is something to take; -1 when nothing can come any more.
    pub(super) fn descriptor(&self) -> RawFd {
        self.pipe.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Takes what was written so far. Not more than the pipe holds, so that a child that never stops writing keeps
    /// nobody from anything else.
    pub(super) fn take(&mut self) {
        for _ in 0..PIPE_BYTES / self.buffer.len() {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut self.buffer) {
                Ok(0) => self.pipe = None,
                Ok(length) => self.log.write(&self.buffer[..length]),
                Err(_) => return,
            }
        }
    }
}

/// A log that keeps the beginning and the end of what is written to it.
struct BoundedLog {
    file: File,
    length: u64,
    /// Where the beginning that is kept ends.
    head_end: u64,
    /// Where what came after the last cut begins.
    rest_start: u64,
    left_out: u64,
    limit: u64,
    /// The file cannot be cut, so that it takes no more.
    is_full: bool,
}

impl BoundedLog {
    fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self {
            file,
            length,
            head_end: length + HEAD,
            rest_start: length + HEAD,
            left_out: 0,
            limit: length + LIMIT,
            is_full: false,
        })
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.length + bytes.len() as u64 > self.limit {
            self.is_full |= self.cut().is_err();
        }
        if !self.is_full {
            self.append(bytes);
        }
    }

    /// A full disk loses output, and must not keep the child waiting.
    fn append(&mut self, bytes: &[u8]) {
        if self.file.write_all(bytes).is_ok() {
            self.length += bytes.len() as u64;
        }
    }

    /// Takes out everything between the beginning and the last of what there is.
    fn cut(&mut self) -> io::Result<()> {
        let mut last = vec![0; LOG_END as usize];
        let from = self.length.saturating_sub(LOG_END);
        self.file.read_exact_at(&mut last, from)?;
        self.file.set_len(self.head_end)?;
        self.left_out += from.saturating_sub(self.rest_start);
        self.length = self.head_end;
        let left_out = self.left_out;
        self.append(
            format!("\n[deadheat: {left_out} bytes are omitted here; a log keeps its beginning and its end]\n")
                .as_bytes(),
        );
        self.rest_start = self.length;
        self.append(&last);
        Ok(())
    }
}

/// Opens a log for more to be written to its end.
pub(super) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_of_a_log_is_counted() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "before\n").unwrap();
        let mut log = BoundedLog::new(open(file.path()).unwrap()).unwrap();
        let line = format!("{}\n", "x".repeat(1023));
        let lines = 20 << 10;
        for _ in 0..lines {
            log.write(line.as_bytes());
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert!(text.starts_with("before\nxxx") && text.ends_with("xxx\n"));
        let told: Vec<&str> = text.split("[deadheat: ").collect();
        let [head, rest] = told[..] else {
            panic!("told {} times", told.len() - 1)
        };
        let (left_out, rest) = rest.split_once(" bytes").unwrap();
        let (_, rest) = rest.split_once("]\n").unwrap();
        let kept = head.len() - "before\n\n".len() + rest.len();
        assert_eq!(left_out.parse::<usize>().unwrap() + kept, lines << 10);
    }

    #[test]
    fn takes_the_last_lines_and_skips_blank_ones() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "one\ntwo\n\nthree\n").unwrap();
        assert_eq!(log_tail(file.path(), 2), ["two", "three"]);
        assert!(log_tail(Path::new("/nonexistent/log"), 2).is_empty());
    }
}
