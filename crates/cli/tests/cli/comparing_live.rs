//! `deadheat compare` of what has to be measured: that both sides are loaded in turn, that looks and budget are kept,
//! what is left behind, and what is said when one side fails. Which side is called slower is tested where ratios are
//! given.

use std::{
    fs,
    time::{Duration, Instant},
};

use deadheat_model::{
    comparison::{Comparison, ContenderKind, Side},
    heat::{HeatEnd, SliceRecord},
    heats::{EndReason, SessionRecord},
};
use deadheat_runner::session::{HEADER_FILE, heats::read_session};
use deadheat_testkit::{
    Action, OracleServer, RefusingPort, Script, Turn,
    http2_server::{Reply, Server, Setup},
};
use rustix::process::Signal;

use crate::support::{Ended, Fake, Root, Running, flat, running};

/// Short heats: what they find is not looked at, and is no reason for exit status 1.
const SHORT: &str = "--heat-time 300ms --slice 40ms --guard 10ms --warm-up 100ms -c 2 --seed 7 --fail-if-slower 99%";

/// A server that answers after `pause` and after having worked for `work`.
fn server(pause: Duration, work: Duration) -> OracleServer {
    answering(move |_: &Turn<'_>| {
        let until = Instant::now() + work;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        vec![
            Action::Pause(pause),
            Action::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec()),
        ]
    })
}

fn answering(script: impl Script) -> OracleServer {
    OracleServer::start(script).expect("starting a server")
}

fn url(server: &OracleServer) -> String {
    format!("http://{}/", server.address())
}

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// The only comparison below the root folder, read back.
#[track_caller]
pub(super) fn comparison(root: &Root) -> SessionRecord {
    read_session(&root.session_folder()).expect("reading the comparison")
}

/// What it compared.
fn sides(record: &SessionRecord) -> &Comparison {
    let sides = record.header.comparison.as_deref();
    sides.expect("a session of two sides says so")
}

/// A variable that no stack would inherit.
const OF_THE_USER: &str = "GOGC";

/// Starts a comparison of commands, which have blanks in them.
fn start_commands(root: &Root, a: &str, b: &str, options: &str) -> Running {
    let mut command = running::command(root.path(), "compare");
    command.args([a, b]).args(options.split_whitespace());
    command.env(OF_THE_USER, "its-value");
    Running::start_command(
        root.path(),
        command,
        &format!("compare '{a}' '{b}' {options}"),
    )
}

/// The members in the order of their slices, of each round of each heat.
fn orders(record: &SessionRecord) -> Vec<Vec<Vec<u32>>> {
    let heat = |rounds: &Vec<Vec<SliceRecord>>| {
        let of_round = |round: &Vec<SliceRecord>| round.iter().map(|slice| slice.member).collect();
        rounds.iter().map(of_round).collect()
    };
    let heats = record.heats.iter();
    heats.map(|one| heat(&one.heat.rounds)).collect()
}

#[track_caller]
fn assert_in_turn(record: &SessionRecord) {
    for round in orders(record).into_iter().flatten() {
        let mut sides = round.clone();
        sides.sort_unstable();
        assert_eq!(sides, [0, 1], "each round has a slice of each side");
    }
}

/// The verdict, which the output begins with.
fn verdict(ended: &Ended) -> &str {
    ended.stdout.lines().next().unwrap_or_default()
}

