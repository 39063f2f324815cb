//! What the site says of its sessions. Every figure and verdict is one of a session's report, of `deadheat compare`, or of
//! `deadheat history`.

pub mod comparison;
pub mod session;
pub mod types;

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::{TargetId, change::Change, heats::SessionRecord, machine::Machine};
use deadheat_stats::{
    heats::{Ranking, pairs::RankedPair},
    interval::log_mean,
    standings::{LoadStandings, NullServerRatio, Standings, relative_to_null_server, standings},
};

use self::{
    comparison::concerns,
    session::{is_same_kind, machine_key, machine_words},
    types::{
        Ends, IndexedSession, IndexedStack, SiteComparison, SiteIndex, SitePairs, SitePoint,
        SiteSeries, SiteSession, SiteStep, SiteTimeline, StepVerdict, rounded,
    },
};
use crate::history::analysis::History;

/// The level of a figure's own interval.
const LEVEL: f64 = 0.95;

/// The sessions of the site so far.
#[derive(Default)]
pub struct Site {
    history: History,
    sessions: Vec<IndexedSession>,
    /// The folder of the kind of machine of each session.
    machines: Vec<String>,
    /// A machine of each kind, with the folder.
    kinds: Vec<(Machine, String)>,
    /// The names of loads.
    loads: BTreeSet<String>,
    /// The loads of each session.
    loads_of: Vec<Vec<String>>,
    /// The files of each stack.
    stacks: BTreeMap<TargetId, String>,
    /// Names of files and folders that are taken.
    taken: BTreeSet<String>,
    /// The latest session with figures of a stack at a load of a machine.
    latest: BTreeMap<Series, usize>,
    comparisons: BTreeMap<[usize; 2], SiteComparison>,
    points: BTreeMap<(TargetId, String, usize), Figures>,
}

/// A kind of machine, a stack and a load.
type Series = (String, TargetId, String);

/// The figures of a stack at a load in a session.
#[derive(Clone, Default)]
struct Figures {
    per_second: Option<Ends>,
    of_null_server: Option<Ends>,
    /// Relative to each other stack of its table.
    of_others: BTreeMap<TargetId, Ends>,
    /// The session before on the same kind of machine.
    since: Option<usize>,
}

/// A session that was added.
pub struct AddedSession {
    /// Its place.
    pub place: usize,
    /// The data of its pages.
    pub session: SiteSession,
    /// Its pairs, for each load.
    pub pairs: Vec<SitePairs>,
    /// The places of sessions that it is to be compared with ([`Site::compare`]).
    pub compared_with: BTreeSet<usize>,
}

impl Site {
    /// Adds the next session, with the names of the files of its records. Sessions are added in the order of their
    /// time.
    pub fn add(&mut self, record: &SessionRecord, records: Vec<String>) -> AddedSession {
        let place = self.sessions.len();
        let found = standings(record);
        self.history.add_with(record, &found, |_, _| true);
        let machine = self.machine(&record.header.machine);
        let mut compared_with = BTreeSet::new();
        for (index, load) in found
            .loads
            .iter()
            .enumerate()
            .filter(|(_, load)| load.leads())
        {
            for (target, mut figures) in figures(record, index, load) {
                let series = (machine.clone(), target.clone(), load.name());
                figures.since = self.latest.insert(series, place);
                compared_with.extend(figures.since);
                self.points.insert((target, load.name(), place), figures);
            }
        }
        let session = session::session(record, &found);
        for stack in &session.stacks {
            if !self.stacks.contains_key(&stack.target) {
                let file = self.free_name(&file_name(&stack.target.file_stem()));
                self.stacks.insert(stack.target.clone(), file);
            }
        }
        let folder = format!("{machine}/{}", file_name(&record.header.id));
        let folder = self.free_name(&folder);
        let measured = measured(&found);
        let targets = record.header.targets.iter();
        let absent = targets.filter(|one| !measured.contains(&one.target));
        self.sessions.push(IndexedSession {
            id: session.id.clone(),
            started: session.started.clone(),
            folder,
            machine: machine_words(&record.header.machine),
            stacks: measured.len(),
            absent: absent.count(),
            loads: Vec::new(),
            records,
        });
        let loads: Vec<String> = session.loads.iter().map(|load| load.name.clone()).collect();
        self.loads.extend(loads.iter().cloned());
        self.loads_of.push(loads);
        self.machines.push(machine);
        AddedSession {
            place,
            pairs: session::pairs(record, &found),
            session,
            compared_with,
        }
    }

