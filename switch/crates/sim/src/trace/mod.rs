//! `vitrine-sim trace PROGRAM PACKET...`: the life of a packet, step by step.
//!
//! Each packet is hexadecimal digits, with its port in front if it is not 0: `3:ffff...`. Text for
//! people, or with `--json` one JSON object a line for programs. Tables are filled by the `add`,
//! `setdefault` and other statements of an STF file given with `--entries`.

mod json;
mod text;

use std::path::PathBuf;

use clap::Args;
use p4c::output;
use pipeline::{Config, InstanceType};
use stf::{CPU_PORT, Test};
use units::PortId;

use crate::program;
use crate::stf::read_script;

/// Show what a P4 program does with packets.
#[derive(Args)]
pub struct Arguments {
    /// The program: BMv2 JSON, or P4.
    program: PathBuf,
    /// Packets: [PORT:]HEX.
    #[arg(required = true)]
    packets: Vec<String>,
    /// An STF file whose statements fill the tables first.
    #[arg(long)]
    entries: Option<PathBuf>,
    /// One JSON object a line, instead of text.
    #[arg(long)]
    json: bool,
    /// Where the P4 program's include files are.
    #[arg(short = 'I', long)]
    include: Vec<PathBuf>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let config = Config { cpu_port: Some(CPU_PORT), ..Config::default() };
    let mut test = Test::new(program::load(&arguments.program, &arguments.include, &config)?);
    if let Some(path) = &arguments.entries {
        for (line, statement) in &read_script(path)? {
            let applied = test.apply(*line, statement);
            applied.map_err(|message| format!("{}, line {line}: {message}", path.display()))?;
        }
    }
    let packets: Result<Vec<_>, String> =
        arguments.packets.iter().map(|packet| parse_packet(packet)).collect();
    for (port, bytes) in packets? {
        let records = test.switch().send_traced(PortId(port), &bytes);
        let rendered = if arguments.json { json::render(&records) } else { text::render(&records) };
        output::show(rendered);
    }
    Ok(())
}

/// `[PORT:]HEX`, spaces allowed between digits.
fn parse_packet(text: &str) -> Result<(u16, Vec<u8>), String> {
    let (port, digits) = text.split_once(':').unwrap_or(("0", text));
    let port = port.trim().parse().map_err(|_| format!("`{port}` is no port number"))?;
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    let bytes: Option<Vec<u8>> = pairs.collect();
    bytes.map(|bytes| (port, bytes)).ok_or_else(|| {
        format!("`{text}` is no packet: [PORT:] and pairs of hexadecimal digits are expected")
    })
}

/// Bytes as digits.
fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number as digits of whole bytes.
fn hex(value: &bits::Int) -> String {
    value.to_hex(bits::byte_count(value.bit_length()))
}

/// The kind of a copy, in words.
fn kind(kind: InstanceType) -> &'static str {
    match kind {
        InstanceType::EgressClone => "clone from egress",
        InstanceType::IngressClone => "clone from ingress",
        InstanceType::Replicated => "replica",
        _ => "copy",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_digits_with_a_port_in_front() {
        assert_eq!(parse_packet("00ff"), Ok((0, vec![0, 255])));
        assert_eq!(parse_packet("3: 00 ff"), Ok((3, vec![0, 255])));
        assert!(parse_packet("00f").is_err());
        assert!(parse_packet("x:00").is_err());
    }
}
