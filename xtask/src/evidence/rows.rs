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
            Experiment::Sessions { arguments, .. } => ("deadheat", arguments),
        };
        let words: Vec<String> = arguments.iter().map(quoted).collect();
        format!("{program} {}", words.join(" "))
    }
}

/// Pauses: seconds of work between them, and milliseconds that they take.
const PAUSES: [(&str, &str); 6] = [
    ("0.3", "30"),
    ("0.5", "50"),
    ("0.5", "100"),
    ("1", "50"),
    ("2", "100"),
    ("2", "200"),
];

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
    for (every, pause) in PAUSES {
        rows.push(Row {
            name: format!("pause-{pause}ms-every-{every}s"),
            claim: format!(
                "A server that stands still for {pause} ms after each {every} s of work loses as much in slices as in an \
                 uninterrupted load of the same process. Then the ratio of the two is 1."
            ),
            experiment: Experiment::Slices {
                arguments: words(&format!(
                    "--contrast slices --pairs 16 --slices 20 --rest 60ms --warm-up 2s --path / -- \
                     python3 xtask/probe.py --work 20 --pause-every {every} --pause-for {pause}"
                )),
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
        name: "same".to_owned(),
        claim: "One server beside itself differs in at most one of 20 comparisons.".to_owned(),
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
    rows
}
