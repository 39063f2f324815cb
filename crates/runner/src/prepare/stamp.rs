//! What Deadheat remembers of a stack in its folder, `.deadheat/`: what was fetched, and that it was built.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs, io,
    path::{Component, Path, PathBuf},
};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::Inspection;
use crate::{
    files::{self, write_whole},
    manifest::Stack,
};

/// Files that say what is to be fetched, by name.
const DEPENDENCY_FILES: [&str; 40] = [
    ".npmrc",
    "Cargo.lock",
    "Cargo.toml",
    "Gemfile",
    "Gemfile.lock",
    "NuGet.Config",
    "build.gradle",
    "build.gradle.kts",
    "bun.lock",
    "cabal.project",
    "cabal.project.freeze",
    "composer.json",
    "composer.lock",
    "cpanfile",
    "cpanfile.snapshot",
    "deno.json",
    "deno.lock",
    "deps.edn",
    "global.json",
    "go.mod",
    "go.sum",
    "gradle.lockfile",
    "gradle.properties",
    "mix.lock",
    "nuget.config",
    "package-lock.json",
    "package.json",
    "packages.lock.json",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pom.xml",
    "project.clj",
    "pyproject.toml",
    "rebar.config",
    "rebar.lock",
    "requirements.txt",
    "shard.lock",
    "shard.yml",
    "uv.lock",
    "yarn.lock",
];
/// The same, by the ending of their names: .NET's projects and what they include, Elixir's scripts (`mix.exs` and those
/// that it requires), and the packages of Nim, OCaml, Haskell and Ruby.
const DEPENDENCY_ENDINGS: [&str; 9] = [
    "cabal", "csproj", "exs", "fsproj", "gemspec", "nimble", "opam", "props", "targets",
];

/// The folder in which a stack's state is.
pub(super) fn folder(stack: &Stack) -> PathBuf {
    stack.dir.join(".deadheat")
}

/// A hash of everything that decides what a fetch brings: the manifest's build section, the files that name the
/// dependencies, and the versions of the toolchain, that of the variants too.
pub(super) fn fingerprint(stack: &Stack, inspection: &Inspection) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut add = |name: &str, content: &[u8]| {
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    };
    add("build", &serde_json::to_vec(&stack.manifest.build)?);
    let of_variants = inspection.of_variants.values().flatten();
    for program in inspection.programs.iter().chain(of_variants).flatten() {
        add(&program.program, program.version.as_bytes());
    }
    for file in dependency_files(stack)? {
        let content = files::read(&stack.dir.join(&file), files::LONGEST_TEXT)?;
        add(&file.to_string_lossy(), &content);
    }
    Ok(HEXLOWER.encode(&hash.finalize()))
}

/// Paths in the stack's folder: lock files, files and scripts that a fetch command names, and those in the same folders
/// (and the stack's) whose names say that they name dependencies.
fn dependency_files(stack: &Stack) -> io::Result<BTreeSet<PathBuf>> {
    let locked = stack.manifest.locked.iter().map(|locked| &*locked.file);
    let named = locked
        // A fetch brings the descriptions of Erlang applications.
        .filter(|file| !file.ends_with(".app"))
        .chain(words_of_fetches(stack))
        .map(normal);
    let mut folders = BTreeSet::from([PathBuf::new()]);
    let mut files = BTreeSet::new();
    for path in named {
        // A lock file that is named and not there is the inspection's concern.
        if stack.dir.join(&path).is_file() {
            folders.extend(path.parent().map(Path::to_owned));
            files.insert(path);
        } else if stack.dir.join(&path).is_dir() && !is_made(stack, &path) {
            folders.insert(path);
        }
    }
    for folder in folders {
        for entry in fs::read_dir(stack.dir.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if names_dependencies(&path) && entry.path().is_file() {
                files.insert(path);
            }
        }
    }
    Ok(files)
}

/// What may be paths in the fetch commands: their words, and of `--option=value` the value. Of the programs only those
/// that no fetch brought.
fn words_of_fetches(stack: &Stack) -> impl Iterator<Item = &str> {
    let commands = stack.manifest.build.fetch.iter();
    let words = commands.flat_map(|command| command.iter().enumerate());
    words
        .filter(|(index, word)| *index > 0 || !is_made(stack, &normal(word)))
        .map(|(_, word)| {
            word.rsplit_once('=')
                .map_or(word.as_str(), |(_, value)| value)
        })
        .filter(|word| !word.is_empty() && !Path::new(word).is_absolute() && !word.contains(".."))
}

/// Whether `path` is or is in an artefact, so that a fetch or a build may have made it.
fn is_made(stack: &Stack, path: &Path) -> bool {
    let mut artefacts = stack.manifest.build.artefacts.iter().map(normal);
    artefacts.any(|made| made != Path::new("") && path.starts_with(made))
}

/// `path` without "." in it.
fn normal(path: impl AsRef<Path>) -> PathBuf {
    let parts = path.as_ref().components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

fn names_dependencies(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    DEPENDENCY_FILES.contains(&name) || DEPENDENCY_ENDINGS.contains(&ending)
}

/// Whether what `fingerprint` describes has been fetched, and is still there.
pub(super) fn is_fetched(stack: &Stack, fingerprint: &str) -> bool {
    let Ok(text) = fs::read_to_string(fetched(stack)) else {
        return false;
    };
    let mut lines = text.lines();
    lines.next() == Some(fingerprint) && lines.all(|artefact| stack.dir.join(artefact).exists())
}

/// Notes a fetch, and which artefacts are there after it: should one of them go, it has to be repeated.
pub(super) fn note_fetched(stack: &Stack, fingerprint: &str) -> io::Result<()> {
    let artefacts = stack.manifest.build.artefacts.iter();
    let there = artefacts.filter(|artefact| stack.dir.join(artefact).exists());
    let lines: Vec<&str> = [fingerprint]
        .into_iter()
        .chain(there.map(String::as_str))
        .collect();
    write(&fetched(stack), &(lines.join("\n") + "\n"))
}

/// Forgets a fetch, so that the next one is made.
pub(super) fn forget_fetched(stack: &Stack) {
    // Should it stay, the next fetch is left out, as it would have been without this.
    let _ = fs::remove_file(fetched(stack));
}

/// Whether the stack was built here before, and what came of it is still there.
pub fn is_built(stack: &Stack) -> bool {
    let mut artefacts = stack.manifest.build.artefacts.iter();
    built(stack).exists() && artefacts.all(|artefact| stack.dir.join(artefact).exists())
}

/// Notes a build.
pub(super) fn note_built(stack: &Stack) -> io::Result<()> {
    write(&built(stack), "")
}

fn fetched(stack: &Stack) -> PathBuf {
    folder(stack).join("fetched")
}

fn built(stack: &Stack) -> PathBuf {
    folder(stack).join("built")
}

/// Whole or not at all: a stamp that was cut off must not count.
fn write(path: &Path, text: &str) -> io::Result<()> {
    write_whole(path, text.as_bytes())
}
