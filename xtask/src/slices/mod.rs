//! `cargo xtask slices`: what slicing, freezing and polling change in the figures of a server. Both ways of a contrast load
//! the same processes in turn, so that neither the scatter between processes nor the machine's drift is in the ratio.

mod lost;
mod neighbour;
mod server;
mod subject;
mod way;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    thread,
    time::Duration,
};

use clap::Args;
use deadheat_load::{Session, Slice};
use deadheat_model::{
    LatencyHistogram, LoadSpec, SliceEvent, StopRule, Wait,
    heat::SLICE_SPREAD,
    load::{Arrivals, Exchange, Expectation, RequestSpec, Schedule, Stage, StatusSet, Target},
};
use deadheat_stats::{
    heats::pauses::{ChargedTime, SliceTimes, charged_times},
    interval::log_mean,
};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use self::{
    lost::Lost,
    neighbour::Neighbour,
    server::{Server, Tree, Work},
    subject::{Subject, subjects},
    way::{Contrast, Load, Rest, Way},
};
use crate::peers::show;

/// An uninterrupted load has a guard of 1 to this many times the shortest.
const LONGER_GUARD: f64 = 4.0;
/// The load that shows a server's capacity.
const CAPACITY: Duration = Duration::from_secs(3);
/// The level of all intervals.
const LEVEL: f64 = 0.95;

/// The heads of the tables of closed and of open loops.
const CLOSED: &str = "| server | what ÷ what | throughput | CPU time per request | pairs |\n| --- | --- | --- | --- | ---: |\n";
const OPEN: &str = "| server | what ÷ what | rate | p99 | p99 of the second | CPU time per request | pairs |\n\
    | --- | --- | ---: | --- | ---: | --- | ---: |\n";

