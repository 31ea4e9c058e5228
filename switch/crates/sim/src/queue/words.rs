//! The words in which `vitrine-sim queue` describes a class's traffic and its queue.

use queueing::{Arrivals, Lengths};
use traffic::Limit;
use units::{Bytes, Span};

/// An arrival process that makes `load` of a line on which a packet takes `packet_s` seconds.
pub fn arrivals(text: &str, load: f64, packet_s: f64) -> Result<Arrivals, String> {
    let gap = span(packet_s / load);
    match text.split_once(':') {
        None if text == "poisson" => Ok(Arrivals::Poisson { gap }),
        None if text == "constant" => Ok(Arrivals::Constant { gap }),
        Some(("onoff", burst)) => {
            let burst: u32 = burst.parse().ok().filter(|burst| *burst > 0).ok_or_else(|| {
                format!("--arrivals: `{text}`: a burst is a positive number of packets")
            })?;
            // A burst comes at the line's speed; the pause makes up for the excess.
            let on = packet_s * f64::from(burst - 1);
            let pause = (packet_s / load * f64::from(burst) - on).max(0.0);
            Ok(Arrivals::OnOff { gap: span(packet_s), burst, pause: span(pause) })
        }
        _ => {
            Err(format!("--arrivals: `{text}` is unknown; use poisson, constant or onoff:PACKETS"))
        }
    }
}

/// `1000`, `exp:1000` or `imix`.
pub fn lengths(text: &str) -> Result<Lengths, String> {
    let wrong = || format!("--lengths: `{text}` is unknown; use bytes, exp:BYTES or imix");
    let bytes = |text: &str| text.parse().ok().filter(|n| *n > 0).map(Bytes).ok_or_else(wrong);
    match text.split_once(':') {
        None if text == "imix" => Ok(Lengths::imix()),
        None => Ok(Lengths::Fixed(bytes(text)?)),
        Some(("exp", mean)) => Ok(Lengths::Exponential(bytes(mean)?)),
        Some(_) => Err(wrong()),
    }
}

/// `64`, `100000B` or `none`.
pub fn limit(text: &str) -> Result<Limit, String> {
    let wrong = || format!("--limits: `{text}` is unknown; use packets, bytes with a B, or none");
    match text.strip_suffix('B') {
        _ if text == "none" => Ok(Limit::NONE),
        Some(bytes) => Ok(Limit::bytes(Bytes(bytes.parse().map_err(|_| wrong())?))),
        None => Ok(Limit::packets(text.parse().map_err(|_| wrong())?)),
    }
}

fn span(seconds: f64) -> Span {
    Span::from_ps((seconds * 1e12).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_a_unit_or_are_packets() {
        assert_eq!(limit("64"), Ok(Limit::packets(64)));
        assert_eq!(limit("100000B"), Ok(Limit::bytes(Bytes(100_000))));
        assert_eq!(limit("none"), Ok(Limit::NONE));
        assert!(limit("many").is_err());
    }

    #[test]
    fn a_burst_and_its_pause_make_the_load_asked_for() {
        // Ten packets of 1 ms in a burst at load .5: 10 ms on, and 20 ms from burst to burst, of
        // which 9 ms lie between the first and the last packet: a pause of 11 ms.
        let process = arrivals("onoff:10", 0.5, 1e-3);
        let (gap, pause) = (Span::from_ms(1), Span::from_ms(11));
        assert_eq!(process, Ok(Arrivals::OnOff { gap, burst: 10, pause }));
    }
}
