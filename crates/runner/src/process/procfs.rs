//! Small files of `/proc`, read as cheaply as can be, because there are many of them.

use std::{
    fs::File,
    io::{self, Read},
};

/// Longer than what is read with it, which the kernel then gives in one piece.
const LONGEST: usize = 4096;

/// The text of a file of a process; `None` when the process is gone or may not be looked at. `fs::read_to_string` would
/// ask for the size first, which is 0 there, and read once more for the end.
pub(crate) fn read(path: &str) -> Option<String> {
    try_read(path).ok()
}

/// The same, with the reason if there is no text: `ENOENT` or `ESRCH` mean that the process is gone.
pub(crate) fn try_read(path: &str) -> io::Result<String> {
    let mut bytes = [0; LONGEST];
    let length = File::open(path)?.read(&mut bytes)?;
    // The name of a process may be cut within a character.
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_files_of_a_process_and_none_of_a_process_that_is_gone() {
        let read_and_file = |name: &str| {
            let path = format!("/proc/self/{name}");
            (read(&path).unwrap(), std::fs::read_to_string(path).unwrap())
        };
        let (text, file) = read_and_file("cmdline");
        assert_eq!(text, file);
        let (text, file) = read_and_file("status");
        assert_eq!(text.lines().count(), file.lines().count());
        assert!(read("/proc/self/smaps_rollup").unwrap().ends_with("kB\n"));
        assert_eq!(read("/proc/0/stat"), None);
    }
}
