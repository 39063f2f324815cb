//! Members without servers, on a stage without time: what a heat asks of them is written down, and what they do is a
//! value.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deadheat_model::{
    Observation, SliceEvent, SliceResult,
    heat::{CpuUsed, Freezing},
    machine::CpuSource,
    observation::OpenLoop,
    session::{Phase, StackFailure},
};

use super::{Environment, MeasuredSlice, Member, Moment, Started, Work};

pub(super) const MS: Duration = Duration::from_millis(1);

/// What all members of a heat and its clocks share.
#[derive(Default)]
pub(super) struct Stage {
    pub(super) now: Moment,
    pub(super) work: Work,
    /// Everything that was asked of a member.
    pub(super) asked: Vec<String>,
    /// Members that are there and not frozen.
    pub(super) awake: BTreeSet<usize>,
    /// Members that are there.
    pub(super) there: BTreeSet<usize>,
}

/// The stage, as each of them holds it.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Stage>>);

impl Shared {
    pub(super) fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap()
    }

    pub(super) fn pass(&self, time: Duration) {
        let mut stage = self.stage();
        stage.now.awake += time;
        stage.now.all += time;
        stage.work.busy += time;
    }
}

impl Environment for Shared {
    fn now(&self) -> Moment {
        self.stage().now
    }

    fn work(&self) -> Option<Work> {
        Some(self.stage().work)
    }

    fn pause(&self, time: Duration) {
        self.pass(time);
    }
}

/// A function that a fake runs in each slice. Its arguments are the number of the slice (from 0, including the
/// warm-up), the shared stage and the slice's measurements.
pub(super) type SliceHook = Box<dyn FnMut(u32, &Shared, &mut MeasuredSlice) + Send>;

/// A member without a server.
pub(super) struct Fake {
    pub(super) place: usize,
    pub(super) shared: Shared,
    pub(super) doing: SliceHook,
    pub(super) slices: u32,
    /// Slices after which it is dead.
    pub(super) dies_after: u32,
    /// Verifications that pass before one fails.
    pub(super) right: u32,
    /// Freezings that work.
    pub(super) freezings: u32,
    pub(super) freezing: Freezing,
    pub(super) starts: bool,
    pub(super) leaves_children: bool,
    pub(super) loses_writes: bool,
    pub(super) services_agree: bool,
    pub(super) is_loadable: bool,
    pub(super) loads_before: u32,
    pub(super) is_at_a_rate: bool,
    /// A stop flag, and the total number of calls of all members at which it is set.
    pub(super) stop: Option<(Arc<AtomicBool>, usize)>,
}

impl Fake {
    pub(super) fn new(place: usize, shared: &Shared) -> Self {
        Self {
            place,
            shared: shared.clone(),
            doing: Box::new(|_, _, _| ()),
            slices: 0,
            dies_after: u32::MAX,
            right: u32::MAX,
            freezings: u32::MAX,
            freezing: Freezing::CgroupV2,
            starts: true,
            leaves_children: false,
            loses_writes: false,
            services_agree: true,
            is_loadable: true,
            loads_before: 0,
            is_at_a_rate: false,
            stop: None,
        }
    }

    pub(super) fn doing(
        mut self,
        doing: impl FnMut(u32, &Shared, &mut MeasuredSlice) + Send + 'static,
    ) -> Self {
        self.doing = Box::new(doing);
        self
    }

