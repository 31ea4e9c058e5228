//! `vitrine-sim stf PROGRAM TEST.stf`: runs a packet test written in STF, the Simple Test Framework
//! of p4lang/p4c. Exit status 0 if every expected packet came out and no other did on the ports the
//! test mentions, 1 if not.

use std::path::{Path, PathBuf};

use clap::Args;

use p4c::output;
use pipeline::Config;
use stf::{CPU_PORT, Statement, Test};

use crate::program;

/// Run an STF test on a P4 program.
#[derive(Args)]
pub struct Arguments {
    /// The program: BMv2 JSON, or P4.
    program: PathBuf,
    /// The test.
    test: PathBuf,
    /// Where the P4 program's include files are.
    #[arg(short = 'I', long)]
    include: Vec<PathBuf>,
    /// Interpret the program, instead of compiling it to machine code.
    #[arg(long)]
    interpreted: bool,
}

/// Runs the subcommand: whether the test passed.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let path = &arguments.test;
    let statements = read_script(path)?;
    let compile = if arguments.interpreted { None } else { program::MACHINE_CODE };
    let config = Config { compile, cpu_port: Some(CPU_PORT), ..Config::default() };
    let pipeline = program::load(&arguments.program, &arguments.include, &config)?;
    let mut test = Test::new(pipeline);
    let mut failures = 0;
    for (line, statement) in &statements {
        if let Err(message) = test.apply(*line, statement) {
            failures += 1;
            output::show(format_args!("{}, line {line}: {message}\n", path.display()));
        }
    }
    for mismatch in test.mismatches() {
        failures += 1;
        output::show(mismatch);
    }
    let verdict = if failures == 0 { "passed" } else { "FAILED" };
    output::show(format_args!("{}: {verdict}, {} statements\n", path.display(), statements.len()));
    Ok(failures == 0)
}

/// The statements of a file, with their lines.
pub fn read_script(path: &Path) -> Result<Vec<(usize, Statement)>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    stf::parse(&text).map_err(|error| format!("{}, {error}", path.display()))
}
