//! Words in lines of a width.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Words in lines of at most `width` columns: the first begins with `head`, all others with `indent`. A longer word has
/// a line of its own.
pub(crate) fn lines(words: &str, width: usize, head: &str, indent: &str) -> Vec<String> {
    let options = Options::new(width)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false)
        .initial_indent(head)
        .subsequent_indent(indent);
    let lines = if words.is_empty() {
        Vec::new()
    } else {
        textwrap::wrap(words, options)
    };
    lines.into_iter().map(String::from).collect()
}

/// The same as one text.
pub(crate) fn text(words: &str, width: usize, head: &str, indent: &str) -> String {
    let lines = lines(words, width, head, indent).into_iter();
    lines.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_they_can_be_and_words_are_whole() {
        let words = "a bb c  d --option=of-many-words e";
        let expected = ["# a bb", "> c  d", "> --option=of-many-words", "> e"];
        assert_eq!(lines(words, 7, "# ", "> "), expected);
        assert_eq!(text("a b", 80, "", ""), "a b\n");
        assert_eq!(text("", 80, "# ", ""), "");
    }
}
