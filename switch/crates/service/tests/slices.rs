//! However large a request is, packets pass after every few steps of it: counted, not timed.
//!
//! The tests drive the agent themselves. After each slice they look at how far it came; a slice that
//! did more than its budget shows in the tables, and one that did everything in too few slices.

use crate::support;

use agent::{
    ATOMIC_STEPS_MAX, PORTS_PER_CHANGE, PORTS_PER_INSTANT, SLICE_STEPS_MAX, STEPS_BETWEEN_LOOKS,
};
use device::Device;
use messages::p4::config::v1::P4Info;
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::update::Type;
use messages::vitrine::v1;
use prost::bytes::Bytes;
use service::stubs::vitrine::router_client::RouterClient;
use tonic::Code;
use traffic::PortConfig;
use units::{PortId, Time};

use support::by_hand::ByHand;
use support::{Controller, DEVICE_ID, Ids, id_of, stream_over, update};

/// Steps of a slice, as in the live switch.
const BUDGET: usize = SLICE_STEPS_MAX;
/// Entries, members or cells of a request: 128 slices at the least.
const COUNT: u32 = 2048;
const SLICES_MIN: usize = COUNT as usize / BUDGET;

const ROLLBACK_ON_ERROR: i32 = 1;
const DATAPLANE_ATOMIC: i32 = 2;
const RECONCILE_AND_COMMIT: i32 = 5;

/// A server whose data plane is driven by hand, and measured.
struct Rig(ByHand);

impl Rig {
    fn start() -> Rig {
        Rig(ByHand::start())
    }

    /// Drives the agent until `call` is answered; `size` is looked at after every slice.
    async fn drive<T>(
        &mut self,
        call: impl Future<Output = T>,
        size: impl Fn(&Device) -> usize,
    ) -> Driven<T> {
        let (mut slices, mut largest_change) = (0, 0);
        let mut before = size(&self.0.device);
        let look = |device: &Device, more| {
            let after = size(device);
            slices += usize::from(more);
            largest_change = largest_change.max(after.abs_diff(before));
            before = after;
        };
        let output = self.0.drive_slices(call, look).await;
        Driven { output, slices, largest_change }
    }

    /// The primary controller of the loaded program.
    async fn controller(&mut self) -> (Controller, P4Info) {
        let client = self.0.client().await;
        let connecting = async {
            let mut controller = stream_over(client, "").await;
            let _primary = controller.bid(Some(1)).await.unwrap();
            let info = controller.load().await;
            (controller, info)
        };
        self.0.drive(connecting).await
    }
}

/// The result of a request.
struct Driven<T> {
    output: T,
    /// After this many slices there was more to do.
    slices: usize,
    /// The most that one slice changed.
    largest_change: usize,
}

impl<T> Driven<T> {
    /// The output, if the request was carried out in slices.
    fn in_slices(self) -> T {
        let Driven { output, slices, largest_change } = self;
        assert!(slices >= SLICES_MIN, "{slices} slices for {COUNT} elements");
        assert!(largest_change <= BUDGET, "one slice changed {largest_change}");
        output
    }
}

fn entries_of(table: &'static str) -> impl Fn(&Device) -> usize {
    move |device| {
        let pipeline = device.pipeline();
        let tables = pipeline.into_iter().flat_map(|pipeline| pipeline.tables());
        tables.filter(|it| it.name() == table).map(pipeline::Table::len).sum()
    }
}

fn members(device: &Device) -> usize {
    let profiles = device.pipeline().into_iter().flat_map(|pipeline| pipeline.profiles());
    let many = profiles.filter(|it| it.name() == "ingress.many_hops");
    many.map(|profile| profile.members(0..=u32::MAX).count()).sum()
}

/// Counter cells that have counted something.
fn counted(device: &Device) -> usize {
    let cells = device.pipeline().map(|it| it.counters(it.counter_index(MANY).unwrap()));
    cells.map_or(0, |cells| cells.iter().filter(|cell| cell.packets > 0).count())
}

