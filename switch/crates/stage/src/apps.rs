//! From messages to applications.

use core::net::IpAddr;

use hosts::{
    Algorithm, App, Bulk, BulkConfig, DatagramSink, DatagramSource, DatagramSourceConfig,
    EPHEMERAL_COUNT, Endpoint, Lengths, Listener, ListenerConfig, Pace, Page, PageConfig, Ping,
    PingConfig, Service, Until, Volleys, VolleysConfig, Workload, WorkloadConfig,
};
use messages::vitrine::v1;
use p4runtime::Refusal;
use units::{Bytes, Rate, Span};
use v1::app::Kind;
use v1::datagram_source::Pace as PaceMessage;
use v1::workload::Lengths as LengthsMessage;

use crate::tcp::NamedAlgorithm;

/// Number, flow and instant are in each of our datagrams.
const DATAGRAM_BYTES_MIN: u64 = 24;
const DATAGRAM_BYTES_MAX: u64 = 65_507;
const DATAGRAM_BYTES: u64 = 1400;
const ECHO_PAYLOAD_BYTES: u64 = 56;
/// Connections of one application: a host has no more ports for those to one destination.
const CONNECTION_COUNT_MAX: u64 = EPHEMERAL_COUNT as u64;
/// Datagrams that leave at one instant: each is made before time goes on.
const AT_ONCE_COUNT_MAX: u64 = 1 << 20;

/// Finds the address of a name.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Option<IpAddr>;

/// The application of a message. `resolve` knows the hosts' names, `algorithm` the congestion
/// controls.
pub fn app_of(
    message: v1::App,
    resolve: Resolve<'_>,
    algorithm: &mut NamedAlgorithm<'_>,
) -> Result<Box<dyn App>, Refusal> {
    let kind = message.kind.ok_or_else(|| {
        Refusal::invalid("the application has no kind: say bulk, listener, ping or another")
    })?;
    Ok(match kind {
        Kind::Bulk(message) => bulk(message, resolve, algorithm)?,
        Kind::DatagramSink(message) => datagram_sink(message)?,
        Kind::DatagramSource(message) => datagram_source(message, resolve)?,
        Kind::Listener(message) => listener(&message, algorithm)?,
        Kind::Page(message) => page(message, resolve, algorithm)?,
        Kind::Ping(message) => ping(&message, resolve)?,
        Kind::Workload(message) => workload(message, resolve, algorithm)?,
    })
}

fn bulk(
    message: v1::Bulk,
    resolve: Resolve<'_>,
    algorithm: &mut NamedAlgorithm<'_>,
) -> Result<Box<dyn App>, Refusal> {
    let until = match message.until {
        None => Until::Stopped,
        Some(v1::bulk::Until::SpanNs(ns)) => Until::Span(span(ns)),
        Some(v1::bulk::Until::LengthBytes(bytes)) => Until::Sent(Bytes(bytes)),
    };
    let bulk = Bulk::new(BulkConfig {
        to: endpoint(message.to, "bulk.to", resolve)?,
        until,
        after: span(message.after_ns),
        congestion: congestion(&message.congestion_control, algorithm)?,
        parallel: at_most(
            CONNECTION_COUNT_MAX,
            u64::from(message.connections.max(1)),
            "bulk.connections",
        )? as usize,
    });
    Ok(match Rate::from_bps(message.pacing_rate_bps) {
        Some(rate) => Box::new(bulk.paced_to(rate)),
        None => Box::new(bulk),
    })
}

fn listener(
    message: &v1::Listener,
    algorithm: &mut NamedAlgorithm<'_>,
) -> Result<Box<dyn App>, Refusal> {
    let service = match message.answers {
        None => Service::Discard,
        Some(exchange) => Service::Respond {
            request: Bytes(exchange.request_bytes),
            response: Bytes(exchange.response_bytes),
        },
    };
    let listener = Listener::new(ListenerConfig {
        port: port(message.port, "listener.port")?,
        service,
        congestion: congestion(&message.congestion_control, algorithm)?,
    });
    Ok(Box::new(match message.pause_ns {
        0 => listener,
        pause_ns => listener.pausing(span(message.pause_after_ns), span(pause_ns)),
    }))
}

fn page(
    message: v1::Page,
    resolve: Resolve<'_>,
    algorithm: &mut NamedAlgorithm<'_>,
) -> Result<Box<dyn App>, Refusal> {
    let exchange = message.exchange.unwrap_or_default();
    at_most(CONNECTION_COUNT_MAX, message.from.len() as u64, "the length of page.from")?;
    Ok(Box::new(Page::new(PageConfig {
        from: endpoints(message.from, "page.from", resolve)?,
        request: Bytes(exchange.request_bytes),
        response: Bytes(exchange.response_bytes),
        after: span(message.after_ns),
        pause: span(message.pause_ns),
        random_pause: message.random_pause,
        count: message.count.max(1),
        congestion: congestion(&message.congestion_control, algorithm)?,
    })))
}

