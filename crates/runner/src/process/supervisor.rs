//! The supervisor process: the hidden subcommand of the deadheat binary.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufRead, Write},
    os::{
        fd::{AsRawFd, RawFd},
        unix::process::CommandExt,
    },
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use super::{
    Grouping, Spawn, Stopped,
    cgroup::{Groups, OwnGroups},
    environment,
    group::{KILL_PATIENCE, delete, describe_all},
    log::{self, LogPipe},
    procfs::descendants,
    spawn::{self, Status, StopCommand},
    sys::{self, Signals},
};

/// The maximum number of open files of each child, or the system's limit if that is lower. It is the same for all
/// servers, whatever shell Deadheat was started from. It is not the system's maximum, because some runtimes allocate
/// tables of that size.
pub(crate) const OPEN_FILES: u64 = 65_536;

/// The maximum grace period after Deadheat was killed.
const ORPHAN_GRACE: Duration = Duration::from_secs(1);
/// The maximum grace period when somebody waits for the end.
const HURRIED_GRACE: Duration = Duration::from_millis(300);
/// The minimum grace period of processes that the main process left behind; they also get the rest of its own. On a
/// busy machine, a process needs some time to exit.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
/// The maximum time that a control group may be in use after its last process has ended.
const REMOVE_PATIENCE: Duration = Duration::from_secs(1);
/// The interval at which a tree that is ending is checked.
const ATTENTION: Duration = Duration::from_millis(10);
/// The interval at which a tree that was killed is checked.
const KILL_PAUSE: Duration = Duration::from_millis(5);

/// Runs the supervisor. It reads a [`Spawn`] as a line of JSON from standard input and starts it. It ends the whole
/// tree when standard input is closed, a command arrives, or a signal asks for it. It reports events on standard
/// output.
///
/// # Errors
/// When standard input holds no such line or the supervisor cannot set itself up.
pub fn supervise() -> io::Result<()> {
    supervise_with(Grouping::Best)
}

/// [`supervise`] with the given control groups instead of the best ones, to test machines that have no better.
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
    // A child that must not be killed is in no control group, because groups are killed when no supervisor is left.
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
            if word == Some(StopCommand::Keep) {
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
        // An error of deleting the folder goes to the log, because no process is left to report it to.
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
    // A child that must not be killed must still be able to write after this process was killed.
    let may_die = spec.grace.is_some();
    let mut command = spawn::command(&spec.resolved_program());
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
        // Last, because changing the user resets it (prctl(2)).
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

/// Reads a command of Deadheat. `None` if Deadheat has ended, which closes its end of the pipe without a command.
fn word(lifeline: i32) -> Option<StopCommand> {
    let mut byte = 0u8;
    // SAFETY: the pointer is to a live byte; the descriptor is standard input, read by nobody else here.
    #[allow(unsafe_code)]
    let read = unsafe { libc::read(lifeline, (&raw mut byte).cast(), 1) };
    match byte {
        _ if read <= 0 => None,
        hurry if hurry == StopCommand::Hurry as u8 => Some(StopCommand::Hurry),
        keep if keep == StopCommand::Keep as u8 => Some(StopCommand::Keep),
        _ => Some(StopCommand::Stop),
    }
}

/// A child and everything that it started.
struct Tree<'s> {
    spec: &'s Spawn,
    groups: &'s Groups,
    main: u32,
    /// Whether the main process runs.
    alive: bool,
    /// Whether the main process was killed by a signal, so that processes that it waited for may be unfinished.
    was_killed: bool,
    signals: Signals,
    log: Option<LogPipe>,
}

