//! Any bytes as a packet with any offload header, as a host can hand them over: split or refused; and
//! split a few frames at a time, the frames are the same.

use ports::segment::{split, split_some};
use ports::{ChecksumTask, GsoKind, Offload, Piece};

/// Offers these bytes.
pub fn offer(data: &[u8]) {
    let [kind, size, more, start, offset, step, packet @ ..] = data else { return };
    let size = u16::from_be_bytes([*size, *more]);
    let gso = match kind % 4 {
        0 => None,
        1 => Some((GsoKind::Tcp4, size)),
        2 => Some((GsoKind::Tcp6, size)),
        _ => Some((GsoKind::Udp, size)),
    };
    let task = ChecksumTask { start: (*start).into(), offset: (*offset).into() };
    let offload = Offload { checksum: (kind & 4 != 0).then_some(task), gso };
    let mut whole = Vec::new();
    let split_whole =
        split(&mut packet.to_vec(), offload, |piece: &Piece<'_>| whole.push(piece.to_vec()));
    let step = usize::from(*step).max(1);
    let (mut frames, mut next) = (Vec::new(), Some(0));
    while let Some(first) = next {
        let emit = |piece: &Piece<'_>| frames.push(piece.to_vec());
        match split_some(&mut packet.to_vec(), offload, first..first + step, emit) {
            Ok(then) => next = then,
            Err(error) => {
                assert_eq!(split_whole, Err(error));
                return;
            }
        }
    }
    assert_eq!(split_whole, Ok(()));
    assert_eq!(frames, whole);
}
