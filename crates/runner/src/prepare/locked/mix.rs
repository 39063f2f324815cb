//! `mix.lock`, of Elixir's Mix.

use super::terms::{Token, tokens};

/// `"name": {:hex, :name, "1.2.3", …}`; of a package from git, the commit that stands at the same place. Names are those
/// of applications.
pub(super) fn version(text: &str, package: &str) -> Result<Option<String>, String> {
    let tokens = tokens(text, '#')?;
    if !(tokens.len() >= 2 && tokens[0].is_mark('%') && tokens[1].is_mark('{')) {
        return Err("it is not a map of packages".to_owned());
    }
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('{' | '[' | '(') => depth += 1,
            Token::Mark('}' | ']' | ')') => depth = depth.saturating_sub(1),
            // Deeper down are the packages that a package needs.
            Token::Text(name) if depth == 1 && name == package => {
                return match third_of_tuple(&tokens[index + 1..]) {
                    Some(version) => Ok(Some(version)),
                    None => Err("its entry has no version".to_owned()),
                };
            }
            _ => {}
        }
    }
    Ok(None)
}

/// "1.2.3" of `: {:hex, :name, "1.2.3"`, a commit of `: {:git, "address", "commit"`.
fn third_of_tuple(rest: &[Token]) -> Option<String> {
    let rest = rest.strip_prefix(&[Token::Mark(':'), Token::Mark('{'), Token::Mark(':')])?;
    let rest = match rest {
        [kind, comma, Token::Mark(':'), _, rest @ ..]
            if kind.is_word("hex") && comma.is_mark(',') =>
        {
            rest
        }
        [kind, comma, Token::Text(_), rest @ ..] if kind.is_word("git") && comma.is_mark(',') => {
            rest
        }
        _ => return None,
    };
    match rest {
        [Token::Mark(','), Token::Text(version), ..] if !version.is_empty() => {
            Some(version.clone())
        }
        _ => None,
    }
}
