//! Where the manifests are, and all stacks, workloads and published comparisons there.

use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
};

use deadheat_model::{
    PublishedDocument, StackManifest, TargetId, WorkloadManifest, session::AddedStack,
    workload::Oracle,
};
use serde::de::DeserializeOwned;

use super::{
    decode::{Checks, decode},
    error::{ManifestError, ManifestErrors, Source},
    published::{self, KnownNames},
    stack, workload,
};
use crate::{
    files,
    project_files::MANIFEST,
    trust::{self, Distrust},
};

/// A stack: its manifest and the folder that it is about.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The stack's folder.
    pub dir: PathBuf,
    /// The contents of its `stack.toml`.
    pub manifest: StackManifest,
    /// Where it is, if not below the root folder.
    pub added: Option<AddedStack>,
}

/// All stacks, workloads and published comparisons.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// The root folder.
    pub root: PathBuf,
    /// Stacks, by id.
    pub stacks: Vec<Stack>,
    /// Workloads, by id.
    pub workloads: Vec<WorkloadManifest>,
    /// Published comparisons, by id.
    pub published: Vec<PublishedDocument>,
    /// What looks like an oversight but hinders nothing, a sentence each.
    pub warnings: Vec<String>,
}

impl Catalogue {
    /// The stack that `target` is a variant of.
    pub fn stack(&self, target: &TargetId) -> Option<&Stack> {
        self.stacks
            .iter()
            .find(|stack| stack.manifest.id == target.stack)
    }

    /// The workload `id`.
    pub fn workload(&self, id: &str) -> Option<&WorkloadManifest> {
        self.workloads.iter().find(|workload| workload.id == id)
    }
}

/// What came of reading all manifests.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Everything that is right.
    pub catalogue: Catalogue,
    /// The mistakes in the rest.
    pub errors: Vec<ManifestError>,
}

/// Why there is no catalogue.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A folder cannot be listed.
    #[error("reading the folder {}: {source}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// A folder that should hold stacks is one itself.
    #[error(
        "--stacks {}: this folder is a stack itself, because it has a stack.toml; name the folder above it",
        folder.display()
    )]
    IsStack {
        /// The folder.
        folder: PathBuf,
    },
    /// There are mistakes in manifests.
    #[error(transparent)]
    Manifests(#[from] ManifestErrors),
}

/// Reads all manifests below `root`, and the stacks in the folders `more`, of which none may have a mistake.
///
/// # Errors
/// All mistakes of all manifests; or that a folder cannot be read.
pub fn load(root: &Path, more: &[PathBuf]) -> Result<Catalogue, LoadError> {
    let reading = read(root, more)?;
    if reading.errors.is_empty() {
        Ok(reading.catalogue)
    } else {
        Err(ManifestErrors(reading.errors).into())
    }
}

/// Reads all manifests below `root`, and the stacks in the folders `more`, which take the place of those of the same name
/// below `root`. Keeps those that are right apart from the mistakes in the others.
///
/// # Errors
/// When `stacks`, `workloads` or a folder of `more` cannot be listed, or `published` is there and cannot; or a folder of
/// `more` is a stack itself.
pub fn read(root: &Path, more: &[PathBuf]) -> Result<Reading, LoadError> {
    let mut files = Files {
        root,
        errors: Vec::new(),
        warnings: Vec::new(),
    };
    let workloads = files.workloads()?;
    // Those with mistakes count too: that they are named is not a second mistake.
    let known: Vec<String> = list(&root.join("workloads"))?
        .iter()
        .filter_map(|path| stem_of(path))
        .collect();
    let own = list(&root.join("stacks"))?;
    let added = files.added(&own, more)?;
    let own = own.into_iter().filter(|dir| {
        let mut added = added.iter();
        !added.any(|(other, _)| other.file_name() == dir.file_name())
    });
    let own: Vec<_> = own.map(|dir| (dir, None)).collect();
    let stacks = files.stacks([own, added].concat(), &known, &workloads)?;
    let published = files.published(&KnownNames {
        ids: &known,
        workloads: &workloads,
        stacks: &stacks,
    })?;
    files
        .errors
        .sort_by(|a, b| (a.path(), a.position()).cmp(&(b.path(), b.position())));
    Ok(Reading {
        catalogue: Catalogue {
            root: root.to_owned(),
            stacks,
            workloads,
            published,
            warnings: files.warnings,
        },
        errors: files.errors,
    })
}

