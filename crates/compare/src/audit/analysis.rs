//! Audits published results: each check is a function of the imported figures.

mod checks;
mod doubts;
mod figures;

use std::collections::{BTreeSet, HashMap};

use deadheat_import::error_share;
use deadheat_model::{
    Warning,
    figure::{setting, short_percent},
    imported::{ImportedReports, LeftOut, Run},
    load::Reuse,
};
use schemars::JsonSchema;
use serde::Serialize;

/// The assumed spread between two runs of one server if no figure was repeated: the margin of a dead heat.
pub const USUAL_SPREAD: f64 = 0.03;
/// The minimum number of repeated figures for an estimate of the spread.
const MIN_REPEATS: usize = 10;
/// The 95th percentile of a normal distribution's absolute values over their median (1.960 / 0.6745). The spread is
/// made of the median, because servers that were changed between two files move the 95th percentile itself.
const P95_OF_MEDIAN: f64 = 2.906;

/// Facts that the user states because the files do not have them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assumptions {
    /// The spread between two runs of one server, as a share.
    pub spread: Option<f64>,
    /// CPUs that each server could use.
    pub cpus: Option<u32>,
}

/// How much of published results is proven.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Audit {
    /// The suites or tools by name.
    pub tools: Vec<&'static str>,
    /// Places in all tests: a server in a test is one.
    pub places: usize,
    /// Places whose rank among the sound places is proven: each other one is further away than the spread.
    pub proven: usize,
    /// Places without a finding against their figure, which are ranked.
    pub sound: usize,
    /// Sound places in tests with at least two of them: those that could have a proven rank.
    pub ranked: usize,
    /// The spread between two runs of one server.
    pub spread: Spread,
    /// What speaks against the figures, the gravest first; then what cannot be judged (level `routine`).
    pub findings: Vec<Warning>,
    /// The tests, in the order of the files.
    pub tests: Vec<Test>,
    /// Lines that were not read ("FILE:LINE: REASON").
    pub not_read: Vec<String>,
}

/// How far two runs of one server are apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Rates that differ by this share or less are not told apart.
    pub share: f64,
    /// Where it is from.
    pub source: SpreadSource,
    /// Repeated figures: pairs of runs of one server in one test, one after the other.
    pub repeats: usize,
    /// The median difference of these pairs, as a share. The spread is 2.906 times this, which 95 % of normally
    /// distributed differences do not exceed.
    pub median: Option<f64>,
    /// The 95th percentile of these pairs, which also has the servers that were changed between them.
    pub p95: Option<f64>,
}

impl Spread {
    /// The share in percent, with as many digits as it has.
    pub fn shown(&self) -> String {
        match self.source {
            SpreadSource::Repeats | SpreadSource::Largest if !self.is_least() => {
                short_percent(self.share)
            }
            _ => setting(self.share),
        }
    }

    /// Whether the repeated figures are too few for a median and differ by less than the usual 3 %, which is assumed then.
    pub fn is_least(&self) -> bool {
        let is_more = self.p95.is_some_and(|largest| largest < self.share);
        self.source == SpreadSource::Largest && is_more
    }
}

/// Where the spread is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpreadSource {
    /// The median of repeated figures.
    Repeats,
    /// The option `--spread`.
    Option,
    /// The largest difference of repeated figures that are too few for a median, and the usual 3 % at least.
    Largest,
    /// The usual 3 %, because no figure was repeated.
    Assumed,
}

/// Places that were asked for the same under the same load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Sound places, if there are at least two; else 0.
    pub ranked: usize,
    /// Places whose rank is proven.
    pub proven: usize,
    /// The places, those without a finding against their figure first, then by their rate.
    pub places: Vec<Place>,
}

/// A server in a test.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Place {
    /// The server.
    pub name: String,
    /// Its runs in the files; equal figures in two files are one run.
    pub runs: usize,
    /// Requests per second: of a suite, those of the latest run; else the mean of the usable runs.
    pub requests_per_second: Option<f64>,
    /// The rates of these runs.
    pub run_rates: Option<RunRates>,
    /// The ranks that it may have within the spread, among the sound places; `None` if a finding is against its figure.
    pub ranks: Option<Ranks>,
    /// Rate × mean time ÷ requests that fit on the connections: the share of them that was in progress, as the mean over
    /// these runs.
    pub in_progress: Option<f64>,
    /// CPUs that the server used.
    pub server_cpus: Option<f64>,
    /// Requests without a right answer, as a share: the largest of the runs behind the rate.
    pub errors: Option<f64>,
    /// Findings against this figure, by their ids.
    pub caveats: Vec<&'static str>,
    /// Whether its rank is proven.
    pub is_proven: bool,
}

