//! Control groups as folders: where they are made, who is in them, how they are ended, and who looks after them.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::{procfs::is_alive, sys};

/// How the names of all groups begin.
const PREFIX: &str = "deadheat-tree-";
/// Between two looks at whether the killed are gone.
const KILL_PAUSE: Duration = Duration::from_millis(5);

/// A hierarchy of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Hierarchy {
    /// The unified one, whose groups count CPU time and freeze without a controller.
    V2,
    /// That of v1's `cpuacct`.
    Cpuacct,
    /// That of v1's `freezer`.
    Freezer,
}

impl Hierarchy {
    /// All of them. What is frozen must be thawed before it can be killed, so `cpuacct`, which cannot thaw, is last.
    const ALL: [Self; 3] = [Self::V2, Self::Freezer, Self::Cpuacct];

    /// The name of the v1 controller; `None` for the unified hierarchy.
    fn controller(self) -> Option<&'static str> {
        match self {
            Self::V2 => None,
            Self::Cpuacct => Some("cpuacct"),
            Self::Freezer => Some("freezer"),
        }
    }

    /// The folder of this process's own group.
    fn own_group(self, own: &str, mounts: &str) -> Option<PathBuf> {
        let (mount, path) = own_group_of(self.controller(), own, mounts)?;
        Some(mount.join(path))
    }
}

/// The control group of one process tree in one hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Group {
    path: PathBuf,
    hierarchy: Hierarchy,
}

impl Group {
    /// Makes a group below this process's own. `None` when the hierarchy is not mounted or not writable, as for an
    /// ordinary user outside a delegated group, or when `check` finds that the group is of no use.
    pub(super) fn create(
        hierarchy: Hierarchy,
        check: impl Fn(&Self) -> io::Result<()>,
    ) -> Option<OwnGroup> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let parent = hierarchy.own_group(&own, &mounts)?;
        Self::create_in(&parent, hierarchy, check).ok()
    }

    /// A folder that is said to be a group.
    #[cfg(test)]
    pub(super) fn at(path: &Path, hierarchy: Hierarchy) -> Self {
        let path = path.to_owned();
        Self { path, hierarchy }
    }

    fn create_in(
        parent: &Path,
        hierarchy: Hierarchy,
        check: impl Fn(&Self) -> io::Result<()>,
    ) -> io::Result<OwnGroup> {
        loop {
            // A random name, so that it is never that of a group that somebody left behind.
            let random = rand::random::<u64>();
            let path = parent.join(format!("{PREFIX}{}-{random:016x}", std::process::id()));
            let group = Self { path, hierarchy };
            fs::create_dir(&group.path)?;
            let locked = File::open(&group.path).and_then(|lock| lock.lock().map(|()| lock));
            // Until it was locked, another process could take it for an abandoned one, and remove it.
            if !group.path.exists() {
                continue;
            }
            let usable = group.join_file().and_then(|_| check(&group));
            return match locked.and_then(|lock| usable.map(|()| lock)) {
                Ok(lock) => Ok(OwnGroup { group, _lock: lock }),
                Err(error) => {
                    group.remove();
                    Err(error)
                }
            };
        }
    }

    /// The hierarchy that it is in.
    pub(super) fn hierarchy(&self) -> Hierarchy {
        self.hierarchy
    }

    /// Whether this and another new group are in different hierarchies, also as they are mounted.
    pub(super) fn is_apart(&self, other: &Self) -> bool {
        self.path.parent() != other.path.parent()
    }

    /// One of its files.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A process that writes `0` to this file moves into the group. Open it before the fork.
    pub(super) fn join_file(&self) -> io::Result<File> {
        OpenOptions::new()
            .write(true)
            .open(self.file("cgroup.procs"))
    }

    /// The processes in the group now.
    pub(super) fn processes(&self) -> io::Result<Vec<u32>> {
        let text = fs::read_to_string(self.file("cgroup.procs"))?;
        let pids = text.lines().filter_map(|line| line.parse().ok());
        // Processes of another PID namespace are shown as 0, which would be this process's own group to kill(2).
        Ok(pids.filter(|pid| *pid != 0).collect())
    }

    /// Thaws the group if it can be frozen. One that is gone, or is not frozen, needs nothing.
    pub(super) fn thaw(&self) {
        let _ = match self.hierarchy {
            Hierarchy::V2 => fs::write(self.file("cgroup.freeze"), "0"),
            Hierarchy::Freezer => fs::write(self.file("freezer.state"), "THAWED"),
            Hierarchy::Cpuacct => Ok(()),
        };
    }

    /// Kills everything in the group, frozen or not, until nothing is left or `patience` is over, and removes it. What
    /// is left.
    pub(super) fn end(&self, patience: Duration) -> Vec<u32> {
        let until = Instant::now() + patience;
        loop {
            // In v2 since Linux 5.14. It also takes what is forked at this moment.
            let at_once = fs::write(self.file("cgroup.kill"), "1").is_ok();
            let mut living = self.processes().unwrap_or_default();
            living.retain(|pid| is_alive(*pid));
            // One that has just ended keeps its group for a moment more.
            let is_over = living.is_empty() && self.remove();
            if is_over || Instant::now() > until {
                return living;
            }
            if !at_once {
                for pid in &living {
                    // A process that cannot be killed is among those that are left.
                    let _ = sys::kill(*pid, libc::SIGKILL);
                }
            }
            // After the signal, so that what was frozen does nothing more. The freezer of v1 lets nothing end before,
            // and somebody who has not heard of the end may freeze again.
            self.thaw();
            std::thread::sleep(KILL_PAUSE);
        }
    }

    /// Removes the group and those that its processes made below it, which works once nobody is in them. Whether it is
    /// gone.
    pub(super) fn remove(&self) -> bool {
        let folders = fs::read_dir(&self.path).into_iter().flatten().flatten();
        for folder in folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let path = folder.path();
            let hierarchy = self.hierarchy;
            Self { path, hierarchy }.remove();
        }
        let removed = fs::remove_dir(&self.path);
        removed.is_ok() || !self.path.exists()
    }
}

