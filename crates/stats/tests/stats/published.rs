//! Published tables beside what was measured, on a session built by hand.

use deadheat_stats::{
    Analysis, analyse,
    analysis::{GroupComparison, NotRanked},
    published::{Agreement, Bound, MeasuredRow, RowAnalysis},
    trial::Flag,
    verdict::FailReason,
};

use crate::published_fixture::session;

fn row<'a>(analysis: &'a Analysis, table: usize, name: &str) -> &'a RowAnalysis {
    let mut rows = analysis.published[table].rows.iter();
    rows.find(|row| row.name.starts_with(name)).unwrap()
}

#[test]
fn ratios_are_against_the_same_row_on_both_sides() {
    let analysis = analyse(&session());
    let b = row(&analysis, 0, "B");
    // 5366.29 / 3569.53 where it was published, about 4,000 / 5,000 here.
    assert!((b.published_ratio.unwrap() - 1.503_36).abs() < 1e-5);
    let measured = b.measured_ratio.unwrap();
    assert!((measured.ratio - 0.8).abs() < 0.02, "{measured:?}");
    assert_eq!((measured.blocks, measured.bound), (3, Bound::Exact));
    let interval = measured.interval.unwrap();
    assert!(interval.low < measured.ratio && measured.ratio < interval.high && interval.high < 1.0);
    assert_eq!(b.agreement, Some(Agreement::Reversed));
    // 301.42 / 3569.53 is 0.0844, 422.2 / 5,000 is 0.0844.
    assert_eq!(row(&analysis, 0, "D").agreement, Some(Agreement::Within));
    assert_eq!(row(&analysis, 0, "F").agreement, Some(Agreement::Lower));
    let baseline = row(&analysis, 0, "A");
    assert_eq!(baseline.published_ratio, Some(1.0));
    assert_eq!((baseline.measured_ratio, baseline.agreement), (None, None));
}

#[test]
fn what_was_not_valid_has_no_published_ratio() {
    let analysis = analyse(&session());
    let errors = row(&analysis, 0, "C");
    assert_eq!(errors.published_per_second, Some(10_421.03));
    assert_eq!(
        (errors.published_valid, errors.published_ratio),
        (false, None)
    );
    assert!(errors.measured_ratio.is_some() && errors.agreement.is_none());
    let hung = row(&analysis, 0, "E");
    assert_eq!(
        (hung.published_per_second, hung.published_ratio),
        (None, None)
    );
}

#[test]
fn a_row_that_was_not_measured_says_why() {
    let analysis = analyse(&session());
    let of = |name: &str| &row(&analysis, 0, name).measured;
    assert!(matches!(of("G"), MeasuredRow::LeftOut { reason } if reason.contains("nim-g")));
    assert!(
        matches!(of("K"), MeasuredRow::Unavailable { remedy, .. } if remedy.contains("elixir"))
    );
    let MeasuredRow::Failed {
        failed: 1,
        of: 3,
        reasons,
    } = of("I")
    else {
        panic!("{:?}", of("I"));
    };
    assert!(
        matches!(&reasons[..], [FailReason::Outcome { reason, .. }] if reason.contains("under load"))
    );
    let MeasuredRow::Failed {
        failed: 0,
        of: 0,
        reasons,
    } = of("J")
    else {
        panic!("{:?}", of("J"));
    };
    assert!(
        matches!(&reasons[..], [FailReason::Outcome { reason, .. }] if reason.contains("got 9"))
    );
    let MeasuredRow::Measured {
        failed_requests: 2, ..
    } = of("E")
    else {
        panic!("{:?}", of("E"));
    };
}

#[test]
fn a_lower_bound_makes_its_ratio_one() {
    let analysis = analyse(&session());
    let limited = row(&analysis, 0, "H").measured_ratio.unwrap();
    assert_eq!((limited.bound, limited.interval), (Bound::AtLeast, None));
    assert!((limited.ratio - 1.8).abs() < 0.05);
    let against = row(&analysis, 2, "A").measured_ratio.unwrap();
    assert_eq!((against.bound, against.interval), (Bound::AtMost, None));
}

#[test]
fn a_baseline_that_failed_leaves_the_measured_ratios_out_and_keeps_the_published_ones() {
    let analysis = analyse(&session());
    let other = row(&analysis, 1, "A");
    assert!((other.published_ratio.unwrap() - 1.784_765).abs() < 1e-6);
    assert_eq!(other.measured_ratio, None);
    assert!(matches!(other.measured, MeasuredRow::Measured { .. }));
}

#[test]
fn without_a_complete_block_there_is_no_ratio_and_with_one_no_interval() {
    let mut record = session();
    record.trials.retain(|trial| trial.block == 0);
    let b = row(&analyse(&record), 0, "B").measured_ratio.unwrap();
    assert_eq!((b.blocks, b.interval), (1, None));
    record
        .trials
        .retain(|trial| trial.cell.target.stack != "ruby-f");
    assert_eq!(row(&analyse(&record), 0, "B").measured_ratio, None);
}

#[test]
fn a_load_by_count_is_not_ranked_and_doubted_only_for_its_end() {
    let analysis = analyse(&session());
    assert_eq!(analysis.groups.len(), 2);
    for group in &analysis.groups {
        let reason = NotRanked::RepeatsPublished;
        assert_eq!(group.comparison, GroupComparison::NotRanked { reason });
        assert!(group.dead_heats.is_empty());
        assert!(group.cells.iter().all(|cell| cell.rank.is_none()));
    }
    let flags: Vec<(String, Flag)> = analysis
        .groups
        .iter()
        .flat_map(|group| &group.cells)
        .flat_map(|cell| {
            cell.trials.iter().flat_map(|trial| {
                trial
                    .flags
                    .iter()
                    .map(|flag| (cell.target.to_string(), *flag))
            })
        })
        .collect();
    assert_eq!(flags.len(), 3, "{flags:?}");
    for (target, flag) in flags {
        assert_eq!(target, "ruby-f");
        assert!(
            matches!(flag, Flag::CutShort { asked: 5000, ended } if ended < 3200),
            "{flag:?}"
        );
    }
    let slow = row(&analysis, 0, "F");
    let MeasuredRow::Measured {
        throughput_per_second,
        cut_short: 3,
        ..
    } = &slow.measured
    else {
        panic!("{slow:?}");
    };
    assert!((throughput_per_second.median - 50.0).abs() < 1.0);
}
