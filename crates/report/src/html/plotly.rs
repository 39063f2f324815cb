//! plotly's JavaScript: in the page, or in a file beside it that pages share.

/// Where a page has plotly's JavaScript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assets {
    /// In itself, so that it needs nothing else.
    #[default]
    Inline,
    /// In a file beside it, [`plotly_file`].
    Separate,
}

/// plotly's JavaScript, as the plotly crate brings it, without its module wrapper. The crate's MathJax, which comes
/// second, is not needed here.
pub fn plotly_js() -> String {
    let sources = plotly::Plot::offline_js_sources();
    let (_, rest) = sources.split_once('>').unwrap_or_default();
    let (script, _) = rest.split_once("</script>").unwrap_or_default();
    unwrapped(script).unwrap_or_else(|| script.to_owned())
}

/// The name of the file beside a page that has plotly's JavaScript in it.
pub fn plotly_file() -> String {
    file_of(&plotly_js())
}

pub(super) fn file_of(script: &str) -> String {
    let version = script.split_once("plotly.js v").map(|(_, rest)| rest);
    let version = version.and_then(|rest| rest.split_whitespace().next());
    format!("deadheat-plotly-{}.min.js", version.unwrap_or("unknown"))
}

/// The script without the function that chooses between module systems: a browser reads the megabytes of a function
/// anew when it is called, and for each exception that is thrown in it, which takes a fourth of the time that this script
/// needs until it can draw.
fn unwrapped(script: &str) -> Option<String> {
    let (licence, rest) = script.split_once("(\n function(root, factory)")?;
    let (_, body) = rest.split_once("() => {\n\"use strict\";var Plotly=")?;
    let (body, end) = body.rsplit_once("window.Plotly = Plotly;")?;
    let is_known = end.split_whitespace().eq(["return", "Plotly;", "}));"]);
    is_known.then(|| format!("{licence}\"use strict\";var Plotly={body}window.Plotly = Plotly;\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_has_a_version_a_licence_and_no_wrapper() {
        let script = plotly_js();
        assert!(script.len() > 1_000_000, "{}", script.len());
        assert!(script[..300].contains("MIT license"));
        assert!(!script.contains("root.moduleName"));
        assert!(script.ends_with("window.Plotly = Plotly;\n"));
        let file = plotly_file();
        let version = file
            .strip_prefix("deadheat-plotly-")
            .and_then(|rest| rest.strip_suffix(".min.js"));
        let version = version.expect("a version");
        assert!(
            version.split('.').all(|part| part.parse::<u32>().is_ok()),
            "{file}"
        );
    }

    #[test]
    fn a_script_of_another_form_stays_as_it_is() {
        assert_eq!(unwrapped("window.Plotly = {};"), None);
        let wrapped = "/* MIT */\n(\n function(root, factory) {} (this, () => {\n\"use strict\";var Plotly=1;\n\
                       window.Plotly = Plotly;\nreturn Plotly;\n}));";
        assert_eq!(
            unwrapped(wrapped).as_deref(),
            Some("/* MIT */\n\"use strict\";var Plotly=1;\nwindow.Plotly = Plotly;\n")
        );
        assert_eq!(unwrapped(&format!("{wrapped}\nmore()")), None);
    }
}
