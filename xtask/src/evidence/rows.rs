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
    /// `deadheat` with these arguments, so many times in a row, each a session.
    Sessions { arguments: Vec<String>, times: u32 },
    /// `deadheat run` with these arguments, once.
    Run { arguments: Vec<String> },
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
        "What it costs a server to be loaded in slices of 100 ms, with 400 ms between them in which it is frozen, beside an \
         uninterrupted load of the same process. Six pairs know it to some 10 %.",
        "--contrast slices --pairs 6",
    ),
    (
        "freezing",
        "Freezing a server between its slices does to its figures what leaving it idle does. Six pairs know it to some 10 %.",
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
                "A server that stands still for {pause} ms after each {every} s of work loses the same share of its time in \
                 slices as in an uninterrupted load of the same process. What its answers take without pauses, the server \
                 counts itself; what is left beside the pauses is its time between two batches of requests."
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
        },
    });
    rows.push(Row {
        name: "small-difference".to_owned(),
        claim: "B works for 22 µs for each request where A works for 20. B is called slower."
            .to_owned(),
        experiment: Experiment::Sessions {
            arguments: probes("--work 20", "--work 22", "--budget 5m"),
            times: 1,
        },
    });
    rows.push(Row {
        name: "same".to_owned(),
        claim: "One server beside itself is called faster or slower in at most one of 20 comparisons, in the long run.".to_owned(),
        experiment: Experiment::Sessions {
            arguments: probes("--work 20", "--work 20", EIGHT_STARTS),
            times: 40,
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
        },
    });
    rows.push(Row {
        name: "default-run".to_owned(),
        claim: "What `deadheat run` decides in its ten minutes. Each start serves both loads, the first of them by turns, so the \
                same session shows what an earlier load changes in a stack's figures beside those of the others."
            .to_owned(),
        experiment: Experiment::Run {
            arguments: words("run"),
        },
    });
    rows
}
