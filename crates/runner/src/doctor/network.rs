//! TCP over loopback: ports, queues, and what delays what is sent. And the way to another host, with its clock: what messages
//! over the launcher's pipe say of them.

use std::time::Duration;

use deadheat_model::figure::seconds;

use super::{Check, CheckResult, Fact, MachineState, facts, fine, note, unknown, warning};

/// A datagram over loopback takes microseconds; one that is delayed on purpose takes milliseconds.
const MAX_LOOPBACK: Duration = Duration::from_millis(1);
/// A session of loads with a connection for each request uses some tens of thousands of ports a minute.
const FEW_PORTS: u64 = 10_000;

fn sysctl(state: &MachineState, setting: &str) -> String {
    state.as_root(&format!("sysctl -w {setting}"))
}

pub(super) fn congestion_control(state: &MachineState) -> CheckResult {
    let Some(name) = state.machine.congestion_control.as_deref() else {
        return unknown(
            "the kernel does not tell",
            "Some pace a server's sending, also over loopback.",
        );
    };
    if !state.machine.paces_loopback() {
        return fine(name);
    }
    let path = "proc/sys/net/ipv4/tcp_available_congestion_control";
    let available = state.root.text(path).unwrap_or_default();
    // A module that is not loaded is not named; cubic is the default of nearly every kernel, reno is always there.
    let other = if available.is_empty() || available.split(' ').any(|name| name == "cubic") {
        "cubic"
    } else {
        "reno"
    };
    warning(
        name,
        "It paces a server's sending, also over loopback: long answers take longer and cost more CPU, and the figures \
         show the pacing.",
        sysctl(state, &format!("net.ipv4.tcp_congestion_control={other}")),
    )
}

pub(super) fn ports(state: &MachineState) -> CheckResult {
    let read = |name: &str| state.root.text(&format!("proc/sys/net/ipv4/{name}"));
    let range = read("ip_local_port_range").and_then(|text| {
        let (first, last) = text.split_once(['\t', ' '])?;
        let (first, last) = (first.parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?);
        Some((last + 1).saturating_sub(first))
    });
    let why_unknown =
        "Each connection from here takes one, and keeps it for a minute after it ends.";
    let Some(ports) = range else {
        return unknown("the range of ports cannot be read", why_unknown);
    };
    let waiting = state.root.whole("proc/net/sockstat").and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("TCP:"))?;
        let mut words = line.split_ascii_whitespace();
        words.find(|word| *word == "tw")?;
        words.next()?.parse::<u64>().ok()
    });
    let waiting = waiting.unwrap_or(0);
    let mut found = format!("{ports} to connect from");
    if waiting > 0 {
        found += &format!(", {waiting} in TIME_WAIT");
    }
    let needed = u64::from(state.connections) * 2;
    if ports < FEW_PORTS.max(needed) {
        return warning(
            found,
            "A load with a connection for each request runs out of them: connects fail, and count as failed requests.",
            sysctl(state, "net.ipv4.ip_local_port_range=\"32768 60999\""),
        );
    }
    if ports.saturating_sub(waiting) < FEW_PORTS.max(needed) {
        return warning(
            found,
            "Most of the ports wait for the end of connections from before: connects fail when there is none left.",
            "sleep 60",
        );
    }
    let reuse = read("tcp_tw_reuse").is_some_and(|text| text != "0");
    let stamps = read("tcp_timestamps").is_some_and(|text| text != "0");
    if !(reuse && stamps) {
        let setting = if reuse {
            "net.ipv4.tcp_timestamps=1"
        } else {
            // Over loopback alone, and the kernel's default.
            "net.ipv4.tcp_tw_reuse=2"
        };
        return warning(
            format!("{found}, not reused"),
            "A port is taken for a minute after its connection ended: a load with a connection for each request runs \
             out of them. Keep-alive loads do not.",
            sysctl(state, setting),
        );
    }
    fine(found)
}

