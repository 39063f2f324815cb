//! What ARCHITECTURE.md says about the crates, as far as it can be checked.

mod modules;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use self::modules::{Module, circles, module_of, rust_files, text_errors, uses_of};
use crate::support::root::project;

/// Which crates of this workspace a crate may use. `deadheat-testkit` and `deadheat-simulation` are for tests: any
/// crate's, and no crate's product.
const MAY_USE: [(&str, &[&str]); 14] = [
    ("deadheat-model", &[]),
    ("deadheat-document", &["deadheat-model"]),
    ("deadheat-load", &["deadheat-model"]),
    ("deadheat-stats", &["deadheat-model"]),
    ("deadheat-import", &["deadheat-model"]),
    ("deadheat-runner", &["deadheat-model", "deadheat-load"]),
    (
        "deadheat-shell",
        &[
            "deadheat-model",
            "deadheat-document",
            "deadheat-load",
            "deadheat-runner",
        ],
    ),
    (
        "deadheat-loadtool",
        &[
            "deadheat-model",
            "deadheat-document",
            "deadheat-load",
            "deadheat-runner",
            "deadheat-stats",
            "deadheat-shell",
        ],
    ),
    (
        "deadheat-bench",
        &[
            "deadheat-model",
            "deadheat-document",
            "deadheat-import",
            "deadheat-runner",
            "deadheat-stats",
            "deadheat-shell",
        ],
    ),
    (
        "deadheat-compare",
        &[
            "deadheat-model",
            "deadheat-document",
            "deadheat-import",
            "deadheat-load",
            "deadheat-runner",
            "deadheat-stats",
            "deadheat-shell",
            "deadheat-loadtool",
            "deadheat-bench",
        ],
    ),
    (
        "deadheat",
        &[
            "deadheat-model",
            "deadheat-import",
            "deadheat-runner",
            "deadheat-shell",
            "deadheat-loadtool",
            "deadheat-bench",
            "deadheat-compare",
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
const OUTPUT: &str = "crates/shell/src/output.rs";

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
        // Tests also make what is shown of what a crate below has found.
        let is_below = || below(from, &known).contains(to.as_str());
        let may = known[from.as_str()].contains(&to.as_str())
            || (*for_tests && (FOR_TESTS.contains(&to.as_str()) || is_below()));
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

/// The crates that one uses, directly or through others.
fn below<'a>(name: &str, known: &BTreeMap<&str, &'a [&'a str]>) -> BTreeSet<&'a str> {
    let own = known[name].iter().copied();
    own.flat_map(|one| below(one, known).into_iter().chain([one]))
        .collect()
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

/// What a function of its arguments does not name: what reads, writes, waits, or looks at a clock, and the crates that do.
const EFFECTS: [&str; 11] = [
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "Instant::now",
    "SystemTime::now",
    "deadheat_load",
    "deadheat_runner",
    "deadheat_shell",
];

#[test]
fn analyses_and_documents_are_functions_of_their_arguments() {
    let root = project();
    let mut seen = BTreeSet::new();
    for folder in product_folders(&root) {
        let name = folder.parent().and_then(Path::file_name);
        let name = name.unwrap_or_default().to_string_lossy();
        for file in rust_files(vec![folder.clone()]) {
            let module = module_of(&folder, &file);
            let is_in = |name: &str| module.iter().any(|one| one == name);
            let is_document = is_in("document") || name == "document";
            if !(is_document || is_in("analysis") || name == "stats") {
                continue;
            }
            seen.insert(name.clone().into_owned());
            for path in uses_of(&file, module.clone()).written {
                let path = path.join("::");
                let rest = |one: &&&str| path.strip_prefix(**one);
                let effect = EFFECTS.iter().find(|one| {
                    rest(one).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
                });
                assert_eq!(
                    effect,
                    None,
                    "{}: {path}: an analysis and a document are functions of their arguments",
                    file.display()
                );
                let is_of_another =
                    path.starts_with("deadheat_") && path.split("::").any(|one| one == "analysis");
                assert!(
                    !(is_document && is_of_another),
                    "{}: {path}: a document has its own topic's analysis, and no other",
                    file.display()
                );
            }
        }
    }
    let expected = ["bench", "compare", "document", "loadtool", "stats"];
    assert_eq!(seen, expected.map(str::to_owned).into());
}

/// The crates that other programs could use: a caller can tell their errors apart, and not only print them.
const LIBRARIES: [&str; 6] = ["document", "import", "load", "model", "runner", "stats"];

#[test]
fn errors_of_libraries_are_types() {
    let root = project().join("crates");
    for name in LIBRARIES {
        for file in rust_files(vec![root.join(name).join("src")]) {
            let texts = text_errors(&file);
            assert!(
                texts.is_empty(),
                "{}: {texts:?}: an error that leaves a library is an enum or a struct",
                file.display()
            );
        }
    }
}

#[test]
fn no_modules_are_in_a_circle() {
    let root = project();
    let xtask = root.join("xtask/src");
    let folders = product_folders(&root).into_iter().chain([xtask]);
    for folder in folders {
        let circles = circles(&folder);
        let shown = circles.iter().map(|circle| {
            let modules = circle.iter().map(|module| module.join("::"));
            modules.collect::<Vec<_>>().join(", ")
        });
        assert!(
            circles.is_empty(),
            "{}: modules that use each other in a circle; what they need of each other belongs in one below them:\n{}",
            folder.display(),
            shown.collect::<Vec<_>>().join("\n")
        );
    }
}

#[test]
fn circles_are_found_through_others_and_through_re_exports() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = [
        (
            "lib.rs",
            "mod a; mod b; mod c; mod d; mod f; use a::A; pub use self::c::C;",
        ),
        (
            "a.rs",
            "use std::{fs, io}; use crate::d::{self, e::{E as X, F}};",
        ),
        (
            "b.rs",
            "// use super::a::A;\nconst TEXT: &str = \"use crate::a::A;\";",
        ),
        (
            "c.rs",
            "use super::b::*; #[cfg(test)] mod tests { use crate::a::A; }",
        ),
        (
            "d/mod.rs",
            "mod e; use self::e::E; mod inner { use super::super::b::B; }",
        ),
        ("d/e.rs", "use super::D; fn used() { crate::f::used() }"),
        // Through the root, where C is re-exported, it uses c and not a.
        ("f.rs", "use crate::{C, a::A};"),
    ];
    fs::create_dir(folder.path().join("d")).expect("making a folder");
    for (file, text) in files {
        fs::write(folder.path().join(file), text).expect("writing a file");
    }
    let shown = |circles: Vec<Vec<Module>>| -> Vec<Vec<String>> {
        let names = |circle: &Vec<Module>| circle.iter().map(|one| one.join("::")).collect();
        circles.iter().map(names).collect()
    };
    assert_eq!(shown(circles(folder.path())), [["a", "d::e", "f"]]);
    fs::write(folder.path().join("b.rs"), "use crate::C;").expect("writing a file");
    assert_eq!(
        shown(circles(folder.path())),
        [vec!["a", "d::e", "f"], vec!["b", "c"]]
    );
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
