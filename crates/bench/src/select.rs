//! From what was typed to stacks and workloads.

use std::{
    env,
    path::{Path, PathBuf},
};

use deadheat_runner::{
    manifest::{self, Catalogue, LoadError, ROOT_VARIABLE, Reach, Selection},
    secret::typed_without_userinfo,
    services::postgres::{Mirror, Places, Source},
    session::SelectedTarget,
};
use deadheat_shell::{exit::Failure, output};

use crate::{embedded, meant, root_args::RootArgs};

/// Where stacks and workloads are.
pub struct Root {
    /// The folder.
    pub folder: PathBuf,
    /// Whether it has those that are part of this program.
    pub(crate) is_embedded: bool,
}

/// The root folder: the one that was named, or the one of the environment, or the nearest one above this folder, or the
/// one with what is part of this program.
pub fn root(named: Option<&Path>) -> Result<Root, Failure> {
    let current = env::current_dir().map_err(|error| {
        Failure::usage(format!(
            "finding the current folder: {error}; change to one that exists"
        ))
    })?;
    let variable = env::var_os(ROOT_VARIABLE);
    let found = manifest::find_root(named, variable.as_deref().map(Path::new), &current)
        .map_err(Failure::usage)?;
    let is_embedded = found.is_none();
    Ok(Root {
        folder: found.map_or_else(embedded::root, Ok)?,
        is_embedded,
    })
}

/// Reads all manifests below the root folder, and stacks that are elsewhere; mistakes in them are drawn.
pub fn catalogue(place: &RootArgs) -> Result<Catalogue, Failure> {
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

/// The same without its warnings.
pub fn read(root: &Path, more: &[PathBuf]) -> Result<Catalogue, Failure> {
    manifest::load(root, more).map_err(|error| match error {
        LoadError::Manifests(errors) => Failure::usage(errors.render(output::colour_of_notes())),
        other => Failure::usage(other),
    })
}

/// Picks stacks and workloads.
pub fn select(
    catalogue: &Catalogue,
    stacks: &[String],
    workloads: &[String],
    reach: Reach,
) -> Result<Selection, Failure> {
    manifest::select(catalogue, stacks, workloads, reach).map_err(|error| {
        let instead = stacks
            .iter()
            .find_map(|typed| meant::instead_of_stack(typed));
        instead.map_or_else(|| Failure::usage(error), Failure::usage)
    })
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
pub fn postgres(text: &str) -> Result<Vec<Source>, Failure> {
    Ok(match text {
        "auto" => Source::automatic(None),
        "installed" => vec![Source::Installed(Places::default())],
        "download" => vec![Source::Download(Mirror::default())],
        url if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            Source::automatic(Some(url.to_owned()))
        }
        other => {
            return Err(Failure::usage(format!(
                "--postgres {}: it is auto, installed, download or a URL like postgres://user:password@host/db",
                typed_without_userinfo(other)
            )));
        }
    })
}
