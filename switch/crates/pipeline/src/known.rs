//! Fields the switch itself reads and writes: `standard_metadata` and what aliases name.

use units::{ClassId, Span, Time};

use crate::error::LoadError;
use crate::layout::Layout;
use crate::place::Slot;

/// Where the program keeps them; `None` for those it does not have, or that it never refers to
/// while the switch only writes them.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub ingress_port: Option<Slot>,
    pub packet_length: Option<Slot>,
    pub instance_type: Option<Slot>,
    pub egress_spec: Slot,
    pub egress_port: Option<Slot>,
    pub parser_error: Option<Slot>,
    pub checksum_error: Option<Slot>,
    pub ingress_global_timestamp: Option<Slot>,
    pub egress_global_timestamp: Option<Slot>,
    pub mcast_grp: Option<Slot>,
    pub egress_rid: Option<Slot>,
    pub priority: Option<Slot>,
    pub queueing: Option<QueueingSlots>,
    pub vitrine: Vec<(Measure, Slot)>,
    pub ingress_time_ns: Option<Slot>,
    pub drop_precedence: Option<Slot>,
    pub dropped: DroppedSlots,
}

/// The facts about a drop for the copy that goes to the drop mirror.
#[derive(Clone, Debug)]
pub(crate) struct DroppedSlots {
    pub reason: Option<Slot>,
    pub port: Option<Slot>,
    pub class: Option<Slot>,
}

/// simple_switch fills all four or none.
#[derive(Clone, Debug)]
pub(crate) struct QueueingSlots {
    pub enq_timestamp: Option<Slot>,
    pub enq_qdepth: Option<Slot>,
    pub deq_timedelta: Option<Slot>,
    pub deq_qdepth: Option<Slot>,
    pub qid: Option<Slot>,
}

/// The queueing metadata that the traffic manager passes to egress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queueing {
    /// The class the packet waited in.
    pub class: ClassId,
    /// When it was enqueued.
    pub enqueued: Time,
    /// When it left.
    pub departed: Time,
    /// Packets in the queue before it was added.
    pub depth_packets_at_enqueue: u32,
    /// Packets left in the queue after it was taken.
    pub depth_packets_at_dequeue: u32,
    /// Bytes in the queue before it was added.
    pub depth_bytes_at_enqueue: u64,
    /// Bytes left in the queue after it was taken.
    pub depth_bytes_at_dequeue: u64,
    /// The queue's limit; 0 if it has none.
    pub limit_bytes: u64,
    /// Time in the input stage.
    pub input_span: Span,
    /// Packets in the input queue or virtual output queue on arrival.
    pub input_depth_packets: u32,
    /// Bytes in all queues of the router after it was taken.
    pub buffer_bytes: u64,
    /// How busy the output port has been of late, in 0.01 %.
    pub utilisation_basis_points: u32,
    /// The queue management's verdict: 0 passed, 1 marked.
    pub verdict: u32,
}

/// A `vitrine_metadata` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    AqmVerdict,
    BufferBytes,
    DeqQdepthBytes,
    EgressTimeNs,
    EnqQdepthBytes,
    InputDepth,
    InputWait,
    IsExact,
    PortUtilisation,
    QueueLimitBytes,
}

/// Names after `vitrine_metadata.`; v1model.p4 of this kit gives the fields these aliases.
const MEASURES: [(&str, Measure); 10] = [
    ("aqm_verdict", Measure::AqmVerdict),
    ("buffer_bytes", Measure::BufferBytes),
    ("deq_qdepth_bytes", Measure::DeqQdepthBytes),
    ("egress_time_ns", Measure::EgressTimeNs),
    ("enq_qdepth_bytes", Measure::EnqQdepthBytes),
    ("input_depth", Measure::InputDepth),
    ("input_wait_us", Measure::InputWait),
    ("is_exact", Measure::IsExact),
    ("port_utilisation", Measure::PortUtilisation),
    ("queue_limit_bytes", Measure::QueueLimitBytes),
];

impl Known {
    pub fn new(layout: &Layout) -> Result<Known, LoadError> {
        let standard = |field: &str| layout.slot("standard_metadata", field);
        let written = |field: &str| layout.referred_slot("standard_metadata", field);
        let required = |field: &str| {
            standard(field).ok_or_else(|| {
                let message = format!(
                    "the program has no metadata field standard_metadata.{field} of up to 64 bits"
                );
                LoadError::new("/headers", message)
            })
        };
        let intrinsic = |field: &str| layout.slot("intrinsic_metadata", field);
        let stamped = |field: &str| layout.referred_slot("intrinsic_metadata", field);
        let aliased = layout.aliases_of("vitrine_metadata").into_iter();
        let vitrine = aliased.filter_map(|(name, cell)| {
            let measure = MEASURES.iter().find(|(candidate, _)| *candidate == name)?.1;
            Some((measure, cell))
        });
        Ok(Known {
            ingress_port: required("ingress_port").map(|_| written("ingress_port"))?,
            packet_length: required("packet_length").map(|_| written("packet_length"))?,
            instance_type: required("instance_type").map(|_| written("instance_type"))?,
            egress_spec: required("egress_spec")?,
            egress_port: required("egress_port").map(|_| written("egress_port"))?,
            parser_error: written("parser_error"),
            checksum_error: written("checksum_error"),
            ingress_global_timestamp: stamped("ingress_global_timestamp"),
            egress_global_timestamp: stamped("egress_global_timestamp"),
            mcast_grp: intrinsic("mcast_grp"),
            egress_rid: stamped("egress_rid"),
            priority: intrinsic("priority"),
            queueing: QueueingSlots::new(layout),
            vitrine: vitrine.collect(),
            ingress_time_ns: layout.referred_slot("vitrine_metadata", "ingress_time_ns"),
            drop_precedence: layout.referred_slot("vitrine_metadata", "drop_precedence"),
            dropped: DroppedSlots {
                reason: layout.referred_slot("vitrine_metadata", "drop_reason"),
                port: layout.referred_slot("vitrine_metadata", "drop_port"),
                class: layout.referred_slot("vitrine_metadata", "drop_qid"),
            },
        })
    }

