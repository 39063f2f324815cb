//! Data files of public suites: the tables of HttpArena (`site/data/PROFILE-CONNECTIONS.json`) and the `data.json` of
//! web-frameworks. Fields that are not needed here are skipped. What a suite did not record is unknown.

use std::{collections::BTreeMap, fmt, path::Path};

use deadheat_model::{
    imported::{Run, SourceLine, Tool},
    load::HttpVersion,
};
use serde::{Deserialize, Deserializer, de};

use crate::{
    report::{self, Damage, ToolReport},
    text, warn, without_zero_times,
};

/// The keys that every entry of a suite's file has, by which a file is recognised even if it is damaged. The first is
/// in each entry once.
const MARKS: [(Tool, [&str; 2]); 2] = [
    (Tool::HttpArena, ["\"framework\"", "\"avg_latency\""]),
    (
        Tool::WebFrameworks,
        ["\"framework_id\"", "\"total_requests_per_s\""],
    ),
];

/// Profiles of HttpArena that send one request after the other on a connection, or as many at once as `pipeline` is.
/// The files do not record how many streams a connection of the others has.
const HTTP1_PROFILES: [&str; 12] = [
    "baseline",
    "pipelined",
    "limited-conn",
    "json",
    "json-comp",
    "json-tls",
    "upload",
    "api-4",
    "api-16",
    "static",
    "async-db",
    "crud",
];

/// A duration of web-frameworks above this many ms is in µs: before 2025 the file had µs under the same name, and no
/// run takes longer than a quarter of an hour.
const LONGEST_MS: f64 = 1e6;

/// The suite whose data file this is, and its runs or the damage; `None`: it is no such file.
pub(crate) fn read(file: &str, bytes: &[u8]) -> Option<(Tool, Result<Vec<Run>, Damage>)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.trim_start().chars().next()?;
    let mut suites = MARKS.iter();
    let (suite, [mark, _]) =
        suites.find(|(_, marks)| marks.iter().all(|mark| text.contains(mark)))?;
    let runs = match (suite, first) {
        (Tool::HttpArena, '[') => http_arena(file, text, &lines_of(text, mark)),
        (Tool::WebFrameworks, '{') => web_frameworks(file, text, &lines_of(text, mark)),
        _ => return None,
    };
    Some((*suite, runs))
}

/// Whether a file is an empty table, as HttpArena has for a load that nobody measured.
pub(crate) fn is_empty_table(bytes: &[u8]) -> bool {
    let mut rest = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
    (rest.next(), rest.next(), rest.next()) == (Some(&b'['), Some(&b']'), None)
}

/// The lines of the entries: each has this key once.
fn lines_of(text: &str, mark: &str) -> Vec<usize> {
    let (mut line, mut counted) = (1, 0);
    let keys = text
        .match_indices(mark)
        .filter(|(at, _)| text[at + mark.len()..].trim_start().starts_with(':'));
    keys.map(|(at, _)| {
        line += text.as_bytes()[counted..at]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        counted = at;
        line
    })
    .collect()
}

/// A value of the file, or where it is damaged.
fn parsed<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Damage> {
    serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        report::damage_at(error.line(), what.to_owned())
    })
}

/// A run of a report, or the damage if its figures cannot all be right.
fn run(
    file: &str,
    line: usize,
    label: String,
    test: &str,
    report: ToolReport,
) -> Result<Run, Damage> {
    let mut report = report;
    report.drop_unmeasured();
    let mut run = Run {
        tool: report.tool,
        place: SourceLine {
            file: file.to_owned(),
            line,
        },
        label: Some(label),
        section: Some(test.to_owned()),
        command: None,
        target: None,
        load: report.load.clone(),
        figures: without_zero_times(&report.figures),
        warnings: Vec::new(),
    };
    report::check(run.tool, &run.load, &run.figures)
        .map_err(|what| report::damage_at(line, what))?;
    run.warnings = warn::of_run(&run, &report);
    Ok(run)
}