impl Place {
    /// Whether no finding is against its figure.
    pub fn is_sound(&self) -> bool {
        self.caveats.is_empty()
    }
}

/// The rates of a place's runs, in requests per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunRates {
    /// That of the slowest run.
    pub lowest: f64,
    /// That of the fastest run.
    pub highest: f64,
}

/// The ranks that a place may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ranks {
    /// The best.
    pub best: usize,
    /// The worst.
    pub worst: usize,
}

/// The runs of a server in a test.
struct Server<'a> {
    name: String,
    runs: Vec<&'a Run>,
}

impl<'a> Server<'a> {
    /// The latest run, by the order of the files.
    fn latest(&self) -> &'a Run {
        self.runs[self.runs.len() - 1]
    }

    /// The runs that its figure is based on. A suite's earlier files measured earlier versions of the servers.
    fn counted(&self) -> &[&'a Run] {
        let is_suite = self.latest().tool.is_suite();
        let first = if is_suite { self.runs.len() - 1 } else { 0 };
        &self.runs[first..]
    }

    /// The mean rate of the runs that count.
    fn rate(&self) -> Option<f64> {
        let rates: Vec<f64> = rates(self.counted()).collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    }

    /// The lowest and the highest rate of the runs that count.
    fn run_rates(&self) -> Option<RunRates> {
        let lowest = rates(self.counted()).reduce(f64::min)?;
        let highest = rates(self.counted()).reduce(f64::max)?;
        Some(RunRates { lowest, highest })
    }

    /// How much a suite's latest figure differs from the one before.
    fn change(&self) -> Option<f64> {
        let rates: Vec<f64> = rates(&self.runs).collect();
        match rates.as_slice() {
            [.., before, latest] if self.latest().tool.is_suite() => {
                Some(distance(*before, *latest))
            }
            _ => None,
        }
    }

    /// Differences between a run and the next one. Equal figures are one run.
    fn differences(&self) -> Vec<f64> {
        let rates: Vec<f64> = rates(&self.runs).collect();
        let pairs = rates.windows(2).map(|two| distance(two[0], two[1]));
        pairs.filter(|difference| *difference > 0.0).collect()
    }

    /// Whether a suite's file has the server twice.
    fn is_twice(&self) -> bool {
        let files = self.runs.windows(2);
        let mut files = files.map(|two| two[0].place.file == two[1].place.file);
        self.latest().tool.is_suite() && files.any(|is_same| is_same)
    }
}

/// The usable rates of these runs.
fn rates(runs: &[&Run]) -> impl Iterator<Item = f64> {
    runs.iter().filter_map(|run| run.valid_rate())
}

/// The servers of a test.
struct Servers<'a> {
    test: String,
    servers: Vec<Server<'a>>,
    /// The last file with this test.
    last_file: &'a str,
}

impl<'a> Servers<'a> {
    /// The servers that have a place: of a suite, those of the last file. Earlier files only show the spread.
    fn placed(&self) -> impl Iterator<Item = &Server<'a>> {
        self.servers.iter().filter(|server| {
            let run = server.latest();
            !run.tool.is_suite() || run.place.file == self.last_file
        })
    }
}

/// Audits imported figures.
pub fn audit(imported: &ImportedReports, assumptions: Assumptions) -> Audit {
    let grouped = grouped(&imported.runs);
    let spread = spread(&grouped, assumptions.spread);
    let mut found = checks::AuditFindings::default();
    let mut tests = Vec::new();
    for servers in &grouped {
        let mut test = places(servers, assumptions.cpus, spread.share, &mut found);
        rank(&mut test, spread.share);
        tests.push(test);
    }
    let sum = |value: fn(&Test) -> usize| tests.iter().map(value).sum::<usize>();
    let (ranked, proven) = (sum(|test| test.ranked), sum(|test| test.proven));
    let places = sum(|test| test.places.len());
    let sound = sum(|test| test.places.iter().filter(|place| place.is_sound()).count());
    let findings = found.findings([ranked, proven], &spread, assumptions.cpus);
    let mut tools: Vec<&str> = imported.runs.iter().map(|run| run.tool.name()).collect();
    tools.sort_unstable();
    tools.dedup();
    Audit {
        tools,
        places,
        proven,
        sound,
        ranked,
        spread,
        findings,
        tests,
        not_read: imported.left_out.iter().filter_map(not_read).collect(),
    }
}

