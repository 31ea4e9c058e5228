//! Any bytes as BMv2 JSON: refused, or loaded, and then packets come to an end in it.

use pipeline::{Config, Pipeline, Unobserved};
use units::{PortId, Time};

use crate::switching;

/// Offers these bytes.
pub fn offer(data: &[u8]) {
    let Ok(mut pipeline) = Pipeline::load(data, &Config::default()) else { return };
    for packet in [&[][..], &[0x45; 20], &[1; 300]] {
        let observer = &mut Unobserved;
        let outputs =
            switching::run_to_completion(&mut pipeline, PortId(1), packet, Time::ZERO, observer);
        assert!(!outputs.is_empty(), "every packet ends somewhere");
    }
}
