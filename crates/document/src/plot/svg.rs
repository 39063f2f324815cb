//! Drawings in SVG, without a library: the only file that writes its elements. In a page, horizontal positions are shares of
//! the width, so that a drawing fits any window without a script, vertical ones are pixels, and text keeps its size.

use std::fmt::{Display, Write as _};

use minijinja::HtmlEscape;

/// A drawing under construction.
pub struct Svg {
    text: String,
}

impl Svg {
    /// An empty drawing of this height in pixels. `label` says in words what it shows.
    pub(crate) fn new(height: usize, label: &str) -> Self {
        let label = HtmlEscape(label);
        Self::with(&[
            ("role", &"img"),
            ("aria-label", &label),
            ("height", &height),
        ])
    }

    /// A drawing of this height that repeats what the text next to it says.
    pub fn beside_text(height: impl Display, attributes: &[(&str, &dyn Display)]) -> Self {
        let own: [(&str, &dyn Display); 2] = [("aria-hidden", &"true"), ("height", &height)];
        Self::with(&[&own[..], attributes].concat())
    }

    /// A picture of this size in pixels, which is a file and not part of a page.
    pub fn picture(width: f32, height: f32, font: &str) -> Self {
        Self::with(&[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("width", &width),
            ("height", &height),
            ("viewBox", &format!("0 0 {width} {height}")),
            ("font-family", &font),
        ])
    }

    fn with(attributes: &[(&str, &dyn Display)]) -> Self {
        let mut svg = Self {
            text: String::new(),
        };
        svg.open("svg", attributes, ">\n");
        svg
    }

    /// An element without content, with attributes in this order. Their values must be escaped.
    pub fn element(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.open(name, attributes, "/>\n");
    }

    /// The beginning of an element.
    pub(crate) fn begin(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.open(name, attributes, ">");
    }

    /// The end of an element.
    pub(crate) fn end(&mut self, name: &str) {
        self.write(format_args!("</{name}>\n"));
    }

    /// An element with text in it.
    pub fn text(&mut self, name: &str, attributes: &[(&str, &dyn Display)], text: &str) {
        self.begin(name, attributes);
        self.write(format_args!("{}", HtmlEscape(text)));
        self.end(name);
    }

    /// The drawing.
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>");
        self.text
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &dyn Display)], end: &str) {
        self.write(format_args!("<{name}"));
        for (name, value) in attributes {
            self.write(format_args!(" {name}=\"{value}\""));
        }
        self.text.push_str(end);
    }

    fn write(&mut self, what: std::fmt::Arguments<'_>) {
        // A string takes everything.
        let _ = self.text.write_fmt(what);
    }
}

/// A place to a tenth of its unit: nobody sees less.
pub fn tenths(place: f64) -> f64 {
    (10.0 * place).round() / 10.0
}

/// A share of the width (0 to 1), as SVG writes it.
#[derive(Clone, Copy)]
pub struct Percent(pub f64);

impl Percent {
    /// The figure without its sign.
    pub fn figure(self) -> f64 {
        tenths(100.0 * self.0)
    }
}

impl Display for Percent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}%", self.figure())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_labels_are_escaped() {
        let mut svg = Svg::new(40, "a \"b\" <c>");
        svg.text("text", &[("x", &Percent(0.5))], "</svg><script>");
        let drawn = svg.finish();
        assert!(
            drawn.contains("aria-label=\"a &quot;b&quot; &lt;c&gt;\""),
            "{drawn}"
        );
        assert!(
            drawn.contains("x=\"50%\">&lt;&#x2f;svg&gt;&lt;script&gt;</text>"),
            "{drawn}"
        );
    }

    #[test]
    fn shares_are_written_to_a_tenth_of_a_percent() {
        for (share, text) in [(0.0, "0%"), (1.0, "100%"), (1.0 / 3.0, "33.3%")] {
            assert_eq!(Percent(share).to_string(), text);
        }
    }
}