/// What is compared, and how.
#[derive(Args)]
pub(crate) struct Options {
    /// What to compare [default: all]
    #[arg(long, value_enum)]
    contrast: Vec<Contrast>,
    /// How often each way is measured beside the other
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..))]
    pairs: u32,
    /// The counted part of a slice, on average
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
    /// Equal work: shares of the server's capacity
    #[arg(
        long,
        value_name = "SHARE,SHARE",
        default_value = "0.5,0.7,0.9",
        value_delimiter = ','
    )]
    share: Vec<f64>,
    /// A server that is loaded on the same CPU while this one is frozen: its command, without quotes
    #[arg(long, value_name = "COMMAND")]
    neighbour: Option<String>,
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
        Ok(recorded) => {
            show::result(&recorded.table());
            ExitCode::SUCCESS
        }
        Err(error) => {
            show::progress(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The same with the arguments of a command line, and the deadheat that knows the stacks.
pub(crate) fn recorded(arguments: &[String], deadheat: &Path) -> Result<Recorded, String> {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }
    let line = std::iter::once("slices").chain(arguments.iter().map(String::as_str));
    let mut line =
        <Line as clap::Parser>::try_parse_from(line).map_err(|error| error.to_string())?;
    line.options.deadheat = deadheat.to_owned();
    measure(&line.options)
}

/// Everything that was measured.
#[derive(Serialize, Deserialize)]
pub(crate) struct Recorded {
    servers: Vec<Measured>,
}

/// A server, and what was measured of it, or why it was not.
#[derive(Serialize, Deserialize)]
struct Measured {
    name: String,
    contrasts: Result<Vec<Contrasted>, String>,
}

/// Two ways to load a server.
#[derive(Serialize, Deserialize)]
struct Contrasted {
    /// What is divided by what.
    what: String,
    /// All slices of either way, in their order.
    slices: [Vec<SliceTimes>; 2],
    /// So many of them had a turn together.
    together: [usize; 2],
    /// What the server counted of its own work in each turn of either way; zeros if it counts nothing.
    work: [Vec<Work>; 2],
    /// The rate of an open loop, in requests per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
    /// The 99th percentile of its response times in each turn of either way, in seconds.
    #[serde(default)]
    p99: [Vec<f64>; 2],
}

fn measure(options: &Options) -> Result<Recorded, String> {
    let subjects = subjects(options)?;
    let measured = |subject: &Subject| {
        show::progress(&subject.name);
        Measured {
            name: subject.name.clone(),
            contrasts: contrasts(options, subject),
        }
    };
    let servers: Vec<Measured> = subjects.iter().map(measured).collect();
    if let [
        Measured {
            contrasts: Err(error),
            ..
        },
    ] = &servers[..]
    {
        return Err(error.clone());
    }
    Ok(Recorded { servers })
}

/// What was measured of a server.
fn contrasts(options: &Options, subject: &Subject) -> Result<Vec<Contrasted>, String> {
    let server = Server::start(subject, options.server_cpu)?;
    let neighbour = options.neighbour.as_deref().map(subject::of_command);
    let neighbour = neighbour
        .map(|subject| Server::start(&subject, options.server_cpu))
        .transpose()?;
    let contrasts = match &options.contrast[..] {
        [] => &[Contrast::Slices, Contrast::Freezing, Contrast::Polling][..],
        some => some,
    };
    let mut bench = Bench::new(options, &server, neighbour.as_ref())?;
    bench.measure(&Way::warm_up(options.warm_up))?;
    let mut found = Vec::new();
    for contrast in contrasts {
        // The guard matters where slices are compared with what has none.
        let guards = match contrast {
            Contrast::EqualWork => {
                found.extend(at_shares(&mut bench, options)?);
                continue;
            }
            Contrast::Slices => &options.guard[..],
            Contrast::Freezing | Contrast::Polling | Contrast::Neighbours => &options.guard[..1],
        };
        for guard in guards {
            let ways = contrast.ways(options, *guard, Load::Polling);
            let after = if guards.len() > 1 {
                format!(", guard {} ms", guard.as_millis())
            } else {
                String::new()
            };
            found.push(bench.in_turn(format!("{contrast}{after}"), &ways, options.pairs)?);
        }
    }
    Ok(found)
}

/// Equal work at each share of the capacity that a load shows which counts for nothing else.
fn at_shares(bench: &mut Bench, options: &Options) -> Result<Vec<Contrasted>, String> {
    let contrast = Contrast::EqualWork;
    let seen = bench.measure(&Way::warm_up(CAPACITY))?;
    let capacity: f64 = seen
        .iter()
        .map(|one| one.stretch.answers as f64 / one.stretch.window)
        .sum();
    let at = |share: &f64| {
        let rate = (capacity * share).round();
        let ways = contrast.ways(options, options.guard[0], Load::Rate(rate));
        let what = format!("{contrast}, {:.0} % of its capacity", 100.0 * share);
        bench.in_turn(what, &ways, options.pairs)
    };
    options.share.iter().map(at).collect()
}

impl Recorded {
    /// The ratios, as Markdown.
    pub(crate) fn table(&self) -> String {
        let (mut closed, mut open, mut lost) = (String::new(), String::new(), String::new());
        for Measured { name, contrasts } in &self.servers {
            match contrasts {
                Ok(contrasts) => {
                    for one in contrasts {
                        let table = if one.rate.is_some() {
                            &mut open
                        } else {
                            &mut closed
                        };
                        *table += &format!("| {name} | {} |\n", one.row());
                        if let Some(found) = Lost::new(&one.turns(0), &one.turns(1)) {
                            lost += &format!("\n{}", found.table(&one.what));
                        }
                    }
                }
                Err(error) => closed += &format!("| {name} | not measured: {error} | | | |\n"),
            }
        }
        let tables = [(CLOSED, closed), (OPEN, open)];
        let tables = tables.iter().filter(|(_, rows)| !rows.is_empty());
        let tables: Vec<String> = tables.map(|(head, rows)| format!("{head}{rows}")).collect();
        tables.join("\n") + &lost
    }
}

impl Contrasted {
    fn turns(&self, way: usize) -> Vec<Seen> {
        Seen::of_turns(&self.slices[way], self.together[way], &self.work[way])
    }

    /// A row of the table of closed loops, or of that of open ones.
    fn row(&self) -> String {
        let pairs: Vec<(Seen, Seen)> = self.turns(0).into_iter().zip(self.turns(1)).collect();
        let ratio =
            |of: fn(&Seen) -> f64| shown(pairs.iter().map(|(one, other)| of(one) / of(other)));
        let (what, cost, count) = (&self.what, ratio(Seen::cost), pairs.len());
        let Some(rate) = self.rate else {
            return format!("{what} | {} | {cost} | {count}", ratio(Seen::throughput));
        };
        let [first, second] = &self.p99;
        let p99 = shown(first.iter().zip(second).map(|(one, other)| one / other));
        let usual = log_mean(second, LEVEL).map_or(f64::NAN, |mean| 1e3 * mean.mean);
        format!("{what} | {rate:.0}/s | {p99} | {usual:.2} ms | {cost} | {count}")
    }
}

/// The geometric mean of ratios: "0.993 (0.985–1.001)".
fn shown(ratios: impl Iterator<Item = f64>) -> String {
    let Some(mean) = log_mean(&ratios.collect::<Vec<_>>(), LEVEL) else {
        return "unknown".to_owned();
    };
    let interval = mean.interval.map_or_else(String::new, |interval| {
        format!(" ({:.3}–{:.3})", interval.low, interval.high)
    });
    format!("{:.3}{interval}", mean.mean)
}

/// What a way's turn took of the server.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    answers: f64,
    seconds: f64,
    cpu_seconds: f64,
    /// What the server counted meanwhile, with what came before and after the slices.
    work: Work,
}

