//! Advice about an unusable program. It depends on the cause: a missing program must be installed, an old one updated
//! by its installer, and a broken one often gives advice itself.

use std::{
    env, iter,
    path::{Path, PathBuf},
};

use deadheat_model::stack::Toolchain;

use super::{Host, command::in_shell, version::compare};

/// What is wrong with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause<'a> {
    /// The program is not on the PATH.
    Missing,
    /// The program is too old: its path and version.
    TooOld(&'a Path, &'a str),
    /// The program is too new: its path.
    TooNew(&'a Path),
    /// The program does not print a version: its path and its output.
    Broken(&'a Path, &'a str),
}

/// Version managers with folders of their own: a part of the program's path, a prefix of the program's name, and the
/// command that installs a version. `{version}` is the oldest accepted version, `{major}`, `{minor}` and `{full}` are
/// its first one, two and three numbers, and `{tool}` is the program without a number.
const MANAGERS: [(&str, &str, &str); 20] = [
    (
        "/.pyenv/",
        "python",
        "PYTHON_CONFIGURE_OPTS='--enable-optimizations --with-lto' pyenv install {minor} && pyenv global {minor}",
    ),
    (
        "/.nvm/",
        "node",
        "nvm install {major} && nvm alias default {major}",
    ),
    (
        "/.nvm/",
        "npm",
        "nvm install {major} && nvm alias default {major}",
    ),
    ("/fnm", "node", "fnm install {major} && fnm default {major}"),
    ("/.volta/", "node", "volta install node@{major}"),
    ("/.volta/", "npm", "volta install npm"),
    (
        "/.nodenv/",
        "node",
        "nodenv install {full} && nodenv global {full}",
    ),
    (
        "/.rbenv/",
        "ruby",
        "rbenv install {full} && rbenv global {full}",
    ),
    (
        "/.rvm/",
        "ruby",
        "rvm install {version} && rvm use --default {version}",
    ),
    (
        "/.goenv/",
        "go",
        "goenv install {full} && goenv global {full}",
    ),
    ("/.sdkman/", "java", "sdk install java"),
    ("/.sdkman/", "mvn", "sdk install maven"),
    (
        "/.asdf/",
        "node",
        "asdf install nodejs latest && asdf set -u nodejs latest",
    ),
    (
        "/.asdf/",
        "python",
        "asdf install python latest && asdf set -u python latest",
    ),
    (
        "/.asdf/",
        "go",
        "asdf install golang latest && asdf set -u golang latest",
    ),
    (
        "/.asdf/",
        "",
        "asdf install {tool} latest && asdf set -u {tool} latest",
    ),
    ("/mise/", "", "mise use --global {tool}@{minor}"),
    ("conda", "python", "conda install python={minor}"),
    ("/snap/", "", "snap refresh {program}"),
    ("/linuxbrew/", "", "brew upgrade {program}"),
];

/// Folders that installers use without adding them to the PATH. Those without a leading slash are in the user's home.
const OFF_THE_PATH: [&str; 15] = [
    ".cargo/bin",
    ".pyenv/shims",
    ".rbenv/shims",
    ".asdf/shims",
    ".volta/bin",
    ".nimble/bin",
    ".dotnet",
    ".local/bin",
    ".sdkman/candidates/java/current/bin",
    ".sdkman/candidates/maven/current/bin",
    "/usr/local/go/bin",
    "/usr/lib/go/bin",
    "/usr/share/dotnet",
    "/usr/local/bin",
    "/snap/bin",
];

/// The first version of Go that can download other versions of itself.
const GO_THAT_FETCHES: &str = "1.21";

/// The advice about `toolchain`'s program in the stack's folder `dir`.
pub(super) fn advice(
    host: &Host<'_>,
    dir: &Path,
    toolchain: &Toolchain,
    cause: Cause<'_>,
) -> String {
    match cause {
        Cause::Missing => missing(host, dir, toolchain),
        Cause::TooOld(path, version) => too_old(path, version, toolchain),
        Cause::TooNew(_) => install(toolchain),
        Cause::Broken(path, text) => broken(dir, toolchain, path, text),
    }
}

/// The accepted versions in words: "1.25 or later", "3.6 to 3.7", "at most 3.7". Empty if any version is accepted.
pub(super) fn wanted(toolchain: &Toolchain) -> String {
    match (&toolchain.minimum, &toolchain.maximum) {
        (Some(minimum), Some(maximum)) => format!("{minimum} to {maximum}"),
        (Some(minimum), None) => format!("{minimum} or later"),
        (None, Some(maximum)) => format!("at most {maximum}"),
        (None, None) => String::new(),
    }
}

/// The program and the accepted versions: "go 1.25 or later".
pub(super) fn program_wanted(toolchain: &Toolchain) -> String {
    let words = format!("{} {}", toolchain.program, wanted(toolchain));
    words.trim_end().to_owned()
}

/// The manifest's own advice, which may be only a URL.
fn install(toolchain: &Toolchain) -> String {
    let hint = &toolchain.hint;
    if hint.starts_with("https://") || hint.starts_with("http://") {
        format!("install {}: {hint}", program_wanted(toolchain))
    } else {
        hint.clone()
    }
}

