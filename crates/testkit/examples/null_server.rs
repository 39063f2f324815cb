//! Answers `BYTES` bytes to every request, until it is killed: something to measure the load generator against.
//!
//! `taskset -c 0 cargo run --release -p deadheat-testkit --example null_server -- 127.0.0.1:8080 13`

use std::{env, error::Error, thread};

use deadheat_testkit::{NullServer, answers::sized};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let address = arguments
        .next()
        .ok_or("the first argument is the address")?;
    let bytes = arguments
        .next()
        .ok_or("the second argument is the body's length")?;
    let answer = sized(200, "", &vec![b'd'; bytes.parse()?]);
    let _server = NullServer::start_at(address.parse()?, answer)?;
    loop {
        thread::park();
    }
}
