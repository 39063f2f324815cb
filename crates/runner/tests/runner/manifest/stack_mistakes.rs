//! A table of bad `stack.toml`s, each with the drawing that it gets.

use super::{drawn, stack, workload};

/// Draws the mistakes of `stacks/go/stack.toml`, where there are the workloads plaintext and users.
fn of(manifest: &str) -> String {
    let text = "kind = \"text\"\nbody = \"Hello\"";
    let users = workload("users", "").replace(text, "kind = \"users\"");
    drawn(&[
        ("stacks/go/stack.toml", manifest),
        ("workloads/plaintext.toml", &workload("plaintext", "")),
        ("workloads/users.toml", &users),
    ])
}

/// The least manifest, with `from` replaced.
fn with(from: &str, to: &str) -> String {
    let least = stack("go", "");
    assert!(least.contains(from), "{from}");
    least.replace(from, to)
}

/// Draws what is wrong where a stack names a workload that asks for others.
fn naming_a_mix(manifest: &str) -> String {
    let text = "kind = \"text\"\nbody = \"Hello\"";
    let mixed = "kind = \"mixed\"\n[[oracle.part]]\nworkload = \"plaintext\"\nweight = 1\n\
                 [[oracle.part]]\nworkload = \"users\"\nweight = 1";
    let users = workload("users", "").replace(text, "kind = \"users\"");
    drawn(&[
        ("stacks/go/stack.toml", manifest),
        (
            "workloads/both.toml",
            &workload("both", "").replace(text, mixed),
        ),
        ("workloads/plaintext.toml", &workload("plaintext", "")),
        ("workloads/users.toml", &users),
    ])
}

#[test]
fn a_workload_of_several_is_named_by_those() {
    let named = with("runtime", "workloads = [\"plaintext\", \"both\"]\nruntime");
    insta::assert_snapshot!(naming_a_mix(&named));
    let own = "\n[run.workload-env.both]\nA = \"1\"\n";
    insta::assert_snapshot!(naming_a_mix(&stack("go", own)));
    let unprepared = with("pool = 16", "pool = 16\nunprepared = [\"both\"]");
    insta::assert_snapshot!(naming_a_mix(&unprepared));
}

macro_rules! mistakes {
    ($($name:ident: $manifest:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(of(&$manifest));
        }
    )*};
}

mistakes! {
    misspelt_key_gets_a_suggestion: stack("go", "\n[build]\nartifacts = [\"out\"]\n");
    unknown_key_gets_the_known_ones: stack("go", "\n[build]\ncolour = \"blue\"\n");
    misspelt_key_in_a_nested_table: with("driver =", "drivr =");
    misspelt_key_in_the_second_variant:
        stack("go", "\n[[variant]]\nid = \"a\"\ndescription = \"A\"\n\n[[variant]]\nid = \"b\"\ndescripton = \"B\"\n");
    misspelt_key_in_a_variants_database: stack(
        "go",
        "\n[[variant]]\nid = \"a\"\ndescription = \"A\"\n[variant.database]\nio = \"async\"\nlayer = \"orm\"\ndriver = \"d\"\nsize = 4\n"
    );
    misspelt_key_in_an_inline_table:
        stack("go", "\n[build]\n\n[[locked]]\nfile = \"go.mod\"\npakage = \"x\"\n");
    missing_key: with("driver = \"pgx\"\n", "");
    no_database_for_users: with("[database]\nio = \"async\"\nlayer = \"raw\"\ndriver = \"pgx\"\npool = 16\n", "");
    missing_table: with("[run]\ncommand = [\"out/server\"]\n", "");
    missing_key_of_a_toolchain: stack("go", "\n[[toolchain]]\nprogram = \"go\"\nversion = [\"go\", \"version\"]\n");
    package_that_is_an_option: stack("go", "\n[build]\napt = [\"libpq5\", \"-oDPkg::Pre-Invoke::=id\"]\n");
    package_that_would_be_removed: stack("go", "\n[build]\napt = [\"nginx-\"]\n");
    package_of_a_toolchain_that_is_an_option: stack(
        "go",
        "\n[[toolchain]]\nprogram = \"go\"\nversion = [\"go\", \"version\"]\napt = [\"--purge\"]\nhint = \"h\"\n"
    );
    wrong_type: with("command = [\"out/server\"]", "command = \"out/server\"");
    wrong_type_in_an_array: with("[\"out/server\"]", "[\"out/server\", 8080]");
    wrong_type_of_a_table: with("[database]\nio = \"async\"\nlayer = \"raw\"\ndriver = \"pgx\"\npool = 16", "database = \"pgx\"");
    h2_without_tls: stack("go", "\n[protocols]\nh2 = true\n");
    unknown_protocol: stack("go", "\n[protocols]\nh3 = true\n");
    unknown_word: with("\"async\"", "\"asynch\"");
    unknown_word_without_a_near_one: with("\"native\"", "\"quick\"");
    pool_of_none_misspelt: with("pool = 16", "pool = \"nine\"");
    missing_pool: with("pool = 16\n", "");
    pool_of_zero: with("pool = 16", "pool = 0");
    negative_cpus: stack("go", "\n[[variant]]\nid = \"a\"\ndescription = \"A\"\ncpus = -1\n");
    malformed_toml: with("id = \"go\"", "id = \"go");
    key_twice: with("language = \"Go\"", "language = \"Go\"\nlanguage = \"Go\"");
    id_is_not_the_folder: with("id = \"go\"", "id = \"rust\"");
    id_with_a_colon: with("id = \"go\"", "id = \"go:fast\"");
    unknown_workload: with("runtime", "workloads = [\"plaintext\", \"user\"]\nruntime");
    workload_twice: with("runtime", "workloads = [\"users\", \"users\"]\nruntime");
    no_workload: with("runtime", "workloads = []\nruntime");
    variant_twice: stack("go", "\n[[variant]]\nid = \"a\"\ndescription = \"A\"\n\n[[variant]]\nid = \"a\"\ndescription = \"B\"\n");
    empty_commands: stack(
        "go",
        "\n[build]\nfetch = [[]]\nsteps = [[\"go\", \"build\"], [\"\"]]\n\n[[variant]]\nid = \"a\"\ndescription = \"A\"\ncommand = []\n"
    );
    unknown_lock_file: stack("go", "\n[[locked]]\nfile = \"cargo.lock\"\npackage = \"axum\"\n");
    patterns_that_find_no_version: stack(
        "go",
        "\n[[locked]]\nfile = \"VERSION\"\npackage = \"x\"\npattern = '(\\d'\n\n\
         [[locked]]\nfile = \"VERSION\"\npackage = \"x\"\npattern = '(x) (\\S+)'\n"
    );
    minimum_is_no_version: stack(
        "go",
        "\n[[toolchain]]\nprogram = \"go\"\nversion = [\"go\", \"version\"]\nminimum = \">=1.25\"\nhint = \"x\"\n"
    );
    maximum_is_no_version: stack(
        "go",
        "\n[[toolchain]]\nprogram = \"go\"\nversion = [\"go\", \"version\"]\nmaximum = \"1.x\"\nhint = \"x\"\n"
    );
    runtime_from_a_program_that_is_no_toolchain: stack(
        "go",
        "\n[[runtime-from]]\nprogram = \"rubi\"\nversion = \"3.3\"\nruntime = \"jit\"\n\n\
         [[toolchain]]\nprogram = \"ruby\"\nversion = [\"ruby\", \"--version\"]\nhint = \"x\"\n"
    );
    environment_of_an_unknown_workload: stack("go", "workload-env = { user = { A = \"1\", PORT = \"80\" } }\n");
    artefact_outside: stack("go", "\n[build]\nartefacts = [\"../secret\", \"/etc\", \"out\"]\n");
    environment_of_the_contract: stack("go", "env = { PORT = \"80\", NODE_ENV = \"production\" }\n");
    variant_for_no_cpus: stack("go", "\n[[variant]]\nid = \"a\"\ndescription = \" \"\ncpus = 0\n");
    pipelining_on_connections_that_close: stack(
        "go",
        "\n[http]\npipelining = true\nkeep-alive = false\n\n\
         [[variant]]\nid = \"a\"\ndescription = \"A\"\n[variant.http]\nkeep-alive = false\npipelining = true\n"
    );
    several_mistakes_at_once: stack(
        "go",
        "\n[build]\nartifacts = [\"out\"]\nstep = [[]]\nfetch = 3\n\n[[variant]]\nid = \"A\"\ndescription = \"A\"\n"
    );
}

