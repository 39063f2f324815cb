//! The kernel, its clock, and what is below it.

use std::time::Duration;

use deadheat_model::figure::counted;

use super::{CheckResult, MachineState, fine, note, unknown, warning};

pub(super) fn hypervisor(state: &MachineState) -> CheckResult {
    match state.root.hypervisor() {
        Some(name) => note(
            name,
            "The host's frequencies, its other guests and its heat cannot be seen from here; system calls that reach \
             the host cost more. Compare figures within this machine only.",
            "",
        ),
        None if state.root.has("proc/cpuinfo") => fine("no sign of one"),
        None => unknown(
            "/proc/cpuinfo is not there",
            "Below a virtual machine is another one, with load of its own.",
        ),
    }
}

pub(super) fn mitigations(state: &MachineState) -> CheckResult {
    let on = state.machine.mitigations.iter();
    let (open, on): (Vec<_>, Vec<_>) = on.partition(|state| state.contains(": Vulnerable"));
    let why = "They make system calls more expensive, which servers of many small requests feel most. Leave them as your \
               users have them, and compare figures only with machines that have the same.";
    match (on.len(), open.len()) {
        (0, 0) => {
            if state.root.has("sys/devices/system/cpu/vulnerabilities") {
                fine("none needed")
            } else {
                unknown("the kernel does not tell", why)
            }
        }
        (on, 0) => note(format!("{on} on"), why, ""),
        (on, open) => note(format!("{on} on, {open} off"), why, ""),
    }
}

/// Address space layout randomisation (ASLR) must be on. A fixed layout biases every heat of a stack in the same
/// direction (Mytkowicz et al., ASPLOS 2009; Curtsinger and Berger, ASPLOS 2013).
pub(super) fn layout(state: &MachineState) -> CheckResult {
    let why = "A program whose layout in memory is always the same is fast or slow by luck, in every heat alike; heats \
               average over layouts only where each process has another.";
    // personality(2): ADDR_NO_RANDOMIZE, as setarch -R and debuggers set it.
    let personality = state.root.text("proc/self/personality");
    let personality = personality.and_then(|text| u32::from_str_radix(&text, 16).ok());
    if personality.is_some_and(|flags| flags & 0x0004_0000 != 0) {
        return warning(
            "off for this process",
            why,
            "Start deadheat without setarch -R, and outside of a debugger.",
        );
    }
    match state
        .root
        .text("proc/sys/kernel/randomize_va_space")
        .as_deref()
    {
        None => unknown("the kernel does not tell", why),
        Some("0") => warning(
            "off",
            why,
            state.as_root("sysctl -w kernel.randomize_va_space=2"),
        ),
        Some(_) => fine("on, as it should be: each process has another layout"),
    }
}

/// Since Linux 5.6 neither getrandom(2) nor /dev/random waits once the generator was seeded.
pub(super) fn entropy(state: &MachineState) -> CheckResult {
    let why = "Programs that read /dev/random, as some runtimes do at their start, wait for it.";
    let mut numbers = state
        .machine
        .kernel
        .split(['.', '-'])
        .map(str::parse::<u32>);
    let version = match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Some((major, minor)),
        _ => None,
    };
    let bits: Option<u32> = state.root.number("proc/sys/kernel/random/entropy_avail");
    match (version, bits) {
        (Some(version), _) if version >= (5, 6) => fine("never waited for"),
        (_, Some(bits)) if bits < 256 => warning(
            counted(bits, "bit"),
            why,
            "install haveged or rng-tools".to_owned(),
        ),
        (_, Some(bits)) => fine(counted(bits, "bit")),
        (_, None) => unknown("the kernel does not tell", why),
    }
}

/// What other tools need, and this one does not.
pub(super) fn privileges(state: &MachineState) -> CheckResult {
    let paranoid = state.root.text("proc/sys/kernel/perf_event_paranoid");
    let found = paranoid.map_or(String::new(), |level| {
        format!(" (perf_event_paranoid {level})")
    });
    fine(format!("neither perf events nor ptrace are needed{found}"))
}

/// Read without a system call, a clock costs some 20 to 60 ns; with one, several hundred.
const MAX_COST: Duration = Duration::from_nanos(200);
/// What the shortest service times are counted in.
const MAX_STEP: Duration = Duration::from_micros(1);

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

