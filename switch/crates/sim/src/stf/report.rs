//! Mismatches, for a person to read: both packets, a ruler, and the first difference.

use std::fmt;

/// Bytes on a line of a dump.
const LINE_BYTES: usize = 16;

/// A packet that should have come out differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The port.
    pub port: u16,
    /// The line of the script that expected something.
    pub line: Option<usize>,
    /// What is wrong, in a sentence.
    pub what: String,
    /// Digits expected, if any.
    expected: Option<String>,
    /// Digits seen, if any.
    seen: Option<String>,
    /// The first byte that differs.
    first: Option<usize>,
}

fn digits(packet: &[u8]) -> String {
    packet.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Mismatch {
    /// Compares a packet with what a script expects; `None` where it is as expected.
    pub fn compare(port: u16, line: usize, expected: &str, packet: &[u8]) -> Option<Mismatch> {
        let seen = digits(packet);
        let (body, exact) = match expected.strip_suffix('$') {
            Some(body) => (body, true),
            None => (expected, false),
        };
        let matches = |(want, have): (char, char)| want == '*' || want == have;
        let differs = body.chars().zip(seen.chars()).position(|pair| !matches(pair));
        let too_long = exact && seen.len() > body.len();
        let (what, first) = match differs {
            Some(digit) => (format!("byte {} differs", digit / 2), Some(digit / 2)),
            None if seen.len() < body.len() => {
                let (have, want) = (packet.len(), body.len().div_ceil(2));
                (format!("the packet has {have} bytes, at least {want} are expected"), Some(have))
            }
            None if too_long => {
                let (have, want) = (packet.len(), body.len() / 2);
                (format!("the packet has {have} bytes, exactly {want} are expected"), Some(want))
            }
            None => return None,
        };
        let expected = Some(body.to_owned());
        Some(Mismatch { port, line: Some(line), what, expected, seen: Some(seen), first })
    }

    /// A packet that did not come.
    pub fn missing(port: u16, line: usize, expected: Option<&str>) -> Mismatch {
        let what = "the packet did not come out".to_owned();
        let expected = expected.map(|digits| digits.trim_end_matches('$').to_owned());
        Mismatch { port, line: Some(line), what, expected, seen: None, first: None }
    }

    /// A packet nobody expects.
    pub fn unexpected(port: u16, packet: &[u8]) -> Mismatch {
        let what = "nobody expects this packet".to_owned();
        Mismatch { port, line: None, what, expected: None, seen: Some(digits(packet)), first: None }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {}: {}", self.port, self.what)?;
        if let Some(line) = self.line {
            write!(f, " (expected in line {line})")?;
        }
        writeln!(f)?;
        let (expected, seen) = (self.expected.as_deref(), self.seen.as_deref());
        let longest = expected.map_or(0, str::len).max(seen.map_or(0, str::len)).div_ceil(2);
        for start in (0..longest).step_by(LINE_BYTES) {
            let ruler: Vec<String> =
                (start..longest.min(start + LINE_BYTES)).map(|at| format!("{at:2}")).collect();
            writeln!(f, "            {}", ruler.join(" "))?;
            for (name, packet) in [("expected", expected), ("seen", seen)] {
                if let Some(packet) = packet {
                    writeln!(f, "  {name:>8}  {}", line_of(packet, start))?;
                }
            }
            if let Some(first) =
                self.first.filter(|first| (start..start + LINE_BYTES).contains(first))
            {
                writeln!(f, "            {}^^", "   ".repeat(first - start))?;
            }
        }
        Ok(())
    }
}

/// Bytes from `start` on as pairs of digits.
fn line_of(packet: &str, start: usize) -> String {
    let digits: Vec<char> = packet.chars().skip(2 * start).take(2 * LINE_BYTES).collect();
    let pairs: Vec<String> = digits.chunks(2).map(|pair| pair.iter().collect()).collect();
    pairs.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_and_only_a_dollar_ends_the_packet() {
        assert_eq!(Mismatch::compare(1, 1, "0a*c", &[0x0a, 0xbc, 0xff]), None);
        assert!(Mismatch::compare(1, 1, "0a*c$", &[0x0a, 0xbc, 0xff]).is_some());
        assert_eq!(Mismatch::compare(1, 1, "0a*c$", &[0x0a, 0xbc]), None);
        assert!(Mismatch::compare(1, 1, "0a*c", &[0x0a]).is_some());
    }

    #[test]
    fn a_difference_is_pointed_at() {
        let mismatch = Mismatch::compare(2, 7, "0001**03", &[0, 1, 2, 4]).unwrap();
        let lines = [
            "port 2: byte 3 differs (expected in line 7)",
            "             0  1  2  3",
            "  expected  00 01 ** 03",
            "      seen  00 01 02 04",
            "                     ^^",
            "",
        ];
        assert_eq!(mismatch.to_string(), lines.join("\n"));
    }
}
