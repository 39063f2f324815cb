//! Real process trees, looked at without a control group: each is a shell that waits for another one, which does what it
//! is told. (Those with a group, where there is one, are in the integration tests.)

use std::{
    fs,
    path::Path,
    process::{Child, Command},
};

use deadheat_model::usage::UsageSample;
use deadheat_testkit::not_tested;

use super::*;

/// A tree that ends with the test.
struct Shell {
    child: Child,
    folder: tempfile::TempDir,
}

impl Shell {
    /// Runs `script` in a shell below another, in a folder of its own.
    fn start(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("script"), script).unwrap();
        let child = Command::new("sh")
            .args(["-c", "sh script & wait"])
            .current_dir(folder.path())
            .spawn()
            .unwrap();
        let shell = Self { child, folder };
        shell.until_there("ready");
        shell
    }

    fn tree(&self) -> Tree {
        Tree {
            supervisor: self.child.id(),
            group: None,
        }
    }

    /// Tells the script something.
    fn tell(&self, name: &str) {
        fs::write(self.path(name), "").unwrap();
    }

    /// Waits for the script to tell something.
    fn until_there(&self, name: &str) {
        until(name, || Path::exists(&self.path(name)));
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // Every script ends when it is told so, and does not before it has grown.
        self.tell("grow");
        self.tell("end");
        let _ = self.child.wait();
    }
}

/// Waits for a condition that a process brings about; the bound only ends a broken test.
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn sampler(tree: Tree) -> Sampler {
    let pinning = Pinning::Off { cpus: Vec::new() };
    Sampler::of(tree, &pinning, Duration::from_secs(10))
}

/// Waits for a sample that begins from now on: while one is under way, nobody else has the lock.
fn until_sampled(sampler: &Sampler) {
    let begun = sampler.begun.as_ref().unwrap();
    let samples = || lock(&begun.series).samples;
    let before = samples();
    until("a sample", || samples() > before);
}

fn ended(sampler: &mut Sampler) -> (Resources, Vec<UsageSample>) {
    let (mut resources, _) = sampler.end().unwrap();
    let samples = resources.series.take().unwrap().samples;
    (resources, samples)
}

/// Whether time goes on and CPU time never goes back.
fn is_in_order(samples: &[UsageSample]) -> bool {
    samples
        .windows(2)
        .all(|pair| pair[0].seconds < pair[1].seconds && pair[0].cpu_seconds <= pair[1].cpu_seconds)
}

#[test]
fn a_tree_that_computes_shows_the_cpu_time_that_it_used() {
    let shell = Shell::start("touch ready; while [ ! -e end ]; do :; done");
    let cpu = || Counters::read(&shell.tree(), &Snapshot::take()).cpu;
    let before = cpu();
    let mut sampler = sampler(shell.tree());
    sampler.begin();
    let begun = cpu();
    let wanted = Duration::from_millis(300);
    until("0.3 s of CPU time", || cpu() >= begun + wanted);
    until_sampled(&sampler);
    let (_, samples) = ended(&mut sampler);
    let most = cpu() - before;
    assert!(is_in_order(&samples), "{samples:?}");
    let used = samples.last().unwrap().cpu_seconds;
    // Both ends are what the kernel counted before and after.
    assert!(used >= wanted.as_secs_f64(), "{used}");
    assert!(used <= most.as_secs_f64(), "{used} of {most:?}");
}

#[test]
fn a_tree_is_looked_at_without_the_processes_of_others() {
    let shell = Shell::start("touch ready; while [ ! -e end ]; do sleep 0.05; done");
    let tree = shell.tree();
    let looked_at = tree.snapshot();
    if Snapshot::of(tree.supervisor).is_none() {
        not_tested("lists of children", "this kernel keeps none");
        return;
    }
    assert!(!looked_at.descendants(tree.supervisor).is_empty());
    // Who started the tree is none of it.
    assert!(looked_at.find(std::process::id()).is_none());
}

#[test]
fn a_tree_that_does_nothing_shows_no_cpu_time() {
    let shell = Shell::start("touch ready; while [ ! -e end ]; do sleep 0.5; done");
    let mut sampler = sampler(shell.tree());
    sampler.begin();
    until_sampled(&sampler);
    until_sampled(&sampler);
    let (_, samples) = ended(&mut sampler);
    assert!(is_in_order(&samples) && samples.len() >= 2, "{samples:?}");
    let last = samples.last().unwrap();
    assert!(last.cpu_seconds < 0.1 * last.seconds + 0.05, "{last:?}");
}

#[test]
fn a_tree_that_allocates_shows_its_memory_grow() {
    const BYTES: u64 = 16 << 20;
    let shell = Shell::start(&format!(
        "touch ready; while [ ! -e grow ]; do sleep 0.05; done; \
         held=$(head -c {BYTES} /dev/zero | tr '\\0' x); touch grown; \
         while [ ! -e end ]; do sleep 0.05; done; echo \"$held\" > /dev/null"
    ));
    let mut sampler = sampler(shell.tree());
    sampler.begin();
    until_sampled(&sampler);
    shell.tell("grow");
    shell.until_there("grown");
    until_sampled(&sampler);
    let (resources, samples) = ended(&mut sampler);
    assert!(is_in_order(&samples), "{samples:?}");
    let sizes: Vec<u64> = samples.iter().filter_map(|one| one.pss_bytes).collect();
    // A shell is among the first that need not be there at the end.
    let grown = sizes[sizes.len() - 1].saturating_sub(sizes[0]);
    assert!(grown >= BYTES / 4 * 3, "{samples:?}");
    assert_eq!(sizes.iter().max().copied(), resources.pss_peak_bytes);
}

#[test]
fn memory_that_cannot_be_read_is_unknown_and_not_zero() {
    let nobody = Tree {
        supervisor: u32::MAX - 10,
        group: None,
    };
    let mut sampler = sampler(nobody);
    sampler.begin();
    let (resources, samples) = ended(&mut sampler);
    let sizes = [
        resources.pss_idle_bytes,
        resources.pss_mean_bytes,
        resources.pss_peak_bytes,
    ];
    assert_eq!((sizes, resources.samples), ([None; 3], 0));
    assert!(samples.iter().all(|sample| sample.pss_bytes.is_none()));
}
