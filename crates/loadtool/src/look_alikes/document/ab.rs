//! As ApacheBench prints it (support/ab.c of Apache HTTP Server 2.4, `output_results`).

use std::{fmt::Write as _, time::Duration};

use deadheat_model::{Failure, LatencyHistogram, LoadRecord};

use super::{ToolFigures, seconds};

/// The percentages that ab has.
const PERCENTS: [u32; 8] = [50, 66, 75, 80, 90, 95, 98, 99];

/// What ab prints besides what it found.
#[derive(Clone, Debug, Default)]
pub struct Ab {
    /// The `Server` header of an answer.
    pub server: String,
    /// The host as it was typed.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// The length of an answer's body; `None`: it may vary.
    pub length: Option<u64>,
    /// Requests at once.
    pub concurrency: u32,
    /// Whether connections were kept.
    pub keeps_alive: bool,
    /// Whether requests had a body.
    pub has_body: bool,
    /// Whether the percentages are shown.
    pub percentages: bool,
}

/// The report.
pub fn ab(record: &LoadRecord, about: &Ab) -> String {
    let found = ToolFigures::new(record);
    let observation = found.observation;
    let mut text = String::new();
    let mut line = |label: &str, value: String| {
        // Writing to a string does not fail.
        let _ = match label {
            "" => writeln!(text, "{value}"),
            label => writeln!(text, "{label:<24}{value}"),
        };
    };
    line("Server Software:", about.server.clone());
    line("Server Hostname:", about.host.clone());
    line("Server Port:", about.port.to_string());
    if let Some(tls) = &observation.tls {
        line("SSL/TLS Protocol:", tls.agreed.replace(' ', ","));
    }
    line("", String::new());
    line("Document Path:", about.path.clone());
    line(
        "Document Length:",
        match about.length {
            Some(length) => format!("{length} bytes"),
            None => "Variable".to_owned(),
        },
    );
    line("", String::new());
    line("Concurrency Level:", about.concurrency.to_string());
    line(
        "Time taken for tests:",
        format!("{:.3} seconds", found.seconds()),
    );
    let complete = found.answers();
    line("Complete requests:", complete.to_string());
    let causes = causes(&found);
    let failed: u64 = causes.iter().sum();
    line("Failed requests:", failed.to_string());
    if failed > 0 {
        let [connect, receive, length, exceptions] = causes;
        line(
            "",
            format!(
                "   (Connect: {connect}, Receive: {receive}, Length: {length}, Exceptions: {exceptions})"
            ),
        );
    }
    let not_2xx = found.answers_outside(200..300);
    if not_2xx > 0 {
        line("Non-2xx responses:", not_2xx.to_string());
    }
    if about.keeps_alive {
        let renewed = observation
            .connections_opened
            .saturating_sub(observation.connections_peak);
        line(
            "Keep-Alive requests:",
            complete.saturating_sub(renewed).to_string(),
        );
    }
    line(
        "Total transferred:",
        format!("{} bytes", observation.received_bytes),
    );
    if about.has_body {
        line("Total body sent:", observation.sent_bytes.to_string());
    }
    line(
        "HTML transferred:",
        format!("{} bytes", observation.body_bytes),
    );
    let milliseconds = 1e3 * found.seconds();
    let each = milliseconds / complete.max(1) as f64;
    line(
        "Requests per second:",
        format!("{:.2} [#/sec] (mean)", found.per_second(complete as f64)),
    );
    line(
        "Time per request:",
        format!("{:.3} [ms] (mean)", each * f64::from(about.concurrency)),
    );
    line(
        "Time per request:",
        format!("{each:.3} [ms] (mean, across all concurrent requests)"),
    );
    let rate = |bytes: u64| found.per_second(bytes as f64) / 1024.0;
    line(
        "Transfer rate:",
        format!(
            "{:.2} [Kbytes/sec] received",
            rate(observation.received_bytes)
        ),
    );
    if about.has_body {
        line(
            "",
            format!("{:24}{:.2} kb/s sent", "", rate(observation.sent_bytes)),
        );
        let both = observation.received_bytes + observation.sent_bytes;
        line("", format!("{:24}{:.2} kb/s total", "", rate(both)));
    }
    text + &connection_times(&found) + &percentages(&found, about)
}

