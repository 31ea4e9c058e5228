//! How many packets of TCP a virtual network carries: `cargo bench -p vitrine-sim --bench world`.
//!
//! CUBIC flows, each between two hosts of its own, through two routers with `router.p4`: each data
//! segment and each acknowledgment is parsed, matched, queued and deparsed in both of them. Told
//! are the packets that crossed the bottleneck a second of CPU time, on one core. Wanted: 400,000.
//!
//! Then ten minutes of the lab of the full buffer: one flow, pages and a ping through 1.5 to 10 Mb/s,
//! wanted in under 3 s; and the most memory that all of it took.
//!
//! Arguments: `--flows N`, `--mbps N` and `--seconds N` (of virtual time) run one network instead of
//! all rows, with `--parallel N` as many flows between each two hosts; `--json` prints one object a
//! row; `--full-buffer` runs ten minutes of a full buffer instead; `--interpreted` does without machine
//! code.

#[path = "../../world/tests/rig/dumbbell.rs"]
#[allow(dead_code, reason = "tests use the rest of it")]
mod dumbbell;

use std::path::Path;

use compiler::PreprocessorOptions;
use dumbbell::{Dumbbell, Plan};
use hosts::{
    Endpoint, Listener, ListenerConfig, Page, PageConfig, Ping, PingConfig, Service, Until,
};
use p4c::files::Files;
use pipeline::Pipeline;
use units::{Bytes, Rate, Span};

/// Flows, megabits a second of the bottleneck, seconds of virtual time measured.
const ROWS: [(usize, u64, u64); 4] = [(1, 100, 60), (10, 100, 60), (100, 100, 60), (100, 1000, 10)];
/// Until slow start is over and the queue has its shape.
const WARM_UP: Span = Span::from_secs(3);
/// Of the bottleneck, each way. With the access lines' serialisation the round trip is 20 ms.
const DELAY: Span = Span::from_ms(10);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)?.parse::<u64>().ok()
    };
    let compile: Option<pipeline::native::Compile> =
        (!has("--interpreted")).then_some(native::compile);
    let program = router_p4();
    if has("--full-buffer") {
        full_buffers(&program, compile);
        return;
    }
    let rows = match value("--flows") {
        None => ROWS.to_vec(),
        Some(flows) => {
            let mbps = value("--mbps").unwrap_or(100);
            vec![(flows as usize, mbps, value("--seconds").unwrap_or(10))]
        }
    };
    let parallel = value("--parallel").unwrap_or(1) as usize;
    for (pairs, mbps, seconds) in rows {
        let row = run(&program, compile, [pairs, parallel], mbps, seconds);
        match has("--json") {
            true => row.print_json(),
            false => row.print(),
        }
    }
    if !has("--json") {
        if value("--flows").is_none() {
            full_buffers(&program, compile);
        }
        println!("at most {} MB of memory", peak_memory_bytes() / 1_000_000);
    }
}

/// Ten minutes of a full buffer, at the rates of three homes.
fn full_buffers(program: &bmv2::Program, compile: Option<pipeline::native::Compile>) {
    for bps in [1_500_000, 5_000_000, 10_000_000] {
        full_buffer(program, compile, bps);
    }
}

/// Ten minutes of a queue of 100 packets that one flow fills, while pages are fetched and pinged.
fn full_buffer(program: &bmv2::Program, compile: Option<pipeline::native::Compile>, bps: u64) {
    let rate = Rate::from_bps(bps).expect("it is not zero");
    let mut plan = Plan::new(rate, DELAY, 100);
    plan.access = Some(Rate::from_mbps(100));
    plan.tcp.congestion = "reno".parse().expect("it exists");
    let start = cpu_seconds();
    let mut make = |config| Pipeline::new(program, &config).expect("the router loads");
    let mut net = Dumbbell::new(&plan, &mut make, compile);
    net.listen();
    net.bulk(0, Until::Span(Span::from_secs(10_000)), 1, Span::ZERO);
    let (to, left) = (net.to(0), net.left[0]);
    let request = Bytes(200);
    let pages = Service::Respond { request, response: Bytes(30_000) };
    let config = ListenerConfig { port: 80, service: pages, congestion: None };
    net.start(net.right[0], Listener::new(config));
    net.start(
        left,
        Page::new(PageConfig {
            from: vec![Endpoint::new(to.address, 80)],
            request,
            response: Bytes(30_000),
            after: Span::from_secs(1),
            pause: Span::from_secs(2),
            random_pause: false,
            count: u64::MAX,
            congestion: None,
        }),
    );
    net.start(
        left,
        Ping::new(PingConfig {
            to: to.address,
            interval: Span::from_ms(100),
            count: None,
            payload: Bytes(56),
            hop_limit: None,
            after: Span::ZERO,
        }),
    );
    net.run(Span::from_secs(600));
    assert!(net.world.balances(), "{:?}", net.world.ledger());
    let carried = net.carried().packets;
    let cpu_s = cpu_seconds() - start;
    println!("ten minutes of a full buffer at {bps} b/s: {cpu_s:.2} s, {carried} packets");
}

