//! A control group of its own for a process tree: it counts the CPU time of every process that was ever in it.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use deadheat_model::trial::CpuSource;
use serde::{Deserialize, Serialize};

/// A control group of one process tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuGroup {
    path: PathBuf,
    source: CpuSource,
}

impl CpuGroup {
    /// Makes a group called `name` below this process's own, in the unified hierarchy (v2), else under `cpuacct` (v1).
    /// `None` when neither is mounted and writable, as for an ordinary user outside a delegated group.
    pub(super) fn create(name: &str) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        [CpuSource::CgroupV2, CpuSource::CgroupV1]
            .into_iter()
            .filter_map(|source| {
                let path = own_group(source, &own, &mounts)?.join(name);
                Some(Self { path, source })
            })
            .find(|group| group.make().is_ok())
    }

    /// How the CPU time of process trees is counted here: makes a group for a moment, as each trial does. Nothing else
    /// tells whether that works.
    pub(crate) fn probe() -> CpuSource {
        let group = Self::create(&format!("deadheat-doctor-{}", std::process::id()));
        group.map_or(CpuSource::Proc, |group| {
            group.remove();
            group.source
        })
    }

    fn make(&self) -> io::Result<()> {
        fs::create_dir(&self.path)?;
        let usable = self.join_file().and_then(|_| self.read_cpu());
        if usable.is_err() {
            self.remove();
        }
        usable.map(|_| ())
    }

    /// The file that moves into the group whoever writes `0` to it; open it before the fork.
    pub(super) fn join_file(&self) -> io::Result<File> {
        OpenOptions::new()
            .write(true)
            .open(self.path.join("cgroup.procs"))
    }

    /// The processes in the group now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn processes(&self) -> io::Result<Vec<u32>> {
        let text = fs::read_to_string(self.path.join("cgroup.procs"))?;
        Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
    }

    /// How this group counts.
    pub fn source(&self) -> CpuSource {
        self.source
    }

    /// CPU time, user and system, of everything that was ever in the group.
    pub fn read_cpu(&self) -> io::Result<Duration> {
        let invalid = || {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "no CPU time in the control group",
            )
        };
        match self.source {
            CpuSource::CgroupV2 => {
                let text = fs::read_to_string(self.path.join("cpu.stat"))?;
                let value = text
                    .lines()
                    .find_map(|line| line.strip_prefix("usage_usec "));
                let micros = value
                    .and_then(|value| value.trim().parse().ok())
                    .ok_or_else(invalid)?;
                Ok(Duration::from_micros(micros))
            }
            CpuSource::CgroupV1 => {
                let text = fs::read_to_string(self.path.join("cpuacct.usage"))?;
                Ok(Duration::from_nanos(
                    text.trim().parse().map_err(|_| invalid())?,
                ))
            }
            CpuSource::Proc => Err(invalid()),
        }
    }

    /// Removes the group, which works once nobody is in it.
    pub(super) fn remove(&self) {
        // A group that stays behind is empty and costs nothing; there is nobody left to tell.
        let _ = fs::remove_dir(&self.path);
    }
}

/// The folder of this process's own group in the hierarchy that `source` needs.
fn own_group(source: CpuSource, own: &str, mounts: &str) -> Option<PathBuf> {
    let controller = match source {
        CpuSource::CgroupV2 => None,
        CpuSource::CgroupV1 => Some("cpuacct"),
        CpuSource::Proc => return None,
    };
    let (mount, path) = own_group_of(controller, own, mounts)?;
    Some(mount.join(path))
}

/// Where the hierarchy of a v1 `controller` is mounted (`None`: that of v2), and the own group's path below it, from
/// `/proc/self/cgroup` and `/proc/self/mounts` (cgroups(7)).
pub(crate) fn own_group_of(
    controller: Option<&str>,
    own: &str,
    mounts: &str,
) -> Option<(PathBuf, PathBuf)> {
    let mount = mounts.lines().find_map(|line| {
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
    })?;
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

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
        cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n\
        cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    #[test]
    fn finds_the_own_group_in_both_hierarchies() {
        let own = "4:cpu,cpuacct:/user\n0::/user.slice/session\n";
        let v1 = own_group(CpuSource::CgroupV1, own, MOUNTS).unwrap();
        assert_eq!(v1, Path::new("/sys/fs/cgroup/cpu,cpuacct/user"));
        let v2 = own_group(CpuSource::CgroupV2, own, MOUNTS).unwrap();
        assert_eq!(v2, Path::new("/sys/fs/cgroup/unified/user.slice/session"));
    }

    #[test]
    fn no_hierarchy_is_no_group() {
        assert_eq!(
            own_group(CpuSource::CgroupV2, "0::/\n", "proc /proc proc rw 0 0\n"),
            None
        );
    }
}