#[test]
fn urls_are_loaded_in_turn_and_looked_at_when_that_was_declared() {
    let root = Root::with(&[]);
    let (quick, slow) = (
        server(milliseconds(1), Duration::ZERO),
        server(milliseconds(1), milliseconds(3)),
    );
    let ended = root
        .deadheat(&format!(
            "compare {} {} --looks 2,4,6 {SHORT}",
            url(&quick),
            url(&slow)
        ))
        .exits(0);
    // On a machine that is busy it may be undecided. It never has it the wrong way round.
    let said = verdict(&ended);
    let is_right = said.starts_with(&format!("{} is ", quick.address()));
    assert!(is_right || said.starts_with("Undecided"), "{said}");
    let record = comparison(&root);
    assert_in_turn(&record);
    let heats = record.heats.len();
    assert!(
        [2, 4, 6].contains(&heats),
        "{heats} heats, which is no look"
    );
    assert_eq!(record.header.plan.loads[0].looks, [2, 4, 6]);
    assert!(
        record.header.environment.is_empty(),
        "nothing is started for a URL"
    );
    let named = [&sides(&record).a.name, &sides(&record).b.name];
    assert_eq!(named, [&url(&quick), &url(&slow)]);
    let slices = || {
        record
            .heats
            .iter()
            .flat_map(|one| one.heat.rounds.iter().flatten())
    };
    for slice in slices() {
        assert!(slice.tally.is_conserved());
        assert!(
            slice.cpu.is_none(),
            "nothing is known of a server that runs already"
        );
    }
    // Each server saw at least what counted, and none of it the other's.
    for (server, side) in [(&quick, Side::A), (&slow, Side::B)] {
        let own = slices().filter(|slice| slice.member as usize == side.member());
        let counted: u64 = own.map(|slice| slice.tally.answers()).sum();
        assert!(
            counted > 0 && server.seen_at_rest().requests >= counted,
            "{side}"
        );
    }
}

#[test]
fn the_seed_gives_the_order() {
    let orders_of = |seed: u64| {
        let root = Root::with(&[]);
        let server = server(milliseconds(1), Duration::ZERO);
        let options = SHORT.replace("--seed 7", &format!("--seed {seed}"));
        root.deadheat(&format!(
            "compare {0} {0} --heats 3 {options}",
            url(&server)
        ))
        .exits(0)
        .says(&["A/A"]);
        // How many rounds there are is the machine's doing: one at least.
        let first = |heat: Vec<Vec<u32>>| heat.into_iter().next();
        orders(&comparison(&root))
            .into_iter()
            .map(first)
            .collect::<Vec<_>>()
    };
    let first = orders_of(1);
    assert_eq!(first.len(), 3);
    assert_eq!(first, orders_of(1));
    let others: Vec<_> = (2..5).map(orders_of).collect();
    assert!(others.iter().any(|other| *other != first), "{others:?}");
}

#[test]
fn a_side_that_fails_ends_it_and_is_named() {
    let good = server(milliseconds(1), Duration::ZERO);
    let wrong = answering(|_: &Turn<'_>| {
        let text = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";
        vec![Action::Send(text.to_vec())]
    });
    let port = RefusingPort::new().expect("a port that nobody listens on");
    let refusing = format!("http://{}/", port.address());
    for (other, said) in [(url(&wrong), "500"), (refusing, "refused")] {
        let root = Root::with(&[]);
        root.deadheat(&format!("compare {} {other} --heats 5 {SHORT}", url(&good)))
            .exits(1)
            .says(&["(B) failed", said]);
        let record = comparison(&root);
        assert_eq!(record.end, Some(EndReason::Nothing));
        assert_eq!(
            record.heats.len(),
            1,
            "it goes on for no more than the heat"
        );
    }
    // When A fails there is nothing to say of B.
    let root = Root::with(&[]);
    root.deadheat(&format!(
        "compare {} {} --heats 5 {SHORT}",
        url(&wrong),
        url(&good)
    ))
    .exits(3)
    .says(&["(A) failed"]);
}

