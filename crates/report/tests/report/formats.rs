//! What a reader reads, without its markup.

/// Text on one line, without what escapes or emphasises it and what stands between cells.
pub fn words(text: &str) -> String {
    let mut plain = text.replace(['\\', '*'], "").replace('|', " ");
    while plain.contains("&amp;") {
        plain = plain.replace("&amp;", "&");
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
    ];
    for (entity, character) in entities {
        plain = plain.replace(entity, character);
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A page's text, without its head, its scripts and their data.
pub fn without_tags(page: &str) -> String {
    let (_, body) = page.split_once("</head>").expect("a head");
    let mut text = String::new();
    for piece in without(body, "<script", "</script>").split('<') {
        let (_, after) = piece.split_once('>').unwrap_or_default();
        text.push(' ');
        text.push_str(after);
    }
    text
}

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
