//! Starts a program on another host with the site's own remote command. This program is copied to the host in the same
//! way, once, to a file named by its SHA-256. A damaged copy is replaced.

use std::{
    fmt,
    fs::File,
    io,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    process::Command,
    str::FromStr,
    sync::OnceLock,
};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The name of the host that is this machine.
pub const LOCAL: &str = "local";
/// The placeholder for the host's name in a template.
const PLACE: &str = "{host}";
/// Programs that pass their arguments to a remote shell as one line.
const JOINING: [&str; 4] = ["ssh", "rsh", "pdsh", "autossh"];

/// A command that starts a program on another host, with its standard input and output connected to this process. Its
/// words come before the program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    words: Vec<String>,
    /// Whether the host's shell reads the program and its arguments as one line.
    shell: bool,
}

impl Launcher {
    /// Secure Shell, without interactive prompts.
    pub fn ssh() -> Self {
        let alive = ["-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=4"];
        let quiet = ["-T", "-o", "BatchMode=yes"];
        let words = ["ssh"].into_iter().chain(quiet).chain(alive);
        Self::new(words.chain([PLACE]))
    }

    /// A task in this process's Slurm job.
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

    /// A Kubernetes pod, which must contain `sh`.
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

/// The error for a text that is not a launcher; it contains the text.
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

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The program of the agent on the other host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binary {
    /// A copy of this program, which is made unless it exists.
    Copied,
    /// An installed program at this path.
    At(PathBuf),
}

/// The line that the script prints to request the program.
pub(super) const SEND: &str = "deadheat-send";
/// The size of the pieces in which the program is read, so that memory use does not depend on its size.
const PIECE: usize = 256 << 10;

/// The file of this program, which is copied to other hosts.
pub(super) struct ProgramFile {
    file: File,
    bytes: u64,
    name: String,
}

impl ProgramFile {
    /// Opens the running program, even if its file has been replaced meanwhile. All hosts share one value.
    pub(super) fn own() -> Result<&'static Self, &'static io::Error> {
        static OWN: OnceLock<io::Result<ProgramFile>> = OnceLock::new();
        let own = OWN.get_or_init(|| File::open("/proc/self/exe").and_then(Self::new));
        own.as_ref()
    }

    fn new(file: File) -> io::Result<Self> {
        let mut sum = Sha256::new();
        let mut bytes = 0;
        in_pieces(&file, &mut |piece| {
            sum.update(piece);
            bytes += piece.len() as u64;
            Ok(())
        })?;
        Ok(Self {
            file,
            bytes,
            name: HEXLOWER.encode(&sum.finalize()),
        })
    }

    /// The POSIX shell script that becomes the agent. It requests the program first if the copy is missing or damaged.
    /// Without sha256sum, only the length of the copy is checked.
    pub(super) fn script(&self) -> String {
        let (name, size) = (&self.name, self.bytes);
        format!(
            "m=$(umask); umask 077; \
             d=\"${{XDG_CACHE_HOME:-${{HOME:?has no value, so there is no folder for deadheat}}/.cache}}/deadheat/agents\"; \
             f=\"$d/{name}\"; p=\"$f.$$\"; \
             whole() {{ [ -f \"$1\" ] && [ \"$(wc -c < \"$1\")\" -eq {size} ] || return 1; \
             command -v sha256sum > /dev/null || return 0; \
             case \"$(sha256sum < \"$1\")\" in {name}*) return 0;; esac; return 1; }}; \
             if [ ! -x \"$f\" ] || ! whole \"$f\"; then \
             mkdir -p \"$d\" && echo {SEND} && head -c {size} > \"$p\" && whole \"$p\" \
             && chmod 700 \"$p\" && mv -f \"$p\" \"$f\" || {{ rm -f \"$p\"; exit 1; }}; \
             fi; umask \"$m\"; exec \"$f\" agent"
        )
    }

    /// The length of the program in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Passes the program to `pass_on`, piece by piece.
    pub(super) fn pieces(
        &self,
        pass_on: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        in_pieces(&self.file, pass_on)
    }
}

/// Reads a file with explicit offsets, because other threads read it at the same time.
fn in_pieces(file: &File, pass_on: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut at = 0;
    loop {
        match file.read_at(&mut piece, at) {
            Ok(0) => return Ok(()),
            Ok(length) => {
                pass_on(&piece[..length])?;
                at += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::{Read as _, Write as _},
        os::unix::fs::PermissionsExt as _,
        process::{Command, Stdio},
    };

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

    /// A program that says that it is there, in place of deadheat.
    const PROGRAM: &str = "#!/bin/sh\necho agent of $1\n";

    #[test]
    fn a_copy_that_is_damaged_is_replaced_and_a_whole_one_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        fs::write(&own, PROGRAM).unwrap();
        let program_file = ProgramFile::new(File::open(&own).unwrap()).unwrap();
        let copy = folder
            .path()
            .join("deadheat/agents")
            .join(&program_file.name);
        let started = || {
            let mut child = Command::new("sh")
                .args(["-c", &program_file.script()])
                .env("XDG_CACHE_HOME", folder.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut input = child.stdin.take().unwrap();
            // A script that does not request the program has ended by then, or reads it as its own input.
            let _ = program_file.pieces(&mut |piece| input.write_all(piece));
            drop(input);
            let mut said = String::new();
            child
                .stdout
                .take()
                .unwrap()
                .read_to_string(&mut said)
                .unwrap();
            assert!(child.wait().unwrap().success(), "{said}");
            said
        };
        let sent = format!("{SEND}\nagent of agent\n");
        let used = "agent of agent\n";
        assert_eq!(started(), sent);
        assert_eq!(started(), used);
        let damages: [&dyn Fn(); 4] = [
            // One letter is another one.
            &|| fs::write(&copy, PROGRAM.replace("agent of", "agent if")).unwrap(),
            &|| fs::write(&copy, &PROGRAM[..10]).unwrap(),
            &|| fs::write(&copy, "").unwrap(),
            &|| fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).unwrap(),
        ];
        for (nth, damage) in damages.iter().enumerate() {
            damage();
            assert_eq!(started(), sent, "damage {nth}");
            assert_eq!(started(), used, "after damage {nth}");
        }
        assert_eq!(fs::read_to_string(&copy).unwrap(), PROGRAM);
    }
}
