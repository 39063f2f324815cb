//! Converts recorded slices into the input of the statistics.

use std::{collections::BTreeMap, time::Duration};

use deadheat_model::{
    HeatRecord, LatencyHistogram,
    figure::{counted, short_percent},
    heat::{MemberRecord, SliceFlag, SliceRecord, is_suspended, quiet_rounds},
    observation::TRANSPORT_FAILURES,
    plan::NoiseBound,
    warning::{Warning, doubt},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Heat, Quantity, Round, Settings, Slice,
    pauses::{self, SliceTimes},
    within,
};
use crate::interval::median;

/// How the members of a heat are numbered in the statistics, and which CPUs they have.
pub trait Numbering {
    /// The number of the member at this place in the heat's list; `None` if the statistics leave it out.
    fn number(&self, heat: &HeatRecord, place: usize) -> Option<usize>;

    /// The CPUs that the server of a number may use; above 0.
    fn cpus(&self, number: usize) -> f64;
}

/// At least this share of a heat's rounds must be undisturbed. Otherwise all of them count, because disturbances are
/// then normal for the machine.
const MIN_ROUNDS: f64 = 0.2;

/// The rounds that count, which are the same for all members. A round does not count if the machine slept in it,
/// because its clocks are wrong then, or if a slice was disturbed from outside. Slow slices without such a cause count,
/// because the server may have caused them.
pub fn rounds(heat: &HeatRecord) -> impl Iterator<Item = &Vec<SliceRecord>> {
    let quiet = quiet_rounds(&heat.rounds);
    let awake = heat.rounds.iter().filter(|round| !is_suspended(round));
    let counts = quiet.iter().filter(|is_quiet| **is_quiet).count() as f64;
    let takes_all = counts < MIN_ROUNDS * awake.count() as f64;
    let rounds = heat.rounds.iter().zip(quiet);
    rounds.filter_map(move |(round, is_quiet)| {
        let counts = is_quiet || takes_all && !is_suspended(round);
        counts.then_some(round)
    })
}

/// The server falls behind (takes less than 95 % of the rate) if a request waited to be sent for longer than this share
/// of the open loop's time.
const BEHIND: f64 = 0.05;

/// Whether a member of a heat at a rate was loaded. Members with a lower capacity are not.
pub(crate) fn was_loaded(heat: &HeatRecord, place: usize) -> bool {
    let mut slices = heat.rounds.iter().flatten();
    slices.any(|slice| slice.member as usize == place)
}

/// Whether a member of a heat at a rate cannot take the rate. Either its capacity is lower, so that it was not loaded,
/// or requests still waited for a connection at the end of most of its turns. In a single turn of a second, a pause of
/// 50 ms has the same effect, but a server that is too slow is behind after every turn.
pub fn is_overloaded(heat: &HeatRecord, place: usize) -> bool {
    let is_asked = heat.members[place].offered_per_second.is_some();
    let fell_behind = |slice: &SliceRecord| {
        let time = (slice.guard + slice.window).as_secs_f64();
        let open = slice.open.as_ref();
        open.is_some_and(|open| open.oldest_unsent.as_secs_f64() > BEHIND * time)
    };
    let turns: Vec<bool> = slices_of(heat, place).map(fell_behind).collect();
    let behind = turns.iter().filter(|is_behind| **is_behind).count();
    is_asked && (turns.is_empty() || 2 * behind > turns.len())
}

/// The heats in which a stack did not take a rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overloads {
    /// Its capacity was below the rate, so that it was not loaded.
    below: u32,
    /// Requests waited for longer and longer.
    behind: u32,
    /// Heats in which it took part.
    heats: u32,
}

impl Overloads {
    /// Counts these heats, each with the member's place in it. The member must not have failed in any of them.
    pub(crate) fn new<'h>(heats: impl Iterator<Item = (&'h HeatRecord, usize)>) -> Self {
        heats.fold(Self::default(), |mut found, (heat, place)| {
            found.heats += 1;
            if is_overloaded(heat, place) {
                let is_loaded = was_loaded(heat, place);
                found.behind += u32::from(is_loaded);
                found.below += u32::from(!is_loaded);
            }
            found
        })
    }

    /// Whether the stack missed the rate in most of its heats, which means that it cannot take the rate.
    pub(crate) fn are_most(&self) -> bool {
        2 * (self.below + self.behind) > self.heats
    }

    /// Whether it took the rate in all of its heats.
    pub(crate) fn is_none(&self) -> bool {
        self.below + self.behind == 0
    }

    /// The counts in words; `None` if both are 0.
    pub(crate) fn in_words(&self) -> Option<String> {
        let of = |count: u32, what: &str| {
            let heats = counted(self.heats, "heat");
            (count > 0).then(|| format!("{what} in {count} of {heats}"))
        };
        let below = of(self.below, "its capacity was below the rate");
        let behind = of(self.behind, "requests waited longer and longer");
        let parts: Vec<String> = below.into_iter().chain(behind).collect();
        (!parts.is_empty()).then(|| parts.join(", and "))
    }
}

