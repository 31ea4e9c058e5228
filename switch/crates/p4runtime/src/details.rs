//! Statuses with details: an error for each update of a batch, a problem for each mistake; as many
//! as the client takes.
//!
//! Details travel in the metadata of an answer, whose size a client limits. A client does not cut a
//! longer one: gRPC's library reports RESOURCE_EXHAUSTED and nothing else, others close the
//! connection. So longer ones are cut here, the texts first, then the list; and where the list is
//! cut the status's message says so, and names the first that failed.

use messages::google::rpc;
use messages::p4::v1 as p4;
use messages::vitrine::v1;
use prost::Message;
use prost::bytes::Bytes;
use prost_types::Any;

use crate::code::Code;
use crate::refusal::{Refusal, Status};
use crate::router::Problem;

/// Names the error codes of this switch in `p4.v1.Error.space`.
const ERROR_SPACE: &str = "vitrine";

/// The other headers of an answer, each counted with 32 bytes more than it has, as HTTP/2 does.
const OTHER_HEADERS_SIZE_BYTES: usize = 512;

/// A quotation of the first failure ends here.
const QUOTED_SIZE_BYTES_MAX: usize = 400;

/// Where the list of errors is cut, so many that failed are named beside the first.
const NAMED_COUNT_MAX: usize = 8;

/// How much metadata a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// All of an answer's headers, as HTTP/2 counts them.
    pub size_bytes: usize,
}

impl Room {
    /// The clients' default limit.
    pub const USUAL: Room = Room { size_bytes: 8 << 10 };

    /// The most that is sent. grpc-go takes this much and announces nothing.
    const LARGEST: Room = Room { size_bytes: 16 << 20 };

    /// gRPC's library announces this where it takes the usual size: from there on it refuses some
    /// answers, by lot, and beyond what it announces all. Raised, the two are as 4 to 5.
    const USUAL_ANNOUNCED_SIZE_BYTES: usize = 16 << 10;

    /// Of a client that announces this size as its SETTINGS_MAX_HEADER_LIST_SIZE, if any.
    pub fn announced(size_bytes: Option<u32>) -> Room {
        let Some(size_bytes) = size_bytes else { return Room::LARGEST };
        let size_bytes = size_bytes as usize;
        let size_bytes = if size_bytes <= Self::USUAL_ANNOUNCED_SIZE_BYTES {
            size_bytes.min(Room::USUAL.size_bytes)
        } else {
            size_bytes / 5 * 4
        };
        Room { size_bytes: size_bytes.min(Room::LARGEST.size_bytes) }
    }

    /// Bytes of details that fit beside a message.
    fn beside(self, message: &str) -> usize {
        // A header has 3 bytes for each character that is not plain; the details repeat the
        // message.
        let plain = message.bytes().filter(u8::is_ascii_alphanumeric).count();
        let header = plain + 3 * (message.len() - plain);
        let left = self.size_bytes.saturating_sub(OTHER_HEADERS_SIZE_BYTES + header);
        // Details travel in base64: 4 bytes for 3.
        (left / 4 * 3).saturating_sub(status_of(Code::Unknown, message, Vec::new()).encoded_len())
    }
}

