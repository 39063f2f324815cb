//! The subject that is measured at each commit: a command in a copy of the repository, or a stack.

use std::path::{Path, PathBuf};

use deadheat_bench::{meant::is_address, select};
use deadheat_model::{
    TargetId,
    bisect::Commit,
    comparison::{ComparedCommand, Comparison, Contender, ContenderKind},
};
use deadheat_runner::{
    manifest::{Catalogue, Reach},
    prepare::{CommandError, Host, run_line},
    process::{Supervision, log_tail},
    revision::{Revision, WorkingCopy},
    secret::without_password,
    session::{SelectedTarget, SessionOptions},
};
use deadheat_shell::{exit::CommandFailure, invocation, options::refuse, output};

use super::{BisectArgs, Folder};
use crate::{
    live::{
        heats::PlannedComparison,
        loads, session,
        stacks::{SideError, StackSide, WORKLOAD},
        words::{check_program, shown, without_secrets, words},
    },
    options::{CompareArgs, ServerArgs, StacksArgs},
    resolve::{OF_URLS, StackAt, is_target},
};

/// Options that do not apply to commands.
const NOT_OF_COMMANDS: [&str; 1] = ["--database"];
/// Lines of a build's log that are shown when it fails.
const TAIL: usize = 5;

/// The subject that is measured at each commit.
pub(super) enum Subject {
    /// A command.
    Command {
        /// Its words.
        words: Vec<String>,
        /// The build command, which runs before the start; `None` without one.
        build: Option<String>,
        /// The folder in which the user typed the command, inside the repository.
        folder: PathBuf,
    },
    /// A stack.
    Stack {
        /// The current stacks and workloads.
        catalogue: Catalogue,
        /// The stack.
        target: TargetId,
    },
}

/// A commit that can be measured. Dropping it deletes its folder.
pub(super) struct ReadyCommit {
    contender: Contender,
    selected: Option<SelectedTarget>,
    _kept: CommitFolder,
}

#[expect(
    dead_code,
    reason = "they are here to be dropped with what is measured in their folders"
)]
enum CommitFolder {
    Copy(Box<WorkingCopy>),
    Stack(Box<StackSide>),
}

/// Why a commit cannot be measured.
pub(super) enum CommitError {
    /// The commit itself is the reason, so it is skipped: it does not have the stack, the variant or the folder, its
    /// manifests cannot be read, or its build fails.
    Commit(String),
    /// Git, the disk or something else failed, so the search stops.
    Search(CommandFailure),
}

impl From<SideError> for CommitError {
    fn from(error: SideError) -> Self {
        match error {
            SideError::NotThere(failure) => Self::Commit(failure.to_string()),
            SideError::Failed(error) => Self::Search(CommandFailure::no_result(error)),
        }
    }
}

impl Subject {
    /// What `args` name; `folder` is the current one.
    pub(super) fn new(args: &BisectArgs, folder: &Path) -> Result<Self, CommandFailure> {
        match (&args.stack, &args.command[..]) {
            (Some(stack), []) => Self::stack(stack, args),
            (None, [_, ..]) => Self::command(args, folder),
            (Some(stack), _) => Err(CommandFailure::usage(format!(
                "{stack} precedes the --, and a command follows it; use a stack or a command, not both"
            ))),
            (None, []) => Err(CommandFailure::usage(
                "name the server to measure at each commit: STACK, or -- COMMAND",
            )),
        }
    }

    fn stack(stack: &str, args: &BisectArgs) -> Result<Self, CommandFailure> {
        if is_address(stack) || stack.contains("://") {
            return Err(CommandFailure::usage(format!(
                "{} is a server that is running, and the server of each commit has to be started. Type its command \
                 behind two dashes: deadheat bisect GOOD BAD -- COMMAND",
                without_password(stack)
            )));
        }
        if !is_target(stack) {
            return Err(CommandFailure::usage(format!(
                "{stack} is not the name of a stack; a command stands behind two dashes: \
                 deadheat bisect GOOD BAD -- {stack}"
            )));
        }
        // Both ends are as git has them.
        refuse(
            "a stack",
            args.explicit.among(&["--build", "--stacks"]).names(),
        )?;
        refuse("a stack", args.explicit.in_group::<ServerArgs>().names())?;
        Ok(Self::Stack {
            catalogue: select::catalogue(&args.stacks.place)?,
            target: stack.parse().unwrap_or_else(|never| match never {}),
        })
    }

