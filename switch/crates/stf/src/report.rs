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
    /// The mistake, in a sentence.
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

/// The first bit in which two packets differ whose digits differ at `digit`.
fn first_bit(expected: &str, seen: &str, digit: usize) -> usize {
    let value = |digits: &str| digits.chars().nth(digit).and_then(|it| it.to_digit(16));
    let difference = value(expected).zip(value(seen)).map_or(0xf, |(want, have)| want ^ have);
    // A digit is the low four of 32 bits.
    4 * digit + difference.leading_zeros().saturating_sub(28) as usize
}

impl Mismatch {
    /// Compares a packet with the expectation of a script; `None` if it is as expected. `field`
    /// names the field that a bit of the packet belongs to.
    pub fn compare(
        port: u16,
        line: usize,
        expected: &str,
        packet: &[u8],
        field: impl FnOnce(usize) -> String,
    ) -> Option<Mismatch> {
        let seen = digits(packet);
        let (body, exact) = match expected.strip_suffix('$') {
            Some(body) => (body, true),
            None => (expected, false),
        };
        let matches = |(want, have): (char, char)| want == '*' || want == have;
        let differs = body.chars().zip(seen.chars()).position(|pair| !matches(pair));
        let too_long = exact && seen.len() > body.len();
        let (what, first) = match differs {
            Some(digit) => {
                let field = field(first_bit(body, &seen, digit));
                (format!("byte {} differs, in {field}", digit / 2), Some(digit / 2))
            }
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

    /// An unexpected packet.
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

    fn compare(expected: &str, packet: &[u8]) -> Option<Mismatch> {
        Mismatch::compare(2, 7, expected, packet, |bit| format!("bit {bit}"))
    }

    #[test]
    fn wildcards_match_and_only_a_dollar_ends_the_packet() {
        assert_eq!(compare("0a*c", &[0x0a, 0xbc, 0xff]), None);
        assert!(compare("0a*c$", &[0x0a, 0xbc, 0xff]).is_some());
        assert_eq!(compare("0a*c$", &[0x0a, 0xbc]), None);
        assert!(compare("0a*c", &[0x0a]).is_some());
    }

    /// 3 and 4 are 0011 and 0100: of the 32 bits the last three differ.
    #[test]
    fn a_difference_is_pointed_at() {
        let mismatch = compare("0001**03", &[0, 1, 2, 4]).unwrap();
        let lines = [
            "port 2: byte 3 differs, in bit 29 (expected in line 7)",
            "             0  1  2  3",
            "  expected  00 01 ** 03",
            "      seen  00 01 02 04",
            "                     ^^",
            "",
        ];
        assert_eq!(mismatch.to_string(), lines.join("\n"));
    }
}