/// A line that was not read. Figures that a later file repeats are not among them: they were read.
fn not_read(left: &LeftOut) -> Option<String> {
    let place = &left.place;
    let is_copy = left.reason.starts_with("the same report");
    (!is_copy).then(|| format!("{}:{}: {}", place.file, place.line, left.reason))
}

/// The runs by test and server, in the order of the files.
fn grouped(runs: &[Run]) -> Vec<Servers<'_>> {
    let mut tests: Vec<Servers<'_>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut servers: HashMap<(usize, String), usize> = HashMap::new();
    // Where servers have no names, those of one file differ by what was loaded.
    let mut origins: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for run in runs {
        let of_file = origins.entry(&run.place.file).or_default();
        of_file.extend(run.target.as_deref().map(origin));
    }
    for run in runs {
        let test = test_name(run);
        // Within a suite, a test has one load.
        let load = (!run.tool.is_suite()).then(|| load_words(run));
        let key = format!("{:?} {test} {load:?}", run.tool);
        let index = *known.entry(key).or_insert(tests.len());
        if index == tests.len() {
            tests.push(Servers {
                test,
                servers: Vec::new(),
                last_file: "",
            });
        }
        tests[index].last_file = &run.place.file;
        let of_test = &mut tests[index].servers;
        let file = &run.place.file;
        let own = run.target.as_deref().map(origin);
        let own = own.filter(|_| origins[file.as_str()].len() > 1);
        let name = run.label.clone().unwrap_or_else(|| match own {
            Some(origin) => format!("{file}: {origin}"),
            None => file.clone(),
        });
        let server = *servers
            .entry((index, name.clone()))
            .or_insert(of_test.len());
        if server == of_test.len() {
            of_test.push(Server {
                name,
                runs: Vec::new(),
            });
        }
        of_test[server].runs.push(run);
    }
    tell_apart(&mut tests);
    tests
}

/// The parts of a run's load that are not in the name of its test. What is not recorded is as usual.
fn load_words(run: &Run) -> [String; 5] {
    let load = &run.load;
    [
        run.tool.name().to_owned(),
        match (load.rate, load.is_open) {
            (Some(rate), _) => format!("{rate} requests/s"),
            (None, true) => "open loop".to_owned(),
            (None, false) => "closed loop".to_owned(),
        },
        match load.http {
            Some(http) => format!("HTTP/{http}"),
            None => "HTTP version not recorded".to_owned(),
        },
        match load.reuse {
            Some(Reuse::PerRequest) => "new connections".to_owned(),
            Some(Reuse::KeepAlive) | None => "kept connections".to_owned(),
        },
        format!("{} at once on each", load.pipeline.unwrap_or(1)),
    ]
}

/// Adds to names that several tests have what differs between their loads.
fn tell_apart(tests: &mut [Servers<'_>]) {
    let mut of_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, test) in tests.iter().enumerate() {
        of_name.entry(test.test.clone()).or_default().push(index);
    }
    for indices in of_name.into_values() {
        let loads: Vec<[String; 5]> = indices
            .iter()
            .map(|index| load_words(tests[*index].servers[0].latest()))
            .collect();
        for (index, own) in indices.iter().zip(&loads) {
            for (at, word) in own.iter().enumerate() {
                if loads.iter().any(|load| load[at] != *word) {
                    tests[*index].test += &format!(", {word}");
                }
            }
        }
    }
}

/// The scheme, host and port of a URL.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    &url[..end]
}

/// The name of a run's test: a suite's own, or the heading or path with the number of connections. [`tell_apart`] adds
/// what else differs.
fn test_name(run: &Run) -> String {
    let path = run.target.as_deref().map(|target| {
        let path = &target[origin(target).len()..];
        if path.is_empty() { "/" } else { path }
    });
    let name = run.section.as_deref().or(path).unwrap_or(run.tool.name());
    match run.load.connections {
        Some(connections) if !run.tool.is_suite() => format!("{name}, {connections} connections"),
        _ => name.to_owned(),
    }
}

