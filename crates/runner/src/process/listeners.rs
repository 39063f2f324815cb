//! The sockets that listen on a port, from `/proc/net/tcp` (proc_net(5)).

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead, BufReader},
};

/// The state `LISTEN` (enum tcp_state).
const LISTEN: &str = "0A";

/// Links to the sockets that listen on `port` at any address of this machine, as in `/proc/PID/fd` (proc_pid_fd(5)): none if
/// `/proc` cannot tell.
pub fn listening_sockets(port: u16) -> BTreeSet<String> {
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| File::open(table).ok())
        .flat_map(|table| listeners(BufReader::new(table), port))
        .collect()
}

/// Links to those of a table. Linux lists all sockets that listen before the first other one (`tcp_seq_start` in
/// `net/ipv4/tcp_ipv4.c`), and the others can be tens of thousands after a load, so the rest is not read.
fn listeners(table: impl BufRead, port: u16) -> Vec<String> {
    let suffix = format!(":{port:04X}");
    let mut found = Vec::new();
    for line in table.lines().skip(1).map_while(Result::ok) {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let &[_, local, _, state, _, _, _, _, _, inode, ..] = fields.as_slice() else {
            continue;
        };
        if state != LISTEN {
            break;
        }
        if local.ends_with(&suffix) {
            found.push(format!("socket:[{inode}]"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn takes_listeners_on_that_port_only() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 111 1 0 100 0 0 10 0\n\
            1: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 333 1 0 100 0 0 10 0\n\
            2: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 444 1 0 100 0 0 10 0\n\
            3: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 0 0 222 1 0 20 4 30 10 -1\n";
        assert_eq!(
            listeners(table.as_bytes(), 8080),
            ["socket:[111]", "socket:[444]"]
        );
    }

    #[test]
    fn finds_its_own_among_those_of_this_machine_and_no_connection() {
        let one = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = one.local_addr().unwrap().port();
        let sockets: Vec<TcpListener> = (0..200)
            .map(|_| TcpListener::bind("[::1]:0").unwrap())
            .collect();
        let _connected = TcpStream::connect(("127.0.0.1", port)).unwrap();
        assert_eq!(listening_sockets(port).len(), 1);
        for other in &sockets {
            let port = other.local_addr().unwrap().port();
            assert!(!listening_sockets(port).is_empty());
        }
    }
}
