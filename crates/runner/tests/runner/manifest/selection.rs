use deadheat_runner::manifest::{Catalogue, Selection, load, select};

use super::{stack, workload};

fn catalogue() -> Catalogue {
    let variants = |ids: &[&str]| -> String {
        let tables = ids.iter();
        tables
            .map(|id| format!("\n[[variant]]\nid = \"{id}\"\ndescription = \"D\"\n"))
            .collect()
    };
    let point = "\n[[point]]\nid = \"c100\"\nconnections = 100\n";
    let root = super::root(&[
        (
            "stacks/go-nethttp/stack.toml",
            &stack("go-nethttp", &variants(&["1cpu", "2cpu"])),
        ),
        (
            "stacks/go-fast/stack.toml",
            &stack("go-fast", &variants(&["1cpu"])),
        ),
        ("stacks/rust-axum/stack.toml", &stack("rust-axum", "")),
        ("workloads/plaintext.toml", &workload("plaintext", point)),
        ("workloads/users.toml", &workload("users", "")),
        ("workloads/hash.toml", &workload("hash", point)),
    ]);
    load(root.path()).unwrap()
}

fn selected(stacks: &[&str], workloads: &[&str], all: bool) -> Result<Selection, String> {
    let owned = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    select(&catalogue(), &owned(stacks), &owned(workloads), all).map_err(|error| error.to_string())
}

fn targets(stacks: &[&str], all: bool) -> String {
    let selection = selected(stacks, &[], all).unwrap();
    let names: Vec<String> = selection.targets.iter().map(ToString::to_string).collect();
    names.join(" ")
}

fn points(workloads: &[&str], all: bool) -> String {
    let selection = selected(&[], workloads, all).unwrap();
    let names: Vec<String> = selection
        .workloads
        .iter()
        .flat_map(|one| {
            one.points
                .iter()
                .map(|point| format!("{}:{}", one.manifest.id, point.id))
        })
        .collect();
    names.join(" ")
}

#[test]
fn stacks_are_selected_by_name_variant_and_glob() {
    let every = "go-fast:1cpu go-nethttp:1cpu go-nethttp:2cpu rust-axum";
    let cases: &[(&[&str], bool, &str)] = &[
        (&[], false, "go-fast:1cpu go-nethttp:1cpu rust-axum"),
        (&[], true, every),
        (&["*:*"], false, every),
        (&["go-nethttp"], false, "go-nethttp:1cpu"),
        (&["go-nethttp"], true, "go-nethttp:1cpu go-nethttp:2cpu"),
        (&["go-*"], false, "go-fast:1cpu go-nethttp:1cpu"),
        (
            &["go-*:*"],
            false,
            "go-fast:1cpu go-nethttp:1cpu go-nethttp:2cpu",
        ),
        (&["go-*:2*"], false, "go-nethttp:2cpu"),
        (&["go-nethttp:2cpu"], true, "go-nethttp:2cpu"),
        (&["{rust-axum,go-fast}"], false, "go-fast:1cpu rust-axum"),
        (
            &["rust-axum", "go-fast", "rust-*"],
            false,
            "go-fast:1cpu rust-axum",
        ),
        (&["rust-axum:*"], false, "rust-axum"),
    ];
    for (globs, all, expected) in cases {
        assert_eq!(targets(globs, *all), *expected, "{globs:?} all: {all}");
    }
}

#[test]
fn workloads_are_selected_by_name_point_and_glob() {
    let every = "hash:c50 hash:c100 plaintext:c50 plaintext:c100 users:c50";
    let cases: &[(&[&str], bool, &str)] = &[
        // There is no proxy in this catalogue.
        (&[], false, "plaintext:c50 users:c50"),
        (&[], true, every),
        (&["*:*"], false, every),
        (&["hash"], false, "hash:c50"),
        (&["hash"], true, "hash:c50 hash:c100"),
        (&["hash:*"], false, "hash:c50 hash:c100"),
        (&["hash:c100"], false, "hash:c100"),
        (&["*:c100"], false, "hash:c100 plaintext:c100"),
        (&["hash", "hash:c100"], false, "hash:c50 hash:c100"),
    ];
    for (names, all, expected) in cases {
        assert_eq!(points(names, *all), *expected, "{names:?} all: {all}");
    }
}

#[test]
fn what_matches_nothing_gets_the_nearest_name_and_what_there_is() {
    let cases: &[(&[&str], &[&str], &str)] = &[
        (
            &["rust-axm"],
            &[],
            "no stack matches `rust-axm`: did you mean `rust-axum`? there are `go-fast`, `go-nethttp`, `rust-axum`",
        ),
        (
            &["axum"],
            &[],
            "no stack matches `axum`: did you mean `rust-axum`? there are `go-fast`, `go-nethttp`, `rust-axum`",
        ),
        (
            &["zig-*"],
            &[],
            "no stack matches `zig-*`: there are `go-fast`, `go-nethttp`, `rust-axum`",
        ),
        (
            &["go-nethttp:3cpu"],
            &[],
            "no stack matches `go-nethttp:3cpu`: did you mean `1cpu`? `go-nethttp` has `1cpu`, `2cpu`",
        ),
        (
            &["rust-axum:fast"],
            &[],
            "no stack matches `rust-axum:fast`: `rust-axum` has no variants",
        ),
        (
            &[],
            &["hash:rounds-500"],
            "no workload matches `hash:rounds-500`: say `hash:c50`? `hash` has `c50`, `c100`",
        ),
        (
            &["go-fsat"],
            &["user", "plaintext"],
            "no stack matches `go-fsat`: did you mean `go-fast`? there are `go-fast`, `go-nethttp`, `rust-axum`\n\
             no workload matches `user`: did you mean `users`? there are `hash`, `plaintext`, `users`",
        ),
        (
            &["go-["],
            &[],
            "`go-[` is not a valid glob: unclosed character class; missing ']'",
        ),
    ];
    for (stacks, workloads, expected) in cases {
        assert_eq!(selected(stacks, workloads, false).unwrap_err(), *expected);
    }
}

#[test]
fn an_empty_catalogue_has_nothing_to_select() {
    let root = super::root(&[]);
    let catalogue = load(root.path()).unwrap();
    let error = select(&catalogue, &[], &[], false).unwrap_err().to_string();
    assert!(error.contains("there are none"), "{error}");
}
