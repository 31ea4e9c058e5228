//! Requests of clients written for simple_switch_grpc, as they send them, to a switch that speaks its
//! dialect. Each test also says what the specification's dialect answers.

#![allow(deprecated, reason = "clients of PI still set the older port field")]

use crate::support;

use messages::p4::v1 as p4;
use messages::p4::v1::action_profile_action::WatchKind;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::field_match::{Exact, FieldMatchType};
use messages::p4::v1::packet_replication_engine_entry::Type as Replication;
use messages::p4::v1::replica::PortKind;
use messages::p4::v1::stream_message_request::Update as ToSwitch;
use messages::p4::v1::stream_message_response::Update as FromSwitch;
use messages::p4::v1::table_action::Type as ActionType;
use messages::p4::v1::update::Type;
use p4runtime::Dialect;
use service::server::ServerConfig;
use tonic::{Code, Status};

use support::{
    Controller, DEVICE_ID, Ids, Switch, config, entries_program, program, server_config, update,
};

const DIALECTS: [Dialect; 2] = [Dialect::Pi, Dialect::Specification];
const VERIFY_AND_COMMIT: i32 = 3;

fn switch_of(dialect: Dialect) -> Switch {
    Switch::start_as(ServerConfig { dialect, ..server_config() })
}

fn forward(ids: &Ids<'_>, port: &'static [u8]) -> p4::Action {
    let params = vec![p4::action::Param { param_id: 1, value: port.into() }];
    p4::Action { action_id: ids.action("forward"), params }
}

/// The next standing that a client hears of, with the highest election id.
async fn standing(client: &mut Controller) -> (Code, Option<u64>) {
    match client.hear().await.unwrap() {
        FromSwitch::Arbitration(update) => (
            Code::from_i32(update.status.unwrap().code),
            update.election_id.map(|election_id| election_id.low),
        ),
        other => panic!("expected an arbitration update, got {other:?}"),
    }
}

async fn bid(client: &mut Controller, low: Option<u64>) -> Result<Code, Status> {
    Ok(Code::from_i32(client.bid(low).await?.status.unwrap().code))
}

/// aiop4, p4runtime-shell and p4net start with a low id after a client that had a higher one.
#[tokio::test]
async fn the_next_client_is_primary_with_a_lower_election_id() {
    for (dialect, second) in [(Dialect::Pi, Code::Ok), (Dialect::Specification, Code::NotFound)] {
        let switch = switch_of(dialect);
        let first = switch.controller(7).await;
        let mut backup = switch.stream("").await;
        assert_eq!(bid(&mut backup, Some(1)).await.unwrap(), Code::AlreadyExists);
        drop(first);
        let highest = if dialect == Dialect::Pi { 1 } else { 7 };
        assert_eq!(standing(&mut backup).await, (second, Some(highest)), "{dialect:?}");
        drop(backup);
        // The next client, once all others have left.
        let mut third = switch.stream("").await;
        let third = loop {
            match bid(&mut third, Some(1)).await {
                Ok(code) => break code,
                // The stream before has not ended yet.
                Err(status) => assert_eq!(status.code(), Code::InvalidArgument),
            }
            third = switch.stream("").await;
        };
        assert_eq!(third, second, "{dialect:?}");
    }
}

#[tokio::test]
async fn a_primary_that_lowers_its_id_is_followed_by_the_highest_that_is_there() {
    let switch = switch_of(Dialect::Pi);
    let mut first = switch.controller(5).await;
    let mut second = switch.stream("").await;
    assert_eq!(bid(&mut second, Some(3)).await.unwrap(), Code::AlreadyExists);
    assert_eq!(bid(&mut first, Some(2)).await.unwrap(), Code::AlreadyExists);
    assert_eq!(standing(&mut second).await, (Code::Ok, Some(3)));
    assert_eq!(first.write(Vec::new()).await.unwrap_err().code(), Code::PermissionDenied);
    assert_eq!(second.write(Vec::new()).await.unwrap_err().code(), Code::FailedPrecondition);
}