impl Seen {
    /// Of slices, with what their edges cut, if so many slices have turns together.
    fn of_turns(slices: &[SliceTimes], together: usize, work: &[Work]) -> Vec<Self> {
        let slices: Vec<_> = slices.iter().zip(charged_times(slices)).collect();
        let turns = slices.chunks(together).zip(work).map(|(turn, work)| {
            let sum = |of: &dyn Fn(&(&SliceTimes, ChargedTime)) -> f64| turn.iter().map(of).sum();
            Self {
                answers: sum(&|(slice, _)| slice.answers as f64),
                seconds: sum(&|(_, charged)| charged.seconds),
                cpu_seconds: sum(&|(_, charged)| charged.cpu_seconds.unwrap_or(0.0)),
                work: *work,
            }
        });
        turns.collect()
    }

    /// Answers per second.
    fn throughput(&self) -> f64 {
        self.answers / self.seconds
    }

    /// CPU seconds of the server for an answer.
    fn cost(&self) -> f64 {
        self.cpu_seconds / self.answers
    }
}

/// The load that a server gets.
fn spec(options: &Options, server: &Server, load: Load) -> LoadSpec {
    let exchange = Exchange::new(
        RequestSpec::get(&options.path),
        Expectation {
            status: StatusSet::just(200),
            length: None,
            content: None,
        },
    );
    let connections = options.connections;
    let schedule = match load {
        Load::Polling | Load::Sleeping => Schedule::Closed {
            connections,
            ramp: Duration::ZERO,
        },
        Load::Rate(rate) => Schedule::Open {
            arrivals: Arrivals::Poisson,
            stages: vec![Stage::constant(rate)],
            connections,
            most_connections: connections,
        },
    };
    LoadSpec {
        cpus: vec![options.generator_cpu],
        wait: match load {
            Load::Polling => Wait::Poll,
            Load::Sleeping | Load::Rate(_) => Wait::Sleep,
        },
        ..LoadSpec::new(
            Target::plain(server.address()),
            vec![exchange],
            schedule,
            StopRule::Interrupt,
        )
    }
}

fn open(spec: LoadSpec, server: &Server) -> Result<Session, String> {
    let opened = Session::open(spec, Arc::default());
    opened.map_err(|error| format!("loading {}: {error}", server.address()))
}

/// A slice, and the response times of an open loop.
struct Counted {
    stretch: SliceTimes,
    response_times: LatencyHistogram,
}

/// A server and the connections to it.
struct Bench<'a> {
    options: &'a Options,
    server: &'a Server,
    neighbour: Option<Neighbour>,
    /// The connections of each way to send requests.
    sessions: Vec<(Load, Session)>,
    random: ChaCha8Rng,
}

impl<'a> Bench<'a> {
    fn new(
        options: &'a Options,
        server: &'a Server,
        neighbour: Option<&Server>,
    ) -> Result<Self, String> {
        let neighbour = neighbour.map(|server| Neighbour::new(options, server));
        Ok(Self {
            options,
            server,
            neighbour: neighbour.transpose()?,
            sessions: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(1),
        })
    }

    /// The connections of a way to send requests, which are made for its first slice.
    fn session(&mut self, load: Load) -> Result<&mut Session, String> {
        let at = match self.sessions.iter().position(|(own, _)| *own == load) {
            Some(at) => at,
            None => {
                let opened = open(spec(self.options, self.server, load), self.server)?;
                self.sessions.push((load, opened));
                self.sessions.len() - 1
            }
        };
        Ok(&mut self.sessions[at].1)
    }

