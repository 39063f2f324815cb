//! Where it is measured: the two CPUs, and what a reader must know of the machine.

use std::fs;

/// The CPUs of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cpus {
    /// nginx's.
    pub(crate) server: usize,
    /// The generators'.
    pub(crate) generator: usize,
    /// Whether they are two threads of one core, which slow each other down.
    pub(crate) share_a_core: bool,
}

impl Cpus {
    /// The first CPU that this process may use for the server, and for the generator the first one of another core, if
    /// there is one.
    ///
    /// # Errors
    ///
    /// With a single CPU, on which nothing can be kept apart.
    pub(crate) fn choose() -> Result<Self, String> {
        choose(&usable_cpus(), core_of)
    }
}

fn choose(usable: &[usize], core: impl Fn(usize) -> String) -> Result<Cpus, String> {
    let [server, others @ ..] = usable else {
        return Err("/proc/self/status names no CPU that this process may use".to_owned());
    };
    let elsewhere = others.iter().find(|cpu| core(**cpu) != core(*server));
    let generator = elsewhere
        .or(others.first())
        .ok_or("nginx and the generators need a CPU each, and this process may use one alone")?;
    Ok(Cpus {
        server: *server,
        generator: *generator,
        share_a_core: elsewhere.is_none(),
    })
}

/// The CPUs that this process may use.
pub(crate) fn usable_cpus() -> Vec<usize> {
    let list = value_of("/proc/self/status", "Cpus_allowed_list");
    cpu_list(&list.unwrap_or_default())
}

/// `0-2,5` as 0, 1, 2, 5.
fn cpu_list(text: &str) -> Vec<usize> {
    let ranges = text.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse().ok()?)
    });
    ranges.flatten().collect()
}

/// The threads of the core that a CPU is one of; where that is not told, it is a core of its own.
fn core_of(cpu: usize) -> String {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    fs::read_to_string(path).unwrap_or_else(|_| cpu.to_string())
}

/// The processor's model, the kernel, and how TCP is sent.
pub(crate) fn describe() -> String {
    let model = value_of("/proc/cpuinfo", "model name");
    let model = model.unwrap_or_else(|| "an unnamed processor".to_owned());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let tcp = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap_or_default();
    format!("{model}, Linux {}, TCP {}", kernel.trim(), tcp.trim())
}

/// The value of a line `key: value` in a file of /proc.
pub(crate) fn value_of(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read() {
        assert_eq!(cpu_list("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(cpu_list("7"), [7]);
        assert!(cpu_list("").is_empty());
    }

    #[test]
    fn the_two_sides_get_a_core_each_where_there_are_two() {
        // As on a machine with two cores of two threads: 0 and 1 are one core.
        let pairs = |cpu: usize| (cpu / 2).to_string();
        let cpus = choose(&[0, 1, 2, 3], pairs).unwrap();
        assert_eq!((cpus.server, cpus.generator), (0, 2));
        assert!(!cpus.share_a_core);
        let cpus = choose(&[2, 3], pairs).unwrap();
        assert_eq!((cpus.server, cpus.generator), (2, 3));
        assert!(cpus.share_a_core);
        assert!(choose(&[1], pairs).unwrap_err().contains("one alone"));
        assert!(choose(&[], pairs).is_err());
    }
}
