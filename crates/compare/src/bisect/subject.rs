//! What is measured at a commit: a command in a copy of the repository, or a stack.

use std::path::{Path, PathBuf};

use deadheat_bench::{meant::is_address, select};
use deadheat_model::{
    TargetId,
    bisect::Commit,
    comparison::{ComparedCommand, Contender, ContenderKind},
};
use deadheat_runner::{
    manifest::{Catalogue, Reach},
    prepare::{CommandError, Host, run_line},
    process::{Supervision, log_tail},
    revision::{Revision, WorkingCopy},
    secret::without_password,
    session::{SelectedTarget, SessionOptions},
};
use deadheat_shell::{exit::Failure, options::refuse, output};

use super::folder::Folder;
use crate::{
    bisect::options::BisectArgs,
    live::{
        loads, session,
        stacks::{One, WORKLOAD},
        words::{check_program, shown, without_secrets, words},
    },
    options::{CompareArgs, ServerArgs, StacksArgs},
    resolve::{OF_URLS, StackAt, is_target},
};

/// Options that no command has.
const NOT_OF_COMMANDS: [&str; 1] = ["--database"];
/// Lines of a build's log that are shown when it fails.
const TAIL: usize = 5;

/// What is measured at each commit.
pub(super) enum Subject {
    /// A command.
    Command {
        /// Its words.
        words: Vec<String>,
        /// What is run before it is started.
        build: Option<String>,
        /// The folder that it was typed in, which is in the repository.
        folder: PathBuf,
    },
    /// A stack.
    Stack {
        /// The stacks and workloads of now.
        catalogue: Catalogue,
        /// Which.
        target: TargetId,
    },
}

/// What can be measured at a commit. With it goes its folder.
pub(super) struct Ready {
    contender: Contender,
    selected: Option<SelectedTarget>,
    _kept: Kept,
}

#[expect(
    dead_code,
    reason = "they are here to be dropped with what is measured in their folders"
)]
enum Kept {
    Copy(Box<WorkingCopy>),
    Stack(Box<One>),
}

/// Why a commit cannot be measured.
pub(super) enum Unready {
    /// It cannot be built.
    Commit(String),
    /// The search cannot go on.
    Search(Failure),
}

impl Subject {
    /// What `args` name, for somebody in `folder`.
    pub(super) fn new(args: &BisectArgs, folder: &Path) -> Result<Self, Failure> {
        match (&args.stack, &args.command[..]) {
            (Some(stack), []) => Self::stack(stack, args),
            (None, [_, ..]) => Self::command(args, folder),
            (Some(stack), _) => Err(Failure::usage(format!(
                "{stack} precedes the --, and a command follows it; use a stack or a command, not both"
            ))),
            (None, []) => Err(Failure::usage(
                "name the server to measure at each commit: STACK, or -- COMMAND",
            )),
        }
    }