pub(super) fn backlog(state: &MachineState) -> CheckResult {
    let settings = [
        ("net.core.somaxconn", "proc/sys/net/core/somaxconn"),
        (
            "net.ipv4.tcp_max_syn_backlog",
            "proc/sys/net/ipv4/tcp_max_syn_backlog",
        ),
    ];
    let lengths = settings.map(|(name, path)| Some((name, state.root.number::<u32>(path)?)));
    let [Some(accepted), Some(begun)] = lengths else {
        return unknown(
            "the lengths of the queues cannot be read",
            "Connections that find no place are made a second later.",
        );
    };
    let short: Vec<(&str, u32)> = [accepted, begun]
        .into_iter()
        .filter(|(_, length)| *length < state.connections)
        .collect();
    if short.is_empty() {
        return fine(accepted.1.to_string());
    }
    let found = short
        .iter()
        .map(|(name, length)| format!("{name} {length}"));
    let remedies = short
        .iter()
        .map(|(name, _)| sysctl(state, &format!("{name}={}", state.connections.max(4096))));
    warning(
        found.collect::<Vec<_>>().join(", "),
        "All connections begin at once. Those that find no place in the queue are tried again a second later.",
        remedies.collect::<Vec<_>>().join("\n"),
    )
}

pub(super) fn loopback(state: &MachineState) -> CheckResult {
    let flags = state.root.text("sys/class/net/lo/flags");
    let flags = flags.and_then(|text| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok());
    let up = flags.map(|flags| flags & 1 == 1);
    if up == Some(false) || (up.is_some() && state.own.loopback.is_none()) {
        return warning(
            match up {
                Some(false) => "lo is down",
                _ => "no datagram came back from 127.0.0.1",
            },
            "Nothing can be reached at 127.0.0.1, where Deadheat starts its servers.",
            state.as_root("ip link set lo up"),
        );
    }
    let slow = state.own.loopback.filter(|time| *time > MAX_LOOPBACK);
    if let Some(time) = slow {
        return warning(
            format!("{} from a socket to itself", seconds(time.as_secs_f64())),
            "Something delays or shapes traffic over loopback, as netem does.",
            format!(
                "tc qdisc show dev lo\n{}",
                state.as_root("tc qdisc del dev lo root")
            ),
        );
    }
    let why = "Answers go over loopback in pieces of its MTU.";
    let time = state.own.loopback.unwrap_or_default();
    match state.root.number::<u32>("sys/class/net/lo/mtu") {
        None => unknown("its MTU cannot be read", why),
        Some(mtu) if mtu < 65_536 => warning(
            format!("MTU {mtu}"),
            "Long answers go in more and smaller pieces than elsewhere, each with its cost.",
            state.as_root("ip link set lo mtu 65536"),
        ),
        Some(mtu) => fine(format!("MTU {mtu}, {}", seconds(time.as_secs_f64()))),
    }
}

/// The firewall's table of connections.
pub(super) fn tracking(state: &MachineState) -> CheckResult {
    let of = |name: &str| {
        let path = format!("proc/sys/net/netfilter/nf_conntrack_{name}");
        state.root.number::<u64>(&path)
    };
    let (Some(most), Some(now)) = (of("max"), of("count")) else {
        return fine("none");
    };
    if now == 0 {
        // The table is there, and no rule looks at it.
        return fine("not in use");
    }
    let found = format!("{now} of {most} connections");
    if most.saturating_sub(now) < FEW_PORTS {
        return warning(
            found,
            "When the firewall's table is full, packets are dropped: connects fail or take a second.",
            sysctl(state, "net.netfilter.nf_conntrack_max=262144"),
        );
    }
    note(
        found,
        "The firewall checks each packet, also on loopback, which costs all servers CPU.",
        format!(
            "{}\n{}",
            state.as_root("iptables -t raw -A PREROUTING -i lo -j NOTRACK"),
            state.as_root("iptables -t raw -A OUTPUT -o lo -j NOTRACK")
        ),
    )
}

/// A median round trip above this is a good part of a quick server's response time.
const LONG_TRIP: Duration = Duration::from_millis(1);
/// The kernel corrects a clock by at most this (adjtimex(2)); one that is further off is broken.
const MAX_DRIFT_PPM: f64 = 500.0;

/// The times of small messages there and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trips {
    /// The shortest time.
    pub quickest: Duration,
    /// The time that half of them exceeded.
    pub median: Duration,
}

