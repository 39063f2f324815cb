//! The statistics of heats: on figures made by hand, by their own laws, and on simulated sessions.

mod across;
mod dealing;
mod docs;
mod pairs;
mod planning;
mod ranking;
mod simulation;
mod within_heat;

use deadheat_stats::heats::{Heat, HeatSeries, Round, Slice};

/// A slice that answers so many requests per second.
fn slice(member: usize, throughput: f64) -> Slice {
    Slice {
        member,
        answers: throughput / 10.0,
        seconds: 0.1,
        cpu_seconds: Some(0.1),
        bounded: false,
    }
}

/// A heat whose rounds have these throughputs; `None` is a missing slice.
fn heat(rounds: &[Vec<Option<f64>>]) -> Heat {
    let round = |round: &Vec<Option<f64>>| {
        let slices = round.iter().enumerate();
        let slices = slices.filter_map(|(member, rate)| Some(slice(member, (*rate)?)));
        Round {
            slices: slices.collect(),
        }
    };
    Heat {
        rounds: rounds.iter().map(round).collect(),
    }
}

/// A series of heats of one round each, whose figures are then the heats' estimates.
fn heat_series(heats: &[Vec<Option<f64>>]) -> HeatSeries {
    HeatSeries {
        members: heats.iter().map(Vec::len).max().unwrap_or(0),
        heats: heats
            .iter()
            .map(|one| heat(std::slice::from_ref(one)))
            .collect(),
    }
}
