//! What Deadheat remembers of a stack in its folder, `.deadheat/`: what was fetched, and that it was built.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::Inspection;
use crate::manifest::Stack;

/// Files that say what is to be fetched, by name, in the stack's folder or wherever `[[locked]]` says.
const DEPENDENCY_FILES: [&str; 20] = [
    "Cargo.lock",
    "Cargo.toml",
    "Gemfile",
    "Gemfile.lock",
    "build.gradle",
    "build.gradle.kts",
    "composer.lock",
    "deps.edn",
    "go.mod",
    "go.sum",
    "mix.exs",
    "mix.lock",
    "package-lock.json",
    "package.json",
    "packages.lock.json",
    "pom.xml",
    "project.clj",
    "pyproject.toml",
    "requirements.txt",
    "shard.lock",
];
/// The same, by the ending of their names.
const DEPENDENCY_ENDINGS: [&str; 4] = ["csproj", "nimble", "opam", "cabal"];

/// The folder in which a stack's state is.
pub(super) fn folder(stack: &Stack) -> PathBuf {
    stack.dir.join(".deadheat")
}

/// A hash of everything that decides what a fetch brings: the manifest's build section, the files that name the
/// dependencies, and the versions of the toolchain.
pub(super) fn fingerprint(stack: &Stack, inspection: &Inspection) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut add = |name: &str, content: &[u8]| {
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    };
    add("build", &serde_json::to_vec(&stack.manifest.build)?);
    for program in inspection.programs.iter().flatten() {
        add(&program.program, program.version.as_bytes());
    }
    for file in dependency_files(stack)? {
        let content = fs::read(stack.dir.join(&file))?;
        add(&file, &content);
    }
    let digest = hash.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn dependency_files(stack: &Stack) -> io::Result<Vec<String>> {
    let mut files: Vec<String> = stack
        .manifest
        .locked
        .iter()
        .map(|locked| locked.file.clone())
        .collect();
    // A lock file that is named and not there is the inspection's concern.
    files.retain(|file| stack.dir.join(file).is_file());
    for entry in fs::read_dir(&stack.dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if DEPENDENCY_FILES.contains(&name.as_str()) || DEPENDENCY_ENDINGS.contains(&ending) {
            files.push(name);
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
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
    let partial = path.with_extension("partial");
    fs::write(&partial, text)?;
    fs::rename(&partial, path)
}
