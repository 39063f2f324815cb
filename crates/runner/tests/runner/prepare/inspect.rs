use deadheat_model::{TargetId, plan::Pinning};
use deadheat_runner::prepare::Unavailable;

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
        .versions()
        .iter()
        .map(|found| format!("{} {}", found.name, found.version))
        .collect();
    assert_eq!(found, ["cc 12.2.0-14", "tool 2.1", "x 1.2.3"]);
    assert!(inspection.is_complete());
    let problems = inspection.problems();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains("reading the version of y"),
        "{problems:?}"
    );
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
    assert_eq!(missing.remedy, "https://cc.example; https://tool.example");
    workshop.debian(&[]);
    let missing = availability(&workshop, TWO_PROGRAMS, None, &off(4)).unwrap();
    assert_eq!(
        missing.remedy,
        "apt-get install -y --no-install-recommends gcc tool"
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
        "made for 2 CPUs; pinned apart, this machine gives the server 1"
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
