//! One popular output. Above a load of 1 / (N x share) no router can carry all of its traffic.

pub(super) fn weight(port_count: usize, percent: u8, output: usize) -> u64 {
    let even = 100 - u64::from(percent);
    match output {
        0 => even + u64::from(percent) * port_count as u64,
        _ => even,
    }
}
