//! Steps on whole headers, stacks and unions.

use bits::Int;

use super::{HeaderStep, Machine};
use crate::expression::{UnionRef, is_valid};
use crate::layout::Layout;
use crate::observe::Observe;
use crate::place::Place;

impl<O: Observe> Machine<'_, O> {
    fn add_header(&mut self, header: u32, clear: bool) {
        let program = self.program;
        let layout = &program.layout;
        if clear && !is_valid(layout, &self.packet.area, header) {
            let found = &layout.headers[header as usize];
            let kind = &layout.kinds[found.kind];
            for field in &kind.fields {
                match field.place.at(found.base) {
                    Place::Variable(variable) => variable.length.store(&mut self.packet.area, 0),
                    place => place.store(&mut self.packet.area, &Int::zero()),
                }
            }
            self.packet.length_register += kind.fixed_length() as u32;
        }
        set_valid(layout, &mut self.packet.area, header);
    }

    fn remove_header(&mut self, header: u32) {
        let layout = &self.program.layout;
        if is_valid(layout, &self.packet.area, header) {
            let header = &layout.headers[header as usize];
            let length = layout.length(&self.packet.area, header) as u32;
            self.packet.length_register = self.packet.length_register.saturating_sub(length);
            self.packet.area[header.valid as usize] = 0;
        }
    }

    /// Steps on whole headers, stacks and unions.
    #[inline(never)]
    pub(super) fn change_headers(&mut self, step: &HeaderStep, params: &[u64]) {
        let layout = &self.program.layout;
        let view = self.view(params);
        match step {
            HeaderStep::Add { header, clear } => {
                if let Some(header) = header.find(&view) {
                    self.add_header(header, *clear);
                }
            }
            HeaderStep::Remove { header } => {
                if let Some(header) = header.find(&view) {
                    self.remove_header(header);
                }
            }
            HeaderStep::Copy { to, from } => {
                if let (Some(to), Some(from)) = (to.find(&view), from.find(&view)) {
                    copy_header(layout, &mut self.packet.area, to, from);
                }
            }
            HeaderStep::CopyStack { to, from } => {
                let [to, from] = [to, from].map(|stack| &layout.stacks[*stack as usize]);
                self.packet.area[to.next as usize] = self.packet.area[from.next as usize];
                for (to, from) in to.headers.iter().zip(&from.headers) {
                    copy_header(layout, &mut self.packet.area, *to, *from);
                }
            }
            HeaderStep::CopyUnion { to, from } => {
                let union = |union: &UnionRef| union.find(&view);
                if let (Some(to), Some(from)) = (union(to), union(from)) {
                    copy_union(layout, &mut self.packet.area, to, from);
                }
            }
            HeaderStep::CopyUnionStack { to, from } => {
                let [to, from] = [to, from].map(|stack| &layout.union_stacks[*stack as usize]);
                self.packet.area[to.next as usize] = self.packet.area[from.next as usize];
                for (to, from) in to.unions.iter().zip(&from.unions) {
                    copy_union(layout, &mut self.packet.area, *to, *from);
                }
            }
            HeaderStep::Pop { stack, count } => {
                let count = count.value(&view);
                let stack = &layout.stacks[*stack as usize];
                lower_fill(&mut self.packet.area, stack.next, count);
                pop(layout, &mut self.packet.area, &stack.headers, count);
            }
            HeaderStep::Push { stack, count } => {
                let count = count.value(&view);
                let stack = &layout.stacks[*stack as usize];
                raise_fill(&mut self.packet.area, stack.next, stack.headers.len(), count);
                push(layout, &mut self.packet.area, &stack.headers, count);
            }
            // A stack of unions moves as one stack for each member of its unions.
            HeaderStep::PopUnions { stack, count } => {
                let count = count.value(&view);
                let stack = &layout.union_stacks[*stack as usize];
                lower_fill(&mut self.packet.area, stack.next, count);
                for headers in layout.member_stacks(stack) {
                    pop(layout, &mut self.packet.area, &headers, count);
                }
            }
            HeaderStep::PushUnions { stack, count } => {
                let count = count.value(&view);
                let stack = &layout.union_stacks[*stack as usize];
                raise_fill(&mut self.packet.area, stack.next, stack.unions.len(), count);
                for headers in layout.member_stacks(stack) {
                    push(layout, &mut self.packet.area, &headers, count);
                }
            }
        }
    }
}

/// Makes a header valid, and the others of its union invalid.
pub(crate) fn set_valid(layout: &Layout, area: &mut [u8], header: u32) {
    area[layout.headers[header as usize].valid as usize] = 1;
    for sibling in layout.siblings(header) {
        area[sibling.valid as usize] = 0;
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
    let size = layout.kinds[from.kind].size.min(layout.kinds[to.kind].size) as usize;
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
///
/// Elements change places, as in simple_switch: P4 leaves open what an invalid header holds, and
/// there it is what was moved out.
fn pop(layout: &Layout, area: &mut [u8], headers: &[u32], count: u64) {
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(headers.len());
    for (one, other) in headers.iter().zip(&headers[count..]) {
        swap_elements(layout, area, *one, *other);
    }
    for header in &headers[headers.len() - count..] {
        area[layout.headers[*header as usize].valid as usize] = 0;
    }
}

/// Element i + count becomes what element i was; the first `count` become invalid.
fn push(layout: &Layout, area: &mut [u8], headers: &[u32], count: u64) {
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(headers.len());
    for (one, other) in headers[count..].iter().zip(headers).rev() {
        swap_elements(layout, area, *one, *other);
    }
    for header in &headers[..count] {
        area[layout.headers[*header as usize].valid as usize] = 0;
    }
}

/// Two headers of one type change places, fields and validity.
fn swap_elements(layout: &Layout, area: &mut [u8], one: u32, other: u32) {
    let [one, other] = [one, other].map(|header| &layout.headers[header as usize]);
    if one.base == other.base {
        return;
    }
    area.swap(one.valid as usize, other.valid as usize);
    // Unions of one stack need not be of one type; what fits both is moved.
    let size = layout.kinds[one.kind].size.min(layout.kinds[other.kind].size) as usize;
    let (low, high) = (one.base.min(other.base) as usize, one.base.max(other.base) as usize);
    let (before, after) = area.split_at_mut(high);
    before[low..low + size].swap_with_slice(&mut after[..size]);
}