const EXACT: &str = "ingress.exact_table";
const MANY: &str = "ingress.many_counters";

fn drop_entry(ids: &Ids<'_>, number: u32) -> p4::TableEntry {
    let value = Bytes::copy_from_slice(&(number + 1).to_be_bytes());
    let exact = p4::field_match::Exact { value };
    let field_match_type = Some(p4::field_match::FieldMatchType::Exact(exact));
    let drop = p4::Action { action_id: ids.action("drop"), params: Vec::new() };
    p4::TableEntry {
        table_id: ids.table("exact_table"),
        r#match: vec![p4::FieldMatch { field_id: 1, field_match_type }],
        action: Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(drop)) }),
        ..Default::default()
    }
}

fn batch(kind: Type, ids: &Ids<'_>) -> Vec<p4::Update> {
    (0..COUNT).map(|number| update(kind, Entity::TableEntry(drop_entry(ids, number)))).collect()
}

fn many_counters(info: &P4Info, packet_count: i64) -> p4::Update {
    let names = info.counters.iter().filter_map(|it| it.preamble.as_ref());
    let data = Some(p4::CounterData { packet_count, byte_count: 0 });
    let counter_id = id_of(names, MANY);
    update(Type::Modify, Entity::CounterEntry(p4::CounterEntry { counter_id, index: None, data }))
}

#[tokio::test]
async fn entries_are_inserted_read_and_deleted_in_slices() {
    let mut rig = Rig::start();
    let (mut controller, info) = rig.controller().await;
    let ids = Ids(&info);
    let size = entries_of(EXACT);
    rig.drive(controller.write(batch(Type::Insert, &ids)), &size).await.in_slices().unwrap();
    assert_eq!(size(&rig.0.device), COUNT as usize);
    let table_id = ids.table("exact_table");
    let all = Entity::TableEntry(p4::TableEntry { table_id, ..Default::default() });
    let found = rig.drive(controller.read(all), &size).await.in_slices().unwrap();
    assert_eq!(found.len(), COUNT as usize);
    rig.drive(controller.write(batch(Type::Delete, &ids)), &size).await.in_slices().unwrap();
    assert_eq!(size(&rig.0.device), 0);
}

#[tokio::test]
async fn a_slice_that_has_taken_its_time_ends_with_fewer_steps() {
    let mut rig = Rig::start();
    let (mut controller, info) = rig.controller().await;
    rig.0.is_slow = true;
    let (updates, size) = (batch(Type::Insert, &Ids(&info)), entries_of(EXACT));
    let driven = rig.drive(controller.write(updates), &size).await;
    assert!(driven.largest_change <= STEPS_BETWEEN_LOOKS, "{} at once", driven.largest_change);
    driven.in_slices().unwrap();
    assert_eq!(size(&rig.0.device), COUNT as usize);
}

/// The last update repeats the first: everything goes in, and out again, in slices.
#[tokio::test]
async fn a_batch_that_fails_at_its_end_is_taken_back_in_slices() {
    let mut rig = Rig::start();
    let (mut controller, info) = rig.controller().await;
    let ids = Ids(&info);
    let mut updates = batch(Type::Insert, &ids);
    updates.push(updates[0].clone());
    let size = entries_of(EXACT);
    let driven = rig.drive(controller.write_with(updates, ROLLBACK_ON_ERROR), &size).await;
    assert!(driven.slices >= 2 * SLICES_MIN, "there and back again: {}", driven.slices);
    assert_eq!(driven.in_slices().unwrap_err().code(), Code::Unknown);
    assert_eq!(size(&rig.0.device), 0);
}

