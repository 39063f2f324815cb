//! Facts for a person: warnings first, each with its reason and remedy below it, and at the end what is fine, in one
//! block.

use deadheat_document::{Section, Tone, text::wrap};
use deadheat_model::{
    Warning,
    figure::counted,
    warning::{Level, is_command},
};
use deadheat_runner::doctor::Fact;

/// The columns of the lines before a session.
const WIDTH: usize = 80;

/// The number of warnings among the facts.
pub(super) fn warnings(facts: &[Fact]) -> usize {
    of_level(facts, Some(Level::Doubt)).count()
}

fn of_level(facts: &[Fact], level: Option<Level>) -> impl Iterator<Item = &Fact> {
    let found = |fact: &Fact| fact.warning.as_ref().map(|warning| warning.level);
    facts.iter().filter(move |fact| found(fact) == level)
}

/// The number of facts of each level.
pub(super) fn summary(facts: &[Fact]) -> String {
    let count = |level| of_level(facts, level).count();
    let counts = [
        counted(warnings(facts), "warning"),
        counted(count(Some(Level::Note)), "note"),
        format!("{} unknown", count(Some(Level::Routine))),
        format!("{} fine", count(None)),
    ];
    counts.join(", ")
}

/// A section for each level, the worst first, and in the end what is fine, in one paragraph.
pub(super) fn sections(facts: &[Fact]) -> impl Iterator<Item = Section> {
    let levels = [
        ("Warnings", Tone::Bad, Level::Doubt),
        ("Notes", Tone::Doubtful, Level::Note),
        ("Unknown", Tone::Plain, Level::Routine),
    ];
    let fine: Vec<String> = of_level(facts, None).map(called).collect();
    let fine = Section::toned(Tone::Good, "Fine").paragraph(fine.join("; "));
    let bad = levels.into_iter().map(|(title, tone, level)| {
        let warnings = of_level(facts, Some(level)).filter_map(|fact| fact.warning.as_ref());
        warnings.fold(Section::toned(tone, title), with_warning)
    });
    bad.chain([fine])
}

fn with_warning(section: Section, warning: &Warning) -> Section {
    let section = section.bullets([&warning.sentence]);
    warning.advice.lines().fold(section, |section, line| {
        if is_command(line) {
            section.log([line])
        } else {
            section.paragraph(line)
        }
    })
}

/// What was looked at and what was found: "congestion control: bbr".
fn called(fact: &Fact) -> String {
    format!("{}: {}", fact.subject, fact.found)
}