#[test]
fn an_interrupt_leaves_the_figures_without_a_verdict_in_every_format() {
    let root = Root::with(&[]);
    let (one, other) = (
        server(milliseconds(1), Duration::ZERO),
        server(milliseconds(1), Duration::ZERO),
    );
    let running = root.start(&format!(
        "compare {} {} --heats 500 {SHORT}",
        url(&one),
        url(&other)
    ));
    root.wait_for_lines(3);
    running.signal(Signal::INT);
    let ended = running.wait().exits(130);
    let folder = root.session_folder();
    let in_format = |format: &str| {
        let shown = folder.display();
        let again = root.deadheat(&format!("report {shown} --format {format}"));
        flat(&again.exits(0).stdout)
    };
    for said in [
        flat(&ended.stdout),
        in_format("text"),
        in_format("markdown"),
        in_format("html"),
    ] {
        for expected in [
            "the first checkpoint (500 heats), so there is no verdict. In ",
            " as fast as ",
            "% interval for a fixed number of heats",
            ", no verdict",
        ] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
    }
    let json: serde_json::Value = serde_json::from_str(&in_format("json")).expect("JSON");
    assert!(
        json["compared"][0]["ratios"][0]["interval"]["low"].is_number()
            && json["how"]["look"].is_null()
    );
    let record = comparison(&root);
    assert_eq!(record.end, Some(EndReason::Interrupted));
    assert!(record.heats.len() >= 3);
}

#[test]
fn without_a_look_the_gate_does_not_pass() {
    let root = Root::with(&[]);
    let one = server(milliseconds(1), Duration::ZERO);
    let running = root.start(&format!("compare {0} {0} --heats 500 {SHORT}", url(&one)));
    root.wait_for_lines(1);
    running.signal(Signal::INT);
    let ended = running.wait().exits(130);
    let told = flat(&ended.stdout);
    assert!(
        told.contains("not judged") && !told.contains("passed"),
        "{ended}"
    );
}

#[test]
fn no_password_of_a_command_is_shown_or_recorded() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let with = |secret: &str| {
        format!(
            "cmd:env DB=postgres://me:{secret}@h/d FAULT=unhurried python3 -I -S stacks/fake-one/server.py"
        )
    };
    let (a, b) = (with("s3cret-a"), with("s3cret-b"));
    let options = OF_COMMANDS.replace("/plaintext", "/plaintext?token=s3cret-t");
    let options = format!("{options} --heats 2 --format json");
    let ended = start_commands(&root, &a, &b, &options).wait().exits(0);
    // Two passwords are two commands, whatever is shown of them.
    assert!(!ended.stdout.contains("(A/A)"), "{ended}");
    let folder = root.session_folder();
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("reading the records");
    let (header, heats) = (read(HEADER_FILE), read("heats.jsonl"));
    for text in [&ended.stdout, &ended.stderr, &header, &heats] {
        assert!(!text.contains("s3cret"), "{text}");
    }
    assert!(header.contains("DB=postgres://…") && heats.contains("DB=postgres://…"));
}

const GOOD: &str = "cmd:env FAULT=unhurried python3 -I -S stacks/fake-one/server.py";
/// With a CPU to itself, the generator would poll, and other tests would have to do without that CPU.
const OF_COMMANDS: &str = "--path /plaintext --heat-time 300ms --slice 40ms --guard 10ms --warm-up 100ms -c 2 --seed 7 --fail-if-slower 99% --pinning off";

#[test]
fn commands_are_started_anew_for_each_heat_and_sampled() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let b = "cmd:env MARKED=$PORT FAULT=unhurried python3 -I -S stacks/fake-one/server.py";
    start_commands(&root, GOOD, b, &format!("{OF_COMMANDS} --heats 2"))
        .wait()
        .exits(0);
    let record = comparison(&root);
    assert_in_turn(&record);
    let environment = &record.header.environment;
    assert!(environment.contains(&OF_THE_USER.to_owned()));
    assert!(
        !environment.iter().any(|one| one.contains("its-value")),
        "names alone are recorded"
    );
    assert_eq!(record.heats.len(), 2);
    assert_eq!(root.told("started").len(), 4, "a process for each heat");
    assert_eq!(root.told("sigterm").len(), 4, "and each is stopped");
    // Where it is counted in ticks of 10 ms, a slice in which little is done may have none.
    let rounds = record.heats.iter().flat_map(|one| &one.heat.rounds);
    let mut slices = rounds.flatten();
    assert!(slices.any(|slice| slice.cpu.is_some_and(|cpu| cpu.seconds > 0.0)));
    for heat in record.heats.iter().map(|one| &one.heat) {
        assert_eq!(heat.end, HeatEnd::Finished);
        for member in &heat.members {
            assert!(member.memory.peak > Some(0) && member.ready.is_some());
            assert!(member.freezing.is_some() && member.verified_after == Some(1));
        }
        let command = &heat.members[Side::B.member()].command;
        let port = command[1].strip_prefix("MARKED=").map(str::parse::<u16>);
        assert!(matches!(port, Some(Ok(20_000..32_000))), "{command:?}");
    }
}