    fn stack(stack: &str, args: &BisectArgs) -> Result<Self, Failure> {
        if is_address(stack) || stack.contains("://") {
            return Err(Failure::usage(format!(
                "{} is a server that is running, and the server of each commit has to be started. Type its command \
                 behind two dashes: deadheat bisect GOOD BAD -- COMMAND",
                without_password(stack)
            )));
        }
        if !is_target(stack) {
            return Err(Failure::usage(format!(
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

    fn command(args: &BisectArgs, folder: &Path) -> Result<Self, Failure> {
        refuse("a command", args.explicit.in_group::<StacksArgs>().names())?;
        refuse("a command", args.explicit.among(&OF_URLS).names())?;
        refuse("a command", args.explicit.among(&NOT_OF_COMMANDS).names())?;
        let words = words(&line(&args.command)).map_err(Failure::usage)?;
        // A path may be of a file that the build makes.
        if words.first().is_some_and(|program| !program.contains('/')) {
            check_program(&words, folder).map_err(Failure::usage)?;
        }
        Ok(Self::Command {
            words,
            build: args.build.clone(),
            folder: folder.to_owned(),
        })
    }

    /// A folder in the repository.
    pub(super) fn root(&self) -> &Path {
        match self {
            Subject::Command { folder, .. } => folder,
            Subject::Stack { catalogue, .. } => &catalogue.root,
        }
    }

    /// The path below that folder that matters; `None`: any change may matter.
    pub(super) fn below(&self) -> Option<String> {
        match self {
            Subject::Command { .. } => None,
            Subject::Stack { target, .. } => Some(format!("stacks/{}", target.stack)),
        }
    }

    /// What it is called.
    pub(super) fn name(&self) -> String {
        match self {
            Subject::Command { words, .. } => shown(&line(words)),
            Subject::Stack { target, .. } => target.to_string(),
        }
    }

    /// Brings it as it was at `commit`, and builds a command's server.
    pub(super) fn at(
        &self,
        commit: &Commit,
        args: &CompareArgs,
        folder: &Folder,
        host: &Host<'_>,
    ) -> Result<Ready, Unready> {
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
                let load = loads::of_command(args).map_err(Unready::Search)?;
                Ok(Ready {
                    contender: Contender {
                        // By its place in the comparison.
                        target: TargetId::new("", None),
                        name: format!("{} at {}", self.name(), commit.short),
                        kind: ContenderKind::Command {
                            command: ComparedCommand {
                                words: words.clone(),
                                folder: copy.folder().to_owned(),
                            },
                            load: Box::new(load),
                        },
                    },
                    selected: None,
                    _kept: Kept::Copy(Box::new(copy)),
                })
            }
            Subject::Stack { catalogue, target } => {
                let at = StackAt {
                    target: target.clone(),
                    revision: Some(commit.commit.clone()),
                };
                // What is wrong with a stack at one commit is in its manifest there.
                let one = One::find(catalogue, &at, &host.supervision)
                    .map_err(|error| Unready::Commit(error.to_string()))?;
                Ok(Ready {
                    contender: one.contender(),
                    selected: Some(one.selected.clone()),
                    _kept: Kept::Stack(Box::new(one)),
                })
            }
        }
    }

    /// The options of a session with these.
    pub(super) fn options(
        &self,
        all: &[&Ready],
        args: &CompareArgs,
        supervision: &Supervision,
        seed: u64,
    ) -> Result<SessionOptions, Failure> {
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
                    return Err(Failure::usage(
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

impl Ready {
    /// It in a comparison, in which a command is called by its place.
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

/// The words as one would type them. A single one is a line already.
fn line(words: &[String]) -> String {
    match words {
        [one] => one.clone(),
        words => {
            let words = words.iter().map(String::as_str);
            // A word with a zero byte is none that the system could have passed on.
            shlex::try_join(words).unwrap_or_default()
        }
    }
}

fn copy(root: &Path, commit: &Commit, supervision: &Supervision) -> Result<WorkingCopy, Unready> {
    let revision = Revision {
        typed: commit.short.clone(),
        commit: commit.commit.clone(),
        short: commit.short.clone(),
    };
    let copy = WorkingCopy::new(root, &revision, supervision)
        .map_err(|error| Unready::Search(Failure::nothing(error)))?;
    if copy.folder().is_dir() {
        Ok(copy)
    } else {
        Err(Unready::Commit(format!(
            "the folder {} was not there",
            root.file_name().unwrap_or_default().display()
        )))
    }
}

fn build(line: &str, folder: &Path, log: &Path, host: &Host<'_>) -> Result<(), Unready> {
    run_line(host, line, folder, log).map_err(|error| match error {
        CommandError::Failed { .. } | CommandError::TimedOut { .. } => {
            let tail = output::quoted(&log_tail(log, TAIL));
            Unready::Commit(format!("{error}{tail}"))
        }
        other => Unready::Search(Failure::nothing(other)),
    })
}
