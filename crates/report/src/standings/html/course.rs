//! The course of a session: what each stack answered in each heat, beside its own median, in the order of the heats. It
//! shows drift, outliers, and processes that differ.

use deadheat_stats::{order_statistic::median, standings::HeatFigure};

use super::{
    forest::Line,
    svg::{Percent, ROW, Svg},
};
use crate::{
    figure::figure,
    standings::{
        view::{LoadView, RowView, TableView},
        words,
    },
};

/// A row's height is twice this share of the median (0.25: ±25 %); what is farther away lies at its edge.
const REACH: f64 = 0.25;
/// How far a dot can be from the middle of its row, in pixels.
const ROOM: f64 = ROW as f64 / 2.0 - 3.0;
/// The share of the drawing's width that the heats have; the rest is text.
const PLOT: f64 = 0.9;
/// Fewer heats have no course.
const LEAST_HEATS: usize = 3;

/// The course of a table's stacks, and of the null server below them.
pub(super) struct Course {
    /// The stacks in their order, and the null server.
    pub(super) lines: Vec<Line>,
    /// The drawing.
    pub(super) drawing: String,
}

/// The course of a table; `None` where it has too few heats to have one. `lines` are its stacks.
pub(super) fn course(
    load: &LoadView,
    table: &TableView,
    lines: &[Line],
    label: &str,
) -> Option<Course> {
    let mut lines = lines.to_vec();
    let mut courses: Vec<&[HeatFigure]> = table.rows.iter().map(course_of).collect();
    if !load.ceiling_course.is_empty() {
        lines.push(Line {
            colour: "null".to_owned(),
            name: words::NULL_SERVER.to_owned(),
        });
        courses.push(&load.ceiling_course);
    }
    let heats = courses.iter().flat_map(|course| course.iter());
    let mut heats: Vec<u32> = heats.map(|one| one.heat).collect();
    heats.sort_unstable();
    heats.dedup();
    if heats.len() < LEAST_HEATS {
        return None;
    }
    let label = format!(
        "{label}: what each stack answered in each heat, beside its own median; the JSON report has the figures"
    );
    let mut svg = Svg::new(lines.len(), &label);
    let place = |heat: u32| {
        let place = heats.partition_point(|one| *one < heat);
        Percent((place as f64 + 0.5) / heats.len() as f64 * PLOT)
    };
    for (row, (line, course)) in lines.iter().zip(&courses).enumerate() {
        draw_row(&mut svg, row, line, course, place);
    }
    Some(Course {
        lines,
        drawing: svg.finish(),
    })
}

fn course_of(row: &RowView) -> &[HeatFigure] {
    &row.course
}

fn draw_row(
    svg: &mut Svg,
    row: usize,
    line: &Line,
    course: &[HeatFigure],
    place: impl Fn(u32) -> Percent,
) {
    let Some(usual) = median(course.iter().map(|one| one.per_second)) else {
        return;
    };
    let middle = Svg::middle(row);
    let height = |one: &HeatFigure| {
        let off = (one.per_second / usual - 1.0).clamp(-REACH, REACH);
        // To a tenth of a pixel.
        ((middle as f64 - off / REACH * ROOM) * 10.0).round() / 10.0
    };
    let in_full = format!("{}: {} requests/s", line.name, figure(usual));
    svg.begin("g", &[("class", &format!("row {}", line.colour))]);
    svg.text("title", &[], &in_full);
    for pair in course.windows(2) {
        let (from, to) = (&pair[0], &pair[1]);
        svg.element(
            "line",
            &[
                ("x1", &place(from.heat)),
                ("x2", &place(to.heat)),
                ("y1", &height(from)),
                ("y2", &height(to)),
            ],
        );
    }
    for one in course {
        svg.begin(
            "circle",
            &[("cx", &place(one.heat)), ("cy", &height(one)), ("r", &2.5)],
        );
        let answered = figure(one.per_second);
        let heat = one.heat + 1;
        svg.text("title", &[], &format!("heat {heat}: {answered}"));
        svg.end("circle");
    }
    let (x, y) = (Percent(1.0), middle + 4);
    svg.text(
        "text",
        &[("class", &"value"), ("x", &x), ("y", &y)],
        &figure(usual),
    );
    svg.end("g");
}