/// The status of a batch of which something failed: UNKNOWN, with one `p4.v1.Error` per element of
/// the batch in its order (specification, "Write RPC", "Error Reporting").
///
/// `verb` says what failed ("Write", "Read").
pub fn batch_status(verb: &str, results: &[Result<(), Refusal>], room: Room) -> Status {
    let failed: Vec<_> = (0..).zip(results).filter(|(_, result)| result.is_err()).collect();
    let mut message = match failed.first() {
        Some((idx, Err(refusal))) => {
            let (count, total, why) = (failed.len(), results.len(), quoted(&refusal.message));
            format!("{verb}: {count} of {total} failed; the first is number {idx}: {why}")
        }
        _ => format!("{verb}: all {} succeeded", results.len()),
    };
    // All errors without a text take the same space.
    let (success, failure) = (Ok(()), Err(Refusal::new(Code::Unknown, "")));
    let least = (results.len() - failed.len()) * size_of(&error_of(&success, false))
        + failed.len() * size_of(&error_of(&failure, false));
    match room.beside(&message).checked_sub(least) {
        Some(mut left) => {
            let details = results.iter().map(|result| {
                let (short, long) = (error_of(result, false), error_of(result, true));
                match left.checked_sub(size_of(&long) - size_of(&short)) {
                    Some(rest) => {
                        left = rest;
                        long
                    }
                    None => short,
                }
            });
            status(Code::Unknown, message, details.collect())
        }
        None => {
            let others: Vec<_> = failed.iter().skip(1).map(|(idx, _)| *idx).collect();
            name(&others, &mut message);
            let details = results.iter().map(|result| error_of(result, false));
            cut_status(Code::Unknown, message, details, room)
        }
    }
}

/// The status that lists every problem: INVALID_ARGUMENT, one `vitrine.v1.Problem` each.
pub fn problems_status(problems: &[Problem], room: Room) -> Status {
    let first = problems.first().map(ToString::to_string).unwrap_or_default();
    let first = quoted(&first);
    let message = match problems.len() {
        1 => format!("nothing was changed: {first}"),
        count => format!("nothing was changed: {count} problems; the first: {first}"),
    };
    let details = problems.iter().map(|problem| Any {
        type_url: "type.googleapis.com/vitrine.v1.Problem".to_owned(),
        value: v1::Problem {
            place: problem.place.clone(),
            found: problem.found.clone(),
            advice: problem.advice.clone(),
        }
        .encode_to_vec(),
    });
    let code = Code::InvalidArgument;
    let size: usize = details.clone().map(|detail| size_of(&detail)).sum();
    if size <= room.beside(&message) {
        status(code, message, details.collect())
    } else {
        cut_status(code, message, details, room)
    }
}

/// One element's outcome as the specification packs it; success has no field set but the code.
fn error_of(result: &Result<(), Refusal>, with_text: bool) -> Any {
    let error = match result {
        Ok(()) => p4::Error::default(),
        Err(refusal) if with_text => p4::Error {
            canonical_code: refusal.code as i32,
            message: refusal.message.clone(),
            space: ERROR_SPACE.to_owned(),
            code: refusal.code as i32,
            details: None,
        },
        Err(refusal) => p4::Error { canonical_code: refusal.code as i32, ..Default::default() },
    };
    Any { type_url: "type.googleapis.com/p4.v1.Error".to_owned(), value: error.encode_to_vec() }
}

/// With the details that there is room for, from the first, and a message that says that there were
/// more.
fn cut_status(
    code: Code,
    mut message: String,
    details: impl Iterator<Item = Any>,
    room: Room,
) -> Status {
    message += &format!(
        "; the details end early, because this client takes {} bytes of metadata: raise its \
         grpc.max_metadata_size, or ask for less at a time",
        room.size_bytes
    );
    let mut left = room.beside(&message);
    let fitting = details.map_while(|detail| {
        left = left.checked_sub(size_of(&detail))?;
        Some(detail)
    });
    let fitting = fitting.collect();
    status(code, message, fitting)
}

fn status(code: Code, message: String, details: Vec<Any>) -> Status {
    let details = Bytes::from(status_of(code, &message, details).encode_to_vec());
    Status { code, message, details }
}

fn status_of(code: Code, message: &str, details: Vec<Any>) -> rpc::Status {
    rpc::Status { code: code as i32, message: message.to_owned(), details }
}

/// Bytes of a detail within a status: a tag, and a length of up to three bytes, come before it.
fn size_of(detail: &Any) -> usize {
    4 + detail.encoded_len()
}

/// Adds the numbers of some of those that failed.
fn name(others: &[usize], message: &mut String) {
    let named: Vec<_> = others.iter().take(NAMED_COUNT_MAX).map(ToString::to_string).collect();
    if !named.is_empty() {
        *message += &format!("; then {}", named.join(", "));
    }
    if others.len() > NAMED_COUNT_MAX {
        *message += &format!(" and {} more", others.len() - NAMED_COUNT_MAX);
    }
}

