//! After the warm-up the worker threads allocate nothing.
//!
//! The allocator counts for the whole process and tells threads apart by their names, so that the load runs in a
//! process of its own: this test binary again, with one test.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    env,
    process::Command,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use deadheat_load::{LoadEvent, Session, Slice};
use deadheat_model::{
    LoadSpec, Observation, Schedule, SliceEvent, StopRule, Wait,
    load::{Body, Content, Protocol, RequestSpec, Stream, StreamEvent, Think},
};
use deadheat_testkit::{
    Action, OracleServer, Turn,
    answers::{chunked, send, send_cut, sized},
    http2::{END_STREAM, RawHttp2, answer, frame, kind, number},
    wait_until,
};

use crate::support::{expecting, lasting, run_until};

struct Counting;

static ARMED: AtomicBool = AtomicBool::new(false);
static BY_WORKERS: AtomicU64 = AtomicU64::new(0);
/// The end of the count, in milliseconds after `START`.
static UNTIL: AtomicU64 = AtomicU64::new(u64::MAX);
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A worker that is through waits for its next order, and the channel allocates for its first wait. The thread that
/// notes the end of the measurement may be later than that on a busy machine, so the count ends by itself before.
const BEFORE_THE_END: Duration = Duration::from_millis(300);

fn note() {
    if !ARMED.load(Ordering::Relaxed) || since_start() >= UNTIL.load(Ordering::Relaxed) {
        return;
    }
    let mut name = [0u8; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes to the address given.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    if name.starts_with(b"load-") {
        BY_WORKERS.fetch_add(1, Ordering::Relaxed);
    }
}

fn since_start() -> u64 {
    START.elapsed().as_millis() as u64
}

// SAFETY: every call goes to the system's allocator unchanged; `note` itself allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note();
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ALONE: &str = "DEADHEAT_ALLOCATION_TEST";

#[test]
fn workers_allocate_nothing_while_they_measure() {
    // On a busy machine a buffer's first use may come after the warm-up. An allocation of each request always shows.
    let attempts: Vec<String> = (0..3).map_while(|_| alone().err()).collect();
    assert!(attempts.len() < 3, "{}", attempts.join("\n"));
}

/// Runs the test below in a process of its own; what it said if it failed.
fn alone() -> Result<(), String> {
    let this = env::current_exe().unwrap();
    let output = Command::new(this)
        .args([
            "--exact",
            "allocation::in_a_process_of_its_own",
            "--ignored",
        ])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() && said.contains("1 passed") {
        Ok(())
    } else {
        Err(said)
    }
}

#[test]
#[ignore = "started by the test above"]
fn in_a_process_of_its_own() {
    if env::var_os(ALONE).is_none() {
        return;
    }
    LazyLock::force(&START);
    let json = br#"[{"name":"John","username":"Doe"}]"#;
    let large = vec![b'd'; 1 << 20];
    let server = OracleServer::start({
        let large = large.clone();
        move |turn: &Turn<'_>| match turn.request.path.as_str() {
            "/json" => send(sized(200, "", json)),
            "/large" => send(sized(200, "", &large)),
            "/chunked" => send(chunked(200, json, 5)),
            // In pieces, so that the head must be carried over.
            "/cut" => send_cut(
                &sized(200, "", json),
                &[7, 30, 45],
                Duration::from_millis(1),
            ),
            // The connection ends, and another is made.
            _ => [
                send(sized(200, "Connection: close\r\n", json)),
                vec![Action::Fin],
            ]
            .concat(),
        }
    });
    let server = server.unwrap();
    let mut spec = lasting(server.address(), 6, 500, 1_500);
    spec.schedule = Schedule::Closed {
        connections: 6,
        ramp: Duration::from_millis(20),
    };
    spec.cpus = vec![0, 0];
    spec.exchanges = ["/json", "/chunked", "/cut", "/close"]
        .map(|path| expecting(RequestSpec::get(path), json))
        .to_vec();
    spec.exchanges[0].expect.content = Some(Content::Json {
        value: serde_json::json!([{"username": "Doe", "name": "John"}]),
    });
    let mut large = expecting(RequestSpec::get("/large"), &large);
    large.expect.content = Some(Content::Repeated {
        byte: b'd',
        count: 1 << 20,
    });
    spec.exchanges.push(large);

    assert!(measured(&spec).content_checked > 20);
    let mut streams = spec.clone();
    streams.stream = Some(Stream {
        event: StreamEvent::Chunks,
        enough: None,
    });
    streams.think = Some(Think::Exponential {
        mean: Duration::from_millis(2),
    });
    assert!(measured(&streams).events.unwrap().events > 20);
    slices(spec);
    http2();
}

