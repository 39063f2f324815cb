//! Where a value lies between the ends of an axis, and which values are written at it.

/// A logarithmic axis: the same distance is the same ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LogAxis {
    low: f64,
    high: f64,
}

impl LogAxis {
    /// An axis that all of `values` are on, with a little room at its ends; `None` if none of them can be on one.
    pub(super) fn over(values: impl Iterator<Item = f64>) -> Option<Self> {
        let usable = values.filter(|value| value.is_finite() && *value > 0.0);
        let ends = usable.fold(None, |ends: Option<(f64, f64)>, value| match ends {
            None => Some((value, value)),
            Some((low, high)) => Some((low.min(value), high.max(value))),
        });
        let (low, high) = ends?;
        // A few percent of room, and not less than 2 % in value: equal values must not make an axis without length.
        let room = (high / low).powf(0.04).max(1.02);
        Some(Self {
            low: low / room,
            high: high * room,
        })
    }

    /// Where a value lies, from 0 to 1; values beyond an end lie at it.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        share.clamp(0.0, 1.0)
    }

    /// Whether a value lies beyond an end.
    pub(super) fn is_beyond(&self, value: f64) -> bool {
        value < self.low || value > self.high
    }

    /// At most `most` round values to write at it, ascending, at least this share of the axis `apart`. `first`, if it is
    /// on the axis, is always among them.
    pub(super) fn ticks(&self, most: usize, apart: f64, first: Option<f64>) -> Vec<f64> {
        let mut ticks: Vec<f64> = first
            .into_iter()
            .filter(|tick| !self.is_beyond(*tick))
            .collect();
        for tick in self.candidates() {
            let is_free = |other: &f64| (self.at(*other) - self.at(tick)).abs() >= apart;
            if ticks.len() < most && ticks.iter().all(is_free) {
                ticks.push(tick);
            }
        }
        ticks.sort_by(f64::total_cmp);
        ticks
    }

    /// Round values on the axis, the roundest first.
    fn candidates(&self) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let of = |factor: f64| {
            let decades = decades.clone();
            decades.map(move |decade| factor * 10_f64.powi(decade))
        };
        let rough = [1.0, 5.0, 2.0].into_iter().flat_map(of);
        // Within less than a decade there are finer steps, too.
        let step = 10_f64.powi((self.high - self.low).log10().floor() as i32);
        let fine = [1.0, 0.5, 0.2].into_iter().flat_map(|part| {
            let step = step * part;
            let first = (self.low / step).ceil();
            (0..50).map(move |count| (first + f64::from(count)) * step)
        });
        let all = rough.chain(fine);
        all.filter(|tick| *tick > 0.0 && !self.is_beyond(*tick))
            .collect()
    }
}

/// The share of the longest bar, which all of `values` are measured by, from 0 to 1.
pub(super) fn share_of_most(value: f64, values: impl Iterator<Item = f64>) -> f64 {
    let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    if most > 0.0 && value.is_finite() {
        (value / most).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(low: f64, high: f64) -> Vec<f64> {
        let axis = LogAxis::over([low, high].into_iter()).unwrap();
        axis.ticks(5, 0.2, None)
    }

    #[test]
    fn ticks_are_round_few_apart_and_on_the_axis() {
        for (low, high) in [
            (0.96, 1.0),
            (0.5, 1.0),
            (0.02, 1.0),
            (1e-6, 3.0),
            (0.98, 1.4),
            (3.0, 4.0),
        ] {
            let axis = LogAxis::over([low, high].into_iter()).unwrap();
            let ticks = axis.ticks(5, 0.2, None);
            assert!((2..=5).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
            assert!(ticks.iter().all(|tick| !axis.is_beyond(*tick)), "{ticks:?}");
            let near = ticks
                .windows(2)
                .any(|pair| axis.at(pair[1]) - axis.at(pair[0]) < 0.2);
            assert!(!near, "{low} to {high}: {ticks:?}");
        }
        assert_eq!(ticks(0.1, 10.0)[0], 0.1);
    }

    #[test]
    fn a_value_that_must_be_written_is() {
        let axis = LogAxis::over([0.93, 1.4].into_iter()).unwrap();
        assert!(axis.ticks(5, 0.2, Some(1.0)).contains(&1.0));
        assert!(!axis.ticks(5, 0.2, Some(3.0)).contains(&3.0));
    }

    #[test]
    fn the_same_ratio_is_the_same_distance_and_nothing_leaves_the_axis() {
        let axis = LogAxis::over([1.0, 16.0].into_iter()).unwrap();
        let distance = |low: f64| axis.at(2.0 * low) - axis.at(low);
        assert!((distance(1.0) - distance(8.0)).abs() < 1e-9);
        assert_eq!((axis.at(0.0), axis.at(f64::INFINITY)), (0.0, 1.0));
        assert!(axis.is_beyond(0.0) && axis.is_beyond(f64::INFINITY) && !axis.is_beyond(4.0));
    }

    #[test]
    fn without_values_there_is_no_axis() {
        assert_eq!(LogAxis::over([0.0, f64::NAN].into_iter()), None);
        assert_eq!(share_of_most(3.0, [f64::NAN].into_iter()), 0.0);
        assert_eq!(share_of_most(3.0, [6.0, 3.0].into_iter()), 0.5);
    }
}