pub(super) fn clock_source(state: &MachineState) -> CheckResult {
    let why = "With a slow source each reading is a system call or an access to a device, several a request. It slows \
               down the generator, and every server that reads the clock.";
    match state.root.text(&format!("{FOLDER}/current_clocksource")) {
        None => unknown("the kernel does not tell", why),
        Some(name) if QUICK.contains(&name.as_str()) => fine(name),
        Some(name) => warning(name, why, quicker(state)),
    }
}

/// A better source, where the kernel has one.
fn quicker(state: &MachineState) -> String {
    let available = state.root.text(&format!("{FOLDER}/available_clocksource"));
    let available = available.unwrap_or_default();
    let mut known = available.split(' ');
    match known.find(|name| QUICK.contains(name)) {
        Some(name) => state.set(&format!("/{FOLDER}/current_clocksource"), name),
        None => "Use another machine: this kernel has no quicker source, because the processor's counter (TSC) is \
                 unreliable or the hypervisor hides it."
            .to_owned(),
    }
}

pub(super) fn clock_cost(state: &MachineState) -> CheckResult {
    let (cost, step) = (state.own.clock_cost, state.own.clock_step);
    let found = format!("{} ns to read", cost.as_nanos());
    match step {
        None => warning(
            "it stands still",
            "Nothing can be measured with it.",
            quicker(state),
        ),
        Some(step) if step > MAX_STEP => warning(
            format!("{found}, in steps of {} µs", step.as_micros()),
            "That is the resolution of service times.",
            quicker(state),
        ),
        Some(_) if cost > MAX_COST => warning(
            found,
            "The generator reads it several times for each request, and is the limit sooner.",
            quicker(state),
        ),
        Some(_) => fine(found),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::{
        super::testing::{Planted, found, planted},
        *,
    };

    #[test]
    fn a_virtual_machine_is_noted() {
        let (level, finding) = planted("virtual-machine", "sys/hypervisor/type", "xen\n");
        assert_eq!((level, finding.found.as_str()), (Some(Level::Note), "xen"));
    }

    #[test]
    fn mitigations_are_counted() {
        let folder = "sys/devices/system/cpu/vulnerabilities";
        let state = Planted::good()
            .with(&format!("{folder}/meltdown"), "Mitigation: PTI\n")
            .with(&format!("{folder}/mds"), "Vulnerable: no microcode\n")
            .state();
        let (level, finding) = found(&state, "mitigations");
        assert_eq!(
            (level, finding.found.as_str()),
            (Some(Level::Note), "1 on, 1 off")
        );
    }

    #[test]
    fn a_fixed_layout_is_a_warning_however_it_came() {
        let space = "proc/sys/kernel/randomize_va_space";
        assert_eq!(planted("aslr", space, "0\n").0, Some(Level::Doubt));
        let own = "proc/self/personality";
        let (level, finding) = planted("aslr", own, "00040000\n");
        assert_eq!(level, Some(Level::Doubt));
        assert!(finding.advice.contains("setarch"));
        assert_eq!(planted("aslr", own, "00000000\n").0, None);
    }

    #[test]
    fn old_kernels_may_wait_for_entropy() {
        let with = |kernel: &str, bits: &str| {
            let state = Planted::good()
                .with("proc/sys/kernel/osrelease", kernel)
                .with("proc/sys/kernel/random/entropy_avail", bits);
            found(&state.state(), "entropy").0
        };
        assert_eq!(with("5.4.0-1\n", "60\n"), Some(Level::Doubt));
        assert_eq!(with("5.4.0-1\n", "3000\n"), None);
        assert_eq!(with("5.6.0\n", "60\n"), None);
        assert_eq!(with("4.19.2\n", "255\n"), Some(Level::Doubt));
    }

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
        let (level, finding) = found(&only.state(), "clock-source");
        assert_eq!(level, Some(Level::Doubt));
        assert!(finding.advice.starts_with("Use another machine"));
    }

    #[test]
    fn cost_and_step_have_bounds() {
        let mut state = Planted::good().state();
        let mut of = |cost, step| {
            (state.own.clock_cost, state.own.clock_step) = (cost, step);
            found(&state, "clock").0
        };
        let nanos = Duration::from_nanos;
        assert_eq!(of(nanos(200), Some(nanos(1000))), None);
        assert_eq!(of(nanos(201), Some(nanos(40))), Some(Level::Doubt));
        assert_eq!(of(nanos(40), Some(nanos(1001))), Some(Level::Doubt));
        assert_eq!(of(nanos(40), None), Some(Level::Doubt));
    }
}
