//! How fast tables are written and read through gRPC, and how long packets wait meanwhile:
//! `make bench-control`.
//!
//! Not a test: it depends on the machine. Wanted on two cores: 50,000 batched writes a second,
//! 100,000 entries read within a second, and no slice of control work above 100 us.
//!
//! The client speaks to a whole server over a loopback connection; a thread drives the data plane as
//! the live switch does, without packets, and times each slice. The longest slices are those in
//! which the machine took the processor away, so the 99th percentile says more than the largest.

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use control::agent::ports::NoDevices;
use control::agent::{ATOMIC_STEPS_MAX, Agent};
use control::proto::p4::v1 as p4;
use control::proto::p4::v1::entity::Entity;
use control::proto::p4::v1::field_match::{Exact, FieldMatchType, Lpm};
use control::proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use control::proto::p4::v1::update::Type;
use control::server::{self, ServerConfig};
use device::Device;
use prost::bytes::Bytes;
use support::{Controller, DEVICE_ID, Ids, Plane, channel_to, stream_over};
use units::Time;

const ENTRY_COUNT: u32 = 100_000;
const BATCH_SIZE: usize = 5_000;
/// Batches that may be on their way at once: one is carried out while the next is translated.
const BATCHES_UNDER_WAY: usize = 2;
/// Steps of a slice, as in the live switch.
const BUDGET: usize = 64;

const DATAPLANE_ATOMIC: i32 = 2;
const VERIFY_AND_COMMIT: i32 = 3;
const RECONCILE_AND_COMMIT: i32 = 5;

/// How long each slice took.
type Slices = Arc<Mutex<Vec<Duration>>>;

fn main() {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().expect("threads");
    let (wake, woken) = channel::<()>();
    let config = ServerConfig {
        address: "127.0.0.1:0".parse().expect("an address"),
        device_id: DEVICE_ID,
        pipeline: pipeline::Config::default(),
        tls: None,
        devices: Arc::new(NoDevices),
    };
    let waker = Mutex::new(wake.clone());
    let wake_plane = move || {
        // The thread ends before the last streams close.
        let _gone = waker.lock().expect("no panic").send(());
    };
    let (server, agent) = server::start(config, Arc::new(wake_plane)).expect("a free port");
    let plane = DataPlaneThread::start(agent, woken);
    runtime.block_on(async {
        let client = P4RuntimeClient::new(channel_to(server.address()).await);
        let mut controller = stream_over(client.max_decoding_message_size(64 << 20), "").await;
        let _primary = controller.bid(Some(1)).await.expect("the only controller");
        measure(&mut controller, &plane.slices).await;
    });
    plane.stop.store(true, Ordering::Relaxed);
    let _last = wake.send(());
    plane.thread.join().expect("no panic");
    drop(server);
}

/// The thread that owns the data plane.
struct DataPlaneThread {
    slices: Slices,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl DataPlaneThread {
    fn start(mut agent: Agent, woken: Receiver<()>) -> DataPlaneThread {
        let (slices, stop) = (Slices::default(), Arc::new(AtomicBool::new(false)));
        let (noted, stopped) = (Arc::clone(&slices), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let mut device = Device::new(pipeline::Config::default());
            let mut more = false;
            while !stopped.load(Ordering::Relaxed) {
                if !more {
                    let _woken_or_ended = woken.recv();
                }
                let mut plane = Plane { device: &mut device, now: Time::ZERO };
                let began = Instant::now();
                more = agent.work(&mut plane, BUDGET);
                noted.lock().expect("no panic").push(began.elapsed());
            }
        });
        DataPlaneThread { slices, stop, thread }
    }
}

async fn measure(controller: &mut Controller, slices: &Slices) {
    println!("{:<40} {:>12} {:>12} {:>9} {:>9}", "", "a second", "slice: 50 %", "99 %", "longest");
    let (info, json) = support::program();
    let config = support::config(&info, json);
    let began = Instant::now();
    controller.set_config(VERIFY_AND_COMMIT, Some(config.clone())).await.expect("it loads");
    report("load the program", 1, began, slices);
    let ids = Ids(&info);
    // Exact entries go before prefixes come, so that both find the memory as they leave it.
    let exact = (0..ENTRY_COUNT / 2).map(|number| exact_entry(&ids, number)).collect();
    change_all(controller, "exact", exact, slices).await;
    let prefixes: Vec<_> = (0..ENTRY_COUNT).map(|number| lpm_entry(&ids, number)).collect();
    write_all(controller, Type::Insert, &prefixes).await;
    slices.lock().expect("no panic").clear();
    read_all(controller, &ids, slices).await;
    let began = Instant::now();
    controller.set_config(RECONCILE_AND_COMMIT, Some(config)).await.expect("the same program");
    report(&format!("carry {ENTRY_COUNT} entries over"), prefixes.len(), began, slices);
    write_all(controller, Type::Delete, &prefixes).await;
    slices.lock().expect("no panic").clear();
    change_all(controller, "lpm", prefixes.clone(), slices).await;
    let began = Instant::now();
    for batch in prefixes.chunks(ATOMIC_STEPS_MAX).take(100) {
        let updates = batch.iter().map(|entry| update(Type::Insert, entry.clone()));
        controller.write_with(updates.collect(), DATAPLANE_ATOMIC).await.expect("they are new");
    }
    let name = format!("atomic batches of {ATOMIC_STEPS_MAX} inserts");
    report(&name, 100 * ATOMIC_STEPS_MAX, began, slices);
}

