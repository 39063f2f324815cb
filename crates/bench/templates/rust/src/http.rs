//! As little of HTTP/1.1 as a first check needs, since Rust's standard library has none. Delete it for {{framework}}.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::{SystemTime, UNIX_EPOCH},
};

/// A head that is longer than this is refused.
const LONGEST_HEAD: u64 = 16 * 1024;

pub struct Request {
    pub method: String,
    pub path: String,
    /// Whether the connection ends with the answer: a body is not read and must not be taken for the next request, and
    /// HTTP/1.0 asks for no more than one.
    is_last: bool,
}

pub struct Answer {
    status: u16,
    body: &'static str,
}

impl Answer {
    pub fn text(status: u16, body: &'static str) -> Self {
        Self { status, body }
    }
}

/// Answers one request after the other until the client goes.
pub fn serve(stream: TcpStream, answer: fn(&Request) -> Answer) {
    // The client went in the middle of something; there is nobody to tell.
    let _ = try_serve(&stream, answer);
}

fn try_serve(mut stream: &TcpStream, answer: fn(&Request) -> Answer) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while !reader.fill_buf()?.is_empty() {
        let Some(request) = read_head(&mut reader)? else {
            return write(&mut stream, &Answer::text(400, "bad request"), false, true);
        };
        let (is_head, close) = (request.method == "HEAD", request.is_last);
        write(&mut stream, &answer(&request), is_head, close)?;
        if close {
            return Ok(());
        }
    }
    Ok(())
}

/// The head of a request; `None` when it is none.
fn read_head(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut reader = reader.take(LONGEST_HEAD);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let [method, target, version @ ("HTTP/1.1" | "HTTP/1.0")] =
        line.split_whitespace().collect::<Vec<_>>()[..]
    else {
        return Ok(None);
    };
    let path = target.split('?').next().unwrap_or(target);
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        is_last: version == "HTTP/1.0",
    };
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        if header == "\r\n" {
            return Ok(Some(request));
        }
        let Some((name, _)) = header.split_once(':') else {
            return Ok(None);
        };
        let of_body = ["content-length", "transfer-encoding"];
        request.is_last |= of_body.contains(&name.to_ascii_lowercase().as_str());
    }
}

fn write(stream: &mut impl Write, answer: &Answer, is_head: bool, close: bool) -> io::Result<()> {
    let Answer { status, body } = answer;
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed\r\nAllow: GET",
        _ => "",
    };
    let connection = if close { "Connection: close\r\n" } else { "" };
    let length = body.len();
    let body = if is_head { "" } else { body };
    let date = date();
    let text = format!(
        "HTTP/1.1 {status} {reason}\r\n{connection}Date: {date}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes())
}

/// Now, as a Date header has it (RFC 9110, section 5.6.7). The day of a number of days is found as in Howard Hinnant's
/// "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
fn date() -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb",
    ];
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.unwrap_or_default().as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that a leap day is a year's last; 400 of them have the same days.
    let since_march = days + 719_468;
    let (era, day) = (since_march / 146_097, since_march % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    format!(
        "{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
        DAYS[(days % 7) as usize],
        day - (153 * month + 2) / 5 + 1,
        MONTHS[month as usize],
        400 * era + year + u64::from(month >= 10),
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}
