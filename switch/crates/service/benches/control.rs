//! How fast tables are written and read through gRPC, and how long packets wait meanwhile:
//! `make bench-control`.
//!
//! Not a test: it depends on the machine. Wanted on two cores: 50,000 batched writes a second,
//! 100,000 entries read within a second, and no slice of control work above 100 us of processor
//! time. The client speaks to a whole server over a loopback connection. The work of a slice is
//! counted in steps by tests/slices.rs, which depends on no machine.

mod rig;
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use agent::ATOMIC_STEPS_MAX;
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::field_match::{Exact, FieldMatchType, Lpm, Ternary};
use messages::p4::v1::update::Type;
use messages::vitrine::v1;
use ports::memory::{self, Allocator};
use prost::bytes::Bytes;
use service::stubs::p4::p4_runtime_client::P4RuntimeClient;
use service::stubs::vitrine::router_client::RouterClient;

use rig::{Rig, print_head};
use support::{Controller, DEVICE_ID, Ids, channel_to, stream_over, tcp_address, update};

/// That of the switch.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

const ENTRY_COUNT: u32 = 100_000;
const BATCH_SIZE: usize = 5_000;
/// Batches that may be on their way at once: one is carried out while the next is translated.
const BATCHES_UNDER_WAY: usize = 2;
const PORT_COUNT: u16 = 511;
const MILLION: u32 = 1_000_000;

const ROLLBACK_ON_ERROR: i32 = 1;
const DATAPLANE_ATOMIC: i32 = 2;
const VERIFY_AND_COMMIT: i32 = 3;
const RECONCILE_AND_COMMIT: i32 = 5;

fn main() {
    memory::keep();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().expect("threads");
    let rig = Rig::start(PORT_COUNT);
    runtime.block_on(async {
        let channel = channel_to(tcp_address(&rig.server)).await;
        let client = P4RuntimeClient::new(channel.clone()).max_decoding_message_size(64 << 20);
        let mut controller = stream_over(client, "").await;
        let _primary = controller.bid(Some(1)).await.expect("the only controller");
        print_head();
        common(&mut controller, &rig).await;
        router(RouterClient::new(channel), &controller, &rig).await;
        // With an argument only what is above: callgrind takes a hundred times as long.
        if !std::env::args().any(|word| word == "--once") {
            large(&mut controller, &rig).await;
        }
    });
    rig.stop();
}

/// A controller's daily work.
async fn common(controller: &mut Controller, rig: &Rig) {
    let (info, json) = support::program();
    let config = support::config(&info, json);
    let began = Instant::now();
    controller.set_config(VERIFY_AND_COMMIT, Some(config.clone())).await.expect("it loads");
    rig.report("load the program", 1, began);
    let ids = Ids(&info);
    // Exact entries go before prefixes come, so that both find the memory as they leave it.
    let exact = (0..ENTRY_COUNT / 2).map(|number| exact_entry(&ids, number)).collect();
    change_all(controller, "exact", exact, rig).await;
    let prefixes: Vec<_> =
        (0..ENTRY_COUNT).map(|number| route(&ids, "lpm_table", number, 40)).collect();
    write_all(controller, Type::Insert, &prefixes).await;
    rig.forget();
    read_all(controller, &ids, rig).await;
    let began = Instant::now();
    controller.set_config(RECONCILE_AND_COMMIT, Some(config)).await.expect("the same program");
    rig.report(&format!("carry {ENTRY_COUNT} entries over"), prefixes.len(), began);
    write_all(controller, Type::Delete, &prefixes).await;
    rig.forget();
    change_all(controller, "lpm", prefixes.clone(), rig).await;
    let began = Instant::now();
    for batch in prefixes.chunks(ATOMIC_STEPS_MAX).take(100) {
        let updates =
            batch.iter().map(|entry| update(Type::Insert, Entity::TableEntry(entry.clone())));
        controller.write_with(updates.collect(), DATAPLANE_ATOMIC).await.expect("they are new");
    }
    let name = format!("atomic batches of {ATOMIC_STEPS_MAX} inserts");
    rig.report(&name, 100 * ATOMIC_STEPS_MAX, began);
}

/// Requests about many ports at once.
async fn router(
    mut client: RouterClient<tonic::transport::Channel>,
    controller: &Controller,
    rig: &Rig,
) {
    let began = Instant::now();
    for _ in 0..10 {
        client.describe(v1::DescribeRequest::default()).await.expect("anyone may read");
    }
    rig.report(&format!("describe {PORT_COUNT} ports of 8 queues"), 10, began);
    for count in [1, PORT_COUNT] {
        let began = Instant::now();
        for rate_bps in [2_000_000_000, 3_000_000_000] {
            let config = v1::PortConfig { rate_bps: Some(rate_bps), ..Default::default() };
            let change = |port| v1::PortChange { port, config: Some(config.clone()) };
            let request = v1::ConfigureRequest {
                device_id: DEVICE_ID,
                election_id: controller
                    .election_id
                    .map(|it| v1::ElectionId { high: it.high, low: it.low }),
                ports: (1..=count.into()).map(change).collect(),
                ..Default::default()
            };
            client.configure(request).await.expect("the rates are right");
        }
        rig.report(&format!("configure {count} of {PORT_COUNT} ports"), 2, began);
    }
}