/// The reason why a member does not count in a heat: it failed, or too many requests failed on the way. `None` if it
/// counts.
pub fn failure(heat: &HeatRecord, place: usize) -> Option<String> {
    let member: &MemberRecord = heat.members.get(place)?;
    if let Some(failure) = &member.failure
        // One that only did not end as it should was measured.
        && failure.void_from.is_some()
    {
        return Some(failure.failure.in_words());
    }
    // An open loop waits for seconds after its end. A request without an answer by then is in no histogram.
    let is_left =
        |slice: &SliceRecord| slice.open.is_some() && slice.flags.contains(&SliceFlag::Undrained);
    if slices_of(heat, place).any(is_left) {
        let number = heat.heat + 1;
        return Some(format!(
            "under load: requests had no answer, also seconds after the end, in heat {number}"
        ));
    }
    let (failed, ended) = slices_of(heat, place).fold((0, 0), |(failed, ended), slice| {
        let tally = &slice.tally;
        (failed + tally.failed.total(), ended + tally.ended())
    });
    (failed as f64 > TRANSPORT_FAILURES * ended as f64).then(|| {
        let number = heat.heat + 1;
        format!("under load: {failed} of {ended} requests failed in heat {number}")
    })
}

/// The number of heats in which a member has failed.
pub fn failures<'a>(
    heats: impl Iterator<Item = &'a HeatRecord>,
    is_asked: impl Fn(&MemberRecord) -> bool,
) -> usize {
    let failed = heats.filter(|heat| {
        let mut members = heat.members.iter().enumerate();
        members.any(|(place, member)| is_asked(member) && failure(heat, place).is_some())
    });
    failed.count()
}

/// The counted slices of the member at this place.
pub(crate) fn slices_of(heat: &HeatRecord, place: usize) -> impl Iterator<Item = &SliceRecord> {
    let all = rounds(heat).flatten();
    all.filter(move |slice| slice.member as usize == place)
}

/// The answers of slices at a rate over the requests that fell due; `None`: nothing fell due.
pub(crate) fn answered_share<'r>(slices: impl Iterator<Item = &'r SliceRecord>) -> Option<f64> {
    let due = |slice: &SliceRecord| Some((slice.tally.answers(), slice.open.as_ref()?.offered));
    let (answers, offered) = slices
        .filter_map(due)
        .fold((0, 0), |(answers, offered), one| {
            (answers + one.0, offered + one.1)
        });
    (offered > 0).then(|| answers as f64 / offered as f64)
}

/// The lengths of the slices of a load. Slices are longer if answers are slow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SliceLengths {
    /// The counted part in seconds, the median of a member: the least and the most of all members.
    pub counted_seconds: [f64; 2],
    /// The guard before it, which does not count, likewise.
    pub guard_seconds: [f64; 2],
    /// The longest time that a member was without load between two of its slices, in seconds.
    pub longest_gap_seconds: f64,
}

impl SliceLengths {
    /// The lengths of the counted slices of each member; `None` without any.
    pub fn new<'a>(members: impl Iterator<Item = Vec<&'a SliceRecord>>) -> Option<Self> {
        let member = |slices: Vec<&SliceRecord>| {
            let seconds = |of: fn(&SliceRecord) -> Duration| {
                median(slices.iter().map(|slice| of(slice).as_secs_f64()))
            };
            let gap = slices.iter().filter_map(|slice| slice.gap).max();
            let gap = gap.unwrap_or_default().as_secs_f64();
            Some([seconds(|one| one.window)?, seconds(|one| one.guard)?, gap])
        };
        let members: Vec<[f64; 3]> = members.filter_map(member).collect();
        let ends = |place: usize| {
            let all = || members.iter().map(|member| member[place]);
            [
                all().fold(f64::INFINITY, f64::min),
                all().fold(0.0, f64::max),
            ]
        };
        (!members.is_empty()).then(|| Self {
            counted_seconds: ends(0),
            guard_seconds: ends(1),
            longest_gap_seconds: ends(2)[1],
        })
    }
}

