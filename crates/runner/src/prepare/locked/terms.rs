//! Erlang's and Elixir's terms, cut into tokens: enough to find a text at its place in a data structure, and to skip
//! what stands in comments and other texts.

/// A piece of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `"text"`.
    Text(String),
    /// An atom or a number: `cowboy`, `'quoted'`, `1.0`.
    Word(String),
    /// Any other character.
    Mark(char),
}

impl Token {
    pub(super) fn is_mark(&self, mark: char) -> bool {
        *self == Token::Mark(mark)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(own) if own == word)
    }
}

/// The tokens of `text`, in which `comment` makes the rest of a line a comment.
///
/// # Errors
/// When a text or a quoted atom has no end.
pub(super) fn tokens(text: &str, comment: char) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == comment {
            while chars.next_if(|&next| next != '\n').is_some() {}
        } else if c == '"' || c == '\'' {
            let quoted = until(&mut chars, c)?;
            tokens.push(if c == '"' {
                Token::Text(quoted)
            } else {
                Token::Word(quoted)
            });
        } else if is_of_word(c) {
            let mut word = String::from(c);
            while let Some(next) = chars.next_if(|&next| is_of_word(next)) {
                word.push(next);
            }
            tokens.push(Token::Word(word));
        } else if !c.is_whitespace() {
            tokens.push(Token::Mark(c));
        }
    }
    Ok(tokens)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '@'
}

/// What stands before the closing `quote`. A backslash takes the next character as it is: versions have no others.
fn until(chars: &mut impl Iterator<Item = char>, quote: char) -> Result<String, String> {
    let mut quoted = String::new();
    while let Some(c) = chars.next() {
        if c == quote {
            return Ok(quoted);
        }
        quoted.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    Err(format!("a {quote} is never closed"))
}
