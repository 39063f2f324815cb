//! How many heats, and at which of them it is looked at: from what was asked for and what a heat takes.

use std::time::Duration;

use deadheat_stats::sequential::Design;

use crate::{compare::args::MeasureArgs, exit::Failure, plan_text::about};

/// The budget, if nobody says what measuring may take.
pub(crate) const BUDGET: Duration = Duration::from_secs(5 * 60);

/// With fewer heats than three an interval says next to nothing; with five it is of some use.
const LEAST_HEATS: u32 = 3;
const EVIDENCE_HEATS: u32 = 5;

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
    /// The looks that `args` ask for, or that the budget has room for, when a heat at each load takes about `heat`.
    pub(super) fn choose(args: &MeasureArgs, heat: Duration, alpha: f64) -> Result<Self, Failure> {
        let declared = |heats: &[u32], budget| {
            let design = Design::declare(heats, alpha)
                .map_err(|error| Failure::usage(format!("--looks: {error}")))?;
            Ok(Self {
                design,
                budget,
                left_out: Vec::new(),
            })
        };
        if let Some(heats) = args.heats {
            return declared(&[heats], None);
        }
        let bought = |budget: Duration| {
            let heats = budget.as_secs_f64() / heat.as_secs_f64().max(1e-3);
            heats.min(f64::from(u32::MAX)) as u32
        };
        let short = |budget: Duration, needed: u32, what: &str| {
            let heats = bought(budget);
            Failure::usage(format!(
                "--budget {}: a heat takes about {}, so that it has room for {heats}, and {what} {needed}: give \
                 --budget {}s or more (with {EVIDENCE_HEATS} heats, {}s), or a shorter --heat-time",
                humantime::format_duration(budget),
                about(heat),
                seconds_for(heat, needed),
                seconds_for(heat, EVIDENCE_HEATS.max(needed)),
            ))
        };
        if args.looks.is_empty() {
            let budget = args.budget.unwrap_or(BUDGET);
            let heats = bought(budget);
            if heats < LEAST_HEATS {
                return Err(short(budget, LEAST_HEATS, "a comparison needs"));
            }
            let design = Design::within(heats, alpha).map_err(Failure::usage)?;
            return Ok(Self {
                design,
                budget: Some(budget),
                left_out: Vec::new(),
            });
        }
        // All of them, also those that do not fit: a list in disorder is wrong whatever the budget is.
        let all = declared(&args.looks, None)?;
        let Some(budget) = args.budget else {
            return Ok(all);
        };
        let heats = bought(budget);
        let fit = args.looks.partition_point(|look| *look <= heats);
        match fit {
            0 => Err(short(budget, args.looks[0], "the first look is after")),
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
            more => format!("; those after {} do not fit the budget", listed(more)),
        };
        format!(
            "after {} heats; {:.0} % of error spent{spread}{left_out}",
            listed(&looks),
            100.0 * self.design.alpha
        )
    }
}

/// "5, 7 and 10".
fn listed(numbers: &[u32]) -> String {
    let mut numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let last = numbers.pop().unwrap_or_default();
    if numbers.is_empty() {
        last
    } else {
        format!("{} and {last}", numbers.join(", "))
    }
}

fn seconds_for(heat: Duration, heats: u32) -> u64 {
    (heat * heats).as_secs_f64().ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(budget: Option<u64>, looks: &[u32], heats: Option<u32>) -> MeasureArgs {
        MeasureArgs {
            budget: budget.map(Duration::from_secs),
            heats,
            looks: looks.to_vec(),
            ..MeasureArgs::none()
        }
    }

    fn chosen(args: &MeasureArgs) -> Result<(Vec<u32>, Option<u64>), String> {
        let looks = Looks::choose(args, Duration::from_secs(8), 0.05);
        let looks = looks.map_err(|error| error.to_string())?;
        let heats = looks.design.looks.iter().map(|look| look.heats);
        Ok((heats.collect(), looks.budget.map(|budget| budget.as_secs())))
    }

    #[test]
    fn what_fits_the_budget_is_declared() {
        // 80 s are ten heats of 8 s.
        let cases = [
            (args(Some(80), &[], None), vec![5, 7, 10], Some(80)),
            (
                args(None, &[], None),
                vec![5, 7, 10, 14, 20, 28, 37],
                Some(300),
            ),
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
            error.contains("room for 2") && error.contains("--budget 24s"),
            "{error}"
        );
        let error = chosen(&args(Some(20), &[10, 20], None)).unwrap_err();
        assert!(
            error.contains("after 10") && error.contains("--budget 80s"),
            "{error}"
        );
        let error = chosen(&args(None, &[10, 5], None)).unwrap_err();
        assert!(error.starts_with("--looks"), "{error}");
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
            let looks = Looks::choose(&args, Duration::from_secs(8), 0.05).unwrap();
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
        let looks = Looks::choose(&args(None, &[5, 7, 10], None), BUDGET, 0.05).unwrap();
        assert_eq!(
            looks.describe(),
            "after 5, 7 and 10 heats; 5 % of error spent over them"
        );
        let looks = Looks::choose(&args(None, &[], Some(9)), BUDGET, 0.05).unwrap();
        assert_eq!(looks.describe(), "after 9 heats; 5 % of error spent");
    }
}
