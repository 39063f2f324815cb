//! The supervisor's side: what the hidden command of the deadheat binary does.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufRead, Write},
    os::{
        fd::{AsRawFd, RawFd},
        unix::process::CommandExt,
    },
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::{
    Grouping, Spawn, Stopped,
    cgroup::{Groups, OwnGroups},
    environment,
    group::{KILL_PATIENCE, delete, describe_all},
    log::{self, LogPipe},
    procfs::descendants,
    spawn::{Status, Word},
    sys::{self, Signals},
};

/// How many files each child may open, or as many as the system allows if those are less: the same for all servers,
/// whatever shell Deadheat was started from. (Not all that the system allows: some runtimes make tables of that size.)
pub(crate) const OPEN_FILES: u64 = 65_536;

/// When Deadheat was killed, nobody waits for a graceful end any more.
const ORPHAN_GRACE: Duration = Duration::from_secs(1);
/// When somebody waits for the end.
const HURRIED_GRACE: Duration = Duration::from_millis(300);
/// What was left behind gets what is left of the grace, and this long at least: on a busy machine, a process that is
/// about to end takes a while for it.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
/// How long a control group may be in use after the last process has ended.
const REMOVE_PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks at a tree that is about to end, if nothing is heard of it.
const ATTENTION: Duration = Duration::from_millis(10);
/// The same of one that was killed.
const KILL_PAUSE: Duration = Duration::from_millis(5);

/// Runs the supervisor: reads a [`Spawn`] as a line of JSON from standard input, starts it, and ends its whole tree
/// when standard input is closed, a line comes, or a signal asks for it. Says what happens on standard output.
///
/// # Errors
/// When standard input holds no such line or the supervisor cannot set itself up.
pub fn supervise() -> io::Result<()> {
    supervise_with(Grouping::Best)
}

/// The same with other control groups than the best ones, as on a machine that has no better.
///
/// # Errors
/// Those of [`supervise`].
pub fn supervise_with(grouping: Grouping) -> io::Result<()> {
    sys::new_session();
    sys::become_subreaper()?;
    let signals = Signals::block(&[libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP])?;
    let input = io::stdin();
    let mut line = String::new();
    input.lock().read_line(&mut line)?;
    let spec: Spawn = serde_json::from_str(&line)?;
    // One that is never killed is in no group, because what is in a group is killed when nobody looks after it.
    let own = match spec.grace {
        Some(_) => OwnGroups::create(grouping),
        None => OwnGroups::default(),
    };
    let groups = own.groups();
    say(&Status::Grouped(groups.clone()));
    let mut remove_after = spec.remove_after.as_deref();
    let outcome = match start(&spec, &groups) {
        Ok((main, log)) => {
            say(&Status::Started { pid: main });
            let tree = Tree {
                spec: &spec,
                groups: &groups,
                main,
                alive: true,
                was_killed: false,
                signals,
                log,
            };
            let (stopped, word) = tree.watch(input.as_raw_fd());
            if word == Some(Word::Keep) {
                remove_after = None;
            }
            Status::Stopped(stopped)
        }
        Err(error) => Status::NotStarted {
            reason: describe_start(&spec, &error),
        },
    };
    groups.end(REMOVE_PATIENCE);
    if let Some(folder) = remove_after {
        // A folder that cannot be deleted is named in the log; there is nobody else to tell.
        if let Err(error) = delete(folder) {
            append_to_log(
                &spec,
                &format!("deadheat: deleting {}: {error}\n", folder.display()),
            );
        }
    }
    say(&outcome);
    Ok(())
}

fn start(spec: &Spawn, groups: &Groups) -> io::Result<(u32, Option<LogPipe>)> {
    let log = log::open(&spec.log)?;
    let cpus = spec.cpus.as_deref().map(sys::cpu_set);
    let user = spec.user;
    let joins = groups.join_files()?;
    let open_files = sys::open_files(OPEN_FILES)?;
    // One that is never killed must be able to write also when this process has been.
    let may_die = spec.grace.is_some();
    let mut command = Command::new(spec.resolved_program());
    command
        .args(&spec.args)
        .env_clear()
        .envs(environment::inherited(&[&environment::OF_EVERY_CHILD]))
        .envs(spec.env.iter().map(|(key, value)| (key, value)))
        .current_dir(&spec.cwd)
        .stdin(Stdio::null())
        .process_group(0);
    let log = if may_die {
        let (reader, writer) = io::pipe()?;
        command.stdout(writer.try_clone()?).stderr(writer);
        Some(LogPipe::new(reader, log)?)
    } else {
        command.stdout(log.try_clone()?).stderr(log);
        None
    };
    let prepare = move || {
        for join in &joins {
            sys::write_raw(join.as_raw_fd(), b"0")?;
        }
        if let Some(cpus) = &cpus {
            sys::set_affinity(cpus)?;
        }
        if let Some(user) = user {
            sys::become_user(user.uid, user.gid)?;
        }
        sys::set_open_files(&open_files)?;
        sys::take_signals()?;
        // Last, because becoming another user takes it back (prctl(2)).
        if may_die {
            sys::die_with_parent()
        } else {
            Ok(())
        }
    };
    // SAFETY: the closure makes system calls only and touches nothing that a fork could have left locked.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(prepare);
    }
    Ok((command.spawn()?.id(), log))
}

