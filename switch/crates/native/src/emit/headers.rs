//! The valid headers in front of the payload, the last of them first.
//!
//! ```text
//!   deparse(area, frame, at) -> at
//! ```

use cranelift_codegen::ir::{InstBuilder, types};
use pipeline::native::Header;

use super::Emitter;

/// Writes the function.
pub(super) fn emit(emit: &mut Emitter<'_>, headers: &[Header]) {
    let [frame, start] = emit.arguments[..] else { return };
    let at = emit.builder.declare_var(types::I64);
    emit.builder.def_var(at, start);
    for header in headers.iter().rev() {
        let valid = emit.is_valid(header.valid);
        let [copied, done] = [(); 2].map(|()| emit.builder.create_block());
        let _ = emit.builder.ins().brif(valid, copied, &[], done, &[]);
        emit.builder.switch_to_block(copied);
        let end = emit.builder.use_var(at);
        let start = emit.builder.ins().iadd_imm_s(end, -i64::from(header.length_bytes));
        emit.builder.def_var(at, start);
        let to = emit.builder.ins().iadd(frame, start);
        let from = emit.in_area(header.length_bytes, header.base);
        emit.copy((to, 0), from, header.length_bytes);
        let _ = emit.builder.ins().jump(done, &[]);
        emit.builder.switch_to_block(done);
    }
    let at = emit.builder.use_var(at);
    let _ = emit.builder.ins().return_(&[at]);
}
