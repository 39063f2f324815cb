//! Why a file that an option names cannot be read or written, and what to do.

use std::{
    io::{self, ErrorKind},
    path::Path,
};

use crate::exit::CommandFailure;

/// The failure of a command because the file of this option cannot be read.
pub fn unreadable(option: &str, path: &Path, error: &io::Error) -> CommandFailure {
    let why = why_unreadable(path, error);
    CommandFailure::usage(format!("{option} {}: {why}", path.display()))
}

/// The failure of a command because a result cannot be written to this file.
pub fn unwritable(path: &Path, error: &io::Error) -> CommandFailure {
    let why = why_unwritable(path, error);
    CommandFailure::no_result(format!("writing {}: {why}", path.display()))
}

/// Why a file cannot be read, and what to do. The caller says which file and which option.
pub fn why_unreadable(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            let what = missing_folder(path).unwrap_or_else(|| "it does not exist".to_owned());
            format!("{what}; name an existing file")
        }
        _ if error.raw_os_error().is_some() => format!("{error}; name a file that you may read"),
        // Errors of Deadheat itself say what to do.
        _ => error.to_string(),
    }
}

/// Why a file cannot be written, and what to do. The caller says which file and which option.
pub fn why_unwritable(path: &Path, error: &io::Error) -> String {
    let advice = "name a file in a folder that you may write to";
    let missing = missing_folder(path).filter(|_| error.kind() == ErrorKind::NotFound);
    match (missing, error.kind()) {
        (Some(missing), _) => format!("{missing}; create it, or {advice}"),
        (None, ErrorKind::StorageFull) => {
            format!("{}; free some space, or {advice}", cause(error))
        }
        (None, _) => format!("{}; {advice}", cause(error)),
    }
}

/// "the folder /nope does not exist", if that is so.
fn missing_folder(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""))?;
    (!folder.exists()).then(|| format!("the folder {} does not exist", folder.display()))
}

/// The error without a temporary file. The user has not named that file, but tempfile adds "at path …" to errors.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((cause, _)) => cause.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use deadheat_runner::files;

    use super::*;

    #[test]
    fn an_error_of_reading_names_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().display();
        let why = |name: &str| {
            let path = folder.path().join(name);
            why_unreadable(&path, &files::read_typed(&path, 9).unwrap_err())
        };
        assert_eq!(why("a.pem"), "it does not exist; name an existing file");
        assert_eq!(
            why("no/a.pem"),
            format!("the folder {inside}/no does not exist; name an existing file")
        );
        std::fs::write(folder.path().join("file"), "longer than that").unwrap();
        assert!(why("file/a.pem").ends_with("; name a file that you may read"));
        // What Deadheat itself says has its advice already.
        assert!(why("").ends_with("it is a folder; name a file"));
        assert!(why("file").ends_with("which is the most that is read"));
    }

    #[test]
    fn an_error_of_writing_names_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().display();
        let why = |name: &str| {
            let path = folder.path().join(name);
            why_unwritable(&path, &files::Destination::open(&path).unwrap_err())
        };
        let advice = "name a file in a folder that you may write to";
        let missing = format!("the folder {inside}/no does not exist; create it, or {advice}");
        assert_eq!(why("no/a.json"), missing);
        // As tempfile writes it.
        let path = folder.path().join("a.json");
        let error = io::Error::new(
            ErrorKind::PermissionDenied,
            "Permission denied (os error 13) at path \"/x/.deadheat-Ab12\"",
        );
        assert_eq!(
            why_unwritable(&path, &error),
            format!("Permission denied (os error 13); {advice}")
        );
        let full = io::Error::from(ErrorKind::StorageFull);
        assert!(why_unwritable(&path, &full).contains("; free some space, or "));
    }
}