#[test]
fn commands_are_loaded_at_one_rate_in_turns_after_their_rounds() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let b = "cmd:env FAULT=unhurried python3 -I -S stacks/fake-one/./server.py";
    let options = format!("{OF_COMMANDS} --rate 20/s --looks 2 --budget 40s --json");
    let ended = start_commands(&root, GOOD, b, &options).wait().exits(0);
    let record = comparison(&root);
    let loads = &record.header.plan.loads;
    assert_eq!(loads.len(), 2);
    assert!(loads[1].is_measured_with(&loads[0]));
    assert_eq!(root.told("started").len(), 4, "by the same processes");
    for load in [0, 1] {
        assert_eq!(record.complete_heats(load).count(), 2);
    }
    for heat in record.complete_heats(1) {
        let order = heat.rounds.iter().flatten().map(|slice| slice.member);
        let order: Vec<u32> = order.collect();
        let turns: Vec<&[u32]> = order.chunks(2).collect();
        assert!(turns.len() >= 2, "{order:?}");
        // A round that the machine disturbed is repeated in its own direction.
        let is_reversed = |turn: &&[u32]| turn.iter().rev().eq(turns[0]);
        assert!(is_reversed(&turns[1]), "A, B, B, A: {order:?}");
        let is_whole = |turn: &&[u32]| *turn == turns[0] || is_reversed(turn);
        assert!(turns.iter().all(is_whole), "{order:?}");
        for slice in heat.rounds.iter().flatten() {
            let member = &heat.members[slice.member as usize];
            assert_eq!(member.offered_per_second, Some(20.0));
            assert!(slice.tally.is_conserved() && slice.open.is_some());
            assert!(slice.window >= Duration::from_secs(1) && slice.guard > Duration::ZERO);
        }
    }
    // The CPU time of a slice whose events came late is left out, and on a busy machine some do.
    let rounds = record.complete_heats(1).flat_map(|heat| &heat.rounds);
    assert!(rounds.flatten().any(|slice| slice.cpu.is_some()));
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let ratios = json["compared"][0]["ratios"].as_array().expect("ratios");
    assert_eq!(ratios[0]["metric"], "throughput", "which decides");
    let at_rate = ratios.iter().find(|one| one["per_second"] == 20.0);
    assert_eq!(at_rate.expect("a row")["metric"], "cpu-per-request");
    let seconds = &json["how"]["equal_work"]["counted_seconds"];
    assert!(seconds[0].as_f64() >= Some(1.0), "{seconds}");
    assert!(
        ended.stderr.contains("CPU time per request at 20/s"),
        "{ended}"
    );
}

#[test]
fn a_rate_that_neither_side_can_take_is_the_result_where_the_cost_decides() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let options = OF_COMMANDS.replace("--fail-if-slower 99%", "--fail-if-costlier 99%");
    let options = format!("{options} --decide cpu --rate 900000/s --heats 2");
    start_commands(&root, GOOD, GOOD, &options)
        .wait()
        .exits(0)
        .says(&[
            "Undecided: ",
            // On a busy machine, a heat of a side may have no round that counts: then that side did not always take it.
            "take 900,000/s of GET /plaintext",
            "Choose a lower --rate.",
            "its capacity was below the rate in 2 of 2 heats",
            "requests/s",
        ]);
    let options = format!("{OF_COMMANDS} --decide cpu --dry-run");
    start_commands(&root, GOOD, GOOD, &options)
        .wait()
        .exits(0)
        .says(&[
            "one that both can take at 70 % of their capacity",
            "CPU time per request at equal work",
        ]);
}

