//! Sessions as they come: good ones, and the ugly ones.

use deadheat_bench::document::view::StandingsView;
use deadheat_model::{
    TargetId, Warning,
    heats::{EndReason, SessionRecord},
    warning,
};
use deadheat_stats::standings::{AbsentBecause, Standings};

use super::{
    fixture::{Load, Stack},
    sessions::{absent, session},
};

/// What wants to break out of every format.
pub const HOSTILE: [&str; 5] = [
    "</script><script>alert('x')</script>",
    "\u{1b}[2J\u{1b}[31mred\u{1b}[0m \u{202e}desrever",
    "Größe: 大小 | `code` *bold* [link](javascript:alert(1)) <b>&amp;",
    "```",
    "    </pre><img src=x onerror=alert(1)>",
];

/// The figures of a whole session: rate, µs per request, MiB.
const STACKS: [(&str, f64, f64, f64); 18] = [
    ("nginx-static", 116_400.0, 6.9, 9.1),
    ("python-japronto", 115_100.0, 8.2, 18.0),
    ("rust-actix", 109_900.0, 8.7, 6.2),
    ("rust-axum", 101_300.0, 9.4, 5.4),
    ("c-h2o", 99_800.0, 9.2, 11.0),
    ("go-fasthttp", 88_700.0, 10.8, 14.2),
    ("csharp-aspnet", 71_200.0, 13.6, 96.0),
    ("java-vertx", 64_900.0, 14.7, 212.0),
    ("nim-mummy", 52_000.0, 18.1, 12.3),
    ("go-nethttp", 41_300.0, 23.6, 17.8),
    ("java-spring", 30_200.0, 32.1, 318.0),
    ("elixir-bandit", 27_700.0, 35.2, 88.0),
    ("node-http", 24_600.0, 39.9, 71.3),
    ("ruby-puma:yjit", 12_100.0, 81.0, 142.0),
    ("node-express", 9_870.0, 99.7, 84.1),
    ("ruby-puma", 8_310.0, 118.0, 131.0),
    ("python-fastapi:uvicorn", 5_230.0, 189.0, 122.0),
    ("python-flask:gunicorn", 1_810.0, 547.0, 132.0),
];

fn stacks(share: f64, take: usize) -> Vec<Stack> {
    let stacks = STACKS.iter().take(take);
    let stack = |(name, rate, cost_us, memory_mib): &(&str, f64, f64, f64)| Stack {
        cost_us: cost_us / share,
        memory_mib: *memory_mib,
        ..Stack::new(name, rate * share)
    };
    stacks.map(stack).collect()
}

/// 18 stacks at four loads, with doubts and absent stacks.
pub fn usual() -> (SessionRecord, Standings) {
    let mut plaintext = Load::new("plaintext", stacks(1.0, 18));
    plaintext.stacks[0].is_bound = true;
    let json = Load::new("json", stacks(0.81, 18));
    let mut users = Load::new("users", stacks(0.17, 18));
    users.connections = 100;
    users.half_width = 0.08;
    users.lacking.push(absent(
        "nim-mummy",
        AbsentBecause::Failed,
        "the server exited with signal 11 under load in 3 of 3 heats",
        None,
    ));
    let mut open = Load::new("json", stacks(0.81, 6));
    open.connections = 256;
    open.is_open = true;
    let absent = vec![
        absent(
            "php-laravel",
            AbsentBecause::Unavailable,
            "`php` is not on the PATH",
            Some("deadheat setup --stack php-laravel"),
        ),
        absent(
            "dart-shelf",
            AbsentBecause::Unavailable,
            "`dart` is not on the PATH",
            Some("deadheat setup --stack dart-shelf"),
        ),
    ];
    let (mut record, mut standings) = session(&[plaintext, json, users, open], absent);
    standings.warnings = vec![
        Warning::new(
            warning::Level::Doubt,
            "steal",
            "The hypervisor took 12 % of the CPU time.",
        )
        .with("share", 0.118)
        .advice("Repeat at a quieter time, or on a dedicated machine."),
        Warning::new(
            warning::Level::Doubt,
            "generator-limited",
            "Lower bounds, because the load generator was the limit: nginx-static (plaintext).",
        )
        .with("targets", vec!["plaintext:c50: nginx-static"])
        .advice("Compare them by CPU per request."),
        Warning::new(
            warning::Level::Doubt,
            "unsteady",
            "Not steady after the warm-up: java-vertx and java-spring (json:c50), java-vertx (users).",
        )
        .advice("Their figures may change when they run for longer."),
        Warning::new(
            warning::Level::Note,
            "generator-slept",
            "The generator shared its CPUs, so each answer also had to wake it (users). Figures are somewhat low.",
        )
        .advice("Use a machine with more CPUs."),
    ];
    record.header.findings = vec![
        Warning::new(
            warning::Level::Note,
            "shared-cores",
            "Shared cores: CPUs 0 and 1 are threads of one core. Each is slower while the other works.",
        ),
        Warning::new(
            warning::Level::Doubt,
            "congestion-control",
            "Congestion control: bbr. It paces what servers send, even over loopback.",
        )
        .advice("sysctl -w net.ipv4.tcp_congestion_control=cubic"),
    ];
    record.header.plan.left_out = vec![
        TargetId::new("go-gin", None),
        TargetId::new("node-fastify", None),
    ];
    (record, standings)
}

/// A few stacks at one load.
pub fn few() -> (SessionRecord, Standings) {
    session(&[Load::new("plaintext", stacks(1.0, 5))], Vec::new())
}

