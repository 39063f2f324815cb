//! Which characters a terminal shows.

use std::borrow::Cow;

/// Which characters text is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// All of them.
    #[default]
    Unicode,
    /// ASCII, for a terminal or a locale that is not UTF-8.
    Ascii,
}

impl Charset {
    /// `text` in these characters. What ASCII lacks is written by what is usual for it ("us" for "µs"), and in names by
    /// code points: two names that differ do so afterwards.
    pub fn write<'a>(self, text: &'a str) -> Cow<'a, str> {
        if self == Charset::Unicode || text.is_ascii() {
            return text.into();
        }
        let mut ascii = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                'µ' => ascii.push('u'),
                '–' | '—' | '·' => ascii.push('-'),
                '±' => ascii.push_str("+-"),
                '≥' => ascii.push_str(">="),
                '≤' => ascii.push_str("<="),
                '×' => ascii.push('x'),
                '→' => ascii.push_str("->"),
                '…' => ascii.push_str("..."),
                '“' | '”' => ascii.push('"'),
                '‘' | '’' => ascii.push('\''),
                '§' => ascii.push_str("section"),
                '\u{a0}' => ascii.push(' '),
                c if c.is_ascii() => ascii.push(c),
                c => ascii.extend(c.escape_unicode()),
            }
        }
        ascii.into()
    }
}

#[cfg(test)]
mod tests {
    use super::Charset;

    #[test]
    fn figures_stay_readable_and_names_distinct() {
        let write = |text| Charset::Ascii.write(text).into_owned();
        assert_eq!(write("≥ 185 µs ± 2 % (1–2)"), ">= 185 us +- 2 % (1-2)");
        assert_eq!(write("größe"), "gr\\u{f6}\\u{df}e");
        assert_eq!(Charset::Unicode.write("größe"), "größe");
    }
}
