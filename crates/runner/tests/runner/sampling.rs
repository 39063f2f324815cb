//! A server's process tree is sampled as it is started: under a supervisor, in a control group where there is one.

use std::{fs, time::Duration};

use deadheat_model::plan::Pinning;
use deadheat_runner::{
    process::{CpuGroup, Supervised, read_stat},
    sampling::Sampler,
};

use crate::process::{eventually, read_pid, shell, supervision};

#[test]
fn the_series_has_the_cpu_time_of_a_child_that_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    // The inner shell computes until it is told to end, and then is there no more: its CPU time still is.
    let script = "echo $$ > pid.new; mv pid.new pid; \
                  sh -c 'echo $$ > own.new; mv own.new inner; while [ ! -e end ]; do :; done'; \
                  touch ended; while :; do sleep 1; done";
    let mut server = Supervised::spawn(&supervision(), &shell(folder.path(), script)).unwrap();
    let inner = read_pid(&folder.path().join("inner"));
    let pinning = Pinning::Off { cpus: Vec::new() };
    let mut sampler = Sampler::new(&server, &pinning, Duration::from_secs(10));
    sampler.begin();
    let ticks = || read_stat(inner).map_or(0, |stat| stat.cpu_ticks);
    let before = ticks();
    eventually("0.3 s of CPU time", || ticks() >= before + 30);
    fs::write(folder.path().join("end"), "").unwrap();
    eventually("the inner shell's end", || {
        folder.path().join("ended").exists()
    });
    // Well over what samples are apart, so that there is one after it: the one that is taken at the end, if no other.
    std::thread::sleep(Duration::from_millis(800));
    let (resources, _) = sampler.end().unwrap();
    server.stop().unwrap();
    assert_eq!(resources.cpu_source, CpuGroup::probe(), "the best one here");
    let last = resources.series.unwrap().samples.pop().unwrap();
    // Ticks are of 10 ms, and a control group counts finer.
    assert!(last.cpu_seconds >= 0.28, "{last:?}");
    let total = resources.cpu_seconds;
    assert!(total >= 0.28, "{total}");
}
