//! The agent's side of a `deadheat run` that is its child: what it writes is passed on, and it ends with the agent.

use std::{
    io::{self, Read},
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    thread,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::session_message::{Bytes, Ending, SessionAnswer, Stream};
use crate::process::end_with_this_thread;

/// The most bytes of a stream that are passed on at once.
const MOST_SAID: usize = 16 << 10;

/// A child that may be asked to end, by any thread and at any time.
#[derive(Default)]
pub(super) struct Interruptible(Mutex<State>);

#[derive(Default)]
struct State {
    /// As long as it runs.
    pid: Option<Pid>,
    /// Whether somebody asked before it was started.
    asked: bool,
}

impl Interruptible {
    /// Sends it SIGINT, as Ctrl-C does.
    pub(super) fn interrupt(&self) {
        let mut state = self.state();
        match state.pid {
            // One that is ending anyway needs no signal.
            Some(pid) => _ = kill_process(pid, Signal::INT),
            None => state.asked = true,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self, pid: Pid) {
        let mut state = self.state();
        state.pid = Some(pid);
        if state.asked {
            let _ = kill_process(pid, Signal::INT);
        }
    }

    fn has_ended(&self) {
        self.state().pid = None;
    }
}

/// Runs `program` to its end, in the folder that the launcher led to. It has no supervisor, because it is a Deadheat itself: all that it starts ends
/// with it, and the kernel ends it with this thread.
///
/// # Errors
/// When it cannot be started.
pub(super) fn run(
    program: &Path,
    arguments: &[String],
    interruptible: &Interruptible,
    say: &(dyn Fn(SessionAnswer) + Sync),
) -> Result<Ending, String> {
    let failed = |error: io::Error| format!("running {}: {error}", program.display());
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    end_with_this_thread(&mut command);
    let mut child = command.spawn().map_err(failed)?;
    let pid = Pid::from_child(&child);
    interruptible.runs(pid);
    let (output, error) = (child.stdout.take(), child.stderr.take());
    let status = thread::scope(|scope| {
        scope.spawn(move || pass_on(output, Stream::Output, say));
        scope.spawn(move || pass_on(error, Stream::Error, say));
        // Its number is its own until it has been waited for, so nobody else gets its signal.
        let _ = waitid(
            WaitId::Pid(pid),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        );
        interruptible.has_ended();
        child.wait()
    })
    .map_err(failed)?;
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Status(code),
        (None, signal) => Ending::Signal(signal.unwrap_or_default()),
    })
}

/// Passes on all that comes.
fn pass_on(stream: Option<impl Read>, which: Stream, say: &(dyn Fn(SessionAnswer) + Sync)) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; MOST_SAID];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => say(SessionAnswer::Said {
                stream: which,
                bytes: Bytes(buffer[..length].to_vec()),
            }),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(script: &str, interruptible: &Interruptible) -> (Ending, Vec<u8>, Vec<u8>) {
        let said = Mutex::new((Vec::new(), Vec::new()));
        let say = |answer| {
            if let SessionAnswer::Said { stream, bytes } = answer {
                let mut said = said.lock().unwrap();
                match stream {
                    Stream::Output => said.0.extend(bytes.0),
                    Stream::Error => said.1.extend(bytes.0),
                }
            }
        };
        let arguments = ["-c", script].map(str::to_owned);
        let ending = run(Path::new("/bin/sh"), &arguments, interruptible, &say);
        let (output, error) = said.into_inner().unwrap();
        (ending.unwrap(), output, error)
    }

    #[test]
    fn both_streams_and_the_exit_status_are_passed_on() {
        let script = "head -c 100000 /dev/zero; echo two >&2; exit 7";
        let (ending, output, error) = ran(script, &Interruptible::default());
        assert_eq!(ending, Ending::Status(7));
        assert_eq!(output.len(), 100_000);
        assert_eq!(error, b"two\n");
    }

    #[test]
    fn an_interrupt_reaches_it_also_before_it_was_started() {
        let early = Interruptible::default();
        early.interrupt();
        let (ending, ..) = ran("sleep 600", &early);
        assert_eq!(ending, Ending::Signal(libc::SIGINT));
        let late = Interruptible::default();
        let (ending, output, _) = thread::scope(|scope| {
            let running = scope.spawn(|| {
                ran(
                    "trap 'echo told; exit 3' INT; echo; while :; do sleep 0.01; done",
                    &late,
                )
            });
            // Again and again: the shell sets its trap a moment after its start.
            while !running.is_finished() {
                if late.state().pid.is_some() {
                    thread::sleep(std::time::Duration::from_millis(200));
                    late.interrupt();
                }
            }
            running.join().unwrap()
        });
        assert_eq!(ending, Ending::Status(3));
        assert!(output.ends_with(b"told\n"));
    }
}
