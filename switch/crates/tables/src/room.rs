//! Room that is made before it is needed: to make it later is to move everything while packets wait.

/// Tables declared larger than this have room in their index from the start: moving this few keys
/// takes some ten microseconds, moving more would delay packets.
const GROWING_SIZE_MAX: usize = 4096;
/// Tables declared larger than this have room for this many at first.
pub const RESERVED_SIZE_MAX: usize = 1 << 20;

/// Whether unused room costs nothing. In a web page it takes memory at once, and no packet there
/// waits in real time: a page's tables grow with their entries.
const IS_ROOM_FREE: bool = cfg!(not(target_family = "wasm"));

/// A list with room for `count`, if there are that many addresses.
pub fn with_room<T>(count: usize) -> Vec<T> {
    let mut list = Vec::new();
    if IS_ROOM_FREE {
        let _fits = list.try_reserve_exact(count);
    }
    list
}

/// For how many keys the index of a table of this size has room from the start.
pub fn reserved(size: usize) -> usize {
    if IS_ROOM_FREE && size > GROWING_SIZE_MAX { size.min(RESERVED_SIZE_MAX) } else { 0 }
}
