//! A packet's fate after ingress and after egress: two pure functions.
//!
//! The order of precedence is that of `docs/simple_switch.md` of p4lang/behavioral-model
//! ("pseudocode for what happens at the end of ingress and egress processing"). Nothing here
//! touches a packet; the caller acts on the result, in the order of the fields.

use units::{ClassId, DropReason, PortId};

/// The `instance_type` of v1model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceType {
    /// Received from a port.
    Normal = 0,
    IngressClone = 1,
    EgressClone = 2,
    /// Sent back from egress to ingress.
    Recirculated = 4,
    /// A copy of a multicast packet.
    Replicated = 5,
    /// Sent back from ingress to ingress.
    Resubmitted = 6,
    /// Dropped by a queue, and on its way to the mirror of drops.
    Dropped = 7,
}

/// A clone the program asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloneRequest {
    /// Which clone session says where it goes.
    pub session: u32,
    /// Which fields it keeps.
    pub field_list: u32,
}

/// Copies that a Tofino program can request at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoreCopies {
    /// A second multicast group; 0 is none.
    pub group: u32,
    /// Single ports.
    pub ports: [Option<PortId>; 2],
}

/// The result of ingress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IngressEnd {
    /// The last call of `clone`.
    pub clone: Option<CloneRequest>,
    /// The list of the last call of `digest`; 0 is none.
    pub digest: u32,
    /// The field list of the last call of `resubmit`; 0 is none.
    pub resubmit: u32,
    /// `mcast_grp`; 0 is none.
    pub multicast_group: u32,
    /// Copies besides those of the group, which then may be 0.
    pub more_copies: Option<MoreCopies>,
    /// The port it is to leave by; `None` drops it.
    pub egress_port: Option<PortId>,
    /// `priority`.
    pub class: ClassId,
    /// The program was stopped half-way: the packet goes nowhere.
    pub stopped: Option<DropReason>,
}

/// Where the packet itself goes after ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum IngressWay {
    Drop(DropReason),
    /// A copy to each member of a multicast group; the packet itself is gone.
    Multicast {
        group: u32,
        more: MoreCopies,
    },
    /// Through ingress again, as it was received, with these fields kept.
    Resubmit {
        /// The list of the fields.
        field_list: u32,
    },
    Unicast {
        port: PortId,
        class: ClassId,
    },
}

/// The actions after ingress, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct IngressFate {
    /// First a clone of the packet as it was received.
    pub clone: Option<CloneRequest>,
    /// Then a digest of this list.
    pub digest: Option<u32>,
    /// Then the packet itself.
    pub way: IngressWay,
}

/// The result of egress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EgressEnd {
    /// The last call of `clone`.
    pub clone: Option<CloneRequest>,
    /// The field list of the last call of `recirculate`; 0 is none.
    pub recirculate: u32,
    /// Egress dropped it.
    pub is_dropped: bool,
    /// The program was stopped half-way: the packet goes nowhere.
    pub stopped: Option<DropReason>,
}

/// Where the packet itself goes after egress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum EgressWay {
    Drop(DropReason),
    /// To ingress, as it would have left, with these fields kept.
    Recirculate {
        /// The list of the fields.
        field_list: u32,
    },
    Transmit,
}

/// The actions after egress, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct EgressFate {
    /// First a clone of the packet as it is.
    pub clone: Option<CloneRequest>,
    /// Then the packet itself.
    pub way: EgressWay,
}

/// Resubmit beats multicast, multicast beats drop, drop beats unicast. Clone and digest happen
/// besides. A program that is stopped ends everything: at a failed assertion simple_switch itself
/// stops.
#[inline]
pub fn after_ingress(end: &IngressEnd) -> IngressFate {
    if let Some(reason) = end.stopped {
        return IngressFate { clone: None, digest: None, way: IngressWay::Drop(reason) };
    }
    let way = if end.resubmit != 0 {
        IngressWay::Resubmit { field_list: end.resubmit }
    } else if end.multicast_group != 0 {
        IngressWay::Multicast {
            group: end.multicast_group,
            more: end.more_copies.unwrap_or_default(),
        }
    } else if let Some(port) = end.egress_port {
        IngressWay::Unicast { port, class: end.class }
    } else if let Some(more) = end.more_copies {
        IngressWay::Multicast { group: 0, more }
    } else {
        IngressWay::Drop(DropReason::IngressProgram)
    };
    IngressFate { clone: end.clone, digest: (end.digest != 0).then_some(end.digest), way }
}