/// A row of HttpArena's table.
#[derive(Deserialize)]
struct ArenaRow {
    framework: String,
    rps: f64,
    #[serde(deserialize_with = "time")]
    avg_latency: Option<f64>,
    #[serde(default, deserialize_with = "time")]
    p99_latency: Option<f64>,
    #[serde(default, deserialize_with = "cpus")]
    cpu: Option<f64>,
    connections: u32,
    threads: Option<u32>,
    #[serde(default, deserialize_with = "time")]
    duration: Option<f64>,
    pipeline: Option<u32>,
    #[serde(default, deserialize_with = "kib_per_second")]
    bandwidth: Option<f64>,
    status_2xx: Option<u64>,
    status_3xx: Option<u64>,
    status_4xx: Option<u64>,
    status_5xx: Option<u64>,
}

fn http_arena(file: &str, text: &str, lines: &[usize]) -> Result<Vec<Run>, Damage> {
    let test = test_name(file);
    let profile = test.rsplit_once('-').map_or(test, |(profile, _)| profile);
    let is_http1 = HTTP1_PROFILES.contains(&profile);
    let rows: Vec<ArenaRow> = parsed(text)?;
    let of_row = |(row, line): (ArenaRow, &usize)| {
        let mut report = ToolReport::new(Tool::HttpArena);
        let load = &mut report.load;
        load.connections = Some(row.connections);
        load.threads = row.threads;
        load.pipeline = row.pipeline.filter(|_| is_http1);
        load.http = is_http1.then_some(HttpVersion::Http11);
        let figures = &mut report.figures;
        figures.requests_per_second = Some(row.rps);
        figures.seconds = row.duration.and_then(|ms| text::shifted(ms, -3));
        figures.mean_ms = row.avg_latency;
        figures.p99_ms = row.p99_latency;
        figures.server_cpus = row.cpu;
        figures.kib_per_second = row.bandwidth;
        let errors = [row.status_3xx, row.status_4xx, row.status_5xx];
        let mut errors = errors.into_iter();
        let errors = errors.try_fold(0_u64, |sum, one| Some(sum.saturating_add(one?)));
        let complete = row.status_2xx.zip(errors);
        figures.complete = complete.map(|(right, errors)| right.saturating_add(errors));
        figures.non_2xx = errors.filter(|_| complete.is_some());
        report.shows_statuses = complete.is_some();
        run(file, *line, row.framework, test, report)
    };
    rows.into_iter().zip(lines).map(of_row).collect()
}

/// The test of HttpArena by the name of its file, up to the first dot: `old/json-4096.april.json` is `json-4096`.
fn test_name(file: &str) -> &str {
    let name = Path::new(file).file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or(file);
    name.split('.').next().unwrap_or(name)
}

/// The file of web-frameworks.
#[derive(Deserialize)]
struct FrameworkData<'a> {
    #[serde(borrow)]
    metrics: Vec<Metric<'a>>,
    frameworks: Vec<Framework>,
}

#[derive(Deserialize)]
struct Metric<'a> {
    /// Connections.
    level: u32,
    label: &'a str,
    /// Null if there was none, -1 if it was not measured.
    value: Option<f64>,
    framework_id: u64,
}

#[derive(Deserialize)]
struct Framework {
    id: u64,
    label: String,
    language: String,
}

/// The figures of a framework at a number of connections, by their labels.
#[derive(Default)]
struct Metrics<'a> {
    line: usize,
    values: BTreeMap<&'a str, f64>,
}

impl Metrics<'_> {
    fn value(&self, label: &str) -> Option<f64> {
        self.values.get(label).copied()
    }

    /// A count, which the file has as the mean over several routes.
    fn count(&self, label: &str) -> Option<u64> {
        self.value(label).map(|count| count.round() as u64)
    }
}

fn web_frameworks(file: &str, text: &str, lines: &[usize]) -> Result<Vec<Run>, Damage> {
    let data: FrameworkData<'_> = parsed(text)?;
    let names: BTreeMap<u64, String> = data
        .frameworks
        .into_iter()
        .map(|one| (one.id, format!("{}/{}", one.language, one.label)))
        .collect();
    let mut found: BTreeMap<(u32, u64), Metrics<'_>> = BTreeMap::new();
    for (metric, line) in data.metrics.into_iter().zip(lines) {
        let key = (metric.level, metric.framework_id);
        let metrics = found.entry(key).or_insert_with(|| Metrics {
            line: *line,
            ..Metrics::default()
        });
        let value = metric.value.filter(|value| *value != -1.0);
        if let Some(value) = value
            && metrics.values.insert(metric.label, value).is_some()
        {
            let what = format!("`{}` is there twice", metric.label);
            return Err(report::damage_at(*line, what));
        }
    }
    let of_place = |((level, id), metrics): ((u32, u64), Metrics<'_>)| {
        let name = names.get(&id).cloned();
        let name = name.ok_or_else(|| {
            report::damage_at(metrics.line, format!("no framework has the id {id}"))
        })?;
        let test = format!("{level} connections");
        run(file, metrics.line, name, &test, of_metrics(level, &metrics))
    };
    found.into_iter().map(of_place).collect()
}

