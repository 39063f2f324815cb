//! What a page says about its own weight.

/// Where the sentence goes. Text from records cannot hold it: there, `<` is escaped.
pub(crate) const PLACE: &str = "<!--weight-->";

/// The page with a sentence about its length in bytes, the sentence included.
pub(crate) fn weighed(page: &str, sentence: impl Fn(usize) -> String) -> String {
    let rest = page.len() - PLACE.len();
    // The sentence may get shorter when the figure gets larger ("1,020 KiB", "1.00 MiB"): blanks, which HTML does not
    // show, see to it that there is a length that it is right about.
    let mut texts = (0..4).filter_map(|blanks| {
        let of = |length| sentence(length) + &" ".repeat(blanks);
        let mut text = of(rest);
        for _ in 0..8 {
            let next = of(rest + text.len());
            if next == text {
                return Some(text);
            }
            text = next;
        }
        None
    });
    let text = texts.next().unwrap_or_else(|| sentence(rest));
    page.replacen(PLACE, &text, 1)
}

#[cfg(test)]
mod tests {
    use deadheat_model::figure::bytes;

    use super::*;

    #[test]
    fn a_page_is_right_about_its_own_weight() {
        let sentence = |length: usize| format!("It weighs {}.", bytes(length as f64));
        let around = |middle: usize| middle - 40..middle + 40;
        let lengths = [
            around(1_024),
            around(102_349),
            around(1_048_064),
            around(5_000_000),
        ];
        for length in lengths.into_iter().flatten() {
            let page = format!("{}{PLACE}", "x".repeat(length));
            let page = weighed(&page, sentence);
            let told = page.trim_start_matches('x').trim_end();
            assert_eq!(told, sentence(page.len()), "of {}", page.len());
        }
    }
}
