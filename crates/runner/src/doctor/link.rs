//! The network between this machine and another host: what was measured of it, judged.

use std::time::Duration;

use deadheat_model::{
    machine::Finding,
    words::{count, separated},
};
use serde::{Deserialize, Serialize};

use super::{
    Interface, Offloads,
    finding::{fine, note, unknown, warning},
};

/// A median round trip above this is a good part of a quick server's response time.
const LONG_TRIP: Duration = Duration::from_millis(1);
/// The kernel corrects a clock by at most this (adjtimex(2)); one that is further off is broken.
const MOST_DRIFT_PPM: f64 = 500.0;
/// A TCP connection that sends as much as it can fills a queue until something is lost, so a few packets always are.
const MOST_RESENT: f64 = 0.001;
/// An answer of the workload payload: a mebibyte.
const PAYLOAD_BITS: f64 = 8.0 * 1024.0 * 1024.0;

/// How long small messages took there and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trips {
    /// The shortest time.
    pub quickest: Duration,
    /// Half of them took longer.
    pub median: Duration,
}

impl Trips {
    /// Of single ones; `None` without any.
    pub fn of(mut all: Vec<Duration>) -> Option<Self> {
        all.sort_unstable();
        Some(Self {
            quickest: *all.first()?,
            median: all[all.len() / 2],
        })
    }
}

/// The two machines' clocks, asked over the launcher's pipe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clocks {
    /// Of the questions.
    pub trips: Trips,
    /// How much faster the other clock runs, in parts per million.
    pub drift_ppm: f64,
    /// That is right within so much.
    pub drift_error_ppm: f64,
}

/// Bytes that arrived, and how long that took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// How many arrived.
    pub bytes: u64,
    /// From the first one to the last one.
    #[serde(with = "deadheat_model::seconds")]
    pub time: Duration,
}

impl Flow {
    /// Bits in a second.
    pub fn bits_per_second(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Packets of a connection that were sent again, and about how many there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resent {
    /// Sent again.
    pub again: u64,
    /// All.
    pub packets: u64,
}

impl Resent {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            again: self.again + other.again,
            packets: self.packets + other.packets,
        }
    }

    fn share(&self) -> f64 {
        self.again as f64 / self.packets.max(1) as f64
    }
}

/// What was measured over TCP connections between this machine and a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Of small messages.
    pub trips: Trips,
    /// From this machine to the host.
    pub to_host: Flow,
    /// From the host to this machine.
    pub from_host: Flow,
    /// While small messages went there and back, when no queue is full; `None` where a kernel does not count.
    pub resent_small: Option<Resent>,
    /// While as much was sent as possible.
    pub resent_large: Option<Resent>,
    /// This machine's interface on the way.
    pub here: Option<Interface>,
    /// The host's.
    pub there: Option<Interface>,
}

/// That a host could not be reached, or was lost.
pub fn unreached(why: &str) -> Finding {
    warning(
        "host",
        format!("no answer: {why}"),
        "Nothing is known of this host, and no session can use it.",
        "",
    )
}

/// That no connection could be made between the two machines.
pub fn unmeasured(why: &str, remedy: &str) -> Finding {
    warning(
        "network",
        format!("not measured: {why}"),
        "Round trip, bandwidth and packet loss are unknown, and the host may not reach this machine's servers either.",
        remedy,
    )
}

/// Findings on the launcher's pipe and the clocks, the worst first.
pub fn judge_clocks(clocks: &Clocks) -> Vec<Finding> {
    sorted(vec![launcher(clocks), start(clocks), drift(clocks)])
}

/// Findings on the network, the worst first.
pub fn judge_link(link: &Link) -> Vec<Finding> {
    sorted(vec![
        round_trip(link),
        bandwidth(link),
        loss(link),
        interfaces(link),
        offloads(link),
    ])
}

fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    // Stable.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    findings
}

/// What a way there and back is found to take, and why a long one matters.
fn of_trips(check: &str, found: &Trips, why: &str, remedy: &str) -> Finding {
    if found.median <= LONG_TRIP {
        return fine(check, trips(found));
    }
    note(check, trips(found), why, remedy)
}

fn round_trip(link: &Link) -> Finding {
    of_trips(
        "round-trip",
        &link.trips,
        "Every response time contains it, and a connection sends at most one request in that time.",
        "Use hosts on the same switch.",
    )
}

fn launcher(clocks: &Clocks) -> Finding {
    of_trips(
        "launcher-round-trip",
        &clocks.trips,
        "Orders take this way. Each slice begins four round trips after it was decided, so a session has fewer slices.",
        "",
    )
}

