//! Prints hashes of the complete output of runs with several seeds, a run a line: `digest 100`. On
//! every target it prints the same; `tests/determinism.sh` compares, and `tests/oracles.sh` before
//! and after a refactoring. The second hash of a line is without names of our code.

#[path = "../tests/rig/mod.rs"]
mod rig;

use units::Span;

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse::<u64>().ok()).unwrap_or(10);
    for seed in 0..count {
        println!("{seed} {}", rig::scenario::digest(seed, || Span::MAX));
    }
}
