//! A picture of one load point, for where a link is shown: 1200 × 630 pixels, as most sites want it
//! (<https://ogp.me>, `og:image`).

mod canvas;
mod plot;

pub use canvas::SIZE;
use deadheat_document::json::ReportError;
use deadheat_model::figure::counted;
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree},
};

use self::{
    canvas::{
        Anchor, BLUE, Canvas, DIM, FAMILY, Faces, GRID, GROUND, HEIGHT, INK, LACKING, MARGIN, RED,
        ROOM, Type, WIDTH,
    },
    plot::Plot,
};
use super::{
    view::{LackView, LoadView, StandingsView},
    words,
};

/// The baselines of the texts.
const MARK_Y: f32 = 58.0;
const TITLE_Y: f32 = 116.0;
const FIRST_LINE_Y: f32 = 159.0;
const MACHINE_Y: f32 = 582.0;
const CAVEAT_Y: f32 = 606.0;
/// The plot ends above this.
const FOOT_Y: f32 = 556.0;

/// The title's sizes.
const TITLE: [f32; 3] = [40.0, 32.0, 26.0];
/// The verdict's sizes, the larger ones for shorter verdicts, each with the most lines that it may take.
const VERDICT: [(f32, usize); 3] = [(25.0, 2), (22.0, 3), (19.0, 4)];
/// From baseline to baseline, in sizes.
const LEADING: f32 = 1.32;
/// The height of a stack without a figure.
const LACK: f32 = 50.0;

/// The card as a PNG file: of a workload (`name` or `name:point`), or of the first load that has figures.
pub fn card(view: &StandingsView, workload: Option<&str>) -> Result<Vec<u8>, ReportError> {
    let tree = tree(&card_svg(view, workload)?)?;
    let failed = |reason: &str| ReportError::Card {
        reason: reason.to_owned(),
    };
    let mut pixmap = Pixmap::new(SIZE.0, SIZE.1).ok_or_else(|| failed("it has no size"))?;
    resvg::render(&tree, Transform::identity(), &mut pixmap.as_mut());
    pixmap
        .encode_png()
        .map_err(|error| failed(&error.to_string()))
}

/// The card as an SVG document.
pub fn card_svg(view: &StandingsView, workload: Option<&str>) -> Result<String, ReportError> {
    let faces = Faces::new().ok_or_else(|| ReportError::Card {
        reason: "its font cannot be read".to_owned(),
    })?;
    let load = chosen(view, workload)?;
    let mut canvas = Canvas::new(&faces, WIDTH, HEIGHT, GROUND);
    canvas.rect((0.0, 0.0), (WIDTH, 8.0), BLUE);
    mark(&mut canvas);
    let place = match view.leading().count() {
        0 | 1 => view.title.date.clone(),
        many => format!(
            "{}, one of {}",
            view.title.date,
            counted(many, "load point")
        ),
    };
    let small = Type::regular(18.0, DIM);
    let corner = (WIDTH - MARGIN, MARK_Y);
    canvas.text(small, corner, Anchor::End, ROOM - 240.0, &place);
    title(
        &mut canvas,
        load.map_or(&view.title.compared, |load| &load.title),
    );
    let outcome = load.map(|load| format!("{}.", load.outcome()));
    let outcome = outcome.unwrap_or_else(|| "Nothing was planned.".to_owned());
    let area = (verdict(&mut canvas, &outcome) + 16.0, FOOT_Y);
    let table = load.and_then(|load| Some((load, load.tables.first()?)));
    match table.filter(|(_, table)| !table.rows.is_empty()) {
        Some((load, table)) => plot::draw(&mut canvas, &Plot::new(view, load, table), area),
        None => lacks(&mut canvas, &lacking(view, load), area),
    }
    foot(&mut canvas, view);
    Ok(canvas.finish())
}

/// The document as it is drawn, text turned into outlines.
fn tree(svg: &str) -> Result<Tree, ReportError> {
    let options = Options {
        font_family: FAMILY.to_owned(),
        fontdb: Faces::database(),
        ..Options::default()
    };
    Tree::from_str(svg, &options).map_err(|error| ReportError::Card {
        reason: error.to_string(),
    })
}

/// The load that is shown: one with figures if there is any.
fn chosen<'a>(
    view: &'a StandingsView,
    workload: Option<&str>,
) -> Result<Option<&'a LoadView>, ReportError> {
    let is_asked = |load: &&LoadView| {
        workload.is_none_or(|asked| load.workload == asked || load.name == asked)
    };
    let asked: Vec<&LoadView> = view.loads.iter().filter(is_asked).collect();
    if let (Some(name), true) = (workload, asked.is_empty()) {
        return Err(ReportError::NoSuchWorkload {
            asked: name.to_owned(),
            known: view.loads.iter().map(|load| load.name.clone()).collect(),
        });
    }
    let with_figures = asked.iter().find(|load| load.rows().next().is_some());
    Ok(with_figures.or_else(|| asked.first()).copied())
}

/// The stacks without a figure at a load.
fn lacking<'a>(view: &'a StandingsView, load: Option<&'a LoadView>) -> Vec<&'a LackView> {
    let here = load.into_iter().flat_map(|load| &load.lacking);
    let everywhere = view.not_measured.entries.iter();
    here.chain(everywhere.filter(|lack| lack.load.is_none()))
        .collect()
}

