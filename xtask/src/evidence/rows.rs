//! The rows: what is claimed, and how it is tried.

/// A claim with its experiment.
pub(super) struct Row {
    /// Its name, which is also that of its folder.
    pub(super) name: String,
    /// What is claimed.
    pub(super) claim: String,
    pub(super) experiment: Experiment,
}

/// How a claim is tried.
pub(super) enum Experiment {
    /// `cargo xtask slices` with these arguments.
    Slices { arguments: Vec<String> },
    /// `deadheat` with these arguments, so many times in a row, each a session, and what is shown of them.
    Sessions {
        arguments: Vec<String>,
        times: u32,
        shows: Shows,
    },
    /// `deadheat run` with these arguments, once.
    Run { arguments: Vec<String> },
}

/// What is shown of comparisons.
#[derive(Clone, Copy)]
pub(super) enum Shows {
    /// The verdict of each by throughput.
    Verdicts,
    /// When they would have decided by each quantity.
    Finding,
}

impl Row {
    /// The command of the experiment, as it is typed.
    pub(super) fn command(&self) -> String {
        let quoted = |word: &String| {
            if word.contains([' ', '$']) {
                format!("'{word}'")
            } else {
                word.clone()
            }
        };
        let (program, arguments) = match &self.experiment {
            Experiment::Slices { arguments } => ("cargo xtask slices", arguments),
            Experiment::Sessions { arguments, .. } | Experiment::Run { arguments } => {
                ("deadheat", arguments)
            }
        };
        let words: Vec<String> = arguments.iter().map(quoted).collect();
        format!("{program} {}", words.join(" "))
    }
}

/// Pauses: seconds of work between them, milliseconds that they take, and the pairs of turns that have enough of them.
const PAUSES: [(&str, &str, &str); 5] = [
    ("0.3", "30", "24"),
    ("0.5", "50", "36"),
    ("1", "50", "28"),
    ("2", "100", "32"),
    ("2", "200", "48"),
];

/// What slices change in the figures of stacks of four languages: the name of a row, the claim, and its options.
const OF_STACKS: [(&str, &str, &str); 3] = [
    (
        "slices",
        "What it costs a server to be loaded in slices of 100 ms, with 400 ms between them in which it is frozen, compared with an \
         uninterrupted load of the same process. With six pairs, that is known to ±5 to ±18 %.",
        "--contrast slices --pairs 6",
    ),
    (
        "freezing",
        "Whether figures change if a server is frozen between its slices instead of idle. With six pairs, that is known to ±8 to \
         ±13 %.",
        "--contrast freezing --pairs 6",
    ),
    (
        "polling",
        "A generator that polls is answered faster than one that sleeps, and costs the server less, because a server that \
         answers a sleeping CPU has to wake it.",
        "--contrast polling --pairs 6",
    ),
];

const FOUR_STACKS: &str =
    "--stack go-nethttp --stack java-vertx --stack node-fastify --stack python-flask --warm-up 10s";

/// Servers of five languages, at shares of what they can take.
const FIVE_STACKS: &str = "--stack go-nethttp --stack java-vertx --stack node-fastify --stack python-flask --stack rust-axum";

/// Turns of equal work.
const TURNS: &str = "--guard 300ms --slice 1s --slices 4";

/// The fewest starts that can end with a dead heat, and equal work in each of them.
const AT_A_RATE: &str = "--heats 8 --heat-time 2s --warm-up 300ms --rate 2000/s";

/// The fewest starts that can end with a dead heat, as many as a default comparison of slow starters has in its time. The
/// heats are short, because starts are what is tried.
const EIGHT_STARTS: &str = "--heats 8 --heat-time 2s --warm-up 500ms";

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// `compare` with the probe on both sides, whose options are these.
fn probes(a: &str, b: &str, more: &str) -> Vec<String> {
    let side = |options: &str| format!("cmd:python3 xtask/probe.py {options}");
    let mut arguments = vec!["compare".to_owned(), side(a), side(b)];
    arguments.extend(words(more));
    arguments
}