fn start(clocks: &Clocks) -> Finding {
    // The answer was given some time between the question and its arrival.
    let error = clocks.trips.quickest / 2;
    let found = format!("hosts begin together within {}", time(error));
    if error <= LONG_TRIP {
        return fine("start", found);
    }
    note(
        "start",
        found,
        "Slices take about 100 ms. At their edges, only some of the hosts load.",
        "",
    )
}

fn drift(clocks: &Clocks) -> Finding {
    let Clocks {
        drift_ppm,
        drift_error_ppm,
        ..
    } = clocks;
    // Never "-0".
    let rounded = drift_ppm.round() + 0.0;
    let found = format!("{rounded} ppm, ± {drift_error_ppm:.0} ppm");
    if drift_ppm.abs() - drift_error_ppm > MOST_DRIFT_PPM {
        return warning(
            "clock-drift",
            found,
            "The clocks of the two machines run at different speeds, more than time synchronisation ever causes. Times \
             and rates of the hosts cannot be compared.",
            "Compare the clock sources of both machines; in a virtual machine, ask for a better one.\n\
             cat /sys/devices/system/clocksource/clocksource0/current_clocksource",
        );
    }
    if *drift_error_ppm > MOST_DRIFT_PPM {
        return unknown(
            "clock-drift",
            found,
            "The clocks were watched too briefly for the round trip between them: use --watch 30s.",
        );
    }
    fine("clock-drift", found)
}

fn bandwidth(link: &Link) -> Finding {
    let to_host = link.to_host.bits_per_second();
    let answers = to_host / PAYLOAD_BITS;
    note(
        "bandwidth",
        format!(
            "{} to the host, {} back",
            bits(to_host),
            bits(link.from_host.bits_per_second())
        ),
        &format!(
            "It bounds workloads with long answers: this host can take at most {} answers/s of payload (8.4 Mbit each).",
            significant(answers)
        ),
        "",
    )
}

fn loss(link: &Link) -> Finding {
    let (Some(small), Some(large)) = (link.resent_small, link.resent_large) else {
        return unknown(
            "packet-loss",
            "a kernel does not count",
            "A lost packet delays an answer by 200 ms or more.",
        );
    };
    let found = format!(
        "{} of {} packets sent again in small messages, {} of about {} at full speed",
        count(small.again),
        count(small.packets),
        count(large.again),
        significant(large.packets as f64)
    );
    if small.share() <= MOST_RESENT && large.share() <= MOST_RESENT {
        return fine("packet-loss", found);
    }
    warning(
        "packet-loss",
        found,
        "A lost packet delays an answer, often by 200 ms or more. The highest response times are then the network's.",
        "Look for errors and drops on both machines and on the switch: cable, full queues, shared links.\n\
         ip -s link",
    )
}

fn interfaces(link: &Link) -> Finding {
    let why = "Packets that are too long for one side are cut up or dropped on the way.";
    let (Some(here), Some(there)) = (&link.here, &link.there) else {
        return unknown("mtu", "no interface has the connection's address", why);
    };
    let (Some(ours), Some(theirs)) = (here.mtu, there.mtu) else {
        return unknown("mtu", "the kernel does not tell", why);
    };
    let said = |interface: &Interface, mtu| {
        let speed = interface.megabits_per_second;
        let speed = speed.map_or(String::new(), |speed| {
            format!(", {}", bits(f64::from(speed) * 1e6))
        });
        format!("{mtu} ({}{speed})", interface.name)
    };
    let found = format!("{} here, {} there", said(here, ours), said(there, theirs));
    if ours == theirs {
        return fine("mtu", found);
    }
    warning(
        "mtu",
        found,
        why,
        "Set the same MTU on both machines, one that the switch has too: ip link set dev NAME mtu BYTES",
    )
}

fn offloads(link: &Link) -> Finding {
    let why =
        "Without offloads, each packet costs CPU time of its own: long answers become expensive.";
    let sides = [("here", &link.here), ("there", &link.there)];
    let mut off = Vec::new();
    let mut remedies = Vec::new();
    for (side, interface) in sides {
        let Some((interface, offloads)) = interface
            .as_ref()
            .and_then(|interface| Some((interface, interface.offloads?)))
        else {
            return unknown("offloads", format!("the kernel does not tell {side}"), why);
        };
        let missing = missing(offloads);
        if !missing.is_empty() {
            off.push(format!("{} off {side}", missing.join(", ").to_uppercase()));
            let switches = missing.iter().map(|name| format!("{name} on"));
            let switches = switches.collect::<Vec<_>>().join(" ");
            remedies.push(format!(
                "{}: ethtool -K {} {switches}",
                if side == "here" {
                    "On this machine"
                } else {
                    "On the host"
                },
                interface.name
            ));
        }
    }
    if off.is_empty() {
        return fine("offloads", "TSO, GSO and GRO on");
    }
    note("offloads", off.join("; "), why, remedies.join("\n"))
}

