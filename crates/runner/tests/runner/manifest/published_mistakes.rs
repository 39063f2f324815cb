//! A table of bad `published/*.toml`s, each with the drawing that it gets.

use super::{drawn, published, stack, workload};

fn of(document: &str) -> String {
    let variants = "\n[[variant]]\nid = \"one\"\ndescription = \"one\"\n";
    drawn(&[
        ("stacks/go-a/stack.toml", &stack("go-a", variants)),
        ("workloads/text.toml", &workload("text", "")),
        ("workloads/hash.toml", &hash()),
        ("published/blog.toml", document),
    ])
}

fn hash() -> String {
    workload("hash", "rounds = 1\n").replace("/hash", "/hash?rounds={rounds}")
}

/// The least document, with `from` replaced.
fn with(from: &str, to: &str) -> String {
    let least = published("blog", "");
    assert!(least.contains(from), "{from}");
    least.replace(from, to)
}

fn row(more: &str) -> String {
    published(
        "blog",
        &format!("\n[[table.row]]\nname = \"C\"\ntarget = \"go-a\"\n{more}"),
    )
}

macro_rules! mistakes {
    ($($name:ident: $document:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(of(&$document));
        }
    )*};
}

mistakes! {
    id_is_not_the_file: with("id = \"blog\"", "id = \"block\"");
    misspelt_key_of_a_row: row("requests-per-secnd = 100\n");
    misspelt_word_of_a_load: with("reuse = \"per-request\"", "reuse = \"per-requests\"");
    workload_that_is_not: with("workload = \"text\"", "workload = \"texts\"");
    workload_with_rounds_and_a_load_without: with("workload = \"text\"", "workload = \"hash\"");
    variant_on_one_cpu_that_is_not: with("target = \"go-a\"\nrequests", "target = \"go-a\"\ntarget-on-one-cpu = \"go-a:two\"\nrequests");
    variant_that_is_not: with("target = \"go-a\"", "target = \"go-a:two\"");
    baseline_is_no_row: with("baseline = \"A\"", "baseline = \"a\"");
    baseline_without_a_figure: with("baseline = \"A\"", "baseline = \"B\"");
    baseline_of_errors: with("requests-per-second = 100.0", "requests-per-second = 100.0\ncomplete = 1000\nnon-2xx = 1000");
    row_twice: row("no-figures = \"it hung\"\n").replace("\"C\"", "\"A\"");
    row_without_figures_and_a_reason: row("");
    row_with_figures_and_a_reason: row("requests-per-second = 10.0\nno-figures = \"it hung\"\n");
    no_requests: with("requests = 1000", "requests = 0");
    time_does_not_fit_the_rate: row("requests-per-second = 100.0\nseconds = 10.1\n");
    mean_does_not_fit_the_rate: row("requests-per-second = 100.0\nmean-ms = 140.0\nmax-ms = 90\n");
    bytes_do_not_fit_the_transfer_rate: row("requests-per-second = 100.0\nreceived-bytes = 1_024_000\nkib-per-second = 101.0\n");
    answers_of_different_length: row("requests-per-second = 100.0\nreceived-bytes = 2000\nbody-bytes = 2001\n");
    percentiles_out_of_order: row("requests-per-second = 100.0\np50-ms = 3\np99-ms = 2\nmax-ms = 1\n");
    no_rate: row("requests-per-second = 0\n");
    bytes_of_no_requests: row("requests-per-second = 100.0\ncomplete = 0\nbody-bytes = 1000\n");
    errors_of_unknown_many: row("requests-per-second = 100.0\nnon-2xx = 5\n");
    more_answers_than_requests: row("requests-per-second = 100.0\ncomplete = 1001\nfailed = 1002\nnon-2xx = 1003\n");
}

#[test]
fn what_is_right_is_no_mistake() {
    let all = row(
        "requests-per-second = 100.0\nseconds = 10.0\ncomplete = 1000\nfailed = 0\nmean-ms = 100\n\
         p50-ms = 99\np99-ms = 150\nmax-ms = 151\nreceived-bytes = 1_024_000\nbody-bytes = 1_000_000\n\
         kib-per-second = 100.0\n",
    );
    assert_eq!(of(&all), "");
}
