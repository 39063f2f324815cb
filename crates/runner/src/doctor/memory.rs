//! Memory: whether there is enough, and what the kernel does with it meanwhile.

use deadheat_model::figure::size;

use super::{
    World,
    found::{CheckResult, fine, note, unknown, warning},
};

/// A database, an upstream, and a server on a virtual machine of its language take about half of this.
const LEAST_AVAILABLE: u64 = 1 << 30;

/// A line of `/proc/meminfo`, in bytes.
fn bytes(world: &World, key: &str) -> Option<u64> {
    Some(world.root.value("proc/meminfo", key)? * 1024)
}

pub(super) fn available(world: &World) -> CheckResult {
    let why = "When memory runs out, the kernel writes it to disk or ends a process, and files are read again and again.";
    match bytes(world, "MemAvailable") {
        None => unknown("/proc/meminfo does not tell", why),
        Some(free) if free < LEAST_AVAILABLE => warning(
            format!("{} available", size(free)),
            why,
            "ps -e -o pid,rss,args --sort -rss | head\nEnd processes that are not needed.",
        ),
        Some(free) => fine(format!("{} available", size(free))),
    }
}

pub(super) fn swap(world: &World) -> CheckResult {
    let swappiness = world.root.text("proc/sys/vm/swappiness");
    let swappiness = swappiness.map_or(String::new(), |value| format!(", swappiness {value}"));
    let (Some(total), Some(free)) = (bytes(world, "SwapTotal"), bytes(world, "SwapFree")) else {
        return unknown(
            "/proc/meminfo does not tell",
            "A process whose memory is on disk waits for it.",
        );
    };
    let used = total.saturating_sub(free);
    let pages = world.watched.swapped_pages;
    if pages > 0 {
        return warning(
            format!("{pages} pages moved while watched{swappiness}"),
            "Processes wait for the disk, in the middle of requests.",
            format!(
                "ps -e -o pid,rss,args --sort -rss | head\n{}",
                world.as_root("swapoff -a")
            ),
        );
    }
    if used > 0 {
        return note(
            format!("{} used, at rest{swappiness}", size(used)),
            "Swapped-out memory is read back when it is needed, perhaps in the middle of a heat.",
            world.as_root("swapoff -a"),
        );
    }
    fine(match total {
        0 => "none".to_owned(),
        _ => format!("unused{swappiness}"),
    })
}

pub(super) fn huge_pages(world: &World) -> CheckResult {
    let path = "sys/kernel/mm/transparent_hugepage/enabled";
    let state = world.root.text(path).and_then(|text| {
        let (_, rest) = text.split_once('[')?;
        Some(rest.split_once(']')?.0.to_owned())
    });
    match state.as_deref() {
        None => unknown(
            "the kernel does not tell",
            "Transparent huge pages make a process faster and larger.",
        ),
        Some("always") => note(
            "always",
            "A process that touches a little of 2 MiB gets all of it, so memory figures are larger than elsewhere; and \
             the kernel joins pages on its own, at times that nobody chose.",
            world.set(&format!("/{path}"), "madvise"),
        ),
        Some(state) => fine(state),
    }
}

pub(super) fn pss(world: &World) -> CheckResult {
    if world.root.has("proc/self/smaps_rollup") {
        fine("counted")
    } else {
        unknown(
            "this kernel has no smaps_rollup (Linux 4.14)",
            "The memory of servers is not known then.",
        )
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::super::testing::{Planted, found, planted};

    const MEMINFO: &str = "proc/meminfo";

    #[test]
    fn little_memory_is_a_warning() {
        let of = |text: &str| planted("memory", MEMINFO, text).0;
        assert_eq!(of("MemAvailable:    1048576 kB\n"), None);
        assert_eq!(of("MemAvailable:    1048575 kB\n"), Some(Level::Doubt));
        assert_eq!(of("MemFree: 1 kB\n"), Some(Level::Routine));
    }

    #[test]
    fn swap_in_motion_is_worse_than_swap_at_rest() {
        let of = |free: &str| {
            let text = format!("SwapTotal: 4194304 kB\nSwapFree: {free} kB\n");
            Planted::good().with(MEMINFO, &text).world()
        };
        let (level, finding) = found(&of("4194304"), "swap");
        assert_eq!(
            (level, finding.found.as_str()),
            (None, "unused, swappiness 60")
        );
        let mut used = of("2097152");
        let (level, finding) = found(&used, "swap");
        assert_eq!(level, Some(Level::Note));
        assert_eq!(finding.found, "2.00 GiB used, at rest, swappiness 60");
        used.watched.swapped_pages = 3;
        assert_eq!(found(&used, "swap").0, Some(Level::Doubt));
    }

    #[test]
    fn huge_pages_for_all_are_noted() {
        let path = "sys/kernel/mm/transparent_hugepage/enabled";
        let of = |text: &str| planted("huge-pages", path, text).0;
        assert_eq!(of("[always] madvise never\n"), Some(Level::Note));
        assert_eq!(of("always madvise [never]\n"), None);
    }

    #[test]
    fn an_old_kernel_counts_no_pss() {
        let old = Planted::good().without("proc/self/smaps_rollup").world();
        assert_eq!(found(&old, "pss").0, Some(Level::Routine));
    }
}
