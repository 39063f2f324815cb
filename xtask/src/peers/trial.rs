//! One trial: one tool, once, against nginx, and whether it did what it was to do.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::{
    answers::{self, Answers},
    case::Case,
    cpu_time::CpuTime,
    load::Load,
    machine::Cpus,
    nginx::{Nginx, Seen},
    sys::{self, Usage},
    tool::{Errand, Tool},
};

/// How much longer than its load a tool may take, to connect and to report, before it is killed.
const PATIENCE: Duration = Duration::from_secs(30);
/// The share of the offered rate that must be answered in an open loop.
const HELD_RATE: f64 = 0.99;

/// A tool that is here.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Which.
    pub(crate) tool: Tool,
    /// Its file.
    pub(crate) path: PathBuf,
    /// What it says of its version; empty: nothing.
    pub(crate) version: String,
}

/// What every trial has in common.
pub(crate) struct Bench<'a> {
    /// Where the tools' reports go.
    pub(crate) folder: &'a Path,
    /// The CPUs.
    pub(crate) cpus: Cpus,
    /// The script by which wrk pipelines.
    pub(crate) wrk_script: &'a Path,
}

/// What a trial found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figures {
    /// Answered requests.
    pub(crate) answered: u64,
    /// From the tool's start to its end.
    pub(crate) wall: Duration,
    /// The tool's CPU time in user space.
    pub(crate) user: Duration,
    /// The tool's CPU time in the kernel.
    pub(crate) system: Duration,
    /// The tool's largest resident set.
    pub(crate) peak_bytes: u64,
    /// The 99th percentile of the send lag, where the tool reports one.
    pub(crate) send_lag_p99_us: Option<f64>,
    /// nginx's CPU time.
    pub(crate) server: Duration,
    /// CPU time of the two CPUs that neither of them used.
    pub(crate) others: Duration,
    /// Time of the two CPUs that the hypervisor gave to others.
    pub(crate) stolen: Duration,
}

impl Figures {
    /// CPU time per answered request, in microseconds.
    pub(crate) fn cpu_us_per_answer(&self) -> f64 {
        (self.user + self.system).as_secs_f64() * 1e6 / self.answered as f64
    }

    /// Answered requests per second.
    pub(crate) fn answers_per_second(&self) -> f64 {
        self.answered as f64 / self.wall.as_secs_f64()
    }

    /// The share of the two CPUs' time that others used or that was stolen, 0 to 1.
    pub(crate) fn disturbance(&self) -> f64 {
        (self.others + self.stolen).as_secs_f64() / (2.0 * self.wall.as_secs_f64())
    }
}

/// A trial with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trial {
    /// The case.
    pub(crate) case: Case,
    /// The tool.
    pub(crate) tool: Tool,
    /// The block, from 1.
    pub(crate) block: u32,
    /// The place in the block's order, from 1.
    pub(crate) place: u32,
    /// What it found, or why it does not count.
    pub(crate) outcome: Result<Figures, String>,
}

/// Runs a tool once.
///
/// # Errors
///
/// Why the trial does not count: the tool or one of its requests failed, or it did something else than it was to do.
pub(crate) fn measure(
    bench: &Bench<'_>,
    nginx: &mut Nginx,
    program: &Program,
    load: &Load,
    seconds: u32,
) -> Result<Figures, String> {
    let url = nginx.next_url(load);
    let errand = Errand {
        load: *load,
        url: &url,
        seconds,
        wrk_script: bench.wrk_script,
    };
    let seen = nginx.seen()?;
    let (server, machine) = (nginx.cpu_time(), CpuTime::now(&bench.cpus));
    let ran = run(bench, program, &errand)?;
    let machine = CpuTime::now(&bench.cpus).since(machine);
    let server = nginx.cpu_time().saturating_sub(server);
    let seen = between(seen, nginx.seen()?);
    if let Some(failure) = ran.usage.failure() {
        return Err(format!("{failure}: {}", ran.last_words()));
    }
    let answers = answers::read(program.tool, &ran.report)?;
    check(load, seconds, &answers, seen)?;
    let (user, system) = (ran.usage.user, ran.usage.system);
    Ok(Figures {
        answered: answers.answered,
        wall: ran.wall,
        user,
        system,
        peak_bytes: ran.usage.peak_bytes,
        send_lag_p99_us: answers.send_lag_p99_us,
        server,
        others: machine.busy.saturating_sub(server + user + system),
        stolen: machine.stolen,
    })
}

/// How a tool's process went.
struct Ran {
    report: String,
    complaints: String,
    usage: Usage,
    wall: Duration,
}

impl Ran {
    /// The last line that it wrote, for why it failed.
    fn last_words(&self) -> &str {
        // Complaints first: a report ends with whatever its format ends with.
        let texts = [&self.complaints, &self.report].into_iter();
        let mut last = texts.filter_map(|text| text.trim_end().lines().next_back());
        last.next().map_or("it said nothing", str::trim)
    }
}

fn run(bench: &Bench<'_>, program: &Program, errand: &Errand<'_>) -> Result<Ran, String> {
    // Into files: nobody needs to read along, so xtask sleeps while the tool runs.
    let report = bench.folder.join("report");
    let complaints = bench.folder.join("complaints");
    let create =
        |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    let mut command = Command::new(&program.path);
    command
        .args(program.tool.arguments(errand))
        .current_dir(bench.folder)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(create(&report)?)
        .stderr(create(&complaints)?);
    let cpu = bench.cpus.generator;
    sys::confine(&mut command, cpu).map_err(|error| format!("CPU {cpu}: {error}"))?;
    let begun = Instant::now();
    let child = command
        .spawn()
        .map_err(|error| format!("starting {}: {error}", program.path.display()))?;
    let limit = Duration::from_secs(errand.seconds.into()) + PATIENCE;
    let waited = sys::wait_for(child.id(), limit);
    let wall = begun.elapsed();
    let (usage, killed) =
        waited.map_err(|error| format!("waiting for {}: {error}", program.path.display()))?;
    if killed {
        return Err(format!("it did not end within {limit:?} and was killed"));
    }
    let read = |path: &Path| fs::read(path).map(|text| String::from_utf8_lossy(&text).into_owned());
    Ok(Ran {
        report: read(&report).unwrap_or_default(),
        complaints: read(&complaints).unwrap_or_default(),
        usage,
        wall,
    })
}