fn of_metrics(level: u32, metrics: &Metrics<'_>) -> ToolReport {
    let mut report = ToolReport::new(Tool::WebFrameworks);
    report.load.connections = Some(level);
    report.load.http = Some(HttpVersion::Http11);
    let duration = metrics.value("duration_ms");
    let is_micro = duration.is_some_and(|duration| duration > LONGEST_MS);
    let (of_duration, of_times) = if is_micro { (-6, -3) } else { (-3, 3) };
    let times = |label: &str| {
        let time = metrics.value(label)?;
        text::shifted(time, of_times)
    };
    let figures = &mut report.figures;
    figures.seconds = duration.and_then(|duration| text::shifted(duration, of_duration));
    figures.requests_per_second = metrics.value("total_requests_per_s");
    figures.mean_ms = times("average_latency");
    figures.p50_ms = times("percentile50").or_else(|| times("percentile_50"));
    // `percentile99` of the later files is the 95th percentile (.tasks/collect.rake).
    figures.p99_ms = times("percentile_99");
    figures.max_ms = times("maximum_latency");
    figures.complete = metrics.count("total_requests");
    figures.non_2xx = metrics.count("http_errors");
    figures.body_bytes = metrics.count("total_bytes_received").filter(|_| !is_micro);
    figures.received_bytes = metrics.count("total_bytes_received").filter(|_| is_micro);
    report.shows_statuses = figures.non_2xx.is_some();
    let failures = [
        ("connect", "socket_connection_errors"),
        ("read", "socket_read_errors"),
        ("write", "socket_write_errors"),
    ];
    let mut failed = None;
    for (kind, label) in failures {
        if let Some(count) = metrics.count(label) {
            failed = Some(failed.unwrap_or(0_u64).saturating_add(count));
            report.failed(kind, count);
        }
    }
    report.figures.failed = failed;
    report.late = metrics.count("request_timeouts").unwrap_or(0);
    report
}

/// A text that `read` reads, or an error that names the text.
fn read_text<'de, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
    read: impl Fn(&str) -> Option<Option<f64>>,
) -> Result<Option<f64>, D::Error> {
    struct Texts<F>(&'static str, F);
    impl<F: Fn(&str) -> Option<Option<f64>>> de::Visitor<'_> for Texts<F> {
        type Value = Option<f64>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(self.0)
        }

        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
            (self.1)(value).ok_or_else(|| E::invalid_value(de::Unexpected::Str(value), &self))
        }
    }
    deserializer.deserialize_any(Texts(expected, read))
}

/// A time, in ms.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    read_text(deserializer, "a time such as `173us`", |value| {
        text::measured(value, text::milliseconds)
    })
}

/// CPUs by their percentage.
fn cpus<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let cpus = |value: &str| text::decimal(value.strip_suffix('%')?, -2);
    read_text(deserializer, "a percentage such as `6636.6%`", |value| {
        text::measured(value, cpus)
    })
}

