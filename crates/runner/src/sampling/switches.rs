//! Context switches of all threads of a tree. The kernel keeps them per thread and forgets them with the thread, so
//! the last figure seen of each thread is kept.

use std::{collections::HashMap, fs};

use crate::process::procfs;

/// The last figures seen, by thread.
#[derive(Debug, Default)]
pub(super) struct Switches {
    threads: HashMap<u32, Seen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    before: (u64, u64),
    last: (u64, u64),
}

impl Switches {
    /// Looks at every thread of `processes`; how many there are.
    pub(super) fn update(&mut self, processes: &[u32]) -> u32 {
        self.update_named(processes, |_| true)
    }

    /// Looks at the threads of `processes` whose names are `wanted`; how many there are.
    pub(super) fn update_named(&mut self, processes: &[u32], wanted: fn(&str) -> bool) -> u32 {
        let mut seen = 0;
        for process in processes {
            let tasks = fs::read_dir(format!("/proc/{process}/task"));
            for task in tasks.into_iter().flatten().flatten() {
                let thread: Option<u32> =
                    task.file_name().to_str().and_then(|name| name.parse().ok());
                let Some(thread) = thread else { continue };
                let text = procfs::read(&format!("/proc/{process}/task/{thread}/status"));
                let found = text.and_then(|text| wanted(name(&text)?).then(|| parse(&text))?);
                if let Some(last) = found {
                    self.threads.entry(thread).or_default().last = last;
                    seen += 1;
                }
            }
        }
        seen
    }

    /// Whether no thread was ever seen.
    pub(super) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// What was seen so far does not count: the measurement begins now.
    pub(super) fn forget_the_past(&mut self) {
        for seen in self.threads.values_mut() {
            seen.before = seen.last;
        }
    }

    /// Voluntary and involuntary switches since then.
    pub(super) fn totals(&self) -> (u64, u64) {
        self.threads
            .values()
            .fold((0, 0), |(voluntary, involuntary), seen| {
                (
                    voluntary + seen.last.0.saturating_sub(seen.before.0),
                    involuntary + seen.last.1.saturating_sub(seen.before.1),
                )
            })
    }
}

fn name(status: &str) -> Option<&str> {
    Some(status.strip_prefix("Name:")?.lines().next()?.trim())
}

fn parse(status: &str) -> Option<(u64, u64)> {
    let value = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse::<u64>().ok()
    };
    Some((
        value("voluntary_ctxt_switches:")?,
        value("nonvoluntary_ctxt_switches:")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_kinds() {
        let text = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(parse(text), Some((12, 3)));
    }

    #[test]
    fn threads_are_chosen_by_their_names() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let (begun, begin) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("chosen-0".to_owned());
        let thread = thread.spawn(move || {
            begun.send(()).unwrap();
            stopped.recv()
        });
        begin.recv().unwrap();
        let own = [std::process::id()];
        let mut switches = Switches::default();
        assert_eq!(
            switches.update_named(&own, |name| name.starts_with("chosen-")),
            1
        );
        assert_eq!(
            switches.update_named(&own, |name| name.starts_with("nobody-")),
            0
        );
        assert!(switches.totals() > (0, 0), "it waits, so it has switched");
        assert!(Switches::default().update(&own) >= 2);
        drop(stop);
        thread.unwrap().join().unwrap().unwrap_err();
    }

    #[test]
    fn counts_from_the_beginning_of_the_measurement() {
        let mut switches = Switches::default();
        switches.threads.insert(
            1,
            Seen {
                before: (0, 0),
                last: (10, 1),
            },
        );
        switches.forget_the_past();
        switches.threads.get_mut(&1).unwrap().last = (15, 4);
        switches.threads.insert(
            2,
            Seen {
                before: (0, 0),
                last: (2, 0),
            },
        );
        assert_eq!(switches.totals(), (7, 3));
    }
}