/// A text that need not be read to its end.
fn quoted(text: &str) -> String {
    let mut end = QUOTED_SIZE_BYTES_MAX;
    if text.len() <= end {
        return text.to_owned();
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusals(count: usize) -> Vec<Result<(), Refusal>> {
        let refusal =
            |number| Err(Refusal::not_found(format!("there is no entry number {number}")));
        (0..count).map(refusal).collect()
    }

    fn errors_of(status: &Status) -> Vec<p4::Error> {
        let details = rpc::Status::decode(status.details.clone()).unwrap();
        assert_eq!(details.code, status.code as i32);
        assert_eq!(details.message, status.message);
        let errors = details.details.iter();
        errors.map(|any| p4::Error::decode(any.value.as_slice()).unwrap()).collect()
    }

    #[test]
    fn a_client_is_sent_what_it_takes_for_certain() {
        let sizes = [None, Some(16_384), Some(8_192), Some(4_096), Some(100_000), Some(u32::MAX)];
        let rooms = sizes.map(|size| Room::announced(size).size_bytes);
        // 4/5 of 100,000 are 80,000; no client is sent more than 16 MiB.
        assert_eq!(rooms, [16 << 20, 8_192, 8_192, 4_096, 80_000, 16 << 20]);
    }

    #[test]
    fn texts_give_way_before_errors_do_and_a_list_that_is_cut_says_so() {
        let few = batch_status("Write", &refusals(20), Room::USUAL);
        assert!(errors_of(&few).iter().all(|error| error.message.starts_with("there is no")));
        let more = batch_status("Write", &refusals(110), Room::USUAL);
        assert_eq!(errors_of(&more).len(), 110);
        assert!(
            !errors_of(&more)[0].message.is_empty() && errors_of(&more)[109].message.is_empty()
        );
        assert_eq!(errors_of(&more)[109].canonical_code, Code::NotFound as i32);
        assert!(!more.message.contains("metadata"), "{}", more.message);

        let mut results = refusals(1000);
        results[0] = Ok(());
        let many = batch_status("Write", &results, Room::USUAL);
        let errors = errors_of(&many);
        assert!((80..200).contains(&errors.len()), "{}", errors.len());
        assert_eq!((errors[0].canonical_code, errors[1].canonical_code), (0, 5));
        for said in [
            "999 of 1000 failed; the first is number 1: there is no entry number 1; ",
            "then 2, 3, 4, 5, 6, 7, 8, 9 and 990 more; ",
            "this client takes 8192 bytes of metadata",
        ] {
            assert!(many.message.contains(said), "{}", many.message);
        }
    }

    /// As the specification advises: 8192 bytes, and 100 for each update of the largest batch.
    #[test]
    fn a_client_that_takes_more_gets_an_error_for_each_update() {
        let count = 20_000;
        // gRPC's library announces 5/4 of its setting.
        let announced = (8192 + count * 100) / 4 * 5;
        let status =
            batch_status("Write", &refusals(count), Room::announced(Some(announced as u32)));
        assert_eq!(errors_of(&status).len(), count);
        assert_eq!(
            errors_of(&batch_status("Write", &refusals(100_000), Room::LARGEST)).len(),
            100_000
        );
    }

    #[test]
    fn a_long_list_of_problems_is_cut_and_a_long_text_as_well() {
        let problem = |at: usize| Problem {
            place: format!("port {at}"),
            found: "é".repeat(500),
            advice: "none".to_owned(),
        };
        let status = problems_status(&(0..511).map(problem).collect::<Vec<_>>(), Room::USUAL);
        assert!(status.message.starts_with("nothing was changed: 511 problems; the first: port 0"));
        let details = rpc::Status::decode(status.details.clone()).unwrap().details;
        assert!((1..10).contains(&details.len()), "a kilobyte each: {}", details.len());
    }
}
