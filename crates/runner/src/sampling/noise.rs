//! What else the machine did during a measurement, from `/proc/stat` (proc_stat(5)).

use std::{collections::BTreeMap, fs, time::Duration};

use deadheat_model::{plan::Pinning, trial::Noise};

use crate::process::{descendants, read_stat, ticks};

/// CPU time of the whole machine, CPU by CPU, and of Deadheat with everything that it started, since their start.
#[derive(Clone, Debug, Default)]
pub(crate) struct CpuClock {
    all: Ticks,
    each: BTreeMap<usize, Ticks>,
    ours: u64,
}

/// CPU time in clock ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    busy: u64,
    idle: u64,
    steal: u64,
}

impl Ticks {
    fn since(self, earlier: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(earlier.busy),
            idle: self.idle.saturating_sub(earlier.idle),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    fn total(self) -> f64 {
        (self.busy + self.idle + self.steal).max(1) as f64
    }
}

impl CpuClock {
    /// Reads the clock; what cannot be read counts as nothing.
    pub(crate) fn read() -> Self {
        let own = std::process::id();
        let tree = descendants(own);
        let tree: u64 = tree.iter().map(|stat| stat.cpu_ticks).sum();
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self {
            ours: tree + read_stat(own).map_or(0, |stat| stat.cpu_ticks),
            ..parse(&text)
        }
    }

    /// What happened since `earlier`, with the CPUs shared out as `pinning` says, while the server's tree used
    /// `server_cpu`.
    pub(crate) fn noise_since(
        &self,
        earlier: &Self,
        pinning: &Pinning,
        server_cpu: Duration,
    ) -> Noise {
        let all = self.all.since(earlier.all);
        let ours = ticks(self.ours.saturating_sub(earlier.ours)).as_secs_f64();
        let (server, generator) = match pinning {
            Pinning::Apart { server, generator } => (Some(server), Some(generator)),
            Pinning::Off { .. } => (None, None),
        };
        Noise {
            steal_share: all.steal as f64 / all.total(),
            idle_share: all.idle as f64 / all.total(),
            other_cpu_seconds: (ticks(all.busy).as_secs_f64() - ours).max(0.0),
            server_cpus_busy: server.map(|cpus| self.busy_since(earlier, cpus)),
            // Deadheat's own alone: what other programs do there is no limit of the generator, but a disturbance.
            generator_cpus_busy: generator.map(|cpus| {
                let time = self.time_since(earlier, cpus).as_secs_f64();
                let own = (ours - server_cpu.as_secs_f64()).max(0.0);
                if time > 0.0 {
                    (own / time).min(1.0)
                } else {
                    0.0
                }
            }),
            ..Noise::default()
        }
    }

    /// The time that went by on all of `cpus` together.
    fn time_since(&self, earlier: &Self, cpus: &[usize]) -> Duration {
        let of = |clock: &Self, cpu| clock.each.get(cpu).copied().unwrap_or_default();
        let spans = cpus.iter().map(|cpu| of(self, cpu).since(of(earlier, cpu)));
        ticks(spans.map(|span| span.busy + span.idle + span.steal).sum())
    }

    /// The share of their time in which `cpus` worked.
    fn busy_since(&self, earlier: &Self, cpus: &[usize]) -> f64 {
        let (mut busy, mut total) = (0.0, 0.0);
        for cpu in cpus {
            let at = |clock: &Self| clock.each.get(cpu).copied().unwrap_or_default();
            let span = at(self).since(at(earlier));
            busy += span.busy as f64;
            total += span.total();
        }
        if total > 0.0 { busy / total } else { 0.0 }
    }
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
        idle: idle + io_wait,
        steal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFF: Pinning = Pinning::Off { cpus: Vec::new() };

    #[test]
    fn shares_are_of_all_cpu_time() {
        let before = parse("cpu  100 0 50 800 0 0 0 50 0 0\ncpu0 1\n");
        let after = parse("cpu  130 0 60 840 10 0 0 60 0 0\n");
        let noise = after.noise_since(&before, &OFF, Duration::ZERO);
        assert!((noise.steal_share - 0.1).abs() < 1e-9);
        assert!((noise.idle_share - 0.5).abs() < 1e-9);
        assert!((noise.other_cpu_seconds - ticks(40).as_secs_f64()).abs() < 1e-9);
        assert_eq!(
            (noise.server_cpus_busy, noise.generator_cpus_busy),
            (None, None)
        );
    }

    #[test]
    fn each_side_is_looked_at_alone() {
        let before = parse("cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0\n");
        let after =
            parse("cpu0 10 0 0 90 0 0 0 0\ncpu1 80 0 15 5 0 0 0 0\ncpu2 0 0 0 100 0 0 0 0\n");
        let pinning = Pinning::Apart {
            server: vec![0],
            generator: vec![1, 2],
        };
        let after = CpuClock { ours: 105, ..after };
        let noise = after.noise_since(&before, &pinning, ticks(10));
        assert!((noise.server_cpus_busy.unwrap() - 0.1).abs() < 1e-9);
        assert!((noise.generator_cpus_busy.unwrap() - 0.475).abs() < 1e-9);
    }

    #[test]
    fn an_old_kernel_without_steal_is_no_reading() {
        assert_eq!(parse("cpu 1 2 3 4\n").all.busy, 0);
    }
}
