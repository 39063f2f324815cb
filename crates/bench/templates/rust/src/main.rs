//! The {{id}} stack.

mod http;
mod routes;

use std::{env, error::Error, net::TcpListener, thread};

fn main() -> Result<(), Box<dyn Error>> {
    let host = env::var("HOST")?;
    let port = env::var("PORT")?.parse::<u16>()?;
    let listener = TcpListener::bind((host, port))?;
    // SIGTERM ends the process at once, as it does where nobody handles it.
    for stream in listener.incoming() {
        // A client that has gone again is no reason to stop.
        let Ok(stream) = stream else { continue };
        thread::spawn(move || http::serve(stream, routes::answer));
    }
    Ok(())
}
