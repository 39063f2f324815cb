//! The clock: where it comes from, what reading it costs, and how fine it is.

use std::time::Duration;

use super::{
    World,
    found::{CheckResult, fine, unknown, warning},
};

/// Read without a system call, a clock costs some 20 to 60 ns; with one, several hundred.
const MOST_COST: Duration = Duration::from_nanos(200);
/// What the shortest service times are counted in.
const MOST_STEP: Duration = Duration::from_micros(1);

const FOLDER: &str = "sys/devices/system/clocksource/clocksource0";

/// Sources that are read without a system call (Linux, vDSO).
const QUICK: [&str; 7] = [
    "tsc",
    "tsc-early",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
    "riscv_clocksource",
];

pub(super) fn source(world: &World) -> CheckResult {
    let why = "With a slow source each reading is a system call or an access to a device, several a request. It slows \
               down the generator, and every server that reads the clock.";
    match world.root.text(&format!("{FOLDER}/current_clocksource")) {
        None => unknown("the kernel does not tell", why),
        Some(name) if QUICK.contains(&name.as_str()) => fine(name),
        Some(name) => warning(name, why, quicker(world)),
    }
}

/// A better source, where the kernel has one.
fn quicker(world: &World) -> String {
    let available = world.root.text(&format!("{FOLDER}/available_clocksource"));
    let available = available.unwrap_or_default();
    let mut known = available.split(' ');
    match known.find(|name| QUICK.contains(name)) {
        Some(name) => world.set(&format!("/{FOLDER}/current_clocksource"), name),
        None => "Use another machine: this kernel has no quicker source, because the processor's counter (TSC) is \
                 unreliable or the hypervisor hides it."
            .to_owned(),
    }
}

pub(super) fn cost(world: &World) -> CheckResult {
    let (cost, step) = (world.own.clock_cost, world.own.clock_step);
    let found = format!("{} ns to read", cost.as_nanos());
    match step {
        None => warning(
            "it stands still",
            "Nothing can be measured with it.",
            quicker(world),
        ),
        Some(step) if step > MOST_STEP => warning(
            format!("{found}, in steps of {} µs", step.as_micros()),
            "That is the resolution of service times.",
            quicker(world),
        ),
        Some(_) if cost > MOST_COST => warning(
            found,
            "The generator reads it several times for each request, and is the limit sooner.",
            quicker(world),
        ),
        Some(_) => fine(found),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::super::testing::{Planted, found, planted};
    use super::*;

    fn current() -> String {
        format!("{FOLDER}/current_clocksource")
    }

    #[test]
    fn slow_sources_have_a_remedy_where_there_is_one() {
        assert_eq!(planted("clock-source", &current(), "kvm-clock\n").0, None);
        let (level, finding) = planted("clock-source", &current(), "hpet\n");
        assert_eq!(
            (level, finding.found.as_str()),
            (Some(Level::Doubt), "hpet")
        );
        assert_eq!(
            finding.advice,
            format!("echo tsc | sudo tee /{}", current())
        );
        let only = Planted::good()
            .with(&current(), "acpi_pm")
            .with(&format!("{FOLDER}/available_clocksource"), "acpi_pm");
        let (level, finding) = found(&only.world(), "clock-source");
        assert_eq!(level, Some(Level::Doubt));
        assert!(finding.advice.starts_with("Use another machine"));
    }

    #[test]
    fn cost_and_step_have_bounds() {
        let mut world = Planted::good().world();
        let mut of = |cost, step| {
            (world.own.clock_cost, world.own.clock_step) = (cost, step);
            found(&world, "clock").0
        };
        let nanos = Duration::from_nanos;
        assert_eq!(of(nanos(200), Some(nanos(1000))), None);
        assert_eq!(of(nanos(201), Some(nanos(40))), Some(Level::Doubt));
        assert_eq!(of(nanos(40), Some(nanos(1001))), Some(Level::Doubt));
        assert_eq!(of(nanos(40), None), Some(Level::Doubt));
    }
}