    /// Both ways, which are measured in turn, so often. Which one comes first changes with each pair.
    fn in_turn(&mut self, what: String, ways: &[Way; 2], count: u32) -> Result<Contrasted, String> {
        let mut slices = [Vec::new(), Vec::new()];
        let mut work = [Vec::new(), Vec::new()];
        let mut p99 = [Vec::new(), Vec::new()];
        for nth in 0..count as usize {
            for place in 0..ways.len() {
                let way = (nth + place) % ways.len();
                let before = self.server.work()?;
                let mut response_times = LatencyHistogram::new();
                for counted in self.measure(&ways[way])? {
                    slices[way].push(counted.stretch);
                    response_times.merge(&counted.response_times);
                }
                let of_turn = response_times.quantile(0.99);
                p99[way].extend(of_turn.map(|time| time.as_secs_f64()));
                work[way].push(self.server.work()?.since(before));
            }
            show::progress(&format!("pair {:>3} of {count}", nth + 1));
        }
        Ok(Contrasted {
            what,
            slices,
            together: ways.map(|way| way.slices as usize),
            work,
            rate: match ways[0].load {
                Load::Rate(rate) => Some(rate),
                Load::Polling | Load::Sleeping => None,
            },
            p99,
        })
    }

    /// What comes before a slice.
    fn rest(&mut self, before: Rest, tree: &Tree) -> Result<(), String> {
        match before {
            Rest::None => {}
            Rest::Idle(time) => thread::sleep(time),
            Rest::Frozen(time) => {
                tree.freeze()?;
                neighbour::pass(time, self.neighbour.as_mut())?;
                tree.thaw();
            }
        }
        Ok(())
    }

    fn measure(&mut self, way: &Way) -> Result<Vec<Counted>, String> {
        let tree = self.server.tree();
        let mut seen = Vec::new();
        for _ in 0..way.slices {
            self.rest(way.before, &tree)?;
            let slice = Slice {
                guard: match way.before {
                    // Turns of one length fall in step with pauses that come at regular times.
                    Rest::None => way
                        .guard
                        .mul_f64(self.random.random_range(1.0..LONGER_GUARD)),
                    _ => way.guard,
                },
                length: match way.before {
                    Rest::None => way.length,
                    // As in a heat.
                    _ => way.length.mul_f64(
                        self.random
                            .random_range(1.0 - SLICE_SPREAD..1.0 + SLICE_SPREAD),
                    ),
                },
            };
            let mut edges = [Duration::ZERO; 3];
            let found = self
                .session(way.load)?
                .slice(slice, &mut |event| match event {
                    SliceEvent::CountingStarted => edges[0] = tree.cpu_time(),
                    SliceEvent::CountingEnded => edges[1] = tree.cpu_time(),
                    SliceEvent::Drained => edges[2] = tree.cpu_time(),
                });
            let found = found.map_err(|error| format!("loading the server: {error}"))?;
            let observation = &found.observation;
            let (answers, failed) = (
                observation.measured.answers(),
                observation.total.failed.total(),
            );
            if failed > 0 || observation.total.succeeded == 0 {
                let example = observation.examples.first();
                let example = example.map_or_else(String::new, |one| format!(": {}", one.detail));
                return Err(format!(
                    "loading the server: {failed} requests failed and {answers} were answered{example}"
                ));
            }
            // The guard of an uninterrupted load is as long as a pause, so that its edges cut as much as they add.
            let is_cut = !matches!(way.before, Rest::None);
            let each = |all: Duration, requests: u64| match requests {
                1.. if is_cut => all.as_secs_f64() / requests as f64,
                _ => 0.0,
            };
            let measured = &observation.measured;
            let stretch = SliceTimes {
                window: observation.window.as_secs_f64(),
                answers,
                carried: each(observation.carried, measured.carried_in),
                draining: each(observation.draining, measured.in_flight),
                cpu: Some(edges[1].saturating_sub(edges[0]).as_secs_f64()),
                drain_cpu: Some(edges[2].saturating_sub(edges[1]).as_secs_f64()),
                gave_up: found.undrained() > 0,
            };
            let open = found.observation.open;
            seen.push(Counted {
                stretch,
                response_times: open.map_or_else(LatencyHistogram::new, |open| open.response_time),
            });
        }
        Ok(seen)
    }
}
