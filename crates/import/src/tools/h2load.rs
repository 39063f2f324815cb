//! nghttp2's h2load (`src/h2load.cc`).

use deadheat_model::{imported::Tool, load::HttpVersion};

use crate::{
    error::{Damage, damage},
    number::{count, fixed, kib, milliseconds, shifted},
    report::Report,
    text::{Cursor, Line},
};

const COUNTS: [&str; 7] = [
    "total",
    "started",
    "done",
    "succeeded",
    "failed",
    "errored",
    "timeout",
];
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

pub(crate) fn begins(line: &Line) -> bool {
    line.text == "starting benchmark..." || line.text.starts_with("finished in ")
}

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Report, Damage> {
    let mut report = Report::of(Tool::H2load);
    if cursor.is_at("starting benchmark...") {
        cursor.skip();
        beginning(cursor, &mut report)?;
    }
    let line = cursor.peek();
    let line = cursor.require(line, "finished in TIME, RATE req/s, SIZE/s")?;
    finished(line, &mut report)?;
    cursor.skip();
    counts(cursor, &mut report)?;
    table(cursor, &mut report)?;
    Ok(report)
}

/// What it says before and while it loads, up to the line that begins the results.
fn beginning(cursor: &mut Cursor<'_>, report: &mut Report) -> Result<(), Damage> {
    let (mut clients, mut requests) = (0, 0);
    while let Some(line) = cursor.peek() {
        if line.text.starts_with("finished in ") {
            break;
        }
        if line.text == "starting benchmark..." {
            return line.wrong("`finished in TIME, RATE req/s, SIZE/s`");
        }
        if line.text.starts_with("spawning thread #") {
            let read = || {
                let (_, rest) = line.text.split_once(": ")?;
                let (of_thread, rest) = rest.split_once(" total client(s). ")?;
                let all = rest.strip_suffix(" total requests");
                Some((count(of_thread)?, all.map_or(Some(0), count)?))
            };
            let (of_thread, all) =
                line.expect(read(), "`spawning thread #N: N total client(s). …`")?;
            clients += of_thread;
            requests += all;
            let threads = report.load.threads.unwrap_or(0);
            report.load.threads = Some(threads + 1);
        }
        if let Some(protocol) = line.after("Application protocol:") {
            report.load.http = (protocol == "http/1.1").then_some(HttpVersion::Http11);
        }
        cursor.skip();
    }
    report.load.connections = u32::try_from(clients).ok().filter(|clients| *clients > 0);
    report.load.requests = Some(requests).filter(|requests| *requests > 0);
    Ok(())
}

/// `finished in 30.73ms, 16270.75 req/s, 2.51MB/s`
fn finished(line: &Line, report: &mut Report) -> Result<(), Damage> {
    let read = || {
        let parts: Vec<&str> = line.after("finished in ")?.split(", ").collect();
        let [time, rate, transfer] = parts.as_slice() else {
            return None;
        };
        let rate = fixed(rate.strip_suffix(" req/s")?, 2)?;
        Some((
            milliseconds(time)?,
            rate,
            kib(transfer.strip_suffix("/s")?)?,
        ))
    };
    let (time, rate, transfer) = line.expect(read(), "`finished in TIME, RATE req/s, SIZE/s`")?;
    let figures = &mut report.figures;
    figures.seconds = shifted(time, -3);
    figures.requests_per_second = Some(rate);
    figures.kib_per_second = Some(transfer);
    Ok(())
}

