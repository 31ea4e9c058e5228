//! Counters between a port and the network device behind it.

/// Counters between a network device and the router, outside the model. Frames, but for `overrun`
/// and `malformed`, which count packets as the kernel hands them over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetdevCounters {
    /// Handed to the router.
    pub received: u64,
    /// Lost by the kernel before anybody took them: the process was late.
    pub overrun: u64,
    /// Super-packets of a kind that cannot be taken (SCTP's), or whose headers contradict themselves.
    pub malformed: u64,
    /// Received, and shorter than an Ethernet header.
    pub runts: u64,
    /// Received, and longer than any frame.
    pub oversize: u64,
    /// Taken by the kernel to be sent.
    pub sent: u64,
    /// Not taken: the device is down or gone.
    pub refused_down: u64,
    /// Not taken: its own queue is full.
    pub refused_full: u64,
    /// Not taken: shorter than an Ethernet header.
    pub refused_runt: u64,
    /// Not taken: longer than its MTU allows.
    pub refused_too_long: u64,
    /// Not taken: a super-packet of an unknown kind.
    pub refused_unsplit: u64,
    /// Not taken for any other reason.
    pub refused_other: u64,
    /// The bytes of the kernel's buffers that have not been taken yet, at this instant.
    pub waiting_bytes: u64,
    /// The bytes that the device has not taken yet, likewise, and the lengths of frames that have
    /// left the port and wait for the switch to hand them over.
    pub sending_bytes: u64,
    /// Super-packets of which only some frames have been handed to the router.
    pub unfinished: u64,
}
