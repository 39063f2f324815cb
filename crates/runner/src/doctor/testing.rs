//! Machine states for tests: a good one, in which single files are changed, and one without any information.

use std::{collections::BTreeMap, fs, time::Duration};

use deadheat_model::{
    machine::{CpuSource, Disturbance},
    plan::Pinning,
    warning::Level,
};
use tempfile::TempDir;

use super::{CHECKS, CheckResult, MachineState, OwnFacts, Root, Watched};
use crate::session::describe_machine_below;

/// Files of `/proc` and `/sys` to plant, and the CPUs.
#[derive(Clone, Debug)]
pub(super) struct Planted {
    files: BTreeMap<String, String>,
    cpus: Vec<usize>,
    pinning: Pinning,
}

/// A planted state. Its folder is deleted on drop.
pub(super) struct PlantedState {
    state: MachineState,
    _folder: TempDir,
}

impl std::ops::Deref for PlantedState {
    type Target = MachineState;
    fn deref(&self) -> &MachineState {
        &self.state
    }
}

impl std::ops::DerefMut for PlantedState {
    fn deref_mut(&mut self) -> &mut MachineState {
        &mut self.state
    }
}

impl Planted {
    /// Nothing is there.
    pub(super) fn empty() -> Self {
        let cpus = vec![0, 1, 2, 3];
        Self {
            files: BTreeMap::new(),
            pinning: Pinning::Apart {
                server: vec![0, 1],
                generator: vec![2, 3],
            },
            cpus,
        }
    }

    /// Four cores that nothing can be said against.
    pub(super) fn good() -> Self {
        let mut files = Self::empty();
        for (path, text) in GOOD {
            files = files.with(path, text);
        }
        for cpu in 0..4 {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}");
            let in_folder = [
                ("cpufreq/scaling_governor", "performance".to_owned()),
                ("cpufreq/scaling_max_freq", "3600000".to_owned()),
                ("cpufreq/cpuinfo_max_freq", "3600000".to_owned()),
                ("topology/thread_siblings_list", cpu.to_string()),
                ("thermal_throttle/core_throttle_count", "0".to_owned()),
            ];
            for (path, text) in in_folder {
                files = files.with(&format!("{folder}/{path}"), &text);
            }
        }
        files
    }

    pub(super) fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    pub(super) fn without(mut self, beginning: &str) -> Self {
        let before = self.files.len();
        self.files.retain(|path, _| !path.starts_with(beginning));
        assert!(self.files.len() < before, "there was no {beginning}");
        self
    }

    pub(super) fn on(mut self, cpus: &[usize], pinning: Pinning) -> Self {
        self.cpus = cpus.to_vec();
        self.pinning = pinning;
        self
    }

    pub(super) fn apart(self, server: &[usize], generator: &[usize]) -> Self {
        let cpus = [server, generator].concat();
        let pinning = Pinning::Apart {
            server: server.to_vec(),
            generator: generator.to_vec(),
        };
        self.on(&cpus, pinning)
    }

    pub(super) fn state(&self) -> PlantedState {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in &self.files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let state = MachineState {
            root: Root::at(folder.path()),
            machine: describe_machine_below(folder.path(), self.cpus.clone()),
            pinning: self.pinning.clone(),
            own: OwnFacts {
                is_root: false,
                debug_build: false,
                cpu_source: CpuSource::CgroupV2,
                clock_cost: Duration::from_nanos(25),
                clock_step: Some(Duration::from_nanos(20)),
                loopback: Some(Duration::from_micros(5)),
                free_bytes: Some(100 << 30),
            },
            watched: Watched {
                span: Duration::from_secs(2),
                disturbance: Disturbance {
                    other_cpu: 0.002,
                    steal: 0.0,
                },
                busiest: Vec::new(),
                swapped_pages: 0,
                throttled: Some(0),
                others: vec![(1, "systemd".to_owned())],
            },
            connections: 400,
        };
        PlantedState {
            state,
            _folder: folder,
        }
    }
}

/// What a check finds, with its level.
pub(super) fn found(state: &MachineState, id: &str) -> (Option<Level>, CheckResult) {
    let check = CHECKS.iter().find(|(one, ..)| *one == id);
    let (.., look) = check.unwrap_or_else(|| panic!("no check {id}"));
    let found = look(state);
    assert_eq!(found.level.is_none(), found.why.is_empty(), "{found:?}");
    (found.level, found)
}

/// Plants one file in a good state and runs one check.
pub(super) fn planted(id: &str, path: &str, text: &str) -> (Option<Level>, CheckResult) {
    found(&Planted::good().with(path, text).state(), id)
}

const GOOD: &[(&str, &str)] = &[
    (
        "proc/cpuinfo",
        "model name\t: Good CPU\nflags\t\t: fpu tsc\n",
    ),
    (
        "proc/meminfo",
        "MemTotal: 16777216 kB\nMemAvailable: 12582912 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    ),
    ("proc/stat", "cpu  10 0 10 980 0 0 0 0 0 0\n"),
    ("proc/sys/kernel/osrelease", "6.12.1-amd64\n"),
    ("proc/sys/kernel/randomize_va_space", "2\n"),
    ("proc/sys/kernel/perf_event_paranoid", "3\n"),
    ("proc/sys/kernel/random/entropy_avail", "256\n"),
    ("proc/sys/net/ipv4/tcp_congestion_control", "cubic\n"),
    (
        "proc/sys/net/ipv4/tcp_available_congestion_control",
        "reno cubic bbr\n",
    ),
    ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
    ("proc/sys/net/ipv4/tcp_tw_reuse", "2\n"),
    ("proc/sys/net/ipv4/tcp_timestamps", "1\n"),
    ("proc/sys/net/ipv4/tcp_max_syn_backlog", "2048\n"),
    ("proc/sys/net/core/somaxconn", "4096\n"),
    (
        "proc/net/sockstat",
        "sockets: used 9\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 0\n",
    ),
    ("proc/sys/vm/swappiness", "60\n"),
    (
        "proc/pressure/cpu",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
    ),
    ("proc/self/smaps_rollup", "Pss: 1 kB\n"),
    ("proc/self/personality", "00000000\n"),
    (
        "proc/self/stat",
        "9 (deadheat) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0\n",
    ),
    (
        "proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n\
         Max cpu time              unlimited            unlimited            seconds   \n\
         Max processes             95000                95000                processes \n\
         Max open files            1024                 524288               files     \n\
         Max address space         unlimited            unlimited            bytes     \n",
    ),
    ("proc/self/cgroup", "0::/user.slice/session\n"),
    (
        "proc/self/mounts",
        "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
    ),
    ("sys/fs/cgroup/user.slice/session/cpu.max", "max 100000\n"),
    ("sys/fs/cgroup/user.slice/session/memory.max", "max\n"),
    ("sys/fs/cgroup/user.slice/session/pids.max", "max\n"),
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/isolated", "\n"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    (
        "sys/devices/system/cpu/vulnerabilities/meltdown",
        "Not affected\n",
    ),
    ("sys/devices/system/node/online", "0\n"),
    ("sys/devices/system/node/node0/cpulist", "0-3\n"),
    (
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "tsc\n",
    ),
    (
        "sys/devices/system/clocksource/clocksource0/available_clocksource",
        "tsc hpet acpi_pm\n",
    ),
    (
        "sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never\n",
    ),
    ("sys/class/net/lo/mtu", "65536\n"),
    ("sys/class/net/lo/flags", "0x9\n"),
    ("sys/class/power_supply/AC/type", "Mains\n"),
    ("sys/class/power_supply/AC/online", "1\n"),
];
