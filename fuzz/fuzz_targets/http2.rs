//! Conversations in HTTP/2, cut at will.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| deadheat_load::fuzzing::conversation(input));
