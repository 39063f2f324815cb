//! The null server, the same program in both sessions: whether the machine was as fast.

use deadheat_model::{
    figure,
    warning::{Warning, doubt},
};

use super::{Bounds, Metric, Ratio, Session, Subject, load::Load, unpaired::Sample};

/// How far the null server's throughput in B was from that in A: the distance from 1 of their ratio, for an open loop at
/// the closed one whose capacity it takes a share of. A stack that differs by less may differ because the machine did.
/// That the generator was the limit takes nothing from it: a machine that is slower slows the generator, too. `None` if
/// a session has no such heat.
pub(super) fn drift(sides: &[Session<'_>; 2], subject: &Subject, bounds: &Bounds) -> Option<f64> {
    let load = &sides[0].load(subject)?.at.load;
    let closed = load.point.open.as_ref().map(|open| &open.capacity_of);
    let closed = Subject {
        point: closed.unwrap_or(&subject.point).clone(),
        ..subject.clone()
    };
    Some(distance(ratio(sides, &closed, bounds)?.ratio))
}

/// A warning for each closed loop of both sessions at which the null server differed, or is not known.
pub(super) fn warnings(sides: &[Session<'_>; 2], bounds: &Bounds) -> Vec<Warning> {
    let [a, b] = sides;
    let closed = |load: &Subject| {
        let is_closed = |load: &Load<'_>| load.at.load.leads();
        a.load(load).is_some_and(is_closed) && b.load(load).is_some()
    };
    let of = |load: Subject| {
        let Some(ratio) = ratio(sides, &load, bounds) else {
            let sentence = format!(
                "Not both sessions have a heat with the null server at {load}: nothing shows whether the machine was \
                 as fast."
            );
            return Some(doubt("no-null-server", sentence));
        };
        let moved = distance(ratio.ratio) > bounds.practical_difference;
        (ratio.p? < bounds.alpha && moved).then(|| {
            let sentence = format!(
                "The null server, the same program in both sessions, answered {} times as much in B as in A at \
                 {load}: the machine was not as fast, and every difference there may come from that.",
                figure::ratio(ratio.ratio)
            );
            doubt("null-server", sentence).with("ratio", ratio.ratio)
        })
    };
    a.subjects(None).filter(closed).filter_map(of).collect()
}

/// The null server's throughput in B over that in A.
fn ratio(sides: &[Session<'_>; 2], at: &Subject, bounds: &Bounds) -> Option<Ratio> {
    let [a, b] = sides.each_ref().map(|side| {
        let load = side.load(at)?;
        Some(load.logs(Metric::Throughput, load.at.load.ceiling()))
    });
    Some(Sample::new(Metric::Throughput, a?, b?)?.ratio(None, bounds))
}

fn distance(ratio: f64) -> f64 {
    ratio.ln().abs().exp() - 1.0
}
