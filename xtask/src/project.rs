//! The project's folders, and the programs that steps run in it.

use std::{
    ffi::OsString,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

/// Cargo's settings for a compilation that lints, with warnings as errors.
const WITH_CLIPPY: &str = ".cargo/with-clippy.toml";

/// Whether [`compiling`] lints.
static LINTS: AtomicBool = AtomicBool::new(false);

/// The project's folder.
pub(crate) fn root() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().map_or(own.clone(), PathBuf::from)
}

/// The cargo that runs this program, with arguments.
///
/// It is not told what `cargo run` tells this program of its own package: ring's build script runs again whenever that
/// changes, and everything that needs TLS would be built anew by each cargo that another one started.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    let of_package = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| of_package(name)) {
        command.env_remove(name);
    }
    command
}

/// [`cargo`] for what compiles the workspace: once [`lint_while_compiling`] was called, with clippy as its compiler.
pub(crate) fn compiling(args: &[&str]) -> Command {
    let mut command = cargo(&[]);
    if LINTS.load(Ordering::Relaxed) {
        command.arg("--config").arg(root().join(WITH_CLIPPY));
    }
    command.args(args);
    command
}

/// From now on, [`compiling`] lints as well. All commands do or none, so that nothing is compiled twice.
pub(crate) fn lint_while_compiling() {
    LINTS.store(true, Ordering::Relaxed);
}

/// Where cargo puts what it makes.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The binary that tests use.
pub(crate) fn binary() -> PathBuf {
    target().join("debug/deadheat")
}

/// The binary that users have, which is the one to measure.
pub(crate) fn release_binary() -> PathBuf {
    target().join("release/deadheat")
}

/// That binary, with arguments.
pub(crate) fn deadheat(args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args);
    command
}
