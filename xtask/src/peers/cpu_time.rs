//! What the machine's CPUs did meanwhile: who else used them.

use std::{fs, time::Duration};

use super::{machine::Cpus, sys};

/// CPU time of the two CPUs since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CpuTime {
    /// In which something ran, interrupts included.
    pub(crate) busy: Duration,
    /// Which the hypervisor gave to others.
    pub(crate) stolen: Duration,
}

impl CpuTime {
    /// What has gone by until now; to the length of a tick.
    pub(crate) fn now(cpus: &Cpus) -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        [cpus.server, cpus.generator]
            .iter()
            .filter_map(|cpu| of_cpu(&stat, *cpu))
            .fold(Self::default(), |sum, one| Self {
                busy: sum.busy + one.busy,
                stolen: sum.stolen + one.stolen,
            })
    }

    /// What has gone by since an earlier look.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(earlier.busy),
            stolen: self.stolen.saturating_sub(earlier.stolen),
        }
    }
}

/// proc(5): user, nice, system, idle, iowait, irq, softirq, steal.
fn of_cpu(stat: &str, cpu: usize) -> Option<CpuTime> {
    let name = format!("cpu{cpu}");
    let mut lines = stat.lines().map(str::split_whitespace);
    let fields = lines.find_map(|mut words| (words.next()? == name).then_some(words))?;
    let ticks: Vec<u32> = fields.map_while(|field| field.parse().ok()).collect();
    let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks[..] else {
        return None;
    };
    Some(CpuTime {
        busy: sys::tick() * (user + nice + system + irq + softirq),
        stolen: sys::tick() * steal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_and_stolen_time_of_a_cpu_are_read() {
        let stat = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu1 100 0 200 5000 7 3 20 40 0 0\ncpu11 1 1 1 1 1 1 1 1 0 0\nintr 5\n";
        let time = of_cpu(stat, 1).unwrap();
        assert_eq!(time.busy, sys::tick() * 323);
        assert_eq!(time.stolen, sys::tick() * 40);
        assert_eq!(of_cpu(stat, 2), None);
    }
}
