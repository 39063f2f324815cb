//! Agents with faults: whatever one does, the coordinator comes to an end by its own clock, with an error that says what
//! was wrong, and in little memory.

use std::{
    fs, io,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use deadheat_load::Slice;
use deadheat_model::{
    Interval, LoadSpec, Observation, Schedule, StopRule,
    load::{Exchange, Expectation, RequestSpec, StatusSet, Target},
    machine::HostRole,
};
use serde_json::{Value, json};

use super::{
    agents::Agents,
    examine::Examinee,
    launcher::{Binary, Launcher},
    message::{AgentMessage, Host, PROTOCOL},
    patience::Patience,
    remote::AgentError,
};

const FAKE: &str = include_str!("fake_agent.py");
/// The patience that a fault is met with.
const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(60);

/// What is asked of the agent, once it is there.
type Request = fn(&mut Agents, &AtomicBool) -> Result<(), AgentError>;
/// What has to be short, so that the test is.
type Shorten = fn(&mut Patience);

fn spec(stop: StopRule) -> LoadSpec {
    let expect = Expectation {
        status: StatusSet::success(),
        length: None,
        content: None,
    };
    let schedule = Schedule::Closed {
        connections: 1,
        ramp: Duration::ZERO,
    };
    let exchange = Exchange::new(RequestSpec::get("/"), expect);
    let target = Target::plain(([127, 0, 0, 1], 1).into());
    let mut spec = LoadSpec::new(target, vec![exchange], schedule, stop);
    spec.timeouts.connect = Duration::ZERO;
    spec.timeouts.drain = Duration::ZERO;
    spec
}

fn of_a_moment() -> LoadSpec {
    let length = Duration::from_millis(1);
    spec(StopRule::Duration { length })
}

fn load(agents: &mut Agents, stop: &AtomicBool) -> Result<(), AgentError> {
    loaded(agents, &of_a_moment(), stop)
}

fn load_with_intervals(agents: &mut Agents, stop: &AtomicBool) -> Result<(), AgentError> {
    let mut spec = spec(StopRule::Interrupt);
    spec.interval = Some(Duration::from_secs(1));
    loaded(agents, &spec, stop)
}

/// A load that is stopped when it has begun, and has no end of its own.
fn load_and_stop(agents: &mut Agents, stop: &AtomicBool) -> Result<(), AgentError> {
    let found = agents.load(
        &spec(StopRule::Interrupt),
        &mut |_| stop.store(true, Ordering::SeqCst),
        stop,
    );
    found.map(drop)
}

/// A load that does not fit into a pipe.
fn large_load(agents: &mut Agents, stop: &AtomicBool) -> Result<(), AgentError> {
    let mut spec = of_a_moment();
    spec.lists
        .insert("names".to_owned(), vec!["x".repeat(10_000_000)]);
    loaded(agents, &spec, stop)
}

fn loaded(agents: &mut Agents, spec: &LoadSpec, stop: &AtomicBool) -> Result<(), AgentError> {
    let found = agents.load(spec, &mut |_| (), stop);
    found.map(drop)
}

fn describe(agents: &mut Agents, stop: &AtomicBool) -> Result<(), AgentError> {
    let found = agents.describe(HostRole::Generator, stop);
    found.map(drop)
}

fn slice(agents: &mut Agents, stop: &AtomicBool) -> Result<(), AgentError> {
    let length = Duration::from_millis(1);
    let load = agents.open(&of_a_moment(), stop)?;
    let slice = Slice {
        guard: length,
        length,
    };
    let sliced = agents.slice(load, slice, &mut |_| (), stop);
    sliced.map(drop)
}

fn database(agents: &mut Agents, stop: &AtomicBool) -> Result<(), AgentError> {
    let local = [127, 0, 0, 1].into();
    let found = agents.database(local, local, stop);
    found.map(drop)
}

/// The faults, what is asked for, which patience they use up, and what is said of them.
const FAULTS: &[(&str, Request, Shorten, &str)] = &[
    (
        "no hello",
        describe,
        |it| it.greeting = SHORT,
        "did not answer within",
    ),
    (
        "endless greeting",
        describe,
        |_| (),
        "the answer is not that of a deadheat agent",
    ),
    (
        "no pulse",
        database,
        |it| it.silence = SHORT,
        "nothing was heard of it",
    ),
    (
        "no clock",
        describe,
        |it| it.question = SHORT,
        "did not answer the request within 300ms",
    ),
    (
        "endless messages",
        describe,
        |_| (),
        "sent `hello`, which was not asked for",
    ),
    ("endless words", describe, |_| (), "x"),
    (
        "not ready",
        load,
        |it| it.preparation = SHORT,
        "did not answer the request within 300ms",
    ),
    (
        "a long refusal",
        load,
        |_| (),
        "announced a message of 10000",
    ),
    (
        "no result",
        load,
        |it| it.grace = SHORT,
        "did not answer the request within 301ms",
    ),
    (
        "no result",
        load_and_stop,
        |it| it.stopping = SHORT,
        "within 300ms after it was stopped",
    ),
    (
        "no result",
        load_with_intervals,
        |it| it.grace = SHORT,
        "has told nothing for 1.3s",
    ),
    (
        "an early interval",
        load_with_intervals,
        |_| (),
        "tells of interval 1000000, where there can be",
    ),
    (
        "an interval twice",
        load_with_intervals,
        |_| (),
        "tells of interval 1, where there can be 2 to",
    ),
    (
        "an interval without an end",
        load_with_intervals,
        |_| (),
        "tells of an interval from",
    ),
    (
        "an early interval",
        load,
        |_| (),
        "an interval, which was not asked for",
    ),
    (
        "endless intervals",
        load_with_intervals,
        |_| (),
        "where there can be",
    ),
    (
        "endless instants",
        load,
        |_| (),
        "sent `reached`, which was not asked for",
    ),
    (
        "a result without an end",
        load,
        |_| (),
        "announced a message of 4294967295",
    ),
    (
        "an endless duration",
        load,
        |_| (),
        "the number 1.8e19 is too large",
    ),
    ("centuries", load, |_| (), "longer than any measurement"),
    (
        "a long measurement",
        load,
        |_| (),
        "reports a measurement of 1000000s",
    ),
    (
        "a huge count",
        load,
        |_| (),
        "the number 9223372036854775808 is too large",
    ),
    ("many bins", load, |_| (), "tells of 100000 bins"),
    (
        "another kind",
        load,
        |_| (),
        "`bye` as a message of kind `ready`",
    ),
    ("deaf", large_load, |it| it.question = SHORT, "timed out"),
    (
        "not open",
        slice,
        |it| it.preparation = SHORT,
        "did not answer the request within 300ms",
    ),
    (
        "no slice",
        slice,
        |it| it.grace = SHORT,
        "did not answer the request within 302ms",
    ),
    (
        "no database",
        database,
        |it| it.database = SHORT,
        "did not answer the request within 300ms",
    ),
];

/// What a good agent says.
fn good() -> Value {
    let host = Host {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Host::default()
    };
    let json = |answer: AgentMessage| serde_json::to_value(answer).unwrap();
    json!({
        "hello": json(AgentMessage::Hello(Box::new(host))),
        "interval": json(AgentMessage::Interval { interval: Box::new(Interval::default()) }),
        "observed": json(AgentMessage::Observed { observation: Box::new(Observation::default()) }),
    })
}

/// A way to hosts that are fake agents in `folder`, with the fault that they are called by.
fn launcher(folder: &Path) -> io::Result<Launcher> {
    let (program, messages) = (folder.join("agent.py"), folder.join("messages.json"));
    fs::write(&program, FAKE)?;
    fs::write(&messages, good().to_string())?;
    let command = format!(
        "python3 {} {{host}} {}",
        program.display(),
        messages.display()
    );
    Ok(command.parse().unwrap())
}

fn met(fault: &str, launcher: &Launcher, shorten: Shorten, request: Request) -> String {
    let mut patience = Patience {
        greeting: LONG,
        preparation: LONG,
        silence: LONG,
        question: LONG,
        grace: LONG,
        database: LONG,
        stopping: LONG,
        farewell: SHORT,
    };
    shorten(&mut patience);
    let stop = AtomicBool::new(false);
    let binary = Binary::At("deadheat".into());
    let hosts = [fault.to_owned()];
    let error = match Agents::launch_with(&hosts, launcher, &binary, patience, &stop) {
        Ok(mut agents) => request(&mut agents, &stop).expect_err(fault),
        Err(error) => error,
    };
    let error = error.to_string();
    assert!(error.starts_with(&format!("host {fault}: ")), "{error}");
    assert!(error.len() < 3_000, "{} bytes of an error", error.len());
    error
}

#[test]
fn whatever_a_host_does_ends_with_an_error_that_says_it() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = launcher(folder.path()).unwrap();
    thread::scope(|scope| {
        for (fault, request, shorten, said) in FAULTS {
            let launcher = &launcher;
            scope.spawn(move || {
                let error = met(fault, launcher, *shorten, *request);
                assert!(error.contains(said), "{fault}: {error}");
            });
        }
    });
}

#[test]
fn an_examination_has_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = launcher(folder.path()).unwrap();
    let stop = AtomicBool::new(false);
    let patience = Patience {
        grace: SHORT,
        ..Patience::USUAL
    };
    let hosts = ["no examination".to_owned()];
    let binary = Binary::At("deadheat".into());
    let agents = Agents::launch_with(&hosts, &launcher, &binary, patience, &stop);
    let examined = Examinee::new(agents.unwrap()).examine(Duration::ZERO, 1);
    let error = examined.unwrap_err().to_string();
    assert!(error.contains("did not answer the request"), "{error}");
}
