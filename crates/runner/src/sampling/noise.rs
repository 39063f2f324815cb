//! The activity of other programs on the machine, from `/proc/stat` (proc_stat(5)).

use std::{collections::BTreeMap, fs, time::Duration};

use deadheat_model::machine::Disturbance;

use crate::process::{ProcessStat, Snapshot, ticks};

/// CPU time of the whole machine, CPU by CPU, of Deadheat with everything that it started, and of all other processes
/// that can be seen, since their start.
#[derive(Clone, Debug, Default)]
pub(crate) struct CpuClock {
    all: Ticks,
    each: BTreeMap<usize, Ticks>,
    ours: Duration,
    others: u64,
    /// Of the kernel's threads for interrupts, which are among neither.
    interrupt_threads: u64,
}

/// CPU time in clock ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    busy: u64,
    /// The part of `busy` that the kernel spent on interrupts, network packets among them.
    interrupts: u64,
    /// The part of `interrupts` for those of the hardware.
    hardware: u64,
    idle: u64,
    steal: u64,
}

impl Ticks {
    fn since(self, earlier: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(earlier.busy),
            interrupts: self.interrupts.saturating_sub(earlier.interrupts),
            hardware: self.hardware.saturating_sub(earlier.hardware),
            idle: self.idle.saturating_sub(earlier.idle),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    fn total(self) -> f64 {
        (self.busy + self.idle + self.steal).max(1) as f64
    }
}

impl CpuClock {
    /// Reads the clock, without any process; what cannot be read counts as nothing.
    pub(crate) fn now() -> Self {
        parse(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    /// The steal time, the busy time, and the part of the busy time that the kernel spent on interrupts and counts for no
    /// process, on `cpus`, or on all CPUs if `cpus` is empty, since the machine started. `threads` is the time in clock
    /// ticks of [`interrupt_threads`], if these are known. `None` if the kernel does not report the times.
    pub(crate) fn busy_times(&self, cpus: &[usize], threads: Option<u64>) -> Option<[Duration; 3]> {
        let found = self.on(cpus);
        let apart = match threads {
            Some(threads) if !self.measures_interrupts() => threads,
            _ => found.interrupts,
        };
        (found.busy > 0).then(|| [found.steal, found.busy, apart].map(ticks))
    }

    /// Whether the kernel measures interrupts (`CONFIG_IRQ_TIME_ACCOUNTING`). Their time is then in no process's. Otherwise
    /// it samples: each tick of its clock counts for the process that it interrupts, also if that was at work on packets,
    /// and none counts for the hardware (kernel/sched/cputime.c).
    fn measures_interrupts(&self) -> bool {
        self.all.hardware > 0
    }

    /// Reads the clock, with the CPU time of `processes`.
    pub(crate) fn read(processes: &Snapshot) -> Self {
        let own = std::process::id();
        let tree = processes.tree(own);
        let tree: u64 = tree.iter().map(|stat| stat.cpu_ticks).sum();
        let ours = tree + processes.find(own).map_or(0, |stat| stat.cpu_ticks);
        let all: u64 = processes.all().map(|stat| stat.cpu_ticks).sum();
        let threads = processes.all().filter(|stat| stat.interrupts_of.is_some());
        let interrupt_threads: u64 = threads.map(|stat| stat.cpu_ticks).sum();
        Self {
            ours: ticks(ours),
            others: all.saturating_sub(ours + interrupt_threads),
            interrupt_threads,
            ..Self::now()
        }
    }

    /// What others had of `cpus` since `earlier`, which was `span` ago.
    pub(crate) fn disturbance_since(
        &self,
        earlier: &Self,
        cpus: &[usize],
        span: Duration,
    ) -> Disturbance {
        let all = self.on(cpus).since(earlier.on(cpus));
        let time = span.as_secs_f64() * cpus.len().max(1) as f64;
        let used = self.others_since(earlier, all);
        Disturbance {
            other_cpu: if time > 0.0 { used / time } else { 0.0 },
            steal: all.steal as f64 / all.total(),
        }
    }

    /// The time of `cpus` alone: what happens on CPUs that nothing of ours may use disturbs nothing. Without any it is
    /// the whole machine's.
    fn on(&self, cpus: &[usize]) -> Ticks {
        if cpus.is_empty() {
            return self.all;
        }
        let each = cpus.iter().filter_map(|cpu| self.each.get(cpu));
        each.fold(Ticks::default(), |sum, one| Ticks {
            busy: sum.busy + one.busy,
            interrupts: sum.interrupts + one.interrupts,
            hardware: sum.hardware + one.hardware,
            idle: sum.idle + one.idle,
            steal: sum.steal + one.steal,
        })
    }

    /// CPU seconds that others used since `earlier`, in which our CPUs spent `all`.
    ///
    /// CPU time outside of Deadheat's processes is theirs, but the kernel's work for our own packets may count in two
    /// ways: in the time of our processes, or only in that of interrupts, as that for packets which arrive from a network
    /// while a CPU is idle always does. With many packets, the kernel's threads for them take over (ksoftirqd, whose time
    /// counts as interrupts; kernel/sched/cputime.c). So there are two bounds, with that time and without it. The time of
    /// the visible processes, which are not all in a container, lies between them.
    fn others_since(&self, earlier: &Self, all: Ticks) -> f64 {
        let ours = self.ours.saturating_sub(earlier.ours);
        let most = ticks(all.busy).saturating_sub(ours);
        let threads = self
            .interrupt_threads
            .saturating_sub(earlier.interrupt_threads);
        // Counters that are read one after another, and may go back, hold no order between them.
        let sure = all.busy.saturating_sub(all.interrupts.max(threads));
        let least = ticks(sure).saturating_sub(ours);
        let seen = ticks(self.others.saturating_sub(earlier.others));
        seen.max(least).min(most).as_secs_f64()
    }
}

/// The kernel's threads for the interrupts of `cpus`, or of all CPUs if `cpus` is empty. They do the work for packets that
/// the senders leave to them. None if the kernel hides them, as in a container.
pub(crate) fn interrupt_threads(cpus: &[usize]) -> Vec<u32> {
    let processes = Snapshot::take();
    let is_one = |stat: &&ProcessStat| {
        let cpu = stat.interrupts_of;
        cpu.is_some_and(|cpu| cpus.is_empty() || cpus.contains(&cpu))
    };
    processes
        .all()
        .filter(is_one)
        .map(|stat| stat.pid)
        .collect()
}

fn parse(text: &str) -> CpuClock {
    let mut clock = CpuClock::default();
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(' ') else {
            continue;
        };
        match (name.strip_prefix("cpu"), parse_ticks(rest)) {
            (Some(""), Some(ticks)) => clock.all = ticks,
            (Some(number), Some(ticks)) => {
                if let Ok(cpu) = number.parse() {
                    clock.each.insert(cpu, ticks);
                }
            }
            _ => {}
        }
    }
    clock
}

fn parse_ticks(text: &str) -> Option<Ticks> {
    let fields: Vec<u64> = text
        .split_ascii_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    let [user, nice, system, idle, io_wait, irq, soft_irq, steal, ..] = fields[..] else {
        return None;
    };
    Some(Ticks {
        busy: user + nice + system + irq + soft_irq,
        interrupts: irq + soft_irq,
        hardware: irq,
        idle: idle + io_wait,
        steal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What others did in ten seconds.
    fn since(clock: &CpuClock, before: &CpuClock, cpus: &[usize]) -> Disturbance {
        clock.disturbance_since(before, cpus, Duration::from_secs(10))
    }

    /// Clock ticks that others used.
    fn others_ticks(clock: &CpuClock, before: &CpuClock) -> f64 {
        10.0 * since(clock, before, &[]).other_cpu / ticks(1).as_secs_f64()
    }

    #[test]
    fn shares_are_of_all_cpu_time() {
        let before = parse("cpu  100 0 50 800 0 0 0 50 0 0\ncpu0 1\n");
        let after = parse("cpu  130 0 60 840 10 0 0 60 0 0\n");
        assert!((since(&after, &before, &[]).steal - 0.1).abs() < 1e-9);
        assert!((others_ticks(&after, &before) - 40.0).abs() < 1e-9);
        // Of two CPUs that is half as much.
        let both = parse("cpu0 130 0 60 840 10 0 0 60\ncpu1 0 0 0 0 0 0 0 0\n");
        let shares = since(&both, &parse("cpu0 100 0 50 800 0 0 0 50\n"), &[0, 1]);
        assert!((shares.other_cpu - ticks(2).as_secs_f64()).abs() < 1e-9);
        let at_once = both.disturbance_since(&before, &[0, 1], Duration::ZERO);
        assert_eq!(at_once.other_cpu, 0.0);
    }

    #[test]
    fn interrupts_for_our_own_packets_are_not_others_work_however_the_kernel_counts_them() {
        let others = |ours, seen, after: &str| {
            let before = parse("cpu  0 0 0 0 0 0 0 0\n");
            let clock = CpuClock {
                ours: ticks(ours),
                others: seen,
                ..parse(after)
            };
            others_ticks(&clock, &before)
        };
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}");
        // 100 ticks of ours, 20 of them on packets, and no other program: outside our processes' time, or in it.
        near(others(80, 0, "cpu  60 0 20 80 0 0 20 0\n"), 0.0);
        near(others(100, 0, "cpu  60 0 20 80 0 0 20 0\n"), 0.0);
        // The same with 30 ticks of another program that can be seen.
        near(others(80, 30, "cpu  90 0 20 50 0 0 20 0\n"), 30.0);
        near(others(100, 30, "cpu  90 0 20 50 0 0 20 0\n"), 30.0);
        // One that cannot: no less than what is sure.
        near(others(80, 0, "cpu  90 0 20 50 0 0 20 0\n"), 30.0);
        near(others(100, 0, "cpu  90 0 20 50 0 0 20 0\n"), 10.0);
        // Processes that were seen to use more than there was.
        near(others(100, 99, "cpu  90 0 20 50 0 0 20 0\n"), 30.0);
    }

    #[test]
    fn interrupts_are_apart_from_processes_if_the_kernel_measures_them() {
        let apart = |text: &str, threads| {
            let times = parse(text).busy_times(&[], threads);
            times.map(|[_, _, apart]| apart)
        };
        let sampled = "cpu  60 0 20 80 0 0 20 0\n";
        assert_eq!(apart(sampled, Some(0)), Some(Duration::ZERO));
        assert_eq!(apart(sampled, Some(3)), Some(ticks(3)), "no process's");
        assert_eq!(
            apart(sampled, None),
            Some(ticks(20)),
            "as much as it may be"
        );
        let measured = "cpu  60 0 20 80 0 1 20 0\n";
        assert_eq!(apart(measured, Some(3)), Some(ticks(21)));
    }

    #[test]
    fn no_order_of_the_counters_is_relied_on() {
        let others = |before: &str, after: &str| others_ticks(&parse(after), &parse(before));
        // Time in user mode went back, by more than interrupts took.
        let found = others("cpu  50 0 0 0 0 0 0 0\n", "cpu  10 0 0 0 0 0 20 0\n");
        assert_eq!(found, 0.0);
        let found = others("cpu  10 0 0 0 0 0 0 0\n", "cpu  0 0 0 0 0 0 20 0\n");
        assert_eq!(found, 0.0);
    }

    #[test]
    fn the_threads_of_the_kernel_for_packets_are_nobody_else() {
        let own = std::process::id();
        let stat = |pid, interrupts_of, cpu_ticks| ProcessStat {
            pid,
            parent: 2,
            interrupts_of,
            cpu_ticks,
            ..crate::process::read_stat(own).unwrap()
        };
        let before = parse("cpu  0 0 0 0 0 0 0 0\n");
        let others = |softirqd, other| {
            let far = u32::MAX - 10;
            let processes = [stat(far, Some(0), softirqd), stat(far + 1, None, other)];
            let processes: Snapshot = processes.into_iter().collect();
            let read = CpuClock::read(&processes);
            let clock = CpuClock {
                ours: ticks(80),
                others: read.others,
                interrupt_threads: read.interrupt_threads,
                ..parse("cpu  60 0 20 50 0 0 50 0\n")
            };
            others_ticks(&clock, &before).round()
        };
        assert_eq!(others(40, 0), 0.0, "they work for our packets");
        assert_eq!(others(40, 10), 10.0, "as nobody else does");
    }

    #[test]
    fn what_this_process_and_its_children_do_is_ours_and_the_rest_is_not() {
        let own = std::process::id();
        let clock = CpuClock::read(&Snapshot::take());
        let stat = |pid, parent, state, cpu_ticks| ProcessStat {
            pid,
            parent,
            state,
            cpu_ticks,
            ..crate::process::read_stat(own).unwrap()
        };
        let far = u32::MAX - 10;
        let processes: Snapshot = [
            stat(own, 1, b'R', 1),
            stat(far, own, b'S', 20),
            stat(far + 1, far, b'Z', 300),
            stat(far + 2, 1, b'S', 4000),
        ]
        .into_iter()
        .collect();
        let made = CpuClock::read(&processes);
        assert_eq!((made.ours, made.others), (ticks(321), 4000));
        assert!(clock.others > 0, "this machine has other processes");
    }

    #[test]
    fn what_happens_on_cpus_that_are_not_ours_disturbs_nothing() {
        let before = parse("cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n");
        let after =
            parse("cpu 90 0 0 100 0 0 0 10\ncpu0 0 0 0 100 0 0 0 0\ncpu1 90 0 0 0 0 0 0 10\n");
        let after = CpuClock {
            others: 90,
            ..after
        };
        let found = |cpus: &[usize]| {
            let found = since(&after, &before, cpus);
            (found.other_cpu, found.steal)
        };
        assert_eq!(found(&[0]), (0.0, 0.0));
        assert_eq!(found(&[0, 1]), (ticks(90).as_secs_f64() / 20.0, 0.05));
    }

    #[test]
    fn an_old_kernel_without_steal_is_no_reading() {
        assert_eq!(parse("cpu 1 2 3 4\n").all.busy, 0);
    }
}
