//! Deadheat itself: how it was built, how it was started, and where it writes.

use deadheat_model::machine::Finding;

use super::{
    World,
    finding::{fine, gibibytes, note, unknown, warning},
};

/// A session with its logs and stacks built takes some hundred megabytes; builds take more.
const LEAST_FREE: u64 = 1 << 30;

pub(super) fn check(world: &World) -> Vec<Finding> {
    vec![build(world), priority(world), root(world), disk(world)]
}

fn build(world: &World) -> Finding {
    if !world.own.debug_build {
        return fine("build", "optimised");
    }
    warning(
        "build",
        "not optimised",
        "An unoptimised load generator needs several times more CPU time per request, so it becomes the limit.",
        "cargo run --release -- run",
    )
}

fn priority(world: &World) -> Finding {
    // proc_pid_stat(5): field 19, the 17th after the name in parentheses.
    let stat = world.root.whole("proc/self/stat");
    let nice = stat.and_then(|text| {
        let rest = text.rsplit_once(')')?.1;
        rest.split_ascii_whitespace().nth(16)?.parse::<i32>().ok()
    });
    match nice {
        None => unknown(
            "priority",
            "/proc/self/stat cannot be read",
            "A process that is nice waits for every other program.",
        ),
        Some(nice) if nice > 0 => warning(
            "priority",
            format!("nice {nice}"),
            "Servers and generator inherit it: any other program that wants a CPU is served before them.",
            "Start deadheat without nice(1).",
        ),
        Some(nice) => fine("priority", format!("nice {nice}")),
    }
}

fn root(world: &World) -> Finding {
    if !world.own.is_root {
        return fine("user", "not root");
    }
    note(
        "user",
        "root",
        "Servers run as root, too: limits for users do not apply, and some servers run their workers as another user. \
         PostgreSQL is started as a user of its own.",
        "",
    )
}

fn disk(world: &World) -> Finding {
    let why = "When the disk is full, the latest builds, logs and records of heats are lost.";
    match world.own.free_bytes {
        None => unknown("disk", "the system does not report the free space", why),
        Some(free) if free < LEAST_FREE => warning(
            "disk",
            format!("{} free for results", gibibytes(free)),
            why,
            "df -h .\nFree some space, or use --results with a folder on another disk.",
        ),
        Some(free) => fine("disk", format!("{} free", gibibytes(free))),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::machine::Level;

    use super::super::testing::{Planted, found, planted};
    use super::*;

    #[test]
    fn a_debug_build_is_slow() {
        let mut world = Planted::good().world();
        assert_eq!(found(check(&world), "build").0, Level::Fine);
        world.own.debug_build = true;
        assert_eq!(found(check(&world), "build").0, Level::Warning);
    }

    #[test]
    fn niceness_is_the_nineteenth_field() {
        let of = |nice: &str| {
            let text = format!("9 (a (b) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 {nice} 1 0 0\n");
            planted(check, "priority", "proc/self/stat", &text)
        };
        assert_eq!(of("0").0, Level::Fine);
        assert_eq!(of("-5").0, Level::Fine);
        let (level, finding) = of("5");
        assert_eq!((level, finding.found.as_str()), (Level::Warning, "nice 5"));
        let (level, _) = planted(check, "priority", "proc/self/stat", "");
        assert_eq!(level, Level::Unknown);
    }

    #[test]
    fn root_is_told_of() {
        let mut world = Planted::good().world();
        world.own.is_root = true;
        assert_eq!(found(check(&world), "user").0, Level::Note);
    }

    #[test]
    fn a_full_disk_is_a_warning() {
        let mut world = Planted::good().world();
        assert_eq!(found(check(&world), "disk").0, Level::Fine);
        world.own.free_bytes = Some(LEAST_FREE - 1);
        assert_eq!(found(check(&world), "disk").0, Level::Warning);
        world.own.free_bytes = None;
        assert_eq!(found(check(&world), "disk").0, Level::Unknown);
    }
}
