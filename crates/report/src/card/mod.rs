//! A picture of one load point, for where a link is shown: 1200 × 630 pixels, as most sites want it
//! (<https://ogp.me>, `og:image`).

mod canvas;
pub(crate) mod content;
mod face;
mod failures;
mod layout;
mod plot;
mod style;

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Group, Node, Options, Tree},
};

use crate::ReportError;
use content::Content;
use face::{FAMILY, Faces};

/// The card's width and height in pixels.
pub const SIZE: (u32, u32) = (1200, 630);

/// A document as a PNG file.
pub(crate) fn png(svg: &str) -> Result<Vec<u8>, ReportError> {
    let tree = tree(svg)?;
    let failed = |reason: &str| ReportError::Card {
        reason: reason.to_owned(),
    };
    let mut pixmap = Pixmap::new(SIZE.0, SIZE.1).ok_or_else(|| failed("it has no size"))?;
    resvg::render(&tree, Transform::identity(), &mut pixmap.as_mut());
    pixmap
        .encode_png()
        .map_err(|error| failed(&error.to_string()))
}

/// A card as an SVG document.
pub(crate) fn draw(content: &Content) -> Result<String, ReportError> {
    let faces = Faces::new().ok_or_else(|| ReportError::Card {
        reason: "its font cannot be read".to_owned(),
    })?;
    Ok(layout::svg(content, &faces))
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

/// Where every text stands when it is drawn, in pixels: left, top, right and bottom. For tests.
pub fn text_boxes(svg: &str) -> Result<Vec<[f32; 4]>, ReportError> {
    let tree = tree(svg)?;
    let mut found = Vec::new();
    boxes(tree.root(), &mut found);
    Ok(found)
}

fn boxes(group: &Group, found: &mut Vec<[f32; 4]>) {
    for node in group.children() {
        match node {
            Node::Group(group) => boxes(group, found),
            Node::Text(text) => {
                let at = text.abs_bounding_box();
                found.push([at.left(), at.top(), at.right(), at.bottom()]);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
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
            let mut found = Vec::new();
            boxes(tree(&svg).unwrap().root(), &mut found);
            let drawn = found[0][2] - found[0][0];
            let measured = faces.regular.width(text, 40.0);
            assert!(
                (measured - drawn).abs() < slack * drawn,
                "{text}: {measured} {drawn}"
            );
        }
    }
}
