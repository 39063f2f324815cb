//! A server of HTTP/2 that keeps to its rules, by the crate `h2`, with TLS or without: it answers as a test says, and
//! counts what it saw. [`http2`](crate::http2) has servers that break the rules.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use bytes::Bytes;
use h2::{RecvStream, server::SendResponse};
use http::{HeaderMap, Request, Response};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::watch,
};
use tokio_rustls::TlsAcceptor;

use crate::TlsServer;

/// A request as the server saw it.
pub struct ReceivedRequest {
    /// How many came before it, on all connections.
    pub nth: u64,
    /// Its head.
    pub head: Request<()>,
    /// Its body.
    pub body: Vec<u8>,
}

/// What becomes of it.
#[derive(Clone, Default)]
pub struct Reply {
    /// Its status; 0: 200.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
    /// How long it takes.
    pub after: Duration,
    /// Whether its head has a `content-length`.
    pub with_length: bool,
    /// Its trailers.
    pub trailers: &'static [(&'static str, &'static str)],
    /// The code of a RST_STREAM that comes in its place.
    pub reset: Option<u32>,
}

/// What is answered to each request.
type Answers = Arc<dyn Fn(&ReceivedRequest) -> Reply + Send + Sync>;

/// How the server is set.
#[derive(Clone)]
pub struct Setup {
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    pub most_streams: Option<u32>,
    /// The window of a stream for a request's body.
    pub window: Option<u32>,
    /// After this many requests a connection says GOAWAY.
    pub most_requests: u64,
    /// TLS, if it is spoken.
    pub tls: Option<TlsServer>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            most_streams: None,
            window: None,
            most_requests: u64::MAX,
            tls: None,
        }
    }
}

/// What a server has seen so far.
#[derive(Default)]
pub struct Counts {
    /// Requests.
    pub requests: AtomicU64,
    /// Whole answers.
    pub answers: AtomicU64,
    /// Connections.
    pub connections: AtomicU64,
    /// Bytes of the requests' bodies.
    pub body_bytes: AtomicU64,
    open: AtomicU64,
    /// The most requests at once that were under way.
    pub most_open: AtomicU64,
}

impl Counts {
    /// The value of one of them.
    pub fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::SeqCst)
    }
}

/// A server with a thread of its own, which ends when it is dropped.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// What it has seen.
    pub seen: Arc<Counts>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on a free loopback port, and answers each request as `answers` says.
    ///
    /// # Errors
    ///
    /// When there is no port.
    pub fn start(
        setup: Setup,
        answers: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = runtime.block_on(bound)?;
        let address = listener.local_addr()?;
        let seen = Arc::new(Counts::default());
        let (stop, mut stopped) = watch::channel(false);
        let serving = serve(listener, setup, Arc::clone(&seen), Arc::new(answers));
        let thread = thread::spawn(move || {
            runtime.block_on(async {
                tokio::spawn(serving);
                let _ = stopped.changed().await;
            });
        });
        Ok(Self {
            address,
            seen,
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(listener: TcpListener, setup: Setup, seen: Arc<Counts>, answers: Answers) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        seen.connections.fetch_add(1, Ordering::SeqCst);
        let (setup, seen, answers) = (setup.clone(), Arc::clone(&seen), Arc::clone(&answers));
        let tls = setup
            .tls
            .as_ref()
            .map(|tls| TlsAcceptor::from(tls.rustls()));
        tokio::spawn(async move {
            match tls {
                None => converse(stream, &setup, seen, answers).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        converse(stream, &setup, seen, answers).await;
                    }
                }
            }
        });
    }
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    setup: &Setup,
    seen: Arc<Counts>,
    answers: Answers,
) {
    let mut builder = h2::server::Builder::new();
    if let Some(most) = setup.most_streams {
        builder.max_concurrent_streams(most);
    }
    if let Some(window) = setup.window {
        builder.initial_window_size(window);
    }
    builder.max_send_buffer_size(64 << 20);
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else {
        return;
    };
    let mut count = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        count += 1;
        let (seen, answers) = (Arc::clone(&seen), Arc::clone(&answers));
        tokio::spawn(async move {
            let open = seen.open.fetch_add(1, Ordering::SeqCst) + 1;
            seen.most_open.fetch_max(open, Ordering::SeqCst);
            let _ = answer(request, respond, &seen, &answers).await;
            seen.open.fetch_sub(1, Ordering::SeqCst);
        });
        if count == setup.most_requests {
            connection.graceful_shutdown();
        }
    }
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    seen: &Counts,
    answers: &Answers,
) -> Result<(), h2::Error> {
    let nth = seen.requests.fetch_add(1, Ordering::SeqCst);
    let (head, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(data) = stream.data().await {
        let data = data?;
        body.extend_from_slice(&data);
        stream.flow_control().release_capacity(data.len())?;
    }
    let bytes = body.len() as u64;
    seen.body_bytes.fetch_add(bytes, Ordering::SeqCst);
    let head = Request::from_parts(head, ());
    let reply = answers(&ReceivedRequest { nth, head, body });
    if !reply.after.is_zero() {
        tokio::time::sleep(reply.after).await;
    }
    if let Some(reason) = reply.reset {
        respond.send_reset(reason.into());
        return Ok(());
    }
    let mut response = Response::builder().status(match reply.status {
        0 => 200,
        status => status,
    });
    if reply.with_length {
        response = response.header("content-length", reply.body.len());
    }
    let response = response
        .header("server", "h2")
        .header("x-long", "v".repeat(nth as usize % 200))
        .body(())
        .unwrap();
    let has_trailers = !reply.trailers.is_empty();
    let ends = reply.body.is_empty() && !has_trailers;
    let mut out = respond.send_response(response, ends)?;
    if !ends {
        out.send_data(Bytes::from(reply.body), !has_trailers)?;
        if has_trailers {
            let mut trailers = HeaderMap::new();
            for (name, value) in reply.trailers {
                trailers.insert(*name, value.parse().unwrap());
            }
            out.send_trailers(trailers)?;
        }
    }
    seen.answers.fetch_add(1, Ordering::SeqCst);
    Ok(())
}
