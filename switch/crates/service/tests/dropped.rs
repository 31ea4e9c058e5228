//! A client whose deadline passes while its change of program is carried out. `agent/tests/dropped.rs`
//! has the same for every call and every moment; here it happens over gRPC.

use crate::support;

use std::sync::atomic::Ordering;
use std::time::Duration;

use messages::p4::config::v1::P4Info;
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::update::Type;
use prost::bytes::Bytes;
use support::by_hand::ByHand;
use support::{Controller, DEVICE_ID, Ids, stream_over, update};

const VERIFY_AND_SAVE: i32 = 2;
const VERIFY_AND_COMMIT: i32 = 3;
const RECONCILE_AND_COMMIT: i32 = 5;

fn routes(info: &P4Info) -> Vec<p4::Update> {
    let ids = Ids(info);
    let route = |number: u16| {
        let value = Bytes::copy_from_slice(&number.to_be_bytes());
        let exact = p4::field_match::Exact { value };
        let field_match_type = Some(p4::field_match::FieldMatchType::Exact(exact));
        let drop = p4::Action { action_id: ids.action("drop"), params: Vec::new() };
        let entry = p4::TableEntry {
            table_id: ids.table("exact_table"),
            r#match: vec![p4::FieldMatch { field_id: 1, field_match_type }],
            action: Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(drop)) }),
            ..Default::default()
        };
        update(Type::Insert, Entity::TableEntry(entry))
    };
    (0x100..0x100 + 2000).map(route).collect()
}

/// Sets the same program with another cookie; the client goes as soon as the data plane has the
/// request. Returns the cookie in force when that has been carried out.
async fn change_and_go(rig: &mut ByHand, controller: &mut Controller, action: i32) -> u64 {
    let (info, json) = support::program();
    let mut config = support::config(&info, json);
    config.cookie = Some(p4::forwarding_pipeline_config::Cookie { cookie: 43 });
    let sent_before = rig.sent.load(Ordering::Acquire);
    let mut impatient = controller.client.clone();
    let request = p4::SetForwardingPipelineConfigRequest {
        device_id: DEVICE_ID,
        election_id: controller.election_id,
        action,
        config: Some(config),
        ..Default::default()
    };
    let sent = async {
        while rig.sent.load(Ordering::Acquire) == sent_before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        answer = impatient.set_forwarding_pipeline_config(request) => {
            panic!("the data plane has done nothing yet: {answer:?}")
        }
        () = sent => {}
    }
    // The server hears that the client has gone, and drops the call.
    let heard = tokio::time::sleep(Duration::from_millis(50));
    heard.await;
    // Whatever it asked for comes before the answer to this.
    let request =
        p4::GetForwardingPipelineConfigRequest { device_id: DEVICE_ID, ..Default::default() };
    let mut client = controller.client.clone();
    let everything = p4::ReadRequest {
        device_id: DEVICE_ID,
        entities: vec![p4::Entity { entity: Some(Entity::TableEntry(p4::TableEntry::default())) }],
        ..Default::default()
    };
    // This one may have been translated for the program before.
    let _answer = rig.drive(client.read(everything)).await;
    let config = rig.drive(client.get_forwarding_pipeline_config(request)).await.unwrap();
    config.into_inner().config.unwrap().cookie.unwrap().cookie
}

async fn loaded() -> (ByHand, Controller, P4Info) {
    let mut rig = ByHand::start();
    let mut controller = stream_over(rig.client().await, "").await;
    let connecting = async {
        controller.bid(Some(1)).await.unwrap();
        controller.load().await
    };
    let info = rig.drive(connecting).await;
    (rig, controller, info)
}

#[tokio::test]
async fn a_reconciled_program_is_everybodys_though_its_controller_has_gone() {
    let (mut rig, mut controller, info) = loaded().await;
    rig.drive(controller.write(routes(&info))).await.unwrap();
    assert_eq!(change_and_go(&mut rig, &mut controller, RECONCILE_AND_COMMIT).await, 43);
    let table_id = Ids(&info).table("exact_table");
    let all = Entity::TableEntry(p4::TableEntry { table_id, ..Default::default() });
    assert_eq!(rig.drive(controller.read(all)).await.unwrap().len(), 2000);
}

#[tokio::test]
async fn a_committed_program_is_everybodys_though_its_controller_has_gone() {
    let (mut rig, mut controller, info) = loaded().await;
    assert_eq!(change_and_go(&mut rig, &mut controller, VERIFY_AND_COMMIT).await, 43);
    rig.drive(controller.write(routes(&info))).await.unwrap();
}

#[tokio::test]
async fn a_saved_program_can_be_written_and_committed_though_its_controller_has_gone() {
    let (mut rig, mut controller, info) = loaded().await;
    assert_eq!(change_and_go(&mut rig, &mut controller, VERIFY_AND_SAVE).await, 42);
    rig.drive(controller.write(routes(&info))).await.unwrap();
    rig.drive(controller.set_config(4, None)).await.unwrap();
}
