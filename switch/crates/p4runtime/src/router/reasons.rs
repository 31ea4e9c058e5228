//! Reasons for drops: the numbers of messages are the numbers of the reasons.

use messages::vitrine::v1;
use units::DropReason;

/// The number of a reason.
pub fn message(reason: DropReason) -> v1::DropReason {
    v1::DropReason::try_from(i32::from(reason.number())).unwrap_or_default()
}

/// The reason of a number; none for one that nothing is dropped for.
pub fn of(number: i32) -> Option<DropReason> {
    DropReason::of_number(u8::try_from(number).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at every number that a program can get, so that a reason is missed neither here nor in
    /// the proto file.
    #[test]
    fn the_proto_file_has_the_same_reasons_with_the_same_numbers_and_names() {
        for number in 1..=i32::from(u8::MAX) {
            let message = v1::DropReason::try_from(number).ok();
            let written = message.map(|message| message.as_str_name().to_lowercase());
            assert_eq!(of(number).map(DropReason::name), written.as_deref(), "number {number}");
        }
    }

    #[test]
    fn a_reason_goes_out_and_comes_back() {
        for reason in DropReason::ALL {
            assert_eq!(of(message(*reason).into()), Some(*reason));
        }
    }
}
