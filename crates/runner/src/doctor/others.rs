//! What others take of the machine: other programs, and the hypervisor's other guests. The bounds are those past which
//! a report warns.

use deadheat_model::{
    figure::{short_percent, two_digits},
    plan::NoiseBound,
};

use super::{BusyProcess, CheckResult, MachineState, fine, note, unknown, warning};

/// Programs that change the machine's settings, move interrupts or begin to work on their own, by the names that the
/// kernel keeps (15 bytes).
const DAEMONS: [&str; 7] = [
    "irqbalance",
    "tuned",
    "thermald",
    "power-profiles-",
    "auto-cpufreq",
    "packagekitd",
    "unattended-upgr",
];

pub(super) fn other_load(state: &MachineState) -> CheckResult {
    let share = state.watched.disturbance.other_cpu;
    let bound = NoiseBound::default().other_cpu;
    let busiest = &state.watched.busiest;
    let cpus = state.machine.cpus.len().max(1);
    let used = share * cpus as f64;
    // Others use CPUs that this process may not use, too; the noise guard does not tell them apart.
    let mut found = if share > 1.0 {
        format!(
            "{} CPUs' worth of time; {cpus} may be used here",
            two_digits(used)
        )
    } else {
        format!("{} of the CPUs", short_percent(share))
    };
    if share <= bound / 5.0 {
        return fine(found);
    }
    let names: Vec<String> = busiest
        .iter()
        .map(|BusyProcess { name, cpus, .. }| format!("{name} {} of one", short_percent(*cpus)))
        .collect();
    if !names.is_empty() {
        found += &format!(" ({})", names.join(", "));
    }
    let named: f64 = busiest.iter().map(|busy| busy.cpus).sum();
    let hidden = named < used / 2.0;
    let remedy = match (busiest.is_empty(), hidden) {
        (false, false) => {
            let pids: Vec<String> = busiest.iter().map(|busy| busy.pid.to_string()).collect();
            format!(
                "ps -o pid,user,etime,args -p {}\nStop them, or wait until they are done.",
                pids.join(",")
            )
        }
        _ => "Wait until it is over, or stop other work on this machine: short processes (a build), another container's, \
              other users'."
            .to_owned(),
    };
    if share > bound {
        return warning(
            found,
            "It takes CPU time from the servers and the generator. Above 5 %, the report warns.",
            remedy,
        );
    }
    note(found, "It widens the intervals.", remedy)
}

pub(super) fn steal(state: &MachineState) -> CheckResult {
    let share = state.watched.disturbance.steal;
    let bound = NoiseBound::default().steal;
    let found = format!("{} while watched", short_percent(share));
    if share > bound {
        return warning(
            found,
            "Other guests of the host take time from these CPUs. Above 5 %, the report warns. A CPU that is taken \
             away in the middle of a request makes it take longer.",
            "Use a machine with CPUs of its own (dedicated or bare metal), or another time.",
        );
    }
    if share > bound / 5.0 {
        return note(
            found,
            "Other guests of the host sometimes take time from these CPUs. It widens the intervals.",
            "",
        );
    }
    let since_start = state.root.whole("proc/stat").and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("cpu "))?;
        line.split_ascii_whitespace().nth(8)?.parse::<u64>().ok()
    });
    match since_start {
        None => unknown(
            "/proc/stat has none",
            "Whether other guests of a host take time from these CPUs is unknown.",
        ),
        Some(0) if state.root.hypervisor().is_some() => unknown(
            "none since the start: this hypervisor may not report it",
            "Whether other guests of the host take time from these CPUs is unknown. If they do, servers seem slower.",
        ),
        Some(_) => fine(short_percent(share)),
    }
}

pub(super) fn other_sessions(state: &MachineState) -> CheckResult {
    let others = state.watched.others.iter();
    let pids: Vec<String> = others
        .filter(|(_, name)| name == "deadheat")
        .map(|(pid, _)| pid.to_string())
        .collect();
    if pids.is_empty() {
        return fine("none");
    }
    warning(
        format!("running (process {})", pids.join(", ")),
        "Another deadheat runs. Two sessions at once measure each other: both pin their servers to the same CPUs.",
        format!(
            "ps -o pid,user,etime,args -p {}\nWait until it has ended.",
            pids.join(",")
        ),
    )
}

pub(super) fn daemons(state: &MachineState) -> CheckResult {
    let others = state.watched.others.iter();
    let mut names: Vec<&str> = others
        .map(|(_, name)| name.as_str())
        .filter(|name| DAEMONS.contains(name))
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return fine("none that changes settings");
    }
    // The name of the unit, where the kernel's is cut short.
    let units = names.iter().map(|name| match *name {
        "power-profiles-" => "power-profiles-daemon",
        "packagekitd" => "packagekit",
        "unattended-upgr" => "unattended-upgrades",
        name => name,
    });
    let units: Vec<&str> = units.collect();
    note(
        format!("{} runs", names.join(", ")),
        "It may move interrupts, change clock frequencies or begin to work in the middle of a session.",
        state.as_root(&format!("systemctl stop {}", units.join(" "))),
    )
}

