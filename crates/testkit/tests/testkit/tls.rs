//! TLS, by a client that believes the test's authority alone.

use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
    sync::Arc,
};

use deadheat_testkit::{
    Action, Authority, CertificateKind, Identity, Listen, OracleServer, TlsFault, TlsServer, Turn,
    answers::{hello, send},
};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

type Client = StreamOwned<ClientConnection, TcpStream>;

fn believing(authority: &Authority, own: Option<&Identity>) -> Arc<ClientConfig> {
    let certificate = CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    Arc::new(match own {
        None => config.with_no_client_auth(),
        Some(own) => {
            let chain = CertificateDer::from_pem_slice(own.certificate.as_bytes()).unwrap();
            let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
            config.with_client_auth_cert(vec![chain], key).unwrap()
        }
    })
}

fn connect(server: &OracleServer, config: &Arc<ClientConfig>) -> Client {
    let name = "localhost".try_into().unwrap();
    let connection = ClientConnection::new(Arc::clone(config), name).unwrap();
    StreamOwned::new(connection, TcpStream::connect(server.address()).unwrap())
}

/// Asks once and ends TLS properly.
fn ask(server: &OracleServer, config: &Arc<ClientConfig>) -> io::Result<()> {
    let mut client = connect(server, config);
    client.write_all(GET)?;
    let mut answer = vec![0; hello().len()];
    client.read_exact(&mut answer)?;
    assert_eq!(answer, hello());
    client.conn.send_close_notify();
    client.conn.write_tls(&mut client.sock)?;
    Ok(())
}

fn serving(tls: TlsServer) -> OracleServer {
    let listen = Listen::ipv4().unwrap().over_tls(tls);
    listen.serve(|_: &Turn<'_>| send(hello())).unwrap()
}

fn localhost(authority: &Authority) -> TlsServer {
    TlsServer::new(authority.server(CertificateKind::Localhost).unwrap()).unwrap()
}

#[test]
fn both_versions_are_spoken_and_resumed_sessions_are_counted() {
    let authority = Authority::new().unwrap();
    let right = || localhost(&authority);
    let cases = [
        (right().only_1_2(), "TLSv1_2", true),
        (right().only_1_3(), "TLSv1_3", true),
        (right().without_resumption(), "TLSv1_3", false),
        (
            right().only_1_2().unwrap().without_resumption(),
            "TLSv1_2",
            false,
        ),
    ];
    for (tls, version, resumes) in cases {
        let server = serving(tls.unwrap());
        let config = believing(&authority, None);
        for _ in 0..4 {
            ask(&server, &config).unwrap();
        }
        let seen = server.seen_at_rest();
        let case = format!(
            "{version}, resuming: {resumes}: {:?}",
            seen.failed_handshakes
        );
        assert_eq!(seen.requests, 4, "{case}");
        let counts = (seen.full_handshakes, seen.resumed_handshakes);
        assert_eq!(counts, if resumes { (1, 3) } else { (4, 0) }, "{case}");
        for one in &seen.each {
            let agreed = one.tls.as_ref().unwrap();
            assert_eq!(agreed.version, version, "{case}");
            assert_eq!(agreed.name.as_deref(), Some("localhost"), "{case}");
            assert!(agreed.notified, "{case}");
            assert_eq!(one.request_bytes, GET.len() as u64, "{case}");
        }
    }
}

#[test]
fn certificates_that_a_client_must_refuse_are_refused() {
    let authority = Authority::new().unwrap();
    let stranger = Authority::new().unwrap();
    for (of, signed_by, why) in [
        (CertificateKind::Elsewhere, &authority, "not valid for name"),
        (CertificateKind::Past, &authority, "expired"),
        (CertificateKind::Localhost, &stranger, "UnknownIssuer"),
    ] {
        let server = serving(TlsServer::new(signed_by.server(of).unwrap()).unwrap());
        let error = ask(&server, &believing(&authority, None)).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        let seen = server.seen_at_rest();
        assert_eq!(
            (seen.requests, seen.failed_handshakes.len()),
            (0, 1),
            "{why}"
        );
    }
}

#[test]
fn clients_without_the_right_certificate_are_refused() {
    let authority = Authority::new().unwrap();
    let stranger = Authority::new().unwrap();
    let (right, wrong) = (authority.client().unwrap(), stranger.client().unwrap());
    for (own, may) in [(Some(&right), true), (Some(&wrong), false), (None, false)] {
        let server = serving(localhost(&authority).only_clients_of(&authority).unwrap());
        let result = ask(&server, &believing(&authority, own));
        let seen = server.seen_at_rest();
        assert_eq!(result.is_ok(), may, "{result:?}");
        assert_eq!(seen.requests, u64::from(may));
        assert_eq!(seen.failed_handshakes.len(), usize::from(!may));
        if may {
            assert_eq!(seen.each[0].tls.as_ref().unwrap().client_certificates, 1);
        }
    }
}

#[test]
fn each_fault_of_a_handshake_is_what_it_says() {
    let authority = Authority::new().unwrap();
    for (fault, says) in [
        (TlsFault::Alert, "HandshakeFailure"),
        (TlsFault::Garbage, "corrupt"),
        (TlsFault::Close, "end of file"),
        (TlsFault::Reset, "reset"),
    ] {
        let server = serving(localhost(&authority).failing(fault));
        let error = ask(&server, &believing(&authority, None)).unwrap_err();
        assert!(error.to_string().contains(says), "{fault:?}: {error}");
        let seen = server.seen_at_rest();
        assert_eq!((seen.connections, seen.requests), (1, 0), "{fault:?}");
    }
    let server = serving(localhost(&authority).failing(TlsFault::Silence));
    let mut client = connect(&server, &believing(&authority, None));
    let wait = std::time::Duration::from_millis(100);
    client.sock.set_read_timeout(Some(wait)).unwrap();
    let error = client.write_all(GET).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn an_end_without_close_notify_is_a_truncation_and_one_with_it_is_none() {
    let authority = Authority::new().unwrap();
    for (end, truncated) in [(Action::Cut, true), (Action::Fin, false)] {
        let listen = Listen::ipv4().unwrap().over_tls(localhost(&authority));
        let cut = hello()[..30].to_vec();
        let server = listen.serve(move |_: &Turn<'_>| vec![Action::Send(cut.clone()), end.clone()]);
        let server = server.unwrap();
        let mut client = connect(&server, &believing(&authority, None));
        client.write_all(GET).unwrap();
        let mut answer = Vec::new();
        let result = client.read_to_end(&mut answer);
        assert_eq!(answer, &hello()[..30]);
        assert_eq!(result.is_err(), truncated, "{result:?}");
    }
}
