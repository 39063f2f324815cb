//! Reads a session back from its files. A heat is there as a whole or not at all, wherever a kill cut the journal off.

use std::path::Path;

use deadheat_model::heats::{
    JournalEntry, MeasuredHeat, Plan, PlannedLoad, Resumption, SCHEMA, SessionHeader, SessionRecord,
};

use super::journal::{HEADER_FILE, Journal, JournalError, read_entries_of, read_header_as};

/// The heats' file name.
pub const HEATS_FILE: &str = "heats.jsonl";

/// Reads a session. Skips an unfinished last line and a heat without its rounds, which a kill leaves.
///
/// # Errors
/// When a file is missing, is not what a session of heats writes, or is of another version.
pub fn read_session(folder: &Path) -> Result<SessionRecord, JournalError> {
    let header = read_header(folder)?;
    let mut boot = header.boot.clone();
    let mut record = SessionRecord {
        header,
        heats: Vec::new(),
        resumed: Vec::new(),
        end: None,
    };
    let mut entries: Vec<JournalEntry> = read_entries_of(folder, HEATS_FILE)?;
    entries.truncate(whole(&entries, &record.header.plan));
    for entry in entries {
        match entry {
            JournalEntry::Heat(part) => {
                let place = place_of(&part, &record);
                record.heats.insert(place, *part);
            }
            JournalEntry::Resumed {
                at,
                boot: now,
                findings,
                live,
                ..
            } => {
                record.end = None;
                record.resumed.push(Resumption {
                    at,
                    rebooted: boot.is_some() && now.is_some() && boot != now,
                    heats_before: record.begun() as usize,
                    findings,
                    live,
                });
                boot = now;
            }
            JournalEntry::End { reason, .. } => record.end = Some(reason),
        }
    }
    record.check().map_err(|error| JournalError::Malformed {
        path: folder.join(HEATS_FILE),
        line: 1,
        reason: error.to_string(),
    })?;
    Ok(record)
}

/// Reads the header of a session.
///
/// # Errors
/// When it is missing, or is not what a session writes, or is of another version.
pub fn read_header(folder: &Path) -> Result<SessionHeader, JournalError> {
    read_header_as(folder, HEADER_FILE, SCHEMA)
}

/// Removes the end that a kill leaves in the journal of the session in `folder`: an unfinished last line, and the lines of
/// a heat without the one of its rounds.
///
/// # Errors
/// When a file cannot be read, or the journal not be truncated.
pub(super) fn cut_unfinished_heat(
    folder: &Path,
    journal: &mut Journal,
) -> Result<(), JournalError> {
    journal.cut_unfinished_line()?;
    let header = read_header(folder)?;
    let entries: Vec<JournalEntry> = read_entries_of(folder, HEATS_FILE)?;
    for _ in whole(&entries, &header.plan)..entries.len() {
        journal.cut_last_line()?;
    }
    Ok(())
}

/// The number of entries without a last heat that a kill cut off. A heat has a line for its rounds and one for each rate
/// of equal work. That of the rounds is written last.
fn whole(entries: &[JournalEntry], plan: &Plan) -> usize {
    let heats = entries.iter().rev().map_while(|entry| match entry {
        JournalEntry::Heat(heat) => Some(heat),
        JournalEntry::Resumed { .. } | JournalEntry::End { .. } => None,
    });
    let number = heats.clone().next().map(|last| last.heat.heat);
    let own = heats.take_while(|one| Some(one.heat.heat) == number);
    if own.clone().any(|one| is_of_rounds(one, plan)) {
        entries.len()
    } else {
        entries.len() - own.count()
    }
}

/// The place of a further part in the record. The rounds are the last line of their heat, and come before its equal work.
fn place_of(part: &MeasuredHeat, record: &SessionRecord) -> usize {
    let plan = &record.header.plan;
    let before = record.heats.len();
    if !is_of_rounds(part, plan) {
        return before;
    }
    let parts = record.heats.iter().rev();
    let own = parts.take_while(|one| one.heat.heat == part.heat.heat);
    before - own.take_while(|one| !is_of_rounds(one, plan)).count()
}

