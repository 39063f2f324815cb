//! Where a value lies between the ends of an axis, and which values are written at it.

use deadheat_model::figure::{Quantity, count, per_second, percent, seconds, separated, short};

/// From where to where an axis goes, and how values are spread over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Logarithmic,
}

impl Scale {
    /// A linear scale from 0.
    pub(crate) fn linear(high: f64) -> Self {
        Self {
            kind: Kind::Linear,
            low: 0.0,
            high: if high > 0.0 { high } else { 1.0 },
        }
    }

    /// A logarithmic scale that all of `values` are on, with a little room at its ends; `None` if none of them can be
    /// on one.
    pub fn logarithmic(values: impl Iterator<Item = f64>) -> Option<Self> {
        let usable = values.filter(|value| value.is_finite() && *value > 0.0);
        let ends = usable.fold(None, |ends: Option<(f64, f64)>, value| match ends {
            None => Some((value, value)),
            Some((low, high)) => Some((low.min(value), high.max(value))),
        });
        let (low, high) = ends?;
        // A few percent of room, and not less than 2 % in value: equal values must not make an axis without length.
        let room = (high / low).powf(0.04).max(1.02);
        Some(Self {
            kind: Kind::Logarithmic,
            low: low / room,
            high: high * room,
        })
    }

    /// Where a value lies, from 0 to 1; values beyond an end lie at it.
    pub fn at(&self, value: f64) -> f64 {
        let share = match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            Kind::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        share.clamp(0.0, 1.0)
    }

    /// Whether a value lies beyond an end.
    pub fn is_beyond(&self, value: f64) -> bool {
        value < self.low || value > self.high
    }

    /// Round values to write at it, ascending, each at least this share of the axis from the next. `first`, if it is on
    /// the axis, is always among them.
    pub fn ticks(&self, apart: f64, first: Option<f64>) -> Vec<f64> {
        let is_apart = |pair: &[f64]| self.at(pair[1]) - self.at(pair[0]) >= apart;
        let fits = |ticks: &Vec<f64>| ticks.windows(2).all(is_apart);
        let all = self.candidates().into_iter().filter(fits);
        let mut ticks = all.max_by_key(Vec::len).unwrap_or_default();
        if let Some(first) = first.filter(|first| !self.is_beyond(*first)) {
            ticks.retain(|tick| (self.at(*tick) - self.at(first)).abs() >= apart);
            ticks.push(first);
            ticks.sort_by(f64::total_cmp);
        }
        ticks
    }

    /// Sets of evenly spread round values on the axis.
    fn candidates(&self) -> Vec<Vec<f64>> {
        let length = self.high - self.low;
        // Steps from a hundredth of the axis to its end.
        let decade = length.log10().floor() as i32;
        let steps = (decade - 2..=self.high.log10().floor() as i32)
            .flat_map(|decade| [1.0, 2.0, 5.0].map(|part| part * 10_f64.powi(decade)));
        let multiples = steps.map(|step| {
            let numbers = (self.low / step).ceil() as i64..=(self.high / step).floor() as i64;
            numbers
                .take(200)
                .map(|number| number as f64 * step)
                .collect()
        });
        let mut candidates: Vec<Vec<f64>> = multiples.collect();
        if self.kind == Kind::Logarithmic {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let within = |distance: i32, parts: &[f64]| -> Vec<f64> {
                let decades = decades.clone().filter(|decade| decade % distance == 0);
                let decades = decades.map(|decade| 10_f64.powi(decade));
                decades
                    .flat_map(|decade| parts.iter().map(move |part| part * decade))
                    .collect()
            };
            for distance in 2..=4 {
                candidates.push(within(distance, &[1.0]));
            }
            for parts in WITHIN_A_DECADE {
                candidates.push(within(1, parts));
            }
        }
        for ticks in &mut candidates {
            ticks.retain(|tick| !self.is_beyond(*tick));
        }
        candidates
    }
}

/// Values within a decade of a logarithmic axis.
const WITHIN_A_DECADE: [&[f64]; 5] = [
    &[1.0],
    &[1.0, 3.0],
    &[1.0, 2.0, 5.0],
    &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
    &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
];

/// What the values of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things that are counted.
    Count,
    /// Events per second.
    PerSecond,
    /// Times in seconds.
    Seconds,
    /// Seconds since a start.
    Elapsed,
    /// Shares, as percentages.
    Share,
    /// Quantiles q, each at 1 ÷ (1 − q).
    Percentile,
}

impl Unit {
    /// A measured value.
    pub(crate) fn write(self, value: f64) -> String {
        match self {
            Self::Count => count(value.round() as u64),
            Self::PerSecond => per_second(value),
            Self::Seconds => seconds(value),
            Self::Elapsed => format!("{} s", separated(short(&format!("{value:.2}")))),
            Self::Share => percent(value),
            // As many digits as tell it from its neighbours: p50, p99.2, p99.95.
            Self::Percentile => {
                let decimals = value.log10().floor().max(0.0) as usize;
                let percent = format!("{:.decimals$}", 100.0 * (1.0 - 1.0 / value));
                format!("p{}", short(&percent))
            }
        }
    }

