//! Every command in the documents is one that this program understands.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Parser;

use crate::args::Arguments;

/// Documents with commands, from the project's folder. Those of a folder are its Markdown files.
const DOCUMENTS: [&str; 3] = ["README.md", "CONTRIBUTING.md", "docs"];

/// The commands of a document: lines of its code blocks that begin with `deadheat`, after a prompt or without one. A line
/// that ends in `\` goes on in the next one.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_code = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let line = line.trim_start();
        let line = line.strip_prefix("$ ").unwrap_or(line);
        if !in_code || !line.starts_with("deadheat ") || line.starts_with("deadheat 0.") {
            continue;
        }
        let mut command = line.to_owned();
        while let Some(part) = command.strip_suffix('\\') {
            command = format!("{part} {}", lines.next().unwrap_or_default());
        }
        found.push(command);
    }
    found
}

/// The words of a command up to its comment, and up to what a shell would do with its output.
fn words(command: &str) -> Option<Vec<String>> {
    let mut words = shlex::split(command)?;
    let end = words
        .iter()
        .position(|word| ["|", ">", "&&", ";"].contains(&word.as_str()));
    words.truncate(end.unwrap_or(words.len()));
    Some(words)
}

fn files(project: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for name in DOCUMENTS {
        let path = project.join(name);
        if path.is_file() {
            files.push(path);
            continue;
        }
        let entries = fs::read_dir(&path)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    files
}

#[test]
fn every_command_in_the_documents_is_understood() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    let mut wrong = Vec::new();
    for file in files(&project) {
        for command in commands(&fs::read_to_string(&file).unwrap()) {
            count += 1;
            let parsed = words(&command).map(Arguments::try_parse_from);
            match parsed {
                Some(Ok(_)) => {}
                // Help, for example.
                Some(Err(error)) if error.exit_code() == 0 => {}
                Some(Err(error)) => wrong.push(format!("{}: {command}\n{error}", file.display())),
                None => wrong.push(format!(
                    "{}: {command}: its quotes are not closed",
                    file.display()
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 30, "only {count} commands were found");
}

#[test]
fn commands_are_found_in_code_alone_and_over_several_lines() {
    let text = "deadheat is not one\n```console\n$ deadheat run \\\n    --quick   # a first look\noutput\ndeadheat load x\n```\n";
    let found = commands(text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(words(&found[0]).unwrap(), ["deadheat", "run", "--quick"]);
    assert_eq!(
        words("deadheat load 'a b' | less").unwrap(),
        ["deadheat", "load", "a b"]
    );
}
