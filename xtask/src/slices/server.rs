//! A server with everything that it started.

use std::{
    collections::HashMap,
    fs,
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::unix::fs::FileExt,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use tempfile::{NamedTempFile, TempDir};

use super::subject::Subject;
use crate::sys;

/// How long a server may take until it accepts connections.
const START: Duration = Duration::from_secs(60);
/// How long processes may take until they stand still, or end.
const PATIENCE: Duration = Duration::from_secs(5);
/// Two doubles, little endian.
const COUNTERS: usize = 16;
/// Between two looks.
const STEP: Duration = Duration::from_millis(1);

/// A server on a port of its own. Dropping it ends its processes.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    _blob: NamedTempFile,
    _files: TempDir,
    counters: NamedTempFile,
}

/// What a server counted of its own work in the file COUNTERS: only xtask/probe.py does.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Work {
    /// Seconds that it served, without its pauses.
    pub(crate) seconds: f64,
    /// Its answers, those that nobody counted too.
    pub(crate) answers: f64,
}

impl Work {
    /// What came after `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            seconds: self.seconds - earlier.seconds,
            answers: self.answers - earlier.answers,
        }
    }
}

impl Server {
    /// Starts a server on one CPU, and waits until it accepts connections.
    pub(crate) fn start(subject: &Subject, cpu: usize) -> Result<Self, String> {
        let words = subject.command.join(" ");
        let failed = |error: io::Error| format!("starting `{words}`: {error}");
        let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = probe.local_addr().map_err(failed)?;
        drop(probe);
        let [program, arguments @ ..] = &subject.command[..] else {
            return Err("starting a server: no command is given".to_owned());
        };
        // What a stack may open when it starts; nobody asks for it.
        let blob = NamedTempFile::new().map_err(failed)?;
        let files = TempDir::new().map_err(failed)?;
        let mut counters = NamedTempFile::new().map_err(failed)?;
        counters.write_all(&[0; COUNTERS]).map_err(failed)?;
        let filled = |word: &String| {
            word.replace("${HOST}", &address.ip().to_string())
                .replace("${PORT}", &address.port().to_string())
                .replace("${CPUS}", "1")
        };
        let mut started = Command::new(program);
        started
            .args(arguments.iter().map(filled))
            .current_dir(&subject.folder)
            .env("HOST", address.ip().to_string())
            .env("PORT", address.port().to_string())
            .env("CPUS", "1")
            .env("POOL_SIZE", "16")
            .env("BLOB_PATH", blob.path())
            .env("STATIC_DIR", files.path())
            .env("COUNTERS", counters.path())
            .envs(&subject.env)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        sys::confine(&mut started, cpu).map_err(failed)?;
        let child = started.spawn().map_err(failed)?;
        let mut server = Self {
            child,
            address,
            _blob: blob,
            _files: files,
            counters,
        };
        let until = Instant::now() + START;
        while TcpStream::connect(address).is_err() {
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(format!("starting `{words}`: it ended with {status}"));
            }
            if Instant::now() > until {
                return Err(format!(
                    "starting `{words}`: nothing accepts connections at {address} after {START:?}"
                ));
            }
            thread::sleep(10 * STEP);
        }
        Ok(server)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it counted so far; zeros if it counts nothing.
    pub(crate) fn work(&self) -> Result<Work, String> {
        let failed = |error: io::Error| format!("reading the server's counters: {error}");
        let mut bytes = [0; COUNTERS];
        self.counters
            .as_file()
            .read_exact_at(&mut bytes, 0)
            .map_err(failed)?;
        let (seconds, answers) = bytes.split_at(COUNTERS / 2);
        let number = |bytes: &[u8]| bytes.try_into().map_or(0.0, f64::from_le_bytes);
        Ok(Work {
            seconds: number(seconds),
            answers: number(answers),
        })
    }

    /// The processes that there are now.
    pub(crate) fn tree(&self) -> Tree {
        Tree(below(self.child.id(), &parents()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let tree = self.tree();
        tree.signal(libc::SIGCONT);
        tree.signal(libc::SIGTERM);
        let until = Instant::now() + PATIENCE;
        while tree.0.iter().any(|pid| !has_ended(*pid)) && Instant::now() < until {
            // Reaps it, if it has ended.
            let _ = self.child.try_wait();
            thread::sleep(10 * STEP);
        }
        for pid in tree.0.iter().filter(|pid| !has_ended(**pid)) {
            let _ = sys::kill(*pid, libc::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

/// Processes that belong together.
pub(crate) struct Tree(Vec<u32>);

impl Tree {
    /// CPU time of all of them so far.
    pub(crate) fn cpu_time(&self) -> Duration {
        let times = self.0.iter().filter_map(|pid| sys::cpu_time(*pid).ok());
        times.sum()
    }

    /// Stops all of them, and waits until they stand still.
    pub(crate) fn freeze(&self) -> Result<(), String> {
        self.signal(libc::SIGSTOP);
        let until = Instant::now() + PATIENCE;
        while !self
            .0
            .iter()
            .all(|pid| matches!(state(*pid), None | Some('T' | 'Z')))
        {
            if Instant::now() > until {
                self.thaw();
                return Err(format!(
                    "freezing the server: it goes on after {PATIENCE:?}"
                ));
            }
            thread::sleep(STEP);
        }
        Ok(())
    }

    /// Lets them go on.
    pub(crate) fn thaw(&self) {
        self.signal(libc::SIGCONT);
    }

    fn signal(&self, signal: libc::c_int) {
        for pid in &self.0 {
            // One that has ended meanwhile is none of ours.
            let _ = sys::kill(*pid, signal);
        }
    }
}

/// State and parent, after the name in parentheses: proc(5).
fn status(pid: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.parse().ok()?))
}

fn state(pid: u32) -> Option<char> {
    status(pid).map(|(state, _)| state)
}

fn has_ended(pid: u32) -> bool {
    matches!(state(pid), None | Some('Z'))
}

/// The parent of each process.
fn parents() -> HashMap<u32, u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, status(pid)?.1))).collect()
}

/// A process with all that descend from it.
fn below(root: u32, parents: &HashMap<u32, u32>) -> Vec<u32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = parents.iter().filter(|(_, own)| **own == parent);
        found.extend(children.map(|(pid, _)| *pid));
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_at_any_depth() {
        let parents = HashMap::from([(1, 0), (7, 1), (8, 7), (9, 8), (10, 1)]);
        assert_eq!(below(7, &parents), [7, 8, 9]);
        assert_eq!(below(9, &parents), [9]);
    }
}
