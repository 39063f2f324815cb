//! As many worker threads as another tool was asked for.

use deadheat_runner::session::describe_machine;

/// The value of `--cpus` for so many threads; `None`: one, which is not pinned.
///
/// # Errors
/// When there are not as many CPUs.
pub(super) fn cpus(option: &str, threads: u32) -> Result<Option<String>, String> {
    if threads == 1 {
        return Ok(None);
    }
    let cpus = describe_machine().cpus;
    let chosen = cpus
        .get(..threads as usize)
        .filter(|chosen| !chosen.is_empty());
    let chosen = chosen.ok_or_else(|| {
        format!(
            "{option} {threads}: deadheat has a worker thread per CPU at most, and this machine has {} CPUs; one thread \
             sends as much as several of other tools",
            cpus.len()
        )
    })?;
    let list: Vec<String> = chosen.iter().map(usize::to_string).collect();
    Ok(Some(list.join(",")))
}

/// The most threads that can be had, up to `wanted`.
pub(super) fn at_most(wanted: u32) -> u32 {
    let cpus = u32::try_from(describe_machine().cpus.len()).unwrap_or(u32::MAX);
    wanted.min(cpus).max(1)
}
