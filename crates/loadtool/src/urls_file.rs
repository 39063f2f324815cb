//! Several URLs from a file: a line each, `[WEIGHT] [METHOD] URL [@BODYFILE]`. A `#` at a line's start begins a comment. Where the
//! origin is known, a path will do.

use std::path::{Path, PathBuf};

use deadheat_runner::{files, secret::typed_without_userinfo};

use super::url::{LoadUrl, Origin};

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlLine {
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
) -> Result<Vec<UrlLine>, String> {
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
fn parse(text: &str, template: bool, origin: Option<&Origin>) -> Result<Vec<UrlLine>, String> {
    let mut lines: Vec<UrlLine> = Vec::new();
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

/// What a line can be.
const EXPECTED: &str = "expected [WEIGHT] [METHOD] URL [@BODYFILE]";

fn line(text: &str, template: bool, origin: Option<&Origin>) -> Result<UrlLine, String> {
    if text.contains(char::is_control) && !text.contains('\t') {
        return Err(format!("a control character; {EXPECTED}"));
    }
    let (weight, rest) = match first_word(text) {
        (word, rest) if is_number_like(word) => (weight(word)?, rest),
        _ => (1, text),
    };
    let (method, rest) = match first_word(rest) {
        (word, rest) if !rest.is_empty() && is_method(word) => (Some(word.to_owned()), rest),
        _ => (None, rest),
    };
    let (url, rest) = url_word(rest);
    let body = match rest.strip_prefix('@') {
        Some("") => return Err("no file is named after the @".to_owned()),
        Some(file) => Some(file.into()),
        None if rest.is_empty() => None,
        None => {
            let unexpected: String = rest.chars().take(40).collect();
            return Err(format!(
                "{unexpected:?} after {:?}: {EXPECTED}; in a URL, a blank is %20",
                typed_without_userinfo(url)
            ));
        }
    };
    let url = match origin {
        Some(origin) if url.starts_with('/') => {
            LoadUrl::parse(&format!("{}{url}", origin.shown()), template)?
        }
        Some(_) if !url.contains("://") => {
            return Err(format!(
                "{:?} is neither a URL nor a path, which begins with /: {EXPECTED}",
                typed_without_userinfo(url)
            ));
        }
        None if url.starts_with('/') && !url.starts_with("//") => {
            return Err(format!(
                "{url:?} is a path, and the command names no server: add its URL, like http://localhost:8080, to the command"
            ));
        }
        _ => LoadUrl::parse(url, template).map_err(|error| format!("{error}: {EXPECTED}"))?,
    };
    Ok(UrlLine {
        weight,
        method,
        url,
        body,
    })
}

/// The first word, and the rest without the blanks around it.
fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

/// The URL at the start, whose templates may have blanks in them, and the rest.
fn url_word(text: &str) -> (&str, &str) {
    let mut end = 0;
    for (at, letter) in text.char_indices() {
        if at < end {
            continue;
        }
        if let Some(template) = text[at..].strip_prefix("{{")
            && let Some(length) = template.find("}}")
        {
            end = at + length + 4;
        } else if letter.is_whitespace() {
            return (&text[..at], text[at..].trim_start());
        }
    }
    (text, "")
}

/// Whether a word was meant as a number, whatever it is.
fn is_number_like(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-', '.']);
    digits.starts_with(|first: char| first.is_ascii_digit())
}

fn weight(word: &str) -> Result<u32, String> {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    let weight = digits.then(|| word.parse().ok()).flatten();
    weight.filter(|weight| *weight > 0).ok_or_else(|| {
        format!(
            "the weight {word:?} must be a whole number from 1 to {}: {EXPECTED}",
            u32::MAX
        )
    })
}

/// Whether a word is a method: in capitals, as all registered ones are, so that no other word is taken for one.
fn is_method(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_uppercase())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_and_method_may_be_left_out() {
        let text = "# what users do\n\nhttp://h/a\n 3 http://h/b \nPOST http://h/c\n2  PUT\thttp://h/d%20e\n";
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
        let text = "/a\n3 /b%20c\n2 PUT /d?e=1\nhttps://h:8443/f\n";
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
            ("-1 http://h/", ", line 1: the weight \"-1\""),
            ("+1 http://h/", ", line 1: the weight \"+1\""),
            ("127.0.0.1 - - http://h/", ", line 1: the weight"),
            ("GET", ", line 1: \"GET\" has no scheme"),
            ("http://h/\n\n/path", ", line 3: \"/path\" is a path"),
            (
                "http://h/a b",
                ", line 1: \"b\" after \"http://h/a\": expected",
            ),
            ("GET http://h/a HTTP/1.1", ", line 1: \"HTTP/1.1\" after"),
            ("http://h/a # it", ", line 1: \"# it\" after"),
            ("http://h/a 3", ", line 1: \"3\" after"),
            ("curl http://h/", ", line 1: \"http://h/\" after \"curl\""),
            ("get http://h/", ", line 1: \"http://h/\" after \"get\""),
            ("http://h/\0", ", line 1: a control character"),
            ("GET http://h/\n@/x", ", line 2: "),
            ("Accept: x", ", line 1: \"x\" after \"Accept:\""),
        ];
        for (text, expected) in cases {
            let error = parse(text, false, None).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
        let origin = LoadUrl::parse("http://h/", false).unwrap().origin;
        for (text, expected) in [
            ("/\nGET /a HTTP/1.1", ", line 2: \"HTTP/1.1\" after \"/a\""),
            ("-1 /a", ", line 1: the weight \"-1\""),
            ("/a b", ", line 1: \"b\" after \"/a\""),
            ("a", ", line 1: \"a\" is neither a URL nor a path"),
            ("GET a", ", line 1: \"a\" is neither"),
            ("* /a", ", line 1: \"/a\" after \"*\""),
        ] {
            let error = parse(text, false, Some(&origin)).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn templates_may_have_blanks() {
        let text = "2 GET http://h/{{random 1 9}} @b c\n";
        let lines = parse(text, true, None).unwrap();
        assert_eq!(lines[0].url.path, "/{{random 1 9}}");
        assert_eq!(lines[0].body.as_deref(), Some(Path::new("b c")));
        assert_eq!(lines[0].method.as_deref(), Some("GET"));
    }
}
