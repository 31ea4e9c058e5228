//! Memory with machine code, and the calls into it: all `unsafe` of this crate.
//!
//! The calls are sound for these reasons: the functions come from `emit`, which lets them reach the
//! area by offsets inside the length it was given, the frame behind comparisons with its length,
//! the parameters by indexes that it counted, and registers behind comparisons with their number.
//! Wherever they are handed one of these, its length is compared with the one they rely on.

#![allow(unsafe_code)]

use memmap2::{Mmap, MmapMut};
use pipeline::native::{Interpreter, Native, Point, Position, RegisterArray};

/// Where a control goes on, and its action's parameters: returned in two registers.
#[repr(C)]
struct Entered(Point, *const u64);

/// A position in the frame and a state, likewise.
#[repr(C)]
struct Parsed(u64, u64);

/// The argument of [`leave`] from a running control.
struct Call<'c, 'a> {
    interpreter: &'c mut dyn Interpreter<'a>,
    /// How many parameters are read from each op on.
    params: &'c [usize],
}

type Control = unsafe extern "C" fn(
    area: *mut u8,
    registers: *mut RegisterArray,
    start: u64,
    call: *mut Call<'_, '_>,
);
type Parse =
    unsafe extern "C" fn(area: *mut u8, frame: *const u8, end: u64, at: u64, state: u64) -> Parsed;
type IsWrong = unsafe extern "C" fn(area: *const u8) -> u64;
type Update = unsafe extern "C" fn(area: *mut u8);
type Deparse = unsafe extern "C" fn(area: *const u8, frame: *mut u8, at: u64) -> u64;

/// The bytes of the functions, and what their callers must keep to.
pub(crate) struct Functions {
    /// The instructions of all of them.
    pub bytes: Vec<u8>,
    /// Where each starts: `Control`, `Parse`, `IsWrong`, `Update`, `Deparse`.
    pub starts: [usize; 5],
    /// Bytes of the area that they reach.
    pub area_bytes: usize,
    /// How many arrays of registers they reach.
    pub registers: usize,
    /// How many parameters they read from each op on.
    pub params: Vec<usize>,
    /// How many bytes `Deparse` can write.
    pub headers_bytes: usize,
}

/// Functions that can be called.
#[derive(Debug)]
pub(crate) struct Code {
    control: Control,
    parse: Parse,
    is_wrong: IsWrong,
    update: Update,
    deparse: Deparse,
    area_bytes: usize,
    registers: usize,
    params: Box<[usize]>,
    headers_bytes: usize,
    /// The code of the functions; it lives as long as they do.
    _memory: Mmap,
}

impl Code {
    /// Puts functions where they can be called. The memory is never writable and executable at once.
    pub fn new(functions: Functions) -> Result<Code, String> {
        check_slices()?;
        let refused = |what: &str| {
            let what = what.to_owned();
            move |error: std::io::Error| format!("the system {what}: {error}")
        };
        let mapped = MmapMut::map_anon(functions.bytes.len().max(1));
        let mut memory = mapped.map_err(refused("gives no memory for machine code"))?;
        memory[..functions.bytes.len()].copy_from_slice(&functions.bytes);
        // The pages were never executable before, so no processor holds old instructions of them.
        let memory = memory.make_exec().map_err(refused("does not let memory be executed"))?;
        let at = |function: usize| memory[functions.starts[function]..].as_ptr();
        // SAFETY: each start is that of a whole function of this type, made by `emit` for this
        // processor's calling convention, and the memory stays mapped while `Code` lives.
        unsafe {
            use std::mem::transmute;
            Ok(Code {
                control: transmute::<*const u8, Control>(at(0)),
                parse: transmute::<*const u8, Parse>(at(1)),
                is_wrong: transmute::<*const u8, IsWrong>(at(2)),
                update: transmute::<*const u8, Update>(at(3)),
                deparse: transmute::<*const u8, Deparse>(at(4)),
                area_bytes: functions.area_bytes,
                registers: functions.registers,
                params: functions.params.into(),
                headers_bytes: functions.headers_bytes,
                _memory: memory,
            })
        }
    }