/// Drop beats recirculate. A clone happens besides.
#[inline]
pub fn after_egress(end: &EgressEnd) -> EgressFate {
    if let Some(reason) = end.stopped {
        return EgressFate { clone: None, way: EgressWay::Drop(reason) };
    }
    let way = if end.is_dropped {
        EgressWay::Drop(DropReason::EgressProgram)
    } else if end.recirculate != 0 {
        EgressWay::Recirculate { field_list: end.recirculate }
    } else {
        EgressWay::Transmit
    };
    EgressFate { clone: end.clone, way }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_MORE: MoreCopies = MoreCopies { group: 0, ports: [None, None] };
    const MORE: MoreCopies = MoreCopies { group: 8, ports: [Some(PortId(1)), None] };
    const CLONE: CloneRequest = CloneRequest { session: 5, field_list: 1 };

    fn ingress(change: impl FnOnce(&mut IngressEnd)) -> IngressFate {
        let mut end =
            IngressEnd { egress_port: Some(PortId(3)), class: ClassId(2), ..Default::default() };
        change(&mut end);
        after_ingress(&end)
    }

    /// One line of the precedence a case: what the program did, and what happens.
    #[test]
    fn precedence_after_ingress() {
        let unicast = IngressWay::Unicast { port: PortId(3), class: ClassId(2) };
        let drop = IngressWay::Drop(DropReason::IngressProgram);
        let cases: [(&str, IngressFate, IngressFate); 8] = [
            ("a port is set", ingress(|_| ()), fate(None, None, unicast)),
            ("drop", ingress(|end| end.egress_port = None), fate(None, None, drop)),
            (
                "multicast beats drop",
                ingress(|end| (end.egress_port, end.multicast_group) = (None, 7)),
                fate(None, None, IngressWay::Multicast { group: 7, more: NO_MORE }),
            ),
            (
                "copies without a group",
                ingress(|end| (end.egress_port, end.more_copies) = (None, Some(MORE))),
                fate(None, None, IngressWay::Multicast { group: 0, more: MORE }),
            ),
            (
                "resubmit beats multicast",
                ingress(|end| (end.multicast_group, end.resubmit) = (7, 2)),
                fate(None, None, IngressWay::Resubmit { field_list: 2 }),
            ),
            (
                "a clone and a digest happen although the packet is dropped",
                ingress(|end| (end.clone, end.digest, end.egress_port) = (Some(CLONE), 4, None)),
                fate(Some(CLONE), Some(4), drop),
            ),
            (
                "a clone and a digest happen although the packet is resubmitted",
                ingress(|end| (end.clone, end.digest, end.resubmit) = (Some(CLONE), 4, 2)),
                fate(Some(CLONE), Some(4), IngressWay::Resubmit { field_list: 2 }),
            ),
            (
                "a failed assertion ends everything",
                ingress(|end| {
                    (end.clone, end.stopped) = (Some(CLONE), Some(DropReason::Assertion))
                }),
                fate(None, None, IngressWay::Drop(DropReason::Assertion)),
            ),
        ];
        for (name, found, expected) in cases {
            assert_eq!(found, expected, "{name}");
        }
    }

    fn fate(clone: Option<CloneRequest>, digest: Option<u32>, way: IngressWay) -> IngressFate {
        IngressFate { clone, digest, way }
    }

    #[test]
    fn precedence_after_egress() {
        let egress = |change: fn(&mut EgressEnd)| {
            let mut end = EgressEnd::default();
            change(&mut end);
            after_egress(&end)
        };
        let drop = EgressWay::Drop(DropReason::EgressProgram);
        let cases: [(&str, EgressFate, Option<CloneRequest>, EgressWay); 5] = [
            ("untouched", egress(|_| ()), None, EgressWay::Transmit),
            ("drop", egress(|end| end.is_dropped = true), None, drop),
            (
                "recirculate",
                egress(|end| end.recirculate = 3),
                None,
                EgressWay::Recirculate { field_list: 3 },
            ),
            (
                "drop beats recirculate",
                egress(|end| (end.is_dropped, end.recirculate) = (true, 3)),
                None,
                drop,
            ),
            (
                "a clone happens although the packet is dropped",
                egress(|end| (end.is_dropped, end.clone) = (true, Some(CLONE))),
                Some(CLONE),
                drop,
            ),
        ];
        for (name, found, clone, way) in cases {
            assert_eq!(found, EgressFate { clone, way }, "{name}");
        }
    }
}