#[tokio::test]
async fn all_cells_of_an_array_are_set_and_put_back_in_slices() {
    let mut rig = Rig::start();
    let (mut controller, info) = rig.controller().await;
    rig.drive(controller.write(vec![many_counters(&info, 7)]), counted).await.in_slices().unwrap();
    assert_eq!(counted(&rig.0.device), COUNT as usize);
    // Set to zero in a batch whose second update fails: the cells count again.
    let ids = Ids(&info);
    let absent = update(Type::Delete, Entity::TableEntry(drop_entry(&ids, 0)));
    let updates = vec![many_counters(&info, 0), absent];
    let driven = rig.drive(controller.write_with(updates, ROLLBACK_ON_ERROR), counted).await;
    assert!(driven.slices >= 2 * SLICES_MIN, "there and back again: {}", driven.slices);
    driven.in_slices().unwrap_err();
    assert_eq!(counted(&rig.0.device), COUNT as usize);
}

#[tokio::test]
async fn members_that_entries_use_are_refused_and_the_others_deleted_in_slices() {
    let mut rig = Rig::start();
    let (mut controller, info) = rig.controller().await;
    let ids = Ids(&info);
    let names = info.action_profiles.iter().filter_map(|it| it.preamble.as_ref());
    let action_profile_id = id_of(names, "many_hops");
    let member = |kind, member_id| {
        let action = Some(p4::Action { action_id: ids.action("drop"), params: Vec::new() });
        let member = p4::ActionProfileMember { action_profile_id, member_id, action };
        update(kind, Entity::ActionProfileMember(member))
    };
    let inserts = (1..=COUNT).map(|id| member(Type::Insert, id)).collect();
    rig.drive(controller.write(inserts), members).await.in_slices().unwrap();
    assert_eq!(members(&rig.0.device), COUNT as usize);
    let all = Entity::ActionProfileMember(p4::ActionProfileMember::default());
    let found = rig.drive(controller.read(all), members).await.in_slices().unwrap();
    assert_eq!(found.len(), COUNT as usize);
    let deletes = (1..=COUNT).map(|id| member(Type::Delete, id)).collect();
    rig.drive(controller.write(deletes), members).await.in_slices().unwrap();
    assert_eq!(members(&rig.0.device), 0);
}

/// The new program is the old one again; its table fills out of sight.
#[tokio::test]
async fn a_program_takes_over_entries_in_slices_and_arrays_at_once() {
    let mut rig = Rig::start();
    let (mut controller, info) = rig.controller().await;
    let ids = Ids(&info);
    let size = entries_of(EXACT);
    let mut updates = batch(Type::Insert, &ids);
    updates.push(many_counters(&info, 7));
    rig.drive(controller.write(updates), &size).await.in_slices().unwrap();
    let (info, json) = support::program();
    let wanted = Some(support::config(&info, json));
    let driven = rig.drive(controller.set_config(RECONCILE_AND_COMMIT, wanted), &size).await;
    // Entries are read and written: twice as many steps. The cells take none.
    assert!((2 * SLICES_MIN..4 * SLICES_MIN).contains(&driven.slices), "{}", driven.slices);
    driven.in_slices().unwrap();
    assert_eq!((size(&rig.0.device), counted(&rig.0.device)), (COUNT as usize, COUNT as usize));
}

#[tokio::test]
async fn a_batch_of_which_packets_see_no_half_is_bounded_by_what_it_changes() {
    let mut rig = Rig::start();
    let (mut controller, info) = rig.controller().await;
    let ids = Ids(&info);
    let size = entries_of(EXACT);
    let mut updates = batch(Type::Insert, &ids);
    updates.truncate(ATOMIC_STEPS_MAX + 1);
    let too_many = controller.write_with(updates.clone(), DATAPLANE_ATOMIC);
    let status = rig.drive(too_many, &size).await.output.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
    let too_many = format!("changes {}", ATOMIC_STEPS_MAX + 1);
    assert!(status.message().contains(&too_many), "{}", status.message());
    // One update, but a cell each of a large array.
    let cells = controller.write_with(vec![many_counters(&info, 7)], DATAPLANE_ATOMIC);
    let status = rig.drive(cells, &size).await.output.unwrap_err();
    assert!(status.message().contains("changes 2048"), "{}", status.message());
    updates.pop();
    let driven = rig.drive(controller.write_with(updates, DATAPLANE_ATOMIC), &size).await;
    driven.output.unwrap();
    assert_eq!(driven.largest_change, ATOMIC_STEPS_MAX, "all at one instant");
}

