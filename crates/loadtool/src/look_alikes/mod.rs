//! `deadheat as ab`, `wrk`, `hey` or `oha`: takes the options of that tool, loads as it would, and prints its report.
//! What cannot be done as the tool does it is refused.

mod ab;
pub mod document;
mod equivalent;
mod hey;
mod oha;
mod wrk;

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use clap::{Args, Parser, error::ErrorKind};
use deadheat_model::LoadRecord;
use deadheat_runner::files::write_whole;
use deadheat_shell::{
    exit::{CommandFailure, Exit},
    file_errors::unwritable,
    output,
    values::one_of,
};

use self::equivalent::{ANY, Print, loaded, with};
use crate::{
    ServerContact,
    analysis::analyse,
    look_alikes::{
        document as compat,
        document::{Tool, remarks},
    },
};

/// Another tool, with its own options.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct AsArgs {
    /// The tool
    #[arg(value_parser = one_of(&[
        ("ab", Tool::Ab, "ApacheBench"),
        ("wrk", Tool::Wrk, "wrk, without scripts"),
        ("hey", Tool::Hey, "hey"),
        ("oha", Tool::Oha, "oha"),
    ]))]
    tool: Tool,
    /// Its own options, and the URL; `deadheat as ab -h` lists them
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTIONS"
    )]
    options: Vec<OsString>,
}

/// The tool that this program was called by the name of, if it was.
pub fn called(program: &OsStr) -> Option<Tool> {
    let name = Path::new(program).file_name()?;
    Tool::ALL.into_iter().find(|tool| name == tool.name())
}

/// The tool and its options, if the first words are `as TOOL`: all that follows is the tool's, also what is an option of
/// deadheat, such as -v and -q.
pub fn asked(words: impl Iterator<Item = OsString>) -> Option<(Tool, Vec<OsString>)> {
    let mut words = words;
    if words.next()? != "as" {
        return None;
    }
    let name = words.next()?;
    let tool = Tool::ALL.into_iter().find(|tool| name == tool.name())?;
    Some((tool, words.collect()))
}

/// Loads as `deadheat as` was asked to.
pub fn run_as(args: AsArgs) -> Result<Exit, CommandFailure> {
    run(args.tool, args.options)
}

/// Loads as `tool` would with these options.
pub fn run(
    tool: Tool,
    options: impl IntoIterator<Item = OsString>,
) -> Result<Exit, CommandFailure> {
    let name = OsString::from(tool.name());
    let typed: Vec<OsString> = [name].into_iter().chain(options).collect();
    let wanted = match tool {
        Tool::Ab => ab::Options::try_parse_from(typed).map(ab::equivalent_load),
        Tool::Wrk => wrk::Options::try_parse_from(typed).map(wrk::equivalent_load),
        Tool::Hey => hey::Options::try_parse_from(hey::long(typed)).map(hey::equivalent_load),
        Tool::Oha => oha::Options::try_parse_from(typed).map(oha::equivalent_load),
    };
    let statuses = Statuses::new(tool);
    let mut wanted = match wanted {
        Ok(Ok(wanted)) => wanted,
        Ok(Err(why)) => {
            let failure = CommandFailure::usage(format!("{}: {why}", tool.name()));
            return Err(failure.with(statuses.usage));
        }
        Err(error) => {
            return Ok(match output::usage(&error)? {
                Exit::Usage => statuses.usage,
                _ if error.kind() == ErrorKind::DisplayHelp => statuses.help,
                exit => exit,
            });
        }
    };
    if wanted.version {
        return version(tool);
    }
    let failed = |failure: CommandFailure| match failure.exit() {
        Exit::Usage => failure.with(statuses.usage),
        Exit::NoResult => failure.with(statuses.failed),
        _ => failure,
    };
    if let Print::Ab {
        about,
        fixed_length,
        goes_on,
        ..
    } = &mut wanted.print
    {
        output::note(&format!("Benchmarking {} (be patient)", about.host));
        ab::look(&wanted.load, about, *goes_on).map_err(failed)?;
        about.length = match about.length {
            _ if !*fixed_length => None,
            Some(length) => {
                with(&mut wanted.load, "--expect-length", length.to_string());
                Some(length)
            }
            // Nothing was learned, and ab prints this then.
            None => Some(0),
        };
    }
    // wrk connects before it begins. The others count what is refused, for as long as they load.
    let contact = match tool {
        Tool::Wrk => ServerContact::None,
        Tool::Ab | Tool::Hey | Tool::Oha => ServerContact::Reached,
    };
    let record = loaded(&wanted.load, ANY, wanted.limit, contact).map_err(failed)?;
    if tool == Tool::Wrk && is_refused(&record) {
        let failure = CommandFailure::no_result(format!(
            "unable to connect to {}: Connection refused",
            record.spec.target.authority
        ));
        return Err(failure.with(statuses.failed));
    }
    print(tool, &record, wanted.print)?;
    Ok(if record.interrupted {
        statuses.interrupted
    } else {
        Exit::Fine
    })
}

