//! The schedules that `deadheat load` is asked for are what a server sees. How they are judged is said in
//! `deadheat_testkit::judge` and in the tests of the load generator.

use deadheat_testkit::{
    OracleServer, Turn, answers,
    judge::{distance, gaps, least},
};

use crate::support::loaded::{in_parallel, load};

/// Kolmogorov's distance that passes: a tenth of the arrivals may be elsewhere, on a machine that stalls. Of 1,000
/// arrivals by the law itself, 1 in 100,000 runs would have a distance of 0.078.
const NEAR: f64 = 0.1;

/// When requests arrived, in seconds since the first.
fn arrivals(requests: u64, args: &[&str]) -> Vec<f64> {
    let server = OracleServer::start(|_: &Turn<'_>| answers::send(answers::hello())).unwrap();
    let url = format!("http://{}/", server.address());
    let count = requests.to_string();
    let loaded = load(&[&["-c", "16", "-n", &count], args, &[&url]].concat()).all_succeed(requests);
    let server = server.seen_at_rest();
    let loaded = loaded.agrees_with(&server);
    let arrivals = server.arrivals;
    assert_eq!(arrivals.len() as u64, requests, "{loaded}");
    let open = loaded
        .seen
        .open
        .as_ref()
        .unwrap_or_else(|| panic!("no open loop: {loaded}"));
    assert_eq!((open.offered, open.unsent), (requests, 0), "{loaded}");
    arrivals
        .iter()
        .map(|at| (*at - arrivals[0]).as_secs_f64())
        .collect()
}

type Law = fn(f64) -> f64;

#[test]
fn rates_and_stages_are_what_a_server_sees() {
    let even: Law = |at| at / 2.0;
    // The integral of 100 + 400 t.
    let ramp: Law = |at| ((100.0 * at + 200.0 * at * at) / 1_000.0).min(1.0);
    let steps: Law = |at| match at {
        ..0.5 => 200.0 * at / 600.0,
        _ => ((100.0 + 1_000.0 * (at - 0.5)) / 600.0).min(1.0),
    };
    let cases: [(u64, &[&str], Law); 6] = [
        (1_000, &["--rate", "500/s"], even),
        (1_000, &["--rate", "30000/m"], even),
        (
            1_000,
            &["--rate", "500", "--arrivals", "poisson", "--seed", "1"],
            even,
        ),
        (1_000, &["--stage", "2s@100..900/s"], ramp),
        (
            1_000,
            &[
                "--stage",
                "2s@100..900/s",
                "--arrivals",
                "poisson",
                "--seed",
                "1",
            ],
            ramp,
        ),
        (
            600,
            &["--stage", "500ms@200/s", "--stage", "500ms@1000/s"],
            steps,
        ),
    ];
    in_parallel(cases, |(requests, args, law)| {
        let far = least(NEAR, || distance(arrivals(requests, args), law));
        assert!(far <= NEAR, "{args:?}: {far} from its law");
    });
    // What the bound is worth: one law misses another by far.
    let evenly: Vec<f64> = (0..1_000).map(|nth| f64::from(nth) / 500.0).collect();
    assert!(distance(evenly.clone(), ramp) > 1.9 * NEAR);
    assert!(distance(evenly, steps) > 1.9 * NEAR);
}

#[test]
fn the_gaps_between_poisson_arrivals_are_exponential_and_those_of_uniform_ones_are_not() {
    // Of fewer arrivals the distance is larger; gaps of 10 ms in the mean are long for a scheduler's turns.
    const NEAR_GAPS: f64 = 0.15;
    let exponential = |gap: f64| 1.0 - (-gap * 100.0).exp();
    let measure = |kind| {
        let args = ["--rate", "100/s", "--arrivals", kind, "--seed", "1"];
        distance(gaps(&arrivals(250, &args)), exponential)
    };
    in_parallel(["poisson", "uniform"], |kind| match kind {
        "poisson" => {
            let far = least(NEAR_GAPS, || measure(kind));
            assert!(far <= NEAR_GAPS, "{far} from exponential gaps");
        }
        _ => {
            // The largest of a few: a stall makes even gaps uneven.
            let far = -least(-2.0 * NEAR_GAPS, || -measure(kind));
            assert!(far >= 2.0 * NEAR_GAPS, "{far} from exponential gaps");
        }
    });
}
