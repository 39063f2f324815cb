//! A comparison as one HTML file that needs no network: the verdict, how far B is from A in each metric, and everything
//! else that is known.

use minijinja::{Value, context, value::Serde};
use serde::Serialize;

use deadheat_stats::versus::{Gate, Versus};

use super::{
    advantage::Advantage,
    json,
    view::{CompareView, Outcome, RatioRow},
    words,
};
use crate::{
    ReportError,
    html::{
        data::DataFile,
        environment,
        shell::{DATA, Shell},
    },
};

const TEMPLATE: &str = include_str!("compare.html.j2");
const STYLE: &str = concat!(
    include_str!("../html/style.css"),
    include_str!("compare.css")
);
const SCRIPT: &str = include_str!("../html/saving.js");

/// An axis goes at least so far to both sides: a difference of 5 % is to be seen, and one of 0.5 % is to look small.
const LEAST_REACH: f64 = 1.1;
/// A wide interval ends at the edge when it reaches further than this beyond the largest ratio.
const BEYOND: f64 = 2.0;

/// A group of rows with an axis of their own.
#[derive(Serialize)]
struct Table<'a> {
    title: String,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: String,
    a: String,
    b: String,
    against: String,
    interval: String,
    outcome: &'a Outcome,
    /// Where the dot is, in percent of the axis.
    point: f64,
    /// Where the interval begins, and how long it is.
    range: Option<(f64, f64)>,
}

/// The whole comparison as a page.
///
/// # Errors
/// When the template does not fit the view.
pub fn html(versus: &Versus, gate: Option<&Gate>) -> Result<String, ReportError> {
    let view = CompareView::new(versus, gate);
    let json = json(versus, gate)?;
    let command = match &view.folder {
        Some(folder) => format!("deadheat report {folder} -o compare.json"),
        None => "deadheat compare … -o compare.json".to_owned(),
    };
    let file = DataFile::new(
        "compare.json",
        "everything unrounded (docs/compare.md)",
        command,
        &json,
    );
    let shell = Shell::new(vec![file]);
    let page = environment(&[("compare.html", TEMPLATE), DATA], false)?
        .get_template("compare.html")?
        .render(context! {
            view => Value::from(Serde(&view)),
            tables => Value::from(Serde(tables(&view))),
            heads => Value::from(Serde(words::HEAD)),
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
            shell => shell.context(),
        })?;
    Ok(shell.weighed(page))
}

/// One table of all metrics where one thing was compared, else a table of each metric.
fn tables(view: &CompareView) -> Vec<Table<'_>> {
    if let Some((load, rows)) = view.metrics_of_one() {
        return vec![table(load, rows, view.is_judged)];
    }
    let tables = view.tables.iter();
    tables
        .map(|one| {
            let rows = one.rows.iter().map(|row| {
                let group = row.group.as_ref();
                let name =
                    group.map_or_else(|| row.name.clone(), |group| format!("{} {group}", row.name));
                (name, row)
            });
            table(one.title.to_owned(), rows.collect(), view.is_judged)
        })
        .collect()
}

fn table(title: String, rows: Vec<(String, &RatioRow)>, is_judged: bool) -> Table<'_> {
    let found: Vec<Advantage> = rows
        .iter()
        .map(|(_, row)| Advantage::of(&row.found))
        .collect();
    let reach = found.iter().map(Advantage::of_b);
    let reach = reach
        .map(|of_b| of_b.max(1.0 / of_b))
        .filter(|factor| factor.is_finite())
        .fold(LEAST_REACH, f64::max);
    let ends = found.iter().filter_map(Advantage::range_of_b);
    let ends = ends.flat_map(|(low, high)| [1.0 / low, high]);
    let reach = ends
        .filter(|end| end.is_finite())
        .fold(reach, |reach, end| reach.max(end.min(reach * BEYOND)));
    let place = |of_b: f64| {
        let share = of_b.ln() / reach.ln();
        (5e3 * (1.0 + share.clamp(-1.0, 1.0))).round() / 100.0
    };
    let rows = rows
        .into_iter()
        .zip(&found)
        .map(|((name, row), advantage)| {
            let [a, b, against, interval] = words::cells(&row.found, is_judged);
            let range = advantage.range_of_b().map(|(low, high)| {
                let (low, high) = (place(low.max(f64::MIN_POSITIVE)), place(high));
                (low, ((high - low) * 100.0).round() / 100.0)
            });
            Row {
                name,
                a,
                b,
                against,
                interval,
                outcome: &row.outcome,
                point: place(advantage.of_b()),
                range,
            }
        });
    Table {
        title,
        rows: rows.collect(),
    }
}