/// The description of the whole router comes first, then 100 ports 16 at a time: six times 16 are
/// 96, so there are seven slices after which there is more to do.
#[tokio::test]
async fn a_router_of_many_ports_is_described_some_ports_at_a_time() {
    let mut rig = Rig::start();
    let ports = (1..=100).map(|port| (PortId(port), PortConfig::strict(None, 8))).collect();
    let config = traffic::Config { ports, ..traffic::Config::default() };
    rig.0.device.configure(Time::ZERO, config).unwrap();
    let mut client = RouterClient::new(rig.0.channel().await);
    let all = client.describe(v1::DescribeRequest::default());
    let driven = rig.drive(all, |_| 0).await;
    let found = driven.output.unwrap().into_inner();
    assert_eq!(driven.slices, 1 + 100 / PORTS_PER_INSTANT);
    assert!(found.ports.iter().map(|port| port.port).eq(1..=100));
    assert!(found.ports.iter().all(|port| port.config.as_ref().unwrap().queues.len() == 8));

    // Few ports of many: at one instant, by number, each once.
    let some = client.describe(v1::DescribeRequest { ports: vec![70, 3, 70], device_id: 0 });
    let driven = rig.drive(some, |_| 0).await;
    assert_eq!(driven.slices, 0);
    let found = driven.output.unwrap().into_inner();
    assert!(found.ports.iter().map(|port| port.port).eq([3, 70]));
}

/// 100 ports, of four steps each, are checked 4 at a time, so there are at least 24 slices after
/// which there is more to do; then they change 16 at a time, in six slices and the last. Or nothing
/// changes.
#[tokio::test]
async fn many_ports_are_checked_and_changed_in_slices() {
    let mut rig = Rig::start();
    let (_controller, _info) = rig.controller().await;
    let ports = (1..=100).map(|port| (PortId(port), PortConfig::strict(None, 8))).collect();
    let config = traffic::Config { ports, ..traffic::Config::default() };
    rig.0.device.configure(Time::ZERO, config).unwrap();
    let mut client = RouterClient::new(rig.0.channel().await);
    let with_rate = |device: &Device| {
        let ports = device.traffic().config().ports.values();
        ports.filter(|port| port.line_rate.is_some()).count()
    };
    let config = v1::PortConfig { rate_bps: Some(1_000_000), ..Default::default() };
    let mut wanted = v1::ConfigureRequest {
        device_id: DEVICE_ID,
        election_id: Some(v1::ElectionId { high: 0, low: 1 }),
        ports: (1..=100)
            .map(|port| v1::PortChange { port, config: Some(config.clone()) })
            .collect(),
        ..Default::default()
    };
    wanted.ports[99].port = 101;
    let driven = rig.drive(client.configure(wanted.clone()), with_rate).await;
    let message = driven.output.unwrap_err().message().to_owned();
    assert!(message.contains("port 101: no such port"), "{message}");
    assert!(message.contains("the switch has ports 1 to 100"), "{message}");
    assert_eq!((with_rate(&rig.0.device), driven.largest_change), (0, 0));

    wanted.ports[99].port = 100;
    let driven = rig.drive(client.configure(wanted), with_rate).await;
    driven.output.unwrap();
    assert!(driven.slices >= 24 + 100 / PORTS_PER_CHANGE, "{} slices", driven.slices);
    assert_eq!((with_rate(&rig.0.device), driven.largest_change), (100, PORTS_PER_CHANGE));
}
