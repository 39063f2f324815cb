//! A table of bad `workloads/*.toml`s, each with the drawing that it gets.

use super::{drawn, workload};

fn of(manifest: &str) -> String {
    drawn(&[("workloads/text.toml", manifest)])
}

/// The least manifest, with `from` replaced.
fn with(from: &str, to: &str) -> String {
    let least = workload("text", "");
    assert!(least.contains(from), "{from}");
    least.replace(from, to)
}

macro_rules! mistakes {
    ($($name:ident: $manifest:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(of(&$manifest));
        }
    )*};
}

mistakes! {
    misspelt_key_of_a_point: workload("text", "conections = 4\n");
    misspelt_key_of_an_oracle: with("body = \"Hello\"", "bdy = \"Hello\"");
    missing_key_of_an_oracle: with("body = \"Hello\"\n", "");
    misspelt_kind_of_an_oracle: with("\"text\"\nbody", "\"txt\"\nbody");
    oracle_without_a_kind: with("kind = \"text\"\n", "");
    wrong_type_in_an_oracle: with("body = \"Hello\"", "body = 3");
    key_of_an_oracle_that_has_none: with("kind = \"text\"", "kind = \"users\"");
    repeated_byte_is_two_characters: with("kind = \"text\"\nbody = \"Hello\"", "kind = \"repeated\"\nbyte = \"dd\"\ncount = 3");
    repeated_byte_is_not_ascii: with("kind = \"text\"\nbody = \"Hello\"", "kind = \"repeated\"\nbyte = \"ä\"\ncount = 0");
    id_is_not_the_file: with("id = \"text\"", "id = \"json\"");
    rounds_without_a_place_in_the_path: workload("text", "rounds = 3\n");
    path_with_rounds_and_a_point_without: with("/text", "/text?n={rounds}");
    path_with_other_braces: with("/text", "/text?n={round}");
    digest_chain_without_rounds: with("kind = \"text\"\nbody = \"Hello\"", "kind = \"digest-chain\"");
    path_without_a_slash: with("/text", "text me");
    point_twice: workload("text", "\n[[point]]\nid = \"c50\"\nconnections = 60\n");
    no_point: with("[[point]]\nid = \"c50\"\nconnections = 50\n", "").replace("[oracle]", "point = []\n\n[oracle]");
    zeroes: with("content-sample = 10", "content-sample = 0")
        .replace("connections = 50", "connections = 0");
    streams_of_http_1: workload("text", "streams = 4\n");
    no_streams: workload("text", "protocol = \"h2c\"\nstreams = 0\n");
    more_streams_than_a_load_can_have: workload("text", "protocol = \"h2c\"\nstreams = 1_001\n");
    more_connections_than_a_load_can_have: with("connections = 50", "connections = 1_000_001");
    revalidation_of_what_is_no_file: workload("text", "revalidate = true\n");
    sending_over_http_2: workload("text", "protocol = \"h2c\"\n[point.sending]\nhttp = \"1.0\"\n");
    another_http: workload("text", "[point.sending]\nhttp = \"1.2\"\n");
    method_in_small_letters: with("GET", "get");
    mixed_of_one_part_that_is_itself: with("kind = \"text\"\nbody = \"Hello\"", "kind = \"mixed\"\n[[oracle.part]]\nworkload = \"text\"\nweight = 0");
    misspelt_key_of_a_part: with("kind = \"text\"\nbody = \"Hello\"", "kind = \"mixed\"\n[[oracle.part]]\nworkload = \"text\"\nwieght = 1");
}
