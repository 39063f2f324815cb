//! A connection of HTTP/2 for probes: the crate `h2`, one conversation at a time. Between two requests nothing happens on it.

use std::{future::Future, net::SocketAddr, pin::pin, sync::Arc};

use deadheat_model::{
    StackProtocol,
    load::{Body, RequestSpec},
};
use h2::{RecvStream, client::SendRequest};
use hyper::{
    Request,
    body::Bytes,
    header::{CONTENT_LENGTH, USER_AGENT},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    runtime::{Builder, Runtime},
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use super::{
    route::{Route, no_certificate},
    wire::{LONGEST, NoReply, Patience, WholeAnswer},
};

/// How much of answers may be under way, in bytes: of one as of all of a connection.
const WINDOW: u32 = 64 << 20;

/// How a server names HTTP/2 in TLS (RFC 9113 §3.1).
const NAME: &str = "h2";

/// A connection to a server.
pub(super) struct Http2<'s> {
    runtime: Runtime,
    origin: String,
    sender: SendRequest<Bytes>,
    patience: Patience<'s>,
}

impl<'s> Http2<'s> {
    /// Connects. Each answer may take as long as `patience`.
    pub(super) fn open(route: &Route, patience: Patience<'s>) -> Result<Self, NoReply> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| broken("preparing a connection", error))?;
        let sender = within(&runtime, patience, connect(route))?;
        let scheme = if route.protocol.is_over_tls() {
            "https"
        } else {
            "http"
        };
        Ok(Self {
            runtime,
            origin: format!("{scheme}://{}", route.address),
            sender,
            patience,
        })
    }

    /// Sends a request, and reads its answer.
    pub(super) fn ask(&mut self, request: &RequestSpec) -> Result<WholeAnswer, NoReply> {
        let mut answers = self.ask_together(&[request])?;
        answers.pop().ok_or(NoReply::Closed)
    }

    /// Sends all of these requests at once, and reads their answers, which are in the order of the requests.
    pub(super) fn ask_together(
        &mut self,
        requests: &[&RequestSpec],
    ) -> Result<Vec<WholeAnswer>, NoReply> {
        let sender = &self.sender;
        let origin = &self.origin;
        let conversation = async {
            let mut asked = JoinSet::new();
            for (index, request) in requests.iter().enumerate() {
                let (head, body) = head_and_body(origin, request)?;
                let sender = sender.clone();
                asked.spawn(async move { Ok((index, converse(sender, head, body).await?)) });
            }
            let answers: Vec<Result<_, NoReply>> = asked.join_all().await;
            let answers: Result<Vec<_>, NoReply> = answers.into_iter().collect();
            let mut answers = answers?;
            answers.sort_by_key(|(index, _)| *index);
            Ok(answers.into_iter().map(|(_, answer)| answer).collect())
        };
        within(&self.runtime, self.patience, conversation)
    }
}

fn within<T>(
    runtime: &Runtime,
    patience: Patience<'_>,
    work: impl Future<Output = Result<T, NoReply>>,
) -> Result<T, NoReply> {
    let until = patience.until();
    runtime.block_on(async {
        let mut work = pin!(work);
        loop {
            let wait = patience.wait(until)?;
            if let Ok(done) = timeout(wait, work.as_mut()).await {
                return done;
            }
        }
    })
}

fn broken(attempt: &str, error: impl std::fmt::Display) -> NoReply {
    NoReply::Broken(format!("{attempt}: {error}"))
}

