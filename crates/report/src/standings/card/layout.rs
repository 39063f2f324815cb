//! What stands where on the card.

use super::{
    canvas::{Anchor, Canvas, Type},
    content::{Body, Content},
    face::{Faces, LACKING},
    failures, plot,
    style::{BLUE, DIM, GRID, GROUND, HEIGHT, INK, MARGIN, ROOM, WIDTH},
};

/// Baselines.
const MARK_Y: f32 = 58.0;
const TITLE_Y: f32 = 116.0;
const FIRST_LINE_Y: f32 = 159.0;
const MACHINE_Y: f32 = 582.0;
const CAVEAT_Y: f32 = 606.0;
/// The plot ends above it.
const FOOT_Y: f32 = 556.0;

/// The title's sizes.
const TITLE: [f32; 3] = [40.0, 32.0, 26.0];
/// The verdict's sizes, the larger ones for shorter verdicts, each with the most lines that it may take.
const VERDICT: [(f32, usize); 3] = [(25.0, 2), (22.0, 3), (19.0, 4)];
/// From baseline to baseline, in sizes.
const LEADING: f32 = 1.32;

/// The card.
pub(super) fn svg(content: &Content, faces: &Faces) -> String {
    let mut canvas = Canvas::new(faces, WIDTH, HEIGHT, GROUND);
    canvas.rect((0.0, 0.0), (WIDTH, 8.0), BLUE);
    mark(&mut canvas);
    canvas.text(
        Type::regular(18.0, DIM),
        (WIDTH - MARGIN, MARK_Y),
        Anchor::End,
        ROOM - 240.0,
        &content.place,
    );
    let title = content.title;
    let face = canvas.face(Type::bold(1.0, INK));
    let fits = |size: &f32| face.width(title, *size) <= ROOM;
    let size = TITLE
        .into_iter()
        .find(fits)
        .unwrap_or(TITLE[TITLE.len() - 1]);
    canvas.text(
        Type::bold(size, INK),
        (MARGIN, TITLE_Y),
        Anchor::Start,
        ROOM,
        title,
    );
    let below = verdict(&mut canvas, &content.verdict);
    let area = (below + 16.0, FOOT_Y);
    match &content.body {
        Body::Plot(plot) => plot::draw(&mut canvas, plot, area),
        Body::Failures(failures) => failures::draw(&mut canvas, failures, area),
    }
    foot(&mut canvas, content);
    canvas.finish()
}

/// Two that end on the same line, and the name.
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

fn foot(canvas: &mut Canvas, content: &Content) {
    canvas.line(
        (MARGIN, MACHINE_Y - 22.0),
        (WIDTH - MARGIN, MACHINE_Y - 22.0),
        GRID,
        1.5,
    );
    let kind = Type::regular(16.0, DIM);
    let at = (MARGIN, MACHINE_Y);
    canvas.text(kind, at, Anchor::Start, ROOM, &content.machine);
    let mut caveat = format!(
        "{}: the report lists the limits of this result.",
        content.way
    );
    if canvas.lacks {
        caveat += &format!(" {LACKING}: not in the card's font.");
    }
    canvas.text(kind, (MARGIN, CAVEAT_Y), Anchor::Start, ROOM, &caveat);
}
