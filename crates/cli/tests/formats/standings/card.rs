//! The picture.

use deadheat_bench::document as standings;
use deadheat_document::json::ReportError;
use resvg::tiny_skia::Pixmap;

use super::cases;

#[test]
fn every_session_has_a_picture_with_its_answer() {
    for case in cases::all() {
        let view = case.view();
        let png = standings::card(&view, None).unwrap();
        let picture = Pixmap::decode_png(&png).unwrap();
        assert_eq!(
            (picture.width(), picture.height()),
            standings::CARD_SIZE,
            "{}",
            case.name
        );
        let svg = standings::card_svg(&view, None).unwrap();
        assert!(
            !svg.contains("<script") && !svg.contains('\u{1b}'),
            "{}",
            case.name
        );
    }
    let svg = standings::card_svg(&cases::named("few").view(), None).unwrap();
    assert!(
        svg.contains("nginx-static") && svg.contains("116,000"),
        "{svg}"
    );
}

#[test]
fn a_workload_can_be_asked_for() {
    let view = cases::named("usual").view();
    let svg = standings::card_svg(&view, Some("users")).unwrap();
    assert!(svg.contains("users, 100 connections"), "{svg}");
    let error = standings::card(&view, Some("none")).unwrap_err();
    assert!(matches!(error, ReportError::NoSuchWorkload { known, .. } if known.len() == 4));
}
