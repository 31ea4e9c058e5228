//! Putting headers back onto the wire.

use crate::action::{Names, Routine, load_routine};
use crate::error::LoadError;
use crate::layout::Layout;
use crate::native::{Header, Native};
use crate::packet::{Body, Packet};
use crate::packing::emit;

/// The headers of a deparser may take this much together, one that is emitted twice counted twice.
const EMITTED_BYTES_MAX: usize = 1 << 16;

/// A header to emit, its shape at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emission {
    pub header: u32,
    valid: u32,
    /// First and last byte in the area, where no variable field decides.
    bytes: Option<(u32, u32)>,
}

/// The headers that a deparser emits, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Emissions {
    pub order: Vec<Emission>,
    /// The validity of those whose length varies.
    varying: Box<[u32]>,
    /// The most bytes they can take together.
    room: usize,
}

impl Emission {
    pub fn new(layout: &Layout, header: u32) -> Emission {
        let found = &layout.headers[header as usize];
        let kind = &layout.kinds[found.kind];
        let fixed = kind.variable.is_none();
        let bytes = fixed.then(|| (found.base, found.base + kind.fixed_length() as u32));
        Emission { header, valid: found.valid, bytes }
    }

    /// The header, if its length is fixed.
    pub fn plain(&self) -> Option<Header> {
        let (base, end) = self.bytes?;
        Some(Header { valid: self.valid, base, length_bytes: end - base })
    }
}

impl Emissions {
    /// Refuses a list that would make packets longer by more than [`EMITTED_BYTES_MAX`]: a name takes
    /// few bytes of JSON, and each packet would take the memory.
    pub fn new(layout: &Layout, order: Vec<Emission>) -> Result<Emissions, LoadError> {
        let kind =
            |emission: &Emission| &layout.kinds[layout.headers[emission.header as usize].kind];
        let room: usize = order.iter().map(|emission| kind(emission).size as usize).sum();
        if room > EMITTED_BYTES_MAX {
            let message = format!(
                "the headers emitted take up to {room} bytes; at most {EMITTED_BYTES_MAX} are \
                 supported"
            );
            return Err(LoadError::new("/order", message));
        }
        let varying = order.iter().filter(|emission| emission.bytes.is_none());
        Ok(Emissions { varying: varying.map(|emission| emission.valid).collect(), order, room })
    }

    /// Writes the valid headers in front of the payload, the last of them first.
    ///
    /// Headers that follow each other in the area as they do on the wire, which is how they are
    /// laid out, go there in one copy.
    pub fn deparse(&self, layout: &Layout, native: Option<&dyn Native>, packet: &mut Packet) {
        packet.make_room(self.room);
        let Body { area, frame, at, .. } = &mut **packet;
        let frame = frame.memory_mut();
        if let Some(native) = native
            && self.varying.iter().all(|valid| area[*valid as usize] == 0)
        {
            *at = native.deparse(area, frame, *at);
            return;
        }
        // The run of bytes to be copied next.
        let (mut start, mut end) = (0, 0);
        for emission in self.order.iter().rev() {
            match (area[emission.valid as usize], emission.bytes) {
                (0, _) => {}
                (_, Some((first, last))) => {
                    let (first, last) = (first as usize, last as usize);
                    if last != start {
                        if start != end {
                            push(frame, at, &area[start..end]);
                        }
                        end = last;
                    }
                    start = first;
                }
                (_, None) => {
                    push(frame, at, &area[start..end]);
                    (start, end) = (0, 0);
                    push_variable(layout, area, emission.header, frame, at);
                }
            }
        }
        push(frame, at, &area[start..end]);
    }
}

/// Puts bytes in front of those at `at`.
#[inline(always)]
fn push(frame: &mut [u8], at: &mut usize, part: &[u8]) {
    frame[*at - part.len()..*at].copy_from_slice(part);
    *at -= part.len();
}

/// The same for a header with a variable field.
#[inline(never)]
fn push_variable(layout: &Layout, area: &[u8], header: u32, frame: &mut [u8], at: &mut usize) {
    let length = layout.length(area, &layout.headers[header as usize]);
    *at -= length;
    let mut room = &mut frame[*at..*at + length];
    emit(layout, area, header, |part| {
        let (start, rest) = std::mem::take(&mut room).split_at_mut(part.len());
        start.copy_from_slice(part);
        room = rest;
    });
}

/// The emissions of the program's deparser of this name, or of its only one, and its statements
/// before.
pub(crate) fn load_deparser(
    names: &Names<'_>,
    source: &bmv2::Program,
    name: &str,
) -> Result<(Emissions, Option<Routine>), LoadError> {
    let position = source.deparsers.iter().position(|deparser| deparser.name == name).unwrap_or(0);
    let Some(deparser) = source.deparsers.get(position) else {
        return Ok((Emissions::default(), None));
    };
    let path = format!("/deparsers/{position}");
    let order = deparser.order.iter().enumerate().map(|(index, name)| {
        let header = names.layout.header(name).map(|header| Emission::new(names.layout, header));
        header.map_err(|error| error.under(&format!("{path}/order/{index}")))
    });
    let order = Emissions::new(names.layout, order.collect::<Result<_, _>>()?);
    let order = order.map_err(|error| error.under(&path))?;
    if deparser.primitives.is_empty() {
        return Ok((order, None));
    }
    let routine = load_routine(names, &deparser.primitives);
    Ok((order, Some(routine.map_err(|error| error.under(&path))?)))
}