impl Tree<'_> {
    /// Waits for the command to stop, and reports the main process's end meanwhile. Then ends the tree. Returns the
    /// command, too.
    fn watch(mut self, lifeline: RawFd) -> (Stopped, Option<StopCommand>) {
        loop {
            let (asked, signalled) = self.turn(lifeline, None);
            if asked || signalled {
                let word = if asked {
                    word(lifeline)
                } else {
                    Some(StopCommand::Stop)
                };
                let grace = self.spec.grace.map(|grace| match word {
                    _ if self.spec.unhurried => grace,
                    None => grace.min(ORPHAN_GRACE),
                    Some(StopCommand::Hurry) => grace.min(HURRIED_GRACE),
                    Some(StopCommand::Stop | StopCommand::Keep) => grace,
                });
                return (self.end(grace), word);
            }
        }
    }

    /// Waits for an event or until the timeout, and collects log output and ended children. Returns whether the
    /// lifeline is readable, and whether a signal asks for the end.
    fn turn(&mut self, lifeline: RawFd, timeout: Option<Duration>) -> (bool, bool) {
        let log = self.log.as_ref().map_or(-1, LogPipe::descriptor);
        let [asked, _] = sys::wait([lifeline, log], &self.signals, timeout);
        let signals = self.signals.take();
        self.take_log();
        while let Some(ended) = sys::reap() {
            if ended.pid == self.main {
                (self.alive, self.was_killed) = (false, ended.by_signal);
                // Its output is logged before its end is reported.
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

    /// Thaws the tree, because a frozen process cannot exit.
    fn thaw(&self) {
        self.groups.thaw();
        let all = descendants(std::process::id());
        // Continue children first, so that a parent that checks for stopped children finds none.
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
            // A process that may not be signalled (sudo's are root's) may exit by itself. If it does not, it is
            // reported below.
            let _ = sys::kill(self.main, self.spec.stop_signal);
            self.wait_while(grace, |tree| tree.alive);
            stopped.ignored_signal = self.alive;
        }
        if self.spec.unhurried {
            shared_memory.extend(of_tree());
        }
        if (grace.is_none() || self.spec.unhurried) && self.was_killed {
            // The main process was killed halfway (apt-get, initdb), and its children (dpkg, postgres) are still at
            // work.
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
        // Repeat, because a tree can fork while it is being read.
        let left: Vec<u32> = loop {
            let living: Vec<u32> = descendants(own).iter().map(|stat| stat.pid).collect();
            let mut refused = 0;
            for pid in &living {
                match sys::kill(*pid, libc::SIGKILL) {
                    Ok(()) => _ = killed.insert(*pid),
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refused += 1,
                    // The process has exited by itself.
                    Err(_) => {}
                }
            }
            if refused == living.len() || Instant::now() > until {
                break living;
            }
            // Thaw processes that were frozen meanwhile, because the v1 freezer keeps frozen processes from dying.
            self.groups.thaw();
            self.turn(-1, Some(KILL_PAUSE));
        };
        self.turn(-1, Some(Duration::ZERO));
        stopped.killed = killed.iter().filter(|pid| !left.contains(pid)).count() as u32;
        stopped.survivors = describe_all(&left);
        if left.is_empty() {
            // Processes that exited cleanly have deleted their own files.
            for file in &shared_memory {
                let _ = fs::remove_file(file);
            }
        }
        stopped
    }
}

/// Reports to Deadheat. Errors are ignored, because the lifeline shows too that Deadheat has ended.
fn say(status: &Status) {
    let mut output = io::stdout().lock();
    if let Ok(text) = serde_json::to_string(status) {
        let _ = writeln!(output, "{text}").and_then(|()| output.flush());
    }
}

fn append_to_log(spec: &Spawn, text: &str) {
    let _ = log::open(&spec.log).and_then(|mut log| log.write_all(text.as_bytes()));
}

/// Linux's folder for shared memory.
const FOLDER: &str = "/dev/shm/";

/// The shared-memory files that these processes have mapped. They are left behind when the processes are killed
/// (shm_overview(7)).
fn mapped_by(pids: impl Iterator<Item = u32>) -> BTreeSet<PathBuf> {
    pids.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")).ok())
        .flat_map(|maps| files_in(&maps))
        .collect()
}

/// The shared-memory files in the text of `/proc/PID/maps` (proc_pid_maps(5)), without those marked as deleted.
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