/// All rows, in the order of the page.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (every, pause, pairs) in PAUSES {
        rows.push(Row {
            name: format!("pause-{pause}ms-every-{every}s"),
            claim: format!(
                "How much of its time a server loses that stands still for {pause} ms after each {every} s of work: in slices, \
                 and in an uninterrupted load of the same process. What its answers take without pauses, the server \
                 counts itself; what is left apart from the pauses is its time between two batches of requests."
            ),
            experiment: Experiment::Slices {
                arguments: words(&format!(
                    "--contrast slices --pairs {pairs} --slices 20 --rest 60ms --warm-up 2s --path / -- \
                     python3 xtask/probe.py --work 20 --pause-every {every} --pause-for {pause}"
                )),
            },
        });
    }
    for (name, claim, options) in OF_STACKS {
        rows.push(Row {
            name: name.to_owned(),
            claim: claim.to_owned(),
            experiment: Experiment::Slices {
                arguments: words(&format!("{options} {FOUR_STACKS}")),
            },
        });
    }
    rows.push(Row {
        name: "pipelining".to_owned(),
        claim: "What java-vertx's driver gains by sending several statements before the first answer. B is a copy (`deadheat \
                stacks eject java-vertx stacks --as java-vertx-single`) with `PIPELINING_LIMIT = 1` in Database.java instead \
                of 16."
            .to_owned(),
        experiment: Experiment::Sessions {
            arguments: words(
                "compare java-vertx java-vertx-single --stacks stacks --workload users --budget 4m",
            ),
            times: 1,
            shows: Shows::Verdicts,
        },
    });
    rows.push(Row {
        name: "pauses-decide".to_owned(),
        claim: "B needs less CPU time for each request, and stands still for 5 % of its time. It is not called faster."
            .to_owned(),
        experiment: Experiment::Sessions {
            arguments: probes(
                "--work 23",
                "--work 20 --pause-every 1 --pause-for 50",
                "--heats 8",
            ),
            times: 1,
            shows: Shows::Verdicts,
        },
    });
    rows.push(Row {
        name: "small-difference".to_owned(),
        claim: "B works for 22 µs for each request where A works for 20. B is called slower."
            .to_owned(),
        experiment: Experiment::Sessions {
            arguments: probes("--work 20", "--work 22", "--budget 5m"),
            times: 1,
            shows: Shows::Verdicts,
        },
    });
    rows.push(Row {
        name: "same".to_owned(),
        claim: "One server is called faster or slower than its own copy in at most one of 20 comparisons, in the long run.".to_owned(),
        experiment: Experiment::Sessions {
            arguments: probes("--work 20", "--work 20", EIGHT_STARTS),
            times: 40,
            shows: Shows::Verdicts,
        },
    });
    rows.push(Row {
        name: "unlike-starts".to_owned(),
        claim: "One in six of B's processes is slower by half for its whole life. In at most one of 20 comparisons B is \
                called faster than A. A dead heat comes only where none of B's eight processes is a slow one: that is so in \
                23 % of comparisons, and with 17 starts in 5 %."
            .to_owned(),
        experiment: Experiment::Sessions {
            arguments: probes("--work 20", "--work 20 --slow-share 0.167", EIGHT_STARTS),
            times: 40,
            shows: Shows::Verdicts,
        },
    });
    rows.extend(equal_work());
    rows.extend(slices_alike());
    rows.push(Row {
        name: "default-run".to_owned(),
        claim: "What `deadheat run` decides in its ten minutes. Each start serves both loads, the first of them by turns, so the \
                same session shows what an earlier load changes in a stack's figures compared with those of the others."
            .to_owned(),
        experiment: Experiment::Run {
            arguments: words("run"),
        },
    });
    rows
}

/// Equal work: what it finds, and what it shows beside an uninterrupted load.
fn equal_work() -> [Row; 4] {
    let slices = |name: &str, claim: &str, options: &str| Row {
        name: name.to_owned(),
        claim: claim.to_owned(),
        experiment: Experiment::Slices {
            arguments: words(&format!("--contrast equal-work {options}")),
        },
    };
    let sessions = |name: &str, claim: &str, [a, b]: [&str; 2], times| Row {
        name: name.to_owned(),
        claim: claim.to_owned(),
        experiment: Experiment::Sessions {
            arguments: probes(a, b, AT_A_RATE),
            times,
            shows: Shows::Finding,
        },
    };
    [
        slices(
            "equal-work",
            "The p99 of turns at a rate, as equal work has them, compared with that of an uninterrupted load of the same process.",
            &format!("{TURNS} --pairs 5 --warm-up 5s {FIVE_STACKS}"),
        ),
        slices(
            "equal-work-in-batches",
            "The same of a server that answers ten requests of one connection before the next has its turn.",
            &format!(
                "{TURNS} --pairs 8 --warm-up 2s --path / -- python3 xtask/probe.py --work 100 --batch 10"
            ),
        ),
        sessions(
            "find-5-percent",
            "B computes 5 % more for each request than A. How long it takes to find that.",
            ["--rounds 300", "--rounds 315"],
            10,
        ),
        sessions(
            "timer",
            "B works for 25 ms in each second in addition to its requests. At equal work that is in its CPU time per request.",
            [
                "--work 100",
                "--work 100 --timer-every 1000 --timer-work 25",
            ],
            1,
        ),
    ]
}

/// What slices do to servers of unlike footprints, and beside few and many neighbours.
fn slices_alike() -> [Row; 3] {
    const LARGE: &str = "--lines 300 --mib 256";
    let row = |name: &str, claim: &str, options: &str, server: &str| {
        let mut arguments = words(options);
        arguments.push("--neighbour".to_owned());
        arguments.push(format!("python3 xtask/probe.py {LARGE}"));
        arguments.extend(words(server));
        Row {
            name: name.to_owned(),
            claim: claim.to_owned(),
            experiment: Experiment::Slices { arguments },
        }
    };
    let probe = |options| format!("--path / -- python3 xtask/probe.py {options}");
    [
        row(
            "large-footprint",
            "A server that reads 300 cache lines of its 256 MiB for each request, in slices next to another one like it that \
             works while it is frozen, and uninterrupted.",
            "--contrast slices --pairs 60 --slices 10 --warm-up 2s",
            &probe(LARGE),
        ),
        row(
            "small-footprint",
            "The same of a server that needs about as long for a request, and next to no memory.",
            "--contrast slices --pairs 60 --slices 10 --warm-up 2s",
            &probe("--work 120"),
        ),
        row(
            "neighbours",
            "Between its slices a server is frozen for one neighbour's turn, or for eleven. Its figures are not quite alike, so \
             stacks are compared within a session.",
            "--contrast neighbours --pairs 30 --warm-up 5s",
            "--stack go-nethttp --stack node-fastify --stack python-flask",
        ),
    ]
}
