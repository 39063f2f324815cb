//! When a fetch is left out, and when not.

use std::fs;

use deadheat_model::session::Phase;
use deadheat_runner::{manifest::Stack, prepare::BuildProgress};

use super::Workshop;

/// Notes each fetch as a line in the file `fetches`, and brings `deps/x`.
const SECTION: &str = "\
[[toolchain]]
program = \"tool\"
version = [\"tool\"]
hint = \"x\"

[[locked]]
file = \"sub/go.mod\"
package = \"x\"

[build]
fetch = [[\"sh\", \"-c\", \"echo once >> fetches; mkdir -p deps; touch deps/x\"]]
steps = [[\"sh\", \"-c\", \"mkdir -p out; touch out/server; test ! -e broken\"]]
artefacts = [\"deps\", \"out/server\"]
";

fn workshop() -> Workshop {
    let workshop = Workshop::new();
    workshop
        .program("tool", "echo 1.0")
        .file("stack/sub/go.mod", "require x v1.0.0")
        .file("stack/package.json", "{}");
    workshop
}

/// Something that happens to a stack between two fetches.
type Change = fn(&Workshop);

/// Builds; whether it was fetched.
fn fetches(workshop: &Workshop, stack: &Stack) -> bool {
    let before = workshop.text("stack/fetches").lines().count();
    let inspection = workshop.inspect(stack);
    let (_, told) = workshop.with_builder(|builder, tell| builder.build(stack, &inspection, tell));
    let fetched = workshop.text("stack/fetches").lines().count() > before;
    let left_out = told.contains(&BuildProgress::AlreadyFetched);
    assert_ne!(fetched, left_out, "{told:?}");
    fetched
}

#[test]
fn a_second_fetch_is_left_out() {
    let workshop = workshop();
    let stack = workshop.stack(SECTION);
    assert!(fetches(&workshop, &stack));
    assert!(!fetches(&workshop, &stack));
    assert!(!fetches(&workshop, &stack));
}

#[test]
fn whatever_decides_what_is_fetched_makes_it_fetch_again() {
    let changes: [(&str, Change); 6] = [
        ("a lock file", |workshop| {
            workshop.file("stack/sub/go.mod", "require x v1.0.1");
        }),
        ("a manifest of the language", |workshop| {
            workshop.file("stack/package.json", "{ }");
        }),
        ("a new lock file", |workshop| {
            workshop.file("stack/package-lock.json", "{}");
        }),
        ("the toolchain", |workshop| {
            workshop.program("tool", "echo 1.1");
        }),
        ("what was fetched", |workshop| {
            fs::remove_dir_all(workshop.path("stack/deps")).unwrap();
        }),
        ("the stamp", |workshop| {
            fs::remove_file(workshop.path("stack/.deadheat/fetched")).unwrap();
        }),
    ];
    for (what, change) in changes {
        let workshop = workshop();
        let stack = workshop.stack(SECTION);
        assert!(fetches(&workshop, &stack), "{what}");
        change(&workshop);
        assert!(fetches(&workshop, &stack), "{what}");
        assert!(!fetches(&workshop, &stack), "{what}");
    }
}

/// A fetch of a stack whose fetch is a script in `tools`, and whose projects are in `app`.
const SCRIPTED: &str = "\
[build]
fetch = [[\"sh\", \"tools/fetch.sh\", \"--into=out\", \"app\"]]
artefacts = [\"out\"]

[[locked]]
file = \"locks/packages.lock.json\"
package = \"x\"

[[locked]]
file = \"out/x.app\"
package = \"x\"
";

#[test]
fn whatever_names_dependencies_in_any_language_fetches_again() {
    let named = [
        "pom.xml",
        "mix.exs",
        "debian.exs",
        "mix.lock",
        "Gemfile",
        "Gemfile.lock",
        "Server.csproj",
        "Directory.Build.props",
        "Directory.Packages.props",
        "Directory.Build.targets",
        "nuget.config",
        "NuGet.Config",
        "global.json",
        "composer.lock",
        "server.nimble",
        "tools/fetch.sh",
        // Where fetch commands and lock files are or point to.
        "app/App.csproj",
        "locks/packages.lock.json",
        "locks/Directory.Build.props",
    ];
    let others = [
        "server.rb",
        "app/Program.cs",
        "README.md",
        "elsewhere/pom.xml",
        // Made by the fetch.
        "out/x.app",
        "out/package.json",
    ];
    let workshop = Workshop::new();
    workshop
        .file(
            "stack/tools/fetch.sh",
            "echo once >> fetches; mkdir -p out; : >> out/x.app",
        )
        .file("stack/app/App.csproj", "<Project/>")
        .file("stack/locks/packages.lock.json", "{}");
    let stack = workshop.stack(SCRIPTED);
    assert!(fetches(&workshop, &stack));
    assert!(!fetches(&workshop, &stack));
    for (files, expected) in [(&named[..], true), (&others[..], false)] {
        for file in files {
            let path = format!("stack/{file}");
            workshop.file(&path, &format!("{}\n# changed", workshop.text(&path)));
            assert_eq!(fetches(&workshop, &stack), expected, "{file}");
            assert!(!fetches(&workshop, &stack), "{file}");
        }
    }
}

#[test]
fn another_version_of_a_variants_program_fetches_again() {
    let workshop = workshop();
    let section = SECTION.replace(
        "[build]",
        "[[variant]]\nid = \"v\"\ndescription = \"D\"\n[[variant.toolchain]]\nprogram = \"jit\"\n\
         version = [\"jit\"]\nhint = \"x\"\n[build]",
    );
    let stack = workshop.stack(&section);
    assert!(fetches(&workshop, &stack));
    workshop.program("jit", "echo 1.0");
    assert!(fetches(&workshop, &stack));
    assert!(!fetches(&workshop, &stack));
}

#[test]
fn another_build_section_fetches_again_and_sources_do_not() {
    let workshop = workshop();
    assert!(fetches(&workshop, &workshop.stack(SECTION)));
    workshop.file("stack/main.go", "package main");
    assert!(!fetches(&workshop, &workshop.stack(SECTION)));
    let other = SECTION.replace("echo once", "echo  once");
    assert!(fetches(&workshop, &workshop.stack(&other)));
}

#[test]
fn what_only_a_build_makes_does_not_fetch_again() {
    let workshop = workshop();
    let stack = workshop.stack(SECTION);
    assert!(fetches(&workshop, &stack));
    fs::remove_dir_all(workshop.path("stack/out")).unwrap();
    assert!(!fetches(&workshop, &stack));
}

#[test]
fn after_a_build_that_failed_everything_is_fetched_again() {
    let workshop = workshop();
    let stack = workshop.stack(SECTION);
    assert!(fetches(&workshop, &stack));
    workshop.file("stack/broken", "");
    assert!(!fetches(&workshop, &stack));
    assert!(fetches(&workshop, &stack));
}

#[test]
fn a_fetch_that_fails_is_no_fetch() {
    let workshop = Workshop::new();
    let stack = workshop.stack(
        "[build]\nfetch = [[\"sh\", \"-c\", \"echo no network; exit 1\"]]\nsteps = [[\"touch\", \"built\"]]",
    );
    let inspection = workshop.inspect(&stack);
    for _ in 0..2 {
        let (result, _) =
            workshop.with_builder(|builder, tell| builder.build(&stack, &inspection, tell));
        let failed = super::failed(result.unwrap_err());
        assert_eq!(failed.phase, Phase::Fetch);
        assert!(
            failed
                .reason
                .starts_with("fetching what is needed for toy: `sh -c"),
            "{}",
            failed.reason
        );
        assert_eq!(failed.log_tail.last().unwrap(), "no network");
    }
    assert!(!workshop.path("stack/built").exists());
}

#[test]
fn a_fetch_alone_builds_nothing() {
    let workshop = workshop();
    let stack = workshop.stack(SECTION);
    let inspection = workshop.inspect(&stack);
    let (fetched, _) =
        workshop.with_builder(|builder, tell| builder.fetch(&stack, &inspection, tell));
    assert!(fetched.unwrap());
    assert!(!workshop.path("stack/out").exists());
    let (fetched, _) =
        workshop.with_builder(|builder, tell| builder.fetch(&stack, &inspection, tell));
    assert!(!fetched.unwrap());
}