/// A group of this process's making. As long as this value lives, the group counts as looked after.
pub(super) struct OwnGroup {
    /// The group.
    pub(super) group: Group,
    /// A lock (flock(2)) on its folder, which ends with this process, however that ends.
    _lock: File,
}

/// Ends what is in groups that nobody looks after, because their supervisors and the Deadheat that started these were
/// killed.
pub(super) fn end_abandoned(patience: Duration) {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    for hierarchy in Hierarchy::ALL {
        if let Some(mount) = mount_of(hierarchy.controller(), &mounts) {
            end_abandoned_below(&mount, hierarchy, patience);
        }
    }
}

fn end_abandoned_below(folder: &Path, hierarchy: Hierarchy, patience: Duration) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let path = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            end_abandoned_below(&path, hierarchy, patience);
            continue;
        }
        let Ok(lock) = File::open(&path) else {
            continue;
        };
        if lock.try_lock().is_ok() {
            let left = Group { path, hierarchy }.end(patience);
            if !left.is_empty() {
                let left = describe_all(&left);
                tracing::warn!(
                    "an earlier deadheat left these behind, and they cannot be killed: {left}"
                );
            }
        }
    }
}

/// Processes by number and name, for messages: "4711 (nginx), 4712".
pub(super) fn describe_all(pids: &[u32]) -> String {
    let describe = |pid: &u32| match fs::read_to_string(format!("/proc/{pid}/comm")) {
        Ok(name) => format!("{pid} ({})", name.trim_end()),
        Err(_) => pid.to_string(),
    };
    pids.iter().map(describe).collect::<Vec<_>>().join(", ")
}

/// Where the hierarchy of a v1 `controller` is mounted (`None`: that of v2), from `/proc/self/mounts`.
fn mount_of(controller: Option<&str>, mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, point, kind, options) = (
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
        );
        let fits = match controller {
            None => kind == "cgroup2",
            Some(name) => kind == "cgroup" && options.split(',').any(|option| option == name),
        };
        fits.then(|| PathBuf::from(point))
    })
}

/// The own group in the hierarchy of a v1 `controller` (`None`: that of v2) and those above it, as paths relative to
/// `root`, which `/proc` and `/sys` are below.
pub(crate) fn own_groups_below(root: &Path, controller: Option<&str>) -> Vec<PathBuf> {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (own, mounts) = (read("proc/self/cgroup"), read("proc/self/mounts"));
    let Some((mount, path)) = own_group_of(controller, &own, &mounts) else {
        return Vec::new();
    };
    let mount = mount.strip_prefix("/").unwrap_or(&mount).to_owned();
    // In a container the path may be the host's, and is not there; the mount itself is then the own group.
    path.ancestors().map(|path| mount.join(path)).collect()
}

/// Where the hierarchy of a v1 `controller` is mounted (`None`: that of v2), and the own group's path below it, from
/// `/proc/self/cgroup` and `/proc/self/mounts` (cgroups(7)).
fn own_group_of(controller: Option<&str>, own: &str, mounts: &str) -> Option<(PathBuf, PathBuf)> {
    let mount = mount_of(controller, mounts)?;
    // Lines are `id:controllers:path`; v2 has id 0 and no controllers.
    let path = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let fits = match controller {
            None => id == "0",
            Some(wanted) => controllers.split(',').any(|name| name == wanted),
        };
        fits.then_some(path)
    })?;
    Some((mount, Path::new(path).strip_prefix("/").ok()?.to_owned()))
}

