//! A client may go away at any moment of its call: its deadline passes, or it is killed. Each call is
//! dropped here at each point at which it waits, and after each packet's worth of work that the data
//! plane has done for it; afterwards packets, reads and GetForwardingPipelineConfig must agree about
//! the program, and the next calls must succeed.

use crate::support;

use agent::Load;
use agent::devices::Opened;
use agent::front::Stream;
use messages::p4::v1 as p4;
use messages::p4::v1::set_forwarding_pipeline_config_request::Action;
use messages::p4::v1::stream_message_request::Update;
use messages::p4::v1::update::Type;
use messages::p4::v1::write_request::Atomicity;
use messages::vitrine::v1;
use p4runtime::details::Room;
use support::{Call, DEVICE_ID, Program, Rig, pause};
use units::memory::Owner;

/// More polls than any of the calls takes.
const POLL_COUNT_MAX: usize = 2000;

/// Drops a call after each number of polls, until it is answered; each time in a switch that runs the
/// old program and has some entries. Returns how often it was dropped.
fn drop_at_every_point(begin: impl Fn(&Rig) -> Call) -> usize {
    let (old, new) = (Program::forwarding_to(1), Program::forwarding_to(3));
    for polls in 0..POLL_COUNT_MAX {
        let mut rig = Rig::start(&old, &new);
        rig.complete(rig.write_entries(Type::Insert, 0..20, Atomicity::ContinueOnError));
        let answered = rig.poll_and_drop(begin(&rig), polls);
        rig.check_agreement();
        if answered {
            return polls;
        }
    }
    panic!("the call is not answered after {POLL_COUNT_MAX} polls");
}

fn set_config(rig: &Rig, action: Action) -> Call {
    let (front, request) = (rig.front(), rig.config_request(action, &rig.new));
    Box::pin(async move {
        let load = |config| async move {
            pause().await;
            Load::new(config, &pipeline::Config::default())
        };
        front.set_config(request, load).await.unwrap();
    })
}

#[test]
fn a_change_of_program_is_made_or_not_whoever_waits_for_it() {
    for action in [Action::Verify, Action::VerifyAndSave, Action::VerifyAndCommit] {
        assert!(drop_at_every_point(|rig| set_config(rig, action)) > 1, "{action:?}");
    }
    // 20 entries are read and written, a step each.
    assert!(drop_at_every_point(|rig| set_config(rig, Action::ReconcileAndCommit)) > 40);
}

#[test]
fn a_saved_program_is_committed_or_not_whoever_waits_for_it() {
    let (old, new) = (Program::forwarding_to(1), Program::forwarding_to(3));
    for polls in 0..POLL_COUNT_MAX {
        let mut rig = Rig::start(&old, &new);
        rig.complete(set_config(&rig, Action::VerifyAndSave));
        let (front, request) = (rig.front(), rig.commit_request());
        let commit: Call = Box::pin(async move {
            let nothing_to_load = |_| async { panic!("COMMIT brings no program") };
            front.set_config(request, nothing_to_load).await.unwrap();
        });
        let answered = rig.poll_and_drop(commit, polls);
        rig.check_agreement();
        if answered {
            return assert!(polls >= 1);
        }
    }
    panic!("COMMIT is not answered");
}

#[test]
fn a_write_is_carried_out_or_not_whoever_waits_for_it() {
    for atomicity in [Atomicity::ContinueOnError, Atomicity::RollbackOnError] {
        let write = |rig: &Rig| rig.write_entries(Type::Insert, 20..40, atomicity);
        assert!(drop_at_every_point(write) > 20);
    }
    let write = |rig: &Rig| rig.write_entries(Type::Delete, 0..20, Atomicity::DataplaneAtomic);
    assert!(drop_at_every_point(write) >= 1);
}

#[test]
fn a_read_leaves_nothing_behind() {
    let read = |rig: &Rig| -> Call {
        let (front, request) = (rig.front(), rig.read_request());
        Box::pin(async move {
            let found = front.read(request, Room::USUAL, &Owner::default()).await.unwrap();
            assert_eq!(found.map(|message| message.entities.len()).sum::<usize>(), 20);
        })
    };
    assert!(drop_at_every_point(read) > 20);
}