async fn connect(route: &Route) -> Result<SendRequest<Bytes>, NoReply> {
    let connecting = |error| broken("connecting", error);
    let stream = TcpStream::connect(route.address)
        .await
        .map_err(connecting)?;
    stream.set_nodelay(true).map_err(connecting)?;
    if route.protocol == StackProtocol::H2c {
        return handshake(stream).await;
    }
    let config = match &route.certificate {
        Some(certificate) => certificate.client(&[NAME, "http/1.1"]),
        None => return Err(no_certificate()),
    };
    let name = ServerName::from(SocketAddr::ip(&route.address));
    let stream = TlsConnector::from(Arc::clone(&config))
        .connect(name, stream)
        .await
        .map_err(|error| NoReply::in_tls(&error))?;
    match stream.get_ref().1.alpn_protocol() {
        Some(chosen) if chosen == NAME.as_bytes() => handshake(stream).await,
        chosen => {
            let chosen = chosen.map(|name| String::from_utf8_lossy(name).into_owned());
            let chosen = chosen.unwrap_or_else(|| "no protocol".to_owned());
            Err(NoReply::Refused(format!(
                "offered h2 and http/1.1 by ALPN, the server chose {chosen}"
            )))
        }
    }
}

async fn handshake<S>(stream: S) -> Result<SendRequest<Bytes>, NoReply>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // Windows for whole answers: a server may take a stream of small updates for an attack (Tomcat does).
    let made = h2::client::Builder::new()
        .initial_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .handshake(stream)
        .await;
    let (sender, connection) = made.map_err(|error| broken("beginning HTTP/2", error))?;
    // An error of the connection comes to its requests as well.
    tokio::spawn(async move { connection.await.ok() });
    Ok(sender)
}

fn head_and_body(
    origin: &str,
    request: &RequestSpec,
) -> Result<(Request<()>, Option<Bytes>), NoReply> {
    let mut head = Request::builder()
        .method(request.method.as_str())
        .uri(format!("{origin}{}", request.path))
        .header(USER_AGENT, "deadheat");
    for (name, value) in &request.headers {
        // Lower-case, as HTTP/2 has them.
        head = head.header(name.to_ascii_lowercase(), value);
    }
    let body = match &request.body {
        Body::None => None,
        // No workload makes calls of gRPC.
        Body::Sized(bytes) | Body::Call(bytes) => {
            head = head.header(CONTENT_LENGTH, bytes.len());
            Some(bytes.clone())
        }
        // A body without a length is what chunks are in HTTP/1.
        Body::Chunked(bytes) => Some(bytes.clone()),
    };
    let head = head.body(());
    Ok((
        head.map_err(|error| broken("writing a request", error))?,
        body,
    ))
}

async fn converse(
    sender: SendRequest<Bytes>,
    head: Request<()>,
    body: Option<Bytes>,
) -> Result<WholeAnswer, NoReply> {
    let mut sender = sender.ready().await.map_err(|error| ended(&error, true))?;
    let asked = sender.send_request(head, body.is_none());
    let (answer, mut sending) = asked.map_err(|error| ended(&error, true))?;
    if let Some(body) = body {
        // Bodies of probes fit into the first window. A server that has answered needs no more of one.
        let _ = sending.send_data(body, true);
    }
    let (head, body) = answer
        .await
        .map_err(|error| ended(&error, false))?
        .into_parts();
    let body = read(body).await?;
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (name.as_str().to_owned(), value.into_owned())
    });
    Ok(WholeAnswer {
        status: head.status.as_u16(),
        headers: headers.collect(),
        body,
    })
}

async fn read(mut body: RecvStream) -> Result<Vec<u8>, NoReply> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece.map_err(|error| ended(&error, false))?;
        bytes.extend_from_slice(&piece);
        if bytes.len() > LONGEST {
            return Err(NoReply::Broken(format!("more than {LONGEST} bytes came")));
        }
        let _ = body.flow_control().release_capacity(piece.len());
    }
    Ok(bytes)
}

/// Why there is no answer. A server may end a connection that idles.
fn ended(error: &h2::Error, is_unsent: bool) -> NoReply {
    if is_unsent && (error.is_go_away() || error.is_io()) {
        return NoReply::Closed;
    }
    NoReply::Broken(error.to_string())
}