fn missing(host: &Host<'_>, dir: &Path, toolchain: &Toolchain) -> String {
    let program = &toolchain.program;
    if let Some(folder) = off_the_path(host, program) {
        return format!("export PATH=\"{}:$PATH\"", folder.display());
    }
    let of_rust = ["cargo", "rustc"].contains(&program.as_str());
    if of_rust && (host.find("rustup", dir).is_some() || off_the_path(host, "rustup").is_some()) {
        return "rustup default stable".to_owned();
    }
    install(toolchain)
}

/// A folder that has `program` and is not on the PATH.
pub(super) fn off_the_path(host: &Host<'_>, program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return None;
    }
    let folders = OFF_THE_PATH.iter().filter_map(|folder| {
        Some(match folder.strip_prefix('/') {
            Some(in_system) => host.system.join(in_system),
            None => host.home.as_ref()?.join(folder),
        })
    });
    let mut folders =
        folders.filter(|folder| !env::split_paths(&host.path).any(|one| one == *folder));
    // A name with a slash is looked up in the folder itself.
    folders.find(|folder| host.find(&format!("./{program}"), folder).is_some())
}

fn too_old(path: &Path, version: &str, toolchain: &Toolchain) -> String {
    if has_rustup(path) {
        return "rustup update stable && rustup default stable".to_owned();
    }
    let shown = path.display().to_string();
    // Follow links to the folder of the installer.
    let real = path
        .canonicalize()
        .map_or_else(|_| shown.clone(), |real| real.display().to_string());
    let program = &toolchain.program;
    // This version of Go downloads the version that go.mod names, unless that is turned off.
    if program == "go" && compare(version, GO_THAT_FETCHES).is_ge() {
        return format!("go env -w GOTOOLCHAIN=auto, or {}", install(toolchain));
    }
    let manager = MANAGERS.iter().find(|(part, name, _)| {
        program.starts_with(name) && (shown.contains(part) || real.contains(part))
    });
    let Some((_, _, command)) = manager else {
        return install(toolchain);
    };
    let Some(minimum) = toolchain.minimum.as_deref() else {
        return install(toolchain);
    };
    let numbers = || minimum.split('.').chain(iter::repeat("0"));
    let first = |count: usize| numbers().take(count).collect::<Vec<_>>().join(".");
    let tool = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    command
        .replace("{program}", program)
        .replace("{tool}", tool)
        .replace("{full}", &first(3))
        .replace("{version}", minimum)
        .replace("{major}", &first(1))
        .replace("{minor}", &first(2))
}

/// Whether rustup chooses the version of the program at `path`.
fn has_rustup(path: &Path) -> bool {
    path.parent()
        .is_some_and(|folder| folder.join("rustup").exists())
}

fn broken(dir: &Path, toolchain: &Toolchain, path: &Path, text: &str) -> String {
    if let Some(advice) = toolchain
        .if_it_says
        .iter()
        .find(|(said, _)| text.contains(said.as_str()))
    {
        return advice.1.clone();
    }
    if let Some(command) = own_advice(text) {
        return command;
    }
    if has_rustup(path) {
        return "rustup default stable".to_owned();
    }
    if let Some(command) = of_shim(dir, toolchain, text) {
        return command;
    }
    // A script of the stack itself checks what must be installed.
    if toolchain.program.contains('/') {
        return install(toolchain);
    }
    let command = in_shell(&toolchain.version);
    format!("make `{command}` work, or {}", install(toolchain))
}

/// The command in a program's own advice: "help: run 'rustup default stable' to download the latest stable release".
fn own_advice(text: &str) -> Option<String> {
    let lines = text.lines().map(str::trim);
    let mut advice = lines.filter_map(|line| {
        let (word, rest) = line.split_once(':')?;
        ["help", "hint", "try"]
            .contains(&word.to_lowercase().as_str())
            .then_some(rest)
    });
    advice.find_map(|line| {
        ['\'', '`', '"']
            .iter()
            .find_map(|quote| within(line, *quote))
    })
}

/// The first text of `line` in these quotation marks, if it is a command with arguments.
fn within(line: &str, quote: char) -> Option<String> {
    let (_, rest) = line.split_once(quote)?;
    let (words, _) = rest.split_once([quote, '\''])?;
    words.trim().contains(' ').then(|| words.trim().to_owned())
}

/// The advice for pyenv, rbenv and similar managers: a version is installed but not selected, or selected but not
/// installed. "pyenv: version `3.7' is not installed", "The `python3.7' command exists in these Python versions:".
fn of_shim(dir: &Path, toolchain: &Toolchain, text: &str) -> Option<String> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let (manager, rest) = first.split_once(": ")?;
    if !manager.ends_with("env") || manager.contains(' ') {
        return None;
    }
    if let Some((_, rest)) = rest.split_once("version `")
        && let Some((version, _)) = rest.split_once('\'')
    {
        return Some(format!("{manager} install {version}"));
    }
    let mut lines = text
        .lines()
        .skip_while(|line| !line.contains("command exists in these"));
    let installed = lines.nth(1).map(str::trim).filter(|line| !line.is_empty());
    if let Some(version) = installed {
        let dir = in_shell(&[dir.display().to_string()]);
        return Some(format!("cd {dir} && {manager} local {version}"));
    }
    let minimum = toolchain.minimum.as_deref()?;
    Some(format!("{manager} install {minimum}"))
}
