//! What the session's thread and the server's share: the pages as last drawn, and who watches them.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use hyper::body::{Body, Bytes, Frame};
use tokio::sync::{mpsc, watch};

/// More watchers than these are turned away.
const MOST_WATCHERS: usize = 8;
/// So many requests are answered during one heat; what comes after them waits for its end.
const MOST_ANSWERS: u32 = 20;
/// How soon a wait notices that there is a hurry.
const GLANCE: Duration = Duration::from_millis(50);

/// What both threads share.
pub(super) struct Hub {
    state: Mutex<State>,
    /// Told of each watcher that comes or goes.
    changed: Condvar,
    quiet: watch::Sender<bool>,
}

struct State {
    /// The report as last drawn.
    page: Option<Bytes>,
    /// What is shown instead while there is none, and while a heat runs.
    notice: Bytes,
    version: u64,
    watchers: BTreeMap<u64, Watcher>,
    next: u64,
    answers: u32,
    /// Browsers that were told, have left for the page, and are not back; only after a wait that a hurry ended.
    away: usize,
}

struct Watcher {
    events: mpsc::UnboundedSender<Bytes>,
    /// The version on its screen; `None`: it is not waited for.
    seen: Option<u64>,
}

impl Hub {
    /// Without a page, and nobody who watches.
    pub(super) fn new(notice: String) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                page: None,
                notice: notice.into(),
                version: 0,
                watchers: BTreeMap::new(),
                next: 0,
                answers: 0,
                away: 0,
            }),
            changed: Condvar::new(),
            quiet: watch::Sender::new(false),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // The session's side.

    /// Whether somebody looks.
    pub(super) fn is_watched(&self) -> bool {
        !self.state().watchers.is_empty()
    }

    /// The version of the page as last drawn; 0: of none.
    pub(super) fn version(&self) -> u64 {
        self.state().version
    }

    /// Shows a new page, and tells everybody who watches with `event`. Returns how many will come for it.
    pub(super) fn publish(&self, page: String, event: &str) -> usize {
        let mut state = self.state();
        // Now: a browser that was told leaves, and comes back.
        let watchers = state.watchers.values();
        let present = watchers.filter(|one| one.seen.is_some()).count();
        let expected = present + std::mem::take(&mut state.away);
        state.page = Some(page.into());
        state.version += 1;
        // Before anybody is told, and comes for it.
        self.quiet.send_replace(false);
        state.tell("refresh", event);
        expected
    }

    /// Tells everybody who watches something that needs no new page.
    pub(super) fn tell(&self, event: &str) {
        self.state().tell("status", event);
    }

    /// Shows another notice where there is no page.
    pub(super) fn stand_in(&self, notice: String) {
        self.state().notice = notice.into();
    }

    /// Waits until so many have drawn the last version, `longest` at most, and not once `hurries`. Who takes longer is
    /// not waited for again.
    pub(super) fn wait_until_drawn(
        &self,
        expected: usize,
        longest: Duration,
        hurries: impl Fn() -> bool,
    ) {
        let until = Instant::now() + longest;
        let mut state = self.state();
        let version = state.version;
        let count = |state: &State, is: &dyn Fn(u64) -> bool| {
            let seen = state.watchers.values().filter_map(|one| one.seen);
            seen.filter(|seen| is(*seen)).count()
        };
        loop {
            let drawn = count(&state, &|seen| seen == version);
            if drawn >= expected {
                return;
            }
            if hurries() {
                let told = count(&state, &|seen| seen != version);
                state.away = expected.saturating_sub(drawn + told);
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(state, left.min(GLANCE));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        for watcher in state.watchers.values_mut() {
            watcher.seen = watcher.seen.filter(|seen| *seen == version);
        }
    }

    /// Ends all events, after those that were told: their answers end, too.
    pub(super) fn close(&self) {
        self.state().watchers.clear();
    }

    /// From now on until the next [`Hub::publish`] nothing but the notice and events is sent.
    pub(super) fn be_quiet(&self) {
        self.state().answers = 0;
        self.quiet.send_replace(true);
    }

    // The server's side.

    /// What is to be read now.
    pub(super) fn front(&self) -> Bytes {
        let quiet = self.is_quiet();
        let state = self.state();
        match &state.page {
            Some(page) if !quiet => page.clone(),
            _ => state.notice.clone(),
        }
    }

    /// Whether a heat runs.
    pub(super) fn is_quiet(&self) -> bool {
        *self.quiet.borrow()
    }

    /// Waits until no heat runs.
    pub(super) async fn gap(&self) {
        // The sender lives as long as this does.
        let _ = self.quiet.subscribe().wait_for(|quiet| !quiet).await;
    }

    /// Waits while this heat has had its share of answers, and takes one of them.
    pub(super) async fn admit(&self) {
        while !self.takes_answer() {
            self.gap().await;
        }
    }

    fn takes_answer(&self) -> bool {
        let quiet = self.is_quiet();
        let mut state = self.state();
        let has_one = !quiet || state.answers < MOST_ANSWERS;
        state.answers += u32::from(has_one);
        has_one
    }

    /// A watcher with this version on its screen; `None` where there are too many.
    pub(super) fn watch(self: &Arc<Self>, seen: Option<u64>) -> Option<Events> {
        let quiet = self.is_quiet();
        let mut state = self.state();
        if state.watchers.len() >= MOST_WATCHERS {
            return None;
        }
        let (events, receiver) = mpsc::unbounded_channel();
        // It missed the telling, and can be shown the page at once.
        if !quiet && seen.is_some_and(|seen| seen < state.version) {
            let _ = events.send(framed("refresh", "{}"));
        }
        state.away = state.away.saturating_sub(usize::from(seen.is_some()));
        let id = state.next;
        state.next += 1;
        state.watchers.insert(id, Watcher { events, seen });
        self.changed.notify_all();
        Some(Events {
            id,
            receiver,
            hub: Arc::clone(self),
        })
    }
}

impl State {
    fn tell(&mut self, name: &str, data: &str) {
        let event = framed(name, data);
        self.watchers
            .retain(|_, watcher| watcher.events.send(event.clone()).is_ok());
    }
}

/// An event as it is sent (WHATWG HTML, § 9.2: server-sent events).
fn framed(name: &str, data: &str) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// A watcher's events, as the body of an answer that does not end by itself.
pub(super) struct Events {
    id: u64,
    receiver: mpsc::UnboundedReceiver<Bytes>,
    hub: Arc<Hub>,
}

impl Body for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let event = self.receiver.poll_recv(context);
        event.map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.hub.state().watchers.remove(&self.id);
        self.hub.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, thread};

    use super::*;

    const NEVER: Duration = Duration::from_secs(600);
    const PATIENT: fn() -> bool = || false;

    fn hub() -> Arc<Hub> {
        Hub::new("notice".to_owned())
    }

    /// The events that have come by now.
    fn told(events: &mut Events) -> Vec<String> {
        let text = |event: Bytes| String::from_utf8(event.to_vec()).unwrap();
        std::iter::from_fn(|| events.receiver.try_recv().ok().map(text)).collect()
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(future)
    }

    /// Whether a future is ready at once.
    fn is_ready(future: impl Future<Output = ()>) -> bool {
        run(async {
            tokio::select! {
                biased;
                () = future => true,
                () = std::future::ready(()) => false,
            }
        })
    }

    #[test]
    fn the_report_is_read_between_loads_and_a_notice_during_one() {
        let hub = hub();
        assert_eq!(hub.front(), "notice", "there is no report yet");
        hub.publish("report".to_owned(), "{}");
        assert_eq!(hub.front(), "report");
        assert!(is_ready(hub.gap()));
        hub.stand_in("quiet".to_owned());
        hub.be_quiet();
        assert_eq!(hub.front(), "quiet");
        assert!(!is_ready(hub.gap()));
        hub.publish("next".to_owned(), "{}");
        assert_eq!(hub.front(), "next");
        assert!(is_ready(hub.gap()));
    }

    #[test]
    fn a_load_answers_so_many_requests_and_the_next_one_as_many() {
        let hub = hub();
        for _ in 0..3 * MOST_ANSWERS {
            assert!(is_ready(hub.admit()), "nothing is measured");
        }
        for _ in 0..2 {
            hub.be_quiet();
            for _ in 0..MOST_ANSWERS {
                assert!(is_ready(hub.admit()));
            }
            assert!(!is_ready(hub.admit()));
            hub.publish("report".to_owned(), "{}");
            assert!(is_ready(hub.admit()));
        }
    }

    #[test]
    fn the_next_load_waits_for_who_was_told_and_for_nobody_else() {
        let hub = hub();
        let mut listener = hub.watch(None).unwrap();
        let mut browser = hub.watch(Some(0)).unwrap();
        let expected = hub.publish("report".to_owned(), "{1}");
        assert_eq!(expected, 1, "a listener is not waited for");
        for events in [&mut listener, &mut browser] {
            assert_eq!(told(events), ["event: refresh\ndata: {1}\n\n"]);
        }
        // It leaves, loads the page, and comes back when that is drawn.
        drop(browser);
        let other = Arc::clone(&hub);
        let comes = thread::spawn(move || other.watch(Some(1)).unwrap());
        hub.wait_until_drawn(expected, NEVER, PATIENT);
        let mut browser = comes.join().unwrap();
        assert_eq!(told(&mut browser), [""; 0], "it has what there is");
        assert_eq!(hub.publish("next".to_owned(), "{2}"), 1);
    }

    #[test]
    fn who_does_not_come_back_is_waited_for_once_and_told_on() {
        let hub = hub();
        let mut slow = hub.watch(Some(0)).unwrap();
        let expected = hub.publish("report".to_owned(), "{1}");
        assert_eq!(expected, 1);
        hub.wait_until_drawn(expected, Duration::ZERO, PATIENT);
        assert_eq!(hub.publish("next".to_owned(), "{2}"), 0);
        assert_eq!(told(&mut slow).len(), 2);
    }

    #[test]
    fn a_hurry_ends_the_wait() {
        let hub = hub();
        let _slow = hub.watch(Some(0)).unwrap();
        let expected = hub.publish("report".to_owned(), "{1}");
        let glances = Cell::new(0);
        let hurries = || {
            glances.set(glances.get() + 1);
            glances.get() > 2
        };
        hub.wait_until_drawn(expected, NEVER, hurries);
        assert_eq!(glances.get(), 3);
        // It was not slow, and is expected again.
        assert_eq!(hub.publish("next".to_owned(), "{2}"), 1);
    }

    #[test]
    fn who_is_on_its_way_when_a_hurry_begins_is_expected() {
        let hub = hub();
        let browser = hub.watch(Some(0)).unwrap();
        let expected = hub.publish("report".to_owned(), "{1}");
        drop(browser);
        hub.wait_until_drawn(expected, NEVER, || true);
        assert_eq!(hub.publish("last".to_owned(), "{2}"), 1);
        let browser = hub.watch(Some(0)).unwrap();
        drop(browser);
        assert_eq!(hub.publish("none".to_owned(), "{3}"), 0, "once");
    }

    #[test]
    fn who_missed_the_telling_is_told_when_it_comes_but_not_during_a_load() {
        let hub = hub();
        hub.publish("report".to_owned(), "{}");
        let late = |seen| told(&mut hub.watch(seen).unwrap()).len();
        assert_eq!((late(Some(0)), late(Some(1)), late(None)), (1, 0, 0));
        hub.be_quiet();
        assert_eq!(late(Some(0)), 0);
    }

    #[test]
    fn watchers_are_few_and_their_places_become_free() {
        let hub = hub();
        let mut all: Vec<Events> = (0..MOST_WATCHERS)
            .map(|_| hub.watch(None).unwrap())
            .collect();
        assert!(hub.watch(None).is_none());
        all.pop();
        assert!(hub.watch(None).is_some());
        all.clear();
        assert!(!hub.is_watched());
    }
}
