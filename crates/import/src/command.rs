//! The commands of the tools, as far as they say how a server was loaded.

use deadheat_model::{
    imported::{Load, Tool},
    load::Reuse,
};

use crate::{report::ToolReport, text};

/// The programs and their tools. wrk2's program is often called wrk.
const PROGRAMS: [(&str, Tool); 8] = [
    ("ab", Tool::Ab),
    ("hey", Tool::Hey),
    ("wrk", Tool::Wrk),
    ("wrk2", Tool::Wrk2),
    ("oha", Tool::Oha),
    ("h2load", Tool::H2load),
    ("k6", Tool::K6),
    ("vegeta", Tool::Vegeta),
];

/// A command of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Command {
    pub(crate) tool: Tool,
    /// The command as it is written.
    pub(crate) text: String,
}

/// A longer line is no command.
const LONGEST: usize = 16 * 1024;

/// The command in a line of text, such as `$ ab -n 100 http://localhost/`.
pub(crate) fn of_line(line: &str) -> Option<Command> {
    if line.len() > LONGEST {
        return None;
    }
    PROGRAMS.iter().find_map(|(program, tool)| {
        let with_blank = format!("{program} ");
        line.match_indices(&with_blank).find_map(|(at, _)| {
            let before = line[..at].chars().next_back();
            if before.is_some_and(|one| one.is_alphanumeric() || ['-', '_', '.'].contains(&one)) {
                return None;
            }
            let text = &line[at..];
            // In running text, a command is between backticks.
            let text = match before {
                Some('`') => text.split('`').next().unwrap_or(text),
                _ => text,
            };
            // Options or the URL follow at once; other words do in a sentence.
            let next = text.split_whitespace().nth(1)?;
            let is_command = match tool {
                Tool::K6 => next == "run",
                Tool::Vegeta => next == "attack",
                _ => (next.starts_with('-') || next.contains("://")) && text.contains("://"),
            };
            is_command.then(|| Command {
                tool: *tool,
                text: text.trim().to_owned(),
            })
        })
    })
}

impl Command {
    /// Whether it may have printed a report of `tool`.
    pub(crate) fn prints(&self, tool: Tool) -> bool {
        let wrk = [Tool::Wrk, Tool::Wrk2];
        self.tool == tool || (wrk.contains(&self.tool) && wrk.contains(&tool))
    }

    /// Fills in what the report did not say about `load`, and returns the URL. Values from the report take precedence.
    pub(crate) fn complete(&self, load: &mut Load) -> Option<String> {
        let words = self.words();
        let value = |flags: &[&str]| value(&words, flags);
        let number = |flags: &[&str]| value(flags).and_then(|text| text.parse::<u64>().ok());
        let connections = self.connections(&words);
        let connections = connections.and_then(|number| u32::try_from(number).ok());
        load.connections = load.connections.or(connections);
        if !matches!(self.tool, Tool::Wrk | Tool::Wrk2 | Tool::K6 | Tool::Vegeta) {
            load.requests = load.requests.or(number(&["-n", "--requests"]));
        }
        let has = |flag: &str| words.iter().any(|word| word == flag);
        let rate = match self.tool {
            Tool::Wrk | Tool::Wrk2 => value(&["-R", "--rate"]).and_then(|rate| thousands(&rate)),
            Tool::Vegeta => value(&["-rate", "--rate"]).and_then(|rate| rate_of_vegeta(&rate)),
            // Without this option, a request that is late delays the next one.
            Tool::Oha if has("--latency-correction") => {
                value(&["-q"]).and_then(|rate| thousands(&rate))
            }
            _ => None,
        };
        load.rate = rate.or(load.rate);
        load.is_open |= rate.is_some();
        let version = value(&["--http-version"]).unwrap_or_default();
        let is_http2 = match self.tool {
            Tool::Oha => has("--http2") || version.starts_with(['2', '3']),
            Tool::Hey => has("-h2"),
            _ => false,
        };
        load.http = load.http.filter(|_| !is_http2);
        let at_once = match self.tool {
            Tool::H2load => number(&["-m", "--max-concurrent-streams"]).or(Some(1)),
            Tool::Oha if is_http2 => number(&["-p"]).or(Some(1)),
            Tool::Hey if is_http2 => Some(1),
            _ => None,
        };
        let at_once = at_once.and_then(|number| u32::try_from(number).ok());
        load.pipeline = load.pipeline.or(at_once);
        let closes = words.iter().any(|word| {
            let word = word.to_ascii_lowercase();
            word.ends_with("-disable-keepalive") || word.replace(' ', "") == "connection:close"
        });
        let is_http1 = load.http.is_some();
        load.reuse = load.reuse.or(match (closes, is_http1) {
            (true, _) => Some(Reuse::PerRequest),
            (false, true) => Some(Reuse::KeepAlive),
            (false, false) => None,
        });
        url(&words).cloned()
    }

