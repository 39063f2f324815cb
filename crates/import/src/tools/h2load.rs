//! nghttp2's h2load (`src/h2load.cc`).

use deadheat_model::{imported::Tool, load::HttpVersion};

use super::sum;
use crate::{
    report::{Damage, ToolReport, damage, foreign},
    text::{Cursor, Line, count, decimal, kib, measured, milliseconds, shifted},
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

/// The rows of the table of times, as they are called since version 1.69, and before.
const ROWS: [[&str; 2]; 4] = [
    ["request ", "time for request:"],
    ["connect ", "time for connect:"],
    ["TTFB ", "time to 1st byte:"],
    ["req/s ", "req/s "],
];

pub(crate) fn begins(line: &Line) -> bool {
    line.text == "starting benchmark..." || line.text.starts_with("finished in ")
}

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<ToolReport, Damage> {
    let mut report = ToolReport::new(Tool::H2load);
    let mut main_seconds = None;
    if cursor.is_at("starting benchmark...") {
        cursor.skip();
        main_seconds = beginning(cursor, &mut report)?;
    }
    let line = cursor.peek();
    let line = cursor.require(line, "finished in TIME, RATE req/s, SIZE/s")?;
    if line.text.ends_with(" kbyte/s") {
        return foreign(line.number, "weighttp");
    }
    let finished = finished(line, &mut report)?;
    cursor.skip();
    // A number of requests is not preceded by a warm-up.
    let is_counted = report.load.requests.is_some();
    let counted = RequestTotals::read(cursor, &mut report)?;
    // The rate is of the main part, and the time also of a warm-up before it.
    let main_part = counted.main_part(finished).filter(|_| !is_counted);
    let seconds = [Some(finished.seconds), main_seconds, main_part];
    let mut seconds = seconds.into_iter().flatten();
    let Some(seconds) = seconds.find(|seconds| counted.fits(finished, *seconds)) else {
        let (done, rate, seconds) = (counted.done, finished.rate, finished.seconds);
        return damage(
            line.number,
            format!("{done} requests in {seconds} s are not {rate} requests/s"),
        );
    };
    report.figures.seconds = Some(seconds);
    table(cursor, &mut report)?;
    Ok(report)
}

/// Reads the output before and during the load, up to the first line of the results. Returns the planned length of the
/// main part in seconds, if it is printed.
fn beginning(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<Option<f64>, Damage> {
    let (mut clients, mut requests) = (0_u64, 0_u64);
    let mut main_seconds = None;
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
                // Before version 1.1 with other words.
                let titles = [" total client(s). ", " concurrent clients, "];
                let mut split = titles.iter().filter_map(|title| rest.split_once(title));
                let (of_thread, rest) = split.next()?;
                let all = rest.strip_suffix(" total requests");
                Some((count(of_thread)?, all.map_or(Some(0), count)?))
            };
            let (of_thread, all) =
                line.expect(read(), "`spawning thread #N: N total client(s). …`")?;
            clients = clients.saturating_add(of_thread);
            requests = requests.saturating_add(all);
            let threads = report.load.threads.unwrap_or(0);
            report.load.threads = Some(threads + 1);
            let main = line.text.split_once(" of warm-up time and ");
            let main = main.and_then(|(_, rest)| rest.split_once(" of main duration"));
            main_seconds = main.and_then(|(time, _)| shifted(milliseconds(time)?, -3));
        }
        if let Some(protocol) = line.after("Application protocol:") {
            report.load.http = (protocol == "http/1.1").then_some(HttpVersion::Http11);
        }
        cursor.skip();
    }
    report.load.connections = u32::try_from(clients).ok().filter(|clients| *clients > 0);
    report.load.requests = Some(requests).filter(|requests| *requests > 0);
    Ok(main_seconds)
}

