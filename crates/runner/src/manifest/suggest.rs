//! "Did you mean …?": the known name that is nearest to a misspelt one.

use strsim::normalized_damerau_levenshtein;

/// Names that are less alike than this are no suggestion: it would be a guess.
const ALIKE: f64 = 0.5;
/// A part of a name that is shorter than this says nothing ("go" is in "mongo").
const LEAST_PART: usize = 3;

/// The name in `known` that is nearest to `word`, when one is near.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_few(word, known, 1).first().copied()
}

/// The names in `known` that are near to `word`, at most so many, the nearest first.
pub(super) fn nearest_few<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    let word = normalise(word);
    let known = known.into_iter();
    let near = known.map(|name| (likeness(&word, &normalise(name)), name));
    let mut near: Vec<(f64, &str)> = near.filter(|(score, _)| *score >= ALIKE).collect();
    // Of equals the first one, because the sort is stable.
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    near.truncate(most);
    near.into_iter().map(|(_, name)| name).collect()
}

/// A sentence's end that suggests `word`'s nearest name, or nothing.
pub(super) fn did_you_mean<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, known).map(|name| format!("did you mean `{name}`?"))
}

/// `names` as people enumerate them, in backquotes.
pub(super) fn enumerate<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The same as alternatives.
pub(super) fn either<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}

fn likeness(word: &str, name: &str) -> f64 {
    let edits = normalized_damerau_levenshtein(word, name);
    let part = word.len() >= LEAST_PART && name.contains(word);
    // A part of the name is a better hint than a likeness that is barely one.
    if part { edits.max(0.6) } else { edits }
}

fn normalise(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_is_near_and_nothing_else() {
        let keys = ["access", "driver", "pool", "artefacts", "minimum"];
        let cases = [
            ("artifacts", Some("artefacts")),
            ("drivr", Some("driver")),
            ("Pool", Some("pool")),
            ("min", Some("minimum")),
            ("colour", None),
            ("", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, keys), expected, "{word:?}");
        }
    }

    #[test]
    fn of_equally_near_names_the_first_is_taken() {
        assert_eq!(nearest("ab", ["aa", "ac"]), Some("aa"));
    }
}
