//! The states of a connection (RFC 9293 section 3.3.2) and of its loss recovery (RFC 6675, Linux).

/// RFC 9293's states; LISTEN belongs to the host, which has no connection yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Both sides have closed, or one has reset; nothing happens any more.
    Closed,
    /// We closed; the other side acknowledged, and may still send.
    FinWait2,
    /// We closed; nothing came back yet.
    FinWait1,
    /// Both closed at the same time; our FIN is not acknowledged yet.
    Closing,
    /// The other side closed, we have not.
    CloseWait,
    /// The other side closed, then we did; our FIN is not acknowledged yet.
    LastAck,
    /// Data flows.
    Established,
    /// A SYN was received and answered.
    SynReceived,
    /// A SYN was sent.
    SynSent,
    /// All is said; late segments are answered for a while.
    TimeWait,
}

impl State {
    /// The SYNs were exchanged and there was no reset.
    pub fn is_synchronized(self) -> bool {
        !matches!(self, State::Closed | State::SynSent | State::SynReceived)
    }

    /// The other side may still send data.
    pub fn may_receive(self) -> bool {
        matches!(self, State::Established | State::FinWait1 | State::FinWait2)
    }
}

/// Where loss recovery stands, in rising order of trouble; Linux's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecoveryState {
    /// Nothing is wrong.
    Open,
    /// Something came out of order; it may yet turn out to be a loss.
    Disorder,
    /// The window is being reduced because of ECN or a full local queue.
    Cwr,
    /// Losses are being repaired (fast recovery).
    Recovery,
    /// The retransmission timer fired.
    Loss,
}
