//! The commands of the tools, as far as they say how a server was loaded.

use deadheat_model::{
    imported::{Load, Tool},
    load::Reuse,
};

/// Programs and what they are. wrk2's program is often called wrk.
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
    /// As it is written.
    pub(crate) text: String,
}

/// The command in a line of text, such as `$ ab -n 100 http://localhost/`.
pub(crate) fn of_line(line: &str) -> Option<Command> {
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

    /// Completes `load`, which a report gave, and says which URL was asked. What the report says stays.
    pub(crate) fn complete(&self, load: &mut Load) -> Option<String> {
        let words = shlex::split(&self.text)
            .unwrap_or_else(|| self.text.split_whitespace().map(str::to_owned).collect());
        let value = |flags: &[&str]| value(&words, flags);
        let number = |flags: &[&str]| value(flags).and_then(|text| text.parse::<u64>().ok());
        let connections = match self.tool {
            Tool::K6 => number(&["--vus", "-u"]),
            Tool::Vegeta => None,
            _ => number(&["-c", "--connections", "--clients"]),
        };
        let connections = connections.and_then(|number| u32::try_from(number).ok());
        load.connections = load.connections.or(connections);
        if !matches!(self.tool, Tool::Wrk | Tool::Wrk2 | Tool::K6 | Tool::Vegeta) {
            load.requests = load.requests.or(number(&["-n", "--requests"]));
        }
        let rate = match self.tool {
            Tool::Wrk | Tool::Wrk2 => value(&["-R", "--rate"]).and_then(|rate| thousands(&rate)),
            _ => None,
        };
        load.rate = load.rate.or(rate);
        load.is_open |= rate.is_some();
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
        words.into_iter().find(|word| word.contains("://"))
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

/// A number with wrk's suffixes.
fn thousands(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|one: char| one.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        _ => return None,
    };
    Some(crate::number::decimal(digits, 0)? * factor)
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
