//! The server under all of them: one nginx process on one CPU, which also counts what it saw.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{
    load::{Load, Resource, SMALL},
    sys,
};

/// Ports of each kind, taken in turn: what one trial leaves behind (connections in TIME_WAIT) then takes no ephemeral
/// port away from the next.
const PORTS: usize = 8;
/// How long it may take to start, and to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// Descriptors that nginx has beside its connections.
const OWN_DESCRIPTORS: u64 = 100;

/// Everything that one nginx needs on the disk: below one folder, which goes with it.
pub(crate) struct Site {
    folder: PathBuf,
    /// Whether there is a certificate.
    tls: bool,
}

/// Why there is no certificate.
pub(crate) struct NoCertificate(pub(crate) String);

impl Site {
    /// Writes the files into `folder`, and says why there is no certificate, if there is none.
    pub(crate) fn lay_out(folder: &Path) -> Result<(Self, Option<NoCertificate>), String> {
        let failed =
            |what: &str, error: &io::Error| format!("{}/{what}: {error}", folder.display());
        for resource in Resource::FILES {
            let content = vec![b'x'; resource.bytes() as usize];
            let name = resource.path().trim_start_matches('/');
            fs::write(folder.join(name), content).map_err(|error| failed(name, &error))?;
        }
        let certificate = certificate(folder);
        let site = Site {
            folder: folder.to_owned(),
            tls: certificate.is_ok(),
        };
        Ok((site, certificate.err().map(NoCertificate)))
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

/// Makes a certificate of its own with openssl, on the curve P-256.
fn certificate(folder: &Path) -> Result<(), String> {
    let mut command = Command::new("openssl");
    command
        .args(["req", "-x509", "-nodes", "-days", "2", "-newkey", "ec"])
        .args([
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-subj",
            "/CN=127.0.0.1",
        ])
        .args(["-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-keyout", "key.pem", "-out", "certificate.pem"])
        .current_dir(folder);
    let output = command
        .output()
        .map_err(|error| format!("openssl, for nginx's certificate: {error}; install openssl"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!(
            "openssl, for nginx's certificate: {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

/// A running nginx; it ends when it is dropped, and when xtask ends.
pub(crate) struct Nginx {
    pid: u32,
    /// The ports of each kind, by [`kind_of`].
    ports: [Vec<u16>; 4],
    status: u16,
    taken: usize,
}

/// What nginx has counted since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Connections accepted.
    pub(crate) accepted: u64,
    /// Requests that it began to answer.
    pub(crate) requests: u64,
}

impl Nginx {
    /// Starts `program` on one CPU, and waits until it answers.
    pub(crate) fn start(
        program: &Path,
        site: &Site,
        cpu: usize,
        descriptors: u64,
    ) -> Result<Self, String> {
        let mut free = free_ports(4 * PORTS + 1)
            .map_err(|error| format!("looking for free ports on 127.0.0.1: {error}"))?;
        let ports = [(); 4].map(|()| free.split_off(free.len() - PORTS));
        let status = free[0];
        let text = configuration(site, &ports, status, descriptors - OWN_DESCRIPTORS);
        let (file, log) = (site.file("nginx.conf"), site.file("nginx.log"));
        fs::write(&file, text).map_err(|error| format!("{file}: {error}"))?;
        let output = File::create(&log).map_err(|error| format!("{log}: {error}"))?;
        let mut command = Command::new(program);
        command
            .args([
                "-p",
                &site.folder.display().to_string(),
                "-c",
                &file,
                "-e",
                &log,
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output);
        sys::confine(&mut command, cpu).map_err(|error| format!("CPU {cpu}: {error}"))?;
        let child = command
            .spawn()
            .map_err(|error| format!("starting {}: {error}", program.display()))?;
        let nginx = Self {
            pid: child.id(),
            ports,
            status,
            taken: 0,
        };
        nginx.await_ready().map_err(|error| {
            let log = fs::read_to_string(&log).unwrap_or_default();
            format!(
                "{} does not answer: {error}\n{}",
                program.display(),
                log.trim()
            )
        })?;
        Ok(nginx)
    }

    fn await_ready(&self) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            let error = match self.seen() {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            let ended = sys::has_ended(self.pid, Duration::ZERO);
            if ended.unwrap_or(true) {
                return Err("it has ended".to_owned());
            }
            if begun.elapsed() > PATIENCE {
                return Err(error);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The URL for a load's next trial.
    pub(crate) fn next_url(&mut self, load: &Load) -> String {
        let scheme = if load.tls { "https" } else { "http" };
        let ports = &self.ports[kind_of(load.tls, load.http2)];
        let port = ports[self.taken % ports.len()];
        self.taken += 1;
        format!("{scheme}://127.0.0.1:{port}{}", load.resource.path())
    }

    /// What it has counted, this question and its connection included.
    pub(crate) fn seen(&self) -> Result<Seen, String> {
        let failed = |error: io::Error| format!("asking nginx's status: {error}");
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.status)).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let mut answer = String::new();
        stream
            .write_all(b"GET / HTTP/1.0\r\n\r\n")
            .and_then(|()| stream.read_to_string(&mut answer))
            .map_err(failed)?;
        counted(&answer).ok_or_else(|| format!("nginx's status makes no sense: {answer}"))
    }

    /// CPU time that it has used, to the length of a tick.
    pub(crate) fn cpu_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        // After the name, which may hold anything: proc(5), fields 3 and on; user and system time are 14 and 15.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let ticks: u32 = fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|field| field.parse::<u32>().ok())
            .sum();
        sys::tick() * ticks
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It may have ended by itself; all that matters is that it is reaped.
        let _ = sys::kill(self.pid, libc::SIGTERM);
        let _ = sys::wait_for(self.pid, PATIENCE);
    }
}

/// The counts of an answer of nginx's stub_status: a line of three numbers below `server accepts handled requests`.
fn counted(answer: &str) -> Option<Seen> {
    let (_, rest) = answer.split_once("server accepts handled requests")?;
    let mut numbers = rest.split_whitespace().map(str::parse::<u64>);
    let accepted = numbers.next()?.ok()?;
    let requests = numbers.nth(1)?.ok()?;
    Some(Seen { accepted, requests })
}

/// Which of four kinds a port is.
fn kind_of(tls: bool, http2: bool) -> usize {
    2 * usize::from(http2) + usize::from(tls)
}

/// Ports that were free a moment ago: all of them are held until the last one is found.
fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    let held: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .collect::<io::Result<_>>()?;
    held.iter()
        .map(|listener| Ok(listener.local_addr()?.port()))
        .collect()
}

/// One process that never closes a connection of its own accord, logs nothing, and has one cipher suite, so that no
/// tool chooses a cheaper one.
fn configuration(site: &Site, ports: &[Vec<u16>; 4], status: u16, connections: u64) -> String {
    let listen = |tls: bool, http2: bool, suffix: &str| {
        let lines = ports[kind_of(tls, http2)]
            .iter()
            .map(|port| format!("        listen 127.0.0.1:{port}{suffix} backlog=65535;\n"));
        lines.collect::<String>()
    };
    let plain = listen(false, false, "") + &listen(false, true, " http2");
    let mut secure = String::new();
    if site.tls {
        secure = listen(true, false, " ssl") + &listen(true, true, " ssl http2");
        secure.push_str(&format!(
            "        ssl_certificate \"{}\";\n        ssl_certificate_key \"{}\";\n        \
             ssl_protocols TLSv1.3;\n        ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;\n",
            site.file("certificate.pem"),
            site.file("key.pem"),
        ));
    }
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("    {kind}_temp_path \"{}\";\n", site.file(kind)))
        .collect();
    format!(
        "daemon off;
master_process off;
worker_processes 1;
pid \"{pid}\";
error_log stderr error;
events {{
    worker_connections {connections};
    multi_accept on;
}}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    open_file_cache max=8;
{temporary}    server {{
{plain}{secure}        root \"{root}\";
        location = {small} {{
            default_type text/plain;
            return 200 \"{body}\";
        }}
        location / {{
            default_type application/octet-stream;
        }}
    }}
    server {{
        listen 127.0.0.1:{status};
        location / {{
            stub_status;
        }}
    }}
}}
",
        pid = site.file("nginx.pid"),
        root = site.folder.display(),
        small = Resource::Small.path(),
        body = SMALL.replace('\n', "\\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nginx_has_seen_is_read() {
        let answer = "HTTP/1.1 200 OK\r\n\r\nActive connections: 3 \nserver accepts handled requests\n \
                      56 56 175448 \nReading: 0 Writing: 1 Waiting: 2 \n";
        let seen = Seen {
            accepted: 56,
            requests: 175_448,
        };
        assert_eq!(counted(answer), Some(seen));
        assert_eq!(counted("HTTP/1.1 404 Not Found\r\n\r\n"), None);
        assert_eq!(counted("server accepts handled requests\n 1"), None);
    }

    #[test]
    fn no_port_is_given_twice() {
        let mut ports = free_ports(4 * PORTS + 1).unwrap();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 4 * PORTS + 1);
    }

    #[test]
    fn without_a_certificate_there_is_no_tls() {
        let site = |tls| Site {
            folder: PathBuf::from("/folder"),
            tls,
        };
        let ports = [1, 2, 3, 4].map(|port| vec![port]);
        let plain = configuration(&site(false), &ports, 5, 100);
        assert!(!plain.contains("ssl"), "{plain}");
        assert!(plain.contains("listen 127.0.0.1:3 http2 "), "{plain}");
        let both = configuration(&site(true), &ports, 5, 100);
        assert!(both.contains("listen 127.0.0.1:2 ssl "), "{both}");
        assert!(both.contains("listen 127.0.0.1:4 ssl http2 "), "{both}");
        assert!(both.contains("worker_connections 100;"), "{both}");
        assert!(both.contains(r#"return 200 "Hello world\n";"#), "{both}");
    }
}