#[test]
fn the_budget_ends_what_takes_longer_than_was_thought() {
    let root = Root::with(&[Fake::good("fake-one")]);
    // Each start takes a second more than a start is thought to take, so that four heats do not fit.
    let slow = "cmd:env FAULT=slow-start python3 -I -S stacks/fake-one/server.py";
    let running = start_commands(
        &root,
        slow,
        "cmd:env FAULT=slow-start python3 -I -S stacks/fake-one/./server.py",
        &format!("{OF_COMMANDS} --looks 4 --budget 12s --details"),
    );
    let ended = running.wait().says(&["budget"]);
    let record = comparison(&root);
    // What fitted is looked at if it is two heats, of which a machine that is busy may not have room for.
    let heats = record.complete_heats(0).count();
    let ended = ended.exits(0);
    if heats < 2 {
        ended.says(&["The budget ended before", "one heat has no interval"]);
    }
    assert_eq!(record.end, Some(EndReason::Budget));
    assert!(heats < 4, "{heats} heats");
}

#[test]
fn a_command_that_does_not_start_or_dies_is_named_with_its_last_words() {
    let cases = [
        ("exits-at-once", "the ink is dry"),
        ("dies-under-load", "under load"),
    ];
    for (fault, said) in cases {
        let root = Root::with(&[Fake::good("fake-one")]);
        let bad = format!("cmd:env FAULT={fault} python3 -I -S stacks/fake-one/server.py");
        let ended = start_commands(&root, GOOD, &bad, &format!("{OF_COMMANDS} --heats 3"))
            .wait()
            .exits(1)
            .says(&["failed"]);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(all.contains(said), "{fault}: {ended}");
        assert_eq!(comparison(&root).end, Some(EndReason::Nothing));
    }
}

#[test]
fn what_is_no_command_or_no_fit_is_refused_before_anything_starts() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let cases = [
        ("cmd:a && b", OF_COMMANDS, "there is none"),
        (
            "cmd:no-such-program",
            OF_COMMANDS,
            "no program `no-such-program` in any folder of PATH",
        ),
        (
            "cmd:./stacks/fake-one",
            OF_COMMANDS,
            "is a folder, and no program",
        ),
        ("cmd:stacks/fake-one/none.py", OF_COMMANDS, "does not exist"),
        (GOOD, "--path plaintext", "begins with a slash"),
        (GOOD, "--budget 1s", "has room for 0, and"),
        (
            GOOD,
            "--workload plaintext",
            "--workload has no meaning for commands",
        ),
    ];
    for (b, options, said) in cases {
        start_commands(&root, GOOD, b, options)
            .wait()
            .exits(2)
            .tells(&[said]);
    }
    root.deadheat("compare http://192.0.2.1/ http://127.0.0.1:1/")
        .exits(2)
        .tells(&["--i-may-load-this-host"]);
    start_commands(&root, GOOD, GOOD, "--dry-run --heats 3")
        .wait()
        .exits(0)
        .says(&["checkpoints"]);
    assert!(root.sessions().is_empty() && root.told("started").is_empty());
}

pub(super) const OF_STACKS: &str = "--heat-time 300ms --slice 40ms --guard 10ms --warm-up 100ms --start-timeout 20s --seed 1 --fail-if-slower 99% --pinning off";

/// A stack that is never too fast for the generator, however busy the machine is.
pub(super) fn unhurried(id: &str) -> Fake {
    Fake::faulty(id, "unhurried")
}

/// The names of both sides in the record.
pub(super) fn names(record: &SessionRecord) -> [&str; 2] {
    let sides = sides(record);
    [&sides.a.name, &sides.b.name].map(String::as_str)
}

