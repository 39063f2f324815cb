//! An SVG picture under construction.

use std::fmt::Display;

use deadheat_document::plot::svg::{Svg, tenths};

use super::face::{FAMILY, Face, Faces};

/// The card's width and height in pixels.
pub const SIZE: (u32, u32) = (1200, 630);
pub(super) const WIDTH: f32 = SIZE.0 as f32;
pub(super) const HEIGHT: f32 = SIZE.1 as f32;
/// Left and right of everything.
pub(super) const MARGIN: f32 = 56.0;
/// From margin to margin.
pub(super) const ROOM: f32 = WIDTH - 2.0 * MARGIN;

pub(super) const INK: &str = "#1b2026";
pub(super) const DIM: &str = "#5a636d";
pub(super) const GROUND: &str = "#fcfbf8";
pub(super) const GRID: &str = "#dcdcd6";
pub(super) const BLUE: &str = "#1f6fad";
pub(super) const ORANGE: &str = "#b5610c";
pub(super) const RED: &str = "#b83a25";

/// Where a text's `x` is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How text looks.
#[derive(Clone, Copy)]
pub(super) struct Type {
    pub(super) size: f32,
    pub(super) bold: bool,
    pub(super) colour: &'static str,
}

impl Type {
    pub(super) const fn regular(size: f32, colour: &'static str) -> Self {
        Self {
            size,
            bold: false,
            colour,
        }
    }

    pub(super) const fn bold(size: f32, colour: &'static str) -> Self {
        Self {
            size,
            bold: true,
            colour,
        }
    }
}

/// A picture of so many pixels.
pub(super) struct Canvas<'a> {
    svg: Svg,
    faces: &'a Faces,
    /// Whether a character was replaced because the font lacks it.
    pub(super) lacks: bool,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(faces: &'a Faces, width: f32, height: f32, ground: &str) -> Self {
        let mut own = Self {
            svg: Svg::picture(width, height, FAMILY),
            faces,
            lacks: false,
        };
        own.rect((0.0, 0.0), (width, height), ground);
        own
    }

    pub(super) fn face(&self, kind: Type) -> &'a Face {
        if kind.bold {
            &self.faces.bold
        } else {
            &self.faces.regular
        }
    }

    /// What can be drawn of a text. Only such text is measured.
    pub(super) fn drawable(&mut self, kind: Type, text: &str) -> String {
        let drawable = self.face(kind).drawable(text);
        self.lacks |= drawable != text;
        drawable.into_owned()
    }

    /// Text on a baseline, no wider than `room`.
    pub(super) fn text(
        &mut self,
        kind: Type,
        at: (f32, f32),
        anchor: Anchor,
        room: f32,
        text: &str,
    ) {
        let text = self.drawable(kind, text);
        let text = self.face(kind).cut(&text, kind.size, room);
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if kind.bold { "bold" } else { "normal" };
        let attributes: [(&str, &dyn Display); 6] = [
            ("x", &pixels(at.0)),
            ("y", &pixels(at.1)),
            ("font-size", &kind.size),
            ("text-anchor", &anchor),
            ("fill", &kind.colour),
            ("font-weight", &weight),
        ];
        self.svg.text("text", &attributes, &text);
    }

    pub(super) fn line(&mut self, from: (f32, f32), to: (f32, f32), colour: &str, width: f32) {
        self.stroke(from, to, colour, width, "none");
    }

    /// A line that does not end where it ends.
    pub(super) fn arrow(&mut self, from: (f32, f32), to: (f32, f32), colour: &str, width: f32) {
        self.stroke(from, (to.0 - 8.0, to.1), colour, width, "7 5");
        let (x, y) = to;
        let path = format!(
            "M{:.1} {:.1}L{x:.1} {y:.1}L{:.1} {:.1}Z",
            x - 11.0,
            y - 6.0,
            x - 11.0,
            y + 6.0
        );
        self.svg.element("path", &[("d", &path), ("fill", &colour)]);
    }

    fn stroke(&mut self, from: (f32, f32), to: (f32, f32), colour: &str, width: f32, dashes: &str) {
        self.svg.element(
            "line",
            &[
                ("x1", &pixels(from.0)),
                ("y1", &pixels(from.1)),
                ("x2", &pixels(to.0)),
                ("y2", &pixels(to.1)),
                ("stroke", &colour),
                ("stroke-width", &width),
                ("stroke-dasharray", &dashes),
            ],
        );
    }

    pub(super) fn rect(&mut self, at: (f32, f32), size: (f32, f32), colour: &str) {
        self.svg.element(
            "rect",
            &[
                ("x", &pixels(at.0)),
                ("y", &pixels(at.1)),
                ("width", &pixels(size.0)),
                ("height", &pixels(size.1)),
                ("fill", &colour),
            ],
        );
    }

    /// A dot; without a fill when there is nothing behind its figure but one heat.
    pub(super) fn dot(&mut self, at: (f32, f32), radius: f32, colour: &str, fill: &str) {
        self.svg.element(
            "circle",
            &[
                ("cx", &pixels(at.0)),
                ("cy", &pixels(at.1)),
                ("r", &radius),
                ("fill", &fill),
                ("stroke", &colour),
                ("stroke-width", &2.5),
            ],
        );
    }

    pub(super) fn finish(self) -> String {
        self.svg.finish()
    }
}

/// A place in pixels.
fn pixels(place: f32) -> f64 {
    tenths(place.into())
}