/// Whether this is the part of a heat with its rounds, and not one with equal work.
fn is_of_rounds(part: &MeasuredHeat, plan: &Plan) -> bool {
    let load = plan.loads.get(part.load as usize);
    load.is_none_or(PlannedLoad::leads)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use deadheat_model::{
        HeatRecord,
        workload::{OfferedRate, OpenLoad},
    };

    use super::*;
    use crate::session::fixtures;

    /// The entries of two heats with equal work, as they are written, in the folder of a session without any.
    fn two_heats(folder: &Path) -> Vec<[JournalEntry; 2]> {
        let closed = fixtures::load(&["a"]);
        let mut at_rate = closed.clone();
        at_rate.point.open = Some(OpenLoad {
            capacity_of: closed.point.id.clone(),
            rate: OfferedRate::PerSecond(100),
        });
        let header = fixtures::record(vec![closed, at_rate]).header;
        let journal = Journal::claim_as(folder, HEATS_FILE).unwrap();
        journal.begin_as(HEADER_FILE, &header).unwrap();
        let part = |number, load| {
            let heat = HeatRecord {
                heat: number,
                ..fixtures::heat(&["a"], &[[100]])
            };
            JournalEntry::Heat(Box::new(MeasuredHeat { load, heat }))
        };
        (0..2)
            .map(|number| [part(number, 1), part(number, 0)])
            .collect()
    }

    fn loads(folder: &Path) -> Vec<u32> {
        let record = read_session(folder).unwrap();
        record.heats.iter().map(|part| part.load).collect()
    }

    #[test]
    fn a_heat_that_was_cut_between_its_lines_is_no_heat() {
        let folder = tempfile::tempdir().unwrap();
        let heats = two_heats(folder.path());
        let path = folder.path().join(HEATS_FILE);
        let mut journal = Journal::reopen_as(folder.path(), HEATS_FILE).unwrap();
        for heat in &heats {
            journal.append(heat).unwrap();
        }
        drop(journal);
        let text = fs::read(&path).unwrap();
        let ends: Vec<usize> = (1..=text.len())
            .filter(|end| text[end - 1] == b'\n')
            .collect();
        assert_eq!(ends.len(), 4);
        for cut in (0..text.len()).step_by(97).chain(ends.iter().copied()) {
            fs::write(&path, &text[..cut]).unwrap();
            let left = [ends[3], ends[1], 0];
            let left = left.into_iter().find(|end| *end <= cut).unwrap();
            let heats = ends.iter().filter(|end| **end <= left).count() / 2;
            assert_eq!(
                loads(folder.path()),
                [0_u32, 1].repeat(heats),
                "cut at {cut}"
            );
            let mut journal = Journal::reopen_as(folder.path(), HEATS_FILE).unwrap();
            cut_unfinished_heat(folder.path(), &mut journal).unwrap();
            assert_eq!(fs::read(&path).unwrap(), text[..left], "cut at {cut}");
        }
    }

    #[test]
    fn a_journal_with_the_rounds_of_a_heat_first_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let heats = two_heats(folder.path());
        let mut journal = Journal::reopen_as(folder.path(), HEATS_FILE).unwrap();
        let entries: Vec<&JournalEntry> = heats.iter().flat_map(|heat| heat.iter().rev()).collect();
        for (count, entry) in (1..).zip(entries) {
            journal.append([entry]).unwrap();
            cut_unfinished_heat(folder.path(), &mut journal).unwrap();
            assert_eq!(loads(folder.path()), [0_u32, 1, 0, 1][..count]);
        }
    }

    #[test]
    fn a_session_of_another_version_is_refused_with_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(HEADER_FILE), "{\"schema\": 2}").unwrap();
        let error = read_session(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("has format 2, this deadheat reads 3; use the deadheat that wrote it"),
            "{error}"
        );
    }
}
