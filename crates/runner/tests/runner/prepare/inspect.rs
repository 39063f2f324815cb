use std::fs;

use deadheat_model::{TargetId, plan::Pinning};
use deadheat_runner::prepare::{Unavailable, inspect_all};

use super::Workshop;

const TWO_PROGRAMS: &str = "\
[[toolchain]]
program = \"cc\"
version = [\"cc\", \"--version\"]
apt = [\"gcc\"]
hint = \"https://cc.example\"

[[toolchain]]
program = \"tool\"
version = [\"tool\"]
minimum = \"2\"
apt = [\"tool\", \"gcc\"]
hint = \"https://tool.example\"
";

const VARIANTS: &str = "\
[[variant]]
id = \"1cpu\"
description = \"D\"
cpus = 1

[[variant]]
id = \"2cpu\"
description = \"D\"
cpus = 2

[[variant]]
id = \"any\"
description = \"D\"
";

fn availability(
    workshop: &Workshop,
    more: &str,
    variant: Option<&str>,
    pinning: &Pinning,
) -> Option<Unavailable> {
    let stack = workshop.stack(more);
    let target = TargetId::new("toy", variant);
    workshop
        .inspect(&stack)
        .availability(&workshop.host(), &stack, &target, pinning)
}

fn off(cpus: usize) -> Pinning {
    Pinning::Off {
        cpus: (0..cpus).collect(),
    }
}

#[test]
fn versions_are_those_of_programs_and_then_of_packages() {
    let workshop = Workshop::sealed();
    workshop
        .program("cc", "echo 'cc (Debian 12.2.0-14) 12.2.0'")
        .program("tool", "echo 2.1")
        .file("stack/go.mod", "require x v1.2.3");
    let locked = "[[locked]]\nfile = \"go.mod\"\npackage = \"x\"\n[[locked]]\nfile = \"go.mod\"\npackage = \"y\"\n";
    let inspection = workshop.inspect(&workshop.stack(&format!("{TWO_PROGRAMS}{locked}")));
    let found: Vec<String> = inspection
        .versions(&TargetId::new("toy", None))
        .iter()
        .map(|found| format!("{} {}", found.name, found.version))
        .collect();
    assert_eq!(found, ["cc 12.2.0-14", "tool 2.1", "x 1.2.3"]);
    assert!(inspection.is_complete());
    let problem = inspection.locked[1].as_ref().unwrap_err().to_string();
    assert!(problem.contains("no version of `y`"), "{problem}");
}

#[test]
fn a_stack_without_its_toolchain_is_unavailable() {
    let workshop = Workshop::sealed();
    workshop.program("tool", "echo 1.9");
    let missing = availability(&workshop, TWO_PROGRAMS, None, &off(4)).unwrap();
    let tool = workshop.path("bin/tool");
    let reason = format!(
        "cc is not on the PATH; tool 1.9 ({}) is too old; 2 or later is needed",
        tool.display()
    );
    assert_eq!(missing.reason, reason);
    assert_eq!(
        missing.remedy,
        "install cc: https://cc.example; install tool 2 or later: https://tool.example"
    );
    fs::remove_file(tool).unwrap();
    workshop.debian(&[]);
    let missing = availability(&workshop, TWO_PROGRAMS, None, &off(4)).unwrap();
    assert_eq!(
        missing.remedy,
        "apt-get install -y --no-install-recommends --no-remove -oAPT::Cmd::Pattern-Only=true -- gcc tool"
    );
}

#[test]
fn a_variant_for_more_cpus_than_there_are_is_unavailable() {
    let workshop = Workshop::sealed();
    let apart = Pinning::Apart {
        server: vec![0],
        generator: vec![1],
    };
    for variant in [Some("1cpu"), Some("any"), None] {
        assert_eq!(availability(&workshop, VARIANTS, variant, &apart), None);
    }
    let pinned = availability(&workshop, VARIANTS, Some("2cpu"), &apart).unwrap();
    assert_eq!(
        pinned.reason,
        "made for 2 CPUs; pinned apart, this machine has 1 for the server"
    );
    assert_eq!(pinned.remedy, "--pinning off, or a machine with more CPUs");
    let small = availability(&workshop, VARIANTS, Some("2cpu"), &off(1)).unwrap();
    assert_eq!(small.reason, "made for 2 CPUs; this machine has 1");
    assert_eq!(small.remedy, "a machine with more CPUs");
    assert_eq!(
        availability(&workshop, VARIANTS, Some("2cpu"), &off(2)),
        None
    );
}

const OWN_PROGRAMS: &str = "\
[[toolchain]]
program = \"cc\"
version = [\"cc\"]
hint = \"https://cc.example\"

[[variant]]
id = \"plain\"
description = \"D\"

[[variant]]
id = \"fast\"
description = \"D\"
[[variant.toolchain]]
program = \"jit\"
version = [\"jit\"]
minimum = \"3\"
hint = \"https://jit.example\"

[[variant]]
id = \"fast-cluster\"
description = \"D\"
cpus = 2
[[variant.toolchain]]
program = \"jit\"
version = [\"jit\"]
minimum = \"3\"
hint = \"https://jit.example\"
";

#[test]
fn a_variant_without_its_own_program_is_unavailable_alone() {
    let workshop = Workshop::sealed();
    workshop.program("cc", "echo 1.0");
    let of = |variant| availability(&workshop, OWN_PROGRAMS, Some(variant), &off(1));
    assert_eq!(of("plain"), None);
    let fast = of("fast").unwrap();
    assert_eq!(fast.reason, "jit 3 or later is not on the PATH");
    assert_eq!(fast.remedy, "install jit 3 or later: https://jit.example");
    workshop.program("jit", "echo 2.9");
    let fast = of("fast").unwrap().reason;
    assert!(fast.contains("jit 2.9") && fast.contains("3 or later is needed"));
    workshop.program("jit", "echo 3.0");
    assert_eq!(of("fast"), None);
    assert!(of("fast-cluster").unwrap().reason.contains("2 CPUs"));
    // Without the stack's own, everything that is missing is said at once.
    fs::remove_file(workshop.path("bin/cc")).unwrap();
    workshop.program("jit", "exit 1");
    assert_eq!(of("plain").unwrap().reason, "cc is not on the PATH");
    let both = of("fast").unwrap();
    assert_eq!(
        both.reason,
        "cc is not on the PATH; jit does not work: `jit` exited with status 1"
    );
    assert_eq!(
        both.remedy,
        "install cc: https://cc.example; make `jit` work, or install jit 3 or later: https://jit.example"
    );
}

#[test]
fn several_stacks_ask_a_program_once_unless_their_folders_choose_its_version() {
    let workshop = Workshop::new();
    let asked = workshop.path("asked");
    workshop.program(
        "jit",
        &format!("echo once >> {}; cat .tool-version", asked.display()),
    );
    let stack = |name: &str, version: Option<&str>| {
        workshop.file(&format!("{name}/stack.toml"), "");
        if let Some(version) = version {
            workshop.file(&format!("{name}/.tool-version"), version);
        }
        let mut stack =
            workshop.stack("[[toolchain]]\nprogram = \"jit\"\nversion = [\"jit\"]\nhint = \"x\"\n");
        stack.dir = workshop.path(name);
        stack
    };
    let stacks = [
        stack("a", Some("3.1")),
        stack("b", Some("3.1")),
        stack("c", Some("3.2")),
    ];
    let stacks: Vec<&_> = stacks.iter().collect();
    let mut told = Vec::new();
    let found = inspect_all(&workshop.host(), &stacks, &mut |asking| {
        told.push((asking.answered, asking.all));
    });
    let versions = found
        .iter()
        .map(|one| one.programs[0].as_ref().unwrap().version.clone());
    assert_eq!(versions.collect::<Vec<_>>(), ["3.1", "3.1", "3.2"]);
    assert_eq!(workshop.text("asked"), "once\nonce\n");
    assert_eq!(told.last(), Some(&(2, 2)));
}

#[test]
fn each_program_is_asked_once_and_told_of_its_own_variant() {
    let workshop = Workshop::sealed();
    let asked = workshop.path("asked");
    let note = format!("echo once >> {}; echo 3.1", asked.display());
    workshop.program("cc", "echo 1.0").program("jit", &note);
    let inspection = workshop.inspect(&workshop.stack(OWN_PROGRAMS));
    let of = |variant| {
        let target = TargetId::new("toy", Some(variant));
        let versions = inspection.versions(&target);
        let names = versions.iter().map(|one| one.name.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(of("plain"), ["cc"]);
    assert_eq!(of("fast"), ["cc", "jit"]);
    assert_eq!(of("fast-cluster"), ["cc", "jit"]);
    assert_eq!(workshop.text("asked"), "once\n");
}

#[test]
fn a_version_that_a_fetch_brings_is_known_after_it() {
    let workshop = Workshop::sealed();
    let stack = workshop.stack("[[locked]]\nfile = \"deps/x.app\"\npackage = \"x\"\n");
    let mut inspection = workshop.inspect(&stack);
    let target = TargetId::new("toy", None);
    assert!(inspection.versions(&target).is_empty() && inspection.locked[0].is_ok());
    workshop.file("stack/deps/x.app", "{application, x, [{vsn, \"1.2.3\"}]}.");
    inspection.read_locked_again(&stack);
    assert_eq!(inspection.versions(&target)[0].version, "1.2.3");
}
