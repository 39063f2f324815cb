//! The control groups of a process tree: one counts the CPU time of every process that was ever in it, one freezes what
//! is in it (in v2 that is the same one), and what is in them can be found and killed, also when nobody is left who
//! knows the tree.

use std::{
    fs::{self, File},
    io,
    time::Duration,
};

use deadheat_model::machine::CpuSource;
use serde::{Deserialize, Serialize};

use super::group::{Group, Hierarchy, OwnGroup};

/// The control group that counts the CPU time of one process tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuGroup(Group);

impl CpuGroup {
    /// How the CPU time of process trees is counted here: makes a group for a moment, as each server has. Nothing else
    /// tells whether that works.
    pub fn probe() -> CpuSource {
        create_counting(Grouping::Best).map_or(CpuSource::Proc, |own| {
            own.group.remove();
            Self(own.group).source()
        })
    }

    /// The processes in the group now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn processes(&self) -> io::Result<Vec<u32>> {
        self.0.processes()
    }

    /// How this group counts.
    pub fn source(&self) -> CpuSource {
        match self.0.hierarchy() {
            Hierarchy::V2 => CpuSource::CgroupV2,
            Hierarchy::Cpuacct | Hierarchy::Freezer => CpuSource::CgroupV1,
        }
    }

    /// CPU time, user and system, of everything that was ever in the group.
    pub(crate) fn read_cpu(&self) -> io::Result<Duration> {
        read_cpu(&self.0)
    }
}

fn read_cpu(group: &Group) -> io::Result<Duration> {
    let invalid = || {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "no CPU time in the control group",
        )
    };
    match group.hierarchy() {
        Hierarchy::V2 => {
            let text = fs::read_to_string(group.file("cpu.stat"))?;
            let value = text
                .lines()
                .find_map(|line| line.strip_prefix("usage_usec "));
            let micros = value
                .and_then(|value| value.trim().parse().ok())
                .ok_or_else(invalid)?;
            Ok(Duration::from_micros(micros))
        }
        Hierarchy::Cpuacct => {
            let text = fs::read_to_string(group.file("cpuacct.usage"))?;
            Ok(Duration::from_nanos(
                text.trim().parse().map_err(|_| invalid())?,
            ))
        }
        Hierarchy::Freezer => Err(invalid()),
    }
}

/// Which control groups a supervisor makes for its child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// The best that can be made here: v2, else v1.
    #[default]
    Best,
    /// Those of v1 alone.
    V1,
    /// None.
    Off,
}

/// The control groups of one process tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Groups {
    /// The one that counts CPU time.
    pub(super) cpu: Option<CpuGroup>,
    /// The one that freezes; in v2 it is the same.
    pub(super) freezer: Option<Group>,
}

impl Groups {
    /// A process that writes `0` to these files moves into the groups. Open them before the fork.
    pub(super) fn join_files(&self) -> io::Result<Vec<File>> {
        self.each().map(Group::join_file).collect()
    }

    /// Every group once.
    fn each(&self) -> impl Iterator<Item = &Group> {
        // The one that freezes comes first, because what the freezer of v1 holds cannot be killed by any other.
        let cpu = self.cpu.as_ref().map(|cpu| &cpu.0);
        let cpu = cpu.filter(|cpu| Some(*cpu) != self.freezer.as_ref());
        self.freezer.iter().chain(cpu)
    }

    /// The processes in them now; `None` where there is no group to tell.
    pub(super) fn processes(&self) -> Option<Vec<u32>> {
        self.each().find_map(|group| group.processes().ok())
    }

    /// Thaws what is frozen.
    pub(super) fn thaw(&self) {
        self.each().for_each(Group::thaw);
    }

    /// Kills everything in them, until nothing is left or `patience` is over, and removes them. What is left; `None`
    /// where there is no group to tell.
    pub(super) fn end(&self, patience: Duration) -> Option<Vec<u32>> {
        let left = self.each().map(|group| group.end(patience));
        left.reduce(|mut all, more| {
            all.extend(more);
            all.sort_unstable();
            all.dedup();
            all
        })
    }
}

/// Groups of this process's making. As long as this value lives, they count as looked after.
#[derive(Default)]
pub(super) struct OwnGroups {
    cpu: Option<OwnGroup>,
    /// Unless the one that counts freezes, too.
    freezer: Option<OwnGroup>,
}

impl OwnGroups {
    /// Makes what can be made here.
    pub(super) fn create(grouping: Grouping) -> Self {
        let cpu = create_counting(grouping);
        let has_own = grouping != Grouping::Off && !cpu.as_ref().is_some_and(can_freeze);
        let freezer = has_own.then(|| {
            Group::create(Hierarchy::Freezer, |group| {
                // Where one hierarchy has both controllers, joining a second group would leave the first.
                let is_apart = cpu.as_ref().is_none_or(|cpu| cpu.group.is_apart(group));
                if is_apart {
                    fs::write(group.file("freezer.state"), "THAWED")
                } else {
                    Err(io::ErrorKind::Unsupported.into())
                }
            })
        });
        let freezer = freezer.flatten();
        Self { cpu, freezer }
    }

    /// The groups, for another process to watch.
    pub(super) fn groups(&self) -> Groups {
        let cpu = self.cpu.as_ref();
        let freezer = self.freezer.as_ref();
        let freezer = freezer.or(cpu.filter(|own| can_freeze(own)));
        Groups {
            cpu: cpu.map(|own| CpuGroup(own.group.clone())),
            freezer: freezer.map(|own| own.group.clone()),
        }
    }
}

/// A group of v2, else of v1's `cpuacct`.
fn create_counting(grouping: Grouping) -> Option<OwnGroup> {
    let hierarchies: &[Hierarchy] = match grouping {
        Grouping::Best => &[Hierarchy::V2, Hierarchy::Cpuacct],
        Grouping::V1 => &[Hierarchy::Cpuacct],
        Grouping::Off => &[],
    };
    let counts = |group: &Group| read_cpu(group).map(drop);
    hierarchies
        .iter()
        .find_map(|hierarchy| Group::create(*hierarchy, counts))
}

/// Whether a group that counts CPU time freezes, too: one of v2 does since Linux 5.2.
fn can_freeze(own: &OwnGroup) -> bool {
    own.group.hierarchy() == Hierarchy::V2 && own.group.file("cgroup.freeze").exists()
}
