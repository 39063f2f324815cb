//! What the card is drawn on, and its font, with which text is measured.
//!
//! DejaVu Sans comes with Deadheat, so that a card is the same on every machine. It has Latin, Greek, Cyrillic,
//! Armenian, Georgian, Hebrew and Arabic letters, but no Chinese, Japanese or Korean ones and few emoji.

use std::{borrow::Cow, fmt::Display, sync::Arc};

use deadheat_document::plot::svg::{Svg, tenths};
use resvg::usvg::fontdb::Database;
use skrifa::{
    FontRef, MetadataProvider,
    charmap::Charmap,
    instance::{LocationRef, Size},
    metrics::GlyphMetrics,
};
use textwrap::core::display_width;

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

/// A picture under construction, measured in pixels.
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

    /// A line with an arrowhead, for an interval that is open at that end.
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

/// What a card's text is set in.
pub(super) const FAMILY: &str = "DejaVu Sans";

/// Replaces a character that the font lacks.
pub(super) const LACKING: char = '□';

/// A weight of the font, for measuring.
pub(super) struct Face {
    map: Charmap<'static>,
    /// At a size of 1,000 pixels.
    metrics: GlyphMetrics<'static>,
}

/// Both weights.
pub(super) struct Faces {
    pub(super) regular: Face,
    pub(super) bold: Face,
}

impl Faces {
    /// `None` if a font cannot be read.
    pub(super) fn new() -> Option<Self> {
        Some(Self {
            regular: Face::new(dejavu::sans::regular())?,
            bold: Face::new(dejavu::sans::bold())?,
        })
    }

    /// The database of these fonts, for drawing.
    pub(super) fn database() -> Arc<Database> {
        let mut database = Database::new();
        database.load_font_data(dejavu::sans::regular().to_vec());
        database.load_font_data(dejavu::sans::bold().to_vec());
        database.set_sans_serif_family(FAMILY);
        Arc::new(database)
    }
}

const MEASURED_AT: f32 = 1000.0;

impl Face {
    fn new(data: &'static [u8]) -> Option<Self> {
        let font = FontRef::new(data).ok()?;
        Some(Self {
            map: font.charmap(),
            metrics: font.glyph_metrics(Size::new(MEASURED_AT), LocationRef::default()),
        })
    }

    /// The width in pixels, without kerning.
    pub(super) fn width(&self, text: &str, size: f32) -> f32 {
        let advance = |c| self.metrics.advance_width(self.map.map(c)?);
        let advances = text.chars().filter_map(advance);
        advances.sum::<f32>() * size / MEASURED_AT
    }

    /// The text with a box for each character that the font lacks; marks that take no room are left out.
    fn drawable<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let has = |c| self.map.map(c).is_some_and(|glyph| glyph.to_u32() != 0);
        if text.chars().all(has) {
            return text.into();
        }
        let mut drawable = String::with_capacity(text.len());
        for character in text.chars() {
            if has(character) {
                drawable.push(character);
            } else if display_width(character.encode_utf8(&mut [0; 4])) > 0 {
                drawable.push(LACKING);
            }
        }
        drawable.into()
    }

    /// The text, with its end cut off if it is wider than `room`.
    pub(super) fn cut(&self, text: &str, size: f32, room: f32) -> String {
        self.cut_within(text, size, room, 1.0)
    }

    /// The text with an ellipsis for what does not fit into `room`; `share` of what remains comes before the ellipsis.
    pub(super) fn cut_within(&self, text: &str, size: f32, room: f32, share: f32) -> String {
        if self.width(text, size) <= room {
            return text.to_owned();
        }
        let characters: Vec<char> = text.chars().collect();
        for kept in (0..characters.len()).rev() {
            let before = (kept as f32 * share).ceil() as usize;
            let (head, tail) = (
                &characters[..before],
                &characters[characters.len() - (kept - before)..],
            );
            let cut: String = head.iter().chain(&['…']).chain(tail).collect();
            if self.width(&cut, size) <= room {
                return cut;
            }
        }
        String::new()
    }

    /// Lines no wider than `room`; a word that is wider is broken.
    pub(super) fn wrapped(&self, text: &str, size: f32, room: f32) -> Vec<String> {
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            let line = lines.last_mut().expect("there is a first line");
            let longer = match line.as_str() {
                "" => word.to_owned(),
                line => format!("{line} {word}"),
            };
            if self.width(&longer, size) <= room {
                *line = longer;
                continue;
            }
            if !line.is_empty() {
                lines.push(String::new());
            }
            for character in word.chars() {
                let line = lines.last_mut().expect("there is a first line");
                line.push(character);
                if self.width(line, size) > room && line.chars().count() > 1 {
                    line.pop();
                    lines.push(character.to_string());
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faces() -> Faces {
        Faces::new().expect("the fonts can be read")
    }

    #[test]
    fn what_the_font_lacks_is_a_box_and_the_box_is_in_the_font() {
        let faces = faces();
        for face in [&faces.regular, &faces.bold] {
            assert_eq!(
                face.drawable("größe-šťovík Ωж ≥±–…•"),
                "größe-šťovík Ωж ≥±–…•"
            );
            assert_eq!(face.drawable("言語-x:変"), "□□-x:□");
            assert_eq!(face.drawable("🦀か\u{3099}!"), "□□!");
            assert_eq!(face.drawable(&LACKING.to_string()), "□");
        }
        assert_eq!(faces.regular.drawable("لغة"), "لغة");
    }

    #[test]
    fn text_is_cut_to_its_room() {
        let face = faces().regular;
        assert_eq!(face.cut("short", 20.0, 200.0), "short");
        let long = "language-framework:first-variant";
        for share in [0.2, 0.5, 1.0] {
            for room in [10.0, 40.0, 150.0, 200.0] {
                let cut = face.cut_within(long, 20.0, room, share);
                assert!(face.width(&cut, 20.0) <= room, "{cut}");
                assert!(cut.is_empty() || cut.contains('…'), "{cut}");
            }
        }
        let middle = face.cut_within(long, 20.0, 200.0, 0.5);
        assert!(middle.starts_with("language") && middle.ends_with("variant"));
    }

    #[test]
    fn lines_keep_their_room_and_all_letters() {
        let face = faces().regular;
        let text = format!("some words and {} at the end", "x".repeat(80));
        let lines = face.wrapped(&text, 20.0, 300.0);
        assert!(lines.iter().all(|line| face.width(line, 20.0) <= 300.0));
        let letters = |text: &str| text.replace(' ', "");
        assert_eq!(letters(&lines.concat()), letters(&text));
        assert_eq!(face.wrapped("", 20.0, 300.0), [""]);
    }
}
