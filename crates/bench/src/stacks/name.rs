//! The names of stacks that users make.

/// LANGUAGE-FRAMEWORK.
pub(super) struct Name<'a> {
    pub(super) id: &'a str,
    pub(super) language: &'a str,
    pub(super) framework: &'a str,
}

impl<'a> Name<'a> {
    /// Reads it.
    ///
    /// # Errors
    /// When it is no such name.
    pub(super) fn parse(id: &'a str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        let starts = |part: &str| part.starts_with(|c: char| c.is_ascii_alphanumeric());
        match id.split_once('-') {
            Some((language, framework))
                if starts(language) && starts(framework) && id.chars().all(plain) =>
            {
                Ok(Self {
                    id,
                    language,
                    framework,
                })
            }
            _ => Err(format!(
                "`{id}` is not a valid name for a stack; write LANGUAGE-FRAMEWORK in lower-case letters, digits, `-`, \
                 `_` and `.`, such as python-aiohttp"
            )),
        }
    }
}
