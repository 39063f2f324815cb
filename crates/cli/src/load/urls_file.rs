//! Several URLs from a file: a line each, `[WEIGHT] [METHOD] URL [@BODYFILE]`. A `#` at a line's start begins a comment. Where the
//! origin is known, a path will do.

use std::path::{Path, PathBuf};

use deadheat_runner::files;

use super::url::{LoadUrl, Origin};

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// How often it is asked for in comparison with the others.
    pub(crate) weight: u32,
    /// Its own method.
    pub(crate) method: Option<String>,
    /// What is asked for.
    pub(crate) url: LoadUrl,
    /// The file with its own body.
    pub(crate) body: Option<PathBuf>,
}

/// Reads the file. Files of bodies are found from its folder. Paths in it are those of `origin`, and so are URLs.
pub(crate) fn read(
    path: &Path,
    template: bool,
    origin: Option<&Origin>,
) -> Result<Vec<Line>, String> {
    let shown = path.display();
    let text = files::read_typed_text(path)
        .map_err(|error| format!("--urls: reading {shown}: {error}"))?;
    let mut lines =
        parse(&text, template, origin).map_err(|error| format!("--urls {shown}{error}"))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for body in lines.iter_mut().filter_map(|line| line.body.as_mut()) {
        *body = folder.join(&*body);
    }
    Ok(lines)
}

/// Reads its text. An error begins with the line's number.
fn parse(text: &str, template: bool, origin: Option<&Origin>) -> Result<Vec<Line>, String> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let line =
            line(text, template, origin).map_err(|error| format!(", line {number}: {error}"))?;
        if let Some(other) = origin
            && *other != line.url.origin
        {
            return Err(format!(
                ", line {number}: {} is another origin than {}. Omit the URL of the command to load several origins",
                line.url.origin.shown(),
                other.shown()
            ));
        }
        lines.push(line);
    }
    if lines.is_empty() {
        Err(": it contains no URL".to_owned())
    } else {
        Ok(lines)
    }
}

fn line(text: &str, template: bool, origin: Option<&Origin>) -> Result<Line, String> {
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
        Some((word, rest)) if !word.contains("://") && !word.starts_with('/') => {
            (Some(word.to_owned()), rest.trim_start())
        }
        _ => (None, rest),
    };
    let (url, body) = split_body(url)?;
    let url = match origin {
        Some(origin) if url.starts_with('/') => {
            LoadUrl::parse(&format!("{}{url}", origin.shown()), template)?
        }
        _ => LoadUrl::parse(url, template)?,
    };
    Ok(Line {
        weight,
        method,
        url,
        body,
    })
}

/// The URL, and the file of the body behind it: an @ after a blank. An @ in a URL is one that follows something else.
fn split_body(text: &str) -> Result<(&str, Option<PathBuf>), String> {
    let mut ats = text.match_indices('@').map(|(at, _)| at);
    let Some(at) = ats.find(|at| text[..*at].ends_with(char::is_whitespace)) else {
        return Ok((text, None));
    };
    match &text[at + 1..] {
        "" => Err("no file is named after the @".to_owned()),
        file => Ok((text[..at].trim_end(), Some(file.into()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_and_method_may_be_left_out() {
        let text = "# what users do\n\nhttp://h/a\n 3 http://h/b \nPOST http://h/c\n2  PUT\thttp://h/d e\n";
        let lines = parse(text, false, None).unwrap();
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
    fn a_line_can_name_a_body() {
        let text = "POST http://h/a @b c.json\nhttp://h/@me\t@/x/@y\nhttp://h/@me\n";
        let lines = parse(text, false, None).unwrap();
        let read: Vec<(&str, Option<&Path>)> = lines
            .iter()
            .map(|line| (line.url.path.as_str(), line.body.as_deref()))
            .collect();
        let expected = [
            ("/a", Some(Path::new("b c.json"))),
            ("/@me", Some(Path::new("/x/@y"))),
            ("/@me", None),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn paths_are_those_of_a_known_origin() {
        let origin = LoadUrl::parse("https://h:8443/", false).unwrap().origin;
        let text = "/a\n3 /b c\n2 PUT /d?e=1\nhttps://h:8443/f\n";
        let lines = parse(text, false, Some(&origin)).unwrap();
        let paths: Vec<&str> = lines.iter().map(|line| line.url.path.as_str()).collect();
        assert_eq!(paths, ["/a", "/b%20c", "/d?e=1", "/f"]);
        assert!(lines.iter().all(|line| line.url.origin == origin));
        assert_eq!(
            (lines[1].weight, lines[2].method.as_deref()),
            (3, Some("PUT"))
        );
        let error = parse("/a\nhttp://h/\n", false, Some(&origin)).unwrap_err();
        assert!(
            error.contains("line 2: http://h is another origin than https://h:8443"),
            "{error}"
        );
    }

    #[test]
    fn mistakes_have_their_line() {
        let cases = [
            ("", "it contains no URL"),
            ("# nothing\n\n", "it contains no URL"),
            ("http://h/\n0 http://h/", ", line 2: the weight \"0\""),
            ("1.5 http://h/", ", line 1: the weight \"1.5\""),
            ("99999999999 http://h/", ", line 1: the weight"),
            ("http://h/ @", ", line 1: no file is named after the @"),
            ("GET", ", line 1: \"GET\" has no scheme"),
            ("http://h/\n\n/path", ", line 3: \"/path\" has no scheme"),
        ];
        for (text, expected) in cases {
            let error = parse(text, false, None).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn templates_may_have_blanks() {
        let lines = parse("2 GET http://h/{{random 1 9}}\n", true, None).unwrap();
        assert_eq!(lines[0].url.path, "/{{random 1 9}}");
        assert_eq!(lines[0].method.as_deref(), Some("GET"));
    }
}
