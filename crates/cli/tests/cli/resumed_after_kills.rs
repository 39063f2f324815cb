//! SIGKILL at fifty random moments of sessions that go on after each of them: nothing is left behind, nothing that was
//! told of is lost, complete heats are kept, and in the end every planned heat is there once.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use deadheat_model::{
    heat::Role,
    heats::{EndReason, JournalEntry, MeasuredHeat},
};
use deadheat_runner::session::{HEADER_FILE, heats::HEATS_FILE};
use rustix::process::Signal;

use crate::support::{Ended, Fake, PATIENCE, Recorded, Root, Running};

/// The supervisors' part after a kill: a second's grace, what was left behind, and a busy machine.
const BOUND: Duration = Duration::from_secs(20);
const KILLS: usize = 50;
/// Sessions that are killed at the same time; most of it is waiting.
const AT_ONCE: usize = 5;
/// The same in every run; a failure tells the kill's number, and so its moment.
const SEED: u64 = 0x00dd_ba11;
/// Heats of one stack, beside the null server or a twin.
const HEATS: usize = 3;

/// What an end has in the journal.
const END: &[u8] = b"\"record\":\"end\"";
/// How many sessions may be over before a sign came, until the kill comes at another moment.
const MISSES: u32 = 2;
/// What is said of a server that had no time to start: the machine was too busy for it.
const TOO_BUSY: &str = "did not answer correctly on";
/// What is said of a session that began on such a machine.
const NEVER_BEGAN: &str = "no stack could be measured when it began";

/// A build that tells of itself and makes nothing.
const BUILD: &str = r#"
[build]
steps = [["sh", "-c", 'echo "build $$" >> "$DEADHEAT_TEST_EVENTS"']]
"#;

/// xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// What a kill waits for.
#[derive(Clone, Debug)]
enum Sign {
    /// Its start: the manifests are read, the sources hashed, the stack inspected.
    Start,
    /// An event of the stack (see `fake_server.py`), for so many times more.
    Event(&'static str, usize),
    /// So many lines more in the journal.
    Lines(usize),
    /// The end in the journal, after which the report is made and written.
    End,
    /// A file of the session's folder that is there, or has another content than before.
    File(&'static str),
}

/// The signs between which moments are spread: the preparation (a build, a server that is checked), heats, between heats,
/// the journal's and the header's being written, the report's.
const SIGNS: [Sign; 15] = [
    Sign::Start,
    Sign::Start,
    Sign::Event("build", 1),
    Sign::Event("answered", 1),
    Sign::File(HEATS_FILE),
    Sign::File(HEADER_FILE),
    Sign::Event("answered", 2),
    Sign::Event("loaded", 1),
    Sign::Event("sigterm", 2),
    Sign::Lines(1),
    Sign::Lines(2),
    Sign::Event("answered", 3),
    Sign::Event("started", 3),
    Sign::File("report.html"),
    Sign::End,
];

#[derive(Clone, Debug)]
struct Moment {
    sign: Sign,
    later: Duration,
}

impl Moment {
    /// Every sign in turn, so that none is left out; how much later is random.
    fn new(kill: usize) -> Self {
        let sign = SIGNS[kill % SIGNS.len()].clone();
        let mut random = Random(SEED ^ (kill as u64 + 1) << 20);
        // The first ones are like each other.
        let _ = (0..8).map(|_| random.below(2)).count();
        let later = match sign {
            Sign::Start => random.below(600_000),
            // The files are written within a few milliseconds of each other.
            Sign::File(_) => random.below(3_000),
            Sign::End => random.below(60_000),
            Sign::Event(..) | Sign::Lines(_) => random.below(150_000),
        };
        Self {
            sign,
            later: Duration::from_micros(later),
        }
    }
}

/// A session that is killed again and again.
struct Killed {
    root: Root,
    /// The heats that were told of on standard error, by their numbers from 1.
    told: BTreeSet<usize>,
}

/// A file's length and the time of its last change; `None`: it is not there.
type FileState = Option<(u64, SystemTime)>;

/// What there was when a process started.
struct Before {
    journal: Vec<u8>,
    files: BTreeMap<&'static str, FileState>,
    events: BTreeMap<&'static str, usize>,
}

impl Killed {
    fn new() -> Self {
        Self {
            root: Root::with(&[Fake::good("fake-one").with(BUILD)]),
            told: BTreeSet::new(),
        }
    }

    /// The session's folder, once there is one: the last, because those without a header are done with.
    fn folder(&self) -> Option<PathBuf> {
        self.root.sessions().pop()
    }

    fn has_header(&self) -> bool {
        self.folder()
            .is_some_and(|folder| folder.join(HEADER_FILE).exists())
    }

    fn start(&self) -> Running {
        match self.folder().filter(|_| self.has_header()) {
            Some(folder) => self
                .root
                .start(&format!("run --resume {}", folder.display())),
            None => self.root.start_run(&format!("--heats {HEATS}")),
        }
    }

    fn before(&self) -> Before {
        let folder = self.folder().filter(|_| self.has_header());
        let read = |folder: PathBuf| fs::read(folder.join(HEATS_FILE)).ok();
        let mut before = Before {
            journal: folder.and_then(read).unwrap_or_default(),
            files: BTreeMap::new(),
            events: BTreeMap::new(),
        };
        for sign in SIGNS {
            match sign {
                Sign::File(name) => {
                    before.files.insert(name, self.state_of(name));
                }
                Sign::Event(name, _) => {
                    before.events.insert(name, self.root.told(name).len());
                }
                Sign::Start | Sign::Lines(_) | Sign::End => {}
            }
        }
        before
    }

    fn state_of(&self, name: &str) -> FileState {
        let found = fs::metadata(self.folder()?.join(name)).ok()?;
        Some((found.len(), found.modified().ok()?))
    }

    /// Whether the sign has come. The journal is read only if it has changed since it was `read`.
    fn shows(&self, sign: &Sign, before: &Before, read: &mut FileState) -> bool {
        if let Sign::Lines(_) | Sign::End = sign {
            let state = self.state_of(HEATS_FILE);
            if state == *read {
                return false;
            }
            *read = state;
        }
        match sign {
            Sign::Start => true,
            Sign::Event(name, more) => self.root.told(name).len() >= before.events[name] + more,
            Sign::File(name) => {
                let state = self.state_of(name);
                state.is_some() && state != before.files[name]
            }
            Sign::Lines(more) => lines(&self.journal()) >= lines(&before.journal) + more,
            Sign::End => {
                let journal = self.journal();
                let new = journal.get(whole(&before.journal)..).unwrap_or_default();
                new.windows(END.len()).any(|bytes| bytes == END)
            }
        }
    }

    fn journal(&self) -> Vec<u8> {
        let journal = self.folder().map(|folder| folder.join(HEATS_FILE));
        journal
            .and_then(|path| fs::read(path).ok())
            .unwrap_or_default()
    }

    /// Kills it at `moment`; `false` when it ended by itself before that.
    fn kill_at(&mut self, moment: &Moment, when: &str) -> bool {
        let before = self.before();
        let mut running = self.start();
        let until = Instant::now() + PATIENCE;
        let mut read = None;
        while !self.shows(&moment.sign, &before, &mut read) {
            if running.has_ended() {
                return self.ended_before(running.wait(), moment, when);
            }
            assert!(Instant::now() < until, "{when}: the sign never came");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(moment.later);
        if running.has_ended() {
            return self.ended_before(running.wait(), moment, when);
        }
        running.signal(Signal::KILL);
        let ended = running.wait_alone();
        // It may have ended in that very moment.
        let killed = ended.status_code().is_none();
        self.note_told(&ended.stderr);
        self.root.assert_nothing_runs(BOUND, when);
        self.check(&before, when);
        killed
    }

    /// It ended before it was killed: by itself, or it could not go on for now, and is started again.
    fn ended_before(&mut self, ended: Ended, moment: &Moment, when: &str) -> bool {
        if ended.status_code() == Some(2) {
            if ended.stderr.contains(NEVER_BEGAN) {
                *self = Self::new();
            } else {
                assert!(ended.stderr.contains(TOO_BUSY), "{when}: {ended}");
            }
            return self.kill_at(moment, when);
        }
        self.note_end(ended, when);
        false
    }

    /// It ended by itself: in order, but where a heat of so short slices found the machine so busy with other things that
    /// a server failed, or had no answer in time.
    fn note_end(&mut self, ended: Ended, when: &str) {
        self.note_told(&ended.stderr);
        if ended.status_code() == Some(0) {
            return;
        }
        let session = Recorded::read(&self.folder().expect("a session"));
        let heats = &session.record.heats;
        let never_began = heats.is_empty() && ended.stderr.contains(TOO_BUSY);
        let is_busy = never_began || heats.iter().any(lacks_something);
        assert!(is_busy, "{when}: {ended}");
    }

    fn note_told(&mut self, stderr: &str) {
        for heat in stderr.lines().filter_map(told_of) {
            assert!(self.told.insert(heat), "heat {heat} was told of twice");
        }
    }

    /// What must hold after a kill.
    fn check(&self, before: &Before, when: &str) {
        let Some(folder) = self.folder().filter(|_| self.has_header()) else {
            assert_eq!(self.told.len(), 0, "{when}: heats without a header");
            self.assert_is_no_session(when);
            return;
        };
        let journal = fs::read(folder.join(HEATS_FILE)).expect("a header has a journal");
        let kept = &before.journal[..whole(&before.journal)];
        assert!(
            journal.starts_with(kept),
            "{when}: what stood in the journal is there no more"
        );
        let session = Recorded::read(&folder);
        let heats = &session.record.heats;
        for heat in &self.told {
            assert!(
                *heat <= heats.len(),
                "{when}: heat {heat} was told of and is lost"
            );
        }
        // Each server that answered is that of the check, of a heat that is recorded, or of the one in flight: a stack and
        // its twin.
        let answered = self.root.told("answered").len() - before.events["answered"];
        let new = &heats[heats_in(kept)..];
        let members = new.iter().flat_map(|one| &one.heat.members);
        let servers = members.filter(|one| one.role != Role::Ceiling).count();
        assert!(
            answered <= 1 + servers + 2,
            "{when}: {answered} servers answered, and only {servers} were recorded"
        );
    }

    fn assert_is_no_session(&self, when: &str) {
        let Some(folder) = self.folder() else {
            return;
        };
        let ended = self
            .root
            .deadheat(&format!("run --resume {}", folder.display()));
        let told = ended.exits(2).stderr;
        assert!(
            told.contains("has no session.json"),
            "{when}, without a header: {told}"
        );
    }

    /// Goes on to the end.
    fn finish(&mut self) -> Recorded {
        let ended = self.start().wait();
        if ended.status_code() == Some(2) && ended.stderr.contains(TOO_BUSY) {
            return self.finish();
        }
        self.note_end(ended, "the end");
        Recorded::read(&self.folder().expect("a session"))
    }
}

/// Which heat a line of progress is about: "heat 3 · plaintext: 3 rounds in 1.1 s; so far …".
fn told_of(line: &str) -> Option<usize> {
    let (number, _) = line.strip_prefix("heat ")?.split_once(" · ")?;
    number.parse().ok()
}

/// Whether a member of a heat failed, or had no answer.
fn lacks_something(one: &MeasuredHeat) -> bool {
    let heat = &one.heat;
    (0_u32..).zip(&heat.members).any(|(place, member)| {
        let slices = heat.rounds.iter().flatten();
        let mut own = slices.filter(|slice| slice.member == place);
        member.failure.is_some() || own.all(|slice| slice.tally.succeeded == 0)
    })
}

fn lines(journal: &[u8]) -> usize {
    journal.iter().filter(|byte| **byte == b'\n').count()
}

/// Bytes of whole lines.
fn whole(journal: &[u8]) -> usize {
    let end = journal.iter().rposition(|byte| *byte == b'\n');
    end.map_or(0, |end| end + 1)
}

fn heats_in(journal: &[u8]) -> usize {
    let entries = journal.split(|byte| *byte == b'\n');
    let is_heat = |line: &&[u8]| matches!(serde_json::from_slice(line), Ok(JournalEntry::Heat(_)));
    entries.filter(is_heat).count()
}

/// A heat as it was dealt: its number, and who took part.
type Dealt = (u32, Vec<(String, Role)>);

fn dealt(session: &Recorded) -> Vec<Dealt> {
    let heats = session.record.heats.iter().map(|one| &one.heat);
    heats
        .map(|heat| {
            let members = heat.members.iter();
            let members = members.map(|one| (one.target.to_string(), one.role));
            (heat.heat, members.collect())
        })
        .collect()
}

fn assert_whole(session: &Recorded, undisturbed: &[Dealt], starts: usize, what: &str) {
    let record = &session.record;
    assert_eq!(record.end, Some(EndReason::Finished), "{what}");
    assert_eq!(record.complete_heats(0).count(), HEATS, "{what}");
    assert_eq!(
        dealt(session),
        undisturbed,
        "{what}: the same heats in the same order, each once"
    );
    let times = record.resumed.len();
    assert!(
        times < starts.max(1),
        "{what}: resumed {times} times in {starts} starts"
    );
}

/// The `own`th part of all kills.
fn kill_again_and_again(own: usize, undisturbed: &[Dealt]) {
    let mut session = Killed::new();
    let mut starts = 0;
    for kill in (own..KILLS).step_by(AT_ONCE) {
        let moment = Moment::new(kill);
        let when = format!("kill {kill} of seed {SEED:#x}, {moment:?}");
        let mut missed = 0;
        loop {
            // The beginning of a new session cannot be missed.
            let moment = if missed < MISSES {
                moment.clone()
            } else {
                Moment {
                    sign: Sign::Start,
                    ..moment
                }
            };
            starts += 1;
            if session.kill_at(&moment, &when) {
                break;
            }
            // It is whole, and another one begins.
            let ended = Recorded::read(&session.folder().expect("a session"));
            assert_whole(&ended, undisturbed, starts, &when);
            (session, starts, missed) = (Killed::new(), 0, missed + 1);
        }
    }
    let recorded = session.finish();
    starts += 1;
    let what = format!("the end after kill {own}, {}, …", own + AT_ONCE);
    assert_whole(&recorded, undisturbed, starts, &what);
    let root = &session.root;
    let times = recorded.record.resumed.len();
    if times > 0 {
        recorded.assert_shown(root, &["The session was resumed"]);
    }
    assert_no_remains(&recorded.folder);
}

/// A session that has ended leaves no file of its own making but those that formats.md names.
fn assert_no_remains(folder: &Path) {
    let entries = fs::read_dir(folder).expect("listing a session's folder");
    let names: BTreeSet<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let known = [
        "logs",
        "report.csv",
        "report.html",
        "report.json",
        "report.md",
        HEADER_FILE,
        HEATS_FILE,
    ];
    assert_eq!(
        names,
        known.map(str::to_owned).into(),
        "{}",
        folder.display()
    );
}

#[test]
fn fifty_times() {
    let root = Root::with(&[Fake::good("fake-one").with(BUILD)]);
    root.run(&format!("--heats {HEATS}"));
    let undisturbed = dealt(&root.session());
    assert_eq!(undisturbed.len(), HEATS, "{undisturbed:?}");
    thread::scope(|scope| {
        let undisturbed = &undisturbed;
        for own in 0..AT_ONCE {
            scope.spawn(move || kill_again_and_again(own, undisturbed));
        }
    });
}
