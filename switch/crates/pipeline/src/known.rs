//! Fields the switch itself reads and writes: `standard_metadata` and what aliases name.

use units::{ClassId, Span, Time};

use crate::error::LoadError;
use crate::layout::Layout;
use crate::place::Cell;

/// Where the program keeps them; `None` for those it does not have.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub ingress_port: Cell,
    pub packet_length: Cell,
    pub instance_type: Cell,
    pub egress_spec: Cell,
    pub egress_port: Cell,
    pub parser_error: Option<Cell>,
    pub checksum_error: Option<Cell>,
    pub ingress_global_timestamp: Option<Cell>,
    pub egress_global_timestamp: Option<Cell>,
    pub mcast_grp: Option<Cell>,
    pub egress_rid: Option<Cell>,
    pub priority: Option<Cell>,
    pub queueing: Option<QueueingCells>,
    pub vitrine: Vec<(Measure, Cell)>,
}

/// simple_switch fills all four or none.
#[derive(Clone, Debug)]
pub(crate) struct QueueingCells {
    pub enq_timestamp: Cell,
    pub enq_qdepth: Cell,
    pub deq_timedelta: Cell,
    pub deq_qdepth: Cell,
    pub qid: Option<Cell>,
}

/// What the traffic manager tells egress about a packet's stay.
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
    /// How busy the output port has been of late, in percent.
    pub utilization_percent: u32,
    /// The queue management's verdict: 0 passed, 1 marked.
    pub verdict: u32,
}

/// A `vitrine_metadata` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    AqmVerdict,
    DeqQdepthBytes,
    EnqQdepthBytes,
    InputDepth,
    InputWait,
    PortUtilisation,
    QueueLimitBytes,
}

/// Names after `vitrine_metadata.`; v1model.p4 of this kit gives the fields these aliases.
const MEASURES: [(&str, Measure); 7] = [
    ("aqm_verdict", Measure::AqmVerdict),
    ("deq_qdepth_bytes", Measure::DeqQdepthBytes),
    ("enq_qdepth_bytes", Measure::EnqQdepthBytes),
    ("input_depth", Measure::InputDepth),
    ("input_wait_us", Measure::InputWait),
    ("port_utilisation", Measure::PortUtilisation),
    ("queue_limit_bytes", Measure::QueueLimitBytes),
];

impl Known {
    pub fn new(layout: &Layout) -> Result<Known, LoadError> {
        let standard = |field: &str| layout.known("standard_metadata", field);
        let required = |field: &str| {
            standard(field).ok_or_else(|| {
                let message =
                    format!("the program has no field standard_metadata.{field} of up to 64 bits");
                LoadError::new("/headers", message)
            })
        };
        let intrinsic = |field: &str| layout.known("intrinsic_metadata", field);
        let aliased = layout.aliases_of("vitrine_metadata").into_iter();
        let vitrine = aliased.filter_map(|(name, cell)| {
            let measure = MEASURES.iter().find(|(candidate, _)| *candidate == name)?.1;
            Some((measure, cell))
        });
        Ok(Known {
            ingress_port: required("ingress_port")?,
            packet_length: required("packet_length")?,
            instance_type: required("instance_type")?,
            egress_spec: required("egress_spec")?,
            egress_port: required("egress_port")?,
            parser_error: standard("parser_error"),
            checksum_error: standard("checksum_error"),
            ingress_global_timestamp: intrinsic("ingress_global_timestamp"),
            egress_global_timestamp: intrinsic("egress_global_timestamp"),
            mcast_grp: intrinsic("mcast_grp"),
            egress_rid: intrinsic("egress_rid"),
            priority: intrinsic("priority"),
            queueing: QueueingCells::new(layout),
            vitrine: vitrine.collect(),
        })
    }

    /// Writes what the traffic manager measured.
    #[inline]
    pub fn store_queueing(&self, area: &mut [u8], queueing: &Queueing) {
        if let Some(cells) = &self.queueing {
            cells.enq_timestamp.store(area, queueing.enqueued.whole_us());
            cells.enq_qdepth.store(area, queueing.depth_packets_at_enqueue.into());
            // simple_switch subtracts whole microseconds, not instants.
            let waited_us =
                queueing.departed.whole_us().saturating_sub(queueing.enqueued.whole_us());
            cells.deq_timedelta.store(area, waited_us);
            cells.deq_qdepth.store(area, queueing.depth_packets_at_dequeue.into());
            if let Some(qid) = cells.qid {
                qid.store(area, queueing.class.0.into());
            }
        }
        for (measure, cell) in &self.vitrine {
            cell.store(area, measure.of(queueing));
        }
    }
}

impl QueueingCells {
    fn new(layout: &Layout) -> Option<QueueingCells> {
        let field = |name: &str| layout.known("queueing_metadata", name);
        Some(QueueingCells {
            enq_timestamp: field("enq_timestamp")?,
            enq_qdepth: field("enq_qdepth")?,
            deq_timedelta: field("deq_timedelta")?,
            deq_qdepth: field("deq_qdepth")?,
            qid: field("qid"),
        })
    }
}

impl Measure {
    fn of(self, queueing: &Queueing) -> u64 {
        match self {
            Measure::AqmVerdict => queueing.verdict.into(),
            Measure::DeqQdepthBytes => queueing.depth_bytes_at_dequeue,
            Measure::EnqQdepthBytes => queueing.depth_bytes_at_enqueue,
            Measure::InputDepth => queueing.input_depth_packets.into(),
            Measure::InputWait => queueing.input_span.whole_us(),
            Measure::PortUtilisation => queueing.utilization_percent.into(),
            Measure::QueueLimitBytes => queueing.limit_bytes,
        }
    }
}