/// A stack whose manifest reads.
struct FoundStack {
    source: Source,
    folder: String,
    id_span: Range<usize>,
    stack: Stack,
    /// Whether it has no mistake.
    right: bool,
}

struct Files<'r> {
    root: &'r Path,
    errors: Vec<ManifestError>,
    warnings: Vec<String>,
}

impl Files<'_> {
    fn workloads(&mut self) -> Result<Vec<WorkloadManifest>, LoadError> {
        let mut workloads: Vec<WorkloadManifest> = Vec::new();
        let mut mixed: Vec<Source> = Vec::new();
        for path in list(&self.root.join("workloads"))? {
            let Some(stem) = stem_of(&path) else {
                continue;
            };
            let Some(source) = self.source(&path) else {
                continue;
            };
            let (found, errors) = examine(&source, |checks, manifest| {
                workload::check(checks, manifest, &stem);
            });
            let found = found.filter(|_| errors.is_empty());
            match found.map(|(manifest, _)| manifest) {
                Some(manifest) if matches!(manifest.oracle, Oracle::Mixed { .. }) => {
                    mixed.push(source);
                }
                found => workloads.extend(found),
            }
            self.errors.extend(errors);
        }
        let simple = workloads.clone();
        for source in mixed {
            let (found, errors) = examine(&source, |checks, manifest| {
                workload::check_parts(checks, manifest, &simple);
            });
            let found = found.filter(|_| errors.is_empty());
            workloads.extend(found.map(|(manifest, _)| workload::with_parts(manifest, &simple)));
            self.errors.extend(errors);
        }
        // From the simplest job to the longest, so that plans and reports begin with what most readers look for.
        workloads.sort_by_key(|one| (one.pack.clone(), one.oracle.job(), one.id.clone()));
        Ok(workloads)
    }

    fn published(&mut self, named: &KnownNames<'_>) -> Result<Vec<PublishedDocument>, LoadError> {
        let folder = self.root.join("published");
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let mut documents = Vec::new();
        for path in list(&folder)? {
            let Some(stem) = stem_of(&path) else {
                continue;
            };
            let Some(source) = self.source(&path) else {
                continue;
            };
            let (found, errors) = examine(&source, |checks, document| {
                published::check(checks, document, &stem, named);
            });
            let right = found.filter(|_| errors.is_empty());
            documents.extend(right.map(|(document, _)| document));
            self.errors.extend(errors);
        }
        Ok(documents)
    }

    /// The stacks in the folders `more`. A folder in them without a manifest may be anything.
    fn added(
        &mut self,
        own: &[PathBuf],
        more: &[PathBuf],
    ) -> Result<Vec<(PathBuf, Option<AddedStack>)>, LoadError> {
        let mut found = Vec::new();
        for folder in more {
            if folder.join(MANIFEST).is_file() {
                let folder = folder.clone();
                return Err(LoadError::IsStack { folder });
            }
            let mut dirs = list(&absolute(folder)?)?;
            dirs.retain(|dir| dir.join(MANIFEST).exists());
            if dirs.is_empty() {
                self.warnings.push(format!(
                    "--stacks {}: no folder in it has a stack.toml",
                    folder.display()
                ));
            }
            for dir in dirs {
                let same = own.iter().find(|own| own.file_name() == dir.file_name());
                if let Some(same) = same {
                    let (dir, same) = (dir.display(), self.shown(same));
                    self.warnings
                        .push(format!("{dir} takes the place of {same}"));
                }
                let added = AddedStack {
                    folder: dir.clone(),
                    replaces: same.is_some(),
                };
                found.push((dir, Some(added)));
            }
        }
        Ok(found)
    }

    fn stacks(
        &mut self,
        dirs: Vec<(PathBuf, Option<AddedStack>)>,
        known: &[String],
        workloads: &[WorkloadManifest],
    ) -> Result<Vec<Stack>, LoadError> {
        let mut found: Vec<FoundStack> = Vec::new();
        for (dir, added) in dirs {
            let Some((source, folder)) = self.stack_source(&dir) else {
                continue;
            };
            let (read, errors) = examine::<StackManifest>(&source, |checks, manifest| {
                stack::check(checks, manifest, known, workloads, &dir);
            });
            if let Some((manifest, id_span)) = read {
                let right = errors.is_empty() && manifest.id == folder;
                found.push(FoundStack {
                    source,
                    folder,
                    id_span,
                    stack: Stack {
                        dir,
                        manifest,
                        added,
                    },
                    right,
                });
            }
            self.errors.extend(errors);
        }
        let misnamed = found
            .iter()
            .filter(|one| one.stack.manifest.id != one.folder);
        self.errors
            .extend(misnamed.map(|one| misnamed_error(one, &found)));
        self.errors.extend(twice(&found));
        let right = found.into_iter().filter(|one| one.right);
        let mut stacks: Vec<Stack> = right.map(|one| one.stack).collect();
        stacks.sort_by(|a, b| a.manifest.id.cmp(&b.manifest.id));
        Ok(stacks)
    }

    /// The manifest in the folder `dir`, and the folder's name. A folder without one is worth a warning.
    fn stack_source(&mut self, dir: &Path) -> Option<(Source, String)> {
        let folder = dir.file_name()?.to_string_lossy().into_owned();
        if !dir.is_dir() {
            return None;
        }
        let path = dir.join(MANIFEST);
        if !path.exists() {
            self.warnings.push(format!(
                "{} has no stack.toml and is skipped",
                self.shown(dir)
            ));
            return None;
        }
        Some((self.source(&path)?, folder))
    }

    /// A path as messages have it: from the root folder, if it is below that.
    fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(self.root).unwrap_or(path);
        shown.display().to_string()
    }

    /// The text at `path`; that it cannot be read is noted.
    fn source(&mut self, path: &Path) -> Option<Source> {
        let shown = path.strip_prefix(self.root).unwrap_or(path).to_owned();
        match files::read_text(path) {
            Ok(text) => Some(Source {
                path: shown,
                text: text.into(),
            }),
            Err(error) => {
                let title = format!("reading this manifest: {error}");
                self.errors.push(ManifestError::of_file(&shown, title));
                None
            }
        }
    }
}

