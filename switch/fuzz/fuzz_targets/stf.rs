//! Any text as a script of packet tests: statements, or the line that is none.

#![no_main]

#[path = "../../crates/stf/src/script.rs"]
mod script;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Err(error) = script::parse(&text) {
        assert!((1..=text.lines().count()).contains(&error.line), "{error}");
    }
});
