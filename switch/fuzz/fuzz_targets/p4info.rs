#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| strangers::p4info::offer(data));
