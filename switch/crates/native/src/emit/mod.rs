//! From a program's source to machine code: one function a file, and what they share.

mod checksums;
mod control;
mod fields;
mod headers;
mod states;
mod values;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{
    AbiParam, Function, InstBuilder, MemFlagsData, Signature, Type, Value, types,
};
use cranelift_codegen::isa::{self, CallConv, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use pipeline::native::Source;

use crate::code::{Code, Functions};

/// Where functions start: the line of a cache.
const ALIGNMENT: usize = 64;

/// Longer programs are interpreted: compiling takes its time, some microseconds a step.
const OPS_MAX: usize = 20_000;

/// Compiles a whole program.
pub(crate) fn program(source: &Source) -> Result<Code, String> {
    if source.ops.len() > OPS_MAX {
        let count = source.ops.len();
        return Err(format!("it has {count} steps, more than the {OPS_MAX} that are compiled"));
    }
    let isa = processor()?;
    let mut compiler =
        Compiler { isa: &*isa, context: FunctionBuilderContext::new(), area: source.area_bytes };
    let headers = source.headers.as_deref().unwrap_or_default();
    let verified = source.verified.as_deref().unwrap_or_default();
    let updated = source.updated.as_deref().unwrap_or_default();
    let number = types::I64;
    let functions = [
        compiler.function(&[number; 4], &[], |emit| control::emit(emit, source))?,
        compiler.function(&[number; 5], &[number; 2], |emit| states::emit(emit, &source.states))?,
        compiler.function(&[number], &[number], |emit| checksums::verify(emit, verified))?,
        compiler.function(&[number], &[], |emit| checksums::update(emit, updated))?,
        compiler.function(&[number; 3], &[number], |emit| headers::emit(emit, headers))?,
    ];
    let mut bytes = Vec::new();
    let starts = functions.map(|function| {
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        let start = bytes.len();
        bytes.extend(function);
        start
    });
    Code::new(Functions {
        bytes,
        starts,
        area_bytes: source.area_bytes,
        registers: source.registers,
        params: control::params_read(&source.ops),
        headers_bytes: headers.iter().map(|header| header.length_bytes as usize).sum(),
    })
}

/// The processor this runs on, without what only some of its kind can do.
fn processor() -> Result<isa::OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("unwind_info", "false"),
        // Ops and states are numbers of the program's own, never a packet's: there is nothing to
        // be read by guessing where one leads.
        ("enable_table_access_spectre_mitigation", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value).map_err(|error| format!("setting {name}: {error}"))?;
    }
    let name = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let builder = isa::lookup_by_name(&name).map_err(|error| format!("{name}: {error}"))?;
    builder.finish(settings::Flags::new(flags)).map_err(|error| format!("{name}: {error}"))
}

/// The material for compiling functions.
struct Compiler<'a> {
    isa: &'a dyn TargetIsa,
    context: FunctionBuilderContext,
    /// Bytes of the area.
    area: usize,
}

impl Compiler<'_> {
    /// The instructions of a function of numbers.
    fn function(
        &mut self,
        takes: &[Type],
        gives: &[Type],
        emit: impl FnOnce(&mut Emitter<'_>),
    ) -> Result<Vec<u8>, String> {
        let mut function = Function::new();
        function.signature = signature(self.isa.default_call_conv(), takes, gives);
        let mut builder = FunctionBuilder::new(&mut function, &mut self.context);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let area = builder.block_params(entry)[0];
        let arguments = builder.block_params(entry)[1..].to_vec();
        let mut emitter = Emitter { builder, area, area_bytes: self.area, arguments };
        emit(&mut emitter);
        emitter.builder.seal_all_blocks();
        emitter.builder.finalize(self.isa.frontend_config());
        let mut context = Context::for_function(function);
        let compiled = context.compile(self.isa, &mut ControlPlane::default());
        let compiled = compiled.map_err(|error| format!("{:?}", error.inner))?;
        // It holds no address but that of `leave`, so it runs wherever it is put.
        match compiled.buffer.relocs().is_empty() {
            true => Ok(compiled.code_buffer().to_vec()),
            false => Err("machine code that depends on where it lies".to_owned()),
        }
    }
}

