//! Stacks at plaintext on this machine, for the examples.

use std::{error::Error, path::Path, time::Duration};

use deadheat_model::{
    TargetId, Wait, WorkloadManifest,
    heat::{HeatPlan, Rounds},
    plan::Pinning,
};
use deadheat_runner::{
    manifest,
    process::{Supervision, pin_current_thread},
    session::{Checks, Launch, PinningMode, Readiness, SelectedTarget, TrialRequest, share_out},
    verify::{Blob, Fixtures},
};

/// `NAME SUPERVISOR ROOT SLICE_MS GUARD_MS on|off poll|sleep COUNT STACK…`, as typed.
pub struct Typed {
    /// How slices are, and whether the others are frozen. COUNT is the number of rounds.
    pub plan: HeatPlan,
    /// What the stacks share.
    pub scene: Scene,
}

impl Typed {
    /// Reads this process's arguments; `usage` is what to say of others.
    ///
    /// # Errors
    /// When they are others, or a stack is not there.
    pub fn read(usage: &str) -> Result<Self, Box<dyn Error>> {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let [
            supervisor,
            root,
            slice,
            guard,
            freeze,
            wait,
            count,
            stacks @ ..,
        ] = &args[..]
        else {
            return Err(usage.into());
        };
        let rounds = count.parse()?;
        let plan = HeatPlan {
            slice: Duration::from_millis(slice.parse()?),
            guard: Duration::from_millis(guard.parse()?),
            rounds: Rounds::Count { rounds },
            freeze: freeze == "on",
            wait: match wait.as_str() {
                "poll" => Wait::Poll,
                _ => Wait::Sleep,
            },
            memory_every: Duration::from_secs(1),
        };
        let scene = Scene::new(supervisor, root, stacks)?;
        Ok(Self { plan, scene })
    }
}

/// What all stacks share.
pub struct Scene {
    /// The stacks.
    pub targets: Vec<SelectedTarget>,
    workload: WorkloadManifest,
    supervision: Supervision,
    pinning: Pinning,
    folder: tempfile::TempDir,
}

impl Scene {
    /// Finds `stacks` below `root`, and keeps this process off the servers' CPUs.
    ///
    /// # Errors
    /// When one is not there.
    fn new(supervisor: &str, root: &str, stacks: &[String]) -> Result<Self, Box<dyn Error>> {
        let catalogue = manifest::load(Path::new(root)).map_err(|error| error.to_string())?;
        let workload = catalogue
            .workload("plaintext")
            .ok_or("no plaintext")?
            .clone();
        let select = |name: &String| {
            let target: TargetId = name.parse().map_err(|_| "no such name")?;
            let stack = catalogue.stack(&target).ok_or("no such stack")?.clone();
            Ok(SelectedTarget { stack, target })
        };
        let targets = stacks.iter().map(select).collect::<Result<_, &str>>()?;
        let pinning = share_out(PinningMode::Apart);
        if let Pinning::Apart { generator, .. } = &pinning {
            pin_current_thread(generator)?;
        }
        Ok(Self {
            targets,
            workload,
            supervision: Supervision::by(supervisor),
            pinning,
            folder: tempfile::tempdir()?,
        })
    }

    /// What the stacks are checked with.
    ///
    /// # Errors
    /// When the blob cannot be written.
    pub fn fixtures(&self) -> Result<Fixtures, Box<dyn Error>> {
        Ok(Fixtures {
            blob: Blob::create(self.folder.path().join("blob"), 1)?,
            postgres: None,
            upstream: None,
        })
    }

    /// How one of the stacks is started, checked and loaded.
    pub fn request<'s>(&'s self, target: &'s SelectedTarget, slice: Duration) -> TrialRequest<'s> {
        let point = &self.workload.point[0];
        let pinned = match &self.pinning {
            Pinning::Apart { server, .. } => Some(server.clone()),
            Pinning::Off { .. } => None,
        };
        let readiness = Readiness::of(Some(&self.workload), target, &self.workload, point);
        TrialRequest {
            target,
            checks: Checks::Oracle(readiness),
            workload: &self.workload,
            point,
            launch: Launch {
                target,
                supervision: &self.supervision,
                cpus: pinned.as_ref().map_or(1, Vec::len),
                pinned,
                seat: 0,
                log: self.folder.path().join("log"),
                timeout: Duration::from_secs(30),
            },
            pinning: &self.pinning,
            warm_up: Duration::ZERO,
            measure: slice,
            offered_per_second: None,
            seed: 1,
        }
    }
}
