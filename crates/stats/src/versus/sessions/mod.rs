//! Two sessions, measured at two times: unpaired, and corrected for how many cells were looked at.

mod cells;
mod conditions;
mod unpaired;

use deadheat_model::SessionRecord;

use self::cells::Session;
pub use self::conditions::refusals;
use self::unpaired::Sample;
use super::{Bounds, Compared, Found, How, Metric, NotCompared, Ratio, Side, Subject, Versus};

/// Session `b` against session `a`, whatever differs between them ([`refusals`] has what ought not to). The names are
/// those by which the user knows the sessions.
pub fn compare(a: (&str, &SessionRecord), b: (&str, &SessionRecord), bounds: Bounds) -> Versus {
    let sides = [Session::new(a.1), Session::new(b.1)];
    let mut compared: Vec<Compared> = Vec::new();
    let mut not_compared: Vec<NotCompared> = Vec::new();
    for subject in cells::candidates(&sides) {
        match cells::trials_of(&sides, &subject) {
            Ok(trials) => compared.push(cell(&sides, subject, &trials, &bounds)),
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
    let mut warnings: Vec<String> = refusals(a.1, b.1).iter().map(conditions::warning).collect();
    warnings.extend(conditions::few_blocks(&sides));
    warnings.extend(conditions::biased(&sides));
    warnings.extend(cells::drift(&sides, &bounds));
    let both_failed = cells::failed_in_both(&sides);
    Versus {
        how: How::Sessions,
        a: conditions::side(a.0, &sides[0]),
        b: Side {
            failed: both_failed,
            ..conditions::side(b.0, &sides[1])
        },
        bounds,
        compared,
        not_compared,
        conditions: conditions::conditions(&sides),
        differences: conditions::differences(a.1, b.1),
        warnings,
    }
}

/// The trials of a cell on each side.
type Trials = [Vec<Found>; 2];

fn cell(sides: &[Session<'_>; 2], subject: Subject, trials: &Trials, bounds: &Bounds) -> Compared {
    let [a, b] = trials;
    let drift = cells::moved(sides, &subject, bounds);
    let ratios = super::found::metrics(a.iter().chain(b)).into_iter();
    let ratios = ratios.filter_map(|metric| {
        let floor = cells::floor(sides, &subject, metric);
        Sample::of(metric, trials).map(|sample| sample.ratio(floor, drift, bounds))
    });
    Compared {
        ratios: ratios.collect(),
        notes: cells::notes(sides, &subject),
        subject,
    }
}
