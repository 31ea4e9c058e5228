//! `vitrine-sim trace PROGRAM PACKET...`: the life of a packet, step by step.
//!
//! Each packet is hexadecimal digits, with its port in front if it is not 0: `3:ffff...`. Text for
//! people, or with `--json` one JSON object a line for programs. Tables are filled by the `add`,
//! `setdefault` and other statements of an STF file given with `--entries`.

mod json;
mod text;

use std::path::PathBuf;

use clap::Args;
use pipeline::{Event, Output};

use crate::program;
use crate::stf::{Test, read_script};

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
    let mut test = Test::new(program::load(&arguments.program, &arguments.include)?);
    if let Some(path) = &arguments.entries {
        for (line, statement) in &read_script(path)? {
            let applied = test.apply(*line, statement);
            applied.map_err(|message| format!("{}, line {line}: {message}", path.display()))?;
        }
    }
    for (number, packet) in arguments.packets.iter().enumerate() {
        let (port, bytes) = parse_packet(packet)?;
        let mut events: Vec<Event> = Vec::new();
        let outputs = test.send(port, &bytes, &mut events);
        let rendered = if arguments.json {
            json::render(number, port, &bytes, &events, &outputs)
        } else {
            text::render(number, port, &bytes, &events, &outputs)
        };
        print!("{rendered}");
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

/// What became of the packet, in words.
fn fate(output: &Output) -> String {
    match output {
        Output::Digest { list, values } => {
            let values: Vec<String> = values.iter().map(hex).collect();
            format!("digest {list} to the control plane: {}", values.join(", "))
        }
        Output::Drop(reason) => format!("dropped: {}", reason.sentence()),
        Output::Transmit { port, frame } => {
            format!("leaves port {port}, {} bytes: {}", frame.len(), digits(frame))
        }
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
