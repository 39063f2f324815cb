//! Reports of other load generators.
#![no_main]

use deadheat_import::import;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let read = |bytes: Vec<u8>| import(&[("input".to_owned(), bytes)], None);
    let Ok(whole) = read(input.to_vec()) else {
        return;
    };
    for run in &whole.runs {
        let figures = &run.figures;
        let rate = figures.requests_per_second;
        assert!(
            rate.is_none_or(|rate| rate > 0.0 && rate.is_finite()),
            "{run:?}"
        );
        let errors = figures.non_2xx.zip(figures.complete);
        assert!(errors.is_none_or(|(errors, all)| errors <= all), "{run:?}");
    }
    let json = serde_json::to_vec(&whole).expect("figures are numbers");
    assert_eq!(read(json).expect("its own JSON").runs, whole.runs);
});
