//! How a program is started on another host: by what the user's site has for that.

use std::{
    fmt,
    path::{Path, PathBuf},
    process::Command,
    str::FromStr,
};

/// The name of the host that is this machine.
pub const LOCAL: &str = "local";
/// Where the host's name goes in a template.
const PLACE: &str = "{host}";
/// Programs that pass their arguments on as one line for a shell.
const JOINING: [&str; 4] = ["ssh", "rsh", "pdsh", "autossh"];

/// A way to start a program on another host, with its standard input and output connected to here: words that come
/// before the program's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    words: Vec<String>,
    /// Whether the host's shell reads the program and its arguments as one line.
    shell: bool,
}

impl Launcher {
    /// Secure Shell, which must not have to ask for anything.
    pub fn ssh() -> Self {
        let alive = ["-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=4"];
        let quiet = ["-T", "-o", "BatchMode=yes"];
        let words = ["ssh"].into_iter().chain(quiet).chain(alive);
        Self::new(words.chain([PLACE]))
    }

    /// A task of the Slurm job that this process runs in.
    pub fn srun() -> Self {
        // Without `--unbuffered`, Slurm holds output back until a line is complete.
        Self::new([
            "srun",
            "--unbuffered",
            "--nodes=1",
            "--ntasks=1",
            "--overlap",
            "--nodelist",
            PLACE,
        ])
    }

    /// A pod of Kubernetes, which must have `sh`.
    pub fn kubectl() -> Self {
        Self::new(["kubectl", "exec", "--stdin", PLACE, "--"])
    }

    fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let program = words.first().map(Path::new).and_then(Path::file_name);
        let shell = program.is_some_and(|program| JOINING.iter().any(|one| program == *one));
        Self { words, shell }
    }

    /// The command that runs `program` on `host`.
    pub(super) fn command(&self, host: &str, program: &[&str]) -> Command {
        let mut words = self.words.iter().map(|word| word.replace(PLACE, host));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        if self.shell {
            command.arg(
                program
                    .iter()
                    .map(|word| quoted(word))
                    .collect::<Vec<_>>()
                    .join(" "),
            );
        } else {
            command.args(program);
        }
        tracing::info!("host {host}: {command:?}");
        command
    }
}

/// A text that cannot start anything on a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot reach a host; write ssh, srun, kubectl, or a command with the host's place in it: \
     'ssh -p 2222 {{host}}'"
)]
pub struct LauncherError(String);

/// "ssh", "srun", "kubectl", or a command with `{host}` in it.
impl FromStr for Launcher {
    type Err = LauncherError;

    fn from_str(text: &str) -> Result<Self, LauncherError> {
        match text {
            "ssh" => return Ok(Self::ssh()),
            "srun" => return Ok(Self::srun()),
            "kubectl" => return Ok(Self::kubectl()),
            _ => {}
        }
        let words = shlex::split(text)
            .filter(|words| words.iter().any(|word| word.contains(PLACE)))
            .ok_or_else(|| LauncherError(text.to_owned()))?;
        Ok(Self::new(words.iter().map(String::as_str)))
    }
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

/// The word for a POSIX shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Where the agent's program comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binary {
    /// This program is copied, unless it is there.
    Copied,
    /// It is there.
    At(PathBuf),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<String> {
        let arguments = command.get_args();
        [command.get_program()]
            .into_iter()
            .chain(arguments)
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn what_a_shell_reads_as_one_line_is_quoted_and_nothing_else() {
        let program = ["sh", "-c", "echo 'it is'"];
        let ssh: Launcher = "ssh -p 2222 root@{host}".parse().unwrap();
        assert_eq!(
            words(&ssh.command("one", &program)),
            [
                "ssh",
                "-p",
                "2222",
                "root@one",
                r"'sh' '-c' 'echo '\''it is'\'''"
            ]
        );
        let srun = words(&Launcher::srun().command("node7", &program));
        assert_eq!(
            srun[srun.len() - 4..],
            ["node7", "sh", "-c", "echo 'it is'"]
        );
    }

    #[test]
    fn a_template_has_a_place_for_the_host() {
        for text in ["", "ssh one", "rsync", "ssh '{host}"] {
            let error = text.parse::<Launcher>().unwrap_err().to_string();
            assert!(error.contains("{host}"), "{error}");
        }
        let own: Launcher = "nsenter --net=/run/netns/{host}".parse().unwrap();
        assert_eq!(own.to_string(), "nsenter --net=/run/netns/{host}");
    }
}
