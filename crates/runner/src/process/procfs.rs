//! What `/proc` shows: process trees, sockets that listen, and its small files, read as cheaply as can be, because there are
//! many of them.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
};

/// Longer than what is read with it, which the kernel then gives in one piece.
const LONGEST: usize = 4096;

/// The text of a file of a process; `None` when the process is gone or may not be looked at. `fs::read_to_string` would
/// ask for the size first, which is 0 there, and read once more for the end.
pub(crate) fn read(path: &str) -> Option<String> {
    try_read(path).ok()
}

/// The same, with the reason if there is no text: `ENOENT` or `ESRCH` mean that the process is gone.
pub(crate) fn try_read(path: &str) -> io::Result<String> {
    let mut bytes = [0; LONGEST];
    let length = File::open(path)?.read(&mut bytes)?;
    // The name of a process may be cut within a character.
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// The parent of all threads of the kernel.
const KTHREADD: u32 = 2;

/// What `/proc/<pid>/stat` says of a process (proc_pid_stat(5)). Times are in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// The process.
    pub pid: u32,
    /// Its parent.
    pub parent: u32,
    /// Its state's letter; `Z` is a zombie.
    pub state: u8,
    /// CPU ticks, user and system, its own and those of children that it waited for.
    pub cpu_ticks: u64,
    /// The part of them that is its waited-for children's.
    pub children_ticks: u64,
    /// The CPU for which this thread of the kernel does the work of interrupts, network packets among it (`ksoftirqd/0`);
    /// `None`: it is another process.
    pub interrupts_of: Option<usize>,
}

/// Reads a process's state; `None` when it is gone.
pub fn read_stat(pid: u32) -> Option<ProcessStat> {
    parse_stat(pid, &read(&format!("/proc/{pid}/stat"))?)
}

/// The states of all threads of a process, as letters; none when it is gone.
pub(super) fn thread_states(pid: u32) -> Vec<u8> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = tasks.into_iter().flatten().flatten();
    let threads = threads.filter_map(|task| task.file_name().to_str()?.parse().ok());
    let state = |thread: u32| {
        let text = read(&format!("/proc/{pid}/task/{thread}/stat"))?;
        parse_stat(thread, &text).map(|stat| stat.state)
    };
    threads.filter_map(state).collect()
}

/// Whether there is such a process, and it has not ended.
pub(super) fn is_alive(pid: u32) -> bool {
    read_stat(pid).is_some_and(|stat| stat.state != b'Z')
}

fn parse_stat(pid: u32, text: &str) -> Option<ProcessStat> {
    // The command's name is in parentheses and may contain any character, so fields start after the last one.
    let (head, rest) = text.rsplit_once(')')?;
    let name = head.split_once('(').map_or("", |(_, name)| name);
    let mut words = rest.split_ascii_whitespace();
    let state = *words.next()?.as_bytes().first()?;
    // From field 4 of the manual (the parent) to field 17 (what children used in the kernel).
    let mut numbers = [None; 14];
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = word.parse::<u64>().ok();
    }
    let number = |field: usize| numbers.get(field - 4).copied().flatten();
    let children_ticks = number(16)? + number(17)?;
    let parent = number(4)? as u32;
    let cpu = name.strip_prefix("ksoftirqd/");
    let cpu = cpu.and_then(|cpu| cpu.parse().ok());
    Some(ProcessStat {
        pid,
        parent,
        state,
        cpu_ticks: number(14)? + number(15)? + children_ticks,
        children_ticks,
        // Anybody may take that name; the kernel's threads alone have this parent.
        interrupts_of: cpu.filter(|_| parent == KTHREADD),
    })
}

/// All processes at about one moment. Reading them takes some 10 µs each, so that who needs several trees reads once.
#[derive(Debug, Default)]
pub struct Snapshot {
    by_parent: HashMap<u32, Vec<ProcessStat>>,
}