    fn words(&self) -> Vec<String> {
        shlex::split(&self.text)
            .unwrap_or_else(|| self.text.split_whitespace().map(str::to_owned).collect())
    }

    fn connections(&self, words: &[String]) -> Option<u64> {
        let flags: &[&str] = match self.tool {
            Tool::K6 => &["--vus", "-u"],
            Tool::Vegeta => &[],
            _ => &["-c", "--connections", "--clients"],
        };
        value(words, flags)?.parse().ok()
    }

    /// Why this command cannot have printed a report; `None`: nothing in the report rules it out.
    pub(crate) fn contradiction(&self, report: &ToolReport) -> Option<String> {
        let words = self.words();
        let differs = |noun: &str, asked: Option<u64>, found: Option<u64>| {
            let (asked, found) = asked.zip(found)?;
            (asked != found)
                .then(|| format!("it asks for {asked} {noun}, and this report has {found}"))
        };
        let load = &report.load;
        let connections = load.connections.map(u64::from);
        let threads = match self.tool {
            Tool::Wrk | Tool::Wrk2 | Tool::H2load => value(&words, &["-t", "--threads"]),
            _ => None,
        };
        let threads = threads.and_then(|threads| threads.parse().ok());
        differs("connections", self.connections(&words), connections)
            .or_else(|| differs("threads", threads, load.threads.map(u64::from)))
            .or_else(|| self.other_length(&words, report))
            .or_else(|| self.other_rate(&words, report))
            .or_else(|| other_target(&words, report))
    }

    /// How the number of requests, or the time, of the report contradicts the command; `None`: they agree.
    fn other_length(&self, words: &[String], report: &ToolReport) -> Option<String> {
        let figures = &report.figures;
        let flags: &[&str] = match self.tool {
            Tool::Wrk | Tool::Wrk2 => &["-d", "--duration"],
            Tool::Hey | Tool::Oha => &["-z"],
            Tool::Ab => &["-t"],
            Tool::H2load => &["-D", "--duration"],
            Tool::K6 => &["-d", "--duration"],
            Tool::Vegeta => &["-duration"],
            // No command prints a suite's file.
            Tool::HttpArena | Tool::WebFrameworks => return None,
        };
        if let Some(asked) = value(words, flags) {
            let asked = seconds(&asked)?;
            let found = figures.seconds?;
            // ab also ends after a number of requests.
            let is_short = self.tool != Tool::Ab && found < 0.9 * asked;
            return (is_short || found > 1.1 * asked + 2.0)
                .then(|| format!("it runs for {asked} s, but the report covers {found} s"));
        }
        let usual = match self.tool {
            Tool::Ab | Tool::H2load => 1,
            Tool::Hey | Tool::Oha => 200,
            _ => return None,
        };
        let asked = value(words, &["-n", "--requests"]);
        let asked = asked.map_or(Some(usual), |asked| asked.parse().ok())?;
        let asked = match self.tool {
            // Each connection sends the same number.
            Tool::Hey => {
                let connections = self.connections(words).unwrap_or(50).max(1);
                asked / connections * connections
            }
            _ => asked,
        };
        let failed = match self.tool {
            Tool::Ab => 0,
            _ => figures.failed.unwrap_or(0),
        };
        let differs = match figures.complete {
            Some(_) if self.tool == Tool::H2load => report.load.requests != Some(asked),
            Some(complete) => complete.saturating_add(failed) != asked,
            // Within the precision of the printed digits.
            None => {
                let (rate, seconds) = figures.requests_per_second.zip(figures.seconds)?;
                let rounded = (rate + seconds) * 0.000_06 + 0.51;
                (rate * seconds - asked as f64).abs() > rounded
            }
        };
        differs.then(|| format!("it sends {asked} requests, and this report has another number"))
    }

    /// How the rate of the report contradicts the command; `None`: they agree.
    fn other_rate(&self, words: &[String], report: &ToolReport) -> Option<String> {
        let figures = &report.figures;
        let is_wrk = matches!(self.tool, Tool::Wrk | Tool::Wrk2);
        let flags: &[&str] = match self.tool {
            Tool::Wrk | Tool::Wrk2 => &["-R", "--rate"],
            Tool::Oha => &["-q"],
            Tool::Vegeta => &["-rate"],
            _ => &[],
        };
        let Some(asked) = value(words, flags) else {
            return (is_wrk && report.tool == Tool::Wrk2)
                .then(|| "it is a wrk command, but wrk2 printed the report".to_owned());
        };
        let asked = match self.tool {
            Tool::Vegeta => rate_of_vegeta(&asked)?,
            _ => thousands(&asked)?,
        };
        // wrk2 calibrates itself after ten seconds and some milliseconds for each connection.
        let connections = f64::from(report.load.connections.unwrap_or(0));
        let calibrated_after = 10.5 + 0.005 * connections;
        if is_wrk && report.tool == Tool::Wrk && figures.seconds? > calibrated_after {
            return Some("it is a wrk2 command, but the report has no calibration".to_owned());
        }
        let found = match self.tool {
            Tool::Vegeta => report.sent_rate?,
            _ => figures.requests_per_second?,
        };
        (asked > 0.0 && found > 1.1 * asked)
            .then(|| format!("it asks for {asked} requests/s, and this report has {found}"))
    }
}

