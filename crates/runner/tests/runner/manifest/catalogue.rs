use std::{fs, path::Path};

use deadheat_model::session::AddedStack;
use deadheat_runner::manifest::{LoadError, load, read};

use super::{stack, workload};

#[test]
fn the_projects_own_manifests_have_no_mistake() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let reading = read(&root, &[]).unwrap();
    let drawn: Vec<String> = reading
        .errors
        .iter()
        .map(|error| error.render(false))
        .collect();
    assert!(drawn.is_empty(), "{}", drawn.join("\n\n"));
    let ids: Vec<&str> = reading
        .catalogue
        .workloads
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    // From the simplest job to the longest.
    let all = [
        "plaintext",
        "json",
        "json-decode",
        "static",
        "json-gzip",
        "payload",
        "ping-pong",
        "users",
        "fortunes",
        "crud",
        "api",
        "hash",
        "upload",
        "proxy",
        "te-plaintext",
        "te-json",
        "te-cached-queries",
        "te-db",
        "te-fortunes",
        "te-queries",
        "te-updates",
    ];
    assert_eq!(ids, all);
    assert!(!reading.catalogue.stacks.is_empty());
}

#[test]
fn every_default_variant_uses_all_cpus_that_it_is_given() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for stack in &read(&root, &[]).unwrap().catalogue.stacks {
        let default = stack.manifest.variant.first();
        let cpus = default.and_then(|variant| variant.cpus);
        assert_eq!(cpus, None, "{}", stack.manifest.id);
    }
}

#[test]
fn stacks_and_workloads_are_sorted_and_what_is_hidden_is_left_out() {
    let root = super::root(&[
        ("stacks/b/stack.toml", &stack("b", "")),
        ("stacks/a/stack.toml", &stack("a", "")),
        ("stacks/.hidden/stack.toml", "no toml"),
        ("stacks/README.md", "about stacks"),
        ("workloads/z.toml", &workload("z", "")),
        ("workloads/y.toml", &workload("y", "")),
        ("workloads/.y.toml.swp", "no toml"),
        ("workloads/README.md", "about workloads"),
    ]);
    fs::create_dir(root.path().join("stacks/begun")).unwrap();
    let catalogue = load(root.path(), &[]).unwrap();
    let stacks: Vec<&str> = catalogue
        .stacks
        .iter()
        .map(|one| one.manifest.id.as_str())
        .collect();
    let workloads: Vec<&str> = catalogue
        .workloads
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    assert_eq!((stacks, workloads), (vec!["a", "b"], vec!["y", "z"]));
    assert_eq!(catalogue.stacks[0].dir, root.path().join("stacks/a"));
    assert_eq!(
        catalogue.warnings,
        ["stacks/begun has no stack.toml and is skipped"]
    );
}

#[test]
fn stacks_of_other_folders_are_added_and_come_before_those_of_the_same_name() {
    let root = super::root(&[("stacks/a/stack.toml", &stack("a", ""))]);
    let own = tempfile::tempdir().unwrap();
    super::write(own.path(), "b/stack.toml", &stack("b", ""));
    let more = [own.path().to_owned()];
    let catalogue = load(root.path(), &more).unwrap();
    let dirs: Vec<&Path> = catalogue.stacks.iter().map(|one| &*one.dir).collect();
    assert_eq!(dirs, [root.path().join("stacks/a"), own.path().join("b")]);
    assert!(catalogue.warnings.is_empty(), "{:?}", catalogue.warnings);
    super::write(own.path(), "a/stack.toml", &stack("a", ""));
    super::write(own.path(), "results/notes", "");
    let catalogue = load(root.path(), &more).unwrap();
    let added = own.path().join("a");
    assert_eq!(catalogue.stacks[0].dir, added);
    assert_eq!(
        catalogue.stacks[0].added,
        Some(AddedStack {
            folder: added.clone(),
            replaces: true
        })
    );
    let said = format!("{} takes the place of stacks/a", added.display());
    assert_eq!(catalogue.warnings, [said]);
    let twice = [own.path(), own.path()].map(Path::to_owned);
    let error = load(root.path(), &twice).unwrap_err().to_string();
    assert!(error.contains("two stacks have the id `a`"), "{error}");
}

#[test]
fn a_folder_of_stacks_without_any_is_worth_a_warning() {
    let root = super::root(&[("stacks/a/stack.toml", &stack("a", ""))]);
    let own = tempfile::tempdir().unwrap();
    let catalogue = load(root.path(), &[own.path().to_owned()]).unwrap();
    let [warning] = catalogue.warnings.as_slice() else {
        panic!("{:?}", catalogue.warnings);
    };
    assert!(
        warning.ends_with("no folder in it has a stack.toml"),
        "{warning}"
    );
}