    /// A round value at an axis that ends at `high`.
    fn tick(self, value: f64, high: f64) -> String {
        let plain = |value| Quantity::plain(value).round().to_string();
        match self {
            Self::Count => plain(value),
            Self::PerSecond => format!("{}/s", plain(value)),
            Self::Seconds => Quantity::seconds(value).round().to_string(),
            Self::Elapsed => {
                let (length, name) = clock(high);
                format!("{} {name}", plain(value / length))
            }
            Self::Share => format!("{} %", plain(100.0 * value)),
            Self::Percentile => self.write(value),
        }
    }
}

/// The unit of an axis of time that ends at `high`, in seconds, with its name.
fn clock(high: f64) -> (f64, &'static str) {
    match high {
        high if high < 300.0 => (1.0, "s"),
        high if high < 18_000.0 => (60.0, "min"),
        _ => (3_600.0, "h"),
    }
}

/// An axis of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub(super) scale: Scale,
    pub(super) unit: Unit,
    pub(super) ticks: Vec<Tick>,
}

/// A value that is written at an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
    /// Whether a narrow screen has room for it.
    pub(super) is_coarse: bool,
}

/// The least distance of ticks, as a share of the axis.
const APART: f64 = 0.14;
/// Their least distance on a narrow screen.
const COARSELY: f64 = 0.19;

impl Axis {
    /// A linear axis from 0, with a little room above `values`.
    pub fn amount(unit: Unit, values: impl Iterator<Item = f64>) -> Self {
        Self::new(unit, Scale::linear(1.05 * values.fold(0.0, f64::max)))
    }

    /// An axis of time, in seconds since a start.
    pub fn elapsed(until: f64) -> Self {
        Self::new(Unit::Elapsed, Scale::linear(until))
    }

    /// A logarithmic axis; `None` if no value can be on one.
    pub fn logarithmic(unit: Unit, values: impl Iterator<Item = f64>) -> Option<Self> {
        Some(Self::new(unit, Scale::logarithmic(values)?))
    }

    /// An axis of quantiles from 0, on which each decade is a nine more; `most` is the last one.
    pub fn percentiles(most: f64) -> Self {
        let scale = Scale {
            kind: Kind::Logarithmic,
            low: 1.0,
            high: most.max(10.0),
        };
        let decades = scale.high.log10().floor().min(9.0) as usize;
        // Five labels with many nines fit next to each other; on a narrow screen, half of them.
        let distance = decades.div_ceil(5);
        let ticks = (0..=decades).step_by(distance).map(|decade| {
            let value = 10_f64.powi(decade as i32);
            Tick {
                value,
                label: Unit::Percentile.write(value),
                is_coarse: decades < 5 || decade.is_multiple_of(2 * distance),
            }
        });
        Self {
            scale,
            unit: Unit::Percentile,
            ticks: ticks.collect(),
        }
    }

    /// Where a value lies, from 0 to 1; values beyond an end lie at it.
    pub fn at(&self, value: f64) -> f64 {
        self.scale.at(value)
    }

    /// The values that are written at it, with their labels.
    pub fn labels(&self) -> impl Iterator<Item = (f64, &str)> {
        self.ticks.iter().map(|tick| (tick.value, &*tick.label))
    }

