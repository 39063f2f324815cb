//! The report's pages in a real browser: `crates/cli/tests/browser`. Node's own test runner drives an installed
//! Chromium with Playwright.
#![allow(clippy::print_stdout)]

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use crate::project::{compiling, root, target};
use crate::steps::{Lack, Steps};

/// Where the tests are, in the project's folder.
pub(crate) const FOLDER: &str = "crates/cli/tests/browser";

const TESTS: [&str; 5] = [
    "checks.test.mjs",
    "heats.test.mjs",
    "pages.test.mjs",
    "saving.test.mjs",
    "site.test.mjs",
];

/// The names that Chromium goes by, as distributions and Google call it.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// What else `cargo xtask browser` does.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Instead of testing, writes pictures of the pages to target/tmp/pictures
    #[arg(long)]
    pictures: bool,
    /// Instead of testing, measures how long a large page takes to open
    #[arg(long, conflicts_with = "pictures")]
    opening: bool,
}

/// Tests every page, each of which is written first.
pub(crate) fn test(steps: &Steps) {
    with_pages(steps, "the pages in a browser", |node| {
        node.args(["--test", "--test-reporter=dot", "--test-concurrency=2"]);
        node.args(TESTS.map(in_folder));
    });
}

/// What the options ask for.
pub(crate) fn browser(steps: &Steps, options: &Options) {
    if options.pictures {
        with_pages(steps, "pictures of the pages", |node| {
            let pictures = target().join("tmp/pictures");
            node.arg(in_folder("screenshots.mjs")).arg(pictures);
        });
    } else if options.opening {
        with_pages(steps, "the opening of a large page", |node| {
            node.arg(in_folder("opening.mjs"));
        });
    } else {
        test(steps);
    }
}

/// Writes the pages, then runs Node with what `arguments` adds.
fn with_pages(steps: &Steps, name: &str, arguments: impl FnOnce(&mut Command)) {
    let chromium = match tools() {
        Ok(chromium) => chromium,
        Err(because) => {
            steps.not_tested(Lack::new("browser", &because));
            return;
        }
    };
    // As part of the workspace, as in all other tests: with the features that this package alone asks of its
    // dependencies, these would be built a second time.
    let mut write = compiling(&["test", "--quiet", "--workspace"]);
    write.args([
        "--test",
        "formats",
        "--",
        "--ignored",
        "--exact",
        "look::look",
    ]);
    // Pages of an earlier build would tell of an earlier report.
    if !steps.run("pages for the browser", write) {
        return;
    }
    let mut node = Command::new("node");
    node.env("CHROMIUM", chromium);
    // Where the test writes them: CARGO_TARGET_TMPDIR.
    node.env("PAGES", target().join("tmp/look"));
    arguments(&mut node);
    steps.run(name, node);
}

/// Finds Chromium, and looks whether what drives it is installed as locked.
///
/// # Errors
/// What is not installed, and how to install it.
fn tools() -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let chromium = find(env::var_os("CHROMIUM"), &path)?;
    let listed = Command::new("npm")
        .args(["ls", "--prefix", FOLDER])
        .current_dir(root())
        .output();
    match listed {
        Ok(output) if output.status.success() => Ok(chromium),
        Ok(_) => Err(format!(
            "what drives the browser is not installed, or not as {FOLDER}/package-lock.json says: run \
             `cd {FOLDER} && npm ci`"
        )),
        Err(error) => Err(format!(
            "npm ls: {error}; install Node.js with npm, then run `cd {FOLDER} && npm ci`"
        )),
    }
}

/// The browser that the variable CHROMIUM names, or the first one on the `path`.
fn find(named: Option<OsString>, path: &OsString) -> Result<PathBuf, String> {
    if let Some(named) = named.filter(|name| !name.is_empty()) {
        let named = PathBuf::from(named);
        return if named.is_file() {
            Ok(named)
        } else {
            Err(format!(
                "the variable CHROMIUM names {}, which is no file: name the browser's program, or unset it",
                named.display()
            ))
        };
    }
    let folders: Vec<PathBuf> = env::split_paths(path).collect();
    let mut files = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    files.find(|file| file.is_file()).ok_or_else(|| {
        format!(
            "there is no Chromium: none of {} is on the PATH; install it (Debian: apt-get install chromium \
             fonts-liberation), or name its program in the variable CHROMIUM",
            NAMES.join(", ")
        )
    })
}

fn in_folder(file: &str) -> PathBuf {
    Path::new(FOLDER).join(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_named_browser_comes_before_those_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().as_os_str().to_owned();
        let missing = find(None, &path).unwrap_err();
        assert!(missing.contains("apt-get install chromium"), "{missing}");
        let (own, other) = (
            folder.path().join("own"),
            folder.path().join("google-chrome"),
        );
        let wrong = find(Some(own.clone().into()), &path).unwrap_err();
        assert!(wrong.contains("names") && wrong.contains("own"), "{wrong}");
        fs::write(&own, "").unwrap();
        fs::write(&other, "").unwrap();
        assert_eq!(find(Some(own.clone().into()), &path), Ok(own));
        assert_eq!(find(None, &path), Ok(other.clone()));
        assert_eq!(find(Some(OsString::new()), &path), Ok(other));
    }
}