#[test]
fn two_folders_with_one_id() {
    insta::assert_snapshot!(drawn(&[
        ("stacks/go/stack.toml", &stack("go", "")),
        ("stacks/go-copy/stack.toml", &stack("go", "")),
    ]));
}

#[test]
fn an_empty_manifest_is_none() {
    insta::assert_snapshot!(of(""));
}

#[test]
fn the_least_manifest_and_a_full_one_have_no_mistake() {
    assert_eq!(of(&stack("go", "")), "");
    let full = stack(
        "go",
        "env = { A = \"1\" }\nworkload-env = { users = { B = \"2\" } }\n\n\
         [[toolchain]]\nprogram = \"go\"\nversion = [\"go\", \"version\"]\nminimum = \"1.25\"\napt = [\"golang\"]\nmaximum = \"1.30\"\nhint = \"x\"\n\n\
         [[runtime-from]]\nprogram = \"go\"\nversion = \"1.29\"\nruntime = \"jit\"\n\n\
         [[locked]]\nfile = \"go.mod\"\npackage = \"x\"\n\n\
         [build]\napt = [\"make\"]\nfetch = [[\"a\"]]\nsteps = [[\"b\"]]\nartefacts = [\"out/server\", \".\"]\n\n\
         [[variant]]\nid = \"unpooled\"\ndescription = \"A connection per request\"\ncpus = 2\ncommand = [\"c\"]\nlimits = [\"slow\"]\n\
         [variant.env]\nB = \"2\"\n\
         [variant.database]\nio = \"async\"\nlayer = \"orm\"\ndriver = \"d\"\npool = \"none\"\n",
    );
    assert_eq!(of(&full), "");
}

#[test]
fn a_route_is_a_path_of_a_workload_with_one_path() {
    let routed = |route: &str| {
        let text = "kind = \"text\"\nbody = \"Hello\"";
        let items = workload("items", "").replace(text, "kind = \"crud\"");
        drawn(&[
            (
                "stacks/go/stack.toml",
                &stack("go", &format!("\n[routes]\n{route}\n")),
            ),
            ("workloads/items.toml", &items),
            ("workloads/plaintext.toml", &workload("plaintext", "")),
        ])
    };
    assert_eq!(routed("plaintext = \"/hello\""), "");
    for (route, mistake) in [
        (
            "plaintxt = \"/hello\"",
            "the workload `plaintxt` does not exist",
        ),
        ("plaintext = \"hello\"", "this is not a valid path"),
        ("plaintext = \"/{rounds}\"", "{rounds} in one path alone"),
        ("items = \"/things\"", "`items` has several paths"),
    ] {
        let drawn = routed(route);
        assert!(drawn.contains(mistake), "{drawn}");
    }
}
