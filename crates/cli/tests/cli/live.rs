//! `deadheat run --live`: who asks gets the growing report between heats, and next to nothing during one.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
};

use deadheat_model::{
    heats::{EndReason, SessionHeader},
    plan::Pinning,
};
use deadheat_runner::session::heats::HEATS_FILE;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Fake, PATIENCE, Root, Running, eventually, recorded::journal_lines};

/// A client of a live page.
struct Client {
    address: String,
}

impl Client {
    /// Of a session that says where its page is.
    #[track_caller]
    fn of(running: &Running) -> Self {
        let address = eventually("the address of the live page", || {
            let told = running.told();
            let (_, rest) = told.split_once("live: http://")?;
            let (address, _) = rest.split_once('/')?;
            Some(address.to_owned())
        });
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        Self { address }
    }

    /// Sends a request and returns what comes. In HTTP/1.0, so that an answer ends with its connection.
    fn ask(&self, path: &str, host: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).expect("connecting to the live page");
        let patience = stream.set_read_timeout(Some(PATIENCE));
        patience.expect("setting a timeout");
        let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n");
        let sent = stream.write_all(request.as_bytes());
        sent.expect("asking");
        BufReader::new(stream)
    }

    fn get(&self, path: &str) -> String {
        let mut answer = String::new();
        let read = self.ask(path, &self.address).read_to_string(&mut answer);
        read.expect("reading an answer");
        answer
    }

    /// Follows the session, with a version on its screen as a browser has, or as somebody who only listens.
    fn follow(&self, seen: Option<u64>) -> Followed {
        let seen = seen.map_or(String::new(), |seen| format!("?seen={seen}"));
        Followed(self.ask(&format!("/events{seen}"), &self.address))
    }
}

/// The events of a session, until its server ends.
struct Followed(BufReader<TcpStream>);

impl Iterator for Followed {
    type Item = (String, Value);

    fn next(&mut self) -> Option<Self::Item> {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("reading events") == 0 {
                return None;
            }
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.trim_end().to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                let data = serde_json::from_str(data).expect("data of an event");
                return Some((name, data));
            }
        }
    }
}

