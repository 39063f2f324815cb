//! What makes a handshake with a server that is known shorter: resumption (RFC 8446, section 2.2; RFC 5246, 7.3).

use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustls::{
    NamedGroup,
    client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue},
    pki_types::ServerName,
};

/// What a worker remembers of the one server that it connects to. (rustls's own store keeps eight tickets per server,
/// which is too few for more than eight connections that are made again.)
pub(super) struct Sessions(Mutex<Remembered>);

struct Remembered {
    group: Option<NamedGroup>,
    /// TLS 1.2: a session can be resumed any number of times.
    session: Option<Tls12ClientSessionValue>,
    /// TLS 1.3: each ticket is used once. The oldest goes when there is one for each connection.
    tickets: VecDeque<Tls13ClientSessionValue>,
    most_tickets: usize,
}

impl Sessions {
    /// Room for a ticket of each connection.
    pub(super) fn new(connections: usize) -> Self {
        Self(Mutex::new(Remembered {
            group: None,
            session: None,
            tickets: VecDeque::with_capacity(connections),
            most_tickets: connections,
        }))
    }

    /// Nobody else waits for it: a worker is one thread.
    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The secrets stay where they are.
        f.write_str("Sessions")
    }
}

impl ClientSessionStore for Sessions {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.remembered().group = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.remembered().group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.remembered().session = Some(session);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.remembered().session.clone()
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.remembered().session = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let mut remembered = self.remembered();
        if remembered.tickets.len() >= remembered.most_tickets {
            remembered.tickets.pop_front();
        }
        remembered.tickets.push_back(ticket);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.remembered().tickets.pop_back()
    }
}