/// Long gaps are reported if they come before more than this share of a member's slices.
const FEW_GAPS: f64 = 0.05;

/// Whether a member was without load for longer than servers keep idle connections before more than a few of its
/// slices.
pub fn often_late<'a>(slices: impl Iterator<Item = &'a SliceRecord>) -> bool {
    let (late, all) = slices.fold((0_u32, 0_u32), |(late, all), slice| {
        let is_late = slice.flags.contains(&SliceFlag::LongGap);
        (late + u32::from(is_late), all + 1)
    });
    f64::from(late) > FEW_GAPS * f64::from(all)
}

/// The figure of each member over the whole heat, which verdicts are based on. `None` for a member that failed or did
/// not answer.
pub fn figures(record: &HeatRecord, quantity: Quantity) -> Vec<Option<f64>> {
    struct ByPlace;
    impl Numbering for ByPlace {
        fn number(&self, _: &HeatRecord, place: usize) -> Option<usize> {
            Some(place)
        }

        fn cpus(&self, _: usize) -> f64 {
            1.0
        }
    }
    let heat = heat(record, &ByPlace, &Settings::default());
    let mut figures = vec![None; record.members.len()];
    for estimate in within::of_heat(&heat, quantity) {
        figures[estimate.member] = Some(quantity.figure(estimate.value));
    }
    figures
}

/// A server was still warming up if it became faster by more than this share from the first half of its slices to the
/// second …
const RISE: f64 = 0.1;
/// … and by more than this many standard errors. Of steady servers, one heat in a thousand looks like that.
const ERRORS: f64 = 3.0;
/// The minimum number of slices in a half, for an estimate of their scatter.
const MIN_SLICES: usize = 3;

/// Whether the member at this place was steady in a heat: at the end of its warm-up, and while its slices were counted.
pub fn is_steady(heat: &HeatRecord, place: usize) -> bool {
    let warm_up = heat.members.get(place).and_then(|member| member.warm_up);
    let speeds: Vec<f64> = rounds(heat)
        .filter_map(|round| beside_others(round, place))
        .collect();
    !warm_up.is_some_and(|warm_up| warm_up.is_unsteady()) && !rises(&speeds)
}

/// The logarithm of a member's throughput in a round over the mean of the other members, which cancels changes of the
/// machine's speed. For a member that is alone, its own throughput; `None` without an answer.
fn beside_others(round: &[SliceRecord], place: usize) -> Option<f64> {
    let speed = |slice: &SliceRecord| {
        let speed = slice.throughput();
        (speed > 0.0).then(|| speed.ln())
    };
    let is_own = |slice: &&SliceRecord| slice.member as usize == place;
    let own = round.iter().find(is_own).and_then(speed)?;
    let others: Vec<f64> = round
        .iter()
        .filter(|slice| !is_own(slice))
        .filter_map(speed)
        .collect();
    let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
    Some(own - mean)
}

/// Whether the later half of these logarithms is above the earlier half by more than chance explains.
fn rises(speeds: &[f64]) -> bool {
    let (earlier, later) = speeds.split_at(speeds.len() / 2);
    if earlier.len() < MIN_SLICES {
        return false;
    }
    let mean = |half: &[f64]| half.iter().sum::<f64>() / half.len() as f64;
    let error = |half: &[f64]| {
        let (mean, n) = (mean(half), half.len() as f64);
        let squares: f64 = half.iter().map(|speed| (speed - mean).powi(2)).sum();
        squares / (n - 1.0) / n
    };
    let rise = mean(later) - mean(earlier);
    rise > RISE.ln_1p() && rise > ERRORS * (error(earlier) + error(later)).sqrt()
}

/// The share of its CPUs' time that the server was busy in a slice (0 to 1); `None` if it was not measured.
pub fn busy(slice: &SliceRecord, cpus: f64) -> Option<f64> {
    let cpu = slice.cpu.filter(|cpu| cpu.span_seconds > 0.0)?;
    Some(cpu.seconds / cpu.span_seconds / cpus)
}

/// The limit of a slice's throughput.
pub fn limited_by(slice: &SliceRecord, cpus: f64, settings: &Settings) -> LimitedBy {
    let busy = busy(slice, cpus).unwrap_or(0.0);
    limit_of(busy, slice.generator.busiest, settings)
}

