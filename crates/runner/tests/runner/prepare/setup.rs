use std::{
    fs, os::unix::fs::symlink, path::PathBuf, sync::atomic::Ordering, thread, time::Duration,
};

use deadheat_model::TargetId;
use deadheat_runner::{
    manifest::Stack,
    prepare::{
        Builder, ChosenStack, DatabaseNeed, Inspection, Privilege, SetupNeeds, SetupOutcome,
        SetupPlan, SetupProgress, SetupStep, StackNeed, assess, run_setup,
    },
};
use deadheat_testkit::wait_until;

use super::Workshop;

fn needs(apt: Option<Privilege>, postgres: bool) -> SetupNeeds {
    let need = |stack: &str, packages: &[&str], beyond_reach: &[&str], fetch: &[&str]| StackNeed {
        stack: stack.to_owned(),
        dir: PathBuf::from("/srv/stacks").join(stack),
        packages: packages.iter().map(|name| (*name).to_owned()).collect(),
        beyond_reach: beyond_reach
            .iter()
            .map(|text| (TargetId::new(stack, None), (*text).to_owned()))
            .collect(),
        fetch: fetch
            .iter()
            .map(|text| text.split(' ').map(str::to_owned).collect())
            .collect(),
    };
    SetupNeeds {
        apt,
        foreign_policy: false,
        leftovers: Vec::new(),
        postgres,
        packages: Vec::new(),
        stacks: vec![
            need(
                "go-nethttp",
                &[],
                &["go 1.25 or later is not on the PATH: https://go.dev/dl/"],
                &[],
            ),
            need("node-http", &[], &[], &["npm ci --omit=dev"]),
            need("nim-http", &["libpq5", "nim"], &[], &[]),
            need(
                "ruby-rack",
                &["libpq5", "ruby"],
                &[],
                &["bundle config set path 'x y'", "bundle install"],
            ),
        ],
    }
}

/// All variants of a stack.
fn chosen<'a>(stack: &'a Stack, inspection: &'a Inspection) -> ChosenStack<'a> {
    ChosenStack {
        stack,
        inspection,
        targets: stack.manifest.targets(),
    }
}

#[test]
fn plans_are_printed_before_anything_is_done() {
    let cases = [
        ("as_root", needs(Some(Privilege::Root), true)),
        ("with_sudo", needs(Some(Privilege::Sudo), false)),
        ("by_hand", needs(Some(Privilege::ByHand), false)),
        ("without_apt", needs(None, true)),
    ];
    for (name, needs) in cases {
        insta::assert_snapshot!(name, SetupPlan::new(&needs).to_string());
    }
}

#[test]
fn somebody_elses_policy_stays_and_what_was_left_behind_goes() {
    let foreign = SetupNeeds {
        foreign_policy: true,
        ..needs(Some(Privilege::Root), false)
    };
    let plan = SetupPlan::new(&foreign);
    assert_eq!((plan.guards.len(), plan.cleanup.len()), (0, 0));
    assert!(plan.afterwards.is_empty(), "{plan}");
    assert!(
        plan.notes
            .iter()
            .any(|note| note.contains("policy-rc.d is there")),
        "{plan}"
    );
    let leftover = SetupNeeds {
        leftovers: vec!["/usr/sbin/policy-rc.d".to_owned()],
        stacks: Vec::new(),
        ..needs(Some(Privilege::Root), false)
    };
    let plan = SetupPlan::new(&leftover);
    assert_eq!(plan.steps().len(), 1, "{plan}");
    assert_eq!(
        plan.cleanup[0].command,
        ["rm", "-f", "/usr/sbin/policy-rc.d"]
    );
}

#[test]
fn with_everything_here_there_is_nothing_to_do() {
    let workshop = Workshop::sealed();
    workshop.debian(&["make"]).program("initdb", "");
    let stack = workshop.stack("[build]\napt = [\"make\"]\n");
    let inspection = workshop.inspect(&stack);
    let needs = assess(
        &workshop.host(),
        &[chosen(&stack, &inspection)],
        DatabaseNeed::Binaries,
        &[],
    );
    let plan = SetupPlan::new(&needs);
    assert!(
        plan.is_empty() && plan.steps().is_empty() && plan.notes.is_empty(),
        "{plan}"
    );
}

