//! A session as its files have it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use deadheat_model::{
    heat::{HeatEnd, MemberRecord, Role},
    heats::{EndReason, JournalEntry, SessionRecord},
    session::{StackFailure, TargetRecord, TargetState},
};
use deadheat_runner::session::heats::{HEATS_FILE, read_session};
use deadheat_stats::standings::standings;
use serde_json::Value;

use super::{Root, flat, schema};

/// A session as its files have it.
pub struct Recorded {
    pub folder: PathBuf,
    pub record: SessionRecord,
}

impl Recorded {
    /// Reads a session, and asserts what must hold in every one.
    #[track_caller]
    pub fn read(folder: &Path) -> Self {
        let record = read_session(folder).unwrap_or_else(|error| panic!("{error}"));
        let header = serde_json::to_value(&record.header).expect("JSON");
        schema::assert_satisfied("session", [&header]);
        let heats = record.heats.iter().cloned();
        let heats = heats.map(|heat| JournalEntry::Heat(Box::new(heat)));
        let heats: Vec<Value> = heats
            .map(|line| serde_json::to_value(line).expect("JSON"))
            .collect();
        schema::assert_satisfied("heats", &heats);
        for (number, measured) in record.heats.iter().enumerate() {
            let load = &record.header.plan.loads[measured.load as usize];
            for member in &measured.heat.members {
                let planned = member.role != Role::Member || load.targets.contains(&member.target);
                assert!(
                    planned,
                    "heat {number} has {}, which was not planned",
                    member.target
                );
            }
            for slice in measured.heat.rounds.iter().flatten() {
                let tally = &slice.tally;
                assert!(
                    tally.is_conserved(),
                    "heat {number}: requests were lost: {tally:?}"
                );
            }
        }
        Self {
            folder: folder.to_owned(),
            record,
        }
    }

    pub fn target(&self, name: &str) -> &TargetRecord {
        let mut targets = self.record.header.targets.iter();
        let found = targets.find(|target| target.target.to_string() == name);
        found.unwrap_or_else(|| panic!("{} has no {name}", self.folder.display()))
    }

    /// The stack of this name as a member of each heat that it was in, twins left out.
    pub fn members_of(&self, target: &str) -> Vec<&MemberRecord> {
        let members = self.record.heats.iter().flat_map(|one| &one.heat.members);
        members
            .filter(|member| member.role == Role::Member && member.target.to_string() == target)
            .collect()
    }

    /// Asserts that `target` was measured in at least one heat, and went wrong in none.
    #[track_caller]
    pub fn assert_measured(&self, target: &str) {
        let state = &self.target(target).state;
        assert!(
            matches!(state, TargetState::Ready { .. }),
            "{target}: {state:?}"
        );
        let finished = self.record.heats.iter();
        let finished = finished.filter(|one| one.heat.end == HeatEnd::Finished);
        let members = finished.flat_map(|one| &one.heat.members);
        let own = members
            .filter(|member| member.role == Role::Member && member.target.to_string() == target);
        let own: Vec<&MemberRecord> = own.collect();
        assert!(
            !own.is_empty(),
            "{target} was in no heat that ended in order"
        );
        for member in own {
            assert!(member.failure.is_none(), "{target}: {member:?}");
            assert!(member.verified_before > Some(0), "{target}: not verified");
            assert!(
                member.ready.is_some_and(|ready| !ready.is_zero()),
                "{target}: ready in no time"
            );
            assert!(
                member.memory.idle > Some(0),
                "{target}: the server used no memory"
            );
        }
        // On a busy machine a slice of so few milliseconds may have no answer.
        let answered = self.record.heats.iter().any(|one| {
            let heat = &one.heat;
            let mut slices = heat.rounds.iter().flatten();
            slices.any(|slice| {
                let member = &heat.members[slice.member as usize];
                member.role == Role::Member
                    && member.target.to_string() == target
                    && slice.tally.succeeded > 0
                    && slice.tally.failed.total() == 0
            })
        });
        assert!(answered, "{target}: no answer was counted");
    }

    /// Why `target` could not be measured at all.
    #[track_caller]
    pub fn failure_of(&self, target: &str) -> &StackFailure {
        match &self.target(target).state {
            TargetState::Failed(failure) => failure,
            other => panic!("{target} should have failed, it is {other:?}"),
        }
    }

