//! Every command in the documents is one that this program understands.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Parser;
use deadheat_testkit::documents::{commands, words};

use crate::args::Arguments;

/// Documents with commands, from the project's folder. Those of a folder are its Markdown files.
const DOCUMENTS: [&str; 3] = ["README.md", "CONTRIBUTING.md", "docs"];

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
                    "{}: {command} has quotes that are not closed",
                    file.display()
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 30, "only {count} commands were found");
}
