//! Reasons for drops: the device's own, the program's and the traffic manager's, under one number.

use device::DropReason;
use messages::vitrine::v1;
use pipeline::DropReason as Program;
use traffic::DropReason as Traffic;

/// Every reason with its number in messages.
const ALL: [(DropReason, v1::DropReason); 19] = [
    (DropReason::Traffic(Traffic::Aqm), v1::DropReason::Aqm),
    (DropReason::Traffic(Traffic::BadClass), v1::DropReason::BadClass),
    (DropReason::Traffic(Traffic::InputLimit), v1::DropReason::InputLimit),
    (DropReason::Traffic(Traffic::PortLimit), v1::DropReason::PortLimit),
    (DropReason::Traffic(Traffic::QueueLimit), v1::DropReason::QueueLimit),
    (DropReason::Traffic(Traffic::QueueRemoved), v1::DropReason::QueueRemoved),
    (DropReason::Traffic(Traffic::SharedBuffer), v1::DropReason::SharedBuffer),
    (DropReason::Traffic(Traffic::UnknownPort), v1::DropReason::UnknownPort),
    (DropReason::Traffic(Traffic::VoqLimit), v1::DropReason::VoqLimit),
    (DropReason::Program(Program::Assertion), v1::DropReason::Assertion),
    (DropReason::Program(Program::Egress), v1::DropReason::EgressProgram),
    (DropReason::Program(Program::Ingress), v1::DropReason::IngressProgram),
    (DropReason::NoProgram, v1::DropReason::NoProgram),
    (DropReason::Program(Program::NoReplica), v1::DropReason::NoReplica),
    (DropReason::PortDown, v1::DropReason::PortDown),
    (DropReason::Copies, v1::DropReason::TooManyCopies),
    (DropReason::Program(Program::Passes), v1::DropReason::TooManyPasses),
    (DropReason::Program(Program::TooLong), v1::DropReason::TooLong),
    (DropReason::Memory, v1::DropReason::PacketMemory),
];

/// The number of a reason.
pub fn message(reason: DropReason) -> v1::DropReason {
    let found = ALL.iter().find(|(known, _)| *known == reason);
    found.map_or(v1::DropReason::Unspecified, |(_, message)| *message)
}

/// The reason of a number.
pub fn of(message: v1::DropReason) -> Option<DropReason> {
    ALL.iter().find(|(_, known)| *known == message).map(|(reason, _)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_the_proto_file_is_a_reason_of_the_same_name() {
        let numbers = (1..).map_while(|number| v1::DropReason::try_from(number).ok());
        let mut count = 0;
        for number in numbers {
            let reason = of(number).expect("each number has its reason");
            assert_eq!(message(reason), number);
            assert_eq!(number.as_str_name().to_lowercase(), reason.name());
            count += 1;
        }
        assert_eq!(count, ALL.len());
    }

    #[test]
    fn every_reason_of_the_traffic_manager_has_a_number() {
        for reason in Traffic::ALL {
            assert_ne!(message(DropReason::Traffic(reason)), v1::DropReason::Unspecified);
        }
    }
}
