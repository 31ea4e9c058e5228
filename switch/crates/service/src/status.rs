//! A [`Status`] of ours as gRPC's.

use p4runtime::Status;
use tonic::{Code, Response};

/// How a call ended, in tonic's words.
pub(crate) fn answer<T>(outcome: Result<T, Status>) -> Result<Response<T>, tonic::Status> {
    outcome.map(Response::new).map_err(tonic_status)
}

/// The codes have the same numbers.
pub(crate) fn tonic_status(status: impl Into<Status>) -> tonic::Status {
    let Status { code, message, details } = status.into();
    tonic::Status::with_details(Code::from_i32(code as i32), message, details)
}

/// The other way round, for errors that tonic itself finds in a stream.
pub(crate) fn our_status(status: tonic::Status) -> Status {
    let code = p4runtime::Code::from_number(status.code() as i32);
    Status { code, message: status.message().to_owned(), details: status.details().to_vec().into() }
}

#[cfg(test)]
mod tests {
    use p4runtime::Refusal;
    use p4runtime::details::{Room, batch_status, problems_status};
    use p4runtime::router::Problem;

    use super::*;

    /// HTTP/2's count: every header's name and value, and 32 bytes for each.
    fn header_list_size_bytes(status: Status) -> usize {
        let headers = tonic_status(status).into_http::<()>().into_parts().0.headers;
        headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
    }

    #[test]
    fn a_batch_of_any_length_has_a_status_that_fits() {
        let refusal =
            |number| Err(Refusal::not_found(format!("there is no entry number {number}")));
        for count in [1, 2, 50, 100, 120, 140, 200, 1000, 100_000] {
            let results: Vec<_> = (0..count).map(refusal).collect();
            let size = header_list_size_bytes(batch_status("Write", &results, Room::USUAL));
            assert!(size <= Room::USUAL.size_bytes, "{size} bytes for {count} updates");
        }
    }

    #[test]
    fn a_long_list_of_problems_fits_as_well() {
        let problem = |at: usize| Problem {
            place: format!("port {at}"),
            found: "é".repeat(500),
            advice: "none".to_owned(),
        };
        let problems: Vec<_> = (0..511).map(problem).collect();
        let size = header_list_size_bytes(problems_status(&problems, Room::USUAL));
        assert!(size <= Room::USUAL.size_bytes, "{size} bytes");
    }
}
