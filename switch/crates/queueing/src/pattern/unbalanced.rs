//! w to the own output and (1 - w) / N to every output: from uniform (0) to a permutation (1).

pub(super) fn weight(port_count: usize, permille: u16, ahead: usize) -> u64 {
    let even = 1000 - u64::from(permille);
    match ahead {
        0 => even + u64::from(permille) * port_count as u64,
        _ => even,
    }
}
