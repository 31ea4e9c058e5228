//! Messages in a stream of bytes: a head with the length, an empty line, JSON.

use serde_json::Value;
use std::io::{self, BufRead, Write};

/// No editor sends a longer message; anything longer is something else.
const LENGTH_MAX: usize = 64 << 20;

/// The next message; `None` at the end of the stream. Text that is no JSON comes as null.
pub fn read_message(input: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let length = length.filter(|length| *length <= LENGTH_MAX).ok_or_else(|| {
        let why = format!("a message must say its Content-Length, at most {LENGTH_MAX}");
        io::Error::new(io::ErrorKind::InvalidData, why)
    })?;
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body).unwrap_or_default()))
}

/// Writes a message at once.
pub fn write_message(out: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    out.flush()
}
