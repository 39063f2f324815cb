use deadheat_runner::manifest::{Catalogue, Reach, Selection, load, pack, select};

use super::{stack, workload};

fn catalogue() -> Catalogue {
    let variants = |ids: &[&str]| -> String {
        let tables = ids.iter();
        tables
            .map(|id| format!("\n[[variant]]\nid = \"{id}\"\ndescription = \"D\"\n"))
            .collect()
    };
    let point = "\n[[point]]\nid = \"c100\"\nconnections = 100\n";
    let streams =
        "\n[[point]]\nid = \"h2c-10x10\"\nprotocol = \"h2c\"\nconnections = 10\nstreams = 10\n";
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
        ("workloads/users.toml", &workload("users", streams)),
        ("workloads/hash.toml", &workload("hash", point)),
    ]);
    load(root.path(), &[]).unwrap()
}

fn selected(stacks: &[&str], workloads: &[&str], reach: Reach) -> Result<Selection, String> {
    let owned = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    select(&catalogue(), &owned(stacks), &owned(workloads), reach)
        .map_err(|error| error.to_string())
}

fn targets(stacks: &[&str], reach: Reach) -> String {
    let selection = selected(stacks, &[], reach).unwrap();
    let names: Vec<String> = selection.targets.iter().map(ToString::to_string).collect();
    names.join(" ")
}

fn points(workloads: &[&str], reach: Reach) -> String {
    let selection = selected(&[], workloads, reach).unwrap();
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
    let (some, all) = (Reach::Defaults, Reach::All);
    let cases: &[(&[&str], Reach, &str)] = &[
        (&[], some, "go-fast:1cpu go-nethttp:1cpu rust-axum"),
        (&[], all, every),
        (&["*:*"], some, every),
        (&["go-nethttp"], some, "go-nethttp:1cpu"),
        (&["go-nethttp"], all, "go-nethttp:1cpu go-nethttp:2cpu"),
        (&["go-*"], some, "go-fast:1cpu go-nethttp:1cpu"),
        (
            &["go-*:*"],
            some,
            "go-fast:1cpu go-nethttp:1cpu go-nethttp:2cpu",
        ),
        (&["go-*:2*"], some, "go-nethttp:2cpu"),
        (&["go-nethttp:2cpu"], all, "go-nethttp:2cpu"),
        (&["{rust-axum,go-fast}"], some, "go-fast:1cpu rust-axum"),
        (
            &["rust-axum", "go-fast", "rust-*"],
            some,
            "go-fast:1cpu rust-axum",
        ),
        (&["rust-axum:*"], some, "rust-axum"),
    ];
    for (globs, reach, expected) in cases {
        assert_eq!(targets(globs, *reach), *expected, "{globs:?} {reach:?}");
    }
}

#[test]
fn no_wildcard_reaches_what_is_no_longer_maintained() {
    let old = stack("go-old", "").replace("class =", "role = \"historic\"\nclass =");
    let root = super::root(&[
        ("stacks/go-new/stack.toml", &stack("go-new", "")),
        ("stacks/go-old/stack.toml", &old),
        ("workloads/plaintext.toml", &workload("plaintext", "")),
        ("workloads/users.toml", &workload("users", "")),
    ]);
    let catalogue = load(root.path(), &[]).unwrap();
    let cases: [(&[&str], Reach, &[&str]); 6] = [
        (&[], Reach::Defaults, &["go-new"]),
        (&["go-*"], Reach::All, &["go-new"]),
        (&["*"], Reach::Everything, &["go-new", "go-old"]),
        (&["go-old"], Reach::Defaults, &["go-old"]),
        (
            &["go-new", "go-old"],
            Reach::Defaults,
            &["go-new", "go-old"],
        ),
        (&["go-old:*"], Reach::Defaults, &["go-old"]),
    ];
    for (globs, reach, expected) in cases {
        let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
        let found = select(&catalogue, &globs, &[], reach).unwrap().targets;
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{globs:?} {reach:?}");
    }
}

#[test]
fn workloads_are_selected_by_name_point_and_glob() {
    let every = "hash:c50 hash:c100 plaintext:c50 plaintext:c100 users:c50";
    let with_http_2 = &format!("{every} users:h2c-10x10");
    let (some, all) = (Reach::Defaults, Reach::All);
    let cases: &[(&[&str], Reach, &str)] = &[
        // There is no proxy in this catalogue.
        (&[], some, "plaintext:c50 users:c50"),
        (&[], all, every),
        (&["*:*"], some, with_http_2),
        (&[], Reach::Everything, with_http_2),
        (&["users"], all, "users:c50"),
        (&["users:h2c-*"], some, "users:h2c-10x10"),
        (&["hash"], some, "hash:c50"),
        (&["hash"], all, "hash:c50 hash:c100"),
        (&["hash:*"], some, "hash:c50 hash:c100"),
        (&["hash:c100"], some, "hash:c100"),
        (&["*:c100"], some, "hash:c100 plaintext:c100"),
        (&["hash", "hash:c100"], some, "hash:c50 hash:c100"),
    ];
    for (names, reach, expected) in cases {
        assert_eq!(points(names, *reach), *expected, "{names:?} {reach:?}");
    }
}