impl Trips {
    /// The times of these messages; `None` without any.
    pub fn new(mut all: Vec<Duration>) -> Option<Self> {
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
    /// The times of the questions and their answers.
    pub trips: Trips,
    /// How much faster the other clock runs, in parts per million.
    pub drift_ppm: f64,
    /// The largest error of `drift_ppm`.
    pub drift_error_ppm: f64,
}

/// The fact that a host could not be reached, or was lost.
pub fn unreached(why: &str) -> Fact {
    let why_it_matters = "Nothing is known of this host, and no session can use it.";
    warning(format!("no answer: {why}"), why_it_matters, "").into_fact("host", "host")
}

/// All checks of the way to a host, and of its clock.
const CHECKS: [Check<Clocks>; 3] = [
    ("round-trip", "round trip", round_trip),
    ("start", "start", start),
    ("clock-drift", "clock drift", drift),
];

/// Facts of the way to the host and of its clock, the worst first.
pub fn judge_link(clocks: &Clocks) -> Vec<Fact> {
    facts(&CHECKS, clocks)
}

fn round_trip(clocks: &Clocks) -> CheckResult {
    let trips = &clocks.trips;
    let found = format!(
        "median {}, quickest {}",
        seconds(trips.median.as_secs_f64()),
        seconds(trips.quickest.as_secs_f64())
    );
    if trips.median <= LONG_TRIP {
        return fine(found);
    }
    note(
        found,
        "Every response time contains the network's part of it. Each slice begins four round trips after it was decided, \
         so a session has fewer slices.",
        "Use hosts on the same switch.",
    )
}

fn start(clocks: &Clocks) -> CheckResult {
    // The answer was given some time between the question and its arrival.
    let error = clocks.trips.quickest / 2;
    let found = format!(
        "hosts begin together within {}",
        seconds(error.as_secs_f64())
    );
    if error <= LONG_TRIP {
        return fine(found);
    }
    note(
        found,
        "Slices take about 100 ms. At their edges, only some of the hosts load.",
        "",
    )
}

fn drift(clocks: &Clocks) -> CheckResult {
    let Clocks {
        drift_ppm,
        drift_error_ppm,
        ..
    } = clocks;
    // Never "-0".
    let rounded = drift_ppm.round() + 0.0;
    let found = format!("{rounded} ppm, ± {drift_error_ppm:.0} ppm");
    if drift_ppm.abs() - drift_error_ppm > MAX_DRIFT_PPM {
        return warning(
            found,
            "The clocks of the two machines run at different speeds, more than time synchronisation ever causes. Times \
             and rates of the hosts cannot be compared.",
            "Compare the clock sources of both machines; in a virtual machine, ask for a better one.\n\
             cat /sys/devices/system/clocksource/clocksource0/current_clocksource",
        );
    }
    if *drift_error_ppm > MAX_DRIFT_PPM {
        return unknown(
            found,
            "The clocks were watched too briefly for the round trip between them: use --watch 30s.",
        );
    }
    fine(found)
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

    use super::{
        super::testing::{Planted, found, planted},
        *,
    };

    #[test]
    fn bbr_paces_loopback() {
        let path = "proc/sys/net/ipv4/tcp_congestion_control";
        let (level, finding) = planted("congestion-control", path, "bbr\n");
        assert_eq!((level, finding.found.as_str()), (Some(Level::Doubt), "bbr"));
        let command = "sudo sysctl -w net.ipv4.tcp_congestion_control=";
        assert_eq!(finding.advice, format!("{command}cubic"));
        let without_cubic = Planted::good().with(path, "bbr").with(
            "proc/sys/net/ipv4/tcp_available_congestion_control",
            "reno bbr",
        );
        let (_, finding) = found(&without_cubic.state(), "congestion-control");
        assert_eq!(finding.advice, format!("{command}reno"));
    }

    #[test]
    fn ports_that_are_few_waiting_or_not_reused_are_warnings() {
        let of = |path: &str, text: &str| planted("ports", path, text);
        let range = "proc/sys/net/ipv4/ip_local_port_range";
        let (level, finding) = of(range, "60000\t60999\n");
        assert_eq!(
            (level, finding.found.as_str()),
            (Some(Level::Doubt), "1000 to connect from")
        );
        let stats = "TCP: inuse 1 orphan 0 tw 20000 alloc 1 mem 0\n";
        let (level, finding) = of("proc/net/sockstat", stats);
        assert_eq!(
            (level, finding.advice.as_str()),
            (Some(Level::Doubt), "sleep 60")
        );
        for (name, advice) in [
            ("tcp_tw_reuse", "tw_reuse=2"),
            ("tcp_timestamps", "timestamps=1"),
        ] {
            let (level, finding) = of(&format!("proc/sys/net/ipv4/{name}"), "0\n");
            assert_eq!(level, Some(Level::Doubt), "{name}");
            assert!(finding.advice.ends_with(advice), "{finding:?}");
        }
        assert_eq!(of("proc/sys/net/ipv4/tcp_tw_reuse", "1\n").0, None);
    }

    #[test]
    fn queues_hold_all_connections() {
        let of = |name: &str, length: &str| planted("backlog", name, length);
        for path in ["net/core/somaxconn", "net/ipv4/tcp_max_syn_backlog"] {
            let path = format!("proc/sys/{path}");
            assert_eq!(of(&path, "400\n").0, None);
            let (level, finding) = of(&path, "128\n");
            assert_eq!(level, Some(Level::Doubt));
            assert!(finding.advice.ends_with("=4096"), "{finding:?}");
        }
    }

    #[test]
    fn loopback_is_whole_and_undelayed() {
        let of = |path: &str, text: &str| planted("loopback", path, text).0;
        assert_eq!(of("sys/class/net/lo/mtu", "1500\n"), Some(Level::Doubt));
        assert_eq!(of("sys/class/net/lo/flags", "0x8\n"), Some(Level::Doubt));
        let mut state = Planted::good().state();
        state.own.loopback = Some(Duration::from_millis(10));
        let (level, finding) = found(&state, "loopback");
        assert_eq!(level, Some(Level::Doubt));
        assert!(finding.found.starts_with("10.0 ms"));
        state.own.loopback = None;
        assert_eq!(found(&state, "loopback").0, Some(Level::Doubt));
        let unknown = Planted::good().without("sys/class/net").state();
        assert_eq!(found(&unknown, "loopback").0, Some(Level::Routine));
    }

    #[test]
    fn a_table_of_connections_has_room() {
        let with = |most: &str, now: &str| {
            let folder = "proc/sys/net/netfilter";
            let state = Planted::good()
                .with(&format!("{folder}/nf_conntrack_max"), most)
                .with(&format!("{folder}/nf_conntrack_count"), now);
            found(&state.state(), "connection-tracking").0
        };
        assert_eq!(with("262144\n", "0\n"), None);
        assert_eq!(with("262144\n", "100\n"), Some(Level::Note));
        assert_eq!(with("8192\n", "100\n"), Some(Level::Doubt));
    }

    const fn micros(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    #[test]
    fn a_clock_that_drifts_is_a_warning_only_beyond_what_may_be_an_error() {
        let of = |drift_ppm, drift_error_ppm| {
            let clocks = Clocks {
                trips: Trips {
                    quickest: micros(60),
                    median: micros(85),
                },
                drift_ppm,
                drift_error_ppm,
            };
            let found = drift(&clocks);
            (found.level, found.found)
        };
        assert_eq!(of(500.0, 0.0).0, None);
        assert_eq!(of(-601.0, 100.0).0, Some(Level::Doubt));
        assert_eq!(of(600.0, 100.0).0, None);
        assert_eq!(of(1_000.0, 900.0).0, Some(Level::Routine));
        assert_eq!(of(-0.3, 7.2).1, "0 ppm, ± 7 ppm");
    }

    #[test]
    fn starts_are_agreed_on_within_half_of_the_quickest_way_over_the_pipe() {
        let of = |quickest, median| {
            judge_link(&Clocks {
                trips: Trips { quickest, median },
                drift_ppm: 0.0,
                drift_error_ppm: 1.0,
            })
        };
        let facts = of(micros(300), micros(1_200));
        let told: Vec<_> = facts
            .iter()
            .map(|one| (one.id.as_str(), one.found.as_str(), one.warning.is_some()))
            .collect();
        let expected = [
            ("round-trip", "median 1.20 ms, quickest 300 µs", true),
            ("start", "hosts begin together within 150 µs", false),
            ("clock-drift", "0 ppm, ± 1 ppm", false),
        ];
        assert_eq!(told, expected);
        let far = of(micros(40_000), micros(41_000));
        assert_eq!(far[1].warning.as_ref().unwrap().level, Level::Note);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let all = [5, 1, 9, 3, 7].map(micros).to_vec();
        let trips = Trips::new(all).unwrap();
        assert_eq!((trips.quickest, trips.median), (micros(1), micros(5)));
        assert_eq!(Trips::new(Vec::new()), None);
    }
}
