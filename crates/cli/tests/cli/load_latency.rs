//! `deadheat load` at servers whose latency is known: its percentiles are those of the server's own log, a freeze is
//! in the response time of every request that was due in it, and two runs of the same are no difference.

use std::time::Duration;

use deadheat_model::{FailureCounts, LatencyHistogram, TargetId};
use deadheat_stats::{
    CellAnalysis, Settings, TrialAnalysis,
    compare::{Comparison, compare_all},
    trial::Figures,
    verdict::{CellVerdict, TrialVerdict},
};
use deadheat_testkit::{
    OracleServer,
    judge::{TAIL_ALLOWANCE, assert_agree},
    latency::{Freeze, fixed, two_humped},
};

use crate::support::loaded::{in_parallel, load};

const MS: Duration = Duration::from_millis(1);
const CLOSED: &[&str] = &["-n", "400", "-c", "16"];
const OPEN: &[&str] = &["-n", "400", "-c", "64", "--rate", "400/s"];

#[test]
fn percentiles_are_those_of_the_servers_own_log() {
    let humps = || two_humped(20 * MS, 200 * MS, 10);
    let cases = [(CLOSED, false), (OPEN, false), (CLOSED, true), (OPEN, true)];
    in_parallel(cases, |(args, two)| {
        let server = match two {
            true => OracleServer::start(humps()),
            false => OracleServer::start(fixed(40 * MS)),
        };
        let server = server.unwrap();
        let url = format!("http://{}/", server.address());
        let loaded = load(&[args, &[&url]].concat()).all_succeed(400);
        assert_agree(
            &loaded.to_string(),
            &loaded.seen.service_time,
            &server.seen_at_rest(),
        );
        assert_eq!(loaded.seen.open.is_some(), args == OPEN);
    });
}

/// A freeze of so many milliseconds in the middle of a load, closed or open.
fn freeze(length: Duration, rate: Option<f64>) {
    const CONNECTIONS: u32 = 8;
    let frozen = Freeze::new(2 * MS, 300 * MS, length);
    let server = OracleServer::start(frozen).unwrap();
    let url = format!("http://{}/", server.address());
    let connections = CONNECTIONS.to_string();
    let length_s = length.as_secs_f64();
    let requests = rate.map(|rate| (rate * (length_s + 1.3)) as u64);
    let (count, duration) = (
        requests.unwrap_or_default().to_string(),
        format!("{}ms", length.as_millis() + 1_000),
    );
    let pace = rate.map(|rate| format!("{rate}/s"));
    let mut args = vec!["-c", &connections, "--warm-up", "0s"];
    match &pace {
        Some(rate) => args.extend(["--rate", rate, "-n", &count]),
        None => args.extend(["-d", &duration]),
    }
    args.push(&url);
    let loaded = load(&args).exits(0);
    let slower = |histogram: &LatencyHistogram, bound: Duration| {
        ((1.0 - histogram.share_up_to(bound)) * histogram.count() as f64).round()
    };
    // Of those that were sent, one on each connection met it, whatever the loop.
    let stuck = slower(&loaded.seen.service_time, length / 2);
    assert_eq!(stuck, f64::from(CONNECTIONS), "{loaded}");
    let (Some(rate), Some(open)) = (rate, &loaded.seen.open) else {
        assert!(loaded.seen.open.is_none(), "{loaded}");
        return;
    };
    for part in [0.2, 0.5, 0.8] {
        let bound = length.mul_f64(part);
        let sure = rate * (length - bound).as_secs_f64() - 1.0;
        let got = slower(&open.response_time, bound);
        let most = sure + rate * TAIL_ALLOWANCE.as_secs_f64();
        assert!(
            (sure..=most).contains(&got),
            "{got} took over {bound:?}, not {sure} to {most}: {loaded}"
        );
    }
}

#[test]
fn a_freeze_is_in_the_response_times_of_an_open_loop_and_hidden_from_a_closed_one() {
    in_parallel([None, Some(200.0)], |rate| freeze(1_200 * MS, rate));
}

#[test]
#[ignore = "takes 7 s: the same with a freeze of 5 s"]
fn a_long_freeze_is_in_the_response_times_of_an_open_loop_and_hidden_from_a_closed_one() {
    in_parallel([None, Some(200.0)], |rate| freeze(5_000 * MS, rate));
}

/// Verified answers per second at a server of this latency.
fn throughput(latency: Duration) -> f64 {
    let server = OracleServer::start(fixed(latency)).unwrap();
    let url = format!("http://{}/", server.address());
    let loaded = load(&["-n", "100", "-c", "10", &url]);
    loaded.all_succeed(100).seen.throughput()
}

/// What the statistics say of two servers, each measured once in each block, in alternating order.
fn compare(one: Duration, other: Duration) -> Comparison {
    const BLOCKS: u32 = 6;
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for block in 0..BLOCKS {
        if block % 2 == 0 {
            ones.push(throughput(one));
            others.push(throughput(other));
        } else {
            others.push(throughput(other));
            ones.push(throughput(one));
        }
    }
    let cells = [cell("one", &ones), cell("other", &others)];
    let mut pairs = compare_all(&cells, &Settings::default());
    assert_eq!(pairs.len(), 1);
    pairs.remove(0)
}

/// A cell of which nothing but the throughput is known.
fn cell(stack: &str, throughputs: &[f64]) -> CellAnalysis {
    let trial = |(block, throughput): (u32, &f64)| TrialAnalysis {
        record: block as usize,
        block,
        verdict: TrialVerdict::Counts,
        flags: Vec::new(),
        figures: Some(Figures {
            throughput_per_second: *throughput,
            service_time: None,
            cpu_us_per_request: None,
            cores_used: None,
            voluntary_switches_per_request: None,
            involuntary_switches_per_request: None,
            minor_faults_per_request: None,
            major_faults_per_request: None,
            pss_idle_bytes: 0.0,
            pss_mean_bytes: 0.0,
            pss_peak_bytes: 0.0,
            ready_seconds: 0.0,
            busiest_worker: 0.0,
            trend: None,
        }),
    };
    CellAnalysis {
        target: TargetId::new(stack, None),
        verdict: CellVerdict::Counts,
        rank: None,
        trials: (0..).zip(throughputs).map(trial).collect(),
        trials_left_out: 0,
        estimates: None,
        failures: FailureCounts::default(),
        requests_ended: 0,
    }
}

#[test]
fn two_identical_runs_are_no_difference_and_two_that_differ_are_one() {
    // At its level of 5 % one comparison in twenty may find a difference where there is none, once the machine is so
    // noisy that it exceeds what matters in practice. Three in a row are a difference.
    let same: Vec<Comparison> = (0..3)
        .map(|_| compare(40 * MS, 40 * MS))
        .take_while(|same| same.different)
        .collect();
    assert!(same.len() < 3, "{same:?}");
    // What that is worth: a quarter more latency is seen.
    let slower = compare(40 * MS, 50 * MS);
    assert!(slower.different, "{slower:?}");
    assert_eq!(slower.faster, TargetId::new("one", None));
}