/// One stack.
pub fn one() -> (SessionRecord, Standings) {
    session(
        &[Load::new("json", vec![Stack::new("go-nethttp", 41_300.0)])],
        Vec::new(),
    )
}

/// Thirty stacks at eight loads.
pub fn thirty() -> (SessionRecord, Standings) {
    let loads: Vec<Load> = (0..8)
        .map(|load| {
            let stack = |n: u32| {
                let name = format!("language{n}-framework:variant");
                Stack::new(&name, 100_000.0 / (1.0 + f64::from(n) / 7.0))
            };
            Load::new(&format!("workload-{load}"), (0..30).map(stack).collect())
        })
        .collect();
    session(&loads, Vec::new())
}

/// No heat at all.
pub fn no_heats() -> (SessionRecord, Standings) {
    let mut load = Load::new("plaintext", stacks(1.0, 5));
    load.heats = 0;
    load.twin = None;
    for stack in &load.stacks {
        let reason = "the session ended before its first heat";
        load.lacking.push(absent(
            &stack.name,
            AbsentBecause::NotMeasured,
            reason,
            None,
        ));
    }
    let (mut record, mut standings) = session(&[load], Vec::new());
    record.end = None;
    standings.end = None;
    standings.time = Default::default();
    (record, standings)
}

/// Two heats: too few for a verdict.
pub fn two_heats() -> (SessionRecord, Standings) {
    let mut load = Load::new("plaintext", stacks(1.0, 5));
    load.heats = 2;
    let (mut record, standings) = session(&[load], Vec::new());
    record.end = Some(EndReason::Interrupted);
    (record, standings)
}

/// Nothing works, and whatever fails says hostile things.
pub fn all_failed() -> (SessionRecord, Standings) {
    let mut load = Load::new("json", Vec::new());
    load.twin = None;
    let failed = HOSTILE.iter().enumerate();
    let failed = failed
        .map(|(n, text)| absent(&format!("bad-{n}"), AbsentBecause::Failed, text, Some(text)));
    let (mut record, standings) = session(&[load], failed.collect());
    record.end = Some(EndReason::Nothing);
    (record, standings)
}

/// The generator was the limit for all.
pub fn all_bounds() -> (SessionRecord, Standings) {
    let bounds = stacks(1.0, 5).into_iter().map(Stack::bound);
    session(&[Load::new("plaintext", bounds.collect())], Vec::new())
}

/// Names and reasons that want to break out of every format, and very long ones.
pub fn hostile() -> (SessionRecord, Standings) {
    let mut names: Vec<String> = HOSTILE.map(str::to_owned).to_vec();
    names.push("x".repeat(400));
    names.push(format!("{}y", "x".repeat(399)));
    let stack = |(n, name): (usize, &String)| Stack::new(name, 10_000.0 + 2_000.0 * n as f64);
    let mut load = Load::new(
        "<b>work|load</b>\u{1b}[2J",
        names.iter().enumerate().map(stack).collect(),
    );
    for text in HOSTILE {
        load.lacking.push(absent(
            text,
            AbsentBecause::Failed,
            &text.repeat(9),
            Some(text),
        ));
    }
    let (mut record, mut standings) = session(&[load], Vec::new());
    for text in HOSTILE {
        let hostile = |level| Warning::new(level, text, text.repeat(5)).advice(text);
        standings.warnings.push(hostile(warning::Level::Note));
        for level in [warning::Level::Doubt, warning::Level::Note] {
            record.header.findings.push(hostile(level));
        }
    }
    let (mut repeated, mut sides) = super::published::tables();
    super::published::spoil(&mut repeated, &mut sides, &HOSTILE.concat());
    record.header.published = vec![repeated];
    standings.published = vec![sides];
    record.header.machine.cpu_model = HOSTILE.concat();
    record.header.arguments = HOSTILE.map(str::to_owned).to_vec();
    (record, standings)
}

/// Published tables beside what was measured, with all that can be said of a row.
pub fn published() -> (SessionRecord, Standings) {
    let mut load = Load::new("users", stacks(0.17, 4));
    load.stacks[0].is_bound = true;
    load.half_width = 0.01;
    let missing = absent(
        "php-laravel",
        AbsentBecause::Unavailable,
        "`php` is not on the PATH",
        Some("deadheat setup --stack php-laravel"),
    );
    let (mut record, mut standings) = session(&[load], vec![missing]);
    let (repeated, sides) = super::published::tables();
    record.header.published = vec![repeated];
    standings.published = vec![sides];
    (record, standings)
}

/// What makes a case.
type Make = fn() -> (SessionRecord, Standings);

/// A case with its name.
pub struct Case {
    pub name: &'static str,
    pub record: SessionRecord,
    pub standings: Standings,
}

impl Case {
    pub fn view(&self) -> StandingsView {
        StandingsView::new(&self.record, &self.standings)
    }
}

/// All of them.
pub fn all() -> Vec<Case> {
    let cases: [(&str, Make); 10] = [
        ("usual", usual),
        ("few", few),
        ("one", one),
        ("thirty", thirty),
        ("no-heats", no_heats),
        ("two-heats", two_heats),
        ("all-failed", all_failed),
        ("all-bounds", all_bounds),
        ("published", published),
        ("hostile", hostile),
    ];
    let case = |(name, make): (&'static str, Make)| {
        let (record, standings) = make();
        Case {
            name,
            record,
            standings,
        }
    };
    cases.into_iter().map(case).collect()
}

/// The case of a name.
pub fn named(name: &str) -> Case {
    let mut all = all().into_iter();
    all.find(|case| case.name == name).expect("a case's name")
}