impl Snapshot {
    /// Reads all processes that can be seen from here; none when `/proc` cannot be read.
    pub fn take() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(read_stat).collect()
    }

    /// Reads `root` and its descendants alone, so that the time does not grow with the processes of others. `None` if
    /// `root` is gone, or the kernel keeps no lists of children. A process that is there may be missing if a sibling
    /// ends at the same moment (proc_tid_children(5)): fine for a measurement, not for an end.
    pub fn new(root: u32) -> Option<Self> {
        let pids = with_descendants(root)?.into_iter();
        Some(pids.filter_map(read_stat).collect())
    }

    /// Every living descendant of `root` (not `root` itself), parents before their children; zombies are left out.
    pub fn descendants(&self, root: u32) -> Vec<ProcessStat> {
        let mut all = self.tree(root);
        all.retain(|stat| stat.state != b'Z');
        all
    }

    /// Every descendant of `root` (not `root` itself), zombies too.
    pub fn tree(&self, root: u32) -> Vec<ProcessStat> {
        let mut found = Vec::new();
        let mut open = vec![root];
        while let Some(parent) = open.pop() {
            for stat in self.by_parent.get(&parent).into_iter().flatten() {
                open.push(stat.pid);
                found.push(*stat);
            }
        }
        found
    }

    /// One process.
    pub fn find(&self, pid: u32) -> Option<&ProcessStat> {
        self.all().find(|stat| stat.pid == pid)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &ProcessStat> {
        self.by_parent.values().flatten()
    }
}

impl FromIterator<ProcessStat> for Snapshot {
    fn from_iter<T: IntoIterator<Item = ProcessStat>>(stats: T) -> Self {
        let mut snapshot = Self::default();
        for stat in stats {
            let siblings = snapshot.by_parent.entry(stat.parent).or_default();
            siblings.push(stat);
        }
        snapshot
    }
}

/// `root` and all of its descendants; `None` if its children are not known.
fn with_descendants(root: u32) -> Option<HashSet<u32>> {
    let mut found = HashSet::from([root]);
    let mut open = children(root)?;
    while let Some(pid) = open.pop() {
        if found.insert(pid) {
            open.extend(children(pid).unwrap_or_default());
        }
    }
    Some(found)
}

/// The children of a process, as each of its threads lists its own (proc_tid_children(5)); `None` if the process is
/// gone, or the kernel keeps no such lists.
fn children(pid: u32) -> Option<Vec<u32>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let lists = threads
        .flatten()
        .map(|thread| thread.path().join("children"));
    let lists = lists.filter_map(|list| fs::read_to_string(list).ok());
    lists.fold(None, |found: Option<Vec<u32>>, list| {
        let pids = list.split_whitespace().filter_map(|pid| pid.parse().ok());
        Some(found.unwrap_or_default().into_iter().chain(pids).collect())
    })
}

/// Every living descendant of `root` (not `root` itself), parents before their children; zombies are left out. This
/// reads all processes: what is killed or frozen must be complete, and [`Snapshot::new`] can miss some of a tree in
/// which processes end.
pub fn descendants(root: u32) -> Vec<ProcessStat> {
    Snapshot::take().descendants(root)
}

/// The state `LISTEN` in `/proc/net/tcp` (proc_net(5), enum tcp_state).
const LISTEN: &str = "0A";

/// Links to the sockets that listen on `port` at any address of this machine, as in `/proc/PID/fd` (proc_pid_fd(5)): none if
/// `/proc` cannot tell.
pub fn listening_sockets(port: u16) -> BTreeSet<String> {
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| File::open(table).ok())
        .flat_map(|table| listeners(BufReader::new(table), port))
        .collect()
}

