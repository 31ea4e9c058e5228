//! A packet's way through the states. Plain ones have a loop of their own, or are machine code; any
//! other goes through [`Cursor`].

use bits::Int;
use units::Time;

use super::{
    ACCEPT, Ahead, Cases, KeyPart, KeySource, Matches, Operation, Parser, PlainExtraction,
    STATES_MAX, State, Target,
};
use crate::action::{Machine, set_valid};
use crate::expression::Number;
use crate::externs::Externs;
use crate::native::{Native, Position};
use crate::observe::{Event, Observe};
use crate::packet::Body;
use crate::packing::extract;
use crate::place::Place;
use crate::program::Program;

impl Parser {
    /// Parses a packet from its position on; leaves the position at the payload.
    /// Returns the error code.
    pub fn parse<O: Observe>(
        &self,
        program: &Program,
        native: Option<&dyn Native>,
        externs: &mut Externs,
        packet: &mut Body,
        now: Time,
        observer: &mut O,
    ) -> u32 {
        let mut place = Position { at: packet.at, state: self.start, entered: 0, done: 0 };
        let error = loop {
            if !O::ENABLED {
                let end = packet.end();
                let (area, frame) = (&mut *packet.area, &packet.frame.memory()[..end]);
                place = match native {
                    Some(native) => native.parse(area, frame, place),
                    None => self.plain_states(area, frame, place),
                };
            }
            if place.state == ACCEPT {
                break self.errors.no_error;
            }
            if place.done == 0 {
                place.entered += 1;
            }
            if place.entered > STATES_MAX {
                break self.errors.parser_timeout;
            }
            let parsed = place.at - packet.at;
            let mut cursor =
                Cursor { program, externs, packet, now, parsed, parser: self, observer };
            let stop = cursor.state(&self.states[place.state as usize], place.done as usize);
            (place.at, place.done) = (cursor.packet.at + cursor.parsed, 0);
            match stop {
                Stop::Next(next) => place.state = next,
                Stop::Error(code) => break code,
            }
        };
        let parsed = place.at - packet.at;
        packet.at = place.at;
        observer.event(|| Event::ParserDone { error: self.error_name(error), parsed });
        error
    }

    /// Runs states that only extract plain headers and choose by fields, without an observer:
    /// nearly all states there are. Stops before any other, and where the packet is too short.
    #[inline(always)]
    fn plain_states(&self, area: &mut [u8], frame: &[u8], start: Position) -> Position {
        let mut place = start;
        while let Some(state) = self.states.get(place.state as usize)
            && place.entered < STATES_MAX
            && let Some(cases) = &state.plain
        {
            let mut at = place.at;
            for PlainExtraction { base, length, valid, .. } in &state.extractions {
                let (base, length) = (*base as usize, *length as usize);
                let Some(bytes) = frame.get(at..at + length) else { return place };
                copy_header(&mut area[base..base + length], bytes);
                area[*valid as usize] = 1;
                at += length;
            }
            let next = cases.choose(area).unwrap_or(state.default);
            place = Position { at, state: next, entered: place.entered + 1, done: 0 };
        }
        place
    }
}

/// Copies a header's bytes. The lengths of the usual headers have cases of their own, for a copy of
/// known length is two or three moves, less than a call.
#[inline(always)]
fn copy_header(to: &mut [u8], from: &[u8]) {
    #[inline(always)]
    fn known<const LENGTH: usize>(to: &mut [u8], from: &[u8]) {
        if let (Some(to), Some(from)) = (to.first_chunk_mut::<LENGTH>(), from.first_chunk()) {
            *to = *from;
        }
    }
    #[inline(never)]
    fn any(to: &mut [u8], from: &[u8]) {
        to.copy_from_slice(from);
    }
    match from.len() {
        // VLAN tags and ports; UDP; ARP over IPv4 in two parts; Ethernet; IPv4 and TCP; IPv6.
        4 => known::<4>(to, from),
        8 => known::<8>(to, from),
        14 => known::<14>(to, from),
        20 => known::<20>(to, from),
        40 => known::<40>(to, from),
        _ => any(to, from),
    }
}

