use super::*;

#[test]
fn figures_have_three_significant_digits() {
    let cases = [
        (0.0, "0"),
        (0.012345, "0.0123"),
        (1.2, "1.20"),
        (9.996, "10.0"),
        (99.96, "100"),
        (999.6, "1,000"),
        (1234.0, "1,230"),
        (52_345.0, "52,300"),
        (1_234_567.0, "1,230,000"),
        (-1234.0, "-1,230"),
        (f64::NAN, "–"),
    ];
    for (value, text) in cases {
        assert_eq!(figure(value), text, "{value}");
    }
}

#[test]
fn figures_next_to_bounds_have_four_digits() {
    let cases = [
        (0.0, "0"),
        (0.123_46, "0.1235"),
        (0.000_100_04, "0.0001"),
        (0.000_100_14, "0.0001001"),
        (0.07, "0.07"),
        (0.999_96, "1"),
        (1e-15, "0"),
        (1.0, "1"),
        (50.04, "50.04"),
        (1234.5, "1234"),
        (99999.0, "99999"),
    ];
    for (value, expected) in cases {
        assert_eq!(four_digits(value), expected);
    }
    assert_eq!(precise_seconds(0.0123), "12.3 ms");
    assert_eq!(precise_seconds(0.000_000_5), "0.5 µs");
    assert_eq!(byte_rate(999.0), "999 B/s");
}

#[test]
fn units_suit_the_figure() {
    assert_eq!(seconds(0.000_845), "845 µs");
    assert_eq!(seconds(0.000_999_7), "1.00 ms");
    assert_eq!(seconds(0.5123), "512 ms");
    assert_eq!(seconds(75.0), "75.0 s");
    assert_eq!(bytes(24.0 * 1_048_576.0), "24.0 MiB");
    assert_eq!(bytes(512.0), "512 B");
    assert_eq!(bytes(1023.9 * 1024.0), "1,020 KiB");
    assert_eq!(bytes(1_048_576.0), "1.00 MiB");
    assert_eq!(bytes(5e12), "4,660 GiB");
}

#[test]
fn ratios_are_precise_near_one() {
    let cases = [
        (1.0, "1.000"),
        (1.0482, "1.048"),
        (1.634, "1.63"),
        (0.85, "0.85"),
        (9.996, "10.0"),
        (123.4, "123"),
        (0.0345, "0.035"),
        (0.001_23, "0.00123"),
    ];
    for (value, expected) in cases {
        assert_eq!(ratio(value), expected);
    }
    let ends = [
        (1.041, 1.1534, "1.041–1.153"),
        (0.82, 0.88, "0.82–0.88"),
        (1.41, f64::INFINITY, "≥ 1.41"),
        (0.0, 0.88, "≤ 0.88"),
        (0.0, f64::INFINITY, NONE),
    ];
    for (low, high, expected) in ends {
        assert_eq!(ratios(low, high), expected);
    }
}

#[test]
fn differences_have_a_sign() {
    let cases = [
        (-0.048, "−4.8 %"),
        (2.68, "+268 %"),
        (0.000_5, "+0.05 %"),
        (0.0, "±0.00 %"),
    ];
    for (value, expected) in cases {
        assert_eq!(signed(value), expected);
    }
}

#[test]
fn cpus_are_numbered() {
    assert_eq!(cpus(&[1]), "CPU 1");
    assert_eq!(cpus(&[0, 2, 3]), "CPUs 0, 2 and 3");
    assert_eq!(list_with("or", &[404, 405, 501]), "404, 405 or 501");
}

#[test]
fn long_times_are_in_minutes_and_hours() {
    for (time, text) in [
        (45.0, "45.0 s"),
        (580.0, "9 min 40 s"),
        (600.0, "10 min"),
        (7_500.0, "2 h 5 min"),
    ] {
        assert_eq!(long_time(time), text);
    }
}

#[test]
fn shares_are_as_short_as_they_can_be() {
    let cases = [
        (0.03, "3 %"),
        (0.025, "2.5 %"),
        (0.1, "10 %"),
        (0.000_68, "0.068 %"),
        (0.000_001_6, "0.00016 %"),
        (0.0, "0 %"),
    ];
    for (share, expected) in cases {
        assert_eq!(setting(share), expected);
    }
}

#[test]
fn lists_are_english() {
    let words = |items: &[&str]| list(items);
    assert_eq!(words(&[]), "");
    assert_eq!(words(&["a"]), "a");
    assert_eq!(words(&["a", "b", "c"]), "a, b and c");
}

#[test]
fn of_many_names_the_first_are_given() {
    let names: Vec<String> = (0..5).map(|n| format!("s{n}")).collect();
    assert_eq!(some(&names[..3], 3), "s0, s1 and s2");
    assert_eq!(some(&names, 3), "s0, s1 and 3 more");
    assert_eq!(some(&names, 1), "s0 and 4 more");
    assert_eq!(some_of(&names, 3, "load"), "s0, s1, and at 3 more loads");
}

#[test]
fn times_of_options_are_round_and_never_less() {
    let cases = [
        (0.2, "1s"),
        (24.1, "25s"),
        (126.0, "130s"),
        (601.0, "11m"),
        (40_000.0, "12h"),
    ];
    for (seconds, expected) in cases {
        assert_eq!(time_option(seconds), expected);
    }
}

#[test]
fn times_of_settings_are_exact() {
    let cases = [
        (0, "0 s"),
        (100, "100 ms"),
        (1_500, "1.5 s"),
        (119_000, "119 s"),
        (120_000, "2 min"),
        (5_410_000, "1 h 30 min 10 s"),
    ];
    for (milliseconds, expected) in cases {
        assert_eq!(time(Duration::from_millis(milliseconds)), expected);
    }
}

#[test]
fn rates_are_grouped() {
    let rates = [
        (5000.0, "5,000/s"),
        (0.5, "0.5/s"),
        (1234567.25, "1,234,567.25/s"),
        (1.0 / 3.0, "0.333/s"),
        (0.9999, "1/s"),
        (100.0, "100/s"),
        (0.05, "0.05/s"),
        (1.0 / 3600.0, "0.0002778/s"),
        (0.0, "0/s"),
    ];
    for (per_second, expected) in rates {
        assert_eq!(rate(per_second), expected);
    }
}

#[test]
fn thousands_are_set_apart() {
    let counts = [
        (0, "0"),
        (999, "999"),
        (1_000, "1,000"),
        (12_345_678, "12,345,678"),
    ];
    for (value, text) in counts {
        assert_eq!(count(value), text);
    }
    assert_eq!(separated("-123.4567"), "-123.4567");
    assert_eq!(separated("-1234.5678"), "-1,234.5678");
}

#[test]
fn one_is_no_plural() {
    assert_eq!(counted(0_u32, "byte"), "0 bytes");
    assert_eq!(counted(1_usize, "byte"), "1 byte");
    assert_eq!(counted(2_000_u64, "byte"), "2,000 bytes");
}