fn missing(offloads: Offloads) -> Vec<&'static str> {
    let all = [
        ("tso", offloads.tso),
        ("gso", offloads.gso),
        ("gro", offloads.gro),
    ];
    let off = all.into_iter().filter(|(_, is_on)| !is_on);
    off.map(|(name, _)| name).collect()
}

fn trips(trips: &Trips) -> String {
    format!(
        "median {}, quickest {}",
        time(trips.median),
        time(trips.quickest)
    )
}

/// A time for a person: "85 µs", "1.2 ms".
fn time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        _ if micros < 1_000.0 => format!("{} µs", significant(micros)),
        _ => format!("{} ms", significant(micros / 1e3)),
    }
}

/// A rate for a person: "9.4 Gbit/s".
fn bits(per_second: f64) -> String {
    match per_second {
        _ if per_second >= 999.5e6 => format!("{} Gbit/s", significant(per_second / 1e9)),
        _ => format!("{} Mbit/s", significant(per_second / 1e6)),
    }
}

/// Two digits, or three where the number begins with a 1.
fn significant(number: f64) -> String {
    if number < 0.01 {
        return "0".to_owned();
    }
    let magnitude = number.log10().floor() as i32;
    let leading = number / 10_f64.powi(magnitude);
    let digits = if leading < 2.0 { 2 } else { 1 };
    let step = 10_f64.powi(magnitude - digits);
    let decimals = usize::try_from(digits - magnitude).unwrap_or(0);
    let rounded = format!("{:.decimals$}", (number / step).round() * step);
    separated(if rounded.contains('.') {
        rounded.trim_end_matches('0').trim_end_matches('.')
    } else {
        &rounded
    })
}

#[cfg(test)]
mod tests {
    use deadheat_model::machine::Level;

    use super::super::testing::found;
    use super::*;

