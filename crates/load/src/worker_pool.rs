//! The worker threads. They are set up first and started together for each slice. They report without a lock.

use std::{
    io,
    sync::{
        atomic::AtomicBool,
        mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender},
    },
    thread,
    time::Duration,
};

use deadheat_model::{Interval, SliceEvent, SliceResult, interval::IntervalJoiner};

use crate::{
    LoadError, LoadEvent,
    plan::Plan,
    recorder::{BufferReturn, IntervalRecorder, message_queue_capacity},
    schedule::{Arrivals, Timeline},
    socket::Events,
    sys,
    worker::Worker,
};

/// An order to a worker.
#[derive(Debug)]
enum Order {
    /// Run a slice. `arrivals` are its own intended starts, if they are not the plan's.
    Begin {
        timeline: Timeline,
        arrivals: Option<Arrivals>,
    },
    /// Report the result of the slice. `stays`: keep the connections for another slice.
    Report { stays: bool },
}

/// A message from a worker.
#[derive(Debug)]
pub(crate) enum Message {
    /// The worker is set up, and waits.
    Ready,
    /// An interval of the worker with this index. It is given back to the worker.
    Interval(usize, Box<Interval>),
    /// An interval of the worker with this index, for which the queue had no room at its end. It is not given back.
    Late(usize, Box<Interval>),
    /// Nothing of the worker with this index is in flight any more, or it has given up waiting for it.
    Drained(usize),
    /// The result of the worker with this index.
    Seen(usize, Box<SliceResult>),
    /// The worker could not continue.
    Failed(LoadError),
    /// The thread of the worker with this index ends.
    Gone(usize),
}

/// A worker's ends of the channels.
pub(crate) struct WorkerChannels {
    index: usize,
    orders: Receiver<Order>,
    tell: SyncSender<Message>,
    intervals: Option<IntervalRecorder>,
}

/// Sends [`Message::Gone`] when a thread ends, also by a panic.
struct ExitNotice(usize, SyncSender<Message>);

impl Drop for ExitNotice {
    fn drop(&mut self) {
        // If the load was given up, the receiver is gone.
        let _ = self.1.send(Message::Gone(self.0));
    }
}

/// All workers of a load, on the side of the coordinating thread.
pub(crate) struct WorkerPool {
    orders: Vec<Sender<Order>>,
    messages: Receiver<Message>,
    intervals: IntervalJoiner,
    /// The channels that return intervals to the workers; empty if no intervals were asked for.
    returns: Vec<BufferReturn>,
}

impl WorkerPool {
    /// Starts the threads with `spawn`, each of which must call [`work`]. Waits until all are set up, or one has
    /// failed.
    pub(crate) fn assemble(
        plan: &Plan,
        mut spawn: impl FnMut(thread::Builder, WorkerChannels) -> io::Result<()>,
    ) -> Result<Self, LoadError> {
        let workers = plan.cpus.len();
        let (tell, messages) = mpsc::sync_channel(message_queue_capacity(workers));
        let mut pool = Self {
            orders: Vec::new(),
            messages,
            intervals: IntervalJoiner::new(workers),
            returns: Vec::new(),
        };
        for index in 0..workers {
            let (order, orders) = mpsc::channel();
            let intervals = plan.interval.map(|_| {
                let (intervals, give_back) =
                    IntervalRecorder::new(index, tell.clone(), plan.arrivals.is_some());
                pool.returns.push(give_back);
                intervals
            });
            let line = WorkerChannels {
                index,
                orders,
                tell: tell.clone(),
                intervals,
            };
            let named = thread::Builder::new().name(format!("load-{index}"));
            spawn(named, line).map_err(|source| LoadError::Spawn {
                worker: index,
                source,
            })?;
            pool.orders.push(order);
        }
        drop(tell);
        // Dropping the pool closes the channels, which ends the workers that are ready.
        let mut ready = 0;
        while ready < workers {
            match pool.messages.recv() {
                Ok(Message::Failed(error)) => return Err(error),
                Ok(Message::Gone(worker)) => return Err(LoadError::Gone { worker }),
                Ok(_) => ready += 1,
                Err(_) => return Err(LoadError::Gone { worker: 0 }),
            }
        }
        Ok(pool)
    }

