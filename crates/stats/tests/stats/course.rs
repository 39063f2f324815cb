//! The course of a session.

use deadheat_model::{Cell, SessionRecord, trial::Phase};
use deadheat_stats::{
    Group, Settings, analyse,
    course::{BlockCourse, Standing, blocks, steps},
};

use crate::fixture::{Found, Session, disturbed, failed, good, measured};

/// How fast the machine is in each block.
const DRIFT: [f64; 3] = [0.9, 1.0, 1.2];

fn rate(cell: &Cell) -> f64 {
    match cell.target.to_string().as_str() {
        "~null-server" => 4_000.0,
        "slow" => 200.0,
        _ => 1_000.0,
    }
}

fn session() -> Session {
    let session = Session::new(3).workload("json", &[50]);
    let session = session.stack("fast").stack("slow").stack("other");
    session.null_server().twin("fast").noise_bound()
}

fn course(record: &SessionRecord, look: impl FnOnce(&Group, Vec<BlockCourse>)) {
    let settings = Settings::default();
    let analysis = analyse(record);
    let group = &analysis.groups[0];
    let steps = steps(group, &settings);
    assert_eq!(steps.len(), record.trials.len(), "each trial is a step");
    for (place, step) in steps.iter().enumerate() {
        assert_eq!(step.trial.record, place, "in the order in which they ended");
    }
    look(group, blocks(group, &steps, &settings));
}

#[test]
fn a_machine_that_drifts_shows_in_stacks_of_any_speed_and_in_the_null_server() {
    let record = session().measured(3, |cell, block| {
        good(Found::at(rate(cell) * DRIFT[block as usize]))
    });
    course(&record.build(), |group, blocks| {
        let ceiling = group.ceiling.as_ref().unwrap();
        let median = ceiling.throughput_per_second().unwrap().median;
        for (block, drift) in blocks.iter().zip(DRIFT) {
            let (figure, ratio) = block.null_server.unwrap();
            assert_eq!(figure, 4_000.0 * drift);
            assert_eq!(ratio, figure / median, "the ceiling's own median");
            assert!((block.stacks.unwrap() - drift).abs() < 1e-9, "{block:?}");
            assert_eq!((block.counted, block.void, block.failed), (5, 0, 0));
        }
        assert_eq!(blocks.len(), 3);
        assert_eq!(blocks[1].first, 5);
    });
}

#[test]
fn a_block_counts_its_void_its_repeated_and_its_failed_trials_apart() {
    let slow: Cell = Cell {
        target: "slow".parse().unwrap(),
        workload: "json".to_owned(),
        point: "c50".to_owned(),
    };
    let mut record = session().measured(2, |cell, block| {
        let name = cell.target.to_string();
        match (name.as_str(), block) {
            ("slow", 1) => disturbed(measured(Found::at(1.0))),
            ("other", 1) => failed(Phase::Start, "no answer", &[]),
            _ => good(Found::at(rate(cell))),
        }
    });
    record = record.trial(1, 1, slow, good(Found::at(200.0)));
    let record = record.build();
    course(&record, |group, blocks| {
        let [calm, disturbed] = blocks[..] else {
            panic!("{blocks:?}")
        };
        assert_eq!((calm.counted, calm.void, calm.repetitions), (5, 0, 0));
        assert_eq!((disturbed.counted, disturbed.failed), (4, 1));
        assert_eq!((disturbed.void, disturbed.repetitions), (1, 1));
        assert_eq!(disturbed.left_out, 0);
        // The void trial's 1 request per second is in no median.
        assert_eq!(disturbed.stacks, Some(1.0));
        let settings = Settings::default();
        let steps = steps(group, &settings);
        let void = steps.iter().find(|step| step.standing == Standing::Void);
        assert_eq!(void.unwrap().ratio, Some(1.0 / 200.0));
        let failed = steps.iter().find(|step| step.trial.verdict.is_failed());
        assert_eq!(failed.unwrap().ratio, None, "it has no figure");
    });
}

#[test]
fn a_block_that_was_cut_off_is_left_out_and_shown() {
    let record = session().measured(3, |cell, _| good(Found::at(rate(cell))));
    let record = record.with(|record| {
        record.trials.pop();
    });
    course(&record.build(), |_, blocks| {
        assert_eq!((blocks[2].counted, blocks[2].left_out), (0, 4));
        assert_eq!((blocks[2].null_server, blocks[2].stacks), (None, None));
    });
}