    /// Whether a session of this kind of machine with this id and start is there already.
    pub fn has(&self, record: &SessionRecord) -> bool {
        let header = &record.header;
        let kind = self.kind(&header.machine);
        let mut sessions = self.sessions.iter().zip(&self.machines);
        sessions.any(|(one, machine)| {
            let is_it = one.id == header.id && one.started == header.started;
            is_it && kind == Some(machine)
        })
    }

    /// The folder of this kind of machine, if a session of it is there.
    fn kind(&self, machine: &Machine) -> Option<&String> {
        let mut kinds = self.kinds.iter();
        let found = kinds.find(|(one, _)| is_same_kind(one, machine));
        found.map(|(_, folder)| folder)
    }

    /// The folder of this kind of machine.
    fn machine(&mut self, machine: &Machine) -> String {
        if let Some(folder) = self.kind(machine) {
            return folder.clone();
        }
        let folder = self.free_name(&file_name(&machine_key(machine)));
        self.kinds.push((machine.clone(), folder.clone()));
        folder
    }

    /// The name of a stack's files, without ending.
    pub fn file(&self, target: &TargetId) -> &str {
        self.stacks.get(target).map_or("-", String::as_str)
    }

    /// The folder of the session at this place, relative to `data` and `records`.
    pub fn folder(&self, place: usize) -> &str {
        &self.sessions[place].folder
    }

    /// The number of sessions.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there are no sessions.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Compares the session at the place `b` with the older one at `a`.
    pub fn compare(&mut self, a: (usize, &SessionRecord), b: (usize, &SessionRecord)) {
        let found = comparison::comparison(a.1, b.1);
        self.comparisons.insert([a.0, b.0], found);
    }

    /// The places of sessions with which a later one may still have to be compared.
    pub fn needed(&self) -> BTreeSet<usize> {
        self.latest.values().copied().collect()
    }

    /// The newest session with figures of each kind of machine, with the older ones that it is not compared with yet.
    pub fn not_compared_with_newest(&self) -> Vec<(usize, Vec<usize>)> {
        let newest: BTreeMap<&String, usize> = self
            .machines
            .iter()
            .enumerate()
            .filter(|(place, _)| self.sessions[*place].stacks > 0)
            .map(|(place, machine)| (machine, place))
            .collect();
        let older = |(machine, newest): (&String, usize)| {
            let older = (0..newest).filter(|place| {
                self.machines[*place] == *machine
                    && !self.comparisons.contains_key(&[*place, newest])
            });
            (newest, older.collect())
        };
        newest.into_iter().map(older).collect()
    }

    /// The index, with timelines relative to this stack, or to the one that was measured most often.
    pub fn index(&self, reference: Option<&TargetId>) -> SiteIndex {
        let loads: Vec<String> = self.loads.iter().cloned().collect();
        let sessions = self.sessions.iter().zip(&self.loads_of);
        let sessions = sessions.map(|(session, own)| {
            let place = |name: &String| loads.iter().position(|one| one == name);
            IndexedSession {
                loads: own.iter().filter_map(place).collect(),
                ..session.clone()
            }
        });
        let stacks = self.stacks.iter().map(|(target, file)| IndexedStack {
            target: target.clone(),
            file: file.clone(),
        });
        SiteIndex {
            sessions: sessions.collect(),
            stacks: stacks.collect(),
            reference: reference.cloned().or_else(|| self.most_measured()),
            comparisons: self.comparisons.keys().copied().collect(),
            loads,
        }
    }