fn describe_start(spec: &Spawn, error: &io::Error) -> String {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "; is it installed, or built? (`deadheat setup`)",
        io::ErrorKind::PermissionDenied => "; is it executable, and may this user run it?",
        _ => "",
    };
    let args = spec.args.join(" ");
    let program = spec.program.display();
    format!(
        "running `{program} {args}` in {}: {error}{hint}",
        spec.cwd.display()
    )
}

/// What Deadheat asks for; `None` when it has gone: its end of the pipe is closed without a word.
fn word(lifeline: i32) -> Option<Word> {
    let mut byte = 0u8;
    // SAFETY: the pointer is to a live byte; the descriptor is standard input, read by nobody else here.
    #[allow(unsafe_code)]
    let read = unsafe { libc::read(lifeline, (&raw mut byte).cast(), 1) };
    match byte {
        _ if read <= 0 => None,
        hurry if hurry == Word::Hurry as u8 => Some(Word::Hurry),
        keep if keep == Word::Keep as u8 => Some(Word::Keep),
        _ => Some(Word::Stop),
    }
}

/// A child and everything that it started.
struct Tree<'s> {
    spec: &'s Spawn,
    groups: &'s Groups,
    main: u32,
    /// Whether the main process is.
    alive: bool,
    /// Whether a signal has ended the main process: what it waited for may be unfinished.
    was_killed: bool,
    signals: Signals,
    log: Option<LogPipe>,
}