impl Cases {
    /// Where the key leads, if to one of the cases.
    #[inline(always)]
    fn choose(&self, area: &[u8]) -> Option<u32> {
        let mut key = 0;
        for part in &self.key {
            key |= part.load(area);
        }
        for case in &self.cases {
            if key & case.mask == case.value {
                return Some(case.next);
            }
        }
        None
    }
}

/// Where parsing stopped, and why.
enum Stop {
    Error(u32),
    Next(u32),
}

/// A packet being parsed.
struct Cursor<'a, O: Observe> {
    program: &'a Program,
    externs: &'a mut Externs,
    packet: &'a mut Body,
    now: Time,
    parsed: usize,
    parser: &'a Parser,
    observer: &'a mut O,
}

impl<O: Observe> Cursor<'_, O> {
    /// Runs a state, of which machine code may have `done` something, and finds the next.
    fn state(&mut self, state: &State, done: usize) -> Stop {
        if done == 0 {
            self.observer.event(|| Event::ParserState { name: state.name.clone() });
        }
        for extraction in state.extractions.iter().skip(done) {
            if let Err(code) = self.extract(extraction.header, 0) {
                return Stop::Error(code);
            }
        }
        let done = done.saturating_sub(state.extractions.len());
        for operation in &state.operations[done..] {
            if let Err(code) = self.operation(operation) {
                return Stop::Error(code);
            }
        }
        if state.key_bytes <= 8 {
            self.narrow_transition(state)
        } else {
            self.wide_transition(state)
        }
    }

    #[inline(always)]
    fn rest(&self) -> &[u8] {
        self.packet.behind(self.parsed)
    }

    fn machine(&mut self) -> Machine<'_, O> {
        let Cursor { program, externs, packet, now, parsed, observer, .. } = self;
        Machine { parsed: *parsed, ..Machine::new(program, externs, packet, *now, observer) }
    }

    #[inline(never)]
    fn operation(&mut self, operation: &Operation) -> Result<(), u32> {
        let errors = self.parser.errors;
        match operation {
            Operation::Advance(width) => {
                let width = width.value(&self.machine().view(&[]));
                if !width.is_multiple_of(8) {
                    return Err(errors.parser_invalid_argument);
                }
                self.consume(width / 8)
            }
            Operation::Extract(target) => {
                let header = self.next_header(target)?;
                self.extract(header, 0)?;
                self.filled(target);
                Ok(())
            }
            Operation::ExtractSelfSized { header, width } => {
                self.load_start(*header)?;
                let width = self.variable_width(width)?;
                self.extract(*header, width)
            }
            Operation::ExtractVariable { target, width } => {
                let header = self.next_header(target)?;
                let width = self.variable_width(width)?;
                self.extract(header, width)?;
                self.filled(target);
                Ok(())
            }
            Operation::Lookahead { to, ahead } => {
                if self.rest().len() * 8 < ahead.offset + ahead.width {
                    return Err(errors.packet_too_short);
                }
                match (to, peek_window(self.rest(), *ahead)) {
                    (Place::Cell(cell), Some(value)) => cell.store(&mut self.packet.area, value),
                    _ => {
                        let value = peek(self.rest(), *ahead);
                        to.store(&mut self.packet.area, &value);
                    }
                }
                Ok(())
            }
            Operation::Steps(steps) => {
                self.machine().run_routine(steps);
                Ok(())
            }
            Operation::Verify { condition, error } => {
                let machine = self.machine();
                let view = machine.view(&[]);
                if machine.holds(condition, &[]) { Ok(()) } else { Err(error.value(&view) as u32) }
            }
        }
    }

    /// Bits of a variable field: whole bytes.
    fn variable_width(&mut self, width: &Number) -> Result<usize, u32> {
        let width = width.value(&self.machine().view(&[]));
        match width.is_multiple_of(8) {
            true => Ok(usize::try_from(width).unwrap_or(usize::MAX)),
            false => Err(self.parser.errors.parser_invalid_argument),
        }
    }

    /// Fills the fields of a header that stand before its variable field.
    fn load_start(&mut self, header: u32) -> Result<(), u32> {
        let header = &self.program.layout.headers[header as usize];
        let length = self.program.layout.kinds[header.kind].bits_before.div_ceil(8) as usize;
        let Body { area, frame, at, .. } = &mut *self.packet;
        let (start, base) = (*at + self.parsed, header.base as usize);
        let bytes = frame.memory().get(start..start + length);
        let bytes = bytes.ok_or(self.parser.errors.packet_too_short)?;
        area[base..base + length].copy_from_slice(bytes);
        Ok(())
    }

    fn consume(&mut self, bytes: u64) -> Result<(), u32> {
        match usize::try_from(bytes) {
            Ok(bytes) if bytes <= self.rest().len() => {
                self.parsed += bytes;
                Ok(())
            }
            _ => Err(self.parser.errors.packet_too_short),
        }
    }

    /// The header an extraction fills; a full stack is an error.
    fn next_header(&self, target: &Target) -> Result<u32, u32> {
        let layout = &self.program.layout;
        let next = |at: u32| self.packet.area[at as usize] as usize;
        let header = match target {
            Target::Header(header) => Some(*header),
            Target::Stack(stack) => {
                let stack = &layout.stacks[*stack as usize];
                stack.headers.get(next(stack.next)).copied()
            }
            Target::UnionStack { stack, member } => {
                let stack = &layout.union_stacks[*stack as usize];
                let union = stack.unions.get(next(stack.next));
                union.and_then(|union| {
                    layout.unions[*union as usize].headers.get(*member as usize).copied()
                })
            }
        };
        header.ok_or(self.parser.errors.stack_out_of_bounds)
    }

    fn filled(&mut self, target: &Target) {
        let layout = &self.program.layout;
        match target {
            Target::Header(_) => {}
            Target::Stack(stack) => {
                self.packet.area[layout.stacks[*stack as usize].next as usize] += 1;
            }
            Target::UnionStack { stack, .. } => {
                self.packet.area[layout.union_stacks[*stack as usize].next as usize] += 1;
            }
        }
    }

    fn extract(&mut self, header: u32, variable_bits: usize) -> Result<(), u32> {
        let layout = &self.program.layout;
        let errors = self.parser.errors;
        let kind = &layout.kinds[layout.headers[header as usize].kind];
        let length = kind.fixed_length() + variable_bits / 8;
        if self.rest().len() < length {
            return Err(errors.packet_too_short);
        }
        let room = kind.variable.map_or(0, |variable| variable.size as usize);
        if variable_bits / 8 > room {
            return Err(errors.header_too_short);
        }
        let Body { area, frame, at, .. } = &mut *self.packet;
        let bytes = &frame.memory()[*at + self.parsed..][..length];
        extract(layout, area, header, bytes, variable_bits);
        set_valid(layout, area, header);
        self.parsed += length;
        let name = || layout.headers[header as usize].name.clone();
        self.observer.event(|| Event::Extracted { header: name(), length });
        Ok(())
    }

    #[inline(never)]
    fn narrow_transition(&mut self, state: &State) -> Stop {
        let mut key = 0u64;
        for part in &state.key {
            let value = match &part.source {
                KeySource::Cell(cell) => cell.load(&self.packet.area),
                KeySource::Lookahead(ahead)
                    if self.rest().len() * 8 >= ahead.offset + ahead.width
                        && ahead.fits_window() =>
                {
                    peek_window(self.rest(), *ahead).unwrap_or(0)
                }
                _ => {
                    let mut bytes = [0; 8];
                    if !self.key_part(part, &mut bytes[8 - part.bytes..]) {
                        return Stop::Error(self.parser.errors.packet_too_short);
                    }
                    u64::from_be_bytes(bytes)
                }
            };
            key = key.checked_shl(8 * part.bytes as u32).unwrap_or(0) | value;
        }
        for (matches, next) in &state.transitions {
            let taken = match matches {
                Matches::Narrow { value, mask } => key & mask == *value,
                Matches::Wide { .. } => false,
                Matches::ValueSet { set, mask } => {
                    let bytes = &key.to_be_bytes()[8 - state.key_bytes..];
                    self.in_value_set(state, *set, mask.as_deref(), bytes)
                }
            };
            if taken {
                return Stop::Next(*next);
            }
        }
        Stop::Next(state.default)
    }

    #[inline(never)]
    fn wide_transition(&mut self, state: &State) -> Stop {
        let mut key = std::mem::take(&mut self.externs.hash_input);
        key.clear();
        key.resize(state.key_bytes, 0);
        let mut at = 0;
        let mut stop = None;
        for part in &state.key {
            if !self.key_part(part, &mut key[at..at + part.bytes]) {
                stop = Some(Stop::Error(self.parser.errors.packet_too_short));
                break;
            }
            at += part.bytes;
        }
        let stop = stop.unwrap_or_else(|| {
            let taken = state.transitions.iter().find(|(matches, _)| match matches {
                Matches::Narrow { .. } => false,
                Matches::Wide { value, mask } => {
                    key.iter().zip(mask).map(|(key, mask)| key & mask).eq(value.iter().copied())
                }
                Matches::ValueSet { set, mask } => {
                    self.in_value_set(state, *set, mask.as_deref(), &key)
                }
            });
            Stop::Next(taken.map_or(state.default, |(_, next)| *next))
        });
        self.externs.hash_input = key;
        stop
    }

    /// Writes a component of the key; `false` where the packet is too short for it.
    fn key_part(&mut self, part: &KeyPart, bytes: &mut [u8]) -> bool {
        let value = match &part.source {
            KeySource::Cell(cell) => cell.load(&self.packet.area).into(),
            KeySource::Place(place) => place.load(&self.packet.area),
            KeySource::Lookahead(ahead) => {
                if self.rest().len() * 8 < ahead.offset + ahead.width {
                    return false;
                }
                peek(self.rest(), *ahead)
            }
            KeySource::Found { header, place } => {
                let layout = &self.program.layout;
                match header.find(&self.machine().view(&[])) {
                    Some(header) => {
                        place.at(layout.headers[header as usize].base).load(&self.packet.area)
                    }
                    None => Int::zero(),
                }
            }
        };
        value.write_be_bytes(bytes);
        true
    }

    /// Members have no padding: each component is cut out at its width.
    fn in_value_set(&self, state: &State, set: usize, mask: Option<&[u8]>, key: &[u8]) -> bool {
        let total: usize = state.key.iter().map(|part| part.width).sum();
        self.externs.value_sets[set].members.iter().any(|member| {
            let (mut low, mut at) = (total, 0);
            state.key.iter().all(|part| {
                low -= part.width;
                let (mut expected, mut counts) = ([0u8; 64], [0xffu8; 64]);
                let length = part.bytes.min(64);
                let cut_out = |number: &Int, bytes: &mut [u8]| {
                    number.shift_right(low).truncate(part.width).write_be_bytes(bytes);
                };
                cut_out(&member.value, &mut expected[..length]);
                if let Some(mask) = &member.mask {
                    cut_out(mask, &mut counts[..length]);
                }
                let range = at..at + part.bytes;
                at += part.bytes;
                let masks = range.clone().map(|index| mask.map_or(0xff, |mask| mask[index]));
                let masks = masks.zip(&counts[..length]).map(|(mask, counts)| mask & counts);
                let pairs = expected[..length].iter().zip(&key[range]);
                pairs.zip(masks).all(|((left, right), mask)| left & mask == right & mask)
            })
        })
    }
}

impl Ahead {
    /// Whether the bits lie in eight bytes.
    fn fits_window(self) -> bool {
        self.offset % 8 + self.width <= 64
    }
}

/// Bits ahead that lie in eight bytes; the caller has checked that they are there.
#[inline]
fn peek_window(bytes: &[u8], ahead: Ahead) -> Option<u64> {
    if !ahead.fits_window() || ahead.width == 0 {
        return None;
    }
    let start = ahead.offset / 8;
    let window = match bytes.get(start..start + 8) {
        Some(window) => u64::from_be_bytes(window.try_into().expect("eight bytes")),
        None => {
            let mut window = [0; 8];
            let rest = &bytes[start..];
            window[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(window)
        }
    };
    Some(window << (ahead.offset % 8) >> (64 - ahead.width))
}

/// Bits ahead, as a number.
fn peek(bytes: &[u8], ahead: Ahead) -> Int {
    let end = ahead.offset + ahead.width;
    let covering = &bytes[ahead.offset / 8..end.div_ceil(8)];
    let padding = (8 - end % 8) % 8;
    Int::from_be_bytes(covering).shift_right(padding).truncate(ahead.width)
}
