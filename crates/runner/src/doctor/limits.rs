//! Limits of the process (getrlimit(2)), which servers inherit, but for that of open files: each is given the same.

use super::{
    World,
    found::{CheckResult, fine, unknown, warning},
};
use crate::process::OPEN_FILES;

/// Descriptors that a server or the generator holds beside its connections.
const BESIDE: u64 = 100;

pub(super) fn descriptors(world: &World) -> CheckResult {
    let Some((_, hard)) = limit(world, "Max open files") else {
        return unknown(
            "/proc/self/limits cannot be read",
            "Each connection takes one.",
        );
    };
    // A server of the proxy workload holds two for each request: the client's and the upstream's.
    let needed = u64::from(world.connections) * 2 + BESIDE;
    let given = hard.min(OPEN_FILES);
    let hard = match hard {
        u64::MAX => "none".to_owned(),
        hard => hard.to_string(),
    };
    let found = format!("{given} for each server (hard limit: {hard})");
    if given >= needed {
        return fine(found);
    }
    let same_shell = "Then start deadheat in the same shell.";
    warning(
        format!("{found}, {needed} are needed"),
        "Servers cannot keep that many connections: they refuse some, and the figures show how they refuse.",
        if needed > OPEN_FILES {
            "Load with fewer connections.".to_owned()
        } else if world.own.is_root {
            format!("ulimit -n {needed}\n{same_shell}")
        } else {
            format!(
                "sudo prlimit --pid $$ --nofile={needed}:{needed}\n{same_shell} For good: nofile in \
                 /etc/security/limits.conf, or LimitNOFILE= (systemd)."
            )
        },
    )
}

pub(super) fn address_space(world: &World) -> CheckResult {
    match limit(world, "Max address space") {
        Some((u64::MAX, _)) => fine("unlimited"),
        Some((soft, _)) => warning(
            format!("limited to {} MiB", soft >> 20),
            "Runtimes reserve far more addresses than they use memory, and fail to start.",
            "ulimit -v unlimited\nThen start deadheat in the same shell.",
        ),
        None => unknown(
            "/proc/self/limits cannot be read",
            "Runtimes reserve far more addresses than they use memory.",
        ),
    }
}

pub(super) fn cpu_time(world: &World) -> CheckResult {
    match limit(world, "Max cpu time") {
        Some((u64::MAX, _)) => fine("unlimited"),
        Some((soft, _)) => warning(
            format!("limited to {soft} s"),
            "The kernel ends the generator, or a server, in the middle of a heat.",
            "ulimit -t unlimited\nThen start deadheat in the same shell.",
        ),
        None => unknown(
            "/proc/self/limits cannot be read",
            "The kernel ends a process that used up its limit.",
        ),
    }
}

/// Soft and hard limit, in the unit of the limit; no limit is [`u64::MAX`].
fn limit(world: &World, name: &str) -> Option<(u64, u64)> {
    let text = world.root.whole("proc/self/limits")?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let mut limits = rest.split_ascii_whitespace().map(|limit| match limit {
        "unlimited" => Some(u64::MAX),
        limit => limit.parse().ok(),
    });
    Some((limits.next()??, limits.next()??))
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::super::testing::{Planted, found, planted};
    use super::*;

    fn with(name: &str, soft: &str, hard: &str, check_name: &str) -> (Option<Level>, CheckResult) {
        let text = format!("Limit  Soft Limit  Hard Limit  Units\n{name}   {soft}   {hard}   x\n");
        planted(check_name, "proc/self/limits", &text)
    }

    #[test]
    fn descriptors_are_counted_for_both_sides_of_a_proxy() {
        let of = |soft: &str, hard: &str| with("Max open files", soft, hard, "file-descriptors");
        assert_eq!(of("64", "900").0, None);
        assert_eq!(of("unlimited", "unlimited").0, None);
        let (level, finding) = of("64", "899");
        assert_eq!(level, Some(Level::Doubt));
        assert!(finding.found.starts_with("899 for each server"));
        assert!(
            finding
                .advice
                .starts_with("sudo prlimit --pid $$ --nofile=900:900\n")
        );
    }

    #[test]
    fn root_may_raise_the_hard_limit_itself() {
        let text = "Max open files 64 64 files\n";
        let mut world = Planted::good().with("proc/self/limits", text).world();
        world.own.is_root = true;
        let (_, finding) = found(&world, "file-descriptors");
        assert!(finding.advice.starts_with("ulimit -n 900\n"), "{finding:?}");
    }

    #[test]
    fn other_limits_are_none_or_a_warning() {
        for (name, of) in [
            ("Max address space", "address-space"),
            ("Max cpu time", "cpu-time"),
        ] {
            assert_eq!(with(name, "unlimited", "unlimited", of).0, None);
            assert_eq!(with(name, "600", "unlimited", of).0, Some(Level::Doubt));
        }
        assert_eq!(
            with("Max other", "1", "1", "cpu-time").0,
            Some(Level::Routine)
        );
    }
}
