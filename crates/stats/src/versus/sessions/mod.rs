//! Two sessions of heats, measured at two times: unpaired, and corrected for how many cells were looked at.

mod cells;
mod conditions;
mod load;
mod null_server;
pub mod unpaired;

use deadheat_model::{heats::SessionRecord, warning::doubt};

use self::cells::{Numbers, Session};
pub use self::conditions::refusals;
use self::unpaired::Sample;
pub(in crate::versus) use self::unpaired::of_runs;
use super::{
    Bounds, Compared, How, Metric, NotCompared, Ratio, Subject, Verdict, Versus, differs, unsteady,
};

/// What every comparison of two sessions must be read with.
const CAVEAT: &str = "The sessions were measured at two times, so the ratio includes any change of the machine in \
                      between.";
const ADVICE: &str = "`deadheat compare STACK@REVISION STACK` measures both in the same heats.";

/// Session `b` against session `a`, whatever differs between them ([`refusals`] has what ought not to). The names are
/// those by which the user knows the sessions.
pub fn compare(a: (&str, &SessionRecord), b: (&str, &SessionRecord), bounds: Bounds) -> Versus {
    let sides = [Session::new(a.1), Session::new(b.1)];
    let mut compared: Vec<Compared> = Vec::new();
    let mut not_compared: Vec<NotCompared> = Vec::new();
    for subject in cells::candidates(&sides) {
        match cells::numbers(&sides, &subject) {
            Ok(numbers) => compared.push(cell(&sides, subject, numbers, &bounds)),
            Err((reason, b_failed)) => not_compared.push(NotCompared {
                subject,
                reason,
                b_failed,
            }),
        }
    }
    for metric in Metric::ALL {
        let of_metric = |ratio: &&mut Ratio| ratio.metric == metric;
        let ratios = compared.iter_mut().flat_map(|cell| &mut cell.ratios);
        unpaired::correct(&mut ratios.filter(of_metric).collect::<Vec<_>>(), &bounds);
    }
    // Only now is anything known of the ratios.
    let compared: Vec<Compared> = compared.into_iter().map(Compared::judged).collect();
    let mut warnings = vec![doubt("two-times", CAVEAT).advice(ADVICE)];
    warnings.extend(refusals(a.1, b.1).iter().map(|one| differs(one, "A", "B")));
    warnings.extend(conditions::biased(&sides));
    warnings.extend(null_server::warnings(&sides, &bounds));
    Versus {
        how: How::Sessions,
        a: conditions::side(a.0, a.1),
        b: conditions::side(b.0, b.1),
        is_change: false,
        bounds,
        compared,
        not_compared,
        conditions: conditions::conditions(a.1, b.1),
        differences: conditions::differences(a.1, b.1),
        warnings,
    }
}

fn cell(sides: &[Session<'_>; 2], subject: Subject, numbers: Numbers, bounds: &Bounds) -> Compared {
    let drift = null_server::drift(sides, &subject, bounds);
    let ratios = Metric::ALL.into_iter().filter_map(|metric| {
        let [a, b] = sides;
        let a = a.load(&subject)?.logs(metric, numbers[0]);
        let b = b.load(&subject)?.logs(metric, numbers[1]);
        Sample::new(metric, a, b).map(|sample| sample.ratio(drift, bounds))
    });
    let ratios: Vec<Ratio> = ratios.collect();
    // Sorted by metric: closed loops begin with their throughput, open ones with the median.
    let decides =
        |ratio: &Ratio| matches!(ratio.metric, Metric::Throughput | Metric::ResponseTimeP50);
    let deciding = usize::from(ratios.first().is_some_and(decides));
    Compared {
        verdict: Verdict::NotEnoughData,
        decide: Default::default(),
        rates: Vec::new(),
        overloaded: Vec::new(),
        deciding,
        tested: deciding,
        ratios,
        notes: cells::notes(sides, &subject, numbers),
        subject,
    }
}
