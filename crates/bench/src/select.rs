//! From what was typed to stacks and workloads, which are in a folder or part of this program.

use std::{
    env,
    path::{Path, PathBuf},
};

use deadheat_model::figure::counted;
use deadheat_runner::{
    embedded::{Embedded, EmbeddedFile, Unpacked},
    manifest::{self, Catalogue, LoadError, ROOT_VARIABLE, Reach, Selection, Stack},
    secret::typed_without_userinfo,
    services::postgres::{Mirror, Places, Source},
    session::SelectedTarget,
};
use deadheat_shell::{exit::CommandFailure, invocation, output};

use crate::{
    meant,
    options::{RootArgs, SelectionArgs},
};

/// Where stacks and workloads are.
pub struct Root {
    /// The folder.
    pub folder: PathBuf,
    /// Whether it has those that are part of this program.
    pub(crate) is_embedded: bool,
}

/// The root folder: the one that was named, or the one of the environment, or the nearest one above this folder, or the
/// one with what is part of this program.
pub fn root(named: Option<&Path>) -> Result<Root, CommandFailure> {
    let current = invocation::current_folder()?;
    let variable = env::var_os(ROOT_VARIABLE);
    let found = manifest::find_root(named, variable.as_deref().map(Path::new), &current)
        .map_err(CommandFailure::usage)?;
    let is_embedded = found.is_none();
    Ok(Root {
        folder: found.map_or_else(embedded_root, Ok)?,
        is_embedded,
    })
}

/// Reads all manifests below the root folder, and stacks that are elsewhere; mistakes in them are drawn.
pub fn catalogue(place: &RootArgs) -> Result<Catalogue, CommandFailure> {
    let root = self::root(place.root.as_deref())?.folder;
    let catalogue = read(&root, &place.more_stacks)?;
    tracing::info!(
        "read {} stacks and {} workloads below {}",
        catalogue.stacks.len(),
        catalogue.workloads.len(),
        root.display()
    );
    for warning in &catalogue.warnings {
        output::warn(&format!("warning: {warning}"));
    }
    Ok(catalogue)
}

/// Reads all manifests, without showing warnings about them.
pub fn read(root: &Path, more: &[PathBuf]) -> Result<Catalogue, CommandFailure> {
    manifest::load(root, more).map_err(|error| match error {
        LoadError::Manifests(errors) => {
            CommandFailure::usage(errors.render(output::colour_of_notes()))
        }
        other => CommandFailure::usage(other),
    })
}

/// The workloads that were named, each by itself or by its pack.
pub(crate) fn workload_names(
    catalogue: &Catalogue,
    own: &SelectionArgs,
) -> Result<Vec<String>, CommandFailure> {
    let mut names = own.workload.clone();
    for pack in &own.pack {
        names.extend(manifest::pack(catalogue, pack).map_err(CommandFailure::usage)?);
    }
    Ok(names)
}

/// Picks stacks and workloads.
pub fn select(
    catalogue: &Catalogue,
    stacks: &[String],
    workloads: &[String],
    reach: Reach,
) -> Result<Selection, CommandFailure> {
    manifest::select(catalogue, stacks, workloads, reach).map_err(|error| {
        let instead = stacks
            .iter()
            .find_map(|typed| meant::instead_of_stack(typed));
        instead.map_or_else(|| CommandFailure::usage(error), CommandFailure::usage)
    })
}

/// Removes the targets that offer none of the selected loads.
///
/// # Errors
/// If none is left.
pub(crate) fn keep_answering(
    catalogue: &Catalogue,
    selection: &mut Selection,
) -> Result<(), CommandFailure> {
    let Selection { targets, workloads } = selection;
    targets.retain(|target| {
        let answers = |stack: &Stack| {
            workloads.iter().any(|one| {
                let mut points = one.points.iter();
                points.any(|point| {
                    let manifest = &stack.manifest;
                    manifest.answers_at(target, &one.manifest, point)
                })
            })
        };
        catalogue.stack(target).is_some_and(answers)
    });
    if !targets.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = workloads
        .iter()
        .map(|one| one.manifest.id.as_str())
        .collect();
    Err(CommandFailure::usage(format!(
        "no stack answers {}; choose another workload, or name stacks with --stack",
        names.join(", ")
    )))
}

/// The selected targets with the stacks that they belong to.
pub fn targets(catalogue: &Catalogue, selection: &Selection) -> Vec<SelectedTarget> {
    let targets = selection.targets.iter();
    targets
        .filter_map(|target| {
            let stack = catalogue.stack(target)?;
            Some(SelectedTarget {
                stack: stack.clone(),
                target: target.clone(),
            })
        })
        .collect()
}

/// Where PostgreSQL may come from, in this order.
pub fn postgres(text: &str) -> Result<Vec<Source>, CommandFailure> {
    Ok(match text {
        "auto" => Source::automatic(None),
        "installed" => vec![Source::Installed(Places::default())],
        "download" => vec![Source::Download(Mirror::default())],
        url if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            Source::automatic(Some(url.to_owned()))
        }
        other => {
            return Err(CommandFailure::usage(format!(
                "--postgres {}: it is auto, installed, download or a URL like postgres://user:password@host/db",
                typed_without_userinfo(other)
            )));
        }
    })
}

/// What the build script found.
static EMBEDDED: Embedded = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The folder with the stacks that are part of this program, unpacked if need be.
///
/// # Errors
/// When they cannot be unpacked.
fn embedded_root() -> Result<PathBuf, CommandFailure> {
    let unpacked = EMBEDDED.unpack().map_err(CommandFailure::no_result)?;
    for note in notes(&unpacked) {
        output::note(&note);
    }
    Ok(unpacked.folder)
}

/// What the user should know about the unpacked folder.
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
