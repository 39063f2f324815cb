//! How a session's plan is wished: what it is for, latency, and how much noise.

use clap::ValueEnum;
use deadheat_model::{choice::Purpose, plan::NoiseBound};
use deadheat_runner::session::LatencyMode;

use crate::args::RunArgs;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LatencyArg {
    /// If seven blocks with it fit the budget
    Auto,
    /// Whatever it takes, down to three blocks
    On,
    /// Never
    Off,
}

/// What `--noise-bound` says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NoiseArg(pub(crate) Option<NoiseBound>);

/// "5%" or "off".
pub(crate) fn noise_bound(text: &str) -> Result<NoiseArg, String> {
    if text == "off" {
        return Ok(NoiseArg(None));
    }
    let percent = text.strip_suffix('%').map(str::trim_end);
    let Some(percent) = percent.and_then(|number| number.parse::<f64>().ok()) else {
        return Err("it is a share of the machine's CPU time like 5% or 2.5%, or off".to_owned());
    };
    // Not a number fails both comparisons.
    if percent > 0.0 && percent < 100.0 {
        let share = percent / 100.0;
        return Ok(NoiseArg(Some(NoiseBound {
            other_cpu: share,
            steal: share,
        })));
    }
    let why = if percent <= 0.0 {
        "every trial would be void, because no machine is wholly quiet"
    } else {
        "no trial could pass it; to have none void say off"
    };
    Err(format!("{why}; it lies between 0% and 100%"))
}

/// The bound for noise of a session in blocks.
pub(crate) fn bound(args: &RunArgs) -> Option<NoiseBound> {
    let usual = NoiseArg(Some(NoiseBound::default()));
    args.noise_bound.unwrap_or(usual).0
}

/// What the session is for.
pub(crate) fn purpose(args: &RunArgs) -> Purpose {
    match (args.quick, args.publish) {
        (true, _) => Purpose::FirstLook,
        (_, true) => Purpose::Publication,
        (false, false) => Purpose::Usual,
    }
}

/// Whether there is latency in it.
pub(crate) fn latency(args: &RunArgs) -> LatencyMode {
    match (args.latency, purpose(args)) {
        (Some(LatencyArg::Auto), _) => LatencyMode::Auto,
        (Some(LatencyArg::On), _) | (None, Purpose::Publication) => LatencyMode::On,
        (Some(LatencyArg::Off), _) | (None, Purpose::FirstLook) => LatencyMode::Off,
        (None, Purpose::Usual | Purpose::Repetition) => LatencyMode::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_for_noise_is_a_share_or_off() {
        assert_eq!(noise_bound("off"), Ok(NoiseArg(None)));
        assert_eq!(
            noise_bound("5%"),
            Ok(NoiseArg(Some(NoiseBound::default()))),
            "the default can be typed"
        );
        let fine = noise_bound("2.5 %").map(|arg| arg.0.map(|bound| bound.steal));
        assert_eq!(fine, Ok(Some(0.025)));
        for (wrong, said) in [
            ("5", "like 5%"),
            ("none", "or off"),
            ("%", "like 5%"),
            ("0%", "every trial"),
            ("-3%", "every trial"),
            ("100%", "say off"),
            ("NaN%", "between"),
        ] {
            let told = noise_bound(wrong).expect_err(wrong);
            assert!(told.contains(said), "{wrong}: {told}");
        }
    }
}