/// What is in a page, below the bar.
#[track_caller]
fn main_of(page: &str) -> String {
    let found = page.find("<main").zip(page.rfind("</main>"));
    let (begin, end) = found.unwrap_or_else(|| panic!("no main part in {page}"));
    let main = &page[begin..end];
    // What a page that is served lacks: the data, and its weight.
    let main = match main.split_once("<section id=\"data\">") {
        None => main.to_owned(),
        Some((before, rest)) => {
            let (_, after) = rest.split_once("</section>\n").expect("an end of the data");
            before.to_owned() + after
        }
    };
    let lines = main
        .lines()
        .filter(|line| !line.starts_with("<p>This page weighs"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The version of a page; 0: of a notice.
#[track_caller]
fn version_of(page: &str) -> u64 {
    let (_, rest) = page.split_once("data-version=\"").expect("a version");
    rest.split('"').next().unwrap().parse().expect("a number")
}

/// The page of a session of which only the first heats are recorded, as its folder would give it.
fn page_after(root: &Root, folder: &Path, heats: usize) -> String {
    let part = root.path().join(format!("results/after-{heats}"));
    fs::create_dir_all(&part).expect("making a folder");
    fs::copy(folder.join("session.json"), part.join("session.json")).expect("copying the header");
    let all = fs::read_to_string(folder.join(HEATS_FILE)).expect("reading the heats");
    let first: String = all.split_inclusive('\n').take(heats).collect();
    fs::write(part.join(HEATS_FILE), first).expect("writing the first heats");
    let ended = root.deadheat(&format!("report {} --format html", part.display()));
    fs::remove_dir_all(&part).expect("removing the folder");
    ended.exits(0).stdout
}

/// Without what tells a session that runs from one that was killed: its state, and a warning, which is counted and moves
/// the others to another list. The warnings come last.
fn without_state(main: &str) -> String {
    let tells = |line: &&str| {
        let trust = line.strip_prefix("<p class=\"trust\">");
        line.contains("State of the session: ")
            || line.contains("<dt>State</dt>")
            || line.contains("The session was killed")
            || line.contains("more-warnings\"")
            || line.is_empty()
            // "2 heats, 7 warnings"
            || trust.is_some_and(|line| line.starts_with(|first: char| first.is_ascii_digit()))
    };
    let (mut others, mut warnings, mut is_warning) = (Vec::new(), Vec::new(), false);
    for line in main.lines().filter(|line| !tells(line)) {
        if line.starts_with("<ol class=\"warnings\"") {
            is_warning = true;
        } else if is_warning && line == "</ol>" {
            is_warning = false;
        } else if is_warning {
            warnings.push(line);
        } else {
            others.push(line);
        }
    }
    [others, warnings].concat().join("\n")
}

#[test]
fn the_page_grows_with_each_heat_and_is_the_report_of_the_heats_so_far() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let running = root.start_run("--live --heats 3");
    let client = Client::of(&running);
    let mut pages = Vec::new();
    let mut seen = 0;
    // As a browser does: it is told, fetches the page, and follows again with what it has got.
    loop {
        let told = client
            .follow(Some(seen))
            .find(|(name, _)| name == "refresh");
        assert!(told.is_some(), "the server ended before the last page");
        let page = client.get("/");
        // A notice stands for a page that came too late to be drawn before the next heat.
        if version_of(&page) > seen {
            seen = version_of(&page);
            pages.push(page.clone());
        }
        if page.contains("data-is=\"ended\"") {
            client.follow(Some(seen)).for_each(drop);
            break;
        }
    }
    running.wait().exits(0).tells(&["live: http://127.0.0.1:"]);
    assert!(
        TcpStream::connect(&client.address).is_err(),
        "its server is gone"
    );
    let session = root.session();
    assert!(session.record.header.live);
    let heats = session.record.heats.len();
    assert_eq!(heats, 3);
    let mut counts = Vec::new();
    for page in &pages {
        let (_, rest) = page.split_once("<progress value=\"").expect("a progress");
        let count: usize = rest.split('"').next().unwrap().parse().expect("a count");
        counts.push(count);
        if count < heats {
            let file = page_after(&root, &session.folder, count);
            let alike = [main_of(page), main_of(&file)].map(|main| without_state(&main));
            // The id of the copy is that of the session; only its folder has another name.
            assert_eq!(alike[0], alike[1], "after {count} heats");
            assert!(page.contains("still being measured") && file.contains("killed"));
        }
    }
    assert!(counts.is_sorted() && counts.len() > 1, "{counts:?}");
    assert_eq!(counts.last(), Some(&heats));
    let last = pages.last().expect("a page");
    let file = fs::read_to_string(session.folder.join("report.html")).expect("reading the report");
    assert_eq!(main_of(last), main_of(&file));
    assert!(last.contains("finished: all heats were measured, after 3 heats"));
    assert!(!file.contains("EventSource"), "the file follows nothing");
}

#[test]
fn a_listener_is_told_once_of_each_heat_and_of_the_end() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let running = root.start_run("--live=0 --heats 3");
    let client = Client::of(&running);
    let told: Vec<(String, Value)> = client.follow(None).collect();
    running.wait().exits(0);
    let status = |event: &Value| event["status"].as_str().unwrap_or_default().to_owned();
    let of_heats: Vec<u64> = told
        .iter()
        .filter(|(_, event)| status(event).starts_with("running: heat "))
        .map(|(_, event)| event["heats"].as_u64().expect("a count"))
        .collect();
    assert_eq!(of_heats, [0, 1, 2], "{told:?}");
    let (name, last) = told.last().expect("an event");
    assert_eq!(name, "refresh");
    assert!(status(last).starts_with("finished"), "{last}");
}

#[test]
fn during_a_heat_there_is_a_notice_and_nothing_else() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let running = root.start_run("--live --heat-time 10m");
    let client = Client::of(&running);
    root.wait_for("loaded", 1);
    let page = client.get("/");
    assert!(page.starts_with("HTTP/1.0 200"), "{page}");
    assert!(
        page.contains("running: heat 1 of at most 2, 1 stack"),
        "{page}"
    );
    assert!(page.contains("A measurement is running"), "{page}");
    assert!(page.len() < 16 << 10 && !page.contains("<main class=\"page\""));
    // Where the server's thread runs, it takes nothing from the stack that is measured.
    let record = root.session_folder();
    let header = fs::read_to_string(record.join("session.json")).expect("reading the header");
    let header: SessionHeader = serde_json::from_str(&header).expect("a header");
    if let Pinning::Apart { generator, .. } = &header.plan.pinning {
        assert_eq!(running.cpus_of_thread("live"), *generator);
    }
    for (host, expected) in [
        ("localhost:1", "HTTP/1.0 200"),
        ("rebound.example", "HTTP/1.0 421"),
        ("192.0.2.1", "HTTP/1.0 421"),
    ] {
        let mut answer = String::new();
        let read = client.ask("/", host).read_to_string(&mut answer);
        read.expect("reading an answer");
        assert!(answer.starts_with(expected), "{host}: {answer}");
    }
    for path in ["/session.json", "/report.json", "/plotly.js"] {
        let nothing = client.get(path);
        assert!(nothing.starts_with("HTTP/1.0 404"), "{path}: {nothing}");
    }
    running.signal(Signal::INT);
    running.wait().exits(3).says(&["interrupted"]);
}

