//! How programs run: as machine code, or interpreted.

use std::sync::Arc;
use std::time::Instant;

use clap::ValueEnum;
use pipeline::native::{Compile, Native, Source};

/// The form that a program is given when it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PipelineForm {
    /// Compiled to machine code; what cannot be compiled is interpreted.
    Native,
    /// Step by step.
    Interpreted,
}

impl PipelineForm {
    /// The compiler of programs, if there is one.
    pub fn compiler(self) -> Option<Compile> {
        match self {
            PipelineForm::Native => Some(compile),
            PipelineForm::Interpreted => None,
        }
    }
}

/// Compiles a program and reports the result. Programs are loaded beside the thread that moves
/// packets, so no packet waits for this.
fn compile(source: &Source) -> Result<Arc<dyn Native>, String> {
    let start = Instant::now();
    let compiled = native::compile(source);
    match &compiled {
        Ok(_) => {
            tracing::info!("the program runs as machine code, made in {:.1?}", start.elapsed())
        }
        Err(message) => tracing::warn!(
            "the program is interpreted, with the same results but more slowly, for it could not be \
             compiled to machine code: {message}; --pipeline interpreted asks for that without \
             this warning"
        ),
    }
    compiled
}