/// The most memory that the process ever had, as Linux counts it.
fn peak_memory_bytes() -> u64 {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.expect("Linux tells in status") * 1024
}

/// The results of one network.
struct Row {
    flows: usize,
    mbps: u64,
    packets: u64,
    cpu_s: f64,
    utilisation: f64,
    dropped: u64,
}

fn run(
    program: &bmv2::Program,
    compile: Option<pipeline::native::Compile>,
    [pairs, parallel]: [usize; 2],
    mbps: u64,
    seconds: u64,
) -> Row {
    let rate = Rate::from_mbps(mbps);
    // One bandwidth-delay product: 20 ms of packets of 1514 bytes.
    let queue = mbps * 1_000_000 / 50 / (1514 * 8);
    let mut plan = Plan::new(rate, DELAY, queue).pairs(pairs);
    plan.access = Some(Rate::from_mbps(10 * mbps));
    let mut make = |config| Pipeline::new(program, &config).expect("the router loads");
    let mut net = Dumbbell::new(&plan, &mut make, compile);
    net.listen();
    for place in 0..pairs {
        // Not all in one instant: a hundredth of a second apart.
        let after = Span::from_ms(10 * place as u64);
        net.bulk(place, Until::Span(Span::from_secs(10_000)), parallel, after);
    }
    net.run(WARM_UP);
    let (before, start) = (net.carried(), cpu_seconds());
    net.run(Span::from_secs(seconds));
    let cpu_s = cpu_seconds() - start;
    let after = net.carried();
    assert!(net.world.balances(), "{:?}", net.world.ledger());
    let bits = (after.bytes.count() - before.bytes.count()) as f64 * 8.0;
    Row {
        flows: pairs * parallel,
        mbps,
        packets: after.packets - before.packets,
        cpu_s,
        utilisation: bits / (rate.bps() as f64 * seconds as f64),
        dropped: net.world.ledger().dropped.values().sum(),
    }
}

impl Row {
    fn print(&self) {
        let Row { flows, mbps, packets, cpu_s, utilisation, dropped } = self;
        println!(
            "{flows:4} flows, {mbps:5} Mb/s: {:8.0} packets a CPU second, {:5.0} ns each; \
             utilisation {:5.1} %, {dropped} dropped",
            *packets as f64 / cpu_s,
            cpu_s / *packets as f64 * 1e9,
            utilisation * 100.0,
        );
    }

    fn print_json(&self) {
        let Row { flows, mbps, packets, cpu_s, utilisation, .. } = self;
        println!(
            "{{\"flows\": {flows}, \"mbps\": {mbps}, \"packets\": {packets}, \
             \"cpu_s\": {cpu_s:.4}, \"utilisation\": {utilisation:.4}}}"
        );
    }
}

fn router_p4() -> bmv2::Program {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let path = |name: &str| root.join(name).to_string_lossy().into_owned();
    let include_directories = vec![path("p4src/include")];
    let preprocessor = PreprocessorOptions { include_directories, ..Default::default() };
    let options = compiler::Options { preprocessor, ..Default::default() };
    let output = compiler::compile(&Files, &path("p4src/programs/router.p4"), &options);
    output.program.expect("the kit's router compiles")
}

/// This thread's CPU time, as Linux counts it.
fn cpu_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = told.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    ns.expect("Linux tells in schedstat") / 1e9
}