/// The same in HTTP/2, with bodies both ways. The server ends no connection.
fn http2() {
    let server = RawHttp2::start(|peer| {
        peer.send(&frame(kind::SETTINGS, 0, 0, &[]));
        peer.send(&number(kind::WINDOW_UPDATE, 0, 1 << 30));
        while let Some(next) = peer.frame() {
            if next.flags & END_STREAM != 0 && next.kind == kind::DATA {
                peer.send(&frame(kind::PING, 0, 0, &[0; 8]));
                peer.send(&answer(next.stream, b"hello"));
            }
        }
    })
    .unwrap();
    let mut spec = lasting(server.address(), 3, 500, 1_000);
    spec.protocol = Protocol::Http2 { streams: 8 };
    spec.cpus = vec![0, 0];
    let request = RequestSpec {
        method: "POST".to_owned(),
        body: Body::Sized(vec![b'x'; 20_000].into()),
        ..RequestSpec::get("/")
    };
    spec.exchanges = vec![expecting(request, b"hello")];
    measured(&spec);
    slices(spec);
}

/// Loads, and asserts that nothing is allocated in the measurement.
fn measured(spec: &LoadSpec) -> Observation {
    ARMED.store(true, Ordering::Relaxed);
    let StopRule::Duration { length } = spec.stop else {
        panic!("a load over time: {:?}", spec.stop);
    };
    let mut in_set_up = 0;
    let mut in_measurement = 0;
    let mut on_event = |event| match event {
        LoadEvent::Started => in_set_up = BY_WORKERS.load(Ordering::Relaxed),
        LoadEvent::Slice(SliceEvent::CountingStarted) => {
            let length = (length - BEFORE_THE_END).as_millis() as u64;
            UNTIL.store(since_start() + length, Ordering::Relaxed);
            in_measurement = BY_WORKERS.load(Ordering::Relaxed)
        }
        // The workers end at the same instant, and free nothing before they have handed over what they hold.
        LoadEvent::Slice(SliceEvent::Drained) | LoadEvent::Interval(_) => {}
        LoadEvent::Slice(SliceEvent::CountingEnded) => {
            in_measurement = BY_WORKERS.load(Ordering::Relaxed) - in_measurement
        }
    };
    let seen = run_until(spec, &mut on_event, &AtomicBool::new(false)).unwrap();
    ARMED.store(false, Ordering::Relaxed);
    UNTIL.store(u64::MAX, Ordering::Relaxed);
    assert_eq!(seen.total.failed.total(), 0, "{:?}", seen.examples);
    assert!(seen.measured.succeeded > 20, "{}", seen.measured.succeeded);
    assert!(in_set_up > 0, "the count must see what there is to see");
    assert_eq!(
        in_measurement, 0,
        "allocations by the workers in the measurement"
    );
    seen
}

/// The same in slices, from the end of the guard to the drain, and what the threads use while connections are held. The
/// first slice is for what is used for the first time.
fn slices(mut spec: LoadSpec) {
    (spec.wait, spec.timeouts.drain) = (Wait::Poll, Duration::from_secs(20));
    spec.stop = StopRule::Interrupt;
    let mut session = Session::open(spec, Arc::default()).unwrap();
    for (nth, guard) in [200, 50, 50].into_iter().enumerate() {
        let slice = Slice {
            guard: Duration::from_millis(guard),
            length: Duration::from_millis(200),
        };
        let mut counts = Vec::new();
        ARMED.store(true, Ordering::Relaxed);
        let mut note = |_| counts.push(BY_WORKERS.load(Ordering::Relaxed));
        let seen = session.slice(slice, &mut note).unwrap();
        ARMED.store(false, Ordering::Relaxed);
        assert_eq!(seen.observation.total.failed.total(), 0);
        // Those that began in the counted part, also where a busy machine answered them in the drain.
        assert!(seen.observation.service_time.count() > 4);
        let [started, ended, drained] = counts[..] else {
            panic!("{counts:?}");
        };
        if nth > 0 {
            assert_eq!((ended - started, drained - ended), (0, 0));
        }
        // They are about to wait for the next order.
        wait_until("all workers sleep", || {
            of_workers("stat").iter().all(|stat| stat.contains(") S "))
        });
        let before = of_workers("schedstat");
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(before, of_workers("schedstat"), "used while held");
    }
}

/// What proc(5) has in this file of each worker's thread.
fn of_workers(file: &str) -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let workers = tasks.filter(|task| read(task.path().join("comm")).starts_with("load-"));
    workers.map(|task| read(task.path().join(file))).collect()
}
