//! Versions in what programs print, and which of two is the older.

use std::cmp::Ordering;

use deadheat_model::stack::Toolchain;

/// The first version-like word of `text`: "1.25.3" of "go version go1.25.3 linux/amd64", "21" of "openjdk 21 2023-09-19".
pub(super) fn find_version(text: &str) -> Option<String> {
    let words = text.split_whitespace();
    words.filter_map(version_of_word).next().map(str::to_owned)
}

fn version_of_word(word: &str) -> Option<&str> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    // "nginx/1.22.1"
    let word = word.rsplit('/').next().unwrap_or(word);
    let start = word.find(|c: char| c.is_ascii_digit())?;
    let (prefix, version) = word.split_at(start);
    if !prefix.chars().all(|c| c.is_ascii_alphabetic()) {
        return None;
    }
    let numbers = version
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .map_or(version, |end| &version[..end]);
    if numbers.trim_end_matches('.').contains('.') {
        // A suffix such as "-14", "p20" or "+build" belongs to it.
        return Some(version);
    }
    let rest = &version[numbers.len()..];
    // A number alone may be a date or a part of a name: no "amd64", no "2023-09-19", no "32-bit".
    let alone = rest.is_empty() || rest == "-ea";
    let plain = prefix.is_empty() || prefix == "v";
    (alone && plain).then_some(version)
}

/// Compares by the numbers between the dots; what follows the first other character is not looked at, and numbers that
/// are missing count as 0.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let (a, b) = (numbers(a), numbers(b));
    let longest = a.len().max(b.len());
    let at = |numbers: &[u64], index: usize| numbers.get(index).copied().unwrap_or(0);
    (0..longest)
        .map(|index| at(&a, index).cmp(&at(&b, index)))
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn numbers(version: &str) -> Vec<u64> {
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.');
    let leading = end.map_or(version, |end| &version[..end]);
    leading
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect()
}

/// Whether `version` is older than all that will do.
pub(super) fn is_too_old(version: &str, toolchain: &Toolchain) -> bool {
    let minimum = toolchain.minimum.as_deref();
    minimum.is_some_and(|minimum| compare(version, minimum).is_lt())
}

/// Whether `version` is newer than all that will do.
pub(super) fn is_too_new(version: &str, toolchain: &Toolchain) -> bool {
    let maximum = toolchain.maximum.as_deref();
    maximum.is_some_and(|maximum| compare(&prefix(version, maximum), maximum).is_gt())
}

/// As many of the numbers of `version` as `like` has.
fn prefix(version: &str, like: &str) -> String {
    let count = like.split('.').count();
    version.split('.').take(count).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_version_in_what_programs_print() {
        let cases = [
            ("go version go1.25.3 linux/amd64", Some("1.25.3")),
            ("v22.11.0", Some("22.11.0")),
            ("Python 3.12.1", Some("3.12.1")),
            ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", Some("1.95.0")),
            (
                "openjdk 21 2023-09-19\nOpenJDK Runtime Environment (build 21+35-2513)",
                Some("21"),
            ),
            ("openjdk version \"17.0.9\" 2023-10-17", Some("17.0.9")),
            (
                "ruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64-linux-gnu]",
                Some("3.1.2p20"),
            ),
            ("Nim Compiler Version 1.6.10 [Linux: amd64]", Some("1.6.10")),
            ("Erlang/OTP 25 [erts-13.1.5] [source] [64-bit]", Some("25")),
            ("gcc (Debian 12.2.0-14) 12.2.0", Some("12.2.0-14")),
            ("nginx version: nginx/1.22.1", Some("1.22.1")),
            ("x86_64 amd64 2024-01-01 32-bit", None),
            ("command not found", None),
        ];
        for (text, expected) in cases {
            assert_eq!(find_version(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn compares_numbers_and_not_letters() {
        let cases = [
            ("1.25", "1.25.0", Ordering::Equal),
            ("1.9", "1.25", Ordering::Less),
            ("3.1.2p20", "3.1", Ordering::Greater),
            ("21", "17.0.9", Ordering::Greater),
            ("12.2.0-14", "12.2.0", Ordering::Equal),
            ("1.25rc1", "1.25", Ordering::Equal),
        ];
        for (a, b, expected) in cases {
            assert_eq!(compare(a, b), expected, "{a} {b}");
            assert_eq!(compare(b, a), expected.reverse(), "{b} {a}");
        }
    }
}