/// Failures as ab counts them: of connecting, of receiving, for their length, all others.
fn causes(found: &ToolFigures<'_>) -> [u64; 4] {
    let connect = [
        Failure::ConnectRefused,
        Failure::ConnectTimeout,
        Failure::ConnectOther,
        Failure::NoLocalPort,
        Failure::Tls,
    ];
    let receive = [
        Failure::Reset,
        Failure::ClosedEarly,
        Failure::TruncatedHead,
        Failure::TruncatedBody,
    ];
    let [connect, receive, length] =
        [&connect[..], &receive, &[Failure::WrongLength]].map(|kinds| found.failed(kinds));
    let all = found.observation.measured.failed.total();
    [connect, receive, length, all - connect - receive - length]
}

/// The table of times in whole milliseconds; nothing where nothing was answered.
fn connection_times(found: &ToolFigures<'_>) -> String {
    let observation = found.observation;
    if found.times.count() == 0 {
        return String::new();
    }
    let mut text =
        "\nConnection Times (ms)\n              min  mean[+/-sd] median   max\n".to_owned();
    let waiting = observation
        .first_byte
        .as_ref()
        .unwrap_or(&observation.service_time);
    let rows = [
        ("Connect:", connecting(found)),
        ("Processing:", row(&observation.service_time)),
        ("Waiting:", row(waiting)),
        ("Total:", row(found.times)),
    ];
    for (name, [min, mean, deviation, median, max]) in rows {
        let _ = writeln!(
            text,
            "{name:<11} {min:>5.0} {mean:>4.0} {deviation:>5.1} {median:>6.0} {max:>7.0}"
        );
    }
    text
}

/// Least, mean, standard deviation, median and longest, in milliseconds.
fn row(times: &LatencyHistogram) -> [f64; 5] {
    let all = [
        times.least(),
        times.mean(),
        times.deviation(),
        times.quantile(0.5),
        times.max(),
    ];
    all.map(milliseconds)
}

/// The times of connecting. A request on a connection that was kept has no such time.
fn connecting(found: &ToolFigures<'_>) -> [f64; 5] {
    let times = &found.observation.connect_time;
    let requests = found.times.count().max(times.count()) as f64;
    if times.count() as f64 >= requests {
        return row(times);
    }
    let [_, mean, deviation, median, max] = row(times);
    let share = times.count() as f64 / requests;
    let mean_of_all = mean * share;
    // Of a mixture of zeros and these times.
    let squares = share * (deviation * deviation + mean * mean);
    let deviation = (squares - mean_of_all * mean_of_all).max(0.0).sqrt();
    let median = if share > 0.5 { median } else { 0.0 };
    [0.0, mean_of_all, deviation, median, max]
}

fn milliseconds(time: Option<Duration>) -> f64 {
    1e3 * seconds(time)
}

fn percentages(found: &ToolFigures<'_>, about: &Ab) -> String {
    if !about.percentages || found.times.count() < 2 {
        return String::new();
    }
    let mut text = "\nPercentage of the requests served within a certain time (ms)\n".to_owned();
    for percent in PERCENTS {
        let time = milliseconds(found.times.quantile(f64::from(percent) / 100.0));
        let _ = writeln!(text, "  {percent}%  {time:>5.0}");
    }
    let longest = milliseconds(found.times.max());
    let _ = writeln!(text, " 100%  {longest:>5.0} (longest request)");
    text
}

/// The percentages as ab writes them into a file (`-e`): a row for each from 0 to 99.
pub fn ab_percentiles(record: &LoadRecord) -> String {
    let times = ToolFigures::new(record).times;
    let mut text = "Percentage served,Time in ms\n".to_owned();
    for percent in 0..100 {
        let time = match percent {
            0 => times.least(),
            _ => times.quantile(f64::from(percent) / 100.0),
        };
        let _ = writeln!(text, "{percent},{:.3}", milliseconds(time));
    }
    text
}
