//! `--server HOST`: the session runs on that host, as the same command there. This process brings what is measured, passes
//! on what is told and asked, and takes the session's folder, whose report is made here.

use std::path::{Path, PathBuf};

use deadheat_runner::{
    agent::{Binary, Ending, Launcher, ServerHost, Sources, Stream},
    session::commit_at,
};

use crate::{
    elsewhere::ElsewhereArgs,
    exit::{Exit, Failure},
    heats,
    interrupt::Interrupts,
    invocation,
    lines::Lines,
    output,
    reach::{ReachArgs, check_names},
    slurm,
    there::{self, SessionHostArgs, SidesThere, There},
};

/// The host that the session is to run on, and how it is reached.
pub(crate) struct Server {
    host: String,
    launcher: Launcher,
    binary: Binary,
    hosts_text: Option<String>,
}

/// What is asked of it.
pub(crate) struct Asked<'a> {
    /// What the session reads.
    pub(crate) sources: Sources,
    /// The sides of a comparison of stacks.
    pub(crate) sides: Option<SidesThere>,
    /// Where the session's folder goes, here.
    pub(crate) results: &'a Path,
    /// Whether the plan is all that is wanted. It is shown as it comes.
    pub(crate) plans_only: bool,
}

/// What came of it.
pub(crate) enum Came {
    /// The folder of a session that has ended, here.
    Session(PathBuf),
    /// Nothing to report: that there was none has been told, with this status.
    Status(Exit),
}

/// Takes what a file of hosts says, and finds the host that was asked for; `None`: this one. With `--slurm`, the first node
/// of a job if this process runs on none of them.
///
/// # Errors
/// Mistakes in the file, when there is no such job, or when the host cannot be one.
pub(crate) fn settle(
    session: &mut SessionHostArgs,
    elsewhere: &mut ElsewhereArgs,
) -> Result<Option<Server>, Failure> {
    if let Some(there) = &session.there {
        elsewhere.hosts_text.clone_from(&there.hosts);
    }
    elsewhere
        .read_file(&mut session.server)
        .map_err(Failure::usage)?;
    if session.there.is_some() {
        let is_alone = elsewhere.generator.is_empty() && elsewhere.database.is_none();
        if session.server.is_some() && is_alone {
            // It was the way to this host, and to no other one.
            elsewhere.reach = ReachArgs::default();
            elsewhere.hosts = None;
        }
        return Ok(None);
    }
    let (host, launcher) = if elsewhere.slurm {
        (
            slurm::server().map_err(Failure::usage)?,
            Some(Launcher::srun()),
        )
    } else {
        (session.server.clone(), None)
    };
    let Some(host) = host else {
        return Ok(None);
    };
    check_names("--server", std::slice::from_ref(&host)).map_err(Failure::usage)?;
    let reach = &elsewhere.reach;
    Ok(Some(Server {
        host,
        launcher: launcher.unwrap_or_else(|| reach.launcher()),
        binary: reach.agent.clone().map_or(Binary::Copied, Binary::At),
        hosts_text: elsewhere.text_of_file(),
    }))
}

/// Has the session run on `server`.
///
/// # Errors
/// When it cannot be brought, started or fetched.
pub(crate) fn run(
    server: &Server,
    asked: Asked<'_>,
    interrupts: &Interrupts,
) -> Result<Came, Failure> {
    let arguments = typed()?;
    let Server { host, launcher, .. } = server;
    let launched = ServerHost::launch(host, launcher, &server.binary, &interrupts.asked);
    let mut reached = launched.map_err(Failure::nothing)?;
    let brought = reached.bring(&asked.sources, &interrupts.asked);
    let brought = brought.map_err(Failure::nothing)?;
    if brought.files > 0 {
        output::note(&format!(
            "servers on {host}: {} of {} files sent",
            brought.sent, brought.files
        ));
    }
    let given = There {
        root: brought.root,
        stacks: brought.more,
        results: brought.results,
        hosts: server.hosts_text.clone(),
        commit: asked.sources.root.as_deref().and_then(commit_at),
        sides: asked.sides.map(|sides| SidesThere {
            roots: brought.revisions,
            ..sides
        }),
        shown: output::shown(),
    };
    let given = serde_json::to_string(&given).map_err(Failure::nothing)?;
    let arguments = [arguments, vec![there::OPTION.to_owned(), given]].concat();
    let mut told = Lines::default();
    let mut plan = Vec::new();
    let mut on_output = |stream: Stream, bytes: &[u8]| match stream {
        Stream::Output => plan.extend_from_slice(bytes),
        Stream::Error => told.take(bytes, &mut tell),
    };
    let ended = reached.run(arguments, &interrupts.count, &mut on_output);
    told.rest(&mut tell);
    let ended = ended.map_err(Failure::nothing)?;
    if asked.plans_only {
        output::data(&String::from_utf8_lossy(&plan))?;
    }
    let how = ended.how;
    let folder = reached.fetch(ended, asked.results);
    match (exit(host, how), folder.map_err(Failure::nothing)?) {
        (Ok(Exit::Fine | Exit::Failed | Exit::Nothing), Some(folder)) => Ok(Came::Session(folder)),
        (exit, folder) => {
            if let Some(folder) = folder {
                heats::show_where(&folder);
            }
            exit.map(Came::Status)
        }
    }
}

/// A line of standard error there, which was told how much to say.
fn tell(line: &str) {
    output::warn(line.trim_end_matches('\n'));
}

/// The arguments of this process, with those of a file, which is not read there.
fn typed() -> Result<Vec<String>, Failure> {
    let arguments = invocation::line().into_iter().skip(1).map(|argument| {
        let text = argument.into_string();
        text.map_err(|strange| {
            Failure::usage(format!(
                "{}: only UTF-8 goes to another host",
                Path::new(&strange).display()
            ))
        })
    });
    arguments.collect()
}

fn exit(host: &str, how: Ending) -> Result<Exit, Failure> {
    let strange = |what: String| {
        Err(Failure::nothing(format!(
            "host {host}: deadheat there {what}"
        )))
    };
    match how {
        Ending::Status(code) => match Exit::of_status(code) {
            Some(exit) => Ok(exit),
            None => strange(format!("exited with status {code}")),
        },
        Ending::Signal(signal_hook::consts::SIGINT) => Ok(Exit::Interrupted),
        Ending::Signal(signal) => strange(format!("was ended by signal {signal}")),
    }
}
