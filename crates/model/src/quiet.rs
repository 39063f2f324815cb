//! Which rounds of a heat were disturbed from outside, by a rule that looks at no figure of a server. The engine measures
//! such a round at a rate again, and the statistics leave it out.

use crate::heat::{SliceFlag, SliceRecord};

/// A slice in which the hypervisor and other programs took so much more of the CPUs of server and generator than in the
/// quiet ones of its member says little about the server. It is several steps of the kernel's clock.
const TAKEN: f64 = 0.25;
/// In a turn at a rate, which is long enough to tell, the hypervisor alone may take this much more than in the quiet ones.
/// The kernel counts time that was stolen while a process ran as time of that process: where 9 % of two CPUs were stolen,
/// the CPU time per request was a quarter above that of other turns, and where 46 % were, seven times as much.
const STOLEN: f64 = 0.05;
/// The share of a member's slices that are its quiet ones. What is taken in these is always taken, such as by a server or a
/// database whose CPU time is not known.
const QUIET: f64 = 0.2;

/// Whether the machine slept in a slice of this round, so that its clocks mean nothing.
pub fn is_suspended(round: &[SliceRecord]) -> bool {
    let slept = |slice: &SliceRecord| slice.flags.contains(&SliceFlag::Suspended);
    round.iter().any(slept)
}

/// For each of a heat's rounds, whether it was quiet: the machine did not sleep, and no slice was disturbed from outside.
pub fn quiet_rounds(rounds: &[Vec<SliceRecord>]) -> Vec<bool> {
    let awake = || rounds.iter().filter(|round| !is_suspended(round));
    let places = awake().flatten().map(|slice| slice.member as usize + 1);
    let members = places.max().unwrap_or(0);
    let usual = |share: fn(&SliceRecord) -> f64| -> Vec<f64> {
        let mut shares = vec![Vec::new(); members];
        for slice in awake().flatten() {
            shares[slice.member as usize].push(share(slice));
        }
        let quiet = |mut shares: Vec<f64>| {
            shares.sort_by(f64::total_cmp);
            let quiet = (shares.len() as f64 * QUIET) as usize;
            shares.get(quiet).copied().unwrap_or(0.0)
        };
        shares.into_iter().map(quiet).collect()
    };
    let [usually_taken, usually_stolen] = [usual(taken), usual(stolen)];
    let is_quiet = |slice: &SliceRecord| {
        let place = slice.member as usize;
        taken(slice) - usually_taken[place] <= TAKEN
            && stolen(slice) - usually_stolen[place] <= STOLEN
    };
    let each = rounds.iter();
    each.map(|round| !is_suspended(round) && round.iter().all(is_quiet))
        .collect()
}

/// The share of the CPUs of server and generator that the hypervisor and other programs took (0 to 1).
fn taken(slice: &SliceRecord) -> f64 {
    let member = slice.cpu.map_or(0.0, |cpu| cpu.seconds);
    let noise = slice.noise;
    noise.map_or(0.0, |noise| noise.taken_share(slice.window, member))
}

/// The share of these CPUs that the hypervisor took in a turn at a rate (0 to 1). Shorter slices are a few ticks of the
/// kernel's clock.
fn stolen(slice: &SliceRecord) -> f64 {
    let noise = slice.noise.filter(|_| slice.open.is_some());
    noise.map_or(0.0, |noise| noise.stolen_share(slice.window))
}