/// An unset election id is 0 to PI.
#[tokio::test]
async fn a_client_without_election_id_can_be_primary() {
    for (dialect, expected) in [(Dialect::Pi, Code::Ok), (Dialect::Specification, Code::NotFound)] {
        let switch = switch_of(dialect);
        let mut client = switch.stream("").await;
        assert_eq!(bid(&mut client, None).await.unwrap(), expected);
        let loaded = client.set_config(VERIFY_AND_COMMIT, Some(config_of_program())).await;
        assert_eq!(loaded.is_ok(), dialect == Dialect::Pi);
    }
}

fn config_of_program() -> p4::ForwardingPipelineConfig {
    let (info, json) = program();
    config(&info, json)
}

/// grpc_cli opens no stream.
#[tokio::test]
async fn requests_without_stream_are_accepted_while_no_client_is_connected() {
    for dialect in DIALECTS {
        let switch = switch_of(dialect);
        let mut client = switch.stream("").await;
        let expected = if dialect == Dialect::Pi { Code::Ok } else { Code::PermissionDenied };
        let code = |result: Result<(), Status>| result.map_or_else(|it| it.code(), |()| Code::Ok);
        let config = Some(config_of_program());
        client.election_id = Some(p4::Uint128 { high: 0, low: 1 });
        let with_id = client.set_config(VERIFY_AND_COMMIT, config.clone()).await;
        assert_eq!(code(with_id), Code::PermissionDenied);
        client.election_id = None;
        assert_eq!(code(client.set_config(VERIFY_AND_COMMIT, config.clone()).await), expected);
        assert_eq!(code(client.write(Vec::new()).await), expected);
        let _primary = switch.controller(1).await;
        let denied = client.set_config(VERIFY_AND_COMMIT, config).await;
        assert_eq!(code(denied), Code::PermissionDenied);
    }
}

/// finsy looks for "no ... forwarding pipeline config" to recognise a fresh switch.
#[tokio::test]
async fn a_switch_without_program_says_so_in_the_words_of_simple_switch() {
    let switch = switch_of(Dialect::Pi);
    let mut controller = switch.controller(1).await;
    let words = "No forwarding pipeline config set for this device";
    let get = p4::GetForwardingPipelineConfigRequest { device_id: DEVICE_ID, response_type: 0 };
    let read = p4::ReadRequest { device_id: DEVICE_ID, ..Default::default() };
    let refused = [
        controller.client.get_forwarding_pipeline_config(get).await.unwrap_err(),
        controller.client.read(read).await.unwrap_err(),
        controller.write(Vec::new()).await.unwrap_err(),
    ];
    for status in refused {
        assert_eq!(status.code(), Code::FailedPrecondition);
        assert!(status.message().starts_with(words), "{}", status.message());
    }
}

/// finsy recognises a taken election id by the words "election id ... used".
#[tokio::test]
async fn a_taken_election_id_is_refused_in_words_that_clients_look_for() {
    let switch = switch_of(Dialect::Pi);
    let _first = switch.controller(1).await;
    let mut second = switch.stream("").await;
    let update = p4::MasterArbitrationUpdate {
        device_id: DEVICE_ID,
        election_id: Some(p4::Uint128 { high: 0, low: 1 }),
        ..Default::default()
    };
    second.say(ToSwitch::Arbitration(update)).await;
    let refused = second.hear().await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let (start, end) = refused.message().split_once("election id ").expect("it is named");
    assert!(start.is_empty() && end.contains(" used "), "{}", refused.message());
}

