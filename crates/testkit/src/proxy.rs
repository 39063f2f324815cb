//! A proxy that leads to one server, whatever it is asked for, and tells what it was asked.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// A proxy that speaks CONNECT and SOCKS 5. Its threads end with their connections, and with the process.
#[derive(Debug)]
pub struct ProxyServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

/// What a proxy knows.
#[derive(Clone)]
struct Knowledge {
    server: SocketAddr,
    /// The only user, with a password.
    login: Option<(String, String)>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl ProxyServer {
    /// Starts one that leads to `server`, for this user and password if any are given.
    ///
    /// # Errors
    ///
    /// When there is no port.
    pub fn start(server: SocketAddr, login: Option<(&str, &str)>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let asked = Arc::default();
        let knowledge = Knowledge {
            server,
            login: login.map(|(user, password)| (user.to_owned(), password.to_owned())),
            asked: Arc::clone(&asked),
        };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let knowledge = knowledge.clone();
                // A client that goes away is no failure of the proxy.
                thread::spawn(move || drop(knowledge.serve(client)));
            }
        });
        Ok(Self { address, asked })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked for on each connection, in order: "CONNECT h:443", "SOCKS h:80", and what it was told of the user.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

impl Knowledge {
    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let first = byte(&mut client)?;
        let is_accepted = if first == 5 {
            self.socks(&mut client)?
        } else {
            self.connect(first, &mut client)?
        };
        if !is_accepted {
            return Ok(());
        }
        let server = TcpStream::connect(self.server)?;
        let (to, from) = (server.try_clone()?, client.try_clone()?);
        let there = thread::spawn(move || relay(from, to));
        relay(server, client);
        let _ = there.join();
        Ok(())
    }

    fn note(&self, asked: String) {
        let mut all = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(asked);
    }

    fn connect(&self, first: u8, client: &mut TcpStream) -> io::Result<bool> {
        let mut head = vec![first];
        while !head.ends_with(b"\r\n\r\n") {
            head.push(byte(client)?);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.lines();
        let line = lines.next().unwrap_or_default();
        let said = lines.find_map(|line| line.strip_prefix("Proxy-Authorization: "));
        let line = line.trim_end_matches(" HTTP/1.1");
        self.note([line, said.unwrap_or_default()].join(" ").trim().to_owned());
        if self.login.is_some() != said.is_some() {
            client.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")?;
            return Ok(false);
        }
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
        Ok(true)
    }

    fn socks(&self, client: &mut TcpStream) -> io::Result<bool> {
        let count = byte(client)?;
        let methods = bytes(client, count.into())?;
        let method = if self.login.is_some() { 2 } else { 0 };
        if !methods.contains(&method) {
            client.write_all(&[5, 255])?;
            return Ok(false);
        }
        client.write_all(&[5, method])?;
        let mut who = String::new();
        if let Some((user, password)) = &self.login {
            byte(client)?;
            let mut said = Vec::new();
            for _ in 0..2 {
                let length = byte(client)?;
                said.push(String::from_utf8_lossy(&bytes(client, length.into())?).into_owned());
            }
            let is_right = said == [user.as_str(), password.as_str()];
            client.write_all(&[1, u8::from(!is_right)])?;
            if !is_right {
                return Ok(false);
            }
            who = format!(" {}", said.join(":"));
        }
        let kind = bytes(client, 4)?[3];
        let host = match kind {
            1 => Ipv4Addr::from(<[u8; 4]>::try_from(bytes(client, 4)?).unwrap_or_default())
                .to_string(),
            _ => {
                let length = byte(client)?;
                String::from_utf8_lossy(&bytes(client, length.into())?).into_owned()
            }
        };
        let port = bytes(client, 2)?;
        let port = u16::from(port[0]) << 8 | u16::from(port[1]);
        self.note(format!("SOCKS {host}:{port}{who}"));
        client.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 1])?;
        Ok(true)
    }
}

fn byte(from: &mut TcpStream) -> io::Result<u8> {
    Ok(bytes(from, 1)?[0])
}

fn bytes(from: &mut TcpStream, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Copies to the end, and says that it is the end.
fn relay(mut from: TcpStream, mut to: TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}