#[test]
fn what_matches_nothing_gets_the_nearest_name_and_what_there_is() {
    let cases: &[(&[&str], &[&str], &str)] = &[
        (
            &["rust-axm"],
            &[],
            "no stack matches `rust-axm`: did you mean `rust-axum`? there are `go-fast`, `go-nethttp`, `rust-axum`; \
             --stacks DIR adds those of another folder",
        ),
        (
            &["axum"],
            &[],
            "no stack matches `axum`: did you mean `rust-axum`? there are `go-fast`, `go-nethttp`, `rust-axum`; \
             --stacks DIR adds those of another folder",
        ),
        (
            &["zig-*"],
            &[],
            "no stack matches `zig-*`: there are `go-fast`, `go-nethttp`, `rust-axum`; \
             --stacks DIR adds those of another folder",
        ),
        (
            &[],
            &["users:h2c"],
            "no workload matches `users:h2c`: did you mean `users:h2c-10x10`? `users` has `c50`, `h2c-10x10`",
        ),
        (
            &[],
            &["us*:H2C"],
            "no workload matches `us*:H2C`: did you mean `users:h2c-10x10`? `users` has `c50`, `h2c-10x10`",
        ),
        (
            &[],
            &["*:h2c"],
            "no workload matches `*:h2c`: did you mean `users:h2c-10x10`? `users` has `c50`, `h2c-10x10`",
        ),
        (
            &[],
            &["hash:h2c"],
            "no workload matches `hash:h2c`: none of its loads speaks h2c. `hash` has `c50`, `c100`",
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
            "no stack matches `go-fsat`: did you mean `go-fast`? there are `go-fast`, `go-nethttp`, `rust-axum`; \
             --stacks DIR adds those of another folder\n\
             no workload matches `user`: did you mean `users`? there are `hash`, `plaintext`, `users`",
        ),
        (
            &["go-["],
            &[],
            "`go-[` is not a valid glob: unclosed character class; missing ']'",
        ),
    ];
    for (stacks, workloads, expected) in cases {
        assert_eq!(
            selected(stacks, workloads, Reach::Defaults).unwrap_err(),
            *expected
        );
    }
}

#[test]
fn an_empty_catalogue_has_nothing_to_select() {
    let root = super::root(&[]);
    let catalogue = load(root.path(), &[]).unwrap();
    let error = select(&catalogue, &[], &[], Reach::Defaults)
        .unwrap_err()
        .to_string();
    assert!(error.contains("there are none"), "{error}");
}

#[test]
fn a_pack_is_selected_by_its_name_and_no_wildcard_reaches_it() {
    let in_pack = |id: &str| workload(id, "").replace("method =", "pack = \"suite\"\nmethod =");
    let routed = "\n[routes]\nte-json = \"/suite/json\"\n";
    let root = super::root(&[
        ("stacks/go-a/stack.toml", &stack("go-a", routed)),
        ("stacks/go-b/stack.toml", &stack("go-b", "")),
        ("workloads/plaintext.toml", &workload("plaintext", "")),
        ("workloads/te-json.toml", &in_pack("te-json")),
        ("workloads/te-db.toml", &in_pack("te-db")),
    ]);
    let catalogue = load(root.path(), &[]).unwrap();
    let found = |names: &[String], reach| {
        let selection = select(&catalogue, &[], names, reach).unwrap();
        let ids = selection
            .workloads
            .iter()
            .map(|one| one.manifest.id.clone());
        ids.collect::<Vec<_>>().join(" ")
    };
    let any = ["*".to_owned()];
    assert_eq!(found(&[], Reach::Defaults), "plaintext");
    assert_eq!(found(&any, Reach::All), "plaintext");
    assert_eq!(found(&["te-db".to_owned()], Reach::Defaults), "te-db");
    let own = pack(&catalogue, "suite").unwrap();
    assert_eq!(found(&own, Reach::Defaults), "te-db te-json");
    let error = pack(&catalogue, "suit").unwrap_err().to_string();
    assert_eq!(
        error,
        "no pack is called `suit`: did you mean `suite`? there are `suite`"
    );
    let answers = |stack: usize, id: &str| {
        let manifest = &catalogue.stacks[stack].manifest;
        manifest.answers(catalogue.workload(id).unwrap())
    };
    assert!(answers(0, "te-json") && answers(0, "plaintext"));
    assert!(!answers(0, "te-db") && !answers(1, "te-json"));
    let json = catalogue.workload("te-json").unwrap();
    assert_eq!(catalogue.stacks[0].manifest.path_of(json), "/suite/json");
    assert_eq!(catalogue.stacks[1].manifest.path_of(json), "/te-json");
}
