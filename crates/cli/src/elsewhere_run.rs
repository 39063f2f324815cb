//! `deadheat run --server HOST`: the session runs on that host, as `deadheat run` there. This process brings the project,
//! passes on what is said and asked, and takes the session's folder.

use std::path::Path;

use deadheat_runner::{
    agent::{Binary, Ending, Launcher, ServerHost, Stream},
    session::{commit_at, heats::read_session},
};

use crate::{
    args::RunArgs,
    exit::{Exit, Failure},
    heats, interrupt, invocation,
    lines::Lines,
    output,
    reach::check_names,
    select, slurm,
    there::{self, There},
};

/// The host that the session is to run on, and how it is reached.
pub(crate) struct Server {
    host: String,
    launcher: Launcher,
}

/// The host that was asked for; `None`: this one. The first node of a Slurm job, if this process runs on none of them.
///
/// # Errors
/// When there is no such job, or the host cannot be one.
pub(crate) fn server(args: &RunArgs) -> Result<Option<Server>, Failure> {
    if args.there.is_some() {
        return Ok(None);
    }
    if args.elsewhere.slurm && args.resume.is_none() {
        let first = slurm::server().map_err(Failure::usage)?;
        return Ok(first.map(|host| Server {
            host,
            launcher: Launcher::srun(),
        }));
    }
    let Some(host) = &args.server else {
        return Ok(None);
    };
    check_names("--server", std::slice::from_ref(host)).map_err(Failure::usage)?;
    Ok(Some(Server {
        host: host.clone(),
        launcher: args.elsewhere.reach.launcher(),
    }))
}

/// Has the session run on `server`.
pub(crate) fn run(args: &RunArgs, server: &Server) -> Result<Exit, Failure> {
    refuse(args)?;
    let files = args.data.open()?;
    let place = &args.selection.place;
    let root = select::root(place.root.as_deref())?;
    // So that what is wrong is shown where it can be changed.
    select::read(&root, &place.more_stacks)?;
    let arguments = arguments()?;
    let interrupts = interrupt::counted().map_err(Failure::nothing)?;
    let binary = args.elsewhere.reach.agent.clone();
    let binary = binary.map_or(Binary::Copied, Binary::At);
    let Server { host, launcher } = server;
    let mut there =
        ServerHost::launch(host, launcher, &binary, &interrupts.asked).map_err(Failure::nothing)?;
    let brought = there.bring(&root, &place.more_stacks, &interrupts.asked);
    let brought = brought.map_err(Failure::nothing)?;
    output::note(&format!(
        "servers on {host}: {} of {} files sent",
        brought.sent, brought.files
    ));
    let given = There {
        root: brought.root,
        stacks: brought.stacks,
        results: brought.results,
        hosts: args.elsewhere.text_of_file(),
        commit: commit_at(&root),
        shown: output::shown(),
    };
    let given = serde_json::to_string(&given).map_err(Failure::nothing)?;
    let arguments = [arguments, vec![there::OPTION.to_owned(), given]].concat();
    let mut said = [Lines::default(), Lines::default()];
    let mut broken = Ok(());
    let mut on_output = |stream: Stream, bytes: &[u8]| match stream {
        Stream::Output => said[0].take(bytes, &mut |line| {
            let written = output::data(line);
            if broken.is_ok() {
                broken = written;
            }
        }),
        Stream::Error => said[1].take(bytes, &mut told),
    };
    let ended = there.run(arguments, &interrupts.count, &mut on_output);
    let [data, notes] = said;
    notes.rest(&mut told);
    let mut rest = Ok(());
    data.rest(&mut |line| rest = output::data(line));
    let ended = ended.map_err(Failure::nothing)?;
    let how = ended.how;
    let folder = there.fetch(ended, &args.results);
    let mut written = Ok(());
    if let Some(folder) = folder.map_err(Failure::nothing)? {
        if let Ok(record) = read_session(&folder) {
            written = heats::write_files(&record, files);
        }
        heats::show_where(&folder);
    }
    broken.and(rest).and(written)?;
    exit(host, how)
}

/// A line of standard error there, which was told how much to say.
fn told(line: &str) {
    output::warn(line.trim_end_matches('\n'));
}

/// What cannot be had from another host.
fn refuse(args: &RunArgs) -> Result<(), Failure> {
    if args.resume.is_some() {
        return Err(Failure::usage(
            "--server and --resume: a session goes on where it began; run `deadheat run --resume` on the servers' host, \
             with the session's folder there",
        ));
    }
    if args.live.is_some() {
        return Err(Failure::usage(
            "--server and --live: the page is served on the servers' host, where no browser reaches it; leave --live out",
        ));
    }
    Ok(())
}

/// The arguments of this process, with those of a file, which is not read there.
fn arguments() -> Result<Vec<String>, Failure> {
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
