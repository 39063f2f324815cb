//! A picture of one load point, for where a link is shown: 1200 × 630 pixels, as most sites want it
//! (<https://ogp.me>, `og:image`).

mod canvas;
mod content;
mod face;
mod failures;
mod layout;
mod plot;
mod style;

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree},
};

use super::view::StandingsView;
use crate::ReportError;
use face::{FAMILY, Faces};

/// The card's width and height in pixels.
pub const SIZE: (u32, u32) = (1200, 630);

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

/// The same as an SVG document.
pub fn card_svg(view: &StandingsView, workload: Option<&str>) -> Result<String, ReportError> {
    let faces = Faces::new().ok_or_else(|| ReportError::Card {
        reason: "its font cannot be read".to_owned(),
    })?;
    Ok(layout::svg(&content::content(view, workload)?, &faces))
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
