//! One output queue: a list of packets, its limit, its own rate and its books.

use units::{Bytes, DropReason, Span, Time};

use crate::aqm::{Aqm, AqmVerdict};
use chance::Chance;

use crate::config::{QueueConfig, QueueOrder};
use crate::counters::Counters;
use crate::fate::{Depth, Waiting};
use crate::histogram::Histogram;
use crate::outside::{AqmOutside, AqmQuestion, Guest};
use crate::schedule::Head;
use crate::shaper::Shaper;
use crate::slab::{Fifo, Handle, Slab};

pub(crate) struct Queue {
    pub config: QueueConfig,
    pub fifo: Fifo,
    pub shaper: Option<Shaper>,
    pub aqm: Option<Aqm>,
    /// Decides in its place.
    pub guest: Option<Guest<dyn AqmOutside>>,
    /// The random generator of the AQM.
    dice: Dice,
    pub counters: Counters,
    /// The most packets and the most bytes that were ever in it, each on its own.
    pub high_water: Depth,
    /// How long packets that departed had been in it.
    pub residence: Histogram,
}

/// The seed and the name of a queue's dice.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    pub seed: u64,
    pub name: String,
}

impl Dice {
    fn throw(&self) -> Chance {
        Chance::new(self.seed, &self.name)
    }
}

impl Queue {
    pub fn new(config: &QueueConfig, dice: Dice, now: Time) -> Queue {
        Queue {
            config: config.clone(),
            fifo: Fifo::default(),
            shaper: config.shaper.map(|shaper| Shaper::new(shaper, now)),
            aqm: config.aqm.as_ref().map(|aqm| Aqm::new(aqm, now, dice.throw())),
            guest: None,
            dice,
            counters: Counters::default(),
            high_water: Depth::default(),
            residence: Histogram::default(),
        }
    }

    pub fn depth(&self) -> Depth {
        Depth { packets: self.fifo.packets(), bytes: self.fifo.bytes() }
    }

    /// Whether a packet of `length` fits by the queue's own limit.
    #[inline]
    pub fn admit(&self, length: Bytes) -> Result<(), DropReason> {
        if self.config.limit.has_room(self.fifo.packets(), self.fifo.bytes(), length) {
            Ok(())
        } else {
            Err(match self.config.order {
                QueueOrder::Arrival => DropReason::QueueLimit,
                QueueOrder::Rank => DropReason::Rank,
            })
        }
    }

    /// How many packets of higher ranks, from the end of the queue on, have to go so that this one
    /// fits; 0 if it fits already or would not fit without them.
    pub fn in_the_way<P>(&self, slab: &Slab<P>, waiting: &Waiting) -> usize {
        let (limit, length) = (&self.config.limit, waiting.length);
        let (mut packets, mut bytes) = (self.fifo.packets(), self.fifo.bytes());
        if limit.has_room(packets, bytes, length) {
            return 0;
        }
        let waits = |handle| slab.slot(handle).waiting;
        let higher: Vec<Bytes> = (self.fifo.iter(slab).map(waits))
            .skip_while(|other| other.rank <= waiting.rank)
            .map(|other| other.length)
            .collect();
        for (count, other) in (1..).zip(higher.into_iter().rev()) {
            packets -= 1;
            bytes -= other;
            if limit.has_room(packets, bytes, length) {
                return count;
            }
        }
        0
    }

    /// The verdict on a packet: the guest's, or else that of the queue's own method, called by
    /// `ask`.
    #[inline]
    pub fn judge(
        &mut self,
        question: &AqmQuestion,
        ask: impl FnOnce(&mut Aqm) -> AqmVerdict,
    ) -> AqmVerdict {
        let Some(guest) = &mut self.guest else {
            return self.aqm.as_mut().map_or(AqmVerdict::Pass, ask);
        };
        let own = if guest.compared { self.aqm.as_mut().map(ask) } else { None };
        guest.judge(question, own)
    }

    /// Appends an admitted packet whose residence is filled in.
    #[inline]
    pub fn enqueue<P>(&mut self, slab: &mut Slab<P>, handle: Handle) {
        self.counters.enqueued.add(slab.slot(handle).waiting.length);
        match self.config.order {
            QueueOrder::Arrival => self.fifo.enqueue(slab, handle),
            QueueOrder::Rank => self.fifo.enqueue_by_rank(slab, handle),
        }
        self.high_water.packets = self.high_water.packets.max(self.fifo.packets());
        self.high_water.bytes = self.high_water.bytes.max(self.fifo.bytes());
    }

    /// The facts about the first packet that a scheduler needs.
    #[inline]
    pub fn head<P>(&self, slab: &Slab<P>) -> Option<Head> {
        let slot = slab.slot(self.fifo.head()?);
        Some(Head {
            length: slot.waiting.length,
            enqueued_at: slot.residence.enqueued_at,
            tag: slot.tag,
        })
    }

    /// The books of a packet that departs.
    #[inline]
    pub fn count_departure(&mut self, at: Time, length: Bytes, waited: Span) {
        self.counters.departed.add(length);
        self.residence.record(waited);
        if let Some(shaper) = &mut self.shaper {
            shaper.charge(at, waited, length);
        }
    }

    /// The books of a packet that passes the empty queue at `at`.
    #[inline]
    pub fn count_passage(&mut self, at: Time, length: Bytes) {
        self.counters.offered.add(length);
        self.counters.enqueued.add(length);
        self.high_water.packets = self.high_water.packets.max(1);
        self.high_water.bytes = self.high_water.bytes.max(length);
        self.count_departure(at, length, Span::ZERO);
    }

    /// Takes over new values for the settings that can change while packets wait. A lower limit
    /// drops no packet already queued; the queue only accepts no more until it has room.
    pub fn reconfigure(&mut self, config: &QueueConfig, now: Time) {
        if self.config.shaper != config.shaper {
            match (&mut self.shaper, config.shaper) {
                (Some(shaper), Some(config)) => shaper.change(config, now),
                (shaper, config) => *shaper = config.map(|config| Shaper::new(config, now)),
            }
        }
        if self.config.aqm != config.aqm {
            self.aqm = config.aqm.as_ref().map(|aqm| Aqm::new(aqm, now, self.dice.throw()));
        }
        self.config = config.clone();
    }
}
