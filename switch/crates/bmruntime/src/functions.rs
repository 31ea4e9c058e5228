//! Which function of which service does what on the data plane.

use crate::job::Run;
use crate::{
    calculations, clock, counters, entries, learning, meters, mirroring, multicast, profiles,
    reading, registers, value_sets,
};

/// The functions of one topic, by their names.
type Topic = &'static [(&'static str, Run)];

/// The services, under the clients' names, with their functions.
const SERVICES: &[(&str, &[Topic])] = &[
    (
        "standard",
        &[
            entries::FUNCTIONS,
            profiles::FUNCTIONS,
            reading::FUNCTIONS,
            counters::FUNCTIONS,
            meters::FUNCTIONS,
            registers::FUNCTIONS,
            value_sets::FUNCTIONS,
            calculations::FUNCTIONS,
            learning::FUNCTIONS,
        ],
    ),
    ("simple_pre", &[multicast::FUNCTIONS_OF_BOTH, multicast::FUNCTIONS_WITHOUT_LAGS]),
    ("simple_pre_lag", &[multicast::FUNCTIONS_OF_BOTH, multicast::FUNCTIONS]),
    ("simple_switch", &[clock::FUNCTIONS, mirroring::FUNCTIONS]),
    ("psa_switch", &[clock::FUNCTIONS, mirroring::FUNCTIONS]),
];

/// The code of a function; `None` if there is no such function.
pub fn find(service: &str, method: &str) -> Option<Run> {
    let (_, topics) = SERVICES.iter().find(|(name, _)| *name == service)?;
    let mut functions = topics.iter().flat_map(|topic| topic.iter());
    functions.find(|(name, _)| *name == method).map(|(_, run)| *run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_function_has_one_meaning() {
        for (service, topics) in SERVICES {
            let names = topics.iter().flat_map(|topic| topic.iter().map(|(name, _)| *name));
            let mut seen = BTreeSet::new();
            for name in names {
                assert!(seen.insert(name), "{service}:{name} is there twice");
            }
        }
        assert!(find("standard", "bm_mt_add_entry").is_some());
        assert!(find("simple_switch", "bm_mt_add_entry").is_none());
    }
}
