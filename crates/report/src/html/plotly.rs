//! plotly's JavaScript, for pages of loads.

/// plotly's JavaScript, as the plotly crate brings it, without its module wrapper. The crate's MathJax, which comes
/// second, is not needed here.
pub fn plotly_js() -> String {
    let sources = plotly::Plot::offline_js_sources();
    let (_, rest) = sources.split_once('>').unwrap_or_default();
    let (script, _) = rest.split_once("</script>").unwrap_or_default();
    unwrapped(script).unwrap_or_else(|| script.to_owned())
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
    fn the_script_has_a_licence_and_no_wrapper() {
        let script = plotly_js();
        assert!(script.len() > 1_000_000, "{}", script.len());
        assert!(script[..300].contains("MIT license"));
        assert!(!script.contains("root.moduleName"));
        assert!(script.ends_with("window.Plotly = Plotly;\n"));
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
