//! `cargo xtask evidence`: the experiments behind the claims of docs/methodology.md. Each row runs its experiment, keeps the
//! records under docs/evidence/, and docs/evidence/README.md is made from these records alone. So are the reports of
//! docs/results from the records there.

mod disturbed;
mod find;
mod lead_in;
mod records;
mod results;
mod rows;
mod sessions;
mod starts;
mod unchanged;

use std::{fs, path::PathBuf, process::ExitCode};

use clap::Args;

use self::{
    records::Kept,
    rows::{Experiment, Row, Shows, rows},
};
use crate::{
    peers::{circumstances, machine, show},
    project::{binary, root},
    steps::Steps,
};

/// Which rows are measured again.
#[derive(Args)]
pub(crate) struct Options {
    /// The rows to measure, by their names [default: none; the table is made from the records that there are]
    row: Vec<String>,
    /// Measure all rows, which takes hours
    #[arg(long, conflicts_with = "row")]
    all: bool,
    /// Keep the records of this session in docs/results
    #[arg(long, value_name = "FOLDER")]
    session: Option<PathBuf>,
    /// What follows the day in that session's name, such as `services`; README shows the newest one without
    #[arg(long, value_name = "WORD", requires = "session")]
    named: Option<String>,
    /// The deadheat that measures: a release build
    #[arg(long, value_name = "FILE", default_value = "target/release/deadheat")]
    deadheat: PathBuf,
}

/// Half the width of an interval on the logarithm, as reports show it: "2.3 %" is from 1/1.023 to 1.023 times the ratio.
fn half_width(half: Option<f64>) -> String {
    half.map_or("–".to_owned(), |half| {
        format!("{:.1} %", 100.0 * half.exp_m1())
    })
}

/// Measures the rows that are asked for, and writes the table.
pub(crate) fn evidence(options: &Options) -> ExitCode {
    match measure(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            show::progress(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<(), String> {
    let rows = rows();
    let asked = |row: &&Row| options.all || options.row.contains(&row.name);
    if let Some(unknown) = options
        .row
        .iter()
        .find(|name| !rows.iter().any(|row| row.name == **name))
    {
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        return Err(format!(
            "there is no row {unknown}; the rows are {}",
            names.join(", ")
        ));
    }
    for row in rows.iter().filter(asked) {
        show::progress(&format!("{}: {}", row.name, row.command()));
        let kept = Kept {
            measured: circumstances::today(),
            commit: circumstances::commit().unwrap_or_default(),
            machine: machine::describe(),
        };
        records::take(row, &kept, &options.deadheat)?;
    }
    if let Some(session) = &options.session {
        results::bring(session, options.named.as_deref())?;
    }
    let table = page(&rows, &options.deadheat)?;
    fs::write(page_file(), table).map_err(|error| format!("{}: {error}", page_file().display()))?;
    results::write(&options.deadheat)
}

/// The table is what the committed records say.
pub(crate) fn check(steps: &Steps) {
    steps.check("evidence", || {
        let expected = page(&rows(), &binary())?;
        let found = fs::read_to_string(page_file()).map_err(|error| error.to_string())?;
        if found != expected {
            return Err(
                "docs/evidence/README.md is not what its records say: run cargo xtask evidence"
                    .to_owned(),
            );
        }
        results::check(&binary())
    });
}

fn page_file() -> PathBuf {
    root().join("docs/evidence/README.md")
}

/// A session in which twelve stacks started in an order that was drawn for each heat.
const DRAWN: &str = "2026-11-29";

/// A session in which the first rounds of all stacks counted, but for one.
const LED_IN_BY_ONE: &str = "2026-11-29-services";

const HEAD: &str = "# Evidence

Most sections have an experiment behind a claim of [methodology.md](../methodology.md). `cargo xtask evidence ROW` runs it again
and keeps its records in the folder of the same name, from which this page is made. A session's folder can be looked at
with `deadheat report FOLDER`. The others (start-order, lead-in, disturbed-heats, unchanged-stacks) are tables from the records of sessions.
";

/// Lines of prose are no longer than this.
const WIDTH: usize = 120;

fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &line;
            lines.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines + &line
}

/// The page, from the records that there are.
fn page(rows: &[Row], deadheat: &std::path::Path) -> Result<String, String> {
    let mut page = HEAD.to_owned();
    page += &format!(
        "\n## start-order\n\n{}\n\n{}\nFrom the records of [{DRAWN}](../results/{DRAWN}.md), a session in which the order \
         was drawn for each heat.\n",
        wrapped(
            "Of servers that start one after another, later ones are a little faster, for as long as they live. Why is not \
             known. So each heat draws another order of starts: what is left is noise, and no advantage of the same \
             stack each time."
        ),
        starts::table(&results::folder().join(DRAWN))?,
    );
    page += &format!(
        "\n## lead-in\n\n{}\n\n{}\nFrom the records of [{LED_IN_BY_ONE}](../results/{LED_IN_BY_ONE}.md), where one round led in\n\
         all stacks, and warm-ups had no rests.\n",
        wrapped(
            "What compiles while it runs is slower in the first rounds of a heat: CPU time per answer in each of the first \
             rounds that counted ÷ its median in the later half of the rounds (mean over members of heats with 15 rounds or \
             more). So more rounds lead in such a stack."
        ),
        lead_in::table(&results::folder().join(LED_IN_BY_ONE))?,
    );
    page += &format!(
        "\n## disturbed-heats\n\n{}\n\n{}\nFrom all sessions of `deadheat run` in this folder and in [results](../results/README.md).\n",
        wrapped(
            "`deadheat run` repeats a heat if other programs took more than 5 % of the CPUs of server and generator from its \
             beginning to its end. This is what they took in the heats for which that is known: those of rounds at full load, \
             with five seconds of counted time or more. Before there was this rule, all of them counted."
        ),
        disturbed::table()?,
    );
    page += &format!(
        "\n## unchanged-stacks\n\n{}\n\n{}\nFrom the records of the sessions in [results](../results/README.md).\n",
        wrapped(
            "Between two sessions a machine does not change all servers by the same factor, and the null server by another one \
             than stacks. So [a stack has changed](../compare.md#two-sessions) if it moved farther than the stacks whose sources, \
             versions and warm-ups are the same in both. The last column is what dividing by the null server would do."
        ),
        unchanged::table()?,
    );
    for row in rows {
        let Some(kept) = Kept::new(row)? else {
            continue;
        };
        let found = match &row.experiment {
            Experiment::Slices { .. } => records::sliced(row)?,
            Experiment::Sessions { shows, .. } => match shows {
                Shows::Verdicts => records::compared(row, deadheat)?,
                Shows::Finding => find::table(&records::sessions_of(row)?)?,
            },
            Experiment::Run { .. } => {
                sessions::table(&sessions::record(&records::session_of(row))?)
            }
        };
        page += &format!(
            "\n## {}\n\n{}\n\n```console\n$ {}\n```\n\n{}\n\n{}, {}. {}.\n",
            row.name,
            wrapped(&row.claim),
            row.command(),
            found.trim_end(),
            kept.measured,
            kept.commit,
            kept.machine
        );
    }
    Ok(page)
}