/// Inserts, modifies and deletes entries, with a line for each.
async fn change_all(
    controller: &Controller,
    table: &str,
    entries: Vec<p4::TableEntry>,
    slices: &Slices,
) {
    let kinds = [("insert", Type::Insert), ("modify", Type::Modify), ("delete", Type::Delete)];
    for (name, kind) in kinds {
        let began = write_all(controller, kind, &entries).await;
        report(&format!("{name} {} {table} entries", entries.len()), entries.len(), began, slices);
    }
}

/// Writes all entries in batches, a few at a time; returns when the first batch was sent.
async fn write_all(controller: &Controller, kind: Type, entries: &[p4::TableEntry]) -> Instant {
    let requests: Vec<_> = entries
        .chunks(BATCH_SIZE)
        .map(|entries| p4::WriteRequest {
            device_id: DEVICE_ID,
            election_id: controller.election_id,
            updates: entries.iter().map(|entry| update(kind, entry.clone())).collect(),
            ..Default::default()
        })
        .collect();
    let began = Instant::now();
    let mut waiting = requests.into_iter();
    let mut under_way = tokio::task::JoinSet::new();
    loop {
        while under_way.len() < BATCHES_UNDER_WAY
            && let Some(request) = waiting.next()
        {
            let mut client = controller.client.clone();
            under_way.spawn(async move { client.write(request).await.map(drop) });
        }
        match under_way.join_next().await {
            Some(done) => done.expect("no panic").expect("every update is right"),
            None => return began,
        }
    }
}

async fn read_all(controller: &mut Controller, ids: &Ids<'_>, slices: &Slices) {
    let table_id = ids.table("lpm_table");
    let query = Entity::TableEntry(p4::TableEntry { table_id, ..Default::default() });
    let began = Instant::now();
    let found = controller.read(query).await.expect("they can be read");
    assert_eq!(found.len(), ENTRY_COUNT as usize);
    report(&format!("read {ENTRY_COUNT} entries"), found.len(), began, slices);
}

/// One line: how many a second, and how long slices took; starts over.
fn report(name: &str, count: usize, began: Instant, slices: &Slices) {
    let rate = count as f64 / began.elapsed().as_secs_f64();
    let mut took = std::mem::take(&mut *slices.lock().expect("no panic"));
    took.sort_unstable();
    let at = |permille: usize| {
        let found = took.get((took.len() * permille / 1000).min(took.len().saturating_sub(1)));
        format!("{:.1} us", found.copied().unwrap_or_default().as_nanos() as f64 / 1000.0)
    };
    println!("{name:<40} {rate:>12.0} {:>12} {:>9} {:>9}", at(500), at(990), at(1000));
}

fn update(kind: Type, entry: p4::TableEntry) -> p4::Update {
    let entity = Some(p4::Entity { entity: Some(Entity::TableEntry(entry)) });
    p4::Update { r#type: kind.into(), entity }
}

fn exact_entry(ids: &Ids<'_>, number: u32) -> p4::TableEntry {
    let value = Bytes::copy_from_slice(&(number + 1).to_be_bytes());
    let key = FieldMatchType::Exact(Exact { value });
    entry(ids.table("exact_table"), ids.action("forward_and_meter"), key)
}

/// Prefixes of 40 of 48 bits.
fn lpm_entry(ids: &Ids<'_>, number: u32) -> p4::TableEntry {
    let value = Bytes::copy_from_slice(&(u64::from(number + 1) << 8).to_be_bytes());
    let key = FieldMatchType::Lpm(Lpm { value, prefix_len: 40 });
    entry(ids.table("lpm_table"), ids.action("forward"), key)
}

fn entry(table_id: u32, action_id: u32, key: FieldMatchType) -> p4::TableEntry {
    let port = p4::action::Param { param_id: 1, value: Bytes::from_static(b"\x01") };
    let action = p4::Action { action_id, params: vec![port] };
    p4::TableEntry {
        table_id,
        r#match: vec![p4::FieldMatch { field_id: 1, field_match_type: Some(key) }],
        action: Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(action)) }),
        ..Default::default()
    }
}