/// Whether every request was refused a connection: wrk and ab notice that before they begin.
fn is_refused(record: &LoadRecord) -> bool {
    let found = &record.observation.total;
    found.ended() > 0 && found.failed[deadheat_model::Failure::ConnectRefused] == found.ended()
}

/// The exit statuses of a tool. A report ends with 0, whatever the answers were.
struct Statuses {
    /// Wrong options.
    usage: Exit,
    /// The list of options was asked for.
    help: Exit,
    /// It could not begin.
    failed: Exit,
    /// Ctrl-C ended it, and it printed its report.
    interrupted: Exit,
}

impl Statuses {
    fn new(tool: Tool) -> Self {
        let [usage, help, failed, interrupted] = match tool {
            // EINVAL (support/ab.c, `usage`).
            Tool::Ab => [22, 22, 1, 1],
            Tool::Wrk => [1, 1, 1, 0],
            Tool::Hey => [1, 0, 1, 0],
            Tool::Oha => [2, 0, 1, 0],
        };
        let [usage, help, failed, interrupted] =
            [usage, help, failed, interrupted].map(Exit::OfTool);
        Self {
            usage,
            help,
            failed,
            interrupted,
        }
    }
}

/// Prints the tool's version as it does, with deadheat's own.
fn version(tool: Tool) -> Result<Exit, CommandFailure> {
    let own = concat!("deadheat ", env!("CARGO_PKG_VERSION"));
    let (line, status) = match tool {
        Tool::Ab => (format!("This is ApacheBench, Version 2.3 <{own}>"), 0),
        // wrk then prints its usage and fails.
        Tool::Wrk => (format!("wrk 4.1.0 [epoll] ({own})"), 1),
        Tool::Hey | Tool::Oha => (format!("{} ({own})", tool.name()), 0),
    };
    output::data(&(line + "\n"))?;
    Ok(Exit::OfTool(status))
}