impl Tree<'_> {
    /// Waits for the word to stop, telling of the main process's end meanwhile; then ends the tree. Returns the word, too.
    fn watch(mut self, lifeline: RawFd) -> (Stopped, Option<Word>) {
        loop {
            let (asked, signalled) = self.turn(lifeline, None);
            if asked || signalled {
                let word = if asked {
                    word(lifeline)
                } else {
                    Some(Word::Stop)
                };
                let grace = self.spec.grace.map(|grace| match word {
                    _ if self.spec.unhurried => grace,
                    None => grace.min(ORPHAN_GRACE),
                    Some(Word::Hurry) => grace.min(HURRIED_GRACE),
                    Some(Word::Stop | Word::Keep) => grace,
                });
                return (self.end(grace), word);
            }
        }
    }

    /// Waits until something happens or the time is up, and takes the log and ended children. Whether the lifeline is
    /// ready, and whether a signal asks for the end.
    fn turn(&mut self, lifeline: RawFd, timeout: Option<Duration>) -> (bool, bool) {
        let log = self.log.as_ref().map_or(-1, LogPipe::descriptor);
        let [asked, _] = sys::wait([lifeline, log], &self.signals, timeout);
        let signals = self.signals.take();
        self.take_log();
        while let Some(ended) = sys::reap() {
            if ended.pid == self.main {
                (self.alive, self.was_killed) = (false, ended.by_signal);
                // What it wrote comes before the news of its end.
                self.take_log();
                say(&Status::Exited { how: ended.how });
            }
        }
        (asked, signals.iter().any(|signal| *signal != libc::SIGCHLD))
    }

    fn take_log(&mut self) {
        self.log.iter_mut().for_each(LogPipe::take);
    }

    /// Waits while `condition` holds, at most for `patience`.
    fn wait_while(&mut self, patience: Option<Duration>, condition: impl Fn(&Self) -> bool) {
        let until = patience.map(|patience| Instant::now() + patience);
        while condition(self) && until.is_none_or(|until| Instant::now() < until) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            self.turn(-1, Some(left.map_or(ATTENTION, |left| left.min(ATTENTION))));
        }
    }

    /// Lets go on what was frozen: a process cannot end in order before it can run.
    fn thaw(&self) {
        self.groups.thaw();
        let all = descendants(std::process::id());
        // Children first: a parent that asks for those that are stopped finds none.
        for stat in all.iter().rev().filter(|stat| stat.state == b'T') {
            let _ = sys::kill(stat.pid, libc::SIGCONT);
        }
    }

    fn end(mut self, grace: Option<Duration>) -> Stopped {
        let mut stopped = Stopped::default();
        let begun = Instant::now();
        let own = std::process::id();
        let has_descendants = |_: &Self| !descendants(own).is_empty();
        self.thaw();
        let of_tree = || mapped_by(descendants(own).iter().map(|stat| stat.pid));
        let mut shared_memory = BTreeSet::new();
        if self.spec.unhurried {
            shared_memory.extend(of_tree());
        }
        if self.alive {
            // One that may not be signalled (sudo's are root's) may end by itself; if not, it is named below.
            let _ = sys::kill(self.main, self.spec.stop_signal);
            self.wait_while(grace, |tree| tree.alive);
            stopped.ignored_signal = self.alive;
        }
        if self.spec.unhurried {
            shared_memory.extend(of_tree());
        }
        if (grace.is_none() || self.spec.unhurried) && self.was_killed {
            // It was killed in the middle (apt-get, initdb), and what it had started is at work (dpkg, postgres).
            self.wait_while(grace, has_descendants);
        }
        if !self.alive {
            let leftovers = descendants(own);
            stopped.left_behind = leftovers.len() as u32;
            for stat in &leftovers {
                let _ = sys::kill(stat.pid, libc::SIGTERM);
            }
            let rest = grace.map_or(Duration::ZERO, |grace| {
                grace.saturating_sub(begun.elapsed())
            });
            self.wait_while(Some(rest.max(LEFTOVER_GRACE)), has_descendants);
        }
        let until = Instant::now() + KILL_PATIENCE;
        let mut killed = BTreeSet::new();
        // Again and again, because a tree can fork while it is being read.
        let left: Vec<u32> = loop {
            let living: Vec<u32> = descendants(own).iter().map(|stat| stat.pid).collect();
            let mut refused = 0;
            for pid in &living {
                match sys::kill(*pid, libc::SIGKILL) {
                    Ok(()) => _ = killed.insert(*pid),
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refused += 1,
                    // It has ended by itself.
                    Err(_) => {}
                }
            }
            if refused == living.len() || Instant::now() > until {
                break living;
            }
            // Also what was frozen since: the freezer of v1 lets nothing end that it holds.
            self.groups.thaw();
            self.turn(-1, Some(KILL_PAUSE));
        };
        self.turn(-1, Some(Duration::ZERO));
        stopped.killed = killed.iter().filter(|pid| !left.contains(pid)).count() as u32;
        stopped.survivors = describe_all(&left);
        if left.is_empty() {
            // Whoever ended in order has deleted its own.
            for file in &shared_memory {
                let _ = fs::remove_file(file);
            }
        }
        stopped
    }
}

/// Tells Deadheat. When nobody reads any more, Deadheat has gone, and the lifeline says so too.
fn say(status: &Status) {
    let mut output = io::stdout().lock();
    if let Ok(text) = serde_json::to_string(status) {
        let _ = writeln!(output, "{text}").and_then(|()| output.flush());
    }
}

fn append_to_log(spec: &Spawn, text: &str) {
    let _ = log::open(&spec.log).and_then(|mut log| log.write_all(text.as_bytes()));
}

/// Where Linux has it.
const FOLDER: &str = "/dev/shm/";

/// The files of shared memory that these processes have mapped, which they leave behind when they are killed
/// (shm_overview(7)).
fn mapped_by(pids: impl Iterator<Item = u32>) -> BTreeSet<PathBuf> {
    pids.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")).ok())
        .flat_map(|maps| files_in(&maps))
        .collect()
}

/// The files in the text of `/proc/PID/maps` (proc_pid_maps(5)). Those that are deleted already have a note at their end.
fn files_in(maps: &str) -> Vec<PathBuf> {
    let files = maps
        .lines()
        .filter_map(|line| Some(&line[line.find(FOLDER)?..]));
    files
        .filter(|file| !file.ends_with(" (deleted)"))
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_told_from_other_files_and_from_what_is_deleted() {
        let maps = "7f0-7f1 r--p 00000000 08:01 1 /usr/lib/x.so\n\
                    7f1-7f2 rw-s 00000000 00:19 3 /dev/shm/PostgreSQL.1\n\
                    7f2-7f3 rw-s 00000000 00:19 4 /dev/shm/PostgreSQL.2 (deleted)\n\
                    7f3-7f4 rw-p 00000000 00:00 0 \n";
        assert_eq!(files_in(maps), [PathBuf::from("/dev/shm/PostgreSQL.1")]);
    }
}
