//! Pressure stall information (Linux, Documentation/accounting/psi.rst).

use std::{fs, time::Instant};

use deadheat_model::trial::Pressure;

/// The totals at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct PressureClock {
    at: Instant,
    totals: Pressure,
}

impl PressureClock {
    /// Reads the totals; `None` where the kernel does not keep them.
    pub(super) fn read() -> Option<Self> {
        let total = |resource| {
            let text = fs::read_to_string(format!("/proc/pressure/{resource}")).ok()?;
            some_total(&text)
        };
        Some(Self {
            at: Instant::now(),
            totals: Pressure {
                cpu: total("cpu")?,
                memory: total("memory")?,
                io: total("io")?,
            },
        })
    }

    /// The shares of the time since `earlier`.
    pub(super) fn since(&self, earlier: &Self) -> Pressure {
        let span = self.at.saturating_duration_since(earlier.at).as_secs_f64();
        let share = |now: f64, then: f64| match span > 0.0 {
            true => ((now - then) / span).clamp(0.0, 1.0),
            false => 0.0,
        };
        let (now, then) = (self.totals, earlier.totals);
        Pressure {
            cpu: share(now.cpu, then.cpu),
            memory: share(now.memory, then.memory),
            io: share(now.io, then.io),
        }
    }
}

/// The seconds in which at least one task waited, since the start of the machine.
fn some_total(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let mut fields = line.split(' ');
    let micros: u64 = fields
        .find_map(|field| field.strip_prefix("total="))?
        .parse()
        .ok()?;
    Some(micros as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_total_of_some_is_read_and_not_that_of_full() {
        let text = "some avg10=0.00 avg60=1.43 avg300=4.09 total=2500000\n\
                    full avg10=0.00 avg60=0.00 avg300=3.30 total=7\n";
        assert_eq!(some_total(text), Some(2.5));
        assert_eq!(some_total("full avg10=0.00 total=7\n"), None);
        assert_eq!(some_total(""), None);
    }

    #[test]
    fn shares_are_of_the_time_in_between() {
        let at = Instant::now();
        let clock = |after: u64, cpu| PressureClock {
            at: at + Duration::from_secs(after),
            totals: Pressure {
                cpu,
                memory: 3.0,
                io: 0.0,
            },
        };
        let pressure = clock(4, 8.0).since(&clock(0, 6.0));
        assert_eq!(
            (pressure.cpu, pressure.memory, pressure.io),
            (0.5, 0.0, 0.0)
        );
        // The kernel brings its totals up to date now and then only.
        assert_eq!(clock(1, 8.0).since(&clock(0, 6.0)).cpu, 1.0);
        assert_eq!(clock(0, 8.0).since(&clock(0, 6.0)).cpu, 0.0);
    }
}
