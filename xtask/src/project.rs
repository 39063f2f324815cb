//! The project's folders, and the programs that steps run in it.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// Cargo's settings for a compilation that lints, with warnings as errors.
const WITH_CLIPPY: &str = ".cargo/with-clippy.toml";

/// Cargo's settings for releases that nobody measures, and for the place of what they have in common.
fn unoptimised(shared: &Path) -> String {
    format!(
        "profile.release = {{ opt-level = 0, lto = \"off\", codegen-units = 16 }}\n\
         build.build-dir = {:?}\n",
        shared.display().to_string()
    )
}

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

/// [`binary`], with arguments.
pub(crate) fn deadheat(args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args);
    command
}

/// [`deadheat`], for what builds stacks to ask them and not to measure them.
pub(crate) fn deadheat_with_quick_builds(args: &[&str]) -> Command {
    let mut command = deadheat(args);
    command.envs(quick_builds());
    command
}

/// Variables for builds of stacks that nobody measures: compilers take a third of the CPU time when they optimise nothing.
/// To measure a stack later, it is built again: Cargo notices that these variables are gone.
pub(crate) fn quick_builds() -> Vec<(&'static str, OsString)> {
    let mut variables = Vec::new();
    // Maven lives for seconds: its virtual machine takes half of the CPU time without the optimising compiler.
    if std::env::var_os("MAVEN_OPTS").is_none() {
        let quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";
        variables.push(("MAVEN_OPTS", quick.into()));
    }
    static CARGO: OnceLock<Option<PathBuf>> = OnceLock::new();
    if let Some(home) = CARGO.get_or_init(|| quick_cargo_home().ok()) {
        variables.push(("CARGO_HOME", home.into()));
    }
    // CMake would not notice, and a later session would measure this build. No session follows on a machine of CI.
    static CXX: OnceLock<Option<OsString>> = OnceLock::new();
    if std::env::var_os("CI").is_some()
        && let Some(path) = CXX.get_or_init(|| path_with_quick_cxx().ok())
    {
        variables.push(("PATH", path.clone()));
    }
    variables
}

/// A search path that begins with a C++ compiler that optimises nothing: with optimisation, cpp-beast takes two minutes
/// of CPU time to build.
///
/// # Errors
/// When there is no compiler, or the one without optimisation cannot be written.
fn path_with_quick_cxx() -> io::Result<OsString> {
    const COMPILER: &str = "/usr/bin/g++";
    fs::metadata(COMPILER)?;
    let folder = target().join("tmp/compilers");
    fs::create_dir_all(&folder)?;
    let quick = folder.join("g++");
    // The last options take precedence.
    let script = format!("#!/bin/sh\nexec {COMPILER} \"$@\" -O0 -fno-lto\n");
    fs::write(&quick, script)?;
    fs::set_permissions(&quick, fs::Permissions::from_mode(0o755))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder].into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(folders).map_err(io::Error::other)
}

/// A folder for `CARGO_HOME` that makes every release without optimisation and each dependency once for all stacks, and has
/// the downloads of the real one: builds of stacks inherit no variable that changes what is built.
///
/// # Errors
/// When it cannot be made, or somebody's own settings have profiles or a table for builds.
fn quick_cargo_home() -> io::Result<PathBuf> {
    let home = |name, folder: &str| Some(PathBuf::from(std::env::var_os(name)?).join(folder));
    let real = home("CARGO_HOME", "").or_else(|| home("HOME", ".cargo"));
    let real = real.ok_or(io::ErrorKind::NotFound)?;
    let quick = target().join("tmp/cargo-home");
    fs::create_dir_all(&quick)?;
    for shared in ["registry", "git"] {
        fs::create_dir_all(real.join(shared))?;
        let link = quick.join(shared);
        if !link.exists() {
            symlink(real.join(shared), link)?;
        }
    }
    let own = fs::read_to_string(real.join("config.toml")).unwrap_or_default();
    if own.contains("profile") || own.contains("build") {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let shared = unoptimised(&target().join("tmp/stacks"));
    fs::write(quick.join("config.toml"), format!("{shared}{own}"))?;
    Ok(quick)
}
