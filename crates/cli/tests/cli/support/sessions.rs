//! Sessions that were never measured, as files.

use deadheat_model::{
    TargetId,
    heats::{JournalEntry, SessionRecord},
};
use deadheat_simulation::Recorded;
use deadheat_stats::steering;

use super::Root;

/// A session of two stacks that scatter by `spread`; rust-axum at `share` of its usual rate.
pub fn simulated(id: &str, share: f64, spread: f64) -> SessionRecord {
    session(
        id,
        &[("go-nethttp", 1.0), ("rust-axum", 0.8 * share)],
        spread,
    )
}

/// As [`simulated`], with four more stacks that never change. The sources of rust-axum are other ones for each `share`.
pub fn with_unchanged(id: &str, share: f64, spread: f64) -> SessionRecord {
    let others = [
        ("go-gin", 0.9),
        ("node-http", 0.6),
        ("php-fpm", 0.5),
        ("rust-hyper", 0.95),
    ];
    let both = [("go-nethttp", 1.0), ("rust-axum", 0.8 * share)];
    let mut record = session(id, &[&both[..], &others].concat(), spread);
    record.header.targets[1].sources = Some(format!("{share}"));
    record
}

/// A session of stacks of these speeds that scatter by `spread`.
fn session(id: &str, stacks: &[(&str, f64)], spread: f64) -> SessionRecord {
    let speeds: Vec<f64> = stacks.iter().map(|(_, speed)| *speed).collect();
    let mut plan = Recorded {
        looks: vec![8],
        until_decided: false,
        times: 40,
        ..Recorded::quiet(&speeds)
    };
    plan.field.machine.spread = spread;
    for ((target, member), (name, _)) in plan.stacks.iter_mut().zip(stacks) {
        *target = TargetId::new(*name, None);
        member.spread = spread.min(0.01);
    }
    let seed = id.bytes().map(u64::from).sum();
    let mut record = plan.run(seed, &mut steering::next);
    record.header.id = id.to_owned();
    record.header.machine.cpu_model = "Example CPU @ 2.60GHz".to_owned();
    record.header.machine.kernel = "6.12.0-test".to_owned();
    record
}

/// Writes a session's files to a folder below `results/`, as docs/formats.md describes them.
pub fn write(root: &Root, record: &SessionRecord) {
    let heats = record.heats.iter().cloned();
    let heats = heats.map(|heat| JournalEntry::Heat(Box::new(heat)));
    let end = record.end.map(|reason| JournalEntry::End {
        reason,
        at: "2026-03-01T10:30:00Z".to_owned(),
    });
    let line = |entry| serde_json::to_string(&entry).expect("an entry is JSON") + "\n";
    let lines: String = heats.chain(end).map(line).collect();
    let folder = format!("results/{}", record.header.id);
    let header = serde_json::to_string(&record.header).expect("a header is JSON");
    root.write(&format!("{folder}/session.json"), &header);
    root.write(&format!("{folder}/heats.jsonl"), &lines);
}