/// What nginx counted between two looks, without the second look itself.
fn between(before: Seen, after: Seen) -> Seen {
    Seen {
        accepted: after.accepted.saturating_sub(before.accepted + 1),
        requests: after.requests.saturating_sub(before.requests + 1),
    }
}

/// Whether a tool did what it was to do, by what nginx saw: the tools are not asked.
fn check(load: &Load, seconds: u32, answers: &Answers, seen: Seen) -> Result<(), String> {
    let Answers { answered, .. } = *answers;
    let connections = u64::from(load.connections);
    if answered == 0 {
        return Err("not one request was answered".to_owned());
    }
    if answered < connections {
        return Err(format!(
            "{answered} answers on {connections} connections: its time was up before it had begun"
        ));
    }
    if answered > seen.requests {
        return Err(format!(
            "it counts {answered} answers, and nginx had {} requests",
            seen.requests
        ));
    }
    // What is under way at the end is nobody's; and an answer that comes after a tool's last look is not counted.
    let under_way = connections * u64::from(load.depth) + seen.requests / 100;
    if seen.requests - answered > under_way {
        return Err(format!(
            "nginx had {} requests, and it counts {answered} answers",
            seen.requests
        ));
    }
    check_connections(load, answered, seen.accepted)?;
    let offered = load.rate.map(|rate| f64::from(rate) * f64::from(seconds));
    match offered {
        Some(offered) if (answered as f64) < HELD_RATE * offered => Err(format!(
            "it did not hold the rate: {answered} answers of {offered} requests"
        )),
        _ => Ok(()),
    }
}

/// Keep-alive means as many connections as were asked for, or some more (wrk looks whether anybody is there; Go's client
/// makes a connection while it waits for one to become free), and no keep-alive means one per request.
fn check_connections(load: &Load, answered: u64, accepted: u64) -> Result<(), String> {
    let connections = u64::from(load.connections);
    let (least, most) = match (load.keep_alive, load.rate) {
        (false, _) => (answered, answered + answered / 100 + 2 * connections),
        // An open loop may do with fewer.
        (true, Some(_)) => (1, 2 * connections),
        (true, None) => (connections, 2 * connections),
    };
    if (least..=most).contains(&accepted) {
        return Ok(());
    }
    Err(format!(
        "it made {accepted} connections for {answered} answers; {least} to {most} were right"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(case: Case, answered: u64, requests: u64, accepted: u64) -> Result<(), String> {
        let answers = Answers {
            answered,
            send_lag_p99_us: None,
        };
        check(&case.load(), 3, &answers, Seen { accepted, requests })
    }

    #[test]
    fn a_tool_that_did_its_errand_counts() {
        // As wrk, with one connection more to see whether anybody is there.
        assert_eq!(verdict(Case::Small, 175_415, 175_443, 51), Ok(()));
        assert_eq!(verdict(Case::Connect, 26_682, 26_731, 26_732), Ok(()));
        assert_eq!(verdict(Case::Pipeline, 900_000, 900_800, 50), Ok(()));
        assert_eq!(verdict(Case::Open, 59_990, 60_000, 80), Ok(()));
        assert_eq!(verdict(Case::Idle10k, 130_000, 140_000, 10_000), Ok(()));
    }

    #[test]
    fn a_tool_that_did_something_else_does_not() {
        for (case, answered, requests, accepted, why) in [
            (Case::Small, 0, 0, 50, "not one"),
            (
                Case::Small,
                1_001,
                1_000,
                50,
                "counts 1001 answers, and nginx",
            ),
            (Case::Small, 900, 1_000, 50, "nginx had 1000 requests"),
            (Case::Small, 1_000, 1_000, 1_000, "made 1000 connections"),
            (Case::Small, 1_000, 1_000, 49, "made 49 connections"),
            (Case::Small, 49, 60, 50, "49 answers on 50 connections"),
            (Case::Connect, 1_000, 1_000, 50, "made 50 connections"),
            (Case::Open, 58_000, 58_000, 100, "did not hold the rate"),
            (Case::Idle10k, 100_000, 100_000, 9_000, "made 9000"),
        ] {
            let error = verdict(case, answered, requests, accepted).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn the_question_itself_is_not_counted() {
        let look = |accepted, requests| Seen { accepted, requests };
        assert_eq!(between(look(4, 4), look(56, 175_448)), look(51, 175_443));
    }

    #[test]
    fn figures_are_per_answer() {
        let figures = Figures {
            answered: 1_000,
            wall: Duration::from_secs(2),
            user: Duration::from_millis(2),
            system: Duration::from_millis(3),
            peak_bytes: 1,
            send_lag_p99_us: None,
            server: Duration::ZERO,
            others: Duration::from_millis(300),
            stolen: Duration::from_millis(100),
        };
        assert!((figures.cpu_us_per_answer() - 5.0).abs() < 1e-9);
        assert!((figures.answers_per_second() - 500.0).abs() < 1e-9);
        assert!((figures.disturbance() - 0.1).abs() < 1e-9);
    }
}
