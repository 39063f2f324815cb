//! `cargo xtask slices`: what slicing, freezing and polling change in the figures of a server. Both ways of a contrast load
//! the same processes in turn, so that neither the scatter between processes nor the machine's drift is in the ratio.

mod server;
mod subject;
mod way;

use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use clap::Args;
use deadheat_load::{Session, Slice, SliceEvent};
use deadheat_model::{
    LoadSpec, StopRule, Wait,
    load::{Exchange, Expectation, RequestSpec, Schedule, StatusSet, Target},
};
use deadheat_stats::interval::{LogMean, log_mean};

use self::{
    server::Server,
    subject::{Subject, subjects},
    way::{Contrast, Way},
};
use crate::peers::show;

/// The level of all intervals.
const LEVEL: f64 = 0.95;

/// What is compared, and how.
#[derive(Args)]
pub(crate) struct Options {
    /// What to compare [default: all]
    #[arg(long, value_enum)]
    contrast: Vec<Contrast>,
    /// How often each way is measured beside the other
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..))]
    pairs: u32,
    /// The counted part of a slice
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = humantime::parse_duration)]
    slice: Duration,
    /// Load before it that does not count; slices are compared with several guards, if there are more
    #[arg(long, value_name = "TIME,TIME", default_value = "30ms", value_delimiter = ',', value_parser = humantime::parse_duration)]
    guard: Vec<Duration>,
    /// The time between two slices
    #[arg(long, value_name = "TIME", default_value = "400ms", value_parser = humantime::parse_duration)]
    rest: Duration,
    /// Slices of a way before the other one's turn
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    slices: u32,
    /// Load before the first slice
    #[arg(long, value_name = "TIME", default_value = "8s", value_parser = humantime::parse_duration)]
    warm_up: Duration,
    /// Connections
    #[arg(long, default_value_t = 50)]
    connections: u32,
    /// The path that is asked for
    #[arg(long, default_value = "/plaintext")]
    path: String,
    /// The server's CPU
    #[arg(long, value_name = "CPU", default_value_t = 0)]
    server_cpu: usize,
    /// The generator's CPU
    #[arg(long, value_name = "CPU", default_value_t = 1)]
    generator_cpu: usize,
    /// Where the server is started
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Stacks that are built, each in its default variant, in place of a command: go-nethttp, '*'
    #[arg(long, value_name = "GLOB", conflicts_with = "command")]
    stack: Vec<String>,
    /// The deadheat that knows the stacks
    #[arg(long, value_name = "FILE", default_value = "target/release/deadheat")]
    deadheat: PathBuf,
    /// The server's command, which gets HOST, PORT, CPUS, POOL_SIZE and BLOB_PATH in its environment
    #[arg(last = true, required_unless_present = "stack")]
    command: Vec<String>,
}