    /// Runs a slice: load for `guard` that does not count, load for `length` that counts, then the rest of the requests
    /// in flight. `arrivals` are the slice's own intended starts, if they are not the plan's; `stays`: another slice may
    /// follow.
    pub(crate) fn slice(
        &mut self,
        arrivals: Option<&Arrivals>,
        guard: Duration,
        length: Option<Duration>,
        stays: bool,
        on_event: &mut dyn FnMut(LoadEvent),
    ) -> Result<SliceResult, LoadError> {
        let timeline = Timeline::new(sys::monotonic_ns(), guard, length);
        for (worker, orders) in self.orders.iter().enumerate() {
            let begin = Order::Begin {
                timeline,
                arrivals: arrivals.cloned(),
            };
            orders.send(begin).map_err(|_| LoadError::Gone { worker })?;
        }
        let mut at_work = self.orders.len();
        let mut failed = None;
        let mut wait_until = |instant, on_event: &mut dyn FnMut(LoadEvent)| {
            self.wait_until(instant, &mut at_work, &mut failed, on_event);
        };
        wait_until(timeline.measure_from, on_event);
        if sys::monotonic_ns() >= timeline.measure_from {
            on_event(LoadEvent::Slice(SliceEvent::CountingStarted));
            wait_until(timeline.measure_until, on_event);
            on_event(LoadEvent::Slice(SliceEvent::CountingEnded));
        }
        wait_until(u64::MAX, on_event);
        on_event(LoadEvent::Slice(SliceEvent::Drained));
        match failed {
            Some(error) => Err(error),
            None => self.gather(stays),
        }
    }

    /// Waits until `instant`, or until all workers are done.
    fn wait_until(
        &mut self,
        instant: u64,
        at_work: &mut usize,
        failed: &mut Option<LoadError>,
        on_event: &mut dyn FnMut(LoadEvent),
    ) {
        let mut on_interval = |whole| on_event(LoadEvent::Interval(whole));
        while *at_work > 0 {
            let now = sys::monotonic_ns();
            if now >= instant {
                return;
            }
            let pause = Duration::from_nanos(instant - now);
            match self.messages.recv_timeout(pause) {
                Ok(Message::Interval(worker, part)) => {
                    self.intervals.join(worker, &part, &mut on_interval);
                    // A worker that has ended needs no intervals any more.
                    let _ = self.returns[worker].try_send(part);
                }
                Ok(Message::Late(worker, part)) => {
                    self.intervals.join(worker, &part, &mut on_interval);
                }
                Ok(Message::Drained(worker)) => {
                    *at_work -= 1;
                    self.intervals.end(worker, &mut on_interval);
                }
                Ok(Message::Failed(error)) => *failed = Some(error),
                Ok(Message::Gone(worker)) => {
                    *at_work -= 1;
                    self.intervals.end(worker, &mut on_interval);
                    failed.get_or_insert(LoadError::Gone { worker });
                }
                Ok(Message::Ready | Message::Seen(..)) => {}
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => {
                    failed.get_or_insert(LoadError::Gone { worker: 0 });
                    *at_work = 0;
                }
            }
        }
        self.intervals.flush(&mut on_interval);
    }

    /// Collects the results of all workers, in their order, and merges them.
    fn gather(&mut self, stays: bool) -> Result<SliceResult, LoadError> {
        for (worker, orders) in self.orders.iter().enumerate() {
            let report = orders.send(Order::Report { stays });
            report.map_err(|_| LoadError::Gone { worker })?;
        }
        let mut parts: Vec<Option<Box<SliceResult>>> = self.orders.iter().map(|_| None).collect();
        while let Some(worker) = parts.iter().position(Option::is_none) {
            match self.messages.recv() {
                Ok(Message::Seen(worker, part)) => parts[worker] = Some(part),
                Ok(Message::Gone(worker)) if parts[worker].is_none() => {
                    return Err(LoadError::Gone { worker });
                }
                Ok(_) => {}
                Err(_) => return Err(LoadError::Gone { worker }),
            }
        }
        let parts = parts.into_iter().flatten();
        Ok(SliceResult::together(parts.map(|part| *part)))
    }
}

