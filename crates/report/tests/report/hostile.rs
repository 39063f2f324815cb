//! Text from records is text in every format, whatever it holds.

use deadheat_report::{View, html, markdown, text};
use deadheat_stats::analyse;

use crate::{
    cases,
    fixture::{Found, Session, good},
};

fn view() -> View {
    let record = cases::failures_only();
    View::new(&record, &analyse(&record))
}

#[test]
fn html_has_only_its_own_elements() {
    let page = html::html_with(&view(), "").unwrap();
    assert!(
        page.contains("&lt;&#x2f;script&gt;&lt;script&gt;alert(&#x27;x&#x27;)"),
        "escaped and kept"
    );
    assert!(!page.contains("<script>alert") && !page.contains("<img"));
    assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'));
    assert_eq!(page.matches("<script>").count(), 1);
}

#[test]
fn a_stack_s_name_cannot_leave_its_plot() {
    let name = "x-</script><img src=x onerror=alert(1)>";
    let session = Session::new(2)
        .workload("json", &[50])
        .stack(name)
        .stack("other");
    let record = session.measured(2, |_, _| good(Found::at(500.0))).build();
    let view = View::new(&record, &analyse(&record));
    let page = html::html_with(&view, "").unwrap();
    assert!(!page.contains("<img"));
    // Seven plots, one of the course, three of the start-up, three of the trials' lines, the ratios, plotly and the
    // page's own script.
    assert_eq!(page.matches("</script>").count(), 17);
    assert!(
        page.contains("\\u0026lt;img"),
        "plotly reads HTML in labels, so it gets entities"
    );
}

#[test]
fn markdown_keeps_logs_in_their_block() {
    let page = markdown(&view());
    for line in page.lines().filter(|line| line.contains("alert(")) {
        assert!(line.starts_with("    "), "outside of a block: {line}");
    }
    assert!(page.lines().all(|line| !line.starts_with("```")));
    assert!(!page.contains('\u{1b}'));
}

#[test]
fn a_terminal_gets_no_control_characters_from_logs() {
    let page = text(&view(), 80, false);
    assert!(page.chars().all(|c| c == '\n' || !c.is_control()));
    assert!(page.contains("\\u{1b}[2J"));
}
