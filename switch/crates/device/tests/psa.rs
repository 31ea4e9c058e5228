//! Programs of PSA on the device: the packets of `tests/psa` of the repository, which
//! `vitrine-sim stf` sends too. Here what the scripts configure is configured by hand.

use compiler::{Options, SourceError, SourceProvider, compile};
use device::{Change, Device, LinkConfig, Output};
use pipeline::{CloneSession, Config, MeterConfig, MeterRate, Node, Pipeline};
use traffic::PortConfig;
use units::{ClassId, PortId, Span, Time};

struct Texts;

impl SourceProvider for Texts {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        let text = match path {
            "include/core.p4" => include_str!("../../../../p4src/include/core.p4"),
            "include/psa.p4" => include_str!("../../../../p4src/include/psa.p4"),
            "include/bmv2/psa.p4" => include_str!("../../../../p4src/include/bmv2/psa.p4"),
            "externs.p4" => include_str!("../../../../tests/psa/externs.p4"),
            "ways.p4" => include_str!("../../../../tests/psa/ways.p4"),
            _ => return Err(SourceError::NotFound),
        };
        Ok(text.to_owned())
    }
}

fn program(name: &str) -> Pipeline {
    let mut options = Options::default();
    options.preprocessor.include_directories.push("include".to_owned());
    let output = compile(&Texts, name, &options);
    let program = output.program.unwrap_or_else(|| panic!("{:?}", output.diagnostics));
    // This switch reads the JSON that we write for others.
    let json = bmv2::write(&program);
    Pipeline::load(json.as_bytes(), &Config::default()).expect("loads")
}

/// A device with ports 1 to 6 that take no time.
fn device(pipeline: Pipeline) -> Device {
    let mut device = Device::new(Config::default());
    let mut change = Change::default();
    for port in (1..=6).map(PortId) {
        change.traffic.ports.insert(port, Some(PortConfig::strict(None, 2)));
        change.links.insert(port, LinkConfig::default());
    }
    device.change(Time::ZERO, change).expect("valid");
    device.install(Box::new(pipeline));
    device
}

fn bytes(words: &[&str]) -> Vec<u8> {
    let digits = words.concat();
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Sends each `packet` of a script; what comes must be what `expect` says up to the next, whatever the
/// order.
fn run(device: &mut Device, script: &str) {
    let mut now = Time::ZERO;
    let mut sent: Vec<(PortId, Vec<u8>)> = Vec::new();
    for line in script.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "$").collect();
        let port = |word: &str| PortId(word.parse().expect("a port"));
        match words.as_slice() {
            ["packet", input, rest @ ..] => {
                assert_eq!(sent, [], "before: {line}");
                now += Span::from_us(10);
                device.handle_frame(now, port(input), &bytes(rest));
                while let Some(output) = device.poll_output(now) {
                    if let Output::Transmit { port, frame, .. } = output {
                        sent.push((port, frame.bytes().to_vec()));
                    }
                }
            }
            ["expect", output, rest @ ..] => {
                let wanted = (port(output), bytes(rest));
                let found = sent.iter().position(|one| *one == wanted);
                let found = found.unwrap_or_else(|| panic!("{line}: there are {sent:x?}"));
                let _ = sent.remove(found);
            }
            _ => {}
        }
    }
    assert_eq!(sent, [], "at the end");
    assert!(device.balance());
}

#[test]
fn packets_go_all_ways_and_take_along_what_belongs_to_theirs() {
    let mut pipeline = program("ways.p4");
    let ports = vec![PortId(3), PortId(4)];
    pipeline.replication.set_group(1, Some(vec![Node { rid: 0, ports, lags: vec![] }]));
    let session =
        CloneSession { port: Some(PortId(6)), class: ClassId(0), ..CloneSession::default() };
    pipeline.replication.set_session(5, Some(session));
    run(&mut device(pipeline), include_str!("../../../../tests/psa/ways.stf"));
}

#[test]
fn externs_compute_what_they_are_to_compute() {
    let mut pipeline = program("externs.p4");
    let meter = pipeline.meter_index("ingress.meter").expect("declared");
    let rates = MeterConfig {
        committed_rate: MeterRate::per_s(0),
        committed_burst: 2,
        peak_rate: MeterRate::per_s(0),
        peak_burst: 3,
        excess_burst: None,
    };
    pipeline.meters_mut(meter).meters[3].configure(Some(rates), Time::ZERO);
    let counter = pipeline.counter_index("ingress.packets").expect("declared");
    let mut device = device(pipeline);
    run(&mut device, include_str!("../../../../tests/psa/externs.stf"));
    let counters = device.pipeline().expect("installed").counters(counter);
    assert_eq!(counters[3].packets, 4);
}
