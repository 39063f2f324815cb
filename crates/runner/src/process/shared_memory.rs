//! Shared memory that processes leave behind when they are killed (shm_overview(7)).

use std::{collections::BTreeSet, fs, path::PathBuf};

/// Where Linux has it.
const FOLDER: &str = "/dev/shm/";

/// The files of shared memory that these processes have mapped.
pub(super) fn mapped_by(pids: impl Iterator<Item = u32>) -> BTreeSet<PathBuf> {
    pids.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")).ok())
        .flat_map(|maps| files_in(&maps))
        .collect()
}

/// The files in the text of `/proc/PID/maps` (proc_pid_maps(5)). Those that are deleted already have a note at their end.
fn files_in(maps: &str) -> Vec<PathBuf> {
    let files = maps
        .lines()
        .filter_map(|line| Some(&line[line.find(FOLDER)?..]));
    files
        .filter(|file| !file.ends_with(" (deleted)"))
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_told_from_other_files_and_from_what_is_deleted() {
        let maps = "7f0-7f1 r--p 00000000 08:01 1 /usr/lib/x.so\n\
                    7f1-7f2 rw-s 00000000 00:19 3 /dev/shm/PostgreSQL.1\n\
                    7f2-7f3 rw-s 00000000 00:19 4 /dev/shm/PostgreSQL.2 (deleted)\n\
                    7f3-7f4 rw-p 00000000 00:00 0 \n";
        assert_eq!(files_in(maps), [PathBuf::from("/dev/shm/PostgreSQL.1")]);
    }
}
