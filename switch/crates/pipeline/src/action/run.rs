//! Running steps on a packet.

use bits::Int;
use units::Time;

use super::{Destination, LogPart, Step};
use crate::expression::{HeaderRef, UnionRef, View, is_valid};
use crate::externs::Externs;
use crate::hash::Hash;
use crate::layout::Layout;
use crate::load::Program;
use crate::observe::{Event, Observe};
use crate::packet::Requests;
use crate::place::Place;

/// Jumps a single action may take: a loop of any sense ends long before.
const JUMPS_MAX: u32 = 10_000;

/// Everything an action can touch.
pub(crate) struct Machine<'a, O: Observe> {
    pub program: &'a Program,
    pub externs: &'a mut Externs,
    pub area: &'a mut [u8],
    pub requests: &'a mut Requests,
    pub length_register: &'a mut u32,
    pub truncated_to: &'a mut usize,
    pub ingress_length: u32,
    /// The packet behind its parsed headers, for checksums.
    pub payload: &'a [u8],
    pub now: Time,
    pub observer: &'a mut O,
}

impl<O: Observe> Machine<'_, O> {
    fn layout(&self) -> &Layout {
        &self.program.layout
    }

    /// What expressions see.
    #[inline(always)]
    pub fn view<'b>(&'b self, params: &'b [u64]) -> View<'b> {
        View {
            layout: &self.program.layout,
            area: self.area,
            params,
            registers: &self.externs.registers,
        }
    }

    /// Runs the steps of an action with its parameters.
    pub fn run(&mut self, steps: &[Step], params: &[u64]) {
        let (mut at, mut jumps) = (0, 0);
        while let Some(step) = steps.get(at) {
            at += 1;
            match step {
                Step::SetCell { to, value } => {
                    let value = value.value(&self.view(params));
                    to.store(self.area, value);
                }
                Step::SetConst { to, value } => to.store(self.area, *value),
                Step::SetParam { to, param } => to.store(self.area, params[*param as usize]),
                Step::CopyCell { to, from } => {
                    let value = from.load(self.area);
                    to.store(self.area, value);
                }
                Step::Jump { to } => {
                    // A jump to nowhere is `no_op`.
                    match to.value(&self.view(params)) {
                        u64::MAX => {}
                        to => at = to as usize,
                    }
                    jumps += 1;
                }
                Step::JumpIfZero { condition, to } => {
                    let view = self.view(params);
                    if condition.value(&view) == 0 {
                        at = to.value(&view) as usize;
                    }
                    jumps += 1;
                }
                Step::Exit => {
                    self.requests.exit = true;
                }
                other => self.step(other, params),
            }
            if jumps > JUMPS_MAX {
                return;
            }
        }
    }

    /// The less frequent steps.
    fn step(&mut self, step: &Step, params: &[u64]) {
        match step {
            Step::AddHeader { header, clear } => {
                if let Some(header) = header.find(&self.view(params)) {
                    self.add_header(header, *clear);
                }
            }
            Step::RemoveHeader { header } => {
                if let Some(header) = header.find(&self.view(params)) {
                    self.remove_header(header);
                }
            }
            Step::CopyBits { to, from } => {
                if to.bit == from.bit && to.bit == 0 && to.width % 8 == 0 {
                    let (from, length) = (from.offset as usize, to.width as usize / 8);
                    self.area.copy_within(from..from + length, to.offset as usize);
                } else {
                    let value = from.load(self.area);
                    to.store(self.area, &value);
                }
            }
            Step::CopyHeader { to, from } => self.copy_header(to, from, params),
            Step::CopyStack { .. }
            | Step::CopyUnion { .. }
            | Step::CopyUnionStack { .. }
            | Step::Pop { .. }
            | Step::PopUnions { .. }
            | Step::Push { .. }
            | Step::PushUnions { .. } => self.move_headers(step, params),
            Step::CopyVariable { to, from } => {
                let bytes = from.bytes(self.area);
                let (start, length) = (from.offset as usize, bytes.len().min(to.size as usize));
                self.area.copy_within(start..start + length, to.offset as usize);
                to.length.store(self.area, length as u64 * 8);
            }
            Step::SetFound { header, field, value } => {
                let view = self.view(params);
                if let Some(header) = header.find(&view) {
                    let value = value.value(&view);
                    let base = self.layout().headers[header as usize].base;
                    field.at(base).store(self.area, value);
                }
            }
            Step::SetWide { to, value } => {
                let value = value.value(&self.view(params));
                self.store(to, &value, params);
            }
            _ => self.request(step, params),
        }
    }

    /// Steps that ask for something.
    fn request(&mut self, step: &Step, params: &[u64]) {
        let view = self.view(params);
        match step {
            Step::Assert { condition, what } => {
                let failed = !condition.holds(&view);
                // The packet goes no further.
                self.requests.exit |= failed;
                self.requests.assertion_failed |= failed;
                if failed {
                    self.observer.event(|| Event::AssertionFailed { what: what.clone() });
                }
            }
            Step::Clone { session, field_list } => {
                let request =
                    (session.value(&view) as u32 & 0x7fff, field_list.value(&view) as u32);
                self.requests.clone = Some(request);
            }
            Step::Digest { list } => self.requests.digest = list.value(&view) as u32,
            Step::Drop { egress_spec, group } => {
                if let Some(cell) = egress_spec {
                    cell.store(self.area, self.program.drop_port.0.into());
                }
                if let Some(cell) = group {
                    cell.store(self.area, 0);
                }
            }
            Step::Log { parts } => {
                let text = |part: &LogPart| match part {
                    LogPart::Text(text) => text.clone(),
                    LogPart::Value(value) => value.value(&view).to_string(),
                };
                if O::ENABLED {
                    let text: String = parts.iter().map(text).collect();
                    self.observer.event(|| Event::Log { text });
                }
            }
            Step::Recirculate { field_list } => {
                self.requests.recirculate = field_list.value(&view) as u32;
            }
            Step::Resubmit { field_list } => {
                self.requests.resubmit = field_list.value(&view) as u32;
            }
            Step::Truncate { length } => {
                let length = usize::try_from(length.value(&view)).unwrap_or(usize::MAX);
                *self.truncated_to = (*self.truncated_to).min(length);
            }
            _ => self.use_extern(step, params),
        }
    }

    /// Steps on counters, meters, registers, hashes and random numbers.
    fn use_extern(&mut self, step: &Step, params: &[u64]) {
        let view = self.view(params);
        match step {
            Step::Count { array, index } => {
                let index = index.value(&view) as usize;
                if let Some(counter) = self.externs.counters[*array as usize].get_mut(index) {
                    counter.count(self.ingress_length);
                }
            }
            Step::Hash { to, base, calculation, size } => {
                // simple_switch takes a size of 0 for 1.
                let (base, size) = (base.value(&view), size.value(&view).max(1));
                let hash = self.hash(*calculation);
                self.store_low(to, (hash % size).wrapping_add(base), params);
            }
            Step::Meter { array, index, to } => {
                let index = index.value(&view) as usize;
                let array = &mut self.externs.meters[*array as usize];
                let amount = array.unit.amount(self.ingress_length);
                if let Some(meter) = array.meters.get_mut(index) {
                    let color = meter.color(amount, self.now);
                    self.store_low(to, color as u64, params);
                }
            }
            Step::Random { to, low, high } => {
                let (low, high) = (low.value(&view), high.value(&view));
                if low <= high {
                    let value = self.externs.chance.between(low, high);
                    self.store_low(to, value, params);
                }
            }
            Step::RegisterRead { to, array, index } => {
                let value = self.externs.registers[*array as usize].read(index.value(&view));
                if let Some(value) = value {
                    self.store(to, &value, params);
                }
            }
            Step::RegisterWrite { array, index, value } => {
                let (index, value) = (index.value(&view), value.value(&view));
                // An index beyond the end writes nothing, as in simple_switch.
                let _ = self.externs.registers[*array as usize].write(index, &value);
            }
            Step::RegisterWriteNarrow { array, index, value } => {
                let (index, value) = (index.value(&view), value.value(&view));
                self.externs.registers[*array as usize].write_low(index, value);
            }
            // The other functions have taken the others.
            _ => {}
        }
    }

    /// The hash of a calculation over the packet.
    pub fn hash(&mut self, calculation: u32) -> u64 {
        let calculation = &self.program.calculations[calculation as usize];
        let Externs { hash_input, hashes, .. } = &mut *self.externs;
        if matches!(hashes[calculation.hash], Hash::Checksum16)
            && let Some(checksum) =
                calculation.recipe.checksum16(&self.program.layout, self.area, self.payload)
        {
            return checksum.into();
        }
        calculation.recipe.gather(&self.program.layout, self.area, self.payload, hash_input);
        hashes[calculation.hash].of(hash_input)
    }

    fn store_low(&mut self, to: &Destination, value: u64, params: &[u64]) {
        match to {
            Destination::Cell(cell) => cell.store(self.area, value),
            other => self.store(other, &Int::from(value), params),
        }
    }

    fn store(&mut self, to: &Destination, value: &Int, params: &[u64]) {
        match to {
            Destination::Cell(cell) => cell.store(self.area, value.low_u64()),
            Destination::Found { header, field } => {
                if let Some(header) = header.find(&self.view(params)) {
                    let base = self.layout().headers[header as usize].base;
                    field.at(base).store(self.area, value);
                }
            }
            Destination::Place(place) => place.store(self.area, value),
            Destination::Register { array, index } => {
                let index = index.value(&self.view(params));
                let _ = self.externs.registers[*array as usize].write(index, value);
            }
        }
    }

    fn add_header(&mut self, header: u32, clear: bool) {
        let program = self.program;
        let layout = &program.layout;
        if clear && !is_valid(layout, self.area, header) {
            let found = &layout.headers[header as usize];
            let kind = &layout.kinds[found.kind];
            for field in &kind.fields {
                match field.place.at(found.base) {
                    Place::Variable(variable) => variable.length.store(self.area, 0),
                    place => place.store(self.area, &Int::zero()),
                }
            }
            *self.length_register += kind.fixed_length() as u32;
        }
        set_valid(layout, self.area, header);
    }

    fn remove_header(&mut self, header: u32) {
        let layout = &self.program.layout;
        if is_valid(layout, self.area, header) {
            let header = &layout.headers[header as usize];
            let length = layout.length(self.area, header) as u32;
            *self.length_register = self.length_register.saturating_sub(length);
            self.area[header.valid as usize] = 0;
        }
    }

    fn copy_header(&mut self, to: &HeaderRef, from: &HeaderRef, params: &[u64]) {
        let view = self.view(params);
        if let (Some(to), Some(from)) = (to.find(&view), from.find(&view)) {
            copy_header(&self.program.layout, self.area, to, from);
        }
    }

    /// Steps on whole stacks and unions.
    fn move_headers(&mut self, step: &Step, params: &[u64]) {
        let layout = &self.program.layout;
        let view = self.view(params);
        match step {
            Step::CopyStack { to, from } => {
                let [to, from] = [to, from].map(|stack| &layout.stacks[*stack as usize]);
                self.area[to.next as usize] = self.area[from.next as usize];
                for (to, from) in to.headers.iter().zip(&from.headers) {
                    copy_header(layout, self.area, *to, *from);
                }
            }
            Step::CopyUnion { to, from } => {
                let union = |union: &UnionRef| union.find(&view);
                if let (Some(to), Some(from)) = (union(to), union(from)) {
                    copy_union(layout, self.area, to, from);
                }
            }
            Step::CopyUnionStack { to, from } => {
                let [to, from] = [to, from].map(|stack| &layout.union_stacks[*stack as usize]);
                self.area[to.next as usize] = self.area[from.next as usize];
                for (to, from) in to.unions.iter().zip(&from.unions) {
                    copy_union(layout, self.area, *to, *from);
                }
            }
            Step::Pop { stack, count } => {
                let count = count.value(&view);
                let stack = &layout.stacks[*stack as usize];
                lower_fill(self.area, stack.next, count);
                pop(layout, self.area, &stack.headers, count);
            }
            Step::Push { stack, count } => {
                let count = count.value(&view);
                let stack = &layout.stacks[*stack as usize];
                raise_fill(self.area, stack.next, stack.headers.len(), count);
                push(layout, self.area, &stack.headers, count);
            }
            // A stack of unions moves as one stack for each member of its unions.
            Step::PopUnions { stack, count } => {
                let count = count.value(&view);
                let stack = &layout.union_stacks[*stack as usize];
                lower_fill(self.area, stack.next, count);
                for headers in layout.member_stacks(stack) {
                    pop(layout, self.area, &headers, count);
                }
            }
            Step::PushUnions { stack, count } => {
                let count = count.value(&view);
                let stack = &layout.union_stacks[*stack as usize];
                raise_fill(self.area, stack.next, stack.unions.len(), count);
                for headers in layout.member_stacks(stack) {
                    push(layout, self.area, &headers, count);
                }
            }
            _ => {}
        }
    }
}

