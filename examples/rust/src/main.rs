//! A small service: it listens at $HOST and $PORT, as Deadheat asks for.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    thread,
};

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var(name).map_err(io::Error::other);
    let address = format!("{}:{}", variable("HOST")?, variable("PORT")?);
    for connection in TcpListener::bind(address)?.incoming() {
        let connection = connection?;
        thread::spawn(|| serve(connection));
    }
    Ok(())
}

/// Answers each request of a connection until the client closes it.
fn serve(mut connection: TcpStream) -> io::Result<()> {
    let requests = BufReader::new(connection.try_clone()?);
    for line in requests.lines() {
        // An empty line ends a request without a body.
        if line?.is_empty() {
            let body = r#"{"message":"Hello"}"#;
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            connection.write_all(answer.as_bytes())?;
        }
    }
    Ok(())
}