fn ping(message: &v1::Ping, resolve: Resolve<'_>) -> Result<Box<dyn App>, Refusal> {
    let interval =
        if message.interval_ns == 0 { Span::from_secs(1) } else { span(message.interval_ns) };
    let hop_limit = u8::try_from(message.hop_limit).map_err(|_| {
        Refusal::invalid(format!("ping.hop_limit: {} is more than 255", message.hop_limit))
    })?;
    Ok(Box::new(Ping::new(PingConfig {
        to: address(&message.to, "ping.to", resolve)?,
        interval,
        count: (message.count > 0).then_some(message.count),
        payload: Bytes(at_most(
            DATAGRAM_BYTES_MAX,
            message.payload_bytes.unwrap_or(ECHO_PAYLOAD_BYTES),
            "ping.payload_bytes",
        )?),
        hop_limit: (hop_limit > 0).then_some(hop_limit),
        after: span(message.after_ns),
    })))
}

fn datagram_sink(message: v1::DatagramSink) -> Result<Box<dyn App>, Refusal> {
    let sink = DatagramSink::new(port(message.port, "datagram_sink.port")?);
    Ok(match message.told_bytes {
        Some(bytes) => Box::new(sink.telling(bytes as usize)),
        None => Box::new(sink),
    })
}

fn datagram_source(
    message: v1::DatagramSource,
    resolve: Resolve<'_>,
) -> Result<Box<dyn App>, Refusal> {
    let to = endpoint(message.to, "datagram_source.to", resolve)?;
    let length = if message.payload_bytes == 0 { DATAGRAM_BYTES } else { message.payload_bytes };
    if !(DATAGRAM_BYTES_MIN..=DATAGRAM_BYTES_MAX).contains(&length) {
        return Err(Refusal::invalid(format!(
            "datagram_source.payload_bytes: {length}; a datagram has {DATAGRAM_BYTES_MIN} to \
             {DATAGRAM_BYTES_MAX}"
        )));
    }
    let pace = message.pace.ok_or_else(|| {
        Refusal::invalid("datagram_source.pace is not set: say steady, bursts, poisson or another")
    })?;
    let (rate_bps, pace) = match pace {
        PaceMessage::Steady(steady) => (steady.rate_bps, Pace::Steady),
        PaceMessage::Bursts(bursts) => {
            let place = "datagram_source.bursts.datagrams";
            let datagrams = at_most(AT_ONCE_COUNT_MAX, bursts.datagrams, place)?;
            (bursts.rate_bps, Pace::Bursts { datagrams })
        }
        PaceMessage::Poisson(poisson) => (poisson.rate_bps, Pace::Poisson),
        PaceMessage::OnOff(it) => {
            if (it.on_mean_ns, it.off_mean_ns) == (0, 0) {
                return Err(Refusal::invalid(
                    "datagram_source.on_off: both means are 0; give how long it is on, and off",
                ));
            }
            let pace = Pace::OnOff { on: span(it.on_mean_ns), off: span(it.off_mean_ns) };
            (it.rate_bps, pace)
        }
        PaceMessage::Volleys(volleys) => {
            let after = span(message.after_ns);
            let at = volleys.at_ns.into_iter();
            let at: Vec<Span> =
                at.map(|ns| Span::from_ps(after.ps().saturating_add(span(ns).ps()))).collect();
            if !at.is_sorted() {
                return Err(Refusal::invalid("datagram_source.volleys.at_ns: the times must rise"));
            }
            let place = "datagram_source.volleys.datagrams";
            let at_once = at.chunk_by(Span::eq).map(<[Span]>::len).max().unwrap_or(0) as u64;
            at_most(AT_ONCE_COUNT_MAX, volleys.datagrams.saturating_mul(at_once.max(1)), place)?;
            let datagrams = volleys.datagrams;
            let length = Bytes(length);
            return Ok(Box::new(Volleys::new(VolleysConfig { to, length, datagrams, at })));
        }
    };
    let rate = Rate::from_bps(rate_bps).ok_or_else(|| {
        Refusal::invalid("datagram_source: a rate of 0 would never send; give rate_bps")
    })?;
    Ok(Box::new(DatagramSource::new(DatagramSourceConfig {
        to,
        rate,
        length: Bytes(length),
        pace,
        after: span(message.after_ns),
        span: endless(message.span_ns),
    })))
}

fn workload(
    message: v1::Workload,
    resolve: Resolve<'_>,
    algorithm: &mut NamedAlgorithm<'_>,
) -> Result<Box<dyn App>, Refusal> {
    let lengths = match message.lengths {
        Some(LengthsMessage::FixedBytes(bytes)) => Lengths::Fixed(Bytes(bytes)),
        Some(LengthsMessage::HeavyTail(tail)) => {
            Lengths::HeavyTailed { min: Bytes(tail.min_bytes), max: Bytes(tail.max_bytes) }
        }
        None => {
            return Err(Refusal::invalid(
                "workload.lengths is not set: say fixed_bytes or heavy_tail",
            ));
        }
    };
    if message.interval_mean_ns == 0 {
        let message = "workload.interval_mean_ns: 0 would begin all flows at once; give a time";
        return Err(Refusal::invalid(message));
    }
    Ok(Box::new(Workload::new(WorkloadConfig {
        to: endpoints(message.to, "workload.to", resolve)?,
        interval: span(message.interval_mean_ns),
        lengths,
        after: span(message.after_ns),
        span: endless(message.span_ns),
        congestion: congestion(&message.congestion_control, algorithm)?,
    })))
}