/// Makes a header valid, and the others of its union invalid.
pub(crate) fn set_valid(layout: &Layout, area: &mut [u8], header: u32) {
    let header = &layout.headers[header as usize];
    area[header.valid as usize] = 1;
    for sibling in &header.siblings {
        area[layout.headers[*sibling as usize].valid as usize] = 0;
    }
}

/// Copies validity and, if valid, all fields. Both headers are of one type.
fn copy_header(layout: &Layout, area: &mut [u8], to: u32, from: u32) {
    if !is_valid(layout, area, from) {
        area[layout.headers[to as usize].valid as usize] = 0;
        return;
    }
    set_valid(layout, area, to);
    copy_bytes(layout, area, to, from);
}

fn copy_bytes(layout: &Layout, area: &mut [u8], to: u32, from: u32) {
    let [to, from] = [to, from].map(|header| &layout.headers[header as usize]);
    let size = layout.kinds[from.kind].size as usize;
    area.copy_within(from.base as usize..from.base as usize + size, to.base as usize);
}

fn copy_union(layout: &Layout, area: &mut [u8], to: u32, from: u32) {
    let [to, from] = [to, from].map(|union| &layout.unions[union as usize].headers);
    // The valid member last: making it valid invalidates the others.
    let mut pairs: Vec<(u32, u32)> = to.iter().copied().zip(from.iter().copied()).collect();
    pairs.sort_by_key(|(_, from)| is_valid(layout, area, *from));
    for (to, from) in pairs {
        copy_header(layout, area, to, from);
    }
}