    /// The comparisons of sessions.
    pub fn comparisons(&self) -> impl Iterator<Item = (&[usize; 2], &SiteComparison)> {
        self.comparisons.iter()
    }

    /// The stack with the most figures; the first by name of several.
    fn most_measured(&self) -> Option<TargetId> {
        let mut counts: BTreeMap<&TargetId, usize> = BTreeMap::new();
        for (target, ..) in self.points.keys() {
            *counts.entry(target).or_default() += 1;
        }
        let most = counts.values().copied().max()?;
        let mut counts = counts.into_iter();
        counts
            .find(|(_, count)| *count == most)
            .map(|(target, _)| target.clone())
    }

    /// Every stack over time, relative to the reference stack where they met.
    pub fn timelines(&self, reference: Option<&TargetId>) -> Vec<SiteTimeline> {
        let timeline = |target: &TargetId| {
            let series = self.history.series.iter();
            let own = series.filter(|series| series.target == *target && series.point.is_closed());
            let series = own.map(|series| {
                let load = format!("{}:{}", series.workload, series.point.id);
                let point = |point| self.point(target, &load, point, reference);
                SiteSeries {
                    points: series.points.iter().map(point).collect(),
                    load,
                }
            });
            SiteTimeline {
                target: target.clone(),
                series: series.collect(),
            }
        };
        self.stacks.keys().map(timeline).collect()
    }

    fn point(
        &self,
        target: &TargetId,
        load: &str,
        point: &crate::history::analysis::SeriesPoint,
        reference: Option<&TargetId>,
    ) -> SitePoint {
        let key = (target.clone(), load.to_owned(), point.session);
        let figures = self.points.get(&key).cloned().unwrap_or_default();
        // A step is against the session before on the same kind of machine, so its reasons are those since that one.
        let compared = figures.since.map(|since| [since, point.session]);
        let compared = compared.and_then(|sessions| self.comparisons.get(&sessions));
        let changes: Vec<&Change> = match compared {
            Some(found) => found.conditions.iter().chain(&found.differences).collect(),
            None => point.changes.iter().collect(),
        };
        let rank = point
            .row
            .as_ref()
            .and_then(|row| row.throughput_per_second.rank);
        SitePoint {
            session: point.session,
            per_second: figures.per_second,
            of_null_server: figures.of_null_server,
            of_reference: match reference {
                Some(reference) if reference == target => {
                    figures.per_second.map(|_| Ends(1.0, None, None))
                }
                Some(reference) => figures.of_others.get(reference).copied(),
                None => None,
            },
            rank: rank.map(|rank| (rank.best, rank.worst, point.ranked)),
            is_bound: point
                .row
                .as_ref()
                .is_some_and(|row| row.throughput_per_second.is_bound),
            absent: point.absent.as_ref().map(|absent| absent.reason.clone()),
            step: figures
                .since
                .and_then(|since| self.step(target, load, [since, point.session])),
            changes: changes
                .into_iter()
                .filter(|one| concerns(one, target, load))
                .cloned()
                .collect(),
        }
    }

    /// What a comparison of two sessions says of a stack at a load.
    fn step(&self, target: &TargetId, load: &str, sessions: [usize; 2]) -> Option<SiteStep> {
        let found = self.comparisons.get(&sessions)?;
        let is_it =
            |stack: usize, at: usize| found.stacks[stack] == *target && found.loads[at] == load;
        let mut cells = found.cells.iter();
        let cell = cells.find(|cell| is_it(cell.stack, cell.load));
        let mut others = found.not_compared.iter();
        let other = others.find(|one| one.target == *target && one.load == load);
        let conditions = found.conditions.iter();
        let conditions = conditions.filter(|one| concerns(one, target, load));
        let warnings = found.load_warnings.iter().filter(|(of, _)| of == load);
        Some(SiteStep {
            since: sessions[0],
            verdict: cell.map_or(StepVerdict::NotCompared, |cell| cell.verdict),
            ratio: cell.and_then(|cell| Some(cell.ratios.first()?.ratio)),
            because: other
                .map(|one| one.reason.clone())
                .or_else(|| comparison::conditions_in_words(conditions)),
            warnings: warnings.map(|(_, warning)| warning.clone()).collect(),
        })
    }