    /// Why `target` failed in the first heat in which it did.
    #[track_caller]
    pub fn failed_heat_of(&self, target: &str) -> &StackFailure {
        let members = self.members_of(target);
        let failed = members.iter().find_map(|member| member.failure.as_ref());
        match failed {
            Some(failure) => &failure.failure,
            None => panic!("{target} should have failed in a heat: {members:?}"),
        }
    }

    /// Asserts that the report says all of these in every format, written anew from the records alone.
    #[track_caller]
    pub fn assert_reported(&self, root: &Root, fragments: &[&str]) {
        self.reports(root).assert_say(fragments);
    }

    /// Asserts that the report says all of these in the formats that people read.
    #[track_caller]
    pub fn assert_shown(&self, root: &Root, fragments: &[&str]) {
        self.in_formats(&["text", "html", "markdown"], root)
            .assert_say(fragments);
    }

    /// The report in every format, written anew from the records alone.
    #[track_caller]
    pub fn reports(&self, root: &Root) -> Reports {
        self.in_formats(&["text", "json", "html", "markdown"], root)
    }

    #[track_caller]
    fn in_formats(&self, formats: &[&'static str], root: &Root) -> Reports {
        let report = |format: &&'static str| (*format, self.report(root, format));
        Reports(formats.iter().map(report).collect())
    }

    /// The report as a reader sees it, on one line.
    #[track_caller]
    pub fn report(&self, root: &Root, format: &str) -> String {
        let folder = self.folder.display().to_string();
        let ended = root
            .deadheat(&match format {
                "text" => format!("report {folder} --details"),
                _ => format!("report {folder} --format {format}"),
            })
            .exits(0);
        let text = ended.stdout;
        match format {
            "json" => {
                let value: Value = serde_json::from_str(&text).expect("the report is JSON");
                schema::assert_satisfied("report", [&value]);
                let mut strings = Vec::new();
                collect_strings(&value, &mut strings);
                flat(&strings.join("\n"))
            }
            "html" => flat(&text_of_html(&text)),
            "markdown" => flat(&text.replace('\\', "")),
            _ => flat(&text),
        }
    }
}

/// A report in several formats.
pub struct Reports(Vec<(&'static str, String)>);

impl Reports {
    /// Asserts that each says all of these.
    #[track_caller]
    pub fn assert_say(&self, fragments: &[&str]) {
        for (format, text) in &self.0 {
            // In Markdown, links from outside are code.
            let plain = |text: &str| match *format {
                "markdown" => text.replace('`', ""),
                _ => text.to_owned(),
            };
            let text = plain(text);
            for fragment in fragments {
                let wanted = plain(&flat(fragment));
                assert!(
                    text.contains(&wanted),
                    "the report as {format} lacks {fragment:?}:\n{text}"
                );
            }
        }
    }
}

/// Whether the report of a session that ends now has figures of every stack at every load.
pub fn has_figures(record: &SessionRecord) -> bool {
    let ended = SessionRecord {
        end: Some(EndReason::Interrupted),
        ..record.clone()
    };
    let planned = ended.header.plan.loads.iter();
    let mut loads = planned.zip(standings(&ended).loads);
    loads.all(|(planned, load)| {
        let rows = load.tables.iter().map(|table| table.rows.len());
        rows.sum::<usize>() >= planned.targets.len()
    })
}

/// Whole lines of a journal: heats that are on the disk, and perhaps the end.
pub fn journal_lines(folder: &Path) -> usize {
    let text = fs::read(folder.join(HEATS_FILE)).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

fn collect_strings(value: &Value, strings: &mut Vec<String>) {
    match value {
        Value::String(text) => strings.push(text.clone()),
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect_strings(value, strings)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            strings.push(key.clone());
            collect_strings(value, strings);
        }),
        _ => {}
    }
}

/// What stands between the tags of a page.
fn text_of_html(page: &str) -> String {
    let mut text = String::new();
    for piece in page.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, after)| after));
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&#x2f;", "/"),
    ];
    for (entity, character) in entities {
        text = text.replace(entity, character);
    }
    text.replace("&amp;", "&")
}