fn lower_fill(area: &mut [u8], next: u32, count: u64) {
    let fill = &mut area[next as usize];
    *fill = fill.saturating_sub(u8::try_from(count).unwrap_or(u8::MAX));
}

fn raise_fill(area: &mut [u8], next: u32, size: usize, count: u64) {
    let fill = &mut area[next as usize];
    *fill = (u64::from(*fill).saturating_add(count)).min(size as u64) as u8;
}

/// Element i becomes what element i + count was; the last `count` become invalid.
fn pop(layout: &Layout, area: &mut [u8], headers: &[u32], count: u64) {
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(headers.len());
    for (to, from) in headers.iter().zip(&headers[count..]) {
        move_element(layout, area, *to, *from);
    }
    for header in &headers[headers.len() - count..] {
        area[layout.headers[*header as usize].valid as usize] = 0;
    }
}

/// Element i + count becomes what element i was; the first `count` become invalid.
fn push(layout: &Layout, area: &mut [u8], headers: &[u32], count: u64) {
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(headers.len());
    for (to, from) in headers[count..].iter().zip(headers).rev() {
        move_element(layout, area, *to, *from);
    }
    for header in &headers[..count] {
        area[layout.headers[*header as usize].valid as usize] = 0;
    }
}

fn move_element(layout: &Layout, area: &mut [u8], to: u32, from: u32) {
    copy_bytes(layout, area, to, from);
    let valid = area[layout.headers[from as usize].valid as usize];
    area[layout.headers[to as usize].valid as usize] = valid;
}