/// The body of a worker's thread: runs slice after slice until the channel of orders is closed.
pub(crate) fn work(plan: &Plan, stop: &AtomicBool, line: WorkerChannels) {
    let WorkerChannels {
        index,
        orders,
        tell,
        intervals,
    } = line;
    let _exit_notice = ExitNotice(index, tell.clone());
    // If another worker could not be set up, the receiver is gone; the next `recv` notices.
    let say = |message| drop(tell.send(message));
    let mut worker = match set_up(index, plan, stop, intervals) {
        Ok(worker) => worker,
        Err(error) => return say(Message::Failed(error)),
    };
    let mut events = Events::new();
    say(Message::Ready);
    // Blocked in between: connections that are held cost no CPU time.
    while let Ok(order) = orders.recv() {
        match order {
            Order::Begin { timeline, arrivals } => {
                if let Err(error) = worker.run(timeline, arrivals, &mut events) {
                    return say(Message::Failed(error));
                }
                worker.send_rest();
                // Everything stays as it is until that has been noted: closing connections would show in the server's
                // figures.
                say(Message::Drained(index));
            }
            Order::Report { stays: true } => {
                say(Message::Seen(index, Box::new(worker.report())));
            }
            Order::Report { stays: false } => {
                return say(Message::Seen(index, Box::new(worker.into_report())));
            }
        }
    }
}

fn set_up<'a>(
    index: usize,
    plan: &'a Plan,
    stop: &'a AtomicBool,
    intervals: Option<IntervalRecorder>,
) -> Result<Worker<'a>, LoadError> {
    if let Some(cpu) = plan.cpus[index] {
        let failed = |source| LoadError::Pin {
            worker: index,
            cpu,
            source,
        };
        sys::pin_current_thread(cpu).map_err(failed)?;
    }
    Worker::new(index, plan, stop, intervals)
}

#[cfg(test)]
mod tests {
    use deadheat_model::{
        Exchange, LoadSpec, Schedule, StopRule,
        load::{Expectation, RequestSpec, StatusSet, Target},
    };

    use super::*;

    #[test]
    fn a_worker_that_panics_ends_the_slice_with_an_error() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let expect = Expectation {
            status: StatusSet::success(),
            length: None,
            content: None,
        };
        let closed = Schedule::Closed {
            connections: 2,
            ramp: Duration::ZERO,
        };
        let mut spec = LoadSpec::new(
            Target::plain(server.local_addr().unwrap()),
            vec![Exchange::new(RequestSpec::get("/"), expect)],
            closed,
            StopRule::Interrupt,
        );
        spec.timeouts.drain = Duration::ZERO;
        spec.cpus = vec![0, 0];
        let plan = Plan::new(&spec).unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let (plan, stop) = (&plan, &stop);
            let mut threads = Vec::new();
            let mut pool = WorkerPool::assemble(plan, |named, line| {
                let body = move || match line.index {
                    0 => work(plan, stop, line),
                    _ => panic_in_the_first_slice(line),
                };
                threads.push(named.spawn_scoped(scope, body)?);
                Ok(())
            })
            .unwrap();
            let length = Some(Duration::from_millis(20));
            let mut slice = || pool.slice(None, Duration::ZERO, length, true, &mut |_| {});
            assert!(matches!(slice(), Err(LoadError::Gone { worker: 1 })));
            assert!(slice().is_err(), "the session is of no use any more");
            drop(pool);
            let ends: Vec<bool> = threads.into_iter().map(|one| one.join().is_ok()).collect();
            assert_eq!(ends, [true, false]);
        });
    }

    fn panic_in_the_first_slice(line: WorkerChannels) {
        let _exit_notice = ExitNotice(line.index, line.tell.clone());
        line.tell.send(Message::Ready).unwrap();
        line.orders.recv().unwrap();
        // As a panic, without its message in the test's output.
        std::panic::resume_unwind(Box::new(()));
    }
}