fn counts(cursor: &mut Cursor<'_>, report: &mut Report) -> Result<(), Damage> {
    let line = cursor.peek();
    let line = cursor.require(line, "requests: …")?;
    let requests = line
        .after("requests:")
        .and_then(|text| named(text, &COUNTS));
    let requests = line.expect(requests, "`requests: N total, N started, N done, …`")?;
    let [total, _, done, succeeded, failed, errored, timeout] = requests[..] else {
        return line.wrong("seven counts");
    };
    let figures = &mut report.figures;
    let (rate, seconds) = (
        figures.requests_per_second.unwrap_or(0.0),
        figures.seconds.unwrap_or(0.0),
    );
    // The time has at least three digits.
    let fits = |count: u64| {
        (rate * seconds - count as f64).abs() <= 0.006 * count as f64 + 0.01 * seconds + 0.01
    };
    if !fits(done) && !fits(succeeded) {
        return damage(
            line.number,
            format!("{done} requests in {seconds} s are not {rate} requests/s"),
        );
    }
    figures.complete = Some(done);
    figures.failed = Some(failed);
    // With a time instead of a number, the total is what was sent.
    report.load.requests = report.load.requests.or(Some(total));
    report.failed("errored", errored.saturating_sub(timeout));
    report.failed("timeout", timeout);
    cursor.skip();
    let line = cursor.peek();
    let line = cursor.require(line, "status codes: …")?;
    let classes = line
        .after("status codes:")
        .and_then(|text| named(text, &CLASSES));
    let classes = line.expect(classes, "`status codes: N 2xx, N 3xx, N 4xx, N 5xx`")?;
    if classes.iter().sum::<u64>() > total {
        return line.wrong(&format!("no more than {total} statuses"));
    }
    // Those of requests that broke off afterwards are among them, too.
    if classes[0] + classes[1] < succeeded {
        return line.wrong(&format!(
            "at least {succeeded} statuses 2xx and 3xx, as many requests as succeeded"
        ));
    }
    report.figures.non_2xx = Some(classes.iter().skip(1).sum());
    cursor.skip();
    let line = cursor.peek();
    let line = cursor.require(line, "traffic: …")?;
    let traffic = line.after("traffic:").and_then(traffic);
    let (received, bodies) = line.expect(
        traffic,
        "`traffic: SIZE (N) total, SIZE (N) headers …, SIZE (N) data`",
    )?;
    report.figures.received_bytes = Some(received);
    report.figures.body_bytes = Some(bodies);
    cursor.skip();
    if done == 0 {
        report.figures.requests_per_second = None;
    }
    Ok(())
}

/// `500 total, 500 started, …`: the numbers, if the names are these.
fn named(text: &str, names: &[&str]) -> Option<Vec<u64>> {
    let parts: Vec<&str> = text.split(", ").collect();
    let one = |(name, part): (&&str, &&str)| count(part.strip_suffix(name)?.trim());
    let has_all = parts.len() == names.len();
    let numbers: Option<Vec<u64>> = names.iter().zip(&parts).map(one).collect();
    numbers.filter(|_| has_all)
}

/// `79.10KB (81000) total, 53.71KB (55000) headers (space savings 0.00%), 6.35KB (6500) data`
fn traffic(text: &str) -> Option<(u64, u64)> {
    let parts: Vec<&str> = text.split(", ").collect();
    let [total, headers, data] = parts.as_slice() else {
        return None;
    };
    let bytes = |part: &str, end: &str| {
        let (_, rest) = part.split_once(" (")?;
        let (number, rest) = rest.split_once(')')?;
        rest.trim().starts_with(end).then_some(count(number)?)
    };
    bytes(headers, "headers")?;
    Some((
        bytes(total, "total")?,
        bytes(data, "data").filter(|_| data.ends_with("data"))?,
    ))
}

/// The table of times, whose header names its columns.
fn table(cursor: &mut Cursor<'_>, report: &mut Report) -> Result<(), Damage> {
    while cursor
        .peek()
        .is_some_and(|line| line.text.starts_with("UDP datagram:"))
    {
        cursor.skip();
    }
    let Some(header) = cursor.peek().filter(|line| line.text.starts_with("min ")) else {
        return Ok(());
    };
    let columns: Vec<&str> = header
        .text
        .split_whitespace()
        .filter(|cell| *cell != "+/-")
        .collect();
    if columns.last() != Some(&"sd") || !columns.contains(&"mean") {
        return header.wrong("`min max … mean sd +/- sd`");
    }
    cursor.skip();
    for name in [
        "time for request:",
        "time for connect:",
        "time to 1st byte:",
        "req/s",
    ] {
        let line = cursor.peek();
        let line = cursor.require(line, name)?;
        let cells = line.after(name).map(|rest| rest.trim_start_matches(':'));
        let cells: Vec<&str> = cells.unwrap_or("").split_whitespace().collect();
        let is_whole = cells.len() == columns.len() && line.text.ends_with('%');
        let of = |column: &str| {
            columns
                .iter()
                .position(|one| *one == column)
                .map(|at| cells[at])
        };
        if !is_whole {
            return line.wrong(&format!("`{name}` and {} figures", columns.len()));
        }
        if name == "time for request:" && report.figures.complete != Some(0) {
            let time = |column| {
                of(column)
                    .map(|cell| line.expect(milliseconds(cell), "times"))
                    .transpose()
            };
            report.figures.max_ms = time("max")?;
            report.figures.mean_ms = time("mean")?;
            report.figures.p50_ms = time("median")?;
            report.figures.p99_ms = time("p99")?;
        }
        cursor.skip();
    }
    Ok(())
}