    /// Of a program of PSA: none of v1model's fields, and where it says by which port a packet leaves.
    pub fn of_psa(layout: &Layout) -> Result<Known, LoadError> {
        Known::without_standard_metadata(layout, "psa_ingress_output_metadata", "egress_port")
    }

    /// Likewise of a Tofino program. One that never sends a packet may lack `ucast_egress_port`.
    pub fn of_tofino(layout: &Layout, architecture: &str) -> Result<Known, LoadError> {
        let parser_error = layout.referred_slot("ig_intr_md_from_prsr", "parser_err");
        let (header, field) = match layout.slot("ig_intr_md_for_tm", "ucast_egress_port") {
            Some(_) => ("ig_intr_md_for_tm", "ucast_egress_port"),
            None => (architecture, "mirror_session"),
        };
        Ok(Known { parser_error, ..Known::without_standard_metadata(layout, header, field)? })
    }

    fn without_standard_metadata(
        layout: &Layout,
        header: &str,
        field: &str,
    ) -> Result<Known, LoadError> {
        let message = format!("the program has no metadata field {header}.{field}");
        let egress_spec = layout.slot(header, field);
        Ok(Known {
            ingress_port: None,
            packet_length: None,
            instance_type: None,
            egress_spec: egress_spec.ok_or_else(|| LoadError::new("/headers", message))?,
            egress_port: None,
            parser_error: None,
            checksum_error: None,
            ingress_global_timestamp: None,
            egress_global_timestamp: None,
            mcast_grp: None,
            egress_rid: None,
            priority: None,
            queueing: None,
            vitrine: Vec::new(),
            ingress_time_ns: None,
            drop_precedence: None,
            dropped: DroppedSlots { reason: None, port: None, class: None },
        })
    }

    /// Writes what the traffic manager measured.
    #[inline]
    pub fn store_queueing(&self, area: &mut [u8], queueing: &Queueing) {
        if let Some(slots) = &self.queueing {
            let mut store = |slot: Option<Slot>, value: u64| {
                if let Some(slot) = slot {
                    slot.store(area, value);
                }
            };
            store(slots.enq_qdepth, queueing.depth_packets_at_enqueue.into());
            store(slots.deq_qdepth, queueing.depth_packets_at_dequeue.into());
            store(slots.qid, queueing.class.0.into());
            if slots.enq_timestamp.is_some() || slots.deq_timedelta.is_some() {
                let enqueued_us = queueing.enqueued.whole_us();
                store(slots.enq_timestamp, enqueued_us);
                // simple_switch subtracts whole microseconds, not instants.
                let waited_us = queueing.departed.whole_us().saturating_sub(enqueued_us);
                store(slots.deq_timedelta, waited_us);
            }
        }
        for (measure, cell) in &self.vitrine {
            cell.store(area, measure.of(queueing));
        }
    }
}

impl QueueingSlots {
    fn new(layout: &Layout) -> Option<QueueingSlots> {
        let all = ["enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth"];
        if !all.iter().all(|name| layout.slot("queueing_metadata", name).is_some()) {
            return None;
        }
        let field = |name: &str| layout.referred_slot("queueing_metadata", name);
        Some(QueueingSlots {
            enq_timestamp: field("enq_timestamp"),
            enq_qdepth: field("enq_qdepth"),
            deq_timedelta: field("deq_timedelta"),
            deq_qdepth: field("deq_qdepth"),
            qid: field("qid"),
        })
    }
}

impl Measure {
    fn of(self, queueing: &Queueing) -> u64 {
        match self {
            Measure::AqmVerdict => queueing.verdict.into(),
            Measure::BufferBytes => queueing.buffer_bytes,
            Measure::DeqQdepthBytes => queueing.depth_bytes_at_dequeue,
            Measure::EgressTimeNs => queueing.departed.whole_ns(),
            Measure::EnqQdepthBytes => queueing.depth_bytes_at_enqueue,
            Measure::InputDepth => queueing.input_depth_packets.into(),
            Measure::InputWait => queueing.input_span.whole_us(),
            // A switch that does not know the field leaves it 0.
            Measure::IsExact => 1,
            Measure::PortUtilisation => queueing.utilisation_basis_points.into(),
            Measure::QueueLimitBytes => queueing.limit_bytes,
        }
    }
}