/// The heat as input of the statistics: its counted rounds, without members that failed in it.
pub fn heat(record: &HeatRecord, numbering: &impl Numbering, settings: &Settings) -> Heat {
    let mut rounds = vec![Round::default(); self::rounds(record).count()];
    for place in 0..record.members.len() {
        let Some(member) = numbering.number(record, place) else {
            continue;
        };
        if failure(record, place).is_some() {
            continue;
        }
        let slices: Vec<SliceTimes> = slices_of(record, place).map(SliceTimes::new).collect();
        let mut charged = pauses::charged_times(&slices).into_iter();
        for (round, recorded) in rounds.iter_mut().zip(self::rounds(record)) {
            let mut own = recorded.iter();
            let own = own.find(|slice| slice.member as usize == place);
            let Some((slice, charged)) = own.and_then(|slice| Some((slice, charged.next()?)))
            else {
                continue;
            };
            round.slices.push(Slice {
                member,
                answers: slice.tally.answers() as f64,
                seconds: charged.seconds,
                cpu_seconds: charged.cpu_seconds,
                bounded: limited_by(slice, numbering.cpus(member), settings).is_bound(),
            });
        }
    }
    Heat { rounds }
}

/// The merged times of these slices: response times of an open loop, service times of a closed loop.
pub(super) fn times<'a>(slices: impl Iterator<Item = &'a SliceRecord>) -> LatencyHistogram {
    let mut times = LatencyHistogram::new();
    for slice in slices {
        match &slice.open {
            Some(open) => times.merge(&open.response_time),
            None => times.merge(&slice.service_time),
        }
    }
    times
}

/// The most frequent limit of these slices; `None` if no slice has a measurement of the server.
pub(crate) fn usual_limit<'a>(
    slices: impl Iterator<Item = &'a SliceRecord>,
    cpus: f64,
    settings: &Settings,
) -> Option<LimitedBy> {
    let mut counts: BTreeMap<LimitedBy, u32> = BTreeMap::new();
    for slice in slices.filter(|slice| slice.cpu.is_some()) {
        *counts.entry(limited_by(slice, cpus, settings)).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(limit, _)| limit)
}

/// What held a slice back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// The server used all of its CPU time. A faster generator would not have found more.
    Server,
    /// The generator used all of its CPU time while the server had time left: the server can do more than was counted.
    Generator,
    /// Both had CPU time left: the server waited for something else, for example its database, its locks or its own
    /// queue. The counted throughput is its own.
    Neither,
}

impl LimitedBy {
    /// Whether the throughput is only a lower bound of what the server can do.
    pub fn is_bound(self) -> bool {
        self == LimitedBy::Generator
    }
}

/// The limit, from the shares of CPU time (0 to 1) that server and generator were busy.
///
/// `generator_busy_share` is the time that the generator worked, not the time that it polled for answers.
pub fn limit_of(
    server_busy_share: f64,
    generator_busy_share: f64,
    settings: &Settings,
) -> LimitedBy {
    if server_busy_share >= settings.saturated {
        LimitedBy::Server
    } else if generator_busy_share >= settings.saturated {
        LimitedBy::Generator
    } else {
        LimitedBy::Neither
    }
}

/// The id of the warning that other programs took CPU time.
pub(crate) const OTHERS: &str = "others";

