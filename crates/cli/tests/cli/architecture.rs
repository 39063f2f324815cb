//! What ARCHITECTURE.md says about the crates, as far as it can be checked.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use syn::{
    Attribute, Ident, ItemMod, ItemUse, UseTree,
    visit::{self, Visit},
};

use crate::support::root::project;

/// Which crates of this workspace a crate may use. `deadheat-testkit` and `deadheat-simulation` are for tests: any
/// crate's, and no crate's product.
const MAY_USE: [(&str, &[&str]); 10] = [
    ("deadheat-model", &[]),
    ("deadheat-load", &["deadheat-model"]),
    ("deadheat-stats", &["deadheat-model"]),
    ("deadheat-import", &["deadheat-model"]),
    ("deadheat-runner", &["deadheat-model", "deadheat-load"]),
    ("deadheat-report", &["deadheat-model", "deadheat-stats"]),
    (
        "deadheat",
        &[
            "deadheat-model",
            "deadheat-import",
            "deadheat-load",
            "deadheat-runner",
            "deadheat-stats",
            "deadheat-report",
        ],
    ),
    ("deadheat-testkit", &["deadheat-model"]),
    ("deadheat-simulation", &["deadheat-model", "deadheat-stats"]),
    (
        "xtask",
        &[
            "deadheat-model",
            "deadheat-load",
            "deadheat-stats",
            "deadheat-simulation",
        ],
    ),
];
const FOR_TESTS: [&str; 2] = ["deadheat-testkit", "deadheat-simulation"];

/// What writes to standard output or standard error.
const WRITES: [&str; 7] = [
    "println!",
    "eprintln!",
    "print!",
    "eprint!",
    "dbg!",
    "stdout()",
    "stderr()",
];

/// Files outside the one that writes for deadheat which write all the same, and why they may.
const WRITERS: [(&str, &str); 4] = [
    (
        "crates/runner/src/agent/serve.rs",
        "an agent's standard output is a pipe to its coordinator",
    ),
    (
        "crates/runner/src/files.rs",
        "`-o /dev/stdout` is a file that a user named",
    ),
    (
        "crates/runner/src/process/supervisor.rs",
        "the supervisor's standard output is a pipe to Deadheat",
    ),
    (
        "crates/runner/src/bin/runner-child.rs",
        "its standard error is the log of the test that started it",
    ),
];
/// The file that writes for deadheat.
const OUTPUT: &str = "crates/cli/src/output.rs";

/// A dependency on another crate of the workspace.
struct Dependency {
    from: String,
    to: String,
    for_tests: bool,
}

struct Workspace {
    crates: BTreeSet<String>,
    dependencies: Vec<Dependency>,
}

/// What cargo knows about this workspace's crates.
fn workspace() -> Workspace {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(project())
        .output()
        .unwrap_or_else(|error| panic!("running cargo metadata: {error}"));
    assert!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let dependencies = packages.iter().flat_map(|package| {
        let list = package["dependencies"].as_array().expect("dependencies");
        // Those with a path are of the workspace.
        list.iter()
            .filter(|dependency| dependency["path"].is_string())
            .map(|dependency| Dependency {
                from: name(package),
                to: name(dependency),
                for_tests: dependency["kind"] == "dev",
            })
    });
    Workspace {
        dependencies: dependencies.collect(),
        crates: packages.iter().map(name).collect(),
    }
}

#[test]
fn crates_depend_on_each_other_only_as_the_architecture_says() {
    let workspace = workspace();
    let known: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    let named: BTreeSet<String> = known.keys().map(|name| (*name).to_owned()).collect();
    assert_eq!(
        workspace.crates, named,
        "every crate has its place in ARCHITECTURE.md and in this test"
    );
    for Dependency {
        from,
        to,
        for_tests,
    } in &workspace.dependencies
    {
        let may = known[from.as_str()].contains(&to.as_str())
            || (*for_tests && FOR_TESTS.contains(&to.as_str()));
        let what = if *for_tests {
            "its tests may not use"
        } else {
            "it may not use"
        };
        assert!(
            may,
            "{from}: {what} {to}; ARCHITECTURE.md says which way data flows"
        );
    }
}

#[test]
fn each_direction_that_is_allowed_is_used() {
    let workspace = workspace();
    for (from, to) in MAY_USE
        .into_iter()
        .flat_map(|(from, list)| list.iter().map(move |to| (from, *to)))
    {
        let used = workspace
            .dependencies
            .iter()
            .any(|one| one.from == from && one.to == to && !one.for_tests);
        assert!(
            used,
            "{from} does not use {to}: take it out of this test and of ARCHITECTURE.md"
        );
    }
}

#[test]
fn only_one_file_writes() {
    let root = project();
    let mut writers = BTreeSet::new();
    for path in sources(&root) {
        let shown = path
            .strip_prefix(&root)
            .expect("below the project")
            .display()
            .to_string();
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("reading {shown}: {error}"));
        for (index, line) in text.lines().enumerate() {
            if shown != OUTPUT && writes(line) {
                let excepted = WRITERS.iter().any(|(file, _)| *file == shown);
                assert!(
                    excepted,
                    "{shown}:{}: only {OUTPUT} writes: {}",
                    index + 1,
                    line.trim()
                );
                writers.insert(shown.clone());
            }
        }
    }
    for (file, why) in WRITERS {
        assert!(
            writers.contains(file),
            "{file} ({why}) writes no more: it needs no exception"
        );
    }
}

/// Whether a line of code writes; a comment may say what it likes.
fn writes(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    WRITES.iter().any(|what| code.contains(what))
}

