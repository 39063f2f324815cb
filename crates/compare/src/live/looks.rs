//! The number of heats, and after which of them there is a look: from the options, and from what a heat takes.

use std::time::Duration;

use deadheat_model::{
    figure::{about, list, time_option},
    heats::MIN_HEATS,
};
use deadheat_shell::exit::CommandFailure;
use deadheat_stats::sequential::Design;

use crate::options::MeasureArgs;

/// The default budget.
pub(crate) const BUDGET: Duration = Duration::from_secs(5 * 60);

/// The minimum number of heats before a look. With fewer, intervals are too wide to be useful.
const MIN_BEFORE_A_LOOK: u32 = 3;
/// The factor on a suggested budget, so that its heats fit although they take longer than planned on a busy machine.
pub(super) const SPARE: f64 = 1.25;

/// The time of one heat at each load, in total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// The whole time.
    pub(super) all: Duration,
    /// The part in which servers are loaded in counted rounds: `--heat-time` for each load.
    pub(super) rounds: Duration,
    /// The number of loads.
    pub(super) loads: u32,
}

impl Turn {
    /// The number of heats that fit a budget.
    fn within(&self, budget: Duration) -> u32 {
        let turns = budget.as_secs_f64() / self.all.as_secs_f64().max(1e-3);
        turns.min(f64::from(u32::MAX)) as u32
    }

    /// A budget that has room for this number of heats, as `--budget` takes it.
    fn budget_for(&self, heats: u32) -> String {
        time_option(self.all.as_secs_f64() * f64::from(heats) * SPARE)
    }

    /// The `--heat-time` with which this number of heats fits a budget, if there is one.
    fn heat_time_for(&self, heats: u32, budget: Duration) -> Option<u64> {
        let each = budget.as_secs_f64() / (f64::from(heats) * SPARE);
        let others = self.all.saturating_sub(self.rounds).as_secs_f64();
        let time = (each - others) / f64::from(self.loads.max(1));
        (time >= 1.0).then_some(time as u64)
    }
}

/// Heats and looks, and the time that bounds them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Looks {
    /// The looks.
    pub(super) design: Design,
    /// The time that measuring may take; `None`: what the last look takes.
    pub(super) budget: Option<Duration>,
    /// Looks that were asked for and that the budget has no room for, as numbers of heats.
    left_out: Vec<u32>,
}

impl Looks {
    /// The looks that `args` ask for, or that the budget has room for.
    pub(super) fn choose(
        args: &MeasureArgs,
        turn: Turn,
        alpha: f64,
    ) -> Result<Self, CommandFailure> {
        let declared = |heats: &[u32], budget| {
            let design = Design::declare(heats, alpha)
                .map_err(|error| CommandFailure::usage(format!("--looks: {error}")))?;
            Ok(Self {
                design,
                budget,
                left_out: Vec::new(),
            })
        };
        if let Some(heats) = args.heat.heats {
            return declared(&[heats], None);
        }
        let short = |budget: Duration, needed: u32, what: &str| {
            let useful = needed.max(MIN_HEATS);
            let shorter = turn.heat_time_for(useful, budget);
            let shorter = shorter.map_or(String::new(), |time| format!(", or --heat-time {time}s"));
            CommandFailure::usage(format!(
                "--budget {}: a heat takes about {}, so it has room for {}, and {what}. Try --budget {}{shorter}",
                humantime::format_duration(budget),
                about(turn.all),
                turn.within(budget),
                turn.budget_for(useful),
            ))
        };
        if args.looks.is_empty() {
            let budget = args.heat.budget.unwrap_or(BUDGET);
            // Only heats that fit even if they take longer than planned count here.
            if turn.within(budget.div_f64(SPARE)) < MIN_BEFORE_A_LOOK {
                let what =
                    format!("a verdict needs {MIN_BEFORE_A_LOOK}, and a dead heat {MIN_HEATS}");
                return Err(short(budget, MIN_BEFORE_A_LOOK, &what));
            }
            let design =
                Design::within(turn.within(budget), alpha).map_err(CommandFailure::usage)?;
            return Ok(Self {
                design,
                budget: Some(budget),
                left_out: Vec::new(),
            });
        }
        // Checks all of them, also those that do not fit the budget, because their order must be right in any case.
        let all = declared(&args.looks, None)?;
        let Some(budget) = args.heat.budget else {
            return Ok(all);
        };
        let heats = turn.within(budget);
        let fit = args.looks.partition_point(|look| *look <= heats);
        match fit {
            0 => {
                let what = format!("the first checkpoint is after {}", args.looks[0]);
                Err(short(budget, args.looks[0], &what))
            }
            fit => Ok(Self {
                left_out: args.looks[fit..].to_vec(),
                ..declared(&args.looks[..fit], Some(budget))?
            }),
        }
    }

    /// The numbers of heats.
    pub(super) fn heats(&self) -> Vec<u32> {
        self.design.looks.iter().map(|look| look.heats).collect()
    }