const TOOL: &str = "\
[[toolchain]]
program = \"tool\"
version = [\"tool\"]
apt = [\"tool-dev\"]
hint = \"https://tool.example\"

[build]
apt = [\"make\", \"libpq5\"]
fetch = [[\"tool\", \"fetch\"]]
";

#[test]
fn the_machine_is_asked_what_is_missing() {
    let mut workshop = Workshop::sealed();
    workshop.debian(&["make"]);
    let stack = workshop.stack(TOOL);
    let inspection = workshop.inspect(&stack);
    let ask = |workshop: &Workshop| {
        assess(
            &workshop.host(),
            &[chosen(&stack, &inspection)],
            DatabaseNeed::Binaries,
            &[],
        )
    };
    let needs = ask(&workshop);
    assert_eq!((needs.apt, needs.postgres), (Some(Privilege::Root), true));
    assert!(!needs.foreign_policy && needs.leftovers.is_empty());
    assert_eq!(needs.stacks[0].packages, ["libpq5", "tool-dev"]);
    assert_eq!(needs.stacks[0].fetch, [["tool", "fetch"]]);
    workshop.root = false;
    assert_eq!(ask(&workshop).apt, Some(Privilege::ByHand));
    workshop.program("sudo", "[ \"$*\" = '-n true' ]");
    assert_eq!(ask(&workshop).apt, Some(Privilege::Sudo));
    workshop.program("sudo", "echo 'sudo: a password is required' >&2; exit 1");
    assert_eq!(ask(&workshop).apt, Some(Privilege::ByHand));
    workshop.file(
        "system/usr/sbin/policy-rc.d",
        "#!/bin/sh\n# made by deadheat setup\nexit 101\n",
    );
    let needs = ask(&workshop);
    assert_eq!(
        (needs.foreign_policy, needs.leftovers),
        (false, vec!["/usr/sbin/policy-rc.d".to_owned()])
    );
    workshop.file("system/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n");
    let needs = ask(&workshop);
    assert_eq!((needs.foreign_policy, needs.leftovers), (true, Vec::new()));
    workshop.file("system/usr/lib/postgresql/15/bin/initdb", "");
    assert!(!ask(&workshop).postgres);
    assert!(!assess(&workshop.host(), &[], DatabaseNeed::None, &[]).postgres);
}

#[test]
fn packages_are_installed_that_are_asked_for_by_name() {
    let mut workshop = Workshop::sealed();
    workshop.debian(&["make"]);
    workshop.root = true;
    let names = ["make", "chromium"].map(str::to_owned);
    let ask = |workshop: &Workshop| assess(&workshop.host(), &[], DatabaseNeed::None, &names);
    let needs = ask(&workshop);
    assert_eq!(needs.packages, ["chromium"]);
    let install = SetupPlan::new(&needs).install.expect("an installation");
    assert_eq!(install.command.last().unwrap(), "chromium");
    let without = SetupPlan::new(&ask(&Workshop::sealed()));
    assert!(without.is_empty(), "{without}");
    assert!(
        without.notes[0].starts_with("make: there is no apt here"),
        "{without}"
    );
}

#[test]
fn without_apt_packages_are_beyond_reach() {
    let workshop = Workshop::sealed();
    let stack = workshop.stack(TOOL);
    let inspection = workshop.inspect(&stack);
    let needs = assess(
        &workshop.host(),
        &[chosen(&stack, &inspection)],
        DatabaseNeed::None,
        &[],
    );
    assert_eq!(needs.apt, None);
    assert_eq!(needs.stacks[0].packages, [""; 0]);
    let what = "tool is not on the PATH; install tool: https://tool.example".to_owned();
    let besides = "there is no apt here; it needs what Debian calls make, libpq5".to_owned();
    let toy = TargetId::new("toy", None);
    assert_eq!(
        needs.stacks[0].beyond_reach,
        [(toy.clone(), what), (toy, besides)]
    );
    // Its fetch cannot run, so that no plan may say that it would.
    assert_eq!(needs.stacks[0].fetch, [[""; 0]; 0]);
    let plan = SetupPlan::new(&needs);
    assert!(plan.is_empty(), "{plan}");
    assert_eq!(
        plan.to_string(),
        "# not done here: toy: tool is not on the PATH; install tool: https://tool.example\n\
         # not done here: toy: there is no apt here; it needs what Debian calls make, libpq5\n"
    );
}

const OF_VARIANTS: &str = "\
[build]
fetch = [[\"true\"]]

[[variant]]
id = \"plain\"
description = \"D\"

[[variant]]
id = \"packaged\"
description = \"D\"
[[variant.toolchain]]
program = \"tool\"
version = [\"tool\"]
apt = [\"tool-dev\"]
hint = \"https://tool.example\"

[[variant]]
id = \"rare\"
description = \"D\"
[[variant.toolchain]]
program = \"rare\"
version = [\"rare\"]
hint = \"https://rare.example\"
";

#[test]
fn only_what_the_chosen_variants_need_is_installed() {
    let workshop = Workshop::sealed();
    workshop.debian(&[]);
    let stack = workshop.stack(OF_VARIANTS);
    let inspection = workshop.inspect(&stack);
    let needs = |variants: &[&str]| {
        let targets = variants.iter().map(|id| TargetId::new("toy", Some(id)));
        let chosen = ChosenStack {
            targets: targets.collect(),
            ..chosen(&stack, &inspection)
        };
        assess(&workshop.host(), &[chosen], DatabaseNeed::None, &[])
    };
    let cases: [(&[&str], &[&str], usize); 4] = [
        (&["plain"], &[], 0),
        (&["packaged"], &["tool-dev"], 0),
        (&["plain", "rare"], &[], 1),
        (&["plain", "packaged", "rare"], &["tool-dev"], 1),
    ];
    for (variants, packages, beyond_reach) in cases {
        let needs = needs(variants);
        let toy = &needs.stacks[0];
        assert_eq!(toy.packages, packages, "{variants:?}");
        assert_eq!(toy.beyond_reach.len(), beyond_reach, "{variants:?}");
        // What a variant misses keeps nobody from the stack's dependencies.
        assert_eq!(toy.fetch, [["true"]], "{variants:?}");
    }
    let plan = SetupPlan::new(&needs(&["rare"])).to_string();
    let note =
        "# not done here: toy:rare: rare is not on the PATH; install rare: https://rare.example";
    assert!(plan.contains(note), "{plan}");
}

/// Every program that a setup runs, as a fake that notes how it was called.
fn fakes(workshop: &Workshop, apt_get: &str) {
    let calls = workshop.path("calls");
    let note = format!("printf '%s\\n' \"${{0##*/}} $*\" >> {}", calls.display());
    for name in ["sh", "rm"] {
        workshop.program(name, &note);
    }
    workshop.debian(&["make"]);
    workshop.program(
        "env",
        &format!("shift; exec {}/\"$@\"", workshop.path("bin").display()),
    );
    workshop.program("apt-get", &format!("{note}\n{apt_get}"));
}

/// Installs a `tool` that can fetch.
fn that_installs_tool(workshop: &Workshop) -> String {
    let tool = workshop.path("bin/tool");
    let tool = tool.display();
    format!(
        "[ \"$1\" = install ] && {{ printf '#!/bin/sh\\necho 1.0\\n[ \"$1\" = fetch ] && echo > fetched; true\\n' > {tool}; /bin/chmod 755 {tool}; }}\ntrue"
    )
}

fn set_up(
    workshop: &Workshop,
    stacks: &[&Stack],
    mut heard: impl FnMut(&SetupProgress<'_>),
) -> (SetupOutcome, String) {
    let (host, logs) = (workshop.host(), workshop.path("logs"));
    let builder = Builder {
        host: &host,
        logs: &logs,
        limit: workshop.limit,
    };
    let inspections: Vec<_> = stacks.iter().map(|stack| workshop.inspect(stack)).collect();
    let pairs = stacks.iter().zip(&inspections);
    let all: Vec<_> = pairs.map(|(stack, found)| chosen(stack, found)).collect();
    let plan = SetupPlan::new(&assess(&host, &all, DatabaseNeed::None, &[]));
    let outcome = run_setup(&builder, &plan, stacks, &mut |progress| heard(&progress));
    (outcome, workshop.text("calls"))
}

/// The first words of each call.
fn verbs(calls: &str) -> Vec<String> {
    let first = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    calls.lines().map(first).collect()
}

#[test]
fn a_package_is_installed_only_if_apt_knows_it_by_exactly_its_name() {
    let workshop = Workshop::sealed();
    fakes(&workshop, &that_installs_tool(&workshop));
    let stack = workshop.stack(&TOOL.replace("libpq5", "libpq5+"));
    let mut unknown = Vec::new();
    let (outcome, calls) = set_up(&workshop, &[&stack], |progress| {
        if let SetupProgress::NoSuchPackage(package) = progress {
            unknown.push((*package).to_owned());
        }
    });
    assert_eq!((outcome.failed, unknown), (1, vec!["libpq5+".to_owned()]));
    // The others are.
    assert!(calls.contains(" -- tool-dev\n"), "{calls}");
    assert!(!calls.contains("libpq5"), "{calls}");
}

#[test]
fn packages_are_installed_under_guard_and_then_dependencies_are_fetched() {
    let workshop = Workshop::sealed();
    fakes(&workshop, &that_installs_tool(&workshop));
    let stack = workshop.stack(TOOL);
    let (outcome, calls) = set_up(&workshop, &[&stack], |_| {});
    assert_eq!(outcome, SetupOutcome::default());
    assert_eq!(
        verbs(&calls),
        [
            "sh -c",
            "apt-get update",
            "apt-get install",
            "sh -c",
            "rm -f"
        ]
    );
    assert!(
        calls.contains("install -y --no-install-recommends --no-remove -oAPT::Cmd::Pattern-Only=true -- libpq5 tool-dev\n"),
        "{calls}"
    );
    assert!(calls.contains("exit 101"), "{calls}");
    assert!(workshop.path("stack/fetched").exists());
}

#[test]
fn a_package_that_does_not_exist_keeps_nobody_else_from_theirs() {
    let workshop = Workshop::sealed();
    let script = format!(
        "case \"$*\" in *no-such*) echo 'E: Unable to locate package' >&2; exit 100;; esac\n{}",
        that_installs_tool(&workshop)
    );
    fakes(&workshop, &script);
    let stack = workshop.stack(TOOL);
    let mut other = workshop.stack("[build]\napt = [\"no-such\"]\n");
    other.manifest.id = "other".to_owned();
    let mut tails = Vec::new();
    let (outcome, calls) = set_up(&workshop, &[&stack, &other], |progress| {
        if let SetupProgress::Failed { log_tail, .. } = progress {
            tails.push(log_tail.join("\n"));
        }
    });
    // All of them together, and then the one that does not exist.
    assert_eq!(outcome.failed, 2);
    let said = |tail: &String| tail.ends_with("E: Unable to locate package");
    assert!(tails.len() == 2 && tails.iter().all(said), "{tails:?}");
    assert!(calls.contains(" -- libpq5 tool-dev\n"), "{calls}");
    assert!(workshop.path("stack/fetched").exists());
    assert_eq!(verbs(&calls).last().unwrap(), "rm -f");
}

#[test]
fn a_toolchain_that_did_not_come_leaves_the_fetch_out_with_its_reason() {
    let workshop = Workshop::sealed();
    fakes(&workshop, "[ $1 != install ]");
    let stack = workshop.stack(TOOL);
    let mut reasons = Vec::new();
    let (outcome, _) = set_up(&workshop, &[&stack], |progress| {
        if let SetupProgress::NotFetched { stack, reason } = progress {
            reasons.push(format!("{stack}: {reason}"));
        }
    });
    assert_eq!(outcome.failed, 1);
    assert_eq!(reasons.len(), 1);
    assert!(
        reasons[0].starts_with("toy: tool is not on the PATH: apt-get install"),
        "{reasons:?}"
    );
}

#[test]
fn a_fetch_that_fails_is_told_of() {
    let workshop = Workshop::sealed();
    workshop
        .debian(&["make", "libpq5"])
        .program("tool", "echo 1.0; [ \"$1\" != fetch ]");
    let stack = workshop.stack(TOOL);
    let mut reasons = Vec::new();
    let (outcome, _) = set_up(&workshop, &[&stack], |progress| {
        if let SetupProgress::FetchFailed { failure, .. } = progress {
            reasons.push(failure.reason.clone());
        }
    });
    assert_eq!(outcome.failed, 1);
    assert!(
        reasons[0].contains("`tool fetch` exited with status 1"),
        "{reasons:?}"
    );
}

#[test]
fn without_guards_nothing_is_installed() {
    let workshop = Workshop::sealed();
    fakes(&workshop, "true");
    workshop.program("sh", "exit 1");
    let stack = workshop.stack(TOOL);
    let (outcome, calls) = set_up(&workshop, &[&stack], |_| {});
    assert_eq!(outcome.failed, 1);
    assert_eq!(verbs(&calls), ["rm -f"]);
}

#[test]
fn an_interrupt_does_not_leave_the_guards_behind() {
    let workshop = Workshop::sealed();
    fakes(&workshop, "true");
    let stack = workshop.stack(TOOL);
    let (_, calls) = set_up(&workshop, &[&stack], |progress| {
        if matches!(progress, SetupProgress::Running(step) if step.command.contains(&"update".to_owned()))
        {
            workshop.interrupt.store(true, Ordering::Relaxed);
        }
    });
    // What was installed before the interrupt is kept from starting at the next boot, too.
    assert_eq!(verbs(&calls), ["sh -c", "sh -c", "rm -f"]);
}

/// An `apt-get install` that works until the file `go` is there, after `first`.
fn slow_apt(workshop: &Workshop, first: &str) -> String {
    let path = |name: &str| workshop.path(name).display().to_string();
    let (begun, asked, go, calls) = (path("begun"), path("asked"), path("go"), path("calls"));
    format!(
        "[ \"$1\" = install ] || exit 0\ntrap 'echo > {asked}' INT\n{first}\necho > {begun}\n\
         for i in $(/usr/bin/seq 3000); do [ -e {go} ] && break; /bin/sleep 0.02; done\necho apt-get finished >> {calls}"
    )
}

#[test]
fn an_interrupted_installation_is_waited_for_before_the_guards_go() {
    let workshop = Workshop::sealed();
    fakes(&workshop, &slow_apt(&workshop, ""));
    let stack = workshop.stack(TOOL);
    let calls = thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("apt-get is at work", || workshop.path("begun").exists());
            workshop.interrupt.store(true, Ordering::Relaxed);
            wait_until("apt-get is asked to end", || {
                workshop.path("asked").exists()
            });
            workshop.file("go", "");
        });
        set_up(&workshop, &[&stack], |_| {}).1
    });
    assert_eq!(
        verbs(&calls),
        [
            "sh -c",
            "apt-get update",
            "apt-get install",
            "apt-get finished",
            "sh -c",
            "rm -f"
        ]
    );
}

#[test]
fn the_guards_stay_as_long_as_packages_may_still_be_installed() {
    let workshop = Workshop::sealed();
    fakes(&workshop, &slow_apt(&workshop, "kill -9 $PPID"));
    let stack = workshop.stack(TOOL);
    let (outcome, calls) = set_up(&workshop, &[&stack], |_| {});
    assert_eq!(
        verbs(&calls),
        ["sh -c", "apt-get update", "apt-get install"]
    );
    assert!(outcome.failed >= 1);
    workshop.file("go", "");
    wait_until("the installation's end", || {
        workshop.text("calls").contains("finished")
    });
}

#[test]
fn without_root_and_sudo_the_commands_are_left_to_the_user() {
    let mut workshop = Workshop::sealed();
    fakes(&workshop, "true");
    workshop.root = false;
    let stack = workshop.stack(TOOL);
    let mut commands = Vec::new();
    let (outcome, calls) = set_up(&workshop, &[&stack], |progress| {
        if let SetupProgress::ToBeDoneByYou(step) = progress {
            commands.push(step.command[..2].join(" "));
        }
    });
    assert_eq!(outcome.left_to_you, 5);
    assert_eq!(
        commands,
        ["sudo sh", "sudo env", "sudo env", "sudo sh", "sudo rm"]
    );
    assert_eq!(calls, "");
    assert!(
        fs::read_dir(workshop.path("system"))
            .unwrap()
            .next()
            .is_none()
    );
}

/// The shell commands of a plan, run for real in a system of the test's own.
#[test]
fn what_packages_enabled_is_disabled_and_what_was_enabled_before_stays() {
    let workshop = Workshop::new();
    let calls = workshop.path("calls");
    let note = format!("echo \"$@\" >> {}", calls.display());
    workshop.program("systemctl", &note);
    let wants = workshop.path("system/etc/systemd/system/multi-user.target.wants");
    fs::create_dir_all(&wants).unwrap();
    fs::create_dir_all(workshop.path("system/usr/sbin")).unwrap();
    let enable = |unit: &str| symlink("/lib/systemd/system/unit", wants.join(unit)).unwrap();
    let run = |step: &SetupStep| {
        let system = workshop.path("system").display().to_string();
        let script = step.command[2]
            .replace("/usr/sbin/", &format!("{system}/usr/sbin/"))
            .replace("/etc/systemd/", &format!("{system}/etc/systemd/"));
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", &script])
            .env("PATH", workshop.host().path);
        assert!(shell.status().unwrap().success(), "{script}");
    };
    let plan = SetupPlan::new(&needs(Some(Privilege::Root), false));
    enable("ssh.service");
    // Modification times are as fine as the kernel's clock ticks.
    thread::sleep(Duration::from_millis(50));
    run(&plan.guards[0]);
    let policy = workshop.path("system/usr/sbin/policy-rc.d");
    let forbids = std::process::Command::new(policy).status().unwrap();
    assert_eq!(forbids.code(), Some(101));
    run(&plan.afterwards[0]);
    assert_eq!(workshop.text("calls"), "");
    thread::sleep(Duration::from_millis(50));
    enable("nginx.service");
    enable("phpsessionclean.timer");
    run(&plan.afterwards[0]);
    assert_eq!(
        workshop.text("calls"),
        "disable nginx.service phpsessionclean.timer\n"
    );
}
