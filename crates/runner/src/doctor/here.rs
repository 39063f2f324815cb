//! Deadheat itself: how it was built, how it was started, and where it writes.

use deadheat_model::figure::size;

use super::{
    World,
    found::{CheckResult, fine, note, unknown, warning},
};

/// A session with its logs and stacks built takes some hundred megabytes; builds take more.
const LEAST_FREE: u64 = 1 << 30;

pub(super) fn build(world: &World) -> CheckResult {
    if !world.own.debug_build {
        return fine("optimised");
    }
    warning(
        "not optimised",
        "An unoptimised load generator needs several times more CPU time per request, so it becomes the limit.",
        "cargo run --release -- run",
    )
}

pub(super) fn priority(world: &World) -> CheckResult {
    // proc_pid_stat(5): field 19, the 17th after the name in parentheses.
    let stat = world.root.whole("proc/self/stat");
    let nice = stat.and_then(|text| {
        let rest = text.rsplit_once(')')?.1;
        rest.split_ascii_whitespace().nth(16)?.parse::<i32>().ok()
    });
    match nice {
        None => unknown(
            "/proc/self/stat cannot be read",
            "A process that is nice waits for every other program.",
        ),
        Some(nice) if nice > 0 => warning(
            format!("nice {nice}"),
            "Servers and generator inherit it: any other program that wants a CPU is served before them.",
            "Start deadheat without nice(1).",
        ),
        Some(nice) => fine(format!("nice {nice}")),
    }
}

pub(super) fn root(world: &World) -> CheckResult {
    if !world.own.is_root {
        return fine("not root");
    }
    note(
        "root",
        "Servers run as root, too: limits for users do not apply, and some servers run their workers as another user. \
         PostgreSQL is started as a user of its own.",
        "",
    )
}

pub(super) fn disk(world: &World) -> CheckResult {
    let why = "When the disk is full, the latest builds, logs and records of heats are lost.";
    match world.own.free_bytes {
        None => unknown("the system does not report the free space", why),
        Some(free) if free < LEAST_FREE => warning(
            format!("{} free for results", size(free)),
            why,
            "df -h .\nFree some space, or use --results with a folder on another disk.",
        ),
        Some(free) => fine(format!("{} free", size(free))),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::super::testing::{Planted, found, planted};
    use super::*;

    #[test]
    fn a_debug_build_is_slow() {
        let mut world = Planted::good().world();
        assert_eq!(found(&world, "build").0, None);
        world.own.debug_build = true;
        assert_eq!(found(&world, "build").0, Some(Level::Doubt));
    }

    #[test]
    fn niceness_is_the_nineteenth_field() {
        let of = |nice: &str| {
            let text = format!("9 (a (b) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 {nice} 1 0 0\n");
            planted("priority", "proc/self/stat", &text)
        };
        assert_eq!(of("0").0, None);
        assert_eq!(of("-5").0, None);
        let (level, finding) = of("5");
        assert_eq!(
            (level, finding.found.as_str()),
            (Some(Level::Doubt), "nice 5")
        );
        let (level, _) = planted("priority", "proc/self/stat", "");
        assert_eq!(level, Some(Level::Routine));
    }

    #[test]
    fn root_is_told_of() {
        let mut world = Planted::good().world();
        world.own.is_root = true;
        assert_eq!(found(&world, "user").0, Some(Level::Note));
    }

    #[test]
    fn a_full_disk_is_a_warning() {
        let mut world = Planted::good().world();
        assert_eq!(found(&world, "disk").0, None);
        world.own.free_bytes = Some(LEAST_FREE - 1);
        assert_eq!(found(&world, "disk").0, Some(Level::Doubt));
        world.own.free_bytes = None;
        assert_eq!(found(&world, "disk").0, Some(Level::Routine));
    }
}
