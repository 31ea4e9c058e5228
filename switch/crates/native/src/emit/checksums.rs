//! Internet checksums of headers.
//!
//! The sum of 16-bit words modulo 2^16 - 1 does not mind the order of bytes (the sum of swapped
//! words is the swapped sum), so windows are summed as the processor loads them, and as 32-bit
//! numbers, so that nothing is carried out of 64 bits.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use pipeline::native::{Checksum, Masked, Target, Test};

use super::Emitter;
use super::fields::Part;

/// Writes the function that says whether a checksum is wrong.
pub(super) fn verify(emit: &mut Emitter<'_>, checksums: &[Checksum]) {
    let wrong = emit.builder.declare_var(types::I64);
    let none = emit.number(0);
    emit.builder.def_var(wrong, none);
    for checksum in checksums {
        if_wanted(emit, checksum, |emit| {
            let computed = compute(emit, checksum);
            let found = emit.field(checksum.target);
            let differs = emit.builder.ins().icmp(IntCC::NotEqual, computed, found);
            let differs = emit.builder.ins().uextend(types::I64, differs);
            let before = emit.builder.use_var(wrong);
            let both = emit.builder.ins().bor(before, differs);
            emit.builder.def_var(wrong, both);
        });
    }
    let wrong = emit.builder.use_var(wrong);
    let _ = emit.builder.ins().return_(&[wrong]);
}

/// Writes the function that updates checksums.
pub(super) fn update(emit: &mut Emitter<'_>, checksums: &[Checksum]) {
    for checksum in checksums {
        if_wanted(emit, checksum, |emit| {
            let computed = compute(emit, checksum);
            emit.assign(Target::Cell(checksum.target), computed);
        });
    }
    let _ = emit.builder.ins().return_(&[]);
}

/// Does something if a checksum is wanted; no test of one looks at a parameter.
fn if_wanted(emit: &mut Emitter<'_>, checksum: &Checksum, then: impl FnOnce(&mut Emitter<'_>)) {
    let no_params = emit.area;
    let wanted = emit.test(&checksum.wanted, no_params);
    let [yes, done] = [(); 2].map(|()| emit.builder.create_block());
    let _ = emit.builder.ins().brif(wanted, yes, &[], done, &[]);
    emit.builder.switch_to_block(yes);
    then(emit);
    let _ = emit.builder.ins().jump(done, &[]);
    emit.builder.switch_to_block(done);
}

/// The checksum.
fn compute(emit: &mut Emitter<'_>, checksum: &Checksum) -> Value {
    let mut total = emit.number(0);
    for (valid, windows) in &checksum.words {
        let mut sum = emit.number(0);
        for window in windows {
            let window = words(emit, *window);
            sum = emit.builder.ins().iadd(sum, window);
        }
        // A condition already tested need not be tested again.
        if !implies(&checksum.wanted, *valid) {
            let valid = emit.is_valid(*valid);
            let zero = emit.number(0);
            sum = emit.builder.ins().select(valid, sum, zero);
        }
        total = emit.builder.ins().iadd(total, sum);
    }
    fold(emit, total)
}

/// Whether a header is valid where a condition holds.
fn implies(wanted: &Test, valid: u32) -> bool {
    match wanted {
        Test::Valid(byte) => *byte == valid,
        Test::And(both) => implies(&both.0, valid) || implies(&both.1, valid),
        _ => false,
    }
}

/// The sum of a window's words, in the processor's order of bytes.
fn words(emit: &mut Emitter<'_>, window: Masked) -> Value {
    if window.mask == 0 {
        return emit.number(0);
    }
    // The words of a part that starts an even number of bytes from the window's start are words of
    // the window.
    let mut part = Part::of(window.mask);
    if part.bytes == 1 {
        part = Part { first: part.first / 2 * 2, bytes: 2 };
    }
    if part.first % 2 == 1 {
        part = Part { first: 0, bytes: 8 };
    }
    let mask = window.mask >> part.shift();
    let value = emit.load(part.kind(), window.offset + part.first);
    match part.bytes {
        8 => {
            let value = emit.masked(value, mask.swap_bytes());
            let low = emit.builder.ins().ireduce(types::I32, value);
            let low = emit.builder.ins().uextend(types::I64, low);
            let high = emit.builder.ins().ushr_imm_s(value, 32);
            emit.builder.ins().iadd(low, high)
        }
        bytes => {
            let value = emit.builder.ins().uextend(types::I64, value);
            let all = u64::MAX >> (64 - 8 * bytes);
            let mask = mask.swap_bytes() >> (64 - 8 * bytes);
            if mask == all { value } else { emit.masked(value, mask) }
        }
    }
}

/// The checksum of a sum: folded to 16 bits, inverted, in the order of the wire.
fn fold(emit: &mut Emitter<'_>, sum: Value) -> Value {
    let builder = &mut emit.builder;
    // 64 bits to 33, to 18, to 17, to 16: each time what is above comes in again at the low end.
    let mut sum = sum;
    for bits in [32, 16, 16, 16] {
        let low = builder.ins().band_imm_s(sum, (1 << bits) - 1);
        let high = builder.ins().ushr_imm_s(sum, bits);
        sum = builder.ins().iadd(low, high);
    }
    let word = builder.ins().ireduce(types::I16, sum);
    let word = builder.ins().bnot(word);
    let word = builder.ins().bswap(word);
    builder.ins().uextend(types::I64, word)
}
