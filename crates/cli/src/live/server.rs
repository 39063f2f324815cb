//! The HTTP server: one thread, few connections, short of patience.

use std::{
    collections::VecDeque,
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
};

use super::{
    answer::{Answer, answer},
    hub::Hub,
};

/// Requests that are answered at a time. With as many under way no further connection is accepted.
const MOST_REQUESTS: usize = 24;
/// Connections that have not asked for anything yet. A further one takes the place of the oldest: a browser asks at once,
/// so that whoever connects and says nothing keeps nobody else out.
const MOST_SILENT: usize = 24;
/// The longest request, in bytes. Browsers' own are below 2 KiB.
const LONGEST_REQUEST: usize = 16 << 10;
/// How long a client may take to say what it wants, …
const ASKING: Duration = Duration::from_secs(5);
/// … and to take its answer, unless that is its events.
const TAKING: Duration = Duration::from_secs(60);

/// How long answers that are under way may take when the server ends.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// A server on 127.0.0.1. It ends when it is dropped.
pub(super) struct Server {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves what `hub` has on a port, 0 for a free one.
    ///
    /// # Errors
    /// When the port cannot be listened on.
    pub(super) fn start(port: u16, hub: Arc<Hub>) -> io::Result<Self> {
        Self::start_with(port, hub, ASKING)
    }

    /// The same with another time for clients to say what they want.
    fn start_with(port: u16, hub: Arc<Hub>, asking: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (end, ended) = oneshot::channel();
        let thread = thread::Builder::new().name("live".to_owned());
        let thread = thread.spawn(move || {
            // What it serves and waits for ends with the runtime.
            runtime.block_on(async {
                let places = Arc::new(Semaphore::new(MOST_REQUESTS));
                tokio::select! {
                    _ = ended => {}
                    failed = serve(listener, Arc::clone(&hub), Arc::clone(&places), asking) => if let Err(error) = failed {
                        tracing::warn!("serving the live page: {error}; the session goes on without it");
                    }
                }
                hub.close();
                let all = places.acquire_many(MOST_REQUESTS as u32);
                let _ = tokio::time::timeout(LAST_ANSWERS, all).await;
            });
        })?;
        Ok(Self {
            address,
            end: Some(end),
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It only fails if the thread panicked, which has been told.
            let _ = thread.join();
        }
    }
}

async fn serve(
    listener: TcpListener,
    hub: Arc<Hub>,
    places: Arc<Semaphore>,
    asking: Duration,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut silent = VecDeque::new();
    loop {
        if places.acquire().await.is_err() {
            return Ok(());
        }
        let Ok((stream, _)) = listener.accept().await else {
            // A connection that was gone by then, or no descriptor for it: the next attempt is not at once.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (give_up, given_up) = oneshot::channel();
        // Those that have asked, or are gone, do not listen for that any more.
        silent.retain(|one: &oneshot::Sender<()>| !one.is_closed());
        if silent.len() >= MOST_SILENT {
            silent.pop_front();
        }
        silent.push_back(give_up);
        let conversation = Conversation {
            hub: Arc::clone(&hub),
            places: Arc::clone(&places),
            asking,
        };
        tokio::spawn(conversation.hold(stream, given_up));
        // It may have asked already, and is heard before others are accepted.
        tokio::task::yield_now().await;
    }
}

/// One request and its answer.
struct Conversation {
    hub: Arc<Hub>,
    places: Arc<Semaphore>,
    /// How long it may take to ask.
    asking: Duration,
}

/// What is known of a request, between the connection and the service that answers it.
#[derive(Default)]
struct Course {
    /// Gets a value when the request has come.
    asked: Mutex<Option<oneshot::Sender<()>>>,
    /// The place of the request, until the connection ends.
    place: Mutex<Option<OwnedSemaphorePermit>>,
    /// Whether the answer does not end by itself.
    watches: AtomicBool,
}

impl Conversation {
    /// Holds it until it ends, or, while nothing was asked, until its place is given to another one.
    async fn hold(self, stream: TcpStream, given_up: oneshot::Receiver<()>) {
        let (asked, has_asked) = oneshot::channel();
        let course = Arc::new(Course {
            asked: Mutex::new(Some(asked)),
            ..Course::default()
        });
        let mut answered = std::pin::pin!(self.answer(stream, Arc::clone(&course)));
        tokio::select! {
            // Both are over: the order decides.
            biased;
            () = answered.as_mut() => return,
            Ok(()) = has_asked => {}
            _ = given_up => return,
        }
        answered.await;
    }

    async fn answer(&self, stream: TcpStream, course: Arc<Course>) {
        let service = service_fn(|request: Request<Incoming>| {
            let course = Arc::clone(&course);
            async move {
                let asked = take(&course.asked);
                asked.map(|asked| asked.send(()));
                let place = Arc::clone(&self.places).acquire_owned().await;
                *course.place.lock().unwrap_or_else(PoisonError::into_inner) = place.ok();
                self.hub.admit().await;
                let answer: Answer = answer(&self.hub, &request).await;
                let endless = matches!(answer.body(), http_body_util::Either::Right(_));
                course.watches.store(endless, Ordering::Relaxed);
                Ok::<_, Infallible>(answer)
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.asking)
            .max_buf_size(LONGEST_REQUEST)
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        loop {
            // A client that breaks off, or does not speak HTTP, is nothing to tell of.
            let taking = tokio::time::timeout(TAKING, connection.as_mut()).await;
            let waits = course.watches.load(Ordering::Relaxed) || self.hub.is_quiet();
            if taking.is_ok() || !waits {
                return;
            }
        }
    }
}

fn take<T>(cell: &Mutex<Option<T>>) -> Option<T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    const NEVER: Duration = Duration::from_secs(3_600);
    const PATIENCE: Duration = Duration::from_secs(30);

    fn ask(server: &Server) -> String {
        let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let host = server.address();
        write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn who_connects_and_asks_for_nothing_keeps_nobody_out() {
        let hub = Hub::new("notice".to_owned());
        // Also while a heat runs, which answers few.
        hub.be_quiet();
        let server = Server::start_with(0, hub, NEVER).unwrap();
        let half_open: Vec<_> = (0..150)
            .map(|_| {
                let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
                stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
                stream
            })
            .collect();
        assert!(ask(&server).ends_with("notice"));
        drop(half_open);
    }
}
