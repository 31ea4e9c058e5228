//! `vitrine-p4c`.

fn main() {}