/// The warnings in one or two lines, for the start of a session; `None` without any.
pub(super) fn in_short(facts: &[Fact]) -> Option<String> {
    let all: Vec<String> = of_level(facts, Some(Level::Doubt))
        .map(|fact| {
            // Without what follows in parentheses.
            let found = fact.found.split(" (").next().unwrap_or_default();
            format!("{} {found}", fact.subject)
        })
        .collect();
    let count = counted(all.len(), "warning");
    (1..=all.len()).rev().find_map(|named| {
        let left = all.len() - named;
        let more = match left {
            0 => String::new(),
            _ => format!("; {left} more"),
        };
        let named = all[..named].join("; ");
        let told = format!("doctor: {count} ({named}{more}): deadheat doctor");
        let lines = wrap(&told, WIDTH - 2, "", false);
        // One is named, however long it is.
        (lines.len() <= 2 || left + 1 == all.len()).then(|| lines.join("\n  "))
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, time::Duration};

    use deadheat_document::{Document, text::Screen};
    use deadheat_model::{
        machine::{CpuSource, Disturbance},
        plan::Pinning,
    };
    use deadheat_runner::{
        doctor::{BusyProcess, MachineState, OwnFacts, Root, Watched, judge},
        session::describe_machine_below,
    };

    use super::*;

    /// A laptop in use, as its `/proc` and `/sys` would be.
    const FILES: [(&str, &str); 17] = [
        (
            "proc/cpuinfo",
            "model name\t: Planted CPU\nflags\t\t: fpu tsc\n",
        ),
        (
            "proc/meminfo",
            "MemTotal: 8388608 kB\nMemAvailable: 524288 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
        ),
        ("proc/stat", "cpu  1 1 1 1 1 1 1 0 0 0\n"),
        (
            "proc/self/limits",
            "Max open files            64                   64                   files\n",
        ),
        ("proc/sys/kernel/osrelease", "6.12.1\n"),
        ("proc/sys/kernel/randomize_va_space", "2\n"),
        ("proc/sys/net/core/somaxconn", "128\n"),
        ("proc/sys/net/ipv4/tcp_max_syn_backlog", "512\n"),
        ("proc/sys/net/ipv4/tcp_congestion_control", "bbr\n"),
        ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
        ("proc/sys/net/ipv4/tcp_tw_reuse", "0\n"),
        ("sys/class/net/lo/mtu", "65536\n"),
        ("sys/class/power_supply/BAT0/status", "Discharging\n"),
        (
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "powersave\n",
        ),
        ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
        (
            "sys/devices/system/cpu/vulnerabilities/mds",
            "Mitigation: Clear CPU buffers\n",
        ),
        (
            "sys/kernel/mm/transparent_hugepage/enabled",
            "[always] madvise never\n",
        ),
    ];

    fn planted() -> Vec<Fact> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in FILES {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        judge(&state_below(folder.path()))
    }

    fn state_below(root: &Path) -> MachineState {
        MachineState {
            root: Root::at(root),
            machine: describe_machine_below(root, vec![0, 1, 2, 3]),
            pinning: Pinning::Apart {
                server: vec![0, 1],
                generator: vec![2, 3],
            },
            own: OwnFacts {
                is_root: false,
                debug_build: true,
                cpu_source: CpuSource::Proc,
                clock_cost: Duration::from_nanos(21),
                clock_step: Some(Duration::from_nanos(20)),
                loopback: Some(Duration::from_micros(4)),
                free_bytes: Some(42 << 30),
            },
            watched: Watched {
                span: Duration::from_secs(2),
                disturbance: Disturbance {
                    other_cpu: 0.14,
                    steal: 0.0,
                },
                busiest: vec![BusyProcess {
                    pid: 4242,
                    name: "rustc".to_owned(),
                    cpus: 0.5,
                }],
                swapped_pages: 0,
                throttled: None,
                others: Vec::new(),
            },
            connections: 400,
        }
    }

    fn shown(facts: &[Fact], colour: bool) -> String {
        let document = Document::new(Tone::Plain, summary(facts)).sections(sections(facts));
        document.text(Screen::new(WIDTH, colour))
    }

    #[test]
    fn a_laptop_in_use() {
        insta::assert_snapshot!(shown(&planted(), false));
    }

    #[test]
    fn only_commands_are_longer_than_80_columns() {
        let facts = planted();
        let text = shown(&facts, false);
        let remedies: Vec<&str> = facts
            .iter()
            .filter_map(|one| one.warning.as_ref())
            .flat_map(|one| one.advice.lines())
            .collect();
        for line in text.lines().filter(|line| line.chars().count() > WIDTH) {
            assert!(remedies.contains(&line.trim()), "{line}");
        }
        let plain = console::strip_ansi_codes(&text);
        assert_eq!(plain, text, "no colour unless asked for");
        let coloured = shown(&facts, true);
        assert_ne!(coloured, text);
        assert_eq!(console::strip_ansi_codes(&coloured), text);
    }

    #[test]
    fn a_session_begins_with_two_lines_at_most() {
        let facts = planted();
        let count = warnings(&facts);
        assert!(count > 6, "{count}");
        let all = in_short(&facts).unwrap();
        insta::assert_snapshot!(all);
        assert!(all.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(
            in_short(&facts[..1]).unwrap(),
            "doctor: 1 warning (build not optimised): deadheat doctor"
        );
        assert_eq!(in_short(&[]), None);
    }
}
