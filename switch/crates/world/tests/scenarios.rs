//! Laws of every network with TCP in it, for random settings: nothing vanishes, every byte arrives
//! once and in order, and the same seed gives the same result.

use crate::rig;

use chance::Chance;
use rig::scenario::{Scenario, digest};
use units::Span;

/// How many networks are drawn; `make nightly` draws more.
fn networks() -> u64 {
    let told = std::env::var("VITRINE_NETWORKS").ok();
    told.map_or(60, |count| count.parse().expect("VITRINE_NETWORKS is a number"))
}

#[test]
fn no_frame_vanishes_and_every_byte_arrives_once_and_in_order() {
    let mut lost = 0;
    for seed in 0..networks() {
        let mut scenario = Scenario::new(seed);
        scenario.run_through(300, |network| {
            assert!(network.world.balances(), "seed {seed}: {:?}", network.world.ledger());
        });
        scenario.check_transfers().unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        lost += scenario.network.world.ledger().dropped.values().sum::<u64>();
    }
    assert!(lost > 0, "the networks drawn are too kind");
}

#[test]
fn a_seed_tells_the_same_whatever_the_steps_of_time() {
    for seed in 0..networks() / 10 {
        let whole = digest(seed, || Span::MAX);
        assert_eq!(whole, digest(seed, || Span::from_us(77_777)), "seed {seed}");
        for number in 0..3 {
            let mut dice = Chance::new(number, "steps");
            // From a picosecond to nine seconds, as often around each power of two.
            let drawn = || {
                let most = Span::from_ps(1 << dice.below(44));
                dice.span_up_to(most)
            };
            assert_eq!(whole, digest(seed, drawn), "seed {seed}, steps {number}");
        }
        assert_ne!(whole, digest(seed + 1_000_000, || Span::MAX), "seed {seed}");
    }
}
