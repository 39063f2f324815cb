//! The course of a session: what each stack answered in each heat, beside its own median, in the order of the heats. It
//! shows drift, outliers, and processes that differ.

use deadheat_document::{Cell, Column, Section, Table, plot::svg::Svg};
use deadheat_model::figure::figure;
use deadheat_stats::{interval::median, standings::HeatFigure};

use crate::document::{
    view::{LoadView, TableView},
    words,
};

/// A row's height is twice this share of the median (0.25: ±25 %); what is farther away lies at its edge.
const REACH: f64 = 0.25;
/// The height of a row in pixels, and how far a dot can be from its middle.
const HEIGHT: f64 = 22.0;
const ROOM: f64 = HEIGHT / 2.0 - 3.0;
/// Fewer heats have no course.
const LEAST_HEATS: usize = 3;

/// The course of a table's stacks, and of the null server below them; empty with too few heats.
pub(super) fn section(load: &LoadView, table: &TableView) -> Section {
    let section = Section::new("Course of the session: each heat beside the stack's own median");
    let stacks = table
        .rows
        .iter()
        .map(|row| (row.target.as_str(), &row.course));
    let null_server = Some((words::NULL_SERVER, &load.ceiling_course));
    let null_server = null_server.filter(|(_, course)| !course.is_empty());
    let courses: Vec<(&str, &Vec<HeatFigure>)> = stacks.chain(null_server).collect();
    let heats = courses.iter().flat_map(|(_, course)| course.iter());
    let mut heats: Vec<u32> = heats.map(|one| one.heat).collect();
    heats.sort_unstable();
    heats.dedup();
    if heats.len() < LEAST_HEATS {
        return section;
    }
    let reach = words::percent(REACH);
    let mut drawn = Table::new([
        Column::left("stack"),
        Column::drawn(format!(
            "each heat, from −{reach} to +{reach} of the median"
        )),
        Column::right("median, requests/s"),
    ]);
    for (name, course) in courses {
        if let Some(usual) = median(course.iter().map(|one| one.per_second)) {
            let line = Cell::drawn(line(course, usual, &heats));
            drawn.row([Cell::from(name), line, Cell::from(figure(usual))]);
        }
    }
    section
        .aside(Some(
            "From the first heat on the left to the last. If all rows move together, the machine did; the null server is the \
             same program throughout.",
        ))
        .table(drawn)
}

/// A line from heat to heat, and a dot at each. A heat is one unit wide, so that the drawing fits any window.
fn line(course: &[HeatFigure], usual: f64, heats: &[u32]) -> String {
    let (mut lines, mut dots) = (String::new(), String::new());
    for one in course {
        let off = (one.per_second / usual - 1.0).clamp(-REACH, REACH);
        let x = heats.partition_point(|heat| *heat < one.heat) as f64 + 0.5;
        let y = HEIGHT / 2.0 - off / REACH * ROOM;
        let command = if lines.is_empty() { 'M' } else { 'L' };
        lines += &format!("{command}{x} {y:.1}");
        // A line without length is a dot, because its ends are round.
        dots += &format!("M{x} {y:.1}h0");
    }
    let mut svg = Svg::beside_text(
        HEIGHT,
        &[
            ("class", &"heats"),
            ("viewBox", &format!("0 0 {} {HEIGHT}", heats.len())),
            ("preserveAspectRatio", &"none"),
        ],
    );
    svg.element("path", &[("d", &lines)]);
    svg.element("path", &[("class", &"dots"), ("d", &dots)]);
    svg.finish()
}
