//! How often the interval of a search for the highest rate contains the truth, by simulation.

use std::ops::RangeInclusive;

use deadheat_stats::capacity::{CONFIDENCE, Next, Probe, Range, Search};

use crate::random::Random;

/// Seeds of the searches in the test of every build, and for the figures in docs/statistics.md.
///
/// The grid of spreads was chosen with seeds below 1,000, so the figures are of others.
const FEW: RangeInclusive<u64> = 1..=150;
const MANY: RangeInclusive<u64> = 10_001..=10_500;
/// Probes at most, as by default.
const PROBES: usize = 20;
/// The highest throughput of the closed loop.
const CLOSED: f64 = 5_000.0;

/// A server whose capacity is known.
#[derive(Clone, Copy, Debug)]
struct Server {
    name: &'static str,
    /// P(holds) falls over this width on the logarithm of the rate.
    spread: f64,
    /// What the capacity changes by over the probes, as a share.
    drift: f64,
    /// Share of probes that do not hold whatever the rate.
    bad: f64,
}

const fn server(name: &'static str, spread: f64, drift: f64, bad: f64) -> Server {
    Server {
        name,
        spread,
        drift,
        bad,
    }
}

const SERVERS: [Server; 6] = [
    server("steep", 0.001, 0.0, 0.0),
    server("usual", 0.02, 0.0, 0.0),
    server("soft", 0.10, 0.0, 0.0),
    server("drifts by 5 %", 0.02, -0.05, 0.0),
    server("10 % bad probes", 0.02, 0.0, 0.10),
    server("very soft", 0.25, 0.0, 0.0),
];

/// What became of a search.
struct Ended {
    contains: bool,
    probes: usize,
    /// Half of the interval, as a share of its middle.
    half_width: f64,
}

fn search(server: Server, seed: u64) -> Ended {
    let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95));
    // From a fiftieth of what a closed loop does to a little more than that.
    let capacity = CLOSED * (1.1_f64.ln() - random.uniform().powi(2) * 55_f64.ln()).exp();
    let search = Search {
        range: Range {
            least: CLOSED / 1_000.0,
            most: 2.0 * CLOSED,
        },
        closed: CLOSED,
        ceiling: None,
        precision: 0.05,
    };
    let mut probes = Vec::new();
    let mut truths = Vec::new();
    while probes.len() < PROBES {
        let Next::Probe(per_second) = search.next(&probes) else {
            break;
        };
        let now = capacity * (1.0 + server.drift * probes.len() as f64 / PROBES as f64);
        truths.push(now);
        let well = (now / per_second).ln() + server.spread * random.normal() >= 0.0;
        let held = well && random.uniform() >= server.bad;
        probes.push(Probe { per_second, held });
    }
    let (low, high) = search.posterior(&probes).interval(CONFIDENCE);
    let mean = truths.iter().sum::<f64>() / truths.len() as f64;
    Ended {
        contains: (low..=high).contains(&mean),
        probes: probes.len(),
        half_width: (high - low) / (high + low),
    }
}

/// The share that contains the truth, the mean number of probes, and the median half width.
fn figures(server: Server, seeds: RangeInclusive<u64>) -> (f64, f64, f64) {
    let ended: Vec<Ended> = seeds.map(|seed| search(server, seed)).collect();
    let count = ended.len() as f64;
    let contain = ended.iter().filter(|one| one.contains).count() as f64;
    let probes = ended.iter().map(|one| one.probes as f64).sum::<f64>();
    let mut widths: Vec<f64> = ended.iter().map(|one| one.half_width).collect();
    widths.sort_by(f64::total_cmp);
    (contain / count, probes / count, widths[widths.len() / 2])
}

#[test]
#[ignore = "prints the table of docs/statistics.md; takes minutes"]
#[expect(clippy::print_stderr, reason = "the table is for a person")]
fn figures_of_searches() {
    for server in SERVERS {
        let (contain, probes, half) = figures(server, MANY);
        let name = server.name;
        eprintln!(
            "| {name} | {:.1} % | {probes:.1} | ± {:.1} % |",
            100.0 * contain,
            100.0 * half
        );
    }
}

#[test]
fn intervals_contain_the_capacity_as_often_as_they_say() {
    for server in SERVERS {
        let (contain, ..) = figures(server, FEW);
        // 93 %, less two and a half sampling errors.
        assert!(contain >= 0.88, "{}: {contain}", server.name);
    }
}