    /// "after 5, 7 and 10 heats; 5 % of error spent over them".
    pub(super) fn describe(&self) -> String {
        let looks = self.heats();
        let spread = if looks.len() > 1 { " over them" } else { "" };
        let left_out = match self.left_out.as_slice() {
            [] => String::new(),
            [one] => format!("; that after {one} does not fit the budget"),
            more => format!("; those after {} do not fit the budget", list(more)),
        };
        format!(
            "after {} heats; {:.0} % of error spent{spread}{left_out}",
            list(&looks),
            100.0 * self.design.alpha
        )
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct TestArgs {
        #[command(flatten)]
        measure: MeasureArgs,
    }

    fn args(budget: Option<u64>, looks: &[u32], heats: Option<u32>) -> MeasureArgs {
        let mut args = TestArgs::parse_from(["compare"]).measure;
        args.heat.budget = budget.map(Duration::from_secs);
        args.heat.heats = heats;
        args.looks = looks.to_vec();
        args
    }

    /// Heats of 8 s, 5 s of which are rounds.
    const TURN: Turn = Turn {
        all: Duration::from_secs(8),
        rounds: Duration::from_secs(5),
        loads: 1,
    };

    fn chosen(args: &MeasureArgs) -> Result<(Vec<u32>, Option<u64>), String> {
        let looks = Looks::choose(args, TURN, 0.05);
        let looks = looks.map_err(|error| error.to_string())?;
        let heats = looks.design.looks.iter().map(|look| look.heats);
        Ok((heats.collect(), looks.budget.map(|budget| budget.as_secs())))
    }

    #[test]
    fn what_fits_the_budget_is_declared() {
        // 80 s are ten heats of 8 s.
        let cases = [
            (args(Some(80), &[], None), vec![8, 10], Some(80)),
            (args(None, &[], None), vec![8, 11, 16, 22, 37], Some(300)),
            (args(None, &[], Some(12)), vec![12], None),
            (args(None, &[6, 20], None), vec![6, 20], None),
            (args(Some(80), &[6, 9, 60], None), vec![6, 9], Some(80)),
        ];
        for (args, looks, budget) in cases {
            assert_eq!(chosen(&args), Ok((looks, budget)), "{args:?}");
        }
    }

    #[test]
    fn a_budget_without_room_is_refused_with_one_that_has() {
        let error = chosen(&args(Some(20), &[], None)).unwrap_err();
        assert!(
            error.contains("room for 2") && error.ends_with("Try --budget 80s"),
            "{error}"
        );
        // Three would fit, if none of them took longer than planned.
        let error = chosen(&args(Some(29), &[], None)).unwrap_err();
        assert!(error.ends_with("Try --budget 80s"), "{error}");
        let error = chosen(&args(Some(20), &[10, 20], None)).unwrap_err();
        assert!(
            error.contains("after 10") && error.contains("--budget 100s"),
            "{error}"
        );
        let error = chosen(&args(None, &[10, 5], None)).unwrap_err();
        assert!(error.starts_with("--looks"), "{error}");
    }

    #[test]
    fn what_a_refusal_advises_has_room_for_a_verdict_also_where_heats_take_longer() {
        for seconds in [1, 3, 7, 12, 20, 31, 45, 90] {
            for rounds in 0..=seconds {
                let turn = Turn {
                    all: Duration::from_secs(seconds),
                    rounds: Duration::from_secs(rounds),
                    loads: 1,
                };
                let budget = Duration::from_secs(2 * seconds);
                let useful = |turn: Turn, budget: Duration| {
                    let slower = Turn {
                        all: turn.all.mul_f64(1.2),
                        ..turn
                    };
                    slower.within(budget) >= MIN_HEATS
                };
                let advised = turn.budget_for(MIN_HEATS);
                let advised = humantime::parse_duration(&advised).unwrap();
                assert!(useful(turn, advised), "{turn:?}: {advised:?}");
                if let Some(time) = turn.heat_time_for(MIN_HEATS, budget) {
                    let shorter = Turn {
                        all: turn.all - turn.rounds + Duration::from_secs(time),
                        ..turn
                    };
                    assert!(useful(shorter, budget), "{turn:?}: --heat-time {time}s");
                }
            }
        }
    }

    #[test]
    fn the_whole_list_is_checked_and_what_does_not_fit_is_told() {
        // Ten heats fit; the disorder is in what does not.
        for looks in [[5, 60, 10], [5, 60, 60]] {
            let error = chosen(&args(Some(80), &looks, None)).unwrap_err();
            assert!(error.starts_with("--looks"), "{error}");
        }
        let told = |looks: &[u32]| {
            let args = args(Some(80), looks, None);
            let looks = Looks::choose(&args, TURN, 0.05).unwrap();
            looks.describe()
        };
        assert_eq!(
            told(&[5, 10, 60]),
            "after 5 and 10 heats; 5 % of error spent over them; that after 60 does not fit the budget"
        );
        assert!(told(&[5, 20, 60]).ends_with("; those after 20 and 60 do not fit the budget"));
    }

    #[test]
    fn looks_are_told() {
        let looks = Looks::choose(&args(None, &[5, 7, 10], None), TURN, 0.05).unwrap();
        assert_eq!(
            looks.describe(),
            "after 5, 7 and 10 heats; 5 % of error spent over them"
        );
        let looks = Looks::choose(&args(None, &[], Some(9)), TURN, 0.05).unwrap();
        assert_eq!(looks.describe(), "after 9 heats; 5 % of error spent");
    }
}
