//! A card without a figure: who failed, and of what.

use super::{
    canvas::{Anchor, Canvas, Type},
    style::{DIM, INK, MARGIN, RED, ROOM},
};
use crate::standings::{view::LackView, words};

const LEAST_ROW: f32 = 44.0;
const MOST_ROW: f32 = 58.0;

pub(super) fn draw(canvas: &mut Canvas, losses: &[&LackView], (top, bottom): (f32, f32)) {
    let note = Type::regular(17.0, DIM);
    if losses.is_empty() {
        let at = (MARGIN, top + LEAST_ROW);
        let nothing = "Nothing was measured, and nothing failed.";
        canvas.text(note, at, Anchor::Start, ROOM, nothing);
        return;
    }
    let row = ((bottom - top) / (losses.len() + 1) as f32).clamp(LEAST_ROW, MOST_ROW);
    let most = (((bottom - top) / row) as usize).saturating_sub(1).max(1);
    let mut y = top + 0.7 * row;
    for loss in losses.iter().take(most) {
        cross(canvas, (MARGIN + 8.0, y - 7.0));
        let at = (MARGIN + 30.0, y);
        canvas.text(
            Type::bold(19.0, INK),
            at,
            Anchor::Start,
            ROOM - 30.0,
            &format!("{} {}", loss.target, words::absent(loss.because)),
        );
        let at = (MARGIN + 30.0, y + 20.0);
        canvas.text(
            Type::regular(15.0, DIM),
            at,
            Anchor::Start,
            ROOM - 30.0,
            &loss.reason,
        );
        y += row;
    }
    if losses.len() > most {
        let more = format!("and {} more: see the report", losses.len() - most);
        canvas.text(note, (MARGIN + 30.0, y), Anchor::Start, ROOM - 30.0, &more);
    }
}

fn cross(canvas: &mut Canvas, (x, y): (f32, f32)) {
    const ARM: f32 = 7.0;
    canvas.line((x - ARM, y - ARM), (x + ARM, y + ARM), RED, 3.0);
    canvas.line((x - ARM, y + ARM), (x + ARM, y - ARM), RED, 3.0);
}