#[test]
fn what_writes_is_recognised() {
    for line in [
        "println!(\"x\");",
        "    let out = io::stdout().lock();",
        "dbg!(x)",
        "std::io::stderr()",
    ] {
        assert!(writes(line), "{line}");
    }
    for line in [
        "// println! is not used",
        "command.stdout(log)",
        "let stderr = 1;",
        "writeln!(file, \"x\")",
    ] {
        assert!(!writes(line), "{line}");
    }
}

/// A file's modules from the crate's root on: `load/live/mod.rs` is `["load", "live"]`.
type Module = Vec<String>;

#[test]
fn no_two_files_use_each_other() {
    let root = project();
    let xtask = root.join("xtask/src");
    let folders = product_folders(&root).into_iter().chain([xtask]);
    let circles: Vec<String> = folders.flat_map(|folder| circles(&folder)).collect();
    assert!(
        circles.is_empty(),
        "these files use each other; what both need belongs in a third one, below both:\n{}",
        circles.join("\n")
    );
}

/// Each two files of a crate that have a `use` of the other. Parents and their own children may: these are one thing.
fn circles(folder: &Path) -> Vec<String> {
    let files: BTreeMap<Module, PathBuf> = rust_files(vec![folder.to_owned()])
        .into_iter()
        .map(|file| (module_of(folder, &file), file))
        .collect();
    let mut used: BTreeSet<(&Module, Module)> = BTreeSet::new();
    for (module, file) in &files {
        let text = fs::read_to_string(file).expect("reading a source file");
        let mut uses = Uses {
            module: module.clone(),
            found: Vec::new(),
        };
        let code = syn::parse_file(&text);
        uses.visit_file(&code.unwrap_or_else(|error| panic!("{}: {error}", file.display())));
        for mut path in uses.found {
            // From the item that is used to the file that has it.
            while !path.is_empty() && !files.contains_key(&path) {
                path.pop();
            }
            used.insert((module, path));
        }
    }
    let related = |a: &Module, b: &Module| a.starts_with(b) || b.starts_with(a);
    used.iter()
        .filter(|(a, b)| *a < b && !related(a, b) && used.contains(&(b, (*a).clone())))
        .map(|(a, b)| {
            format!(
                "{}: {} and {}",
                folder.display(),
                a.join("::"),
                b.join("::")
            )
        })
        .collect()
}

fn module_of(folder: &Path, file: &Path) -> Module {
    let path = file.strip_prefix(folder).expect("below its folder");
    let path = path.with_extension("");
    let mut module: Module = path
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    module
}

/// Collects what a file's `use` declarations name in its own crate, tests excepted.
struct Uses {
    /// The one that is being read.
    module: Module,
    found: Vec<Vec<String>>,
}

impl Uses {
    fn follow(&mut self, path: &[String], tree: &UseTree) {
        let with = |ident: &Ident| [path, &[ident.to_string()]].concat();
        let named = match tree {
            UseTree::Path(further) => return self.follow(&with(&further.ident), &further.tree),
            UseTree::Group(group) => {
                return group.items.iter().for_each(|one| self.follow(path, one));
            }
            UseTree::Name(name) => with(&name.ident),
            UseTree::Rename(renamed) => with(&renamed.ident),
            UseTree::Glob(_) => path.to_vec(),
        };
        self.found.extend(self.absolute(&named));
    }

    /// A path from the crate's root; `None`: it begins with another crate, or with a child.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let up = path.iter().take_while(|part| *part == "super").count();
        let (from, path) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (&self.module[..], &path[1..]),
            "super" => (&self.module[..self.module.len() - up], &path[up..]),
            _ => return None,
        };
        Some([from, path].concat())
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let is_of_tests = |one: &Attribute| {
            let what = one.parse_args::<syn::Path>();
            one.path().is_ident("cfg") && what.is_ok_and(|what| what.is_ident("test"))
        };
        if item.attrs.iter().any(is_of_tests) {
            return;
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.follow(&[], &item.tree);
    }
}

#[test]
fn files_that_use_each_other_are_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = [
        (
            "lib.rs",
            "mod a; mod b; mod c; mod d; use a::A; pub use c::C;",
        ),
        (
            "a.rs",
            "use std::{fs, io}; use crate::{c, d::{self, e::{E as X, F}}}; use crate::A;",
        ),
        (
            "b.rs",
            "// use super::c::C;\nconst TEXT: &str = \"use crate::c::C;\";",
        ),
        (
            "c.rs",
            "use super::b::*; #[cfg(test)] mod tests { use crate::a::A; }",
        ),
        (
            "d/mod.rs",
            "mod e; use self::e::E; mod inner { use super::super::b::B; }",
        ),
        (
            "d/e.rs",
            "use super::D; fn used() { use super::super::a::A; }",
        ),
    ];
    fs::create_dir(folder.path().join("d")).expect("making a folder");
    for (file, text) in files {
        fs::write(folder.path().join(file), text).expect("writing a file");
    }
    let found = circles(folder.path());
    let [found] = found.as_slice() else {
        panic!("one circle: {found:?}");
    };
    assert!(found.ends_with(": a and d::e"), "{found}");
}

/// The folders of all crates' products.
fn product_folders(root: &Path) -> Vec<PathBuf> {
    let crates = fs::read_dir(root.join("crates")).expect("listing the crates");
    let folders = crates.flatten().map(|entry| entry.path().join("src"));
    folders.collect()
}

/// The Rust files of all crates' products.
fn sources(root: &Path) -> Vec<PathBuf> {
    let files = rust_files(product_folders(root));
    assert!(files.len() > 50, "these are not all files: {files:?}");
    files
}

/// The Rust files in folders and below them.
fn rust_files(mut open: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("listing {}: {error}", folder.display()));
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}
