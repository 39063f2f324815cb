//! Memory of a process tree as PSS: each page shared by n processes counts 1/n in each of them, so that the sum over
//! the tree counts it once (RSS would count it once per worker).

use std::io;

use rustix::io::Errno;

use crate::process::procfs;

/// The proportional set size of all `processes`, in bytes; `None` when none of them is there (any more), or when one of
/// them keeps its size to itself: the sum of the others would be too small.
pub(super) fn pss_bytes(processes: &[u32]) -> Option<u64> {
    total(processes.iter().map(|pid| read_pss(*pid)))
}

fn total(sizes: impl Iterator<Item = io::Result<u64>>) -> Option<u64> {
    let gone = [Errno::NOENT, Errno::SRCH].map(|errno| Some(errno.raw_os_error()));
    let is_there = |size: &io::Result<u64>| !matches!(size, Err(error) if gone.contains(&error.raw_os_error()));
    let mut sizes = sizes.filter(is_there).map(Result::ok);
    let first = sizes.next()??;
    sizes.try_fold(first, |sum, size| Some(sum + size?))
}

fn read_pss(pid: u32) -> io::Result<u64> {
    let text = procfs::try_read(&format!("/proc/{pid}/smaps_rollup"))?;
    parse_pss(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The `Pss:` line of `smaps_rollup`, in bytes (proc_pid_smaps(5)).
fn parse_pss(text: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_pss_and_not_its_parts() {
        let text = "55d0-7ffe ---p 00000000 00:00 0 [rollup]\nRss:  2000 kB\nPss:  1234 kB\nPss_Anon:  7 kB\n";
        assert_eq!(parse_pss(text), Some(1234 * 1024));
        assert_eq!(parse_pss("Rss: 1 kB\n"), None);
    }

    #[test]
    fn a_process_that_may_not_be_looked_at_makes_the_sum_unknown_and_one_that_is_gone_does_not() {
        let refused = || Err(Errno::ACCESS.into());
        let gone = || Err(Errno::SRCH.into());
        assert_eq!(total([Ok(3), gone(), Ok(4)].into_iter()), Some(7));
        assert_eq!(total([Ok(3), refused()].into_iter()), None);
        assert_eq!(total([refused(), Ok(3)].into_iter()), None);
        assert_eq!(total([gone()].into_iter()), None);
    }

    #[test]
    fn a_child_has_memory() {
        let mut child = std::process::Command::new("sleep")
            .arg("30")
            .spawn()
            .unwrap();
        let one = pss_bytes(&[child.id()]);
        let two = pss_bytes(&[child.id(), child.id()]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(two > one && one > Some(0), "{two:?} {one:?}");
        assert_eq!(pss_bytes(&[child.id()]), None, "it is gone");
    }
}