/// `finished in 30.73ms, 16270.75 req/s, 2.51MB/s`, and before version 0.7.4
/// `finished in 1 sec, 30 millisec and 736 microsec, 16270 req/s, 2570 kbytes/s`.
fn finished(line: &Line, report: &mut ToolReport) -> Result<FinishedLine, Damage> {
    let read = || {
        let (time, rest) = line.after("finished in ")?.split_once(", ")?;
        let (time, rest) = match time.strip_suffix(" sec") {
            None => (milliseconds(time)?, rest),
            Some(sec) => {
                let (parts, rest) = rest.split_once(" microsec, ")?;
                let (ms, us) = parts.split_once(" millisec and ")?;
                let parts = [(sec, 3), (ms, 0), (us, -3)];
                let times: Option<Vec<f64>> = parts
                    .iter()
                    .map(|(part, exponent)| shifted(count(part)? as f64, *exponent))
                    .collect();
                (times?.iter().sum(), rest)
            }
        };
        let (rate, transfer) = rest.split_once(", ")?;
        let rate = rate.strip_suffix(" req/s")?;
        let (digits, exponent) = rate.split_once("e+").unwrap_or((rate, "0"));
        let exponent = count(exponent).filter(|exponent| *exponent < 20)?;
        let rate = decimal(digits, i32::try_from(exponent).ok()?)?;
        let decimals = digits
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        let rounded = 10_f64.powi(i32::try_from(exponent).ok()? - i32::try_from(decimals).ok()?);
        let transfer = match transfer.strip_suffix(" kbytes/s") {
            Some(kib) => decimal(kib, 0)?,
            None => kib(transfer.strip_suffix("/s")?)?,
        };
        Some((time, (rate, rounded), transfer))
    };
    let (time, (rate, rounded), transfer) =
        line.expect(read(), "`finished in TIME, RATE req/s, SIZE/s`")?;
    let figures = &mut report.figures;
    figures.requests_per_second = Some(rate);
    figures.kib_per_second = Some(transfer);
    let seconds = shifted(time, -3).unwrap_or(0.0);
    Ok(FinishedLine {
        rate,
        rounded,
        seconds,
    })
}

/// The first line of the results.
#[derive(Clone, Copy)]
struct FinishedLine {
    rate: f64,
    /// The value of the rate's last digit.
    rounded: f64,
    seconds: f64,
}

/// The requests that ended, and those that succeeded.
struct RequestTotals {
    done: u64,
    succeeded: u64,
}

impl RequestTotals {
    /// Whether the rate is that of these requests in this time, within the precision of its digits.
    fn fits(&self, finished: FinishedLine, seconds: f64) -> bool {
        [self.done, self.succeeded].iter().any(|count| {
            let count = *count as f64;
            let rounded = 0.006 * count + finished.rounded * seconds + 0.01;
            (finished.rate * seconds - count).abs() <= rounded
        })
    }

    /// The part of the time in which requests counted, in whole seconds; `None`: there was no warm-up before it.
    fn main_part(&self, finished: FinishedLine) -> Option<f64> {
        let main = (self.done as f64 / finished.rate).round();
        (main >= 1.0 && main < finished.seconds).then_some(main)
    }

    fn read(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<Self, Damage> {
        let line = cursor.peek();
        let line = cursor.require(line, "requests: …")?;
        // Timeouts came with version 1.3.
        let requests = line.after("requests:").and_then(|text| {
            named(text, &COUNTS).or_else(|| named(text, &COUNTS[..COUNTS.len() - 1]))
        });
        let requests = line.expect(requests, "`requests: N total, N started, N done, …`")?;
        let [total, _, done, succeeded, _, errored, ref timeout @ ..] = requests[..] else {
            return line.wrong("six or seven counts");
        };
        let timeout = timeout.first().copied().unwrap_or(0);
        report.figures.complete = Some(done);
        // `failed` also has the answers with an error status, which are done.
        report.figures.failed = Some(errored);
        // With a time instead of a number of requests, the total is the number of sent requests.
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
        if sum(classes.iter().copied()) > total {
            return line.wrong(&format!("no more than {total} statuses"));
        }
        // The statuses include requests that broke off afterwards. The oldest versions count any status as success.
        let good = sum(classes.iter().take(2).copied());
        let is_oldest = requests.len() < COUNTS.len() && sum(classes.iter().copied()) >= succeeded;
        if good < succeeded && !is_oldest {
            return line.wrong(&format!(
                "at least {succeeded} statuses 2xx and 3xx, as many requests as succeeded"
            ));
        }
        report.figures.non_2xx = Some(sum(classes.iter().skip(1).copied()));
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
        Ok(Self { done, succeeded })
    }
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
        // Before version 1.6: `81000 bytes total`.
        if let Some((number, rest)) = part.trim().split_once(" bytes ") {
            return rest.starts_with(end).then_some(count(number)?);
        }
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
fn table(cursor: &mut Cursor<'_>, report: &mut ToolReport) -> Result<(), Damage> {
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
    for names in ROWS {
        let line = cursor.peek();
        // The first row came with version 0.7.4, the next two with 1.0, the last one with 1.6.
        let is_over = match line {
            None => true,
            Some(line) => !ROWS.iter().flatten().any(|row| line.text.starts_with(row)),
        };
        if is_over && names != ROWS[0] && !columns.contains(&"median") {
            break;
        }
        let name = names[1].trim();
        let line = cursor.require(line, name)?;
        let cells = names.iter().find_map(|name| line.after(name));
        let cells = cells.map(|rest| rest.trim_start_matches(':'));
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
        if names == ROWS[0] {
            let time = |column| {
                let cell = of(column).map(|cell| measured(cell, milliseconds));
                let time = cell.map(|time| line.expect(time, "times")).transpose()?;
                Ok::<_, Damage>(time.flatten())
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
