//! How long freezing and thawing a tree takes, in µs:
//! `freezing SUPERVISOR TIMES PROGRAM ARGUMENTS…`, where SUPERVISOR is the deadheat binary, or `runner-child`, which
//! can also be told to use the groups of v1 (`runner-child:v1`) or none (`runner-child:off`). The tree is given a second
//! to come up.

use std::{
    error::Error,
    io::{self, Write},
    thread,
    time::{Duration, Instant},
};

use deadheat_runner::process::{Spawn, Supervised, Supervision};

/// How long the tree runs before it is frozen again.
const BETWEEN: Duration = Duration::from_millis(20);

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [supervisor, times, program, rest @ ..] = &args[..] else {
        return Err("freezing SUPERVISOR TIMES PROGRAM ARGUMENTS…".into());
    };
    let times: usize = times.parse()?;
    let (binary, grouping) = supervisor.split_once(':').unwrap_or((supervisor, "best"));
    let mut supervision = Supervision::by(binary);
    if grouping != "best" {
        supervision.args.push(grouping.to_owned());
    }
    let spec = Spawn {
        name: program.clone(),
        program: program.into(),
        args: rest.to_vec(),
        env: vec![
            ("HOST".to_owned(), "127.0.0.1".to_owned()),
            ("PORT".to_owned(), "20999".to_owned()),
        ],
        cwd: std::env::current_dir()?,
        cpus: Some(vec![0]),
        log: "/dev/null".into(),
        user: None,
        stop_signal: libc::SIGTERM,
        grace: Some(Duration::from_secs(5)),
        unhurried: false,
        remove_after: None,
    };
    let mut child = Supervised::spawn(&supervision, &spec)?;
    thread::sleep(Duration::from_secs(1));
    let (mut freezes, mut thaws) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let begun = Instant::now();
        child.freeze()?;
        freezes.push(begun.elapsed());
        thread::sleep(BETWEEN / 4);
        let begun = Instant::now();
        child.thaw()?;
        thaws.push(begun.elapsed());
        thread::sleep(BETWEEN);
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{:?}", child.freezing())?;
    for (name, mut all) in [("freeze", freezes), ("thaw", thaws)] {
        all.sort_unstable();
        let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize].as_micros();
        writeln!(out, "{name}: median {} µs, p99 {} µs", at(0.5), at(0.99))?;
    }
    Ok(())
}
