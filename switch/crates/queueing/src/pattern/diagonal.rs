//! Two thirds to the own output, one third to the next: few choices, hard for local decisions.

pub(super) fn weight(port_count: usize, ahead: usize) -> u64 {
    match ahead {
        0 => 2,
        // With a single port, the own output is the next one too.
        1 if port_count > 1 => 1,
        _ => 0,
    }
}