fn print(tool: Tool, record: &LoadRecord, print: Print) -> Result<(), CommandFailure> {
    let failed = |error| CommandFailure::no_result(format!("writing the report: {error}"));
    let mut file = None;
    let mut is_text = true;
    let text = match print {
        Print::Ab {
            about, percentiles, ..
        } => {
            if let Some(path) = percentiles {
                write(&path, &compat::ab_percentiles(record))?;
            }
            compat::ab(record, &about)
        }
        Print::Wrk(options) => compat::wrk(record, &options),
        Print::Hey => compat::hey(record),
        Print::Oha {
            json,
            corrected,
            file: path,
        } => {
            file = path;
            is_text = !json;
            if json {
                compat::oha_json(record, corrected).map_err(failed)?
            } else {
                compat::oha(record, corrected)
            }
        }
    };
    let analysis = analyse(record);
    let remarks = remarks(tool, record, &analysis);
    let remarks: Vec<String> = remarks
        .iter()
        .map(|one| format!("deadheat: {one}\n"))
        .collect();
    let remarks = remarks.concat();
    match file {
        Some(path) => write(&path, &text)?,
        None if is_text => return output::data(&(text + &remarks)),
        None => output::data(&text)?,
    }
    if !remarks.is_empty() {
        output::note(remarks.trim_end());
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), CommandFailure> {
    write_whole(path, text.as_bytes()).map_err(|error| unwritable(path, &error))
}

#[cfg(test)]
mod tests {
    use super::{equivalent::LoadArguments, *};

    fn wanted(tool: Tool, line: &str) -> Result<String, String> {
        let typed = format!("{} {line}", tool.name());
        let typed = typed.split_whitespace().map(OsString::from);
        let usage = |error: clap::Error| error.to_string();
        let refused = |error: CommandFailure| error.to_string();
        let wanted = match tool {
            Tool::Ab => ab::Options::try_parse_from(typed)
                .map_err(usage)
                .and_then(|options| ab::equivalent_load(options).map_err(refused)),
            Tool::Wrk => wrk::Options::try_parse_from(typed)
                .map_err(usage)
                .and_then(|options| wrk::equivalent_load(options).map_err(refused)),
            Tool::Hey => hey::Options::try_parse_from(hey::long(typed.collect()))
                .map_err(usage)
                .and_then(|options| hey::equivalent_load(options).map_err(refused)),
            Tool::Oha => oha::Options::try_parse_from(typed)
                .map_err(usage)
                .and_then(|options| oha::equivalent_load(options).map_err(refused)),
        };
        let wanted = wanted?;
        // What `deadheat load` does not take is a mistake here.
        let typed = ["load"]
            .into_iter()
            .chain(wanted.load.iter().map(String::as_str));
        LoadArguments::try_parse_from(typed).map_err(usage)?;
        Ok(wanted.load.join(" "))
    }

    #[test]
    fn options_are_those_of_load() {
        let cases = [
            (
                Tool::Ab,
                "-n 100 -c10 h/",
                "http://h/ --requests 100 --connections 10 --first-byte -H User-Agent: ApacheBench/2.3 -H Accept: */* \
                 --timeout 30000ms --http1.0 --no-keepalive",
            ),
            (
                Tool::Ab,
                "-kn 5 -t 3 -H X:1 -C a=b -A u:p -m PUT -s 2 https://h/x",
                "https://h/x --requests 5 --connections 1 --first-byte -H User-Agent: ApacheBench/2.3 -H Accept: */* \
                 -H X:1 -H Cookie: a=b --user u:p -X PUT --timeout 2000ms --http1.0 --insecure",
            ),
            // Its own headers are left out if these are given.
            (
                Tool::Ab,
                "-H accept:a/b -H User-Agent:x http://h/",
                "--first-byte -H accept:a/b -H User-Agent:x --timeout",
            ),
            (Tool::Ab, "-i http://h/", "-X HEAD"),
            (
                Tool::Wrk,
                "-t1 -c 1k -d2m --timeout 3 -H X:1 http://h/",
                "http://h/ --connections 1000 --duration 120000ms --timeout 3600000ms --grace 0s -H X:1",
            ),
            (
                Tool::Hey,
                "-n 205 -c 50 -disable-keepalive -m POST -d x -host a http://h/",
                "http://h/ --connections 50 --requests 200 --first-byte -X POST --body x -H Content-Type: text/html -H \
                 User-Agent: hey/0.0.1 -H Accept-Encoding: gzip -H Host: a --timeout 20000ms --no-keepalive",
            ),
            // A body does not change the method.
            (Tool::Hey, "-d x http://h/", "-X GET --body x"),
            (Tool::Hey, "-m post http://h/", "-X POST -H"),
            // The last value of a header counts, and -A and -U come after -H.
            (
                Tool::Hey,
                "-A a/b -H accept:c/d -H X:1 -H x:2 -U me http://h/",
                "-H Content-Type: text/html -H x: 2 -H Accept: a/b -H User-Agent: me hey/0.0.1 -H Accept-Encoding",
            ),
            (
                Tool::Hey,
                "-H user-agent:me -H accept-encoding:br http://h/",
                "-H accept-encoding: br -H User-Agent: me hey/0.0.1 --timeout",
            ),
            (
                Tool::Hey,
                "-z 1m30s -q 10 -c=5 -disable-compression http://h/",
                "http://h/ --connections 5 --duration 90000ms --rate 50/s --first-byte",
            ),
            (
                Tool::Oha,
                "-n 10k -c 20 --no-tui -q 100 --latency-correction http://h/",
                "http://h/ --connections 20 --requests 10000 --rate 100/s --first-byte",
            ),
            (
                Tool::Wrk,
                "-t1 -c 1 -L -T 5s http://h/",
                "--connections 1 --duration 10000ms --timeout 3600000ms --grace 0s",
            ),
            (
                Tool::Wrk,
                "-t4 -c 8 http://h/",
                "--connections 8 --duration 10000ms --timeout 3600000ms --grace 0s --threads 4",
            ),
            // Each of wrk's threads has as many connections as any other.
            (
                Tool::Wrk,
                "-t4 -c 11 http://h/",
                "--connections 8 --duration 10000ms --timeout 3600000ms --grace 0s --threads 4",
            ),
            (
                Tool::Wrk,
                "-t3 -c 100 http://h/",
                "--connections 99 --duration 10000ms --timeout 3600000ms --grace 0s --threads 3",
            ),
            (Tool::Ab, "-X p:1 http://h/", "--proxy http://p:1"),
            (Tool::Hey, "http://h/", "--follow-redirects=10"),
            (
                Tool::Hey,
                "-x http://p:1 https://h/",
                "--proxy http://p:1 --follow-redirects=10",
            ),
            (
                Tool::Oha,
                "-r 3 -F a=b -x socks5://p:1 http://h/",
                "-X POST --form a=b --proxy socks5://p:1 --follow-redirects=3",
            ),
            (Tool::Oha, "http://h/", "--follow-redirects=10"),
            (
                Tool::Oha,
                "-r 0 -x p:1 http://h/",
                "--proxy http://p:1 -H Accept: */* -H Accept-Encoding: gzip, compress, deflate, br -H User-Agent: oha/1.16.0",
            ),
            (
                Tool::Oha,
                "-z 5s --disable-keepalive --http-version 1.0 --insecure https://h/",
                "--duration 5000ms",
            ),
        ];
        for (tool, line, expected) in cases {
            let load = wanted(tool, line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert!(load.contains(expected), "{} {line}: {load}", tool.name());
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        let cases = [
            (Tool::Ab, "-g x http://h/", "-g"),
            (Tool::Ab, "-X p:1 -P u:p http://h/", "-P"),
            (Tool::Ab, "-c 5 -n 2 http://h/", "-c"),
            (Tool::Ab, "-n 2", "URL"),
            (Tool::Ab, "--no-such http://h/", "--no-such"),
            (Tool::Ab, "-i -p x http://h/", "'-i'"),
            (Tool::Ab, "-i -u x http://h/", "'-i'"),
            (Tool::Wrk, "-s x.lua http://h/", "-s"),
            (Tool::Wrk, "-t 5000 http://h/", "-t"),
            (Tool::Hey, "-o csv http://h/", "-o"),
            (Tool::Hey, "-h2 http://h/", "`deadheat load --http2`"),
            (Tool::Hey, "-n 2 -c 5 http://h/", "-n"),
            (Tool::Oha, "--http2 http://h/", "`deadheat load --http2`"),
            (Tool::Oha, "-Z x http://h/", "-Z"),
            (Tool::Oha, "-r 3 -x p:1 http://h/", "add -r 0"),
            (Tool::Oha, "-x p:1 http://h/", "add -r 0"),
            (Tool::Oha, "-F a=b -T text/plain http://h/", "-F and -T"),
            (Tool::Hey, "-x p:1 http://h/", "-disable-redirects"),
            (Tool::Hey, "-H x http://h/", "write a header"),
            (Tool::Oha, "--urls-from-file http://h/", "--urls-from-file"),
        ];
        for (tool, line, named) in cases {
            let error = wanted(tool, line).unwrap_err();
            assert!(error.contains(named), "{} {line}: {error}", tool.name());
        }
    }

    #[test]
    fn all_words_after_the_tool_are_its_options() {
        let asked = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            asked(words.into_iter())
        };
        let (tool, options) = asked("as hey -q 10 http://h/").unwrap();
        assert_eq!(tool, Tool::Hey);
        assert_eq!(options, ["-q", "10", "http://h/"]);
        assert!(asked("as").is_none() && asked("as k6 x").is_none());
        assert!(asked("load http://h/").is_none());
    }

    #[test]
    fn a_tool_is_known_by_the_name_of_the_program() {
        assert_eq!(called(OsStr::new("/usr/local/bin/ab")), Some(Tool::Ab));
        assert_eq!(called(OsStr::new("oha")), Some(Tool::Oha));
        assert_eq!(called(OsStr::new("/opt/deadheat")), None);
    }
}
