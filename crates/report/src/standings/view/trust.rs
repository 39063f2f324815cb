//! How far the figures can be trusted, in a line.

use deadheat_stats::{order_statistic::Interval, standings::Standings};
use serde::Serialize;

use super::{
    WarningView,
    names::{name, shorts},
};
use crate::{figure::counted, standings::words};

/// How far a session's figures can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trust {
    /// All of it in one line, without a full stop.
    pub line: String,
    /// Complete heats of all loads.
    pub heats: u32,
    /// The smallest and the largest typical half width of the tables' intervals (0.03: ±3 %); `None` if there is none.
    pub half_widths: Option<(f64, f64)>,
    /// The ratio that is known worst, if it is known worse than the typical ones.
    pub widest: Option<WidestRatio>,
    /// Stacks beside themselves.
    pub twin: TwinState,
    /// How many warnings there are.
    pub warnings: usize,
}

/// A ratio is worth a word if it is known this many times worse than the typical ones.
const MUCH_WORSE: f64 = 1.2;

/// The ratio with the widest interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WidestRatio {
    /// Whose ratio it is.
    pub target: String,
    /// The load, as short as the session allows.
    pub load: String,
    /// Half the width of its interval (0.73: ±73 %).
    pub half_width: f64,
}

/// What became of stacks that were measured twice (A/A).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum TwinState {
    /// There was none.
    Unknown,
    /// It was in too few heats to judge.
    TooFew,
    /// No twin is proven to differ from its original.
    Agrees {
        /// The ratio that is farthest from 1.
        ratio: f64,
        /// Its interval.
        interval: Interval,
    },
    /// A twin differed.
    Differs {
        /// The load, as short as the session allows.
        load: String,
        /// Twin over original.
        ratio: f64,
        /// Its interval.
        interval: Interval,
    },
}

pub(super) fn trust(standings: &Standings, warnings: &[WarningView]) -> Trust {
    let heats: u32 = standings.loads.iter().map(|load| load.heats).sum();
    let half_widths = half_widths(standings);
    let typical = half_widths.map(|(_, most)| most);
    let widest = widest(standings)
        .filter(|one| typical.is_none_or(|most| one.half_width > MUCH_WORSE * most));
    let twin = twin(standings);
    let mut parts = vec![counted(heats as usize, "heat")];
    if let Some((least, most)) = half_widths {
        parts.push(format!(
            "ratios known to {}",
            words::half_widths(least, most)
        ));
    }
    if let Some(WidestRatio {
        target,
        load,
        half_width,
    }) = &widest
    {
        let width = words::half_width(Some(*half_width));
        parts.push(format!("the worst to {width} ({target}, {load})"));
    }
    parts.push(match &twin {
        TwinState::Unknown => "no A/A check".to_owned(),
        TwinState::TooFew => "too few heats for an A/A check".to_owned(),
        TwinState::Agrees { ratio, interval } => {
            format!("A/A {ratio:.2} ({:.2}–{:.2})", interval.low, interval.high)
        }
        TwinState::Differs { load, ratio, .. } => {
            let far = words::percent((ratio - 1.0).abs());
            format!("A/A check failed ({load}: {far} apart)")
        }
    });
    parts.push(match warnings.len() {
        0 => "no warnings".to_owned(),
        many => counted(many, "warning"),
    });
    Trust {
        line: parts.join(", "),
        heats,
        half_widths,
        widest,
        twin,
        warnings: warnings.len(),
    }
}

fn half_widths(standings: &Standings) -> Option<(f64, f64)> {
    let tables = standings.loads.iter().flat_map(|load| &load.tables);
    let widths = tables.filter_map(|table| table.half_width);
    widths.fold(None, |range, width| {
        let (least, most) = range.unwrap_or((width, width));
        Some((f64::min(least, width), f64::max(most, width)))
    })
}

fn widest(standings: &Standings) -> Option<WidestRatio> {
    let loads = standings.loads.iter().zip(shorts(standings));
    let all = loads.flat_map(|(load, short)| {
        let rows = load.tables.iter().flat_map(|table| &table.rows);
        rows.filter_map(move |row| {
            Some(WidestRatio {
                target: name(&row.target),
                load: short.clone(),
                half_width: row.half_width?,
            })
        })
    });
    all.max_by(|one, other| one.half_width.total_cmp(&other.half_width))
}

/// The twin that differs the most, one that differs provably before all others.
fn twin(standings: &Standings) -> TwinState {
    let mut found = TwinState::Unknown;
    let mut farthest = (false, f64::NEG_INFINITY);
    for (load, short) in standings.loads.iter().zip(shorts(standings)) {
        let Some(twin) = &load.twin else { continue };
        let Some(interval) = twin.interval else {
            if found == TwinState::Unknown {
                found = TwinState::TooFew;
            }
            continue;
        };
        let distance = (twin.differs(), twin.ratio.ln().abs());
        if distance <= farthest {
            continue;
        }
        farthest = distance;
        let ratio = twin.ratio;
        found = if twin.differs() {
            TwinState::Differs {
                load: short,
                ratio,
                interval,
            }
        } else {
            TwinState::Agrees { ratio, interval }
        };
    }
    found
}
