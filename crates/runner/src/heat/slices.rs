//! From what was seen of a slice to its record.

use std::time::Duration;

use deadheat_model::heat::{
    FreezeTimes, GeneratorUse, PerConnection, SliceFlag, SliceNoise, SliceRecord,
};

use super::{MeasuredSlice, Work};

/// When a slice was, and what was around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceTimes {
    /// When it began, from the heat's start.
    pub(super) at: Duration,
    /// Its guard.
    pub(super) guard: Duration,
    /// Since the member's last slice.
    pub(super) gap: Option<Duration>,
    pub(super) thaw: Duration,
    pub(super) freeze: Duration,
}

/// The record of a slice of the member at `index`; `edges` is what the machine had done at the edges of the counted part.
pub(super) fn record(
    index: usize,
    times: SliceTimes,
    seen: &MeasuredSlice,
    edges: Option<(Work, Work)>,
    flags: Vec<SliceFlag>,
) -> SliceRecord {
    let load = &seen.result.observation;
    SliceRecord {
        member: index as u32,
        at: times.at,
        gap: times.gap,
        guard: times.guard,
        window: load.window,
        tally: load.measured.clone(),
        service_time: load.service_time.compact(),
        per_connection: PerConnection::new(&load.answers_per_connection)
            .filter(|_| seen.result.reconnected == 0 && load.unmade.is_none()),
        cut: load.cut,
        carried: load.carried,
        draining: load.draining,
        open: load.open.clone(),
        body_bytes: load.valid_body_bytes,
        cpu: seen.cpu,
        drained: seen.result.drained,
        reconnected: seen.result.reconnected,
        generator: generator_use(seen),
        noise: edges.map(|(first, last)| noise(&first, &last)),
        frozen: FreezeTimes {
            thaw: times.thaw,
            freeze: times.freeze,
        },
        flags,
    }
}

/// What the generator's threads used, summed up.
fn generator_use(seen: &MeasuredSlice) -> GeneratorUse {
    let load = &seen.result.observation;
    let workers = load.workers.iter();
    GeneratorUse {
        cpu_seconds: workers.clone().map(|one| one.cpu_time.as_secs_f64()).sum(),
        polled_seconds: workers.map(|one| one.polled.as_secs_f64()).sum(),
        busiest: load.busiest_worker(),
        host: seen.result.busiest_host,
    }
}

fn noise(first: &Work, last: &Work) -> SliceNoise {
    let grown = |part: fn(&Work) -> Duration| {
        // Counters that the kernel corrects may go back.
        part(last).saturating_sub(part(first)).as_secs_f64()
    };
    SliceNoise {
        steal_seconds: grown(|work| work.steal),
        busy_seconds: grown(|work| work.busy),
        interrupt_seconds: grown(|work| work.interrupts),
        own_seconds: grown(|work| work.own),
        cpus: last.cpus,
    }
}
