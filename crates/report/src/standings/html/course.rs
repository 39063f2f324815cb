//! The course of a session: what each stack answered in each heat, beside its own median, in the order of the heats. It
//! shows drift, outliers, and processes that differ.

use deadheat_stats::{order_statistic::median, standings::HeatFigure};

use super::forest::Line;
use crate::{
    figure::figure,
    plot::svg::{Percent, ROW, Svg},
    standings::{
        view::{LoadView, RowView, TableView},
        words,
    },
};

/// A row's height is twice this share of the median (0.25: ±25 %); what is farther away lies at its edge.
const REACH: f64 = 0.25;
/// How far a dot can be from the middle of its row, in pixels.
const ROOM: f64 = ROW as f64 / 2.0 - 3.0;
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
        "{label}: throughput of each stack in each heat, compared with its own median; the JSON report has the figures"
    );
    let mut svg = Svg::of_rows(lines.len(), &label);
    // Inside, a heat is one unit wide: the drawing fits any window, with one path for all of a row's heats.
    let height = Svg::height(lines.len());
    let box_of_heats = format!("0 0 {} {height}", heats.len());
    svg.begin(
        "svg",
        &[
            ("class", &"heats"),
            ("height", &height),
            ("viewBox", &box_of_heats),
            ("preserveAspectRatio", &"none"),
        ],
    );
    let rows = || lines.iter().zip(&courses).enumerate();
    for (row, (line, course)) in rows() {
        let place = |heat: u32| heats.partition_point(|one| *one < heat);
        draw_row(&mut svg, row, line, course, place);
    }
    svg.end("svg");
    for (row, (_, course)) in rows() {
        if let Some(usual) = usual(course) {
            let (x, y) = (Percent(1.0), Svg::middle(row) + 4);
            svg.text("text", &[("x", &x), ("y", &y)], &figure(usual));
        }
    }
    Some(Course {
        lines,
        drawing: svg.finish(),
    })
}

fn course_of(row: &RowView) -> &[HeatFigure] {
    &row.course
}

fn usual(course: &[HeatFigure]) -> Option<f64> {
    median(course.iter().map(|one| one.per_second))
}

/// A line from heat to heat, and a dot at each.
fn draw_row(
    svg: &mut Svg,
    row: usize,
    line: &Line,
    course: &[HeatFigure],
    place: impl Fn(u32) -> usize,
) {
    let Some(usual) = usual(course) else {
        return;
    };
    let middle = Svg::middle(row) as f64;
    let (mut lines, mut dots) = (String::new(), String::new());
    for one in course {
        let off = (one.per_second / usual - 1.0).clamp(-REACH, REACH);
        // In the middle of the heat's unit, and to a tenth of a pixel.
        let (x, y) = (place(one.heat) as f64 + 0.5, middle - off / REACH * ROOM);
        let command = if lines.is_empty() { 'M' } else { 'L' };
        lines += &format!("{command}{x} {y:.1}");
        // A line without length is a dot, because its ends are round.
        dots += &format!("M{x} {y:.1}h0");
    }
    let in_full = format!("{}: {} requests/s", line.name, figure(usual));
    svg.begin("g", &[("class", &format!("row {}", line.colour))]);
    svg.text("title", &[], &in_full);
    svg.element("path", &[("d", &lines)]);
    svg.element("path", &[("class", &"dots"), ("d", &dots)]);
    svg.end("g");
}