#[test]
fn an_interrupt_is_the_last_thing_that_is_told() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let running = root.start_run("--live --heats 500");
    let client = Client::of(&running);
    let mut events = client.follow(None);
    let mut heats = events.by_ref().filter(|(_, event)| event["heats"] == 1);
    heats.next().expect("a second heat");
    running.signal(Signal::INT);
    let (name, last) = events.last().expect("an end");
    let ended = running.wait().exits(0).says(&["interrupted"]);
    assert_eq!(name, "refresh", "{ended}");
    let status = last["status"].as_str().unwrap_or_default();
    assert!(status.starts_with("interrupted, after "), "{status}");
    assert_eq!(root.session().record.end, Some(EndReason::Interrupted));
    assert!(TcpStream::connect(&client.address).is_err());
}

#[test]
fn a_session_that_goes_on_is_live_only_if_it_is_asked_again() {
    let root = Root::with(&[Fake::good("fake-one")]);
    // Of so many short heats, one has figures also on a busy machine.
    const FIGURES: usize = 3;
    let interrupted_after = |lines: usize, running: Running| {
        eventually("more in the journal", || {
            let folder = root.sessions().pop()?;
            (journal_lines(&folder) >= lines).then_some(())
        });
        running.signal(Signal::INT);
        running.wait().exits(0)
    };
    let ended = interrupted_after(FIGURES, root.start_run("--live --heats 9"));
    ended.tells(&["live: http://127.0.0.1:"]);
    let folder = root.session_folder();
    let resume = format!("run --resume {}", folder.display());
    // A line that says that it goes on, and a heat.
    let lines = journal_lines(&folder) + 2;
    let ended = interrupted_after(lines, root.start(&resume));
    assert!(!ended.stderr.contains("live: http"), "{ended}");
    let record = root.session().record;
    let complete = record.heats.iter().filter(|one| one.is_complete()).count();
    let running = root.start(&format!("{resume} --live"));
    let client = Client::of(&running);
    let told: Vec<Value> = client.follow(None).map(|(_, event)| event).collect();
    running.wait().exits(0);
    let is_told = |words: &str| {
        let mut words_told = told.iter().filter_map(|event| event["status"].as_str());
        words_told.any(|status| status.contains(words))
    };
    let next = format!("running: heat {} of at most 9", complete + 1);
    assert!(is_told(&next), "{next}: {told:?}");
    assert!(!is_told("running: heat 1 of"), "{told:?}");
    assert!(is_told("finished: all heats were measured"), "{told:?}");
    let session = root.session();
    let resumed = session.record.resumed.iter().map(|one| one.live);
    assert!(session.record.header.live && resumed.eq([false, true]));
    session.assert_shown(&root, &["served during the session"]);
}

#[test]
fn a_port_that_is_taken_is_told_before_anything_begins() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("taking a port");
    let port = taken.local_addr().expect("an address").port();
    root.run(&format!("--live={port}"))
        .exits(2)
        .has_no_data()
        .tells(&[
            &format!("serving the live page on 127.0.0.1:{port}: Address already in use"),
            "choose another port with --live=PORT, or --live alone for one that is free",
        ]);
    assert!(root.sessions().is_empty() && root.told("started").is_empty());
    // Nothing is served that does not run.
    let ended = root.run(&format!("--live={port} --dry-run")).exits(0);
    assert!(!ended.stderr.contains("live: http"), "{ended}");
}