/// The spread between runs: as given, from repeated figures, or assumed.
fn spread(tests: &[Servers<'_>], given: Option<f64>) -> Spread {
    let servers = tests.iter().flat_map(|test| &test.servers);
    let mut differences: Vec<f64> = servers.flat_map(Server::differences).collect();
    differences.sort_by(f64::total_cmp);
    let (median, p95) = (quantile(&differences, 0.5), quantile(&differences, 0.95));
    let measured = median.filter(|_| differences.len() >= MIN_REPEATS);
    let measured = measured.map(|median| P95_OF_MEDIAN * median);
    let (share, source) = match (given, measured, differences.last()) {
        (Some(share), _, _) => (share, SpreadSource::Option),
        (None, Some(share), _) => (share, SpreadSource::Repeats),
        (None, None, Some(largest)) => (largest.max(USUAL_SPREAD), SpreadSource::Largest),
        (None, None, None) => (USUAL_SPREAD, SpreadSource::Assumed),
    };
    Spread {
        share,
        source,
        repeats: differences.len(),
        median,
        p95,
    }
}

/// The share by which the higher of two rates exceeds the lower.
fn distance(one: f64, other: f64) -> f64 {
    one.max(other) / one.min(other) - 1.0
}

/// The quantile of sorted values by nearest rank; `None` without values.
fn quantile(sorted: &[f64], level: f64) -> Option<f64> {
    let rank = (level * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// The places of a test, with the findings against each.
fn places(
    servers: &Servers<'_>,
    cpus: Option<u32>,
    spread: f64,
    found: &mut checks::AuditFindings,
) -> Test {
    let context = checks::Context::new(servers, cpus);
    let mut places: Vec<Place> = servers
        .placed()
        .map(|server| {
            let runs = server.counted();
            let errors = runs.iter().filter_map(|run| error_share(run));
            let mut place = Place {
                name: server.name.clone(),
                runs: server.runs.len(),
                requests_per_second: server.rate(),
                run_rates: server.run_rates(),
                ranks: None,
                in_progress: None,
                server_cpus: server.latest().figures.server_cpus,
                errors: errors.reduce(f64::max),
                caveats: Vec::new(),
                is_proven: false,
            };
            found.check(&servers.test, &mut place, runs, &context);
            let own = place.run_rates.map(|own| distance(own.lowest, own.highest));
            if let Some(own) = own.filter(|own| *own > spread) {
                found.fail(&servers.test, &place, "runs-differ", own);
            }
            if server.is_twice() {
                found.against(&servers.test, &mut place, "twice", 0.0);
            } else if let Some(change) = server.change().filter(|change| *change > spread) {
                found.against(&servers.test, &mut place, "changed", change);
            }
            place
        })
        .collect();
    let rate = |place: &Place| place.requests_per_second.unwrap_or(0.0);
    places.sort_by(|one, other| {
        let sound = other.is_sound().cmp(&one.is_sound());
        sound.then(rate(other).total_cmp(&rate(one)))
    });
    Test {
        name: servers.test.clone(),
        ranked: 0,
        proven: 0,
        places,
    }
}

/// Finds the ranks that each sound place may have among the sound ones, which come first. A place is faster than another
/// if its rate is higher by more than the spread, and its slowest run is faster than the fastest of the other.
fn rank(test: &mut Test, spread: f64) {
    let sound = test.places.iter().take_while(|place| place.is_sound());
    let rates: Vec<(f64, RunRates)> = sound
        .filter_map(|place| place.requests_per_second.zip(place.run_rates))
        .collect();
    let is_faster = |(rate, runs): &(f64, RunRates), (other, others): &(f64, RunRates)| {
        *rate > other * (1.0 + spread) && runs.lowest > others.highest
    };
    test.ranked = if rates.len() > 1 { rates.len() } else { 0 };
    for (place, own) in test.places.iter_mut().zip(&rates) {
        let faster = rates.iter().filter(|other| is_faster(other, own)).count();
        let slower = rates.iter().filter(|other| is_faster(own, other)).count();
        let (best, worst) = (faster + 1, rates.len() - slower);
        place.ranks = Some(Ranks { best, worst });
        place.is_proven = test.ranked > 0 && best == worst;
    }
    test.proven = test.places.iter().filter(|place| place.is_proven).count();
}

#[cfg(test)]
mod tests;
