//! The supervisor's side: what the hidden command of the deadheat binary does.

use std::{
    fs::{self, OpenOptions},
    io::{self, BufRead, Write},
    os::{fd::AsRawFd, unix::process::CommandExt},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::{
    CpuGroup, Spawn, Stopped,
    spawn::Status,
    sys::{self, Signals},
    tree::descendants,
};

/// When Deadheat was killed, nobody waits for a graceful end any more.
const ORPHAN_GRACE: Duration = Duration::from_secs(1);
/// What was left behind gets this long after SIGTERM.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
/// SIGKILL works at once except in uninterruptible sleep.
const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// Runs the supervisor: reads a [`Spawn`] as a line of JSON from standard input, starts it, and ends its whole tree
/// when standard input is closed, a line comes, or a signal asks for it. Says what happens on standard output.
///
/// # Errors
/// When standard input holds no such line or the supervisor cannot set itself up.
pub fn supervise() -> io::Result<()> {
    sys::new_session();
    sys::become_subreaper()?;
    let signals = Signals::block(&[libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP])?;
    let input = io::stdin();
    let mut line = String::new();
    input.lock().read_line(&mut line)?;
    let spec: Spawn = serde_json::from_str(&line)?;
    // Named after the supervisor, whose pid no living process shares.
    let group = CpuGroup::create(&format!("deadheat-{}", std::process::id()));
    let outcome = match start(&spec, group.as_ref()) {
        Ok(pid) => {
            say(&Status::Started {
                pid,
                group: group.clone(),
            });
            let stopped = watch(&spec, pid, &signals, input.as_raw_fd());
            Status::Stopped(stopped)
        }
        Err(error) => Status::NotStarted {
            reason: describe_start(&spec, &error),
        },
    };
    if let Some(group) = group {
        group.remove();
    }
    if let Some(folder) = &spec.remove_after {
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

/// Deletes a folder. Other trees may still write into it: when Deadheat was killed, they all end at the same time.
fn delete(folder: &Path) -> io::Result<()> {
    let until = Instant::now() + KILL_PATIENCE;
    loop {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
            ended => return ended,
        }
    }
}

fn start(spec: &Spawn, group: Option<&CpuGroup>) -> io::Result<u32> {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&spec.log)?;
    let cpus = spec.cpus.as_deref().map(sys::cpu_set);
    let user = spec.user;
    let join = group.map(CpuGroup::join_file).transpose()?;
    let mut command = Command::new(spec.resolved_program());
    command
        .args(&spec.args)
        .envs(spec.env.iter().map(|(key, value)| (key, value)))
        .current_dir(&spec.cwd)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0);
    let prepare = move || {
        if let Some(join) = &join {
            sys::write_raw(join.as_raw_fd(), b"0")?;
        }
        if let Some(cpus) = &cpus {
            sys::set_affinity(cpus)?;
        }
        if let Some(user) = user {
            sys::become_user(user.uid, user.gid)?;
        }
        sys::unblock_signals()?;
        // Last, because becoming another user takes it back (prctl(2)).
        sys::die_with_parent()
    };
    // SAFETY: the closure makes system calls only and touches nothing that a fork could have left locked.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(prepare);
    }
    Ok(command.spawn()?.id())
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

/// Waits for the word to stop, telling of the main process's end meanwhile; then ends the tree.
fn watch(spec: &Spawn, main: u32, signals: &Signals, lifeline: i32) -> Stopped {
    let mut alive = true;
    loop {
        let asked = sys::wait(lifeline, signals, None);
        let signalled = signals
            .take()
            .into_iter()
            .any(|signal| signal != libc::SIGCHLD);
        alive &= !reap_all(main);
        if asked || signalled {
            let orphaned = asked && is_closed(lifeline);
            let grace = if orphaned {
                spec.grace.min(ORPHAN_GRACE)
            } else {
                spec.grace
            };
            return end_tree(spec, main, alive, grace, signals);
        }
    }
}

/// Whether Deadheat has gone: its end of the pipe is closed without a word.
fn is_closed(lifeline: i32) -> bool {
    let mut byte = 0u8;
    // SAFETY: the pointer is to a live byte; the descriptor is standard input, read by nobody else here.
    #[allow(unsafe_code)]
    let read = unsafe { libc::read(lifeline, (&raw mut byte).cast(), 1) };
    read <= 0
}

/// Takes all ended children; whether the main one was among them.
fn reap_all(main: u32) -> bool {
    let mut ended = false;
    while let Some((pid, how)) = sys::reap() {
        if pid == main {
            ended = true;
            say(&Status::Exited { how });
        }
    }
    ended
}

fn end_tree(
    spec: &Spawn,
    main: u32,
    mut alive: bool,
    grace: Duration,
    signals: &Signals,
) -> Stopped {
    let mut stopped = Stopped::default();
    if alive {
        sys::kill(main, spec.stop_signal);
        let until = Instant::now() + grace;
        while alive && Instant::now() < until {
            sys::wait(
                -1,
                signals,
                Some(until.saturating_duration_since(Instant::now())),
            );
            signals.take();
            alive &= !reap_all(main);
        }
        stopped.ignored_signal = alive;
    }
    let own = std::process::id();
    let leftovers = descendants(own);
    if !alive {
        stopped.left_behind = leftovers.len() as u32;
        leftovers.iter().for_each(|stat| {
            sys::kill(stat.pid, libc::SIGTERM);
        });
        wait_until_empty(own, main, LEFTOVER_GRACE, signals);
    }
    let until = Instant::now() + KILL_PATIENCE;
    let mut killed = std::collections::BTreeSet::new();
    // Again and again, because a tree can fork while it is being read.
    while Instant::now() < until {
        let living = descendants(own);
        if living.is_empty() {
            break;
        }
        for stat in living {
            sys::kill(stat.pid, libc::SIGKILL);
            killed.insert(stat.pid);
        }
        sys::wait(-1, signals, Some(Duration::from_millis(5)));
        signals.take();
        reap_all(main);
    }
    reap_all(main);
    stopped.killed = killed.len() as u32;
    stopped
}

fn wait_until_empty(own: u32, main: u32, patience: Duration, signals: &Signals) {
    let until = Instant::now() + patience;
    while !descendants(own).is_empty() && Instant::now() < until {
        sys::wait(-1, signals, Some(Duration::from_millis(10)));
        signals.take();
        reap_all(main);
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
    let log = OpenOptions::new().append(true).open(&spec.log);
    let _ = log.and_then(|mut log| log.write_all(text.as_bytes()));
}
