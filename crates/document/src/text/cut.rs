//! Text that is cut to a width.

use textwrap::core::display_width;

use super::Charset;

/// A name no wider than `width`, its middle cut out: variants often differ in their ends.
pub fn cut_middle(name: &str, width: usize, charset: Charset) -> String {
    if display_width(name) <= width {
        return name.to_owned();
    }
    let ellipsis = charset.write("…");
    let room = width.saturating_sub(display_width(&ellipsis));
    let head = beginning(name.chars(), room - room / 2);
    let tail = beginning(name.chars().rev(), room / 2);
    let tail: String = tail.chars().rev().collect();
    format!("{head}{ellipsis}{tail}")
}

/// A text no wider than `width`, its end cut off.
pub fn cut_end(text: &str, width: usize, charset: Charset) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let ellipsis = charset.write("…");
    let room = width.saturating_sub(display_width(&ellipsis));
    format!("{}{ellipsis}", beginning(text.chars(), room).trim_end())
}

/// As many characters as there is room for.
fn beginning(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    let fits = |character: &char| {
        used += display_width(character.encode_utf8(&mut [0; 4]));
        used <= room
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(cut_middle("short", 5, Charset::Unicode), "short");
        assert_eq!(
            cut_middle("language-framework", 9, Charset::Unicode),
            "lang…work"
        );
        assert_eq!(
            cut_middle("language-framework", 9, Charset::Ascii),
            "lan...ork"
        );
        assert_eq!(cut_middle("大小大小大小", 7, Charset::Unicode), "大…小");
    }

    #[test]
    fn texts_lose_their_end() {
        assert_eq!(cut_end("short", 5, Charset::Unicode), "short");
        assert_eq!(
            cut_end("count the answers", 11, Charset::Unicode),
            "count the…"
        );
        assert_eq!(cut_end("count the answers", 9, Charset::Ascii), "count...");
        assert_eq!(cut_end("大小大小", 6, Charset::Unicode), "大小…");
    }
}