/// Measures and shows the contrasts.
pub(crate) fn slices(options: &Options) -> ExitCode {
    match measure(options) {
        Ok(table) => {
            show::result(&table);
            ExitCode::SUCCESS
        }
        Err(error) => {
            show::progress(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<String, String> {
    let mut table = "| server | what ÷ what | throughput | CPU time per request | pairs |\n\
        | --- | --- | --- | --- | ---: |\n"
        .to_owned();
    let subjects = subjects(options)?;
    for subject in &subjects {
        let name = &subject.name;
        show::progress(name);
        match rows(options, subject) {
            Ok(rows) => {
                for row in rows {
                    table += &format!("| {name} | {row} |\n");
                }
            }
            Err(error) if subjects.len() == 1 => return Err(error),
            Err(error) => table += &format!("| {name} | not measured: {error} | | | |\n"),
        }
    }
    Ok(table)
}

/// The contrasts of a server: what was compared, and the figures.
fn rows(options: &Options, subject: &Subject) -> Result<Vec<String>, String> {
    let server = Server::start(subject, options.server_cpu)?;
    let contrasts = match &options.contrast[..] {
        [] => &[Contrast::Slices, Contrast::Freezing, Contrast::Polling][..],
        some => some,
    };
    let mut bench = Bench::new(options, &server)?;
    bench.measure(&Way::warm_up(options.warm_up))?;
    let mut rows = Vec::new();
    for contrast in contrasts {
        // The guard matters where slices are compared with what has none.
        let guards = match contrast {
            Contrast::Slices => &options.guard[..],
            Contrast::Freezing | Contrast::Polling => &options.guard[..1],
        };
        for guard in guards {
            let ways = contrast.ways(options, *guard);
            let pairs = bench.pairs(&ways, options.pairs)?;
            let ratio = |of: fn(&Seen) -> f64| {
                let ratios: Vec<f64> = pairs
                    .iter()
                    .map(|[one, other]| of(one) / of(other))
                    .collect();
                log_mean(&ratios, LEVEL).map_or_else(|| "unknown".to_owned(), |mean| shown(&mean))
            };
            let after = if guards.len() > 1 {
                format!(", guard {} ms", guard.as_millis())
            } else {
                String::new()
            };
            rows.push(format!(
                "{contrast}{after} | {} | {} | {}",
                ratio(Seen::throughput),
                ratio(Seen::cost),
                pairs.len(),
            ));
        }
    }
    Ok(rows)
}

/// "0.993 (0.985–1.001)".
fn shown(mean: &LogMean) -> String {
    let interval = mean.interval.map_or_else(String::new, |interval| {
        format!(" ({:.3}–{:.3})", interval.low, interval.high)
    });
    format!("{:.3}{interval}", mean.mean)
}

/// What was seen of a way in its turn.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    answers: f64,
    time: Duration,
    cpu: Duration,
}

impl Seen {
    /// Answers per second.
    fn throughput(&self) -> f64 {
        self.answers / self.time.as_secs_f64()
    }

    /// CPU seconds of the server for an answer.
    fn cost(&self) -> f64 {
        self.cpu.as_secs_f64() / self.answers
    }
}

/// A server and the connections to it.
struct Bench<'a> {
    server: &'a Server,
    polling: Session,
    sleeping: Session,
}

impl<'a> Bench<'a> {
    fn new(options: &Options, server: &'a Server) -> Result<Self, String> {
        let session = |wait| {
            let exchange = Exchange::new(
                RequestSpec::get(&options.path),
                Expectation {
                    status: StatusSet::just(200),
                    length: None,
                    content: None,
                },
            );
            let schedule = Schedule::Closed {
                connections: options.connections,
                ramp: Duration::ZERO,
            };
            let spec = LoadSpec {
                cpus: vec![options.generator_cpu],
                wait,
                ..LoadSpec::new(
                    Target::plain(server.address()),
                    vec![exchange],
                    schedule,
                    StopRule::Interrupt,
                )
            };
            let opened = Session::open(spec, Arc::default());
            opened.map_err(|error| format!("loading {}: {error}", server.address()))
        };
        Ok(Self {
            server,
            polling: session(Wait::Poll)?,
            sleeping: session(Wait::Sleep)?,
        })
    }

    /// Measures both ways in turn, so often. Which one comes first changes with each pair.
    fn pairs(&mut self, ways: &[Way; 2], count: u32) -> Result<Vec<[Seen; 2]>, String> {
        let pair = |nth: u32| {
            let mut seen = [Seen::default(); 2];
            for place in 0..ways.len() {
                let way = (nth as usize + place) % ways.len();
                seen[way] = self.measure(&ways[way])?;
            }
            show::progress(&format!(
                "pair {:>3}: {:>9.0} and {:>9.0} answers/s",
                nth + 1,
                seen[0].throughput(),
                seen[1].throughput()
            ));
            Ok(seen)
        };
        (0..count).map(pair).collect()
    }

    fn measure(&mut self, way: &Way) -> Result<Seen, String> {
        let tree = self.server.tree();
        let session = match way.wait {
            Wait::Poll => &mut self.polling,
            Wait::Sleep => &mut self.sleeping,
        };
        let mut seen = Seen::default();
        for _ in 0..way.slices {
            way.rest(&tree)?;
            let slice = Slice {
                guard: way.guard,
                length: way.length,
            };
            let mut edges = [Duration::ZERO; 2];
            let found = session.slice(slice, &mut |event| match event {
                SliceEvent::CountingStarted => edges[0] = tree.cpu_time(),
                SliceEvent::CountingEnded => edges[1] = tree.cpu_time(),
                SliceEvent::Drained => {}
            });
            let found = found.map_err(|error| format!("loading the server: {error}"))?;
            let observation = &found.observation;
            let (answers, failed) = (
                observation.measured.answers(),
                observation.total.failed.total(),
            );
            if failed > 0 || answers == 0 {
                let example = observation.examples.first();
                let example = example.map_or_else(String::new, |one| format!(": {}", one.detail));
                return Err(format!(
                    "loading the server: {failed} requests failed and {answers} were answered{example}"
                ));
            }
            seen.answers += answers as f64;
            seen.time += observation.window;
            seen.cpu += edges[1].saturating_sub(edges[0]);
        }
        Ok(seen)
    }
}