/// Draws the logo, two lines that end at the same finish, and the name.
fn mark(canvas: &mut Canvas) {
    let x = MARGIN + 22.0;
    for (y, from) in [(MARK_Y - 15.0, 22.0), (MARK_Y - 2.0, 14.0)] {
        canvas.line((x - from, y), (x, y), BLUE, 3.0);
        canvas.dot((x, y), 4.0, BLUE, BLUE);
    }
    canvas.line((x + 9.0, MARK_Y - 24.0), (x + 9.0, MARK_Y + 7.0), INK, 2.5);
    canvas.text(
        Type::bold(24.0, INK),
        (x + 22.0, MARK_Y),
        Anchor::Start,
        200.0,
        "Deadheat",
    );
}

fn title(canvas: &mut Canvas, title: &str) {
    let face = canvas.face(Type::bold(1.0, INK));
    let mut sizes = TITLE.into_iter();
    let size = sizes.find(|size| face.width(title, *size) <= ROOM);
    let kind = Type::bold(size.unwrap_or(TITLE[TITLE.len() - 1]), INK);
    canvas.text(kind, (MARGIN, TITLE_Y), Anchor::Start, ROOM, title);
}

/// Writes the verdict and returns where it ends.
fn verdict(canvas: &mut Canvas, verdict: &str) -> f32 {
    let kind = |size| Type::regular(size, INK);
    let verdict = canvas.drawable(kind(1.0), verdict);
    let face = canvas.face(kind(1.0));
    let fits = |(size, most): &(f32, usize)| {
        let lines = face.wrapped(&verdict, *size, ROOM);
        (lines.len() <= *most).then_some((*size, lines))
    };
    let (size, lines) = VERDICT.iter().find_map(fits).unwrap_or_else(|| {
        let (size, most) = VERDICT[VERDICT.len() - 1];
        let mut lines = face.wrapped(&verdict, size, ROOM);
        lines.truncate(most);
        // So that nobody takes a part for the whole.
        if let Some(last) = lines.last_mut() {
            let more = " … (the report has the rest)";
            *last = face.cut(last, size, ROOM - face.width(more, size)) + more;
        }
        (size, lines)
    });
    let mut y = FIRST_LINE_Y;
    for line in &lines {
        canvas.text(kind(size), (MARGIN, y), Anchor::Start, ROOM + 1.0, line);
        y += LEADING * size;
    }
    y - LEADING * size
}

/// Draws the stacks without a figure, with the reason.
fn lacks(canvas: &mut Canvas, lacks: &[&LackView], (top, bottom): (f32, f32)) {
    let note = Type::regular(17.0, DIM);
    let (x, room) = (MARGIN + 30.0, ROOM - 30.0);
    let most = ((bottom - top) / LACK) as usize - 1;
    let mut y = top + 0.7 * LACK;
    for lack in lacks.iter().take(most) {
        let name = format!("{} {}", lack.target, words::absent(lack.because));
        let cross = Type::bold(19.0, RED);
        canvas.text(cross, (MARGIN, y), Anchor::Start, 30.0, "×");
        canvas.text(Type::bold(19.0, INK), (x, y), Anchor::Start, room, &name);
        let reason = Type::regular(15.0, DIM);
        canvas.text(reason, (x, y + 20.0), Anchor::Start, room, &lack.reason);
        y += LACK;
    }
    let rest = match lacks.len() {
        0 => "Nothing was measured, and nothing failed.".to_owned(),
        all if all > most => format!("and {} more: see the report", all - most),
        _ => return,
    };
    canvas.text(note, (x, y), Anchor::Start, room, &rest);
}

/// The machines, and where the limits are listed.
fn foot(canvas: &mut Canvas, view: &StandingsView) {
    let y = MACHINE_Y - 22.0;
    canvas.line((MARGIN, y), (WIDTH - MARGIN, y), GRID, 1.5);
    let kind = Type::regular(16.0, DIM);
    let machine = format!("{} · {}", view.title.machine, view.trust);
    canvas.text(kind, (MARGIN, MACHINE_Y), Anchor::Start, ROOM, &machine);
    let way = if view.title.alone {
        "One machine over loopback"
    } else {
        "Machines in a network"
    };
    let mut caveat = format!("{way}: the report lists the limits of this result.");
    if canvas.lacks {
        caveat += &format!(" {LACKING}: not in the card's font.");
    }
    canvas.text(kind, (MARGIN, CAVEAT_Y), Anchor::Start, ROOM, &caveat);
}

#[cfg(test)]
mod tests {
    use resvg::usvg::Node;

    use super::*;

    #[test]
    fn measured_text_is_as_wide_as_drawn_text() {
        let faces = Faces::new().unwrap();
        for (text, slack) in [
            ("rust-axum 1,234 AVAVA", 0.05),
            ("größe Ωж", 0.05),
            ("لغة-إطار", 0.3),
        ] {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"90\"><text x=\"9\" y=\"50\" \
                 font-size=\"40\">{text}</text></svg>"
            );
            let tree = tree(&svg).unwrap();
            let Node::Text(text_drawn) = &tree.root().children()[0] else {
                panic!("{svg}");
            };
            let drawn = text_drawn.abs_bounding_box().width();
            let measured = faces.regular.width(text, 40.0);
            assert!(
                (measured - drawn).abs() < slack * drawn,
                "{text}: {measured} {drawn}"
            );
        }
    }
}
