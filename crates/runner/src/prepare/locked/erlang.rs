//! `<name>.app`, the description of an Erlang application (`erl -man app`).

use super::terms::{Token, tokens};

/// `{vsn, "2.12.0"}` of `{application, cowboy, [...]}`.
pub(super) fn version(text: &str, package: &str) -> Result<Option<String>, String> {
    let tokens = tokens(text, '%')?;
    let is_entry = |four: &[Token], key: &str| {
        four[0].is_mark('{') && four[1].is_word(key) && four[2].is_mark(',')
    };
    let mut entries = tokens.windows(4);
    let name = entries.find(|four| is_entry(four, "application"));
    match name.map(|four| &four[3]) {
        Some(Token::Word(name)) if name == package => {}
        Some(Token::Word(_)) => return Ok(None),
        _ => return Err("it describes no application".to_owned()),
    }
    match entries
        .find(|four| is_entry(four, "vsn"))
        .map(|four| &four[3])
    {
        Some(Token::Text(version)) if !version.is_empty() => Ok(Some(version.clone())),
        _ => Err("its `vsn` is not a string".to_owned()),
    }
}