pub(super) fn pressure(state: &MachineState) -> CheckResult {
    // There, but refusing to be read: psi=0 (Linux, Documentation/accounting/psi.rst).
    match state.root.whole("proc/pressure/cpu") {
        Some(_) => fine("recorded"),
        None => note(
            "not recorded by this kernel",
            "Heats then do not tell how long work waited for CPU, memory and disk. Nothing is judged by it.",
            "Start the kernel with psi=1.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::super::testing::{Planted, PlantedState, found};
    use super::*;

    fn loaded(share: f64, busiest: &[(u32, &str, f64)]) -> PlantedState {
        let mut state = Planted::good().state();
        state.watched.disturbance.other_cpu = share;
        let busy = busiest.iter().map(|(pid, name, cpus)| BusyProcess {
            pid: *pid,
            name: (*name).to_owned(),
            cpus: *cpus,
        });
        state.watched.busiest = busy.collect();
        state
    }

    #[test]
    fn other_load_names_who_it_is() {
        assert_eq!(found(&loaded(0.01, &[]), "other-load").0, None);
        let busy = [(41, "rustc", 0.5), (42, "java", 0.06)];
        let (level, finding) = found(&loaded(0.14, &busy), "other-load");
        assert_eq!(level, Some(Level::Doubt));
        assert_eq!(
            finding.found,
            "14 % of the CPUs (rustc 50 % of one, java 6.0 % of one)"
        );
        assert!(
            finding
                .advice
                .starts_with("ps -o pid,user,etime,args -p 41,42\n")
        );
        let (level, _) = found(&loaded(0.05, &busy), "other-load");
        assert_eq!(
            level,
            Some(Level::Note),
            "the bound itself discards nothing"
        );
    }

    #[test]
    fn load_of_more_cpus_than_may_be_used_is_no_share_of_them() {
        let (_, finding) = found(&loaded(1.5, &[(4, "java", 6.0)]), "other-load");
        let expected = "6.0 CPUs' worth of time; 4 may be used here (java 600 % of one)";
        assert_eq!(finding.found, expected);
    }

    #[test]
    fn load_of_nobody_here_is_said_to_be_so() {
        for busy in [&[][..], &[(41, "rustc", 0.02)]] {
            let (_, finding) = found(&loaded(0.5, busy), "other-load");
            assert!(finding.advice.contains("another container"), "{finding:?}");
            // It begins with what can be done.
            assert!(finding.advice.starts_with("Wait until"), "{finding:?}");
        }
    }

    #[test]
    fn steal_is_bounded_as_in_heats() {
        let mut state = Planted::good().state();
        let mut level = |share| {
            state.watched.disturbance.steal = share;
            found(&state, "steal").0
        };
        let levels = [level(0.0), level(0.02), level(0.05), level(0.051)];
        let expected = [
            None,
            Some(Level::Note),
            Some(Level::Note),
            Some(Level::Doubt),
        ];
        assert_eq!(levels, expected);
    }

    #[test]
    fn a_guest_that_never_had_steal_may_not_be_told() {
        let guest = Planted::good().with("proc/cpuinfo", "flags : hypervisor\n");
        let level = |planted: &Planted| found(&planted.state(), "steal").0;
        assert_eq!(level(&guest), Some(Level::Routine));
        let told = guest.with("proc/stat", "cpu  1 1 1 1 1 1 1 7 0 0\n");
        assert_eq!(level(&told), None);
    }

    #[test]
    fn another_session_and_daemons_are_seen() {
        let mut state = Planted::good().state();
        let levels = |state: &MachineState| {
            let of = |name| found(state, name);
            (of("other-sessions"), of("daemons"))
        };
        let (session, daemons) = levels(&state);
        assert_eq!((session.0, daemons.0), (None, None));
        state.watched.others = vec![
            (7, "deadheat".to_owned()),
            (8, "unattended-upgr".to_owned()),
            (9, "irqbalance".to_owned()),
        ];
        let (session, daemons) = levels(&state);
        assert_eq!(
            (session.0, daemons.0),
            (Some(Level::Doubt), Some(Level::Note))
        );
        assert!(session.1.found.contains("process 7"));
        let stop = "sudo systemctl stop irqbalance unattended-upgrades";
        assert_eq!(daemons.1.advice, stop);
    }

    #[test]
    fn a_kernel_without_pressure_is_noted() {
        let level = |planted: Planted| found(&planted.state(), "pressure").0;
        assert_eq!(level(Planted::good()), None);
        assert_eq!(
            level(Planted::good().without("proc/pressure")),
            Some(Level::Note)
        );
    }
}