    fn new(unit: Unit, scale: Scale) -> Self {
        let ticks = |apart| -> Vec<f64> {
            // Minutes and hours are round, not their seconds.
            let length = match unit {
                Unit::Elapsed => clock(scale.high).0,
                _ => 1.0,
            };
            let shown = Scale {
                low: scale.low / length,
                high: scale.high / length,
                ..scale
            };
            let ticks = shown.ticks(apart, None).into_iter();
            // There is no half of a thing that is counted.
            let ticks = ticks.filter(|tick| unit != Unit::Count || tick.fract() == 0.0);
            ticks.map(|tick| tick * length).collect()
        };
        let (fine, coarse) = (ticks(APART), ticks(COARSELY));
        let is_coarse = |place: usize, tick: f64| match scale.kind {
            // Each n-th tick, so that the labels have room.
            Kind::Linear => {
                let distance = fine.get(1).map_or(1.0, |second| scale.at(*second));
                place.is_multiple_of((COARSELY / distance).ceil() as usize)
            }
            // Those of a sparser set.
            Kind::Logarithmic => {
                let mut coarse = coarse.iter();
                coarse.any(|other| (scale.at(*other) - scale.at(tick)).abs() < 1e-6)
            }
        };
        let tick = |(place, value): (usize, &f64)| Tick {
            value: *value,
            label: unit.tick(*value, scale.high),
            is_coarse: is_coarse(place, *value),
        };
        Self {
            scale,
            unit,
            ticks: fine.iter().enumerate().map(tick).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logarithmic(low: f64, high: f64) -> Scale {
        Scale::logarithmic([low, high].into_iter()).unwrap()
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
            let scale = logarithmic(low, high);
            let ticks = scale.ticks(0.2, None);
            assert!((2..=6).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
            assert!(
                ticks.iter().all(|tick| !scale.is_beyond(*tick)),
                "{ticks:?}"
            );
            let mut pairs = ticks.windows(2);
            let near = pairs.any(|pair| scale.at(pair[1]) - scale.at(pair[0]) < 0.2);
            assert!(!near, "{low} to {high}: {ticks:?}");
        }
        assert_eq!(logarithmic(0.1, 10.0).ticks(0.2, None)[0], 0.1);
        assert_eq!(
            Scale::linear(10.0).ticks(0.14, None),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        );
        assert_eq!(Scale::linear(0.0).ticks(0.4, None), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn a_value_that_must_be_written_is() {
        let scale = logarithmic(0.93, 1.4);
        assert!(scale.ticks(0.2, Some(1.0)).contains(&1.0));
        assert!(!scale.ticks(0.2, Some(3.0)).contains(&3.0));
    }

    #[test]
    fn the_same_ratio_is_the_same_distance_and_nothing_leaves_the_axis() {
        let scale = logarithmic(1.0, 16.0);
        let distance = |low: f64| scale.at(2.0 * low) - scale.at(low);
        assert!((distance(1.0) - distance(8.0)).abs() < 1e-9);
        assert_eq!((scale.at(0.0), scale.at(f64::INFINITY)), (0.0, 1.0));
        assert!(scale.is_beyond(0.0) && scale.is_beyond(f64::INFINITY) && !scale.is_beyond(4.0));
        assert_eq!(Scale::linear(4.0).at(1.0), 0.25);
    }

    #[test]
    fn without_values_there_is_no_logarithmic_axis() {
        assert_eq!(Scale::logarithmic([0.0, f64::NAN].into_iter()), None);
    }

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_are_named_in_the_unit_that_suits_them() {
        let times =
            |values: [f64; 2]| Axis::logarithmic(Unit::Seconds, values.into_iter()).unwrap();
        for (values, names) in [
            (
                [0.0012, 0.0014],
                vec!["1.2 ms", "1.25 ms", "1.3 ms", "1.35 ms", "1.4 ms"],
            ),
            (
                [90e-6, 2.1e-3],
                vec!["100 µs", "200 µs", "500 µs", "1 ms", "2 ms"],
            ),
            (
                [20e-6, 9.0],
                vec!["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"],
            ),
        ] {
            assert_eq!(labels(&times(values)), names, "{values:?}");
        }
        let until = |seconds| labels(&Axis::elapsed(seconds)).join(", ");
        assert_eq!(until(10.0), "0 s, 2 s, 4 s, 6 s, 8 s, 10 s");
        assert_eq!(until(600.0), "0 min, 2 min, 4 min, 6 min, 8 min, 10 min");
        assert_eq!(until(36_000.0), "0 h, 2 h, 4 h, 6 h, 8 h, 10 h");
        let amount = |unit, most| labels(&Axis::amount(unit, std::iter::once(most))).join(", ");
        assert_eq!(amount(Unit::Count, 2.0), "0, 1, 2");
        assert_eq!(
            amount(Unit::PerSecond, 2_500.0),
            "0/s, 500/s, 1,000/s, 1,500/s, 2,000/s, 2,500/s"
        );
        assert_eq!(amount(Unit::Share, 0.04), "0 %, 1 %, 2 %, 3 %, 4 %");
    }

    #[test]
    fn each_nine_has_its_place() {
        assert_eq!(
            labels(&Axis::percentiles(25_000.0)),
            ["p0", "p90", "p99", "p99.9", "p99.99"]
        );
        assert_eq!(
            labels(&Axis::percentiles(2e6)),
            ["p0", "p99", "p99.99", "p99.9999"]
        );
        let written = [2.0, 64.0, 150.0].map(|place| Unit::Percentile.write(place));
        assert_eq!(written, ["p50", "p98.4", "p99.33"]);
    }

    #[test]
    fn a_narrow_screen_has_every_second_tick_or_so() {
        let axis = Axis::elapsed(12.0);
        let coarse = axis.ticks.iter().filter(|tick| tick.is_coarse);
        let coarse: Vec<&str> = coarse.map(|tick| tick.label.as_str()).collect();
        assert_eq!(coarse, ["0 s", "4 s", "8 s", "12 s"]);
    }
}
