//! `deadheat load` at servers whose latency is known: its percentiles are those of the server's own log, a freeze is
//! in the response time of every request that was due in it, and two runs of the same are no difference.

use std::{thread, time::Duration};

use deadheat_model::{Failure, LatencyHistogram};
use deadheat_stats::interval::moments;
use deadheat_testkit::{
    Action, OracleServer, Script, Turn,
    answers::{BODY, sized},
    judge::{TAIL_ALLOWANCE, assert_agree, least},
    latency::{Freeze, fixed, head_first, two_humped},
};
use rustix::process::Signal;

use crate::support::{
    eventually,
    loaded::{in_parallel, load, load_meanwhile},
};

const MS: Duration = Duration::from_millis(1);
const CLOSED: &[&str] = &["-n", "400", "-c", "16"];
const OPEN: &[&str] = &["-n", "400", "-c", "64", "--rate", "400/s"];

#[test]
fn percentiles_are_those_of_the_servers_own_log() {
    let scripts: [fn() -> Boxed; 3] = [
        || Boxed::new(fixed(40 * MS)),
        || Boxed::new(two_humped(20 * MS, 200 * MS, 10)),
        // It is the last byte that ends a service time, not the first.
        || Boxed::new(head_first(100 * MS, 80 * MS)),
    ];
    let cases = scripts.map(|script| [(script, CLOSED), (script, OPEN)]);
    in_parallel(cases.into_iter().flatten(), |(script, args)| {
        assert_agree(&args.join(" "), || {
            let server = OracleServer::start(script()).unwrap();
            let url = format!("http://{}/", server.address());
            let loaded = load(&[args, &[&url]].concat()).all_succeed(400);
            assert_eq!(loaded.seen.open.is_some(), args == OPEN);
            let server = server.seen_at_rest();
            (loaded.agrees_with(&server).seen.service_time, server)
        });
    });
}

/// Scripts of different types in one list.
struct Boxed(Box<dyn Script>);

impl Boxed {
    fn new(script: impl Script) -> Self {
        Self(Box::new(script))
    }
}

impl Script for Boxed {
    fn answer(&self, turn: &Turn<'_>) -> Vec<Action> {
        self.0.answer(turn)
    }
}

/// How many took longer than `bound`.
fn slower(histogram: &LatencyHistogram, bound: Duration) -> f64 {
    ((1.0 - histogram.share_up_to(bound)) * histogram.count() as f64).round()
}

const FREEZE: Duration = Duration::from_secs(3);

/// By how much more was slow than the freeze explains, in requests; a stall of the machine makes it more. That it is not
/// less is asserted.
fn beyond_the_freeze(rate: Option<f64>) -> f64 {
    const CONNECTIONS: u32 = 8;
    let server = OracleServer::start(Freeze::new(2 * MS, 300 * MS, FREEZE)).unwrap();
    let url = format!("http://{}/", server.address());
    let connections = CONNECTIONS.to_string();
    // Longer than the freeze, also where the first request was late.
    let length = FREEZE + Duration::from_secs(2);
    let requests = rate.map(|rate| (rate * length.as_secs_f64()) as u64);
    let (count, duration) = (
        requests.unwrap_or_default().to_string(),
        format!("{}ms", length.as_millis()),
    );
    let pace = rate.map(|rate| format!("{rate}/s"));
    let mut args = vec!["-c", &connections, "--warm-up", "0s"];
    match &pace {
        Some(rate) => args.extend(["--rate", rate, "-n", &count]),
        None => args.extend(["-d", &duration]),
    }
    args.push(&url);
    let loaded = load(&args).exits(0).agrees_with(&server.seen_at_rest());
    // Of those that were sent, one on each connection met it, whatever the loop.
    let stuck = slower(&loaded.seen.service_time, FREEZE / 2) - f64::from(CONNECTIONS);
    assert!(stuck >= 0.0, "{stuck}: {loaded}");
    let (Some(rate), Some(open)) = (rate, &loaded.seen.open) else {
        assert!(loaded.seen.open.is_none(), "{loaded}");
        return stuck;
    };
    let beyond = [0.2, 0.5, 0.8].map(|part| {
        // Whatever was due at least `bound` before the thaw took longer than that, but for one at the edge.
        let bound = FREEZE.mul_f64(part);
        let sure = rate * (FREEZE - bound).as_secs_f64() - 1.0;
        let got = slower(&open.response_time, bound);
        assert!(
            got >= sure,
            "{got} took over {bound:?}, not {sure}: {loaded}"
        );
        got - sure - rate * TAIL_ALLOWANCE.as_secs_f64()
    });
    beyond.into_iter().fold(stuck, f64::max)
}

#[test]
fn a_freeze_is_in_the_response_times_of_an_open_loop_and_hidden_from_a_closed_one() {
    in_parallel([None, Some(200.0)], |rate| {
        let beyond = least(0.0, || beyond_the_freeze(rate));
        assert!(
            beyond <= 0.0,
            "{beyond} requests too many were slow at {rate:?}"
        );
    });
}