/// SIGKILL works at once except in uninterruptible sleep.
pub(super) const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// How long a folder stays because processes work in it.
const WORK_PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// Deletes a folder. Other trees may still write into it: when Deadheat was killed, they all end at the same time. Those
/// that have their working folder in it end first, because without their files they could not end in order.
pub(super) fn delete(folder: &Path) -> io::Result<()> {
    let until = Instant::now() + WORK_PATIENCE;
    while is_worked_in(folder) && Instant::now() < until {
        std::thread::sleep(PAUSE);
    }
    let until = Instant::now() + KILL_PATIENCE;
    loop {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) if Instant::now() < until => std::thread::sleep(PAUSE),
            ended => return ended,
        }
    }
}

/// Whether a process has its working folder in `folder`.
fn is_worked_in(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else {
        return false;
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut places = processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
    places.any(|place| place.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use deadheat_testkit::not_tested;

    use super::*;

    const MOUNTS: &str = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
        cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n\
        cgroup /sys/fs/cgroup/freezer cgroup rw,relatime,freezer 0 0\n\
        cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    #[test]
    fn finds_the_own_group_in_every_hierarchy() {
        let own = "5:freezer:/\n4:cpu,cpuacct:/user\n0::/user.slice/session\n";
        let expected = [
            (Hierarchy::Cpuacct, "/sys/fs/cgroup/cpu,cpuacct/user"),
            (Hierarchy::Freezer, "/sys/fs/cgroup/freezer"),
            (Hierarchy::V2, "/sys/fs/cgroup/unified/user.slice/session"),
        ];
        for (hierarchy, path) in expected {
            let found = hierarchy.own_group(own, MOUNTS);
            assert_eq!(found.as_deref(), Some(Path::new(path)));
        }
    }

    #[test]
    fn no_hierarchy_is_no_group() {
        assert_eq!(
            Hierarchy::V2.own_group("0::/\n", "proc /proc proc rw 0 0\n"),
            None
        );
    }

    /// A process that forks again and again, in a group of its own.
    struct Forker {
        owner: Option<OwnGroup>,
        group: Group,
        forker: std::process::Child,
    }

    impl Drop for Forker {
        fn drop(&mut self) {
            self.group.end(Duration::from_secs(30));
            let _ = self.forker.wait();
        }
    }

    /// One for each kind of group that can be made here.
    fn forkers() -> Vec<Forker> {
        let made = Hierarchy::ALL.into_iter().filter_map(|hierarchy| {
            let own = Group::create(hierarchy, |_| Ok(()))?;
            let forker = std::process::Command::new("sh")
                .args([
                    "-c",
                    "echo 0 > \"$0/cgroup.procs\"; for i in $(seq 1000); do setsid sleep 30 & sleep 0.01; done",
                ])
                .arg(&own.group.path)
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            while own.group.processes().unwrap().len() < 3 {
                std::thread::yield_now();
            }
            let group = own.group.clone();
            let owner = Some(own);
            Some(Forker {
                owner,
                group,
                forker,
            })
        });
        let made: Vec<_> = made.collect();
        if made.len() < Hierarchy::ALL.len() {
            let missing = Hierarchy::ALL.len() - made.len();
            not_tested(
                "control groups",
                &format!("{missing} kinds of them cannot be made"),
            );
        }
        made
    }

    /// Freezes a group, if its hierarchy can.
    fn freeze(group: &Group) {
        let (file, word) = match group.hierarchy {
            Hierarchy::V2 => ("cgroup.freeze", "1"),
            Hierarchy::Freezer => ("freezer.state", "FROZEN"),
            Hierarchy::Cpuacct => return,
        };
        fs::write(group.file(file), word).unwrap();
    }

    #[test]
    fn nothing_in_a_group_survives_its_end_in_any_hierarchy_frozen_or_not() {
        for is_frozen in [false, true] {
            for forker in forkers() {
                if is_frozen {
                    freeze(&forker.group);
                }
                let left = forker.group.end(Duration::from_secs(30));
                assert!(left.is_empty() && !forker.group.path.exists(), "{left:?}");
            }
        }
    }

    #[test]
    fn abandoned_groups_are_ended_also_when_they_are_frozen_and_others_are_not() {
        for mut forker in forkers() {
            freeze(&forker.group);
            end_abandoned(Duration::from_secs(30));
            assert!(forker.forker.try_wait().unwrap().is_none());
            forker.owner = None;
            // A process that another test starts has the lock, too, until it runs its own program.
            while forker.group.path.exists() {
                end_abandoned(Duration::from_secs(30));
            }
            assert!(forker.group.processes().is_err());
        }
    }
}