#[test]
fn what_is_right_can_be_used_beside_what_is_not() {
    let root = super::root(&[
        ("stacks/a/stack.toml", &stack("a", "")),
        ("stacks/b/stack.toml", &stack("b", "colour = 1\n")),
    ]);
    let reading = read(root.path(), &[]).unwrap();
    assert_eq!(reading.catalogue.stacks.len(), 1);
    assert_eq!(reading.errors.len(), 1);
}

#[test]
fn the_mistakes_of_all_files_are_named_together() {
    let root = super::root(&[
        ("stacks/a/stack.toml", &stack("a", "colour = 1\n")),
        ("stacks/b/stack.toml", "id ="),
        ("workloads/y.toml", &workload("z", "")),
    ]);
    let LoadError::Manifests(errors) = load(root.path(), &[]).unwrap_err() else {
        panic!("mistakes in manifests");
    };
    let lines = errors.to_string();
    let expected = "stacks/a/stack.toml:15:1: unknown key `colour` in [run]\n\
                    stacks/b/stack.toml:1:5: this is not TOML (string values must be quoted, expected literal string)\n\
                    workloads/y.toml:1:6: the id `z` is not the file's name (the file is called `y.toml`)";
    assert_eq!(lines, expected);
    assert_eq!(errors.0[0].position(), Some((15, 1)));
    assert_eq!(errors.0[0].path(), Path::new("stacks/a/stack.toml"));
}

#[test]
fn a_manifest_that_cannot_be_read_is_a_mistake_too() {
    let root = super::root(&[]);
    let path = root.path().join("stacks/a/stack.toml");
    fs::create_dir_all(&path).unwrap();
    fs::create_dir(root.path().join("stacks/b")).unwrap();
    fs::write(root.path().join("stacks/b/stack.toml"), b"id = \"\xff\"").unwrap();
    let errors = read(root.path(), &[]).unwrap().errors;
    let drawn: Vec<String> = errors.iter().map(|error| error.render(false)).collect();
    assert_eq!(errors.len(), 2, "{drawn:?}");
    assert!(
        drawn[0].contains("stacks/a/stack.toml: reading this manifest"),
        "{}",
        drawn[0]
    );
    assert_eq!(errors[0].position(), None);
}

#[test]
fn without_its_folders_there_is_no_catalogue() {
    let empty = tempfile::tempdir().unwrap();
    let error = load(empty.path(), &[]).unwrap_err().to_string();
    assert!(
        error.contains("reading the folder") && error.contains("workloads"),
        "{error}"
    );
}

#[test]
fn colour_is_asked_for() {
    let root = super::root(&[("stacks/b/stack.toml", "id =")]);
    let error = &read(root.path(), &[]).unwrap().errors[0];
    assert!(error.render(true).contains("\u{1b}["));
    assert!(!error.render(false).contains('\u{1b}'));
}

#[test]
fn a_version_must_be_in_its_lock_file_unless_a_fetch_brings_the_file() {
    let of = |pattern: &str, go_mod: &str| {
        let locked = format!("\n[[locked]]\nfile = \"go.mod\"\npackage = \"y\"\n{pattern}");
        super::drawn(&[
            ("stacks/a/stack.toml", &stack("a", &locked)),
            ("stacks/a/go.mod", go_mod),
        ])
    };
    let without = "\n[[locked]]\nfile = \"go.mod\"\npackage = \"y\"\n";
    assert_eq!(
        super::drawn(&[("stacks/a/stack.toml", &stack("a", without))]),
        ""
    );
    assert_eq!(of("", "require y v1.2.3"), "");
    let drawn = [
        of("", "require x v1.2.3"),
        of("", "require y v1.2.3\nrequire y v2.0.0"),
        of("pattern = '^z v(.+)'\n", "require y v1.2.3"),
    ];
    insta::assert_snapshot!(drawn.join("\n\n"));
}

#[test]
fn a_stack_itself_is_no_folder_with_more_stacks() {
    let root = super::root(&[("mine/a/stack.toml", &super::stack("a", ""))]);
    let mine = root.path().join("mine");
    let stack = mine.join("a");
    assert_eq!(load(root.path(), &[mine]).unwrap().stacks.len(), 1);
    let error = load(root.path(), &[stack]).unwrap_err();
    assert!(matches!(error, LoadError::IsStack { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("name the folder above it"), "{text}");
}