    fn command(args: &BisectArgs, folder: &Path) -> Result<Self, CommandFailure> {
        refuse("a command", args.explicit.in_group::<StacksArgs>().names())?;
        refuse("a command", args.explicit.among(&OF_URLS).names())?;
        refuse("a command", args.explicit.among(&NOT_OF_COMMANDS).names())?;
        let words = words(&line(&args.command))?;
        // A path may be of a file that the build makes.
        if words.first().is_some_and(|program| !program.contains('/')) {
            check_program(&words, folder)?;
        }
        Ok(Self::Command {
            words,
            build: args.build.clone(),
            folder: folder.to_owned(),
        })
    }

    /// Refuses options that no comparison of a search could be made with, before anything is built.
    pub(super) fn check(&self, args: &CompareArgs, alpha: f64) -> Result<(), CommandFailure> {
        let seed = args.measure.heat.seed();
        let options = self.options(&[], args, &invocation::supervision(), seed)?;
        let Subject::Command { words, folder, .. } = self else {
            return Ok(());
        };
        let any = contender(self.name(), words, folder, args)?;
        let side = |place: &str| Contender {
            target: TargetId::new(place, None),
            ..any.clone()
        };
        // A step has the longest heats.
        let step = Comparison {
            a: side("A"),
            b: side("B"),
            slow_end: Some(side("C")),
            alike: None,
            is_change: false,
            decide: Default::default(),
            check: Default::default(),
        };
        PlannedComparison::new(step, options, args, alpha).map(drop)
    }

    /// A folder in the repository.
    pub(super) fn root(&self) -> &Path {
        match self {
            Subject::Command { folder, .. } => folder,
            Subject::Stack { catalogue, .. } => &catalogue.root,
        }
    }

    /// The path below that folder whose changes matter; `None` if any change may matter.
    pub(super) fn below(&self) -> Option<String> {
        match self {
            Subject::Command { .. } => None,
            Subject::Stack { target, .. } => Some(format!("stacks/{}", target.stack)),
        }
    }

    /// The name of the command or stack.
    pub(super) fn name(&self) -> String {
        match self {
            Subject::Command { words, .. } => shown(&line(words)),
            Subject::Stack { target, .. } => target.to_string(),
        }
    }

    /// Checks out the command or stack as of `commit`, and builds a command's server. The session builds stacks.
    pub(super) fn at(
        &self,
        commit: &Commit,
        args: &CompareArgs,
        folder: &Folder,
        host: &Host<'_>,
    ) -> Result<ReadyCommit, CommitError> {
        match self {
            Subject::Command {
                words,
                build,
                folder: root,
            } => {
                let copy = copy(root, commit, &host.supervision)?;
                if let Some(build) = build {
                    let log = folder.build_log(&commit.short);
                    self::build(build, copy.folder(), &log, host)?;
                }
                let name = format!("{} at {}", self.name(), commit.short);
                let contender = contender(name, words, copy.folder(), args);
                Ok(ReadyCommit {
                    contender: contender.map_err(CommitError::Search)?,
                    selected: None,
                    _kept: CommitFolder::Copy(Box::new(copy)),
                })
            }
            Subject::Stack { catalogue, target } => {
                let at = StackAt {
                    target: target.clone(),
                    revision: Some(commit.commit.clone()),
                };
                let side = StackSide::find(catalogue, &at, &host.supervision)?;
                Ok(ReadyCommit {
                    contender: side.contender(),
                    selected: Some(side.selected.clone()),
                    _kept: CommitFolder::Stack(Box::new(side)),
                })
            }
        }
    }

    /// The options of a session that compares these commits.
    pub(super) fn options(
        &self,
        all: &[&ReadyCommit],
        args: &CompareArgs,
        supervision: &Supervision,
        seed: u64,
    ) -> Result<SessionOptions, CommandFailure> {
        let base = match self {
            Subject::Command { .. } => {
                SessionOptions::new(Vec::new(), Vec::new(), None, seed, supervision.clone())
            }
            Subject::Stack { catalogue, .. } => {
                let workloads = match args.stacks.workload.as_slice() {
                    [] => vec![WORKLOAD.to_owned()],
                    named => named.to_vec(),
                };
                let selection = select::select(catalogue, &[], &workloads, Reach::Defaults)?;
                let points = selection.workloads.iter().map(|one| one.points.len());
                if points.sum::<usize>() != 1 {
                    return Err(CommandFailure::usage(
                        "--workload: a search measures at one load; name one, like --workload json:c50",
                    ));
                }
                let postgres = args.stacks.postgres.as_deref().unwrap_or("auto");
                SessionOptions {
                    postgres: select::postgres(postgres)?,
                    ..SessionOptions::new(
                        all.iter().filter_map(|one| one.selected.clone()).collect(),
                        selection.workloads,
                        catalogue.workload("plaintext").cloned(),
                        seed,
                        supervision.clone(),
                    )
                }
            }
        };
        let mut options = session(&args.measure, true, base)?;
        options.arguments = without_secrets(options.arguments, &args.server.request);
        Ok(options)
    }
}