    /// The area must be this program's.
    #[inline(always)]
    fn check_area(&self, area: &[u8]) {
        assert!(area.len() == self.area_bytes, "an area of another program");
    }
}

/// Machine code takes a slice for its address and, behind it, its length; the language does not
/// promise that it is so.
fn check_slices() -> Result<(), String> {
    let slice: Box<[u64]> = [0; 3].into();
    // SAFETY: a slice is two words of which any value is one.
    let words: [usize; 2] = unsafe { std::mem::transmute_copy(&slice) };
    match words == [slice.as_ptr() as usize, slice.len()] {
        true => Ok(()),
        false => Err("slices are not an address and a length here".to_owned()),
    }
}

/// A control's call for an op that it leaves.
///
/// Machine code cannot be unwound: a panic in here would end the process.
unsafe extern "C" fn leave(call: *mut Call<'_, '_>, point: Point, key: u64) -> Entered {
    // SAFETY: a control passes on what it was called with, and waits for this to return.
    let call = unsafe { &mut *call };
    let (point, params) = call.interpreter.step(point, key);
    // At an op that there is not, or from which none is read, there need be none.
    let needed = call.params.get(point.at as usize).copied().unwrap_or(0);
    assert!(params.len() >= needed, "parameters of another action");
    Entered(point, params.as_ptr())
}

/// The address of [`leave`], for instructions.
pub(crate) fn leave_address() -> u64 {
    leave as *const () as u64
}

impl Native for Code {
    #[inline]
    fn control(&self, start: u32, interpreter: &mut dyn Interpreter<'_>) {
        let (area, registers) = interpreter.memory();
        self.check_area(area);
        assert!(registers.len() == self.registers, "registers of another program");
        let (area, registers) = (area.as_mut_ptr(), registers.as_mut_ptr());
        let mut call = Call { interpreter, params: &self.params };
        // SAFETY: area and registers are as many as the function relies on, and where they are for
        // as long as the interpreter is borrowed. The function reaches them only while `leave` does
        // not run, and parameters as far as `leave` has found them to be there; these outlive it.
        unsafe { (self.control)(area, registers, start.into(), &raw mut call) }
    }

    #[inline]
    fn parse(&self, area: &mut [u8], frame: &[u8], from: Position) -> Position {
        self.check_area(area);
        assert!(from.at <= frame.len(), "a position inside the frame");
        let (end, at) = (frame.len() as u64, from.at as u64);
        let state = u64::from(from.state) | u64::from(from.entered) << 32;
        // SAFETY: the area is as long as the function relies on; it reads the frame between `at`
        // and `end` only, and writes to nothing but the area.
        let Parsed(at, state) =
            unsafe { (self.parse)(area.as_mut_ptr(), frame.as_ptr(), end, at, state) };
        let (entered, done) = ((state >> 32) as u16, (state >> 48) as u32);
        Position { at: at as usize, state: state as u32, entered: entered.into(), done }
    }

    #[inline]
    fn is_wrong(&self, area: &[u8]) -> bool {
        self.check_area(area);
        // SAFETY: the area is as long as the function relies on; it writes nothing.
        unsafe { (self.is_wrong)(area.as_ptr()) != 0 }
    }

    #[inline]
    fn update(&self, area: &mut [u8]) {
        self.check_area(area);
        // SAFETY: the area is as long as the function relies on; it writes to nothing else.
        unsafe { (self.update)(area.as_mut_ptr()) }
    }

    #[inline]
    fn deparse(&self, area: &[u8], frame: &mut [u8], at: usize) -> usize {
        self.check_area(area);
        assert!((self.headers_bytes..=frame.len()).contains(&at), "room for the headers");
        // SAFETY: the area is as long as the function relies on; it writes at most `headers_bytes`
        // bytes in front of `at`, which are in the frame.
        unsafe { (self.deparse)(area.as_ptr(), frame.as_mut_ptr(), at as u64) as usize }
    }
}