/// The mistake that `one`'s id is not its folder's name. A copied folder keeps the id of the one that it was copied from:
/// then both files are shown.
fn misnamed_error(one: &FoundStack, all: &[FoundStack]) -> ManifestError {
    let id = &one.stack.manifest.id;
    let label = format!("the folder is called `{}`", one.folder);
    let at = |title| ManifestError::at(&one.source, one.id_span.clone(), title).label(label);
    let other = all
        .iter()
        .find(|other| other.stack.manifest.id == *id && other.folder != one.folder);
    match other {
        Some(other) => at(format!("two stacks have the id `{id}`")).related(
            &other.source,
            other.id_span.clone(),
            "this one has it too",
        ),
        None => at(format!("the id `{id}` is not the folder's name")),
    }
}

/// The mistake that two folders of different places hold the same stack.
fn twice(found: &[FoundStack]) -> Vec<ManifestError> {
    let mut errors = Vec::new();
    for (place, one) in found.iter().enumerate() {
        let mut before = found[..place].iter();
        if let Some(first) = before.find(|first| first.folder == one.folder) {
            let title = format!("two stacks have the id `{}`", one.folder);
            let error = ManifestError::at(&one.source, one.id_span.clone(), title)
                .label("rename this stack and its folder")
                .related(&first.source, first.id_span.clone(), "this one has it too");
            errors.push(error);
        }
    }
    errors
}

/// A folder that was named as seen from the current one.
fn absolute(folder: &Path) -> Result<PathBuf, LoadError> {
    std::path::absolute(folder).map_err(|source| LoadError::Folder {
        folder: folder.to_owned(),
        source,
    })
}

/// Reads and checks one manifest: the manifest and the place of its id, and the mistakes.
fn examine<T: DeserializeOwned>(
    source: &Source,
    check: impl FnOnce(&mut Checks<'_, '_>, &T),
) -> (Option<(T, Range<usize>)>, Vec<ManifestError>) {
    let decoded = decode::<T>(source);
    let mut errors = decoded.errors;
    let mut found = None;
    if let (Some(manifest), Some(tree)) = (decoded.value, decoded.tree) {
        let mut checks = Checks::new(source, &tree, errors.is_empty());
        check(&mut checks, &manifest);
        let id_span = checks.span(&["id"]);
        errors.append(&mut checks.errors);
        found = Some((manifest, id_span));
    }
    (found, errors)
}

