//! What else the machine did during a measurement, from `/proc/stat` (proc_stat(5)).

use std::{fs, time::Duration};

use deadheat_model::trial::Noise;

use crate::process::{descendants, read_stat, ticks};

/// CPU time of the whole machine and of Deadheat with everything that it started, since their start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CpuClock {
    busy: u64,
    idle: u64,
    steal: u64,
    ours: u64,
}

impl CpuClock {
    /// Reads the clock; what cannot be read counts as nothing.
    pub(super) fn read() -> Self {
        let own = std::process::id();
        let tree = descendants(own)
            .iter()
            .map(|stat| stat.cpu_ticks)
            .sum::<u64>();
        let ours = tree + read_stat(own).map_or(0, |stat| stat.cpu_ticks);
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self {
            ours,
            ..parse(&text).unwrap_or_default()
        }
    }

    /// What happened since `earlier`.
    pub(super) fn noise_since(&self, earlier: &Self) -> Noise {
        let busy = self.busy.saturating_sub(earlier.busy);
        let idle = self.idle.saturating_sub(earlier.idle);
        let steal = self.steal.saturating_sub(earlier.steal);
        let all = (busy + idle + steal).max(1) as f64;
        let ours = Duration::as_secs_f64(&ticks(self.ours.saturating_sub(earlier.ours)));
        Noise {
            steal_share: steal as f64 / all,
            idle_share: idle as f64 / all,
            other_cpu_seconds: (ticks(busy).as_secs_f64() - ours).max(0.0),
        }
    }
}

fn parse(text: &str) -> Option<CpuClock> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<u64> = line
        .split_ascii_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    let [user, nice, system, idle, io_wait, irq, soft_irq, steal, ..] = fields[..] else {
        return None;
    };
    Some(CpuClock {
        busy: user + nice + system + irq + soft_irq,
        idle: idle + io_wait,
        steal,
        ours: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_cpu_time() {
        let before = parse("cpu  100 0 50 800 0 0 0 50 0 0\ncpu0 1\n").unwrap();
        let after = parse("cpu  130 0 60 840 10 0 0 60 0 0\n").unwrap();
        let noise = after.noise_since(&before);
        assert!((noise.steal_share - 0.1).abs() < 1e-9);
        assert!((noise.idle_share - 0.5).abs() < 1e-9);
        assert!((noise.other_cpu_seconds - ticks(40).as_secs_f64()).abs() < 1e-9);
    }

    #[test]
    fn an_old_kernel_without_steal_is_no_reading() {
        assert!(parse("cpu 1 2 3 4\n").is_none());
    }
}