/// A command in a folder. It gets its name in a comparison by its place there.
fn contender(
    name: String,
    words: &[String],
    folder: &Path,
    args: &CompareArgs,
) -> Result<Contender, CommandFailure> {
    Ok(Contender {
        target: TargetId::new("", None),
        name,
        kind: ContenderKind::Command {
            command: ComparedCommand {
                words: words.to_vec(),
                folder: folder.to_owned(),
            },
            load: Box::new(loads::of_command(args)?),
        },
    })
}

impl ReadyCommit {
    /// The contender of a comparison. A command is named by its place ("A"), a stack by its own name.
    pub(super) fn contender(&self, place: &str) -> Contender {
        let target = match self.selected {
            Some(_) => self.contender.target.clone(),
            None => TargetId::new(place, None),
        };
        Contender {
            target,
            ..self.contender.clone()
        }
    }
}

/// The words as a shell command line. A single word is already a whole line.
fn line(words: &[String]) -> String {
    match words {
        [one] => one.clone(),
        words => {
            let words = words.iter().map(String::as_str);
            // The system cannot have passed a word with a zero byte.
            shlex::try_join(words).unwrap_or_default()
        }
    }
}

fn copy(
    root: &Path,
    commit: &Commit,
    supervision: &Supervision,
) -> Result<WorkingCopy, CommitError> {
    let revision = Revision {
        typed: commit.short.clone(),
        commit: commit.commit.clone(),
        short: commit.short.clone(),
    };
    let copy = WorkingCopy::new(root, &revision, supervision)
        .map_err(|error| CommitError::Search(CommandFailure::no_result(error)))?;
    if copy.folder().is_dir() {
        Ok(copy)
    } else {
        Err(CommitError::Commit(format!(
            "the folder {} was not there",
            root.file_name().unwrap_or_default().display()
        )))
    }
}

fn build(line: &str, folder: &Path, log: &Path, host: &Host<'_>) -> Result<(), CommitError> {
    run_line(host, line, folder, log).map_err(|error| match error {
        CommandError::Failed { .. } | CommandError::TimedOut { .. } => {
            let tail = output::quoted(&log_tail(log, TAIL));
            CommitError::Commit(format!("{error}{tail}"))
        }
        other => CommitError::Search(CommandFailure::no_result(other)),
    })
}

#[cfg(test)]
mod tests {
    use std::io;

    use deadheat_runner::{manifest::LoadError, revision::RevisionError};

    use super::*;

    #[test]
    fn a_commit_without_the_stack_is_skipped_and_a_failure_of_git_or_the_disk_stops_the_search() {
        let typed = || "3f2a1b0".to_owned();
        let root = PathBuf::from("/repository");
        let no_stack = RevisionError::NoStack {
            stack: "go-nethttp".to_owned(),
            typed: typed(),
            short: typed(),
            has: Vec::new(),
        };
        let is_stack = RevisionError::Reading {
            typed: typed(),
            source: LoadError::IsStack {
                folder: root.clone(),
            },
        };
        for error in [no_stack, is_stack] {
            let shown = error.to_string();
            let CommitError::Commit(reason) = SideError::from(error).into() else {
                panic!("the search stopped: {shown}");
            };
            assert_eq!(reason, shown);
        }
        let failures = [
            RevisionError::Git {
                arguments: "read-tree".to_owned(),
                root: root.clone(),
                said: "fatal: unable to read tree".to_owned(),
            },
            RevisionError::NoGit {
                root: root.clone(),
                source: io::ErrorKind::NotFound.into(),
            },
            RevisionError::Folder {
                typed: typed(),
                source: io::ErrorKind::StorageFull.into(),
            },
            RevisionError::Reading {
                typed: typed(),
                source: LoadError::Folder {
                    folder: root,
                    source: io::ErrorKind::Other.into(),
                },
            },
        ];
        for error in failures {
            let shown = error.to_string();
            let unready: CommitError = SideError::from(error).into();
            assert!(
                matches!(unready, CommitError::Search(_)),
                "skipped: {shown}"
            );
        }
    }
}