#[test]
fn stacks_are_members_of_heats_and_checked_before_and_after() {
    let root = Root::with(&[unhurried("fake-one"), unhurried("fake-two")]);
    let ended = root
        .deadheat(&format!(
            "compare fake-one fake-two --workload plaintext --heats 2 {OF_STACKS}"
        ))
        .exits(0)
        .says(&["fake-one", "fake-two", "plaintext"]);
    assert!(!verdict(&ended).is_empty());
    let record = comparison(&root);
    assert_eq!(names(&record), ["fake-one", "fake-two"]);
    assert!(record.header.environment.contains(&"PATH".to_owned()));
    assert_in_turn(&record);
    assert_eq!(record.heats.len(), 2);
    for heat in &record.heats {
        for member in &heat.heat.members {
            assert!(member.verified_before > Some(0) && member.verified_after > Some(0));
        }
    }
    let a = &sides(&record).a;
    assert!(matches!(&a.kind, ContenderKind::Stack { stack, .. } if stack == "fake-one"));
    let stack = record.header.stack_of(a).expect("what is known of it");
    assert_eq!(stack.target.to_string(), "fake-one");
    // Its report can be made again from the record.
    let folder = root.session_folder();
    let again = root
        .deadheat(&format!("report {}", folder.display()))
        .exits(0);
    assert_eq!(verdict(&again), verdict(&ended));
    let page = root
        .deadheat(&format!("report {} --format html", folder.display()))
        .exits(0);
    assert!(page.stdout.starts_with("<!doctype html>"), "{page}");
    root.deadheat(&format!("report {} --format csv", folder.display()))
        .exits(2)
        .tells(&["deadheat compare"]);
    root.deadheat("history")
        .exits(2)
        .tells(&["skipped: 1 comparison", "deadheat report FOLDER"]);
    root.deadheat(&format!("run --resume {}", folder.display()))
        .exits(2)
        .tells(&["compare again"]);
}

#[test]
fn one_stack_twice_has_two_names() {
    let root = Root::with(&[unhurried("fake-one")]);
    root.deadheat(&format!("compare fake-one fake-one --heats 2 {OF_STACKS}"))
        .exits(0)
        .says(&["A/A", "fake-one~b"]);
    assert_eq!(names(&comparison(&root)), ["fake-one", "fake-one~b"]);
}

#[test]
fn a_stack_that_cannot_be_measured_ends_it_before_the_first_heat() {
    let bad = Fake::faulty("fake-bad", "exits-at-once");
    for (sides, status) in [("fake-one fake-bad", 1), ("fake-bad fake-one", 3)] {
        let root = Root::with(&[
            unhurried("fake-one"),
            Fake::faulty("fake-bad", "exits-at-once"),
        ]);
        root.deadheat(&format!("compare {sides} --heats 5 {OF_STACKS}"))
            .exits(status)
            .says(&["failed", &bad.id]);
        assert!(comparison(&root).heats.is_empty());
    }
    let root = Root::with(&[unhurried("fake-one")]);
    root.deadheat("compare fake-one fake-two")
        .exits(2)
        .tells(&["fake-two", "fake-one"]);
}

#[test]
fn plan_and_report_say_how_many_streams_of_http2_there_are() {
    let start = || {
        Server::start(Setup::default(), |_| Reply {
            body: b"hello".to_vec(),
            ..Reply::default()
        })
    };
    let servers = [start().unwrap(), start().unwrap()];
    let [a, b] = servers.each_ref().map(|server| server.address);
    let ended = Root::with(&[]).deadheat(&format!(
        "compare http://{a}/ http://{b}/ --http2-prior-knowledge -m 4 --heats 2 {SHORT}"
    ));
    for text in [&ended.stdout, &ended.stderr] {
        let said = "GET / c2 × 4 streams of HTTP/2 (h2c)";
        assert!(flat(text).contains(said), "{ended}");
    }
}