    /// This name, or one with a number behind it if another file has it.
    fn free_name(&mut self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut names = [name.to_owned()].into_iter().chain(numbered);
        let free = names
            .find(|name| !self.taken.contains(name))
            .unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }
}

/// The stacks of a session that have a figure.
fn measured(found: &Standings) -> BTreeSet<&TargetId> {
    let tables = found.loads.iter().flat_map(|load| &load.tables);
    tables
        .flat_map(|table| &table.rows)
        .map(|row| &row.target)
        .collect()
}

/// The figures of each stack at a closed loop.
fn figures(record: &SessionRecord, index: usize, load: &LoadStandings) -> Vec<(TargetId, Figures)> {
    let null_server = relative_to_null_server(record, index);
    let tables = load.tables.iter();
    let rows = tables.flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let figures = |(table, row): (
        &deadheat_stats::standings::Table,
        &deadheat_stats::standings::Row,
    )| {
        let series: Vec<f64> = row.series.iter().map(|heat| heat.per_second).collect();
        let mean = log_mean(&series, LEVEL);
        let own = Figures {
            per_second: mean.map(|mean| {
                let end = |of: fn(deadheat_stats::interval::Interval) -> f64| {
                    mean.interval.map(of).map(rounded)
                };
                Ends(rounded(mean.mean), end(|one| one.low), end(|one| one.high))
            }),
            of_null_server: null_server.get(&row.target).map(of_null_server),
            of_others: of_others(&table.ranking, row.member, &load.members),
            since: None,
        };
        (row.target.clone(), own)
    };
    rows.map(figures).collect()
}

fn of_null_server(ratio: &NullServerRatio) -> Ends {
    Ends(
        rounded(ratio.ratio),
        Some(rounded(ratio.low)),
        Some(rounded(ratio.high)),
    )
}

/// How many times as fast a member is as each other of its ranking, with the interval of the pair alone.
fn of_others(ranking: &Ranking, member: usize, names: &[TargetId]) -> BTreeMap<TargetId, Ends> {
    let finite = |end: f64| (end > 0.0 && end.is_finite()).then(|| rounded(end));
    let ends = |pair: &RankedPair| {
        let (ratio, interval) = (pair.ratio?, pair.alone?.interval);
        let (other, ratio, low, high) = match (pair.better, pair.worse) {
            (better, worse) if better == member => (worse, ratio, interval.low, interval.high),
            (better, worse) if worse == member => {
                (better, 1.0 / ratio, 1.0 / interval.high, 1.0 / interval.low)
            }
            _ => return None,
        };
        Some((
            names.get(other)?.clone(),
            Ends(rounded(ratio), finite(low), finite(high)),
        ))
    };
    ranking.pairs.iter().filter_map(ends).collect()
}

/// Letters of a file's name at most.
const LONGEST_NAME: usize = 80;

/// A name that is safe in paths and URLs.
pub(super) fn file_name(name: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.@".contains(letter);
    let name: String = name
        .chars()
        .map(|one| if fits(one) { one } else { '-' })
        .take(LONGEST_NAME)
        .collect();
    match name.trim_start_matches('.') {
        "" => "-".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_have_no_path_to_elsewhere() {
        assert_eq!(file_name("../../etc"), "-..-etc");
        assert_eq!(file_name("AMD EPYC (tm)"), "AMD-EPYC--tm-");
        assert_eq!(file_name(&"x".repeat(300)).len(), LONGEST_NAME);
        let mut site = Site::default();
        let names = ["a b", "a:b"].map(|name| site.free_name(&file_name(name)));
        assert_eq!(names, ["a-b", "a-b-2"]);
    }
}
