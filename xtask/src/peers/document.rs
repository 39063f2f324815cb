//! The place of a case's table in docs/peers.md: between two comments that Markdown does not show.

/// The document with a case's text in its place.
///
/// # Errors
///
/// That the document has no place for it.
pub(crate) fn replace(document: &str, case: &str, text: &str) -> Result<String, String> {
    let (begin, end) = (
        format!("<!-- peers:{case} -->"),
        format!("<!-- /peers:{case} -->"),
    );
    let missing = || format!("it needs the comments {begin} and {end}, in this order");
    let (before, rest) = document.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!(
        "{before}{begin}\n\n{}\n\n{end}{after}",
        text.trim()
    ))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::{peers::case::Case, project::root};

    #[test]
    fn a_table_takes_the_place_of_the_one_before() {
        let document = "a\n<!-- peers:small -->\nold\n<!-- /peers:small -->\nb <!-- peers:tls --><!-- /peers:tls -->";
        let once = replace(document, "small", "new\n").unwrap();
        assert!(once.starts_with("a\n<!-- peers:small -->\n\nnew\n\n<!-- /peers:small -->\nb "));
        assert_eq!(replace(&once, "small", "new").unwrap(), once);
        assert!(
            replace(document, "open", "new")
                .unwrap_err()
                .contains("peers:open")
        );
    }

    #[test]
    fn the_document_has_a_place_for_each_case() {
        let path = root().join("docs/peers.md");
        let document = std::fs::read_to_string(path).unwrap();
        for case in Case::value_variants() {
            let placed = replace(&document, case.name(), "text").unwrap();
            assert!(document.contains(case.title()), "{case:?}");
            assert!(placed.contains("\n\ntext\n\n"), "{case:?}");
        }
    }
}