#[test]
fn a_generator_that_stood_still_confesses_to_it() {
    const RATE: f64 = 200.0;
    let server = OracleServer::start(fixed(2 * MS)).unwrap();
    let url = format!("http://{}/", server.address());
    let args = ["-c", "64", "--rate", "200/s", "-n", "500", &url];
    let loaded = load_meanwhile(&args, |load| {
        eventually("requests", || (server.seen().requests >= 20).then_some(()));
        load.signal(Signal::STOP);
        thread::sleep(Duration::from_secs(1));
        load.signal(Signal::CONT);
    });
    let server = server.seen_at_rest();
    let loaded = loaded.all_succeed(500).agrees_with(&server);
    let arrivals = server.arrivals.windows(2);
    // However long it stood still: the server knows it.
    let still = arrivals.map(|two| two[1] - two[0]).max().unwrap();
    assert!(still >= Duration::from_millis(500), "{still:?}: {loaded}");
    let open = loaded.seen.open.as_ref().unwrap();
    for part in [0.2, 0.5, 0.8] {
        // Whatever was due in that time waited for its end.
        let bound = still.mul_f64(part);
        let sure = RATE * (still - bound).as_secs_f64() - 2.0;
        for (what, histogram) in [
            ("response", &open.response_time),
            ("send lag", &open.send_lag),
        ] {
            let got = slower(histogram, bound);
            assert!(
                got >= sure,
                "{what}: {got} over {bound:?}, not {sure}: {loaded}"
            );
        }
    }
}

#[test]
fn a_warm_up_is_in_no_figure() {
    // Everything that is wrong, slow or large is over long before the measurement begins.
    const ODD: u64 = 8;
    let script = |turn: &Turn<'_>| match turn.index {
        0..ODD => vec![
            Action::Until(turn.arrived + 100 * MS),
            Action::Send(sized(500, "", b"not yet, not yet")),
        ],
        _ => vec![
            Action::Until(turn.arrived + 20 * MS),
            Action::Send(sized(200, "", BODY)),
        ],
    };
    let loops: [&[&str]; 2] = [&["-c", "4"], &["-c", "4", "--rate", "100/s"]];
    let ends: [&[&str]; 2] = [&["-n", "60"], &["-d", "1s"]];
    let cases = loops.map(|which| ends.map(|end| (which, end)));
    in_parallel(cases.into_iter().flatten(), |(which, end)| {
        let server = OracleServer::start(script).unwrap();
        let url = format!("http://{}/", server.address());
        let more = ["--warm-up", "1s", "--expect-length", "13", &url];
        let loaded = load(&[which, end, &more].concat()).exits(0);
        let server = server.seen_at_rest();
        let loaded = loaded.agrees_with(&server);
        let (total, measured) = (&loaded.seen.total, &loaded.seen.measured);
        assert_eq!(total.failed[Failure::WrongStatus], ODD, "{loaded}");
        assert_eq!(measured.failed.total(), 0, "{loaded}");
        assert!(measured.issued < total.issued, "{loaded}");
        assert!(measured.succeeded < total.succeeded, "{loaded}");
        if end[0] == "-n" {
            assert_eq!(measured.issued, 60, "{loaded}");
        }
        assert_eq!(
            loaded.seen.statuses,
            [(200, measured.succeeded)].into(),
            "{loaded}"
        );
        // Bytes count when they come, and each answer comes in one piece.
        let came = measured.succeeded + measured.carried_succeeded;
        assert_eq!(loaded.seen.body_bytes, 13 * came, "{loaded}");
        assert_eq!(loaded.seen.valid_body_bytes, 13 * measured.succeeded);
        // Four at once and 20 ms each, and those that the warm-up began.
        let most = 4.0 / 0.02;
        let throughput = loaded.seen.throughput();
        assert!(throughput <= 1.2 * most, "{throughput}/s: {loaded}");
        if end[0] == "-d" {
            assert_eq!(loaded.seen.window, Duration::from_secs(1), "{loaded}");
        } else {
            let server = server.arrivals[server.arrivals.len() - 1] - server.arrivals[0];
            let window = loaded.seen.window;
            assert!(window < server, "{window:?} of {server:?}: {loaded}");
        }
    });
}

/// Verified answers per second at a server of this latency.
fn throughput(latency: Duration) -> f64 {
    let server = OracleServer::start(fixed(latency)).unwrap();
    let url = format!("http://{}/", server.address());
    let loaded = load(&["-n", "100", "-c", "10", &url]);
    let loaded = loaded.all_succeed(100);
    loaded.agrees_with(&server.seen_at_rest()).seen.throughput()
}

/// How many times as fast one server is as another, and whether that is a difference: each is measured once in each
/// block, in alternating order.
fn compare(one: Duration, other: Duration) -> (f64, bool) {
    const BLOCKS: u32 = 6;
    let ratios = (0..BLOCKS).map(|block| {
        let (one, other) = match block % 2 {
            0 => {
                let first = throughput(one);
                (first, throughput(other))
            }
            _ => {
                let first = throughput(other);
                (throughput(one), first)
            }
        };
        (one / other).ln()
    });
    let found = moments(&ratios.collect::<Vec<_>>()).expect("several ratios");
    let ratio = found.mean.exp();
    let matters = !(1.0 / 1.01..1.01).contains(&ratio);
    (ratio, matters && found.p_of_zero() < 0.05)
}

#[test]
fn two_identical_runs_are_no_difference_and_two_that_differ_are_one() {
    // At its level of 5 % one comparison in twenty may find a difference where there is none, once the machine is so
    // noisy that it exceeds what matters in practice. Three in a row are a difference.
    let same: Vec<(f64, bool)> = (0..3)
        .map(|_| compare(20 * MS, 20 * MS))
        .take_while(|same| same.1)
        .collect();
    assert!(same.len() < 3, "{same:?}");
    // What that is worth: half as much latency again is seen, unless the machine's noise hides it three times in a row.
    let mut slower = (0..3).map(|_| compare(20 * MS, 30 * MS));
    let slower = slower.find(|slower| slower.1);
    let (ratio, _) = slower.expect("half as much latency again is a difference");
    assert!(ratio > 1.0, "{ratio}");
}
