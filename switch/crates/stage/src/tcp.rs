//! How a host's TCP behaves: `TcpConfig` to the host's settings.

use hosts::{Algorithm, EcnSetting, Memory, TcpSettings};
use messages::vitrine::v1;
use units::{Bytes, Span};

use crate::problems::Problems;

/// The longest time of a setting: Linux's own are 2 minutes at the most.
const TIME_NS_MAX: u64 = 3600 * 1_000_000_000;

/// Finds the congestion control of a name, or says why there is none.
pub type NamedAlgorithm<'a> = dyn FnMut(&str) -> Result<Algorithm, String> + 'a;

/// The settings, with Linux's where nothing is said.
pub fn settings(
    config: Option<&v1::TcpConfig>,
    place: &str,
    algorithm: &mut NamedAlgorithm<'_>,
    problems: &mut Problems,
) -> TcpSettings {
    let mut tcp = TcpSettings::default();
    let Some(config) = config else { return tcp };
    if let Some(name) = &config.congestion_control {
        set(&mut tcp.congestion, congestion(name, place, algorithm, problems));
    }
    if let Some(ecn) = config.ecn {
        set(&mut tcp.ecn, ecn_of(ecn, place, problems));
    }
    edit_memory(&mut tcp.rmem, config.rmem, &format!("{place}, tcp.rmem"), problems);
    edit_memory(&mut tcp.wmem, config.wmem, &format!("{place}, tcp.wmem"), problems);
    set(&mut tcp.sack, config.sack);
    set(&mut tcp.dsack, config.dsack);
    set(&mut tcp.timestamps, config.timestamps);
    set(&mut tcp.window_scaling, config.window_scaling);
    set(&mut tcp.moderate_rcvbuf, config.moderate_rcvbuf);
    set(&mut tcp.initial_window, config.initial_window.map(|packets| packets.max(1)));
    tcp.initial_ssthresh = config.initial_ssthresh.map(|packets| packets.max(2));
    set(&mut tcp.nagle, config.nagle);
    set(&mut tcp.pacing, config.pacing);
    set(&mut tcp.pacing_slow_start_percent, config.pacing_ss_ratio);
    set(&mut tcp.pacing_avoidance_percent, config.pacing_ca_ratio);
    set(&mut tcp.tso_segments_max, config.tso_segments_max.map(|segments| segments.max(1)));
    if let Some(bytes) = config.limit_output_bytes {
        tcp.queued_bytes_max = (bytes > 0).then_some(Bytes(bytes));
    }
    set(&mut tcp.rack, config.rack);
    set(&mut tcp.tail_loss_probe, config.tail_loss_probe);
    set(&mut tcp.frto, config.frto);
    set(&mut tcp.reordering, config.reordering);
    set(&mut tcp.reordering_max, config.max_reordering);
    set(&mut tcp.rto_min, time(config.rto_min_ns, "rto_min_ns", place, problems));
    set(&mut tcp.rto_max, time(config.rto_max_ns, "rto_max_ns", place, problems));
    set(&mut tcp.rto_initial, time(config.rto_initial_ns, "rto_initial_ns", place, problems));
    set(
        &mut tcp.delayed_ack_min,
        time(config.delayed_ack_min_ns, "delayed_ack_min_ns", place, problems),
    );
    set(
        &mut tcp.delayed_ack_max,
        time(config.delayed_ack_max_ns, "delayed_ack_max_ns", place, problems),
    );
    set(&mut tcp.segments_per_ack, config.segments_per_ack.map(|segments| segments.max(1)));
    set(
        &mut tcp.sack_compression,
        time(config.comp_sack_delay_ns, "comp_sack_delay_ns", place, problems),
    );
    set(&mut tcp.syn_retries, config.syn_retries);
    set(&mut tcp.retries, config.retries2);
    set(&mut tcp.slow_start_after_idle, config.slow_start_after_idle);
    set(&mut tcp.time_wait, time(config.time_wait_ns, "time_wait_ns", place, problems));
    tcp
}

/// A time that a connection waits.
fn time(ns: Option<u64>, name: &str, place: &str, problems: &mut Problems) -> Option<Span> {
    let ns = ns?;
    if ns > TIME_NS_MAX {
        problems.add(
            format!("{place}, tcp.{name}"),
            ns.to_string(),
            "at most an hour; the unit is ns",
        );
    }
    Some(Span::from_ns(ns.min(TIME_NS_MAX)))
}

fn set<T>(setting: &mut T, wanted: Option<T>) {
    if let Some(wanted) = wanted {
        *setting = wanted;
    }
}

fn congestion(
    name: &str,
    place: &str,
    algorithm: &mut NamedAlgorithm<'_>,
    problems: &mut Problems,
) -> Option<Algorithm> {
    let found = algorithm(name);
    let place = format!("{place}, tcp.congestion_control");
    found.map_err(|why| problems.add(place, format!("{name:?}"), why)).ok()
}

fn ecn_of(number: u32, place: &str, problems: &mut Problems) -> Option<EcnSetting> {
    match number {
        0 => Some(EcnSetting::Off),
        1 => Some(EcnSetting::On),
        2 => Some(EcnSetting::Passive),
        other => {
            let advice = "0 is off, 1 is on, 2 is on where the other side asks";
            problems.add(format!("{place}, tcp.ecn"), other.to_string(), advice);
            None
        }
    }
}

fn edit_memory(
    memory: &mut Memory,
    wanted: Option<v1::TcpMemory>,
    place: &str,
    problems: &mut Problems,
) {
    let Some(wanted) = wanted else { return };
    let number = |wanted: u64, present: Bytes| if wanted == 0 { present } else { Bytes(wanted) };
    *memory = Memory {
        min: number(wanted.min_bytes, memory.min),
        default: number(wanted.default_bytes, memory.default),
        max: number(wanted.max_bytes, memory.max),
    };
    let Memory { min, default, max } = *memory;
    if !(min <= default && default <= max) {
        let found = format!("{} {} {}", min.count(), default.count(), max.count());
        problems.add(place, found, "they must rise: least, at the beginning, most");
    }
}