/// Warnings about the CPU time that the hypervisor and other programs took from server and generator in these slices. What
/// other programs used is known where the server's own use is.
pub(crate) fn taken<'r>(slices: impl Iterator<Item = &'r SliceRecord>) -> Vec<Warning> {
    let (mut time, mut steal) = (0.0, 0.0);
    let (mut known_time, mut others) = (0.0, 0.0);
    for slice in slices {
        let Some(noise) = slice.noise else { continue };
        let cpu_time = f64::from(noise.cpus) * slice.window.as_secs_f64();
        time += cpu_time;
        steal += noise.steal_seconds;
        if let Some(cpu) = slice.cpu {
            known_time += cpu_time;
            others += noise.others(cpu.seconds).0;
        }
    }
    let bound = NoiseBound::default();
    let took = |id: &str, share: f64, bound: f64, begins: &str, advice: &str| {
        // Without a slice there is no share.
        (share > bound).then(|| {
            let sentence = format!("{begins} {} of the CPU time.", short_percent(share));
            doubt(id, sentence).with("share", share).advice(advice)
        })
    };
    let steal = took(
        "steal",
        steal / time,
        bound.steal,
        "The hypervisor took",
        "Repeat at a quieter time, or on a dedicated machine.",
    );
    let others = took(
        OTHERS,
        others / known_time,
        bound.other_cpu,
        "Other programs used at least",
        "Stop them and repeat.",
    );
    steal.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::{
        Tally,
        heat::{CpuUsed, SliceNoise},
    };

    use super::*;

    fn slice(member: u32, answers: u64) -> SliceRecord {
        SliceRecord {
            member,
            window: Duration::from_millis(100),
            tally: Tally {
                issued: answers,
                succeeded: answers,
                ..Tally::default()
            },
            ..SliceRecord::default()
        }
    }

    #[test]
    fn what_the_hypervisor_and_others_took_is_warned_of_and_a_server_of_unknown_use_is_no_other() {
        // Of two CPUs for 0.1 s, the hypervisor takes 0.02 s, others 0.04 s, and the server 0.1 s.
        let disturbed = SliceRecord {
            cpu: Some(CpuUsed {
                seconds: 0.1,
                ..CpuUsed::default()
            }),
            noise: Some(SliceNoise {
                steal_seconds: 0.02,
                busy_seconds: 0.14,
                cpus: 2,
                ..SliceNoise::default()
            }),
            ..slice(0, 1)
        };
        let unknown = SliceRecord {
            cpu: None,
            ..disturbed.clone()
        };
        let told = |slices: &[&SliceRecord]| -> Vec<String> {
            let warnings = taken(slices.iter().copied());
            warnings.into_iter().map(|one| one.sentence).collect()
        };
        let steal = "The hypervisor took 10 % of the CPU time.".to_owned();
        let others = "Other programs used at least 20 % of the CPU time.".to_owned();
        assert_eq!(told(&[&disturbed]), [steal.clone(), others.clone()]);
        assert_eq!(told(&[&disturbed, &unknown]), [steal.clone(), others]);
        assert_eq!(told(&[&unknown]), [steal]);
        assert!(told(&[&slice(0, 1)]).is_empty() && told(&[]).is_empty());
    }

    #[test]
    fn a_machine_that_becomes_faster_makes_no_server_unsteady() {
        let of = |speeds: [u64; 2]| {
            beside_others(&[slice(1, speeds[1]), slice(0, speeds[0])], 0).unwrap()
        };
        let alone = beside_others(&[slice(0, 1_000)], 0).unwrap();
        assert!((alone - 10_000_f64.ln()).abs() < 1e-9);
        assert!((of([1_000, 2_000]) - of([1_500, 3_000])).abs() < 1e-9);
        assert!((of([1_500, 2_000]) - of([1_000, 2_000]) - 1.5_f64.ln()).abs() < 1e-9);
        assert_eq!(beside_others(&[slice(1, 5)], 0), None);
    }

    #[test]
    fn a_server_that_becomes_faster_while_it_is_counted_is_told_from_chance() {
        let noise = [0.1, -0.1, 0.05, -0.05, 0.0, 0.1];
        let with = |rise: f64| -> Vec<f64> {
            let later = noise.iter().map(|noise| noise + rise);
            noise.iter().copied().chain(later).collect()
        };
        assert!(!rises(&with(0.0)));
        // 5 % is less than what counts, whatever the noise.
        assert!(!rises(&[0.0, 0.0, 0.0, 0.05, 0.05, 0.05]));
        assert!(rises(&with(0.4)));
        // A server that becomes slower is not warming up.
        assert!(!rises(&with(-0.4)));
        assert!(!rises(&[0.0, 1.0]), "too few to tell");
    }

    #[test]
    fn a_server_without_cpu_left_is_the_limit_however_busy_the_generator_was() {
        let settings = Settings::default();
        for (server, generator, limit) in [
            (0.98, 1.0, LimitedBy::Server),
            (0.95, 0.99, LimitedBy::Server),
            (0.949, 0.95, LimitedBy::Generator),
            (0.5, 1.0, LimitedBy::Generator),
            (0.5, 0.94, LimitedBy::Neither),
            (1.0, 0.2, LimitedBy::Server),
        ] {
            let found = limit_of(server, generator, &settings);
            assert_eq!(found, limit, "{server}, {generator}");
            assert_eq!(found.is_bound(), limit == LimitedBy::Generator);
        }
    }
}