// ---- parts -------------------------------------------------------------------------------------

/// Spans end at 213 days; longer ones mean the same.
pub fn span(ns: u64) -> Span {
    Span::from_ps(ns.saturating_mul(1000))
}

fn at_most(most: u64, value: u64, place: &str) -> Result<u64, Refusal> {
    match value <= most {
        true => Ok(value),
        false => Err(Refusal::invalid(format!("{place}: {value}; at most {most}"))),
    }
}

fn endless(ns: u64) -> Span {
    if ns == 0 { Span::MAX } else { span(ns) }
}

fn endpoints(
    peers: Vec<v1::Peer>,
    place: &str,
    resolve: Resolve<'_>,
) -> Result<Vec<Endpoint>, Refusal> {
    if peers.is_empty() {
        return Err(Refusal::invalid(format!("{place} is empty: name at least one host and port")));
    }
    peers.into_iter().map(|peer| endpoint(Some(peer), place, resolve)).collect()
}

fn endpoint(
    peer: Option<v1::Peer>,
    place: &str,
    resolve: Resolve<'_>,
) -> Result<Endpoint, Refusal> {
    let peer = peer
        .ok_or_else(|| Refusal::invalid(format!("{place} is not set: name a host and a port")))?;
    let address = address(&peer.host, place, resolve)?;
    Ok(Endpoint::new(address, port(peer.port, &format!("{place}.port"))?))
}

fn address(name: &str, place: &str, resolve: Resolve<'_>) -> Result<IpAddr, Refusal> {
    let found = resolve(name).or_else(|| name.parse().ok());
    found.ok_or_else(|| {
        Refusal::invalid(format!("{place}: {name:?} is neither a host's name nor an address"))
    })
}

fn port(number: u32, place: &str) -> Result<u16, Refusal> {
    let port = u16::try_from(number).ok().filter(|port| *port > 0);
    port.ok_or_else(|| Refusal::invalid(format!("{place}: {number}; ports are 1 to 65535")))
}

fn congestion(
    name: &str,
    algorithm: &mut NamedAlgorithm<'_>,
) -> Result<Option<Algorithm>, Refusal> {
    if name.is_empty() {
        return Ok(None);
    }
    let found = algorithm(name);
    found.map(Some).map_err(|why| Refusal::invalid(format!("congestion_control: {why}")))
}

#[cfg(test)]
mod tests {
    use v1::datagram_source::{Bursts, OnOff, Volleys as VolleysMessage};

    use super::*;

    fn refusal(kind: Kind) -> String {
        let resolve = |_: &str| Some(IpAddr::from([10, 0, 0, 1]));
        let app = v1::App { kind: Some(kind) };
        let made = app_of(app, &resolve, &mut |_| Err(String::new()));
        made.map(drop).expect_err("it must be refused").message
    }

    fn peer() -> v1::Peer {
        v1::Peer { host: "h1".to_owned(), port: 5001 }
    }

    /// Each would take all memory, or never let time go on.
    #[test]
    fn numbers_that_would_stop_the_network_are_refused() {
        let to = Some(peer());
        let bulk = v1::Bulk { to: to.clone(), connections: 4_000_000_000, ..Default::default() };
        let said = refusal(Kind::Bulk(bulk));
        assert_eq!(said, "bulk.connections: 4000000000; at most 28232");
        let page = v1::Page { from: vec![peer(); 28_233], ..Default::default() };
        assert_eq!(refusal(Kind::Page(page)), "the length of page.from: 28233; at most 28232");
        let ping = v1::Ping { payload_bytes: Some(1 << 40), ..Default::default() };
        assert!(refusal(Kind::Ping(ping)).starts_with("ping.payload_bytes: 1099511627776;"));
        let bursts = PaceMessage::Bursts(Bursts { rate_bps: 1, datagrams: 1 << 60 });
        let volleys = PaceMessage::Volleys(VolleysMessage { datagrams: u64::MAX, at_ns: vec![0] });
        // Many volleys at one instant.
        let at_ns = vec![7; 1025];
        let together = PaceMessage::Volleys(VolleysMessage { datagrams: 1024, at_ns });
        for pace in [bursts, volleys, together] {
            let source =
                v1::DatagramSource { to: to.clone(), pace: Some(pace), ..Default::default() };
            assert!(refusal(Kind::DatagramSource(source)).ends_with("; at most 1048576"));
        }
        // Neither on nor off for any time: it would change for ever at one instant.
        let pace = Some(PaceMessage::OnOff(OnOff { rate_bps: 1, on_mean_ns: 0, off_mean_ns: 0 }));
        let source = v1::DatagramSource { to, pace, ..Default::default() };
        let said = refusal(Kind::DatagramSource(source));
        assert!(said.starts_with("datagram_source.on_off: both means are 0"), "{said}");
    }
}