#[test]
fn ports_are_changed_or_not_whoever_waits_for_it() {
    let election_id = Some(v1::ElectionId { high: 0, low: 1 });
    let add = |rig: &Rig| -> Call {
        let front = rig.front();
        let request = v1::AddPortRequest {
            device_id: DEVICE_ID,
            election_id,
            port: 4,
            device: "veth4".to_owned(),
            ..Default::default()
        };
        Box::pin(async move {
            let open = |_, _| async {
                pause().await;
                Ok(Opened(Box::new(())))
            };
            front.add_port(request, Room::USUAL, open).await.unwrap();
        })
    };
    assert!(drop_at_every_point(add) > 1);
    let remove = |rig: &Rig| -> Call {
        let front = rig.front();
        let request = v1::RemovePortRequest {
            device_id: DEVICE_ID,
            election_id,
            port: 2,
            ..Default::default()
        };
        Box::pin(async move { drop(front.remove_port(request).await.unwrap()) })
    };
    assert!(drop_at_every_point(remove) >= 1);
    let configure = |rig: &Rig| -> Call {
        let front = rig.front();
        let config = v1::PortConfig { rate_bps: Some(1_000_000), ..Default::default() };
        let request = v1::ConfigureRequest {
            device_id: DEVICE_ID,
            election_id,
            ports: (1..=3)
                .map(|port| v1::PortChange { port, config: Some(config.clone()) })
                .collect(),
            ..Default::default()
        };
        Box::pin(async move {
            front.configure(request, Room::USUAL).await.unwrap();
        })
    };
    assert!(drop_at_every_point(configure) > 3);
}

#[test]
fn who_asks_what_there_is_may_go_before_the_answer() {
    let describe = |rig: &Rig| -> Call {
        let front = rig.front();
        Box::pin(async move {
            front.describe(&v1::DescribeRequest::default()).await.unwrap();
        })
    };
    assert!(drop_at_every_point(describe) >= 1);
    // These wait for nothing, so there is no moment at which they could be left.
    let get = |rig: &Rig| -> Call {
        let front = rig.front();
        let request =
            p4::GetForwardingPipelineConfigRequest { device_id: DEVICE_ID, ..Default::default() };
        Box::pin(async move { drop(front.get_config(&request).unwrap()) })
    };
    assert_eq!(drop_at_every_point(get), 1);
}

/// Of a stream it is the messages that wait: for room among the requests.
#[test]
fn a_stream_may_end_in_the_middle_of_a_message() {
    let messages = [
        Update::Packet(p4::PacketOut { payload: vec![0; 60].into(), ..Default::default() }),
        Update::DigestAck(p4::DigestListAck { digest_id: 1, list_id: 1 }),
        Update::Arbitration(p4::MasterArbitrationUpdate {
            device_id: DEVICE_ID,
            election_id: None,
            ..Default::default()
        }),
    ];
    for message in messages {
        let say = |rig: &Rig| -> Call {
            let (front, update) = (rig.front(), Some(message.clone()));
            Box::pin(async move {
                let (stream, _answers) = Stream::open(&front, 2);
                stream.hear(p4::StreamMessageRequest { update }).await.unwrap();
                pause().await;
                stream.end(Ok(()));
            })
        };
        assert!(drop_at_every_point(say) >= 1);
    }
}

#[test]
fn a_client_that_goes_is_neither_traced_nor_watched_for() {
    let trace = |rig: &Rig| -> Call {
        let front = rig.front();
        let request = v1::TraceRequest { filters: vec![v1::TraceFilter::default()], device_id: 0 };
        Box::pin(async move { drop(front.trace(&request).await.unwrap()) })
    };
    assert!(drop_at_every_point(trace) >= 1);
    let watch = |rig: &Rig| -> Call {
        let front = rig.front();
        let request = v1::WatchRequest { marks: true, ..Default::default() };
        Box::pin(async move { drop(front.watch(&request).await.unwrap()) })
    };
    assert!(drop_at_every_point(watch) >= 1);
}
