//! The heads of answers.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| deadheat_load::fuzzing::head(input));