    fn asked(&mut self, what: &str) {
        let mut stage = self.shared.stage();
        stage.asked.push(format!("{what} {}", self.place));
        if let Some((stop, at)) = &self.stop
            && stage.asked.len() > *at
        {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// It is gone; whether it was there.
    fn is_removed(&mut self) -> bool {
        let mut stage = self.shared.stage();
        stage.awake.remove(&self.place);
        stage.there.remove(&self.place)
    }

    /// Nobody else disturbs it.
    fn is_alone(&self) {
        let stage = self.shared.stage();
        let others = stage.awake.iter().filter(|other| **other != self.place);
        assert_eq!(others.count(), 0, "others run: {:?}", stage.awake);
    }
}

fn failed(phase: Phase, reason: &str) -> StackFailure {
    StackFailure {
        phase,
        reason: reason.to_owned(),
        log_tail: Vec::new(),
        load: None,
    }
}

impl Member for Fake {
    fn start(&mut self) -> Result<Option<Started>, StackFailure> {
        self.asked(if self.loads_before > 0 {
            "go on"
        } else {
            "start"
        });
        self.is_alone();
        if !self.starts {
            return Err(failed(Phase::Start, "no such file"));
        }
        let mut stage = self.shared.stage();
        stage.awake.insert(self.place);
        stage.there.insert(self.place);
        Ok(Some(Started {
            command: vec!["server".to_owned()],
            ready: (self.loads_before == 0).then_some(20 * MS),
            cpu_source: Some(CpuSource::CgroupV2),
            loads_before: self.loads_before,
        }))
    }

    fn verify(&mut self, phase: Phase) -> Result<u32, StackFailure> {
        self.asked("verify");
        self.is_alone();
        self.right = self
            .right
            .checked_sub(1)
            .ok_or_else(|| failed(phase, "an old answer"))?;
        Ok(7)
    }

    fn check_written(&mut self) -> Result<Option<u64>, StackFailure> {
        if self.loses_writes {
            Err(failed(Phase::Load, "2 writes are missing"))
        } else {
            Ok(None)
        }
    }

    fn open(&mut self, per_second: Option<f64>) -> Result<(), StackFailure> {
        self.is_at_a_rate = per_second.is_some();
        match per_second {
            Some(rate) => self.asked(&format!("open at {rate}")),
            None => self.asked("open"),
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<(), StackFailure> {
        self.asked("settle");
        if self.services_agree {
            Ok(())
        } else {
            Err(failed(Phase::Load, "the database was not asked"))
        }
    }

    fn slice(
        &mut self,
        guard: Duration,
        length: Duration,
        on_edge: &mut dyn FnMut(SliceEvent),
    ) -> Result<MeasuredSlice, StackFailure> {
        self.asked("slice");
        self.is_alone();
        assert!(self.shared.stage().awake.contains(&self.place));
        if !self.is_loadable {
            return Err(failed(Phase::Load, "a worker has gone"));
        }
        self.shared.pass(guard);
        on_edge(SliceEvent::CountingStarted);
        let mut seen = MeasuredSlice {
            result: SliceResult {
                observation: answers(100, length),
                drained: MS,
                ..SliceResult::default()
            },
            cpu: Some(CpuUsed {
                seconds: length.as_secs_f64() / 2.0,
                span_seconds: length.as_secs_f64(),
                drain_seconds: None,
            }),
        };
        seen.result.observation.open = self.is_at_a_rate.then(OpenLoop::default);
        (self.doing)(self.slices, &self.shared, &mut seen);
        self.slices += 1;
        self.shared.pass(length);
        on_edge(SliceEvent::CountingEnded);
        self.shared.pass(seen.result.drained);
        on_edge(SliceEvent::Drained);
        Ok(seen)
    }

    fn freeze(&mut self) -> Result<(), StackFailure> {
        self.asked("freeze");
        let left = self.freezings.checked_sub(1);
        self.freezings = left.ok_or_else(|| failed(Phase::Load, "not all of it was frozen"))?;
        self.shared.stage().awake.remove(&self.place);
        Ok(())
    }

    fn thaw(&mut self) -> Result<(), StackFailure> {
        self.asked("thaw");
        self.shared.stage().awake.insert(self.place);
        Ok(())
    }

    fn freezing(&mut self) -> Freezing {
        self.freezing.clone()
    }

    fn memory(&mut self) -> Option<u64> {
        self.asked("memory");
        Some(1_000 + u64::from(self.slices))
    }

    fn cpu(&mut self) -> Option<Duration> {
        Some(30 * MS + self.slices * 100 * MS)
    }

    fn exit(&mut self, _: Duration) -> Option<String> {
        (self.slices >= self.dies_after).then(|| "was ended by SIGSEGV".to_owned())
    }

    fn failure(&mut self, phase: Phase, reason: String) -> StackFailure {
        failed(phase, &reason)
    }

    fn stop(&mut self) -> Result<(), StackFailure> {
        if self.is_removed() && self.leaves_children {
            Err(failed(Phase::Stop, "it left 2 of its processes behind"))
        } else {
            Ok(())
        }
    }

    fn keep(&mut self) {
        self.asked("keep");
    }

    fn stop_soon(&mut self) {
        self.is_removed();
    }
}

/// The observation of a load with this many answers.
pub(super) fn answers(count: u64, window: Duration) -> Observation {
    let mut found = Observation {
        window,
        ..Observation::default()
    };
    for tally in [&mut found.measured, &mut found.total] {
        (tally.issued, tally.succeeded) = (count, count);
    }
    found
}
