//! What all pages have in common: the data that they hold, the shell, and the bar of a live page.

pub mod data;
pub mod live;
mod page_size;
pub mod shell;

use minijinja::{Environment, syntax::SyntaxConfig};

use crate::error::ReportError;

/// What a page holds beside what it shows.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The report as JSON.
    pub json: &'a str,
    /// The report as CSV.
    pub csv: &'a str,
}

/// Templates, by their names, whose endings switch escaping on. `ends_lines`: whether a template's last line keeps its end.
pub(crate) fn environment(
    templates: &[(&'static str, &'static str)],
    ends_lines: bool,
) -> Result<Environment<'static>, ReportError> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(ends_lines)
        .build()?;
    environment.set_syntax(syntax);
    for (name, template) in templates {
        environment.add_template(name, template)?;
    }
    Ok(environment)
}

/// JSON that cannot end the script element it stands in.
pub fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_end_its_script() {
        assert_eq!(
            in_script(r#"{"a":"</script>&"}"#),
            r#"{"a":"\u003c/script\u003e\u0026"}"#
        );
    }
}