    const fn micros(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    fn interface() -> Interface {
        Interface {
            name: "eth0".to_owned(),
            mtu: Some(1_500),
            megabits_per_second: Some(10_000),
            offloads: Some(Offloads {
                tso: true,
                gso: true,
                gro: true,
            }),
        }
    }

    fn good() -> Link {
        let flow = Flow {
            bytes: 1_175_000_000,
            time: Duration::from_secs(1),
        };
        Link {
            trips: Trips {
                quickest: micros(60),
                median: micros(85),
            },
            to_host: flow,
            from_host: flow,
            resent_small: Some(Resent {
                again: 0,
                packets: 440,
            }),
            resent_large: Some(Resent {
                again: 3,
                packets: 1_600_000,
            }),
            here: Some(interface()),
            there: Some(interface()),
        }
    }

    fn judged(change: impl FnOnce(&mut Link), check: &str) -> (Level, Finding) {
        let mut link = good();
        change(&mut link);
        found(judge_link(&link), check)
    }

    #[test]
    fn on_a_good_network_only_its_bandwidth_is_noted() {
        for finding in judge_link(&good()) {
            let expected = match finding.check.as_str() {
                "bandwidth" => Level::Note,
                _ => Level::Fine,
            };
            assert_eq!(finding.level, expected, "{finding:?}");
        }
        let (_, trip) = judged(|_| (), "round-trip");
        assert_eq!(trip.found, "median 85 µs, quickest 60 µs");
        let (_, mtu) = judged(|_| (), "mtu");
        let side = "1500 (eth0, 10 Gbit/s)";
        assert_eq!(mtu.found, format!("{side} here, {side} there"));
    }

    #[test]
    fn a_round_trip_above_a_millisecond_is_noted() {
        let of = |median| judged(|link| link.trips.median = median, "round-trip").0;
        assert_eq!(of(micros(1_000)), Level::Fine);
        assert_eq!(of(micros(1_001)), Level::Note);
    }

    #[test]
    fn bandwidth_bounds_the_answers_of_a_megabyte_on_their_way_to_the_host() {
        let narrow = |link: &mut Link| link.to_host.bytes = 125_000_000;
        let (_, finding) = judged(narrow, "bandwidth");
        assert_eq!(finding.found, "1 Gbit/s to the host, 9.4 Gbit/s back");
        // 10^9 ÷ (8 × 2^20)
        assert!(
            finding.why.contains("at most 119 answers/s of payload"),
            "{}",
            finding.why
        );
    }

    #[test]
    fn loss_is_a_warning_unless_it_is_what_a_full_queue_loses() {
        let small = |again| {
            let resent = Some(Resent {
                again,
                packets: 440,
            });
            judged(|link| link.resent_small = resent, "packet-loss").0
        };
        assert_eq!([small(0), small(1)], [Level::Fine, Level::Warning]);
        let large = |again| {
            let resent = Some(Resent {
                again,
                packets: 100_000,
            });
            judged(|link| link.resent_large = resent, "packet-loss").0
        };
        assert_eq!([large(100), large(101)], [Level::Fine, Level::Warning]);
        let uncounted = judged(|link| link.resent_small = None, "packet-loss");
        assert_eq!(uncounted.0, Level::Unknown);
    }

    #[test]
    fn interfaces_with_different_mtus_are_a_warning() {
        let of = |mtu| {
            let there = Interface { mtu, ..interface() };
            judged(|link| link.there = Some(there), "mtu")
        };
        let (level, finding) = of(Some(1_400));
        assert_eq!(level, Level::Warning);
        assert!(
            finding.found.ends_with("1400 (eth0, 10 Gbit/s) there"),
            "{}",
            finding.found
        );
        assert_eq!(of(None).0, Level::Unknown);
        assert_eq!(judged(|link| link.here = None, "mtu").0, Level::Unknown);
    }

    #[test]
    fn offloads_that_are_off_are_noted_with_the_machine_that_lacks_them() {
        let offloads = Some(Offloads {
            tso: false,
            gso: true,
            gro: false,
        });
        let there = Interface {
            offloads,
            ..interface()
        };
        let (level, finding) = judged(|link| link.there = Some(there), "offloads");
        assert_eq!(level, Level::Note);
        assert_eq!(finding.found, "TSO, GRO off there");
        assert_eq!(finding.remedy, "On the host: ethtool -K eth0 tso on gro on");
        let there = Interface {
            offloads: None,
            ..interface()
        };
        let unknown = judged(|link| link.there = Some(there), "offloads");
        assert_eq!(unknown.0, Level::Unknown);
    }

    #[test]
    fn a_clock_that_drifts_is_a_warning_only_beyond_what_may_be_an_error() {
        let of = |drift_ppm, drift_error_ppm| {
            let clocks = Clocks {
                trips: good().trips,
                drift_ppm,
                drift_error_ppm,
            };
            let (level, finding) = found(judge_clocks(&clocks), "clock-drift");
            (level, finding.found)
        };
        assert_eq!(of(500.0, 0.0).0, Level::Fine);
        assert_eq!(of(-601.0, 100.0).0, Level::Warning);
        assert_eq!(of(600.0, 100.0).0, Level::Fine);
        assert_eq!(of(1_000.0, 900.0).0, Level::Unknown);
        assert_eq!(of(-0.3, 7.2).1, "0 ppm, ± 7 ppm");
    }

    #[test]
    fn starts_are_agreed_on_within_half_of_the_quickest_way_over_the_pipe() {
        let of = |quickest, median, check| {
            let clocks = Clocks {
                trips: Trips { quickest, median },
                drift_ppm: 0.0,
                drift_error_ppm: 1.0,
            };
            found(judge_clocks(&clocks), check)
        };
        let (level, finding) = of(micros(300), micros(1_200), "start");
        assert_eq!(level, Level::Fine);
        assert_eq!(finding.found, "hosts begin together within 150 µs");
        let far = of(micros(40_000), micros(41_000), "start");
        assert_eq!(far.0, Level::Note);
        let slow = of(micros(300), micros(1_200), "launcher-round-trip");
        assert_eq!(slow.0, Level::Note);
        assert_eq!(slow.1.found, "median 1.2 ms, quickest 300 µs");
    }

    #[test]
    fn numbers_have_two_or_three_digits() {
        let numbers = [0.0, 0.5, 1.234, 9.44, 85.0, 119.2, 1_125.0, 93_456.0];
        let texts = numbers.map(significant);
        assert_eq!(
            texts,
            ["0", "0.5", "1.23", "9.4", "85", "119", "1,130", "93,000"]
        );
        assert_eq!(bits(999.6e6), "1 Gbit/s");
        assert_eq!(bits(94.1e6), "94 Mbit/s");
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let all = [5, 1, 9, 3, 7].map(micros).to_vec();
        let trips = Trips::of(all).unwrap();
        assert_eq!((trips.quickest, trips.median), (micros(1), micros(5)));
        assert_eq!(Trips::of(Vec::new()), None);
    }
}