/// What is in `folder` and not hidden, in the order of names.
fn list(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let failed = |source| LoadError::Folder {
        folder: folder.to_owned(),
        source,
    };
    let mut paths = fs::read_dir(folder)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<io::Result<Vec<PathBuf>>>()
        })
        .map_err(failed)?;
    let hidden = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'))
    };
    paths.retain(|path| !hidden(path));
    paths.sort();
    Ok(paths)
}

/// The id in the file name of a workload or a published comparison.
fn stem_of(path: &Path) -> Option<String> {
    let is_manifest = path
        .extension()
        .is_some_and(|extension| extension == "toml");
    let stem = path.file_stem().filter(|_| is_manifest)?;
    Some(stem.to_string_lossy().into_owned())
}

/// The environment variable that names the root folder.
pub const ROOT_VARIABLE: &str = "DEADHEAT_ROOT";

const STACKS: &str = "stacks";
const WORKLOADS: &str = "workloads";
/// The folders of a root folder that have manifests.
const MANIFESTS: [&str; 3] = [STACKS, WORKLOADS, "published"];

/// Why a root folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RootError {
    /// A folder was named, but it is not one with manifests.
    #[error(
        "looking for manifests in {}, which {by} names: it has no folder {missing}; name the folder that contains \
         `stacks` and `workloads`", folder.display()
    )]
    NotARoot {
        /// The folder that was named.
        folder: PathBuf,
        /// What named it.
        by: &'static str,
        /// What is missing in it.
        missing: String,
    },
    /// A folder with manifests was found that nobody named, and others can have written them.
    #[error(
        "{at} has stacks, which are programs that would run as you, but {why}. If you trust whoever can write there, \
         name the folder: --root {at}, or {ROOT_VARIABLE}={at}", at = folder.display()
    )]
    Distrusted {
        /// The folder that was found.
        folder: PathBuf,
        /// What speaks against it.
        why: Distrust,
    },
}

/// The folder that holds `stacks/` and `workloads/`: `given` (--root), else `variable` (the value of
/// [`ROOT_VARIABLE`]), else `current` or the nearest folder above it that does; `None` if none does.
///
/// # Errors
/// When the folder that was named is not such a folder, or others can have written what is in the one that was found.
pub fn find_root(
    given: Option<&Path>,
    variable: Option<&Path>,
    current: &Path,
) -> Result<Option<PathBuf>, RootError> {
    // An empty variable is how shells unset one.
    let variable = variable.filter(|folder| !folder.as_os_str().is_empty());
    let named = given
        .map(|folder| (folder, "--root"))
        .or(variable.map(|folder| (folder, ROOT_VARIABLE)));
    if let Some((folder, by)) = named {
        let folder = current.join(folder);
        return match missing_in(&folder) {
            None => Ok(Some(folder)),
            Some(missing) => Err(RootError::NotARoot {
                folder,
                by,
                missing,
            }),
        };
    }
    let mut folders = current.ancestors();
    let found = folders.find(|folder| missing_in(folder).is_none());
    let Some(folder) = found else {
        return Ok(None);
    };
    match check(folder) {
        Ok(()) => Ok(Some(folder.to_owned())),
        Err(why) => Err(RootError::Distrusted {
            folder: folder.to_owned(),
            why,
        }),
    }
}

/// Whether nobody but this user and root can have written the manifests of a folder that nobody named, or what the
/// stacks consist of.
fn check(root: &Path) -> Result<(), Distrust> {
    trust::check(root)?;
    for name in MANIFESTS {
        let folder = root.join(name);
        if folder.exists() {
            trust::check_with_entries(&folder)?;
        }
    }
    let stacks = fs::read_dir(root.join(STACKS)).into_iter().flatten();
    let mut folders = stacks
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    folders.try_for_each(|folder| trust::check_with_entries(&folder))
}

fn missing_in(folder: &Path) -> Option<String> {
    let missing: Vec<String> = [STACKS, WORKLOADS]
        .into_iter()
        .filter(|name| !folder.join(name).is_dir())
        .map(|name| format!("`{name}`"))
        .collect();
    (!missing.is_empty()).then(|| missing.join(" and no folder "))
}