/// A rate in KiB per second. A size without a time, as h2load's profiles have, is no rate.
fn kib_per_second<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    read_text(
        deserializer,
        "a rate such as `370.29MB/s`",
        |value| match value.strip_suffix("/s") {
            Some(size) => text::measured(size, text::kib),
            None => Some(None),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARENA: &str = r#"[
  {
    "framework": "actix", "language": "Rust", "rps": 2942559, "avg_latency": "173us", "p99_latency": "278us",
    "cpu": "6636.6%", "memory": "76MiB", "connections": 512, "threads": 64, "duration": "5s", "pipeline": 1,
    "bandwidth": "370.29MB/s", "status_2xx": 14712798, "status_3xx": 0, "status_4xx": 3, "status_5xx": 2
  },
  {
    "framework": "none", "rps": 0, "avg_latency": "", "connections": 512, "bandwidth": "12MB"
  }
]"#;

    fn runs(file: &str, text: &str) -> Result<Vec<Run>, (usize, String)> {
        let (_, runs) = read(file, text.as_bytes()).expect("a suite's file");
        runs.map_err(|damage| (damage.line, damage.what))
    }

    #[test]
    fn a_table_of_httparena_has_the_figures_that_it_records() {
        let runs = runs("old/baseline-512.april.json", ARENA).expect("a whole file");
        let [first, none] = &runs[..] else {
            panic!("{runs:?}")
        };
        assert_eq!(first.section.as_deref(), Some("baseline-512"));
        assert_eq!((first.place.line, none.place.line), (3, 8));
        let figures = &first.figures;
        assert_eq!(figures.mean_ms, Some(0.173));
        assert_eq!(figures.server_cpus, Some(66.366));
        assert_eq!(figures.seconds, Some(5.0));
        assert_eq!(
            (figures.complete, figures.non_2xx),
            (Some(14_712_803), Some(5))
        );
        assert_eq!(first.load.pipeline, Some(1));
        assert_eq!(none.valid_rate(), None);
        assert_eq!(none.figures.kib_per_second, None, "a size is no rate");
        let h2 = super::read("baseline-h2-512.json", ARENA.as_bytes());
        let (_, h2) = h2.expect("a suite's file");
        assert_eq!(h2.expect("a whole file")[0].load.pipeline, None);
    }

    #[test]
    fn a_damaged_table_is_refused_with_its_line() {
        let damaged = ARENA.replace("6636.6%", "much");
        let (line, what) = runs("a.json", &damaged).expect_err("no percentage");
        assert_eq!(line, 4);
        assert!(what.contains("much") && what.contains("6636.6%"), "{what}");
        for at in (ARENA.find("rps").expect("a key") + 30)..ARENA.len() {
            let cut = read("a.json", &ARENA.as_bytes()[..at]);
            assert!(
                cut.is_none_or(|(_, runs)| runs.is_err()),
                "cut at byte {at}"
            );
        }
    }

    fn metrics(values: &[(&str, &str)]) -> String {
        let metric = |(label, value): &(&str, &str)| {
            format!(r#"{{"level": 64, "label": "{label}", "value": {value}, "framework_id": 7}}"#)
        };
        let metrics: Vec<String> = values.iter().map(metric).collect();
        format!(
            "{{\"metrics\": [\n{}],\n\"frameworks\": [{{\"id\": 7, \"label\": \"hyper\", \"language\": \"rust\"}}]}}",
            metrics.join(",\n")
        )
    }

    #[test]
    fn web_frameworks_have_seconds_or_microseconds_and_minus_one_is_unknown() {
        let of = |values: &[(&str, &str)]| runs("data.json", &metrics(values)).expect("whole");
        let later = of(&[
            ("duration_ms", "15035.9"),
            ("average_latency", "-1.0"),
            ("percentile50", "0.0179"),
            ("percentile99", "0.028"),
            ("http_errors", "-1.0"),
            ("total_requests_per_s", "1816.5"),
            ("total_bytes_received", "0.0"),
        ]);
        let figures = &later[0].figures;
        assert_eq!(later[0].label.as_deref(), Some("rust/hyper"));
        assert_eq!(
            (figures.p50_ms, figures.p99_ms, figures.mean_ms),
            (Some(17.9), None, None)
        );
        assert_eq!((figures.non_2xx, figures.body_bytes), (None, Some(0)));
        let earlier = of(&[
            ("duration_ms", "15099706"),
            ("average_latency", "1537"),
            ("total_requests_per_s", "59646"),
            ("total_requests", "900643.3333"),
            ("http_errors", "0"),
        ]);
        let figures = &earlier[0].figures;
        assert_eq!(
            (figures.mean_ms, figures.complete),
            (Some(1.537), Some(900_643))
        );
    }

    #[test]
    fn a_figure_that_is_there_twice_is_damage() {
        let twice = metrics(&[("total_requests_per_s", "1"), ("total_requests_per_s", "2")]);
        let (line, what) = runs("data.json", &twice).expect_err("two rates");
        assert_eq!((line, what.contains("twice")), (3, true));
    }
}
