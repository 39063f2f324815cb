//! Where, when, with what and by which command a case was measured: what makes its table checkable.

use std::{
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

use clap::ValueEnum;

use super::{
    Options,
    blocks::Measuring,
    case::Case,
    machine, sys,
    tool::{Tool, version_in},
    trial::Program,
};
use crate::project::root;

/// What holds for all cases of one invocation.
pub(crate) struct Circumstances {
    machine: String,
    nginx: String,
    /// Where the deadheat that is measured comes from.
    origin: Option<String>,
    /// The peak of a process that does nothing: no tool's peak says anything below it.
    floor_bytes: u64,
}

impl Circumstances {
    /// Looks at everything that is to be said.
    pub(crate) fn gather(options: &Options, measuring: &Measuring<'_>) -> Result<Self, String> {
        let cpus = &measuring.bench.cpus;
        let core = if cpus.share_a_core {
            " (two threads of one core)"
        } else {
            ""
        };
        let origin = match options.deadheat {
            Some(_) => Some("a build that was given".to_owned()),
            None => commit(),
        };
        Ok(Self {
            machine: format!(
                "{}; nginx on CPU {}, the tools on CPU {}{core}",
                machine::describe(),
                cpus.server,
                cpus.generator
            ),
            nginx: nginx_version(measuring),
            origin,
            floor_bytes: floor_bytes(cpus.generator)?,
        })
    }

    /// The sentences of a case.
    pub(crate) fn of_case(
        &self,
        case: Case,
        options: &Options,
        programs: &[Program],
    ) -> Vec<String> {
        let versions = programs.iter().map(|program| self.version(program));
        let versions: Vec<String> = versions.chain([self.nginx.clone()]).collect();
        vec![
            format!("Measured on {}, on {}.", today(), self.machine),
            format!("{}.", versions.join(", ")),
            format!("Again with `{}`.", command(case, options)),
            format!(
                "A process that does nothing has a peak of {:.1} MiB here.",
                self.floor_bytes as f64 / f64::from(1 << 20)
            ),
        ]
    }

    fn version(&self, program: &Program) -> String {
        let name = program.tool.name();
        let version = match program.version.as_str() {
            "" => "of unknown version",
            version => version,
        };
        match &self.origin {
            Some(origin) if program.tool == Tool::Deadheat => {
                format!("{name} {version} ({origin})")
            }
            _ => format!("{name} {version}"),
        }
    }
}

/// The command that measures a case again.
fn command(case: Case, options: &Options) -> String {
    let tools = options.tool.iter().filter_map(Tool::to_possible_value);
    let tools: String = tools
        .map(|tool| format!(" --tool {}", tool.get_name()))
        .collect();
    format!(
        "cargo xtask peers --case {}{tools} --blocks {} --seconds {} --seed {}",
        case.name(),
        options.blocks,
        options.seconds,
        options.seed
    )
}

/// The date.
pub(crate) fn today() -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let date = now.split('T').next().unwrap_or_default();
    format!("{date} (UTC)")
}

fn nginx_version(measuring: &Measuring<'_>) -> String {
    let output = Command::new(measuring.server).arg("-v").output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
    format!("nginx {}", version_in(&said.unwrap_or_default()))
}

/// This project's commit, and whether something was changed since that is more than a document.
pub(crate) fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(root());
        // A hook of another repository sets these.
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(variable);
        }
        let output = command.output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    };
    let hash = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&[
        "status",
        "--porcelain",
        "--",
        "crates",
        "Cargo.lock",
        "Cargo.toml",
    ])?;
    Some(if changed.is_empty() {
        format!("commit {hash}")
    } else {
        format!("commit {hash}, changed")
    })
}

/// The peak of `true`: what the way of starting a process shows at least.
fn floor_bytes(cpu: usize) -> Result<u64, String> {
    let failed = |error: std::io::Error| format!("running true: {error}");
    let mut command = Command::new("true");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    sys::confine(&mut command, cpu).map_err(failed)?;
    let child = command.spawn().map_err(failed)?;
    let (usage, _) = sys::wait_for(child.id(), Duration::from_secs(10)).map_err(failed)?;
    Ok(usage.peak_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_measures_the_same_again() {
        let options = Options {
            case: vec![Case::Small, Case::Tls],
            tool: vec![Tool::Deadheat, Tool::Bare],
            blocks: 5,
            seconds: 2,
            seed: 9,
            deadheat: None,
            other: None,
            write: true,
            trials: None,
        };
        assert_eq!(
            command(Case::Tls, &options),
            "cargo xtask peers --case tls --tool deadheat --tool bare --blocks 5 --seconds 2 --seed 9"
        );
    }

    #[test]
    fn a_childs_peak_does_not_begin_with_all_of_ours() {
        // As it would after vfork(2): then it is never below our own.
        let floor = floor_bytes(machine::usable_cpus()[0]).unwrap();
        let own = machine::value_of("/proc/self/status", "VmHWM").unwrap();
        let own: u64 = own.trim_end_matches(" kB").parse().unwrap();
        assert!(0 < floor && floor < own * 1024, "{floor} of {own} KiB");
    }
}