/// Links to those of a table. Linux lists all sockets that listen before the first other one (`tcp_seq_start` in
/// `net/ipv4/tcp_ipv4.c`), and the others can be tens of thousands after a load, so the rest is not read.
fn listeners(table: impl BufRead, port: u16) -> Vec<String> {
    let suffix = format!(":{port:04X}");
    let mut found = Vec::new();
    for line in table.lines().skip(1).map_while(Result::ok) {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let &[_, local, _, state, _, _, _, _, _, inode, ..] = fields.as_slice() else {
            continue;
        };
        if state != LISTEN {
            break;
        }
        if local.ends_with(&suffix) {
            found.push(format!("socket:[{inode}]"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::{
        net::{TcpListener, TcpStream},
        os::fd::AsRawFd,
        process::{Command, Stdio},
    };

    use deadheat_testkit::not_tested;

    use super::*;

    #[test]
    fn reads_whole_files_of_a_process_and_none_of_a_process_that_is_gone() {
        let read_and_file = |name: &str| {
            let path = format!("/proc/self/{name}");
            (read(&path).unwrap(), std::fs::read_to_string(path).unwrap())
        };
        let (text, file) = read_and_file("cmdline");
        assert_eq!(text, file);
        let (text, file) = read_and_file("status");
        assert_eq!(text.lines().count(), file.lines().count());
        assert!(read("/proc/self/smaps_rollup").unwrap().ends_with("kB\n"));
        assert_eq!(read("/proc/0/stat"), None);
    }

    #[test]
    fn names_with_parentheses_and_blanks_do_not_shift_the_fields() {
        let text = "42 (a) b (c) S 7 42 42 0 -1 4194560 10 20 1 2 3 4 5 6 20 0 9 0 100 1 1";
        let stat = parse_stat(42, text).unwrap();
        assert_eq!((stat.parent, stat.state), (7, b'S'));
        assert_eq!((stat.cpu_ticks, stat.children_ticks), (18, 11));
    }

    #[test]
    fn the_threads_of_the_kernel_for_interrupts_are_known_by_name_and_parent() {
        let cpu = |name: &str, parent: u32| {
            let text =
                format!("14 ({name}) S {parent} 0 0 0 -1 69 0 0 0 0 0 7 0 0 20 0 1 0 25 0 0");
            parse_stat(14, &text).unwrap().interrupts_of
        };
        assert_eq!(cpu("ksoftirqd/11", 2), Some(11));
        assert_eq!([cpu("ksoftirqd/0", 1), cpu("kworker/0:1", 2)], [None; 2]);
    }

    #[test]
    fn cut_text_is_not_a_process() {
        assert_eq!(parse_stat(1, "1 (init) S 0 1"), None);
    }

    #[test]
    fn a_tree_is_read_without_the_processes_of_others() {
        let mut child = Command::new("sh")
            .args(["-c", "sleep 30 & echo $!; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let grandchild: u32 = line.trim().parse().unwrap();
        let own = std::process::id();
        let ours = Snapshot::new(own);
        let below = Snapshot::new(child.id());
        let outsider = read_stat(own).unwrap().parent;
        Command::new("kill").arg(line.trim()).status().unwrap();
        child.wait().unwrap();
        let Some((ours, below)) = ours.zip(below) else {
            not_tested("lists of children", "this kernel keeps none");
            return;
        };
        let pids: Vec<u32> = ours.tree(own).iter().map(|stat| stat.pid).collect();
        assert!(pids.contains(&child.id()) && pids.contains(&grandchild));
        assert!(ours.find(own).is_some(), "the root counts, too");
        assert!(ours.find(outsider).is_none(), "of who started Deadheat");
        let below: HashSet<u32> = below.all().map(|stat| stat.pid).collect();
        assert_eq!(below, HashSet::from([child.id(), grandchild]));
    }

    #[test]
    fn there_is_no_tree_of_a_process_that_is_gone() {
        assert!(Snapshot::new(u32::MAX - 10).is_none());
    }

    #[test]
    fn finds_a_child() {
        let mut child = std::process::Command::new("sleep")
            .arg("30")
            .spawn()
            .unwrap();
        let found = descendants(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.iter().any(|stat| stat.pid == child.id()));
    }

    #[test]
    fn takes_listeners_on_that_port_only() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 111 1 0 100 0 0 10 0\n\
            1: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 333 1 0 100 0 0 10 0\n\
            2: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 444 1 0 100 0 0 10 0\n\
            3: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 0 0 222 1 0 20 4 30 10 -1\n";
        assert_eq!(
            listeners(table.as_bytes(), 8080),
            ["socket:[111]", "socket:[444]"]
        );
    }

    #[test]
    fn finds_each_listener_of_many_and_no_connection() {
        let link = |socket: &dyn AsRawFd| {
            let link = fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd()));
            link.unwrap().to_string_lossy().into_owned()
        };
        let listeners: Vec<TcpListener> = (0..200)
            .map(|index| TcpListener::bind(["127.0.0.1:0", "[::1]:0"][index % 2]).unwrap())
            .collect();
        for one in &listeners {
            let address = one.local_addr().unwrap();
            let connected = TcpStream::connect(address).unwrap();
            let (accepted, _) = one.accept().unwrap();
            let found = listening_sockets(address.port());
            assert!(found.contains(&link(one)), "{found:?}");
            assert!(!found.contains(&link(&accepted)) && !found.contains(&link(&connected)));
        }
    }
}