/// The URL of a command. Other words may have one within them, such as a header.
fn url(words: &[String]) -> Option<&String> {
    let is_url = |word: &&String| word.starts_with("http://") || word.starts_with("https://");
    words.iter().rfind(is_url)
}

/// How the URL of the report contradicts the command; `None`: they agree.
fn other_target(words: &[String], report: &ToolReport) -> Option<String> {
    let asked = url(words)?;
    let found = report.target.as_ref()?;
    let is_pattern = |text: &str| text.contains(['$', '<', '{', '…']);
    let is_other = !is_pattern(asked) && address(asked) != address(found);
    is_other.then(|| format!("it requests {asked}, but the report is about {found}"))
}

/// Host with port, and path, of a URL or of ab's `host:port/path`.
fn address(text: &str) -> (String, String) {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let rest = rest.split('#').next().unwrap_or(rest);
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(at);
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    let port = if scheme.eq_ignore_ascii_case("https") {
        443
    } else {
        80
    };
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| text::count(port).is_some());
    let host = if has_port {
        host
    } else {
        format!("{host}:{port}")
    };
    let host = host.replacen("localhost:", "127.0.0.1:", 1);
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    (host, path)
}

/// A time in a command, in seconds: `10s`, `2m`, or `10`.
fn seconds(text: &str) -> Option<f64> {
    match text::decimal(text, 0) {
        Some(seconds) => Some(seconds),
        None => text::shifted(text::go_duration(text)?, -3),
    }
}

/// The value of a flag: `-n 100`, `-n100`, `--requests 100` or `--requests=100`.
fn value(words: &[String], flags: &[&str]) -> Option<String> {
    let at = |flag: &str| {
        words.iter().enumerate().find_map(|(index, word)| {
            let rest = word.strip_prefix(flag)?;
            if rest.is_empty() {
                return words.get(index + 1).cloned();
            }
            let is_long = flag.starts_with("--");
            rest.strip_prefix('=').map(str::to_owned).or_else(|| {
                (!is_long && rest.starts_with(|one: char| one.is_ascii_digit()))
                    .then(|| rest.to_owned())
            })
        })
    };
    flags.iter().find_map(|flag| at(flag))
}

/// A rate of vegeta, such as `50`, `50/s` or `3000/1m`, per second. 0 is as fast as possible.
fn rate_of_vegeta(text: &str) -> Option<f64> {
    let (number, time) = text.split_once('/').unwrap_or((text, "1s"));
    let is_unit = !time.starts_with(|one: char| one.is_ascii_digit());
    let time = if is_unit {
        format!("1{time}")
    } else {
        time.to_owned()
    };
    let rate = text::decimal(number, 0)? / seconds(&time)?;
    Some(rate).filter(|rate| *rate > 0.0 && rate.is_finite())
}

/// A number with wrk's suffixes.
fn thousands(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|one: char| one.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        _ => return None,
    };
    Some(text::decimal(digits, 0)? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_text() {
        let found = |line: &str| of_line(line).map(|command| command.text);
        let hey = "hey -n 30000 -c 50 http://localhost:5000";
        assert_eq!(
            found(&format!("hey command : `{hey}` which means:")),
            Some(hey.to_owned())
        );
        assert_eq!(
            found("$ ab -c100 -n 10 http://x/"),
            Some("ab -c100 -n 10 http://x/".to_owned())
        );
        assert_eq!(
            found("Using [ab](https://httpd.apache.org/docs/2.4/programs/ab.html)"),
            None
        );
        assert_eq!(found("the lab -x http://x/"), None);
    }

    #[test]
    fn a_command_says_how_the_server_was_loaded() {
        let mut load = Load::default();
        let command = of_line("wrk2 -t2 -c100 -R2k -d10s http://x/").expect("a command");
        assert_eq!(command.complete(&mut load).as_deref(), Some("http://x/"));
        assert_eq!(
            (load.connections, load.rate, load.is_open),
            (Some(100), Some(2000.0), true)
        );
    }
}
