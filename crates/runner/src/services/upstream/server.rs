//! The server: hyper on one thread.

use std::{
    convert::Infallible,
    future::poll_fn,
    io,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{ALLOW, CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::oneshot,
};

use crate::services::raise_open_files;

/// The body of every slow answer: 20 bytes of text/plain.
pub const ANSWER: &str = "slow upstream answer";
const _: () = assert!(ANSWER.len() == 20);
/// The path that asks how many requests have come.
pub(super) const COUNT_PATH: &str = "/__count";

/// Connections that wait to be accepted; the kernel may allow fewer (`net.core.somaxconn`).
const BACKLOG: u32 = 16_384;
/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 16 * 1024;
/// After an attempt to accept that failed for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// What a peer may still send after its last answer before the connection is closed: bytes and time.
const LAST_BYTES: u64 = 256 * 1024;
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What all connections share.
#[derive(Debug)]
struct Shared {
    clock: Clock,
    /// Requests for the slow answer that have arrived.
    count: AtomicU64,
}

/// Listens on a free port of the loopback interface, says where, and serves until the process is ended.
pub(super) fn run(
    delay: Duration,
    announce: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> io::Result<Infallible> {
    raise_open_files()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let listener = socket.listen(BACKLOG)?;
        announce(listener.local_addr()?)?;
        let shared = Arc::new(Shared {
            clock: Clock::start(delay)?,
            count: AtomicU64::new(0),
        });
        Ok(accept(&listener, &shared).await)
    })
}

async fn accept(listener: &TcpListener, shared: &Arc<Shared>) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(converse(stream, Arc::clone(shared)));
            }
            Err(error) => {
                tracing::warn!("slow upstream: cannot accept a connection ({error})");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// A connection from its first request to its end.
async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    // Without it an answer is still right, only perhaps late.
    let _ = stream.set_nodelay(true);
    type Answering =
        Pin<Box<dyn Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send>>;
    let service = service_fn(move |request: Request<Incoming>| -> Answering {
        let shared = Arc::clone(&shared);
        Box::pin(async move { Ok(answer(request, &shared).await) })
    });
    let mut connection = http1::Builder::new()
        .max_buf_size(LONGEST_HEAD)
        .half_close(true)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service);
    // A connection that breaks is its peer's affair: the peer sees it too.
    let _ = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut stream = connection.into_parts().io.into_inner();
    // Closing over unread bytes resets the connection and can destroy the answer on its way (RFC 9112, section 9.6).
    let _ = stream.shutdown().await;
    let mut unread = stream.take(LAST_BYTES);
    let mut nowhere = tokio::io::sink();
    let unread = tokio::io::copy(&mut unread, &mut nowhere);
    let _ = tokio::time::timeout(LAST_WORDS, unread).await;
}

async fn answer(request: Request<Incoming>, shared: &Shared) -> Response<Full<Bytes>> {
    let is_get = request.method() == Method::GET;
    let asks_count = request.uri().path() == COUNT_PATH;
    let wait = (is_get && !asks_count).then(|| {
        shared.count.fetch_add(1, Ordering::Relaxed);
        shared.clock.wait()
    });
    // What is left of a body would end the connection. A body that breaks off does so by itself.
    let mut body = request.into_body();
    while let Some(Ok(_)) = body.frame().await {}
    if let Some(wait) = wait {
        wait.await;
        return text(Bytes::from_static(ANSWER.as_bytes()));
    }
    if is_get {
        return text(shared.count.load(Ordering::Relaxed).to_string().into());
    }
    let mut refusal = text(Bytes::new());
    *refusal.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    let allowed = HeaderValue::from_static("GET");
    refusal.headers_mut().insert(ALLOW, allowed);
    refusal
}

fn text(body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let plain = HeaderValue::from_static("text/plain");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}

/// Wakes whoever asks, always after the same delay, to some microseconds: Tokio's timers count whole milliseconds, and
/// round up twice. So those who came first are due first, and a queue will do.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    delay: Duration,
    queue: mpsc::Sender<(Instant, oneshot::Sender<()>)>,
}

impl Clock {
    /// Starts the thread that wakes them. It ends with the last copy of the clock.
    pub(super) fn start(delay: Duration) -> io::Result<Self> {
        let (queue, waiting) = mpsc::channel::<(Instant, oneshot::Sender<()>)>();
        let thread = thread::Builder::new().name("clock".to_owned());
        thread.spawn(move || {
            for (due, waiter) in waiting {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                // A peer that has left waits no more.
                let _ = waiter.send(());
            }
        })?;
        Ok(Self { delay, queue })
    }

    /// A wait that begins with this call and not with its first poll.
    pub(super) fn wait(&self) -> impl Future<Output = ()> + use<> {
        let (waiter, woken) = oneshot::channel();
        let queued = self.queue.send((Instant::now() + self.delay, waiter));
        async move {
            if queued.is_ok() {
                let _ = woken.await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_never_too_short_and_begins_when_it_is_asked_for() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let delay = Duration::from_millis(2);
            let clock = Clock::start(delay).unwrap();
            let start = Instant::now();
            let (first, second) = (clock.wait(), clock.wait());
            first.await;
            assert!(start.elapsed() >= delay);
            second.await;
            let start = Instant::now();
            clock.wait().await;
            assert!(start.elapsed() >= delay);
        });
    }
}
