//! The HTTP server: one thread, few connections, short of patience.

use std::{
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use deadheat_report::html;
use hyper::{
    Request,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::TcpStream,
    sync::{Semaphore, oneshot},
};

use super::{
    answer::{Answer, answer},
    hub::Hub,
};

/// Further ones wait to be accepted.
const MOST_CONNECTIONS: usize = 24;
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
                let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
                tokio::select! {
                    _ = ended => {}
                    failed = serve(listener, Arc::clone(&hub), Arc::clone(&places)) => if let Err(error) = failed {
                        tracing::warn!("serving the live page: {error}; the session goes on without it");
                    }
                }
                hub.close();
                let all = places.acquire_many(MOST_CONNECTIONS as u32);
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

async fn serve(listener: TcpListener, hub: Arc<Hub>, places: Arc<Semaphore>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let plotly = Bytes::from(html::plotly_js());
    loop {
        hub.admit().await;
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return Ok(());
        };
        let Ok((stream, _)) = listener.accept().await else {
            // A connection that was gone by then, or no descriptor for it: the next attempt is not at once.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        hub.admitted();
        let (hub, plotly) = (Arc::clone(&hub), plotly.clone());
        tokio::spawn(async move {
            converse(stream, hub, plotly).await;
            drop(place);
        });
    }
}

/// One request and its answer.
async fn converse(stream: TcpStream, hub: Arc<Hub>, plotly: Bytes) {
    let watches = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&watches);
    let shared = Arc::clone(&hub);
    let service = service_fn(move |request: Request<Incoming>| {
        let (hub, plotly, noted) = (Arc::clone(&shared), plotly.clone(), Arc::clone(&noted));
        async move {
            let answer: Answer = answer(&hub, &plotly, &request).await;
            let endless = matches!(answer.body(), http_body_util::Either::Right(_));
            noted.store(endless, Ordering::Relaxed);
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ASKING)
        .max_buf_size(LONGEST_REQUEST)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    loop {
        // A client that breaks off, or does not speak HTTP, is nothing to tell of.
        let taking = tokio::time::timeout(TAKING, connection.as_mut()).await;
        let waits = watches.load(Ordering::Relaxed) || hub.is_quiet();
        if taking.is_ok() || !waits {
            return;
        }
    }
}
