//! Findings for a person: warnings first, each with why and remedy below it, and in the end what is fine, in one block.

use deadheat_model::{
    machine::{Finding, Level},
    words::counted,
};
use deadheat_report::{
    document::{Section, Tone},
    text::wrap,
};

/// The columns of what is said before a session.
const WIDTH: usize = 80;

/// Those that are warnings.
pub(super) fn warnings(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    let is_one = |finding: &&Finding| finding.level == Level::Warning;
    findings.iter().filter(is_one)
}

/// How many findings there are of each level.
pub(super) fn summary(findings: &[Finding]) -> String {
    let count = |level| findings.iter().filter(|one| one.level == level).count();
    let counts = [
        counted(count(Level::Warning), "warning"),
        counted(count(Level::Note), "note"),
        format!("{} unknown", count(Level::Unknown)),
        format!("{} fine", count(Level::Fine)),
    ];
    counts.join(", ")
}

/// A section for each finding, in the order of their levels, and in the end one for all that is fine.
pub(super) fn sections(findings: &[Finding]) -> impl Iterator<Item = Section> {
    let (fine, others): (Vec<_>, Vec<_>) = findings
        .iter()
        .partition(|finding| finding.level == Level::Fine);
    let fine: Vec<String> = fine.into_iter().map(called).collect();
    let fine = Section::toned(Tone::Good, "fine").paragraph(fine.join("; "));
    others.into_iter().map(section).chain([fine])
}

fn section(finding: &Finding) -> Section {
    let (level, tone) = match finding.level {
        Level::Warning => ("WARNING", Tone::Bad),
        Level::Note => ("note", Tone::Doubtful),
        Level::Unknown => ("unknown", Tone::Plain),
        Level::Fine => ("fine", Tone::Good),
    };
    let title = format!("{level:<8}  {}", called(finding));
    let section = Section::toned(tone, title).paragraph(&finding.why);
    let remedies = finding.remedy.lines();
    remedies.fold(section, |section, line| {
        // A sentence begins with a capital, and a command does not.
        if line.starts_with(char::is_uppercase) {
            section.paragraph(line)
        } else {
            section.log([line])
        }
    })
}

/// What was looked at and what was found: "congestion control bbr".
fn called(finding: &Finding) -> String {
    format!("{}: {}", finding.check.replace('-', " "), finding.found)
}

/// The warnings in one or two lines, for the start of a session; `None` where there are none.
pub(super) fn in_short(findings: &[Finding]) -> Option<String> {
    let all: Vec<String> = warnings(findings)
        .map(|finding| {
            // Without what follows in parentheses.
            let found = finding.found.split(" (").next().unwrap_or_default();
            format!("{} {found}", finding.check.replace('-', " "))
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
        // However long it is, one is named.
        (lines.len() <= 2 || left + 1 == all.len()).then(|| lines.join("\n  "))
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, time::Duration};

    use deadheat_model::{
        noise::{CpuSource, Disturbance},
        plan::Pinning,
    };
    use deadheat_report::{document::Document, text::Screen};
    use deadheat_runner::{
        doctor::{Busy, OwnFacts, Root, Watched, World, judge},
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

    fn planted() -> Vec<Finding> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in FILES {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        judge(&world_below(folder.path()))
    }

    fn world_below(root: &Path) -> World {
        World {
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
                busiest: vec![Busy {
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

    fn shown(findings: &[Finding], colour: bool) -> String {
        let document = Document::new(Tone::Plain, summary(findings)).sections(sections(findings));
        document.text(Screen::new(WIDTH, colour))
    }

    #[test]
    fn a_laptop_in_use() {
        insta::assert_snapshot!(shown(&planted(), false));
    }

    #[test]
    fn only_commands_are_longer_than_80_columns() {
        let findings = planted();
        let text = shown(&findings, false);
        let remedies: Vec<&str> = findings.iter().flat_map(|one| one.remedy.lines()).collect();
        for line in text.lines().filter(|line| line.chars().count() > WIDTH) {
            assert!(remedies.contains(&line.trim()), "{line}");
        }
        let plain = console::strip_ansi_codes(&text);
        assert_eq!(plain, text, "no colour unless asked for");
        let coloured = shown(&findings, true);
        assert_ne!(coloured, text);
        assert_eq!(console::strip_ansi_codes(&coloured), text);
    }

    #[test]
    fn a_session_begins_with_two_lines_at_most() {
        let findings = planted();
        let count = warnings(&findings).count();
        assert!(count > 6, "{count}");
        let all = in_short(&findings).unwrap();
        insta::assert_snapshot!(all);
        assert!(all.lines().all(|line| line.chars().count() <= WIDTH));
        let one: Vec<Finding> = warnings(&findings).take(1).cloned().collect();
        assert_eq!(
            in_short(&one).unwrap(),
            "doctor: 1 warning (build not optimised): deadheat doctor"
        );
        assert_eq!(in_short(&[]), None);
    }
}
