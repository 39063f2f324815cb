//! One load from the command line, for measuring the load generator itself.
//!
//! `cargo run --release -p deadheat-load --example closed_loop -- 127.0.0.1:8080 13 50 3 1`
//! (address, body length, connections, seconds, CPU)

use std::{
    env,
    error::Error,
    io::{Write as _, stdout},
    sync::atomic::AtomicBool,
    time::Duration,
};

use deadheat_model::{
    Exchange, LoadSpec, Schedule, StopRule,
    load::{Content, Expectation, Protocol, RequestSpec, Timeouts},
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, length, connections, seconds, cpu] = arguments.as_slice() else {
        return Err("arguments: address, body length, connections, seconds, CPU".into());
    };
    let count = length.parse()?;
    let spec = LoadSpec {
        address: address.parse()?,
        protocol: Protocol::Http1,
        exchanges: vec![Exchange {
            request: RequestSpec::get("/"),
            expect: Expectation {
                status: 200,
                length: Some(count),
                content: Some(Content::Repeated { byte: b'd', count }),
            },
        }],
        schedule: Schedule::Closed {
            connections: connections.parse()?,
            ramp: Duration::from_millis(100),
        },
        stop: StopRule::Duration {
            length: Duration::from_secs_f64(seconds.parse()?),
        },
        warm_up: Duration::from_millis(500),
        timeouts: Timeouts::default(),
        content_sample: 100,
        cpus: vec![cpu.parse()?],
        bin: Duration::from_millis(500),
    };
    let seen = deadheat_load::run(&spec, &mut |_| {}, &AtomicBool::new(false))?;
    let requests = seen.measured.ended().max(1);
    let cpu_time: Duration = seen.workers.iter().map(|worker| worker.cpu_time).sum();
    writeln!(
        stdout(),
        "{:.0} answers/s, {} failed, {:.2} CPU-µs a request, busy {:.0} %, p50 {:?}, p99 {:?}",
        seen.throughput(),
        seen.total.failed.total(),
        cpu_time.as_secs_f64() * 1e6 / requests as f64,
        seen.busiest_worker() * 100.0,
        seen.service_time.quantile(0.5).unwrap_or_default(),
        seen.service_time.quantile(0.99).unwrap_or_default(),
    )?;
    Ok(())
}
