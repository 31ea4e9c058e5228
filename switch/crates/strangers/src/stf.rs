//! Any text as a script of packet tests: statements, or the line that is none.

/// Offers these bytes.
pub fn offer(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(error) = stf::parse(&text) {
        assert!((1..=text.lines().count()).contains(&error.line), "{error}");
    }
}
