//! Several URLs from a file: a line each, `[WEIGHT] [METHOD] URL`. A `#` at a line's start begins a comment.

use std::path::Path;

use deadheat_runner::files;

use super::url::LoadUrl;

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// How often it is asked for in comparison with the others.
    pub(crate) weight: u32,
    /// Its own method.
    pub(crate) method: Option<String>,
    /// What is asked for.
    pub(crate) url: LoadUrl,
}

/// Reads the file.
pub(crate) fn read(path: &Path, template: bool) -> Result<Vec<Line>, String> {
    let shown = path.display();
    let text = files::read_typed_text(path)
        .map_err(|error| format!("--urls: reading {shown}: {error}"))?;
    parse(&text, template).map_err(|error| format!("--urls {shown}{error}"))
}

/// Reads its text. An error begins with the line's number.
fn parse(text: &str, template: bool) -> Result<Vec<Line>, String> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let line = line(text, template).map_err(|error| format!(", line {number}: {error}"))?;
        if let Some(first) = lines.first()
            && first.url.origin != line.url.origin
        {
            return Err(format!(
                ", line {number}: {} is another origin than {} above it, and a load goes to one: start one for each",
                line.url.origin.shown(),
                first.url.origin.shown()
            ));
        }
        lines.push(line);
    }
    if lines.is_empty() {
        Err(": there is no URL in it".to_owned())
    } else {
        Ok(lines)
    }
}

fn line(text: &str, template: bool) -> Result<Line, String> {
    let (weight, rest) = match text.split_once(char::is_whitespace) {
        Some((word, rest)) if word.starts_with(|first: char| first.is_ascii_digit()) => {
            let weight = word.parse().ok().filter(|weight| *weight > 0);
            let weight = weight.ok_or_else(|| {
                format!(
                    "the weight {word:?} must be a whole number from 1 to {}",
                    u32::MAX
                )
            })?;
            (weight, rest.trim_start())
        }
        _ => (1, text),
    };
    let (method, url) = match rest.split_once(char::is_whitespace) {
        // A URL with a blank in it has its scheme before the blank.
        Some((word, rest)) if !word.contains("://") => (Some(word.to_owned()), rest.trim_start()),
        _ => (None, rest),
    };
    let url = LoadUrl::parse(url, template)?;
    Ok(Line {
        weight,
        method,
        url,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_and_method_may_be_left_out() {
        let text = "# what users do\n\nhttp://h/a\n 3 http://h/b \nPOST http://h/c\n2  PUT\thttp://h/d e\n";
        let lines = parse(text, false).unwrap();
        let read: Vec<(u32, Option<&str>, &str)> = lines
            .iter()
            .map(|line| (line.weight, line.method.as_deref(), line.url.path.as_str()))
            .collect();
        let expected = [
            (1, None, "/a"),
            (3, None, "/b"),
            (1, Some("POST"), "/c"),
            (2, Some("PUT"), "/d%20e"),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn mistakes_have_their_line() {
        let cases = [
            ("", "there is no URL"),
            ("# nothing\n\n", "there is no URL"),
            ("http://h/\n0 http://h/", ", line 2: the weight \"0\""),
            ("1.5 http://h/", ", line 1: the weight \"1.5\""),
            ("99999999999 http://h/", ", line 1: the weight"),
            ("GET", ", line 1: \"GET\" has no scheme"),
            ("http://h/\n\n/path", ", line 3: \"/path\" has no scheme"),
            (
                "http://h/\nhttps://h/",
                ", line 2: https://h is another origin than http://h",
            ),
            (
                "http://h/\nhttp://h:8080/",
                ", line 2: http://h:8080 is another origin",
            ),
        ];
        for (text, expected) in cases {
            let error = parse(text, false).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn templates_may_have_blanks() {
        let lines = parse("2 GET http://h/{{random 1 9}}\n", true).unwrap();
        assert_eq!(lines[0].url.path, "/{{random 1 9}}");
        assert_eq!(lines[0].method.as_deref(), Some("GET"));
    }
}
