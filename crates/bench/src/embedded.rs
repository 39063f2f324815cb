//! The project's own stacks, workloads and published tables, as they are part of this program.

use std::path::{Path, PathBuf};

use deadheat_model::figure::counted;
use deadheat_runner::embedded::{Embedded, EmbeddedFile, Unpacked};
use deadheat_shell::{exit::Failure, output};

/// What the build script found.
static EMBEDDED: Embedded = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The root folder that has them.
///
/// # Errors
/// When they cannot be unpacked.
pub(crate) fn root() -> Result<PathBuf, Failure> {
    let unpacked = EMBEDDED.unpack().map_err(Failure::nothing)?;
    for note in notes(&unpacked) {
        output::note(&note);
    }
    Ok(unpacked.folder)
}

/// What the user should know of it.
fn notes(unpacked: &Unpacked) -> Vec<String> {
    let mut notes = Vec::new();
    if unpacked.is_new {
        let folder = unpacked.folder.display();
        notes.push(format!("stacks unpacked into {folder}"));
        let others: Vec<String> = unpacked.others.iter().map(|one| shown(one)).collect();
        if !others.is_empty() {
            let others = others.join(", ");
            notes.push(format!(
                "no longer used by this version, so you may delete: {others}"
            ));
        }
    }
    if let Some(first) = unpacked.restored.first() {
        notes.push(format!(
            "warning: {} of the stacks unpacked into {} had changed ({first}); written again, with the changed ones in \
             {}. To change a stack: deadheat stacks eject NAME",
            counted(unpacked.restored.len(), "file"),
            unpacked.folder.display(),
            unpacked.changed.display()
        ));
    }
    notes
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, process::Command};

    use super::*;

    #[test]
    fn exactly_what_git_tracks_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folders = [
            "ls-files",
            "-z",
            ".gitignore",
            "published",
            "stacks",
            "workloads",
        ];
        let listed = Command::new("git")
            .current_dir(&root)
            .args(folders)
            .output();
        let listed = listed.expect("running git").stdout;
        let listed = String::from_utf8(listed).expect("names in UTF-8");
        let names = listed.split_terminator('\0');
        let tracked: BTreeSet<&str> = names.filter(|name| root.join(name).exists()).collect();
        if tracked.is_empty() {
            deadheat_testkit::not_tested("what is embedded", "this is no checkout");
            return;
        }
        let embedded: BTreeSet<&str> = EMBEDDED.files.iter().map(|file| file.path).collect();
        assert_eq!(
            embedded, tracked,
            "if a file is new: touch crates/bench/build.rs and build again"
        );
        assert!(EMBEDDED.files.iter().any(|file| file.executable));
    }

    #[test]
    fn users_learn_where_stacks_are_and_what_became_of_changes() {
        let place = |name: &str| Path::new("/data").join(name);
        let mut unpacked = Unpacked {
            folder: place("new"),
            is_new: true,
            restored: Vec::new(),
            changed: place("new.changed"),
            others: vec![place("old")],
        };
        let said = notes(&unpacked).join("\n");
        assert!(
            said.contains("into /data/new\n") && said.ends_with("delete: /data/old"),
            "{said}"
        );
        unpacked.is_new = false;
        assert_eq!(notes(&unpacked), [""; 0]);
        unpacked.restored = vec!["stacks/go/main.go"];
        let said = notes(&unpacked).join("\n");
        assert!(
            said.contains("1 file of the stacks") && said.contains("/data/new.changed"),
            "{said}"
        );
    }
}
