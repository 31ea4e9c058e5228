//! Loading a program for a subcommand: BMv2 JSON as it is, P4 through the kit's compiler.

use std::path::{Path, PathBuf};

use compiler::PreprocessorOptions;
use p4c::files::{BUILT_IN, Files};
use p4c::render::render_all;
use pipeline::native::Compile;
use pipeline::{Config, Pipeline};

/// The compiler to machine code, where there is one.
#[cfg(not(target_family = "wasm"))]
pub const MACHINE_CODE: Option<Compile> = Some(native::compile);
#[cfg(target_family = "wasm")]
pub const MACHINE_CODE: Option<Compile> = None;

/// Loads a program from a file.
pub fn load(path: &Path, includes: &[PathBuf], config: &Config) -> Result<Pipeline, String> {
    let loaded = if path.extension().is_some_and(|extension| extension == "p4") {
        Pipeline::new(&compile(path, includes)?, config)
    } else {
        let json = std::fs::read(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Pipeline::load(&json, config)
    };
    loaded.map_err(|error| format!("{}: {error}", path.display()))
}

fn compile(path: &Path, includes: &[PathBuf]) -> Result<bmv2::Program, String> {
    let name = |path: &Path| path.to_string_lossy().into_owned();
    let mut include_directories: Vec<String> = includes.iter().map(|path| name(path)).collect();
    include_directories.push(BUILT_IN.to_owned());
    let preprocessor = PreprocessorOptions { include_directories, ..Default::default() };
    let options = compiler::Options { preprocessor, ..Default::default() };
    let output = compiler::compile(&Files, &name(path), &options);
    let messages = || render_all(&output.diagnostics, &output.sources);
    output.program.ok_or_else(|| format!("{} does not compile\n{}", path.display(), messages()))
}