/// finsy's INT example inserts the entry of a table without key.
#[tokio::test]
async fn a_table_without_key_takes_its_default_entry_by_insert() {
    for dialect in DIALECTS {
        let switch = switch_of(dialect);
        let mut controller = switch.controller(1).await;
        let info = controller.load_program(entries_program()).await;
        let ids = Ids(&info);
        let action =
            |port| p4::TableAction { r#type: Some(ActionType::Action(forward(&ids, port))) };
        let entry = p4::TableEntry {
            table_id: ids.table("others"),
            action: Some(action(b"\x02")),
            ..Default::default()
        };
        let write = |kind| update(kind, Entity::TableEntry(entry.clone()));
        if dialect == Dialect::Specification {
            let (code, message) = controller.refused(write(Type::Insert)).await;
            assert_eq!(code, Code::InvalidArgument, "{message}");
            continue;
        }
        let default = p4::TableEntry { is_default_action: true, ..entry.clone() };
        let query = p4::TableEntry { action: None, ..default.clone() };
        let dropping = controller.read_tables(query.clone()).await;
        controller.write(vec![write(Type::Insert)]).await.unwrap();
        assert_eq!(controller.read_tables(query.clone()).await, [default]);
        switch.receive(3, &[9; 60]);
        assert_eq!(switch.next_sent().0.0, 2);
        controller.write(vec![write(Type::Delete)]).await.unwrap();
        assert_eq!(controller.read_tables(query).await, dropping);
        // A table with a key still needs one.
        let keyed = p4::TableEntry { table_id: ids.table("ways"), ..entry.clone() };
        let keyed = update(Type::Insert, Entity::TableEntry(keyed));
        assert_eq!(controller.refused(keyed).await.0, Code::InvalidArgument);
    }
}

/// `wcmp` of p4runtime-go-client watches port 1 of a switch without ports.
#[tokio::test]
async fn a_watched_port_that_is_not_there_yet_counts_as_down() {
    for dialect in DIALECTS {
        let switch = switch_of(dialect);
        let mut controller = switch.controller(1).await;
        let info = controller.load().await;
        let ids = Ids(&info);
        let choice = |port: &'static [u8], watched: &'static [u8]| p4::ActionProfileAction {
            action: Some(forward(&ids, port)),
            weight: 1,
            watch_kind: Some(WatchKind::WatchPort(watched.into())),
        };
        let set = p4::ActionProfileActionSet {
            action_profile_actions: vec![choice(b"\x01", b"\x09"), choice(b"\x02", b"\x02")],
        };
        let exact = Exact { value: b"\x12\x34"[..].into() };
        let entry = p4::TableEntry {
            table_id: ids.table("selector_table"),
            r#match: vec![p4::FieldMatch {
                field_id: 1,
                field_match_type: Some(FieldMatchType::Exact(exact)),
            }],
            action: Some(p4::TableAction { r#type: Some(ActionType::ActionProfileActionSet(set)) }),
            ..Default::default()
        };
        let insert = update(Type::Insert, Entity::TableEntry(entry));
        if dialect == Dialect::Specification {
            assert_eq!(controller.refused(insert).await.0, Code::InvalidArgument);
            continue;
        }
        controller.write(vec![insert]).await.unwrap();
        let ports = || {
            let frame = |source| [&[0; 11][..], &[source, 0x12, 0x34], &[0; 46]].concat();
            (0..16).for_each(|source| switch.receive(3, &frame(source)));
            (0..16).map(|_| switch.next_sent().0.0).collect::<Vec<_>>()
        };
        assert_eq!(ports(), [2; 16]);
        // As when the port is added.
        switch.set_port_up(9, true);
        let found = ports();
        assert!(found.contains(&1) && found.contains(&2), "{found:?}");
    }
}

/// p4runtime-go-client speaks an older protocol, in which port 0 is a field that is not sent.
#[tokio::test]
async fn a_replica_without_port_has_port_0() {
    for dialect in DIALECTS {
        let switch = switch_of(dialect);
        let mut controller = switch.controller(1).await;
        controller.load().await;
        let replica = |port_kind| p4::Replica { instance: 1, port_kind, ..Default::default() };
        let group = |port_kind| {
            let group = p4::MulticastGroupEntry {
                multicast_group_id: 1,
                replicas: vec![replica(port_kind)],
                ..Default::default()
            };
            let r#type = Some(Replication::MulticastGroupEntry(group));
            Entity::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry { r#type })
        };
        let insert = update(Type::Insert, group(None));
        if dialect == Dialect::Specification {
            assert_eq!(controller.refused(insert).await.0, Code::InvalidArgument);
            continue;
        }
        controller.write(vec![insert]).await.unwrap();
        let written = group(Some(PortKind::EgressPort(0)));
        assert_eq!(controller.read(written.clone()).await.unwrap(), [written]);
    }
}
