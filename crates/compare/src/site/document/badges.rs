//! Badges for shields.io (https://shields.io/badges/endpoint-badge): a stack's rank at a load.

use std::collections::BTreeMap;

use deadheat_document::json::ReportError;
use deadheat_model::{
    TargetId,
    figure::{short_percent, some},
};
use deadheat_stats::standings::Measure;
use serde::Serialize;

use super::SiteFile;
use crate::site::analysis::{
    AddedSession, Site, file_name,
    types::{RankingPairs, SiteLoad, SiteSession, SiteTable},
};

/// Names that a badge has room for.
const NAMES: usize = 2;

/// The color of a badge without a rank.
const UNKNOWN: &str = "lightgrey";

/// A badge, as shields.io reads it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u32,
    label: String,
    message: String,
    color: &'static str,
}

/// The latest badge of each stack at each load. A session of one stack has nothing to rank it among, so it replaces no
/// badge of another session.
#[derive(Default)]
pub struct Badges(BTreeMap<String, Badge>);

impl Badges {
    /// Adds the badges of the next session.
    pub fn add(&mut self, site: &Site, added: &AddedSession) {
        let session = &added.session;
        let loads = session.loads.iter().zip(&added.pairs);
        for (load, pairs) in loads.filter(|(load, _)| load.measure == Measure::Throughput) {
            for (table, pairs) in load.tables.iter().zip(&pairs.tables) {
                self.add_table(site, session, load, (table, &pairs.main));
            }
            // A stack may have failed at other workloads alone.
            let rows = || load.tables.iter().flat_map(|table| &table.rows);
            let is_here =
                |target: &TargetId| rows().any(|row| session.stacks[row.stack].target == *target);
            let absent = session.absent.iter().chain(&load.absent);
            for absent in absent.filter(|absent| !is_here(&absent.target)) {
                let message = "not measured".to_owned();
                let path = path(site.file(&absent.target), &load.name);
                self.0.insert(path, badge(load, message, UNKNOWN));
            }
        }
    }

    fn add_table(
        &mut self,
        site: &Site,
        session: &SiteSession,
        load: &SiteLoad,
        (table, pairs): (&SiteTable, &RankingPairs),
    ) {
        for row in &table.rows {
            let equals = pairs.dead_heats(row.stack);
            let equals: Vec<String> = equals
                .map(|stack| session.stacks[stack].target.to_string())
                .collect();
            let equals = match &equals[..] {
                [] => String::new(),
                equals => format!(", dead heat with {}", some(equals, NAMES)),
            };
            let all = pairs.stacks.len();
            let doubt = load.copies_differ.map_or_else(String::new, |share| {
                format!(", copies of one stack differ by {}", short_percent(share))
            });
            let path = path(site.file(&session.stacks[row.stack].target), &load.name);
            let rank = row.per_second.and_then(|figure| figure.rank);
            let (message, color) = match rank.map(|rank| (rank.best, rank.worst)) {
                None => ("not ranked".to_owned(), UNKNOWN),
                Some(_) if all == 1 && self.0.contains_key(&path) => continue,
                Some(_) if all == 1 => ("one stack, not ranked".to_owned(), UNKNOWN),
                Some((1, worst)) if worst == all && equals.is_empty() => {
                    (format!("undecided, {all} stacks"), UNKNOWN)
                }
                Some((best, worst)) => {
                    let color = match (&doubt[..], best, worst) {
                        ("", 1, 1) => "brightgreen",
                        ("", _, _) => "blue",
                        _ => "yellow",
                    };
                    let range = if best == worst {
                        best.to_string()
                    } else {
                        format!("{best}–{worst}")
                    };
                    (format!("rank {range} of {all}{equals}{doubt}"), color)
                }
            };
            self.0.insert(path, badge(load, message, color));
        }
    }

    /// Their files.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn files(&self) -> Result<Vec<SiteFile>, ReportError> {
        let files = self
            .0
            .iter()
            .map(|(path, badge)| Ok(SiteFile::new(path, serde_json::to_string(badge)? + "\n")));
        files.collect()
    }
}

/// The path of the badge of a stack's file at a load.
pub(super) fn path(file: &str, load: &str) -> String {
    format!("badge/{file}/{}.json", file_name(load))
}

fn badge(load: &SiteLoad, message: String, color: &'static str) -> Badge {
    Badge {
        schema_version: 1,
        label: load.label.clone(),
        message,
        color,
    }
}

impl RankingPairs {
    /// The stacks that have a dead heat with this one, as verdicts that hold together say.
    fn dead_heats(&self, stack: usize) -> impl Iterator<Item = usize> {
        let places = 0..self.stacks.len();
        let pairs = places
            .flat_map(|better| (better + 1..self.stacks.len()).map(move |worse| (better, worse)));
        let equal = pairs
            .zip(self.verdicts_together.chars())
            .filter(|(_, verdict)| *verdict == 'D');
        equal.filter_map(move |((better, worse), _)| {
            let [better, worse] = [self.stacks[better], self.stacks[worse]];
            match stack {
                stack if stack == better => Some(worse),
                stack if stack == worse => Some(better),
                _ => None,
            }
        })
    }
}
