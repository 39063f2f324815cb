//! This call of deadheat: its arguments, its own binary, a seed, and the folder that it was called in.

use std::{env, path::Path};

use deadheat_runner::{process::Supervision, secret::without_password};

use crate::{exit::Failure, there};

/// Deadheat's own arguments, as they may be recorded: those that were typed.
pub(crate) fn arguments() -> Vec<String> {
    env::args_os()
        .skip(1)
        .take_while(|argument| argument != there::OPTION)
        .map(|argument| without_password(&argument.to_string_lossy()))
        .collect()
}

/// How children are supervised: by this very binary.
pub(crate) fn supervision() -> Result<Supervision, Failure> {
    let program = env::current_exe().map_err(|error| {
        Failure::nothing(format!("finding the deadheat binary itself: {error}"))
    })?;
    Ok(Supervision::by(program))
}

/// A seed from the standard library's own randomness; it is recorded, so that the order can be repeated.
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // Short enough to be typed again.
    RandomState::new().hash_one(std::process::id()) % 1_000_000_000
}

/// A path as the user would type it from here.
pub(crate) fn shown(path: &Path) -> String {
    let current = env::current_dir().unwrap_or_default();
    path.strip_prefix(&current)
        .unwrap_or(path)
        .display()
        .to_string()
}
