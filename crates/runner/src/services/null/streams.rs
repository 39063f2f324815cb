//! The ports for HTTP/2 and for TLS: one thread for each loop of the server, on the same CPU, with the crate `h2`.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use h2::server::{self, SendResponse};
use hyper::{
    Response,
    body::Bytes,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, InvalidHeaderValue},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    runtime::Builder,
    task::LocalSet,
};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig};

use super::request_counter::{Persistence, READ_BYTES, RequestCounter};

/// The answer: of HTTP/1.1, once for each thing that can follow it, and its parts for HTTP/2.
#[derive(Debug)]
pub(super) struct Answers {
    keep: Vec<u8>,
    close: Vec<u8>,
    pub(super) content_type: HeaderValue,
    pub(super) body: Bytes,
}

impl Answers {
    pub(super) fn new(content_type: &str, body: &[u8]) -> Result<Self, InvalidHeaderValue> {
        let write = |connection: &str| {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{connection}\r\n"
            );
            [head.as_bytes(), body].concat()
        };
        Ok(Self {
            keep: write(""),
            close: write("Connection: close\r\n"),
            content_type: HeaderValue::from_str(content_type)?,
            body: Bytes::copy_from_slice(body),
        })
    }

    pub(super) fn get(&self, persistence: Persistence) -> &[u8] {
        match persistence {
            Persistence::Keep => &self.keep,
            Persistence::Close => &self.close,
        }
    }
}

/// After an attempt to accept that failed for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Streams of a connection at once: as many as the load generator can have.
const STREAMS: u32 = 1_000;

/// The sockets of a loop that speak more than HTTP/1.1 without TLS.
pub(super) struct Listeners {
    /// For HTTP/2 without TLS.
    pub(super) h2c: Option<std::net::TcpListener>,
    /// For TLS, with HTTP/2 or HTTP/1.1, as the client chooses by ALPN.
    pub(super) tls: Option<(std::net::TcpListener, Arc<ServerConfig>)>,
}

/// Serves on these sockets until the process is ended.
pub(super) fn run(listeners: Listeners, answers: Arc<Answers>) -> io::Result<Infallible> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        if let Some((listener, config)) = listeners.tls {
            let (listener, answers) = (TcpListener::from_std(listener)?, Arc::clone(&answers));
            let acceptor = TlsAcceptor::from(config);
            tokio::task::spawn_local(accept(listener, move |stream| {
                let (acceptor, answers) = (acceptor.clone(), Arc::clone(&answers));
                async move {
                    let stream = acceptor.accept(stream).await?;
                    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    if is_http2 {
                        http2(stream, answers).await
                    } else {
                        http1(stream, answers).await
                    }
                }
            }));
        }
        if let Some(listener) = listeners.h2c {
            let listener = TcpListener::from_std(listener)?;
            tokio::task::spawn_local(accept(listener, move |stream| {
                http2(stream, Arc::clone(&answers))
            }));
        }
        Ok(std::future::pending().await)
    })
}

/// Takes in connections. One that breaks is its peer's affair.
async fn accept<F>(listener: TcpListener, converse: impl Fn(TcpStream) -> F)
where
    F: Future<Output = io::Result<()>> + 'static,
{
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                tokio::task::spawn_local(converse(stream));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn http2<S>(stream: S, answers: Arc<Answers>) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let mut builder = server::Builder::new();
    builder.max_concurrent_streams(STREAMS);
    let handshake = builder.handshake::<_, Bytes>(stream).await;
    let mut connection = handshake.map_err(io::Error::other)?;
    while let Some(asked) = connection.accept().await {
        let (request, answer) = asked.map_err(io::Error::other)?;
        let body = request.into_body();
        if body.is_end_stream() {
            // At once: most requests have no body, and a task costs more than the answer.
            let _ = send(answer, &answers);
            continue;
        }
        let answers = Arc::clone(&answers);
        tokio::task::spawn_local(async move {
            let mut body = body;
            while let Some(Ok(piece)) = body.data().await {
                let _ = body.flow_control().release_capacity(piece.len());
            }
            send(answer, &answers)
        });
    }
    Ok(())
}

/// Sends the answer. What a window holds back waits in the library, and is the answer's own bytes, not a copy.
fn send(mut answer: SendResponse<Bytes>, answers: &Answers) -> Result<(), h2::Error> {
    let mut head = Response::new(());
    let headers = head.headers_mut();
    headers.insert(CONTENT_TYPE, answers.content_type.clone());
    headers.insert(CONTENT_LENGTH, HeaderValue::from(answers.body.len()));
    let is_empty = answers.body.is_empty();
    let mut body = answer.send_response(head, is_empty)?;
    if is_empty {
        return Ok(());
    }
    body.send_data(answers.body.clone(), true)
}

async fn http1<S>(mut stream: S, answers: Arc<Answers>) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut counter = RequestCounter::default();
    let mut chunk = vec![0; READ_BYTES];
    loop {
        let count = stream.read(&mut chunk).await?;
        let mut due = Vec::new();
        let taken = counter.take(&chunk[..count], |persistence| due.push(persistence));
        for persistence in &due {
            stream.write_all(answers.get(*persistence)).await?;
        }
        stream.flush().await?;
        if count == 0 || taken.is_err() || due.contains(&Persistence::Close) {
            return stream.shutdown().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_whole_messages() {
        let answers = Answers::new("text/plain", b"hi").unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n";
        assert_eq!(
            answers.get(Persistence::Keep),
            format!("{head}\r\nhi").as_bytes()
        );
        let closing = format!("{head}Connection: close\r\n\r\nhi");
        assert_eq!(answers.get(Persistence::Close), closing.as_bytes());
    }
}
