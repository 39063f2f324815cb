//! What a reader reads, without its markup.

/// The text without all that stands from one mark to the next other one.
pub fn without(text: &str, from: &str, to: &str) -> String {
    let mut pieces = text.split(from);
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (_, after) = piece.split_once(to).expect("an end");
        kept.push_str(after);
    }
    kept
}

/// Every element of a page is closed, in order: a browser mends what is not, and shows something else.
pub fn assert_closed(name: &str, page: &str) {
    let mut open = Vec::new();
    let page = without(page, "<script", "</script>");
    for piece in page.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("a tag's end");
        let element = tag.split_whitespace().next().unwrap();
        if tag.ends_with('/') {
            continue;
        }
        if let Some(closed) = element.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{name}: <{tag}>");
        } else if !["!doctype", "!--weight--", "meta", "br", "input"].contains(&element) {
            open.push(element);
        }
    }
    assert!(open.is_empty(), "{name}: {open:?}");
}

/// The text without its ANSI styles.
pub fn unstyled(page: &str) -> String {
    let mut pieces = page.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = pieces.map(|piece| piece.split_once('m').expect("a style's end").1);
    first + &rest.collect::<String>()
}