/// The signature of a function of numbers.
fn signature(convention: CallConv, takes: &[Type], gives: &[Type]) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend(takes.iter().copied().map(AbiParam::new));
    signature.returns.extend(gives.iter().copied().map(AbiParam::new));
    signature
}

/// A function being written.
struct Emitter<'a> {
    builder: FunctionBuilder<'a>,
    /// The address of the area: what every function takes first.
    area: Value,
    area_bytes: usize,
    /// Its other arguments.
    arguments: Vec<Value>,
}

/// Memory that is there, at any address.
fn memory() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl Emitter<'_> {
    /// The signature of a function that is called.
    fn signature(&self, takes: &[Type], gives: &[Type]) -> Signature {
        signature(self.builder.func.signature.call_conv, takes, gives)
    }

    /// Bytes of the area at an offset, as a number of this type in the processor's order.
    fn load(&mut self, kind: Type, offset: u32) -> Value {
        self.check(kind.bytes(), offset);
        self.builder.ins().load(kind, memory(), self.area, offset as i32)
    }

    /// Writes such a number to the area.
    fn store(&mut self, value: Value, offset: u32) {
        let bytes = self.builder.func.dfg.value_type(value).bytes();
        self.check(bytes, offset);
        let _ = self.builder.ins().store(memory(), value, self.area, offset as i32);
    }

    /// No function reaches beyond the area: this is what its callers rely on.
    fn check(&self, bytes: u32, offset: u32) {
        let end = offset as usize + bytes as usize;
        assert!(end <= self.area_bytes && end <= i32::MAX as usize, "an offset outside the area");
    }

    /// A constant.
    fn number(&mut self, value: u64) -> Value {
        self.builder.ins().iconst(types::I64, value as i64)
    }

    /// Copies bytes between two addresses that do not overlap: a few moves, no loop.
    fn copy(&mut self, to: (Value, u32), from: (Value, u32), length: u32) {
        for (at, kind) in moves(length) {
            let (read, write) = ((from.1 + at) as i32, (to.1 + at) as i32);
            let part = self.builder.ins().load(kind, memory(), from.0, read);
            let _ = self.builder.ins().store(memory(), part, to.0, write);
        }
    }

    /// The address of bytes of the area, to copy to or from.
    fn in_area(&mut self, length: u32, offset: u32) -> (Value, u32) {
        self.check(length, offset);
        (self.area, offset)
    }
}

/// Offsets and types of the moves that copy `length` bytes. The last may overlap the one before it:
/// 14 bytes are two moves of eight.
fn moves(length: u32) -> Vec<(u32, Type)> {
    let kinds =
        [(16, types::I8X16), (8, types::I64), (4, types::I32), (2, types::I16), (1, types::I8)];
    let mut moves = Vec::new();
    let mut at = 0;
    while at < length {
        let rest = length - at;
        let fitting = kinds.iter().find(|(bytes, _)| *bytes <= rest).copied();
        let (bytes, kind) = fitting.unwrap_or(kinds[4]);
        // A move that reaches back saves one, if something as wide has been copied.
        let back = kinds.iter().rev().find(|(bytes, _)| *bytes >= rest && *bytes <= length);
        match back {
            Some((wide, kind)) if rest > bytes => {
                moves.push((length - wide, *kind));
                at = length;
            }
            _ => {
                moves.push((at, kind));
                at += bytes;
            }
        }
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::moves;

    /// Every byte of any header is copied, and none beside it.
    #[test]
    fn moves_cover_a_header_and_nothing_else() {
        for length in 0..=256 {
            let mut copied = vec![false; length as usize];
            for (at, kind) in moves(length) {
                copied[at as usize..][..kind.bytes() as usize].fill(true);
            }
            assert!(copied.into_iter().all(|byte| byte), "{length} bytes");
        }
        // Ethernet, IPv4, ports.
        assert_eq!([14, 20, 4].map(|length| moves(length).len()), [2, 2, 1]);
    }
}
