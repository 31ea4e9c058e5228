//! Prints a hash of all that is told of the runs of some seeds, one a line: `digest 100`. Whatever
//! this is compiled for, it prints the same; `tests/determinism.sh` compares.

#[path = "../tests/rig/mod.rs"]
mod rig;

use units::Span;

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse::<u64>().ok()).unwrap_or(10);
    for seed in 0..count {
        println!("{seed} {:016x}", rig::scenario::digest(seed, || Span::MAX));
    }
}
