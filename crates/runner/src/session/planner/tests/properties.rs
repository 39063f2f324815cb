//! What holds for any session.

use deadheat_model::choice::{EVIDENCE_BLOCKS, LEAST_BLOCKS, LEAST_PHASE, Origin};
use proptest::{option, prelude::*, sample::select, sample::subsequence};

use super::*;

fn runtimes() -> impl Strategy<Value = Runtime> {
    select(vec![Runtime::Native, Runtime::Jit, Runtime::Interpreted])
}

fn contenders() -> impl Strategy<Value = Vec<Participant>> {
    let workloads = subsequence(vec!["plaintext", "users", "proxy"], 0..=3);
    let one = (runtimes(), workloads, option::of(0u64..5_000));
    prop::collection::vec(one, 0..20).prop_map(|all| {
        let one = all.into_iter().enumerate();
        one.map(|(index, (runtime, workloads, ready))| Participant {
            target: TargetId::new(format!("stack-{index}"), None),
            runtime,
            warm_up: rule_of(runtime, None),
            workloads: workloads.into_iter().map(str::to_owned).collect(),
            ready: ready.map(Duration::from_millis),
        })
        .collect()
    })
}

fn sessions() -> impl Strategy<Value = (SessionOptions, Vec<Participant>)> {
    let purposes = vec![
        Purpose::Usual,
        Purpose::FirstLook,
        Purpose::Publication,
        Purpose::Repetition,
    ];
    let modes = vec![LatencyMode::Auto, LatencyMode::On, LatencyMode::Off];
    let asked = (
        option::of(1u32..40),
        option::of(1u64..20_000),
        option::of(1u64..5_000),
    );
    let chosen = (select(purposes), select(modes), 1u64..20_000, any::<u64>());
    (asked, chosen, contenders()).prop_map(|((blocks, measure, warm_up), chosen, contenders)| {
        let (purpose, latency, budget, seed) = chosen;
        let options = SessionOptions {
            seed,
            purpose,
            latency,
            blocks,
            measure: measure.map(Duration::from_millis),
            warm_up: warm_up.map(Duration::from_millis),
            ..options(budget)
        };
        (options, contenders)
    })
}

/// Warm-ups and measurements alone, by what the plan says.
fn loads(plan: &Plan, options: &SessionOptions) -> Duration {
    let measure = |cell: &deadheat_model::Cell| {
        let mut workloads = plan.workloads.iter();
        workloads
            .find(|one| one.id == cell.workload)
            .map(|one| one.measure)
    };
    let least_warm_up = options.warm_up.unwrap_or(Duration::from_secs(1));
    let block: Duration = plan
        .cells
        .iter()
        .filter_map(measure)
        .map(|one| one + least_warm_up)
        .sum();
    block * plan.blocks
}

proptest! {
    #[test]
    fn a_plan_that_claims_to_fit_fits((options, contenders) in sessions()) {
        let plan = of(&options, &contenders);
        let origins = [why(&plan).blocks_from, why(&plan).measure_from];
        let fits = Some(plan.estimate) <= options.budget;
        if origins.contains(&Origin::Budget) {
            prop_assert!(fits, "{:?}", plan.estimate);
        }
        if origins.contains(&Origin::Least) {
            prop_assert!(!fits, "{:?}", plan.estimate);
        }
        prop_assert!(plan.estimate >= loads(&plan, &options));
    }

    #[test]
    fn more_budget_never_gives_fewer_blocks((mut options, contenders) in sessions(), more in 0u64..20_000) {
        let before = of(&options, &contenders);
        options.budget = options.budget.map(|budget| budget + Duration::from_secs(more));
        let after = of(&options, &contenders);
        let (before_why, after_why) = (why(&before), why(&after));
        // Of a publication latency may cost blocks above ten.
        if options.purpose != Purpose::Publication || after_why.latency == before_why.latency {
            prop_assert!(after.blocks >= before.blocks);
        }
        prop_assert!(after_why.latency.is_on() || !before_why.latency.is_on());
        if after_why.latency == before_why.latency {
            prop_assert!(after_why.measure >= before_why.measure);
        }
    }

    #[test]
    fn nothing_is_squeezed_that_nobody_asked_to_squeeze((options, contenders) in sessions()) {
        let plan = of(&options, &contenders);
        prop_assert_eq!(plan.blocks, options.blocks.unwrap_or(plan.blocks));
        if options.blocks.is_none() {
            prop_assert!(plan.blocks >= LEAST_BLOCKS.max(options.purpose.least_blocks()));
        }
        for workload in &plan.workloads {
            prop_assert_eq!(workload.measure, options.measure.unwrap_or(workload.measure));
            prop_assert!(options.measure.is_some() || workload.measure >= LEAST_PHASE);
        }
    }

    #[test]
    fn an_offer_is_the_plan_that_its_budget_makes((mut options, contenders) in sessions()) {
        let plan = of(&options, &contenders);
        let offers = &why(&plan).offers;
        let fits = Some(plan.estimate) <= options.budget;
        let few = why(&plan).blocks_from == Origin::Budget && plan.blocks < EVIDENCE_BLOCKS;
        prop_assert!(fits || !offers.is_empty(), "what would fit is said");
        prop_assert!(!few || offers.iter().any(|one| one.blocks >= EVIDENCE_BLOCKS));
        prop_assert!(offers.is_sorted_by_key(|one| one.budget));
        for offer in offers {
            prop_assert!(Some(offer.budget) > options.budget);
            options.budget = Some(offer.budget);
            let then = of(&options, &contenders);
            prop_assert!(then.estimate <= offer.budget);
            prop_assert_eq!(
                (then.blocks, why(&then).measure, why(&then).latency.is_on()),
                (offer.blocks, offer.measure, offer.latency)
            );
        }
    }
}