/// Rare work, with tables as large as they get.
async fn large(controller: &mut Controller, rig: &Rig) {
    let (info, json) = support::large_program();
    let config = support::config(&info, json);
    controller.set_config(VERIFY_AND_COMMIT, Some(config.clone())).await.expect("it loads");
    rig.forget();
    let ids = Ids(&info);
    let rules: Vec<_> = (0..ENTRY_COUNT).map(|it| rule(&ids, it, u64::MAX >> 16)).collect();
    change_all(controller, "ternary", rules.clone(), rig).await;
    // 1000 masks of 10 to 20 bits.
    let masks: Vec<_> =
        (0..10_000).map(|it| rule(&ids, it, 0xffff_0000 | u64::from(it % 1000))).collect();
    change_all(controller, "ternary, 1000 masks,", masks, rig).await;
    let mut failing = rules;
    failing.push(failing[0].clone());
    let updates = failing
        .iter()
        .map(|entry| update(Type::Insert, Entity::TableEntry(entry.clone())))
        .collect();
    let began = Instant::now();
    let failed = controller.write_with(updates, ROLLBACK_ON_ERROR).await;
    failed.expect_err("the last repeats the first");
    rig.report(&format!("take {ENTRY_COUNT} entries back"), failing.len(), began);

    let routes: Vec<_> = (0..MILLION).map(|it| route(&ids, "routes", it, 40)).collect();
    let began = write_all(controller, Type::Insert, &routes).await;
    rig.report("insert 1000000 lpm entries", routes.len(), began);
    let short: Vec<_> = (0..9).map(|length| route(&ids, "routes", 0, length)).collect();
    change_all(controller, "short lpm", short, rig).await;
    let began = write_all(controller, Type::Delete, &routes).await;
    rig.report("delete 1000000 lpm entries", routes.len(), began);
    write_all(controller, Type::Insert, &routes).await;
    rig.forget();
    let began = Instant::now();
    controller.set_config(VERIFY_AND_COMMIT, Some(config)).await.expect("the same program");
    rig.report("replace a program with 1000000 entries", 1, began);
}

/// Inserts, modifies and deletes entries, with a line for each.
async fn change_all(controller: &Controller, table: &str, entries: Vec<p4::TableEntry>, rig: &Rig) {
    let kinds = [("insert", Type::Insert), ("modify", Type::Modify), ("delete", Type::Delete)];
    for (name, kind) in kinds {
        let began = write_all(controller, kind, &entries).await;
        rig.report(&format!("{name} {} {table} entries", entries.len()), entries.len(), began);
    }
}

/// Writes all entries in batches, a few at a time; returns when the first batch was sent.
async fn write_all(controller: &Controller, kind: Type, entries: &[p4::TableEntry]) -> Instant {
    let requests: Vec<_> = entries
        .chunks(BATCH_SIZE)
        .map(|entries| p4::WriteRequest {
            device_id: DEVICE_ID,
            election_id: controller.election_id,
            updates: entries
                .iter()
                .map(|entry| update(kind, Entity::TableEntry(entry.clone())))
                .collect(),
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

async fn read_all(controller: &mut Controller, ids: &Ids<'_>, rig: &Rig) {
    let table_id = ids.table("lpm_table");
    let query = Entity::TableEntry(p4::TableEntry { table_id, ..Default::default() });
    let began = Instant::now();
    let found = controller.read(query).await.expect("they can be read");
    assert_eq!(found.len(), ENTRY_COUNT as usize);
    rig.report(&format!("read {ENTRY_COUNT} entries"), found.len(), began);
}

/// The shortest bytes of a number of 48 bits, as P4Runtime wants them.
fn bytes(number: u64) -> Bytes {
    let skipped = (number.leading_zeros() as usize / 8).min(7);
    Bytes::copy_from_slice(&number.to_be_bytes()[skipped..])
}

fn exact_entry(ids: &Ids<'_>, number: u32) -> p4::TableEntry {
    let key = FieldMatchType::Exact(Exact { value: bytes(u64::from(number) + 1) });
    entry(ids.table("exact_table"), ids.action("forward_and_meter"), key)
}

/// A prefix of up to 40 of 48 bits. The shortest is written without a key.
fn route(ids: &Ids<'_>, table: &str, number: u32, length: u32) -> p4::TableEntry {
    let masked = (u64::from(number + 1) << 8) & (u64::MAX << (48 - length));
    let key = FieldMatchType::Lpm(Lpm { value: bytes(masked), prefix_len: length.cast_signed() });
    let mut made = entry(ids.table(table), ids.action("forward"), key);
    if length == 0 {
        made.r#match.clear();
    }
    made
}

fn rule(ids: &Ids<'_>, number: u32, mask: u64) -> p4::TableEntry {
    let value = bytes((u64::from(number) * 0x10001 + 1) & mask);
    let key = FieldMatchType::Ternary(Ternary { value, mask: bytes(mask) });
    let priority = number.cast_signed() + 1;
    p4::TableEntry { priority, ..entry(ids.table("rules"), ids.action("forward"), key) }
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
