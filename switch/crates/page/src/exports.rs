//! The functions that a worker calls. Bytes lie in two buffers: `inbox` is what the worker writes
//! into before it calls, `outbox` what it reads afterwards. No pointer is followed here.

// Each function is exported by its own name, which the language counts as unsafe: two of one name
// would be linked as one. There is nothing else of that kind in this crate.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::panic;
use std::time::Duration;

use serde_json::Value;
use stage::Next;

use crate::{Page, compiling, dissecting, editing, testing};

#[derive(Default)]
struct State {
    page: Page,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    static LAST_WORDS: RefCell<String> = RefCell::default();
}

fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(act)
}

/// Once, before all others.
#[unsafe(no_mangle)]
extern "C" fn begin() {
    panic::set_hook(Box::new(|why| {
        LAST_WORDS.with_borrow_mut(|words| *words = why.to_string());
    }));
}

/// Room for this many bytes, and its address.
#[unsafe(no_mangle)]
extern "C" fn inbox(length: usize) -> *mut u8 {
    with(|state| {
        state.inbox.clear();
        state.inbox.resize(length, 0);
        state.inbox.as_mut_ptr()
    })
}

/// Where the bytes are that a function has left.
#[unsafe(no_mangle)]
extern "C" fn outbox() -> *const u8 {
    with(|state| state.outbox.as_ptr())
}

/// The inbox holds a frame.
#[unsafe(no_mangle)]
extern "C" fn take() {
    with(|state| state.page.take(&state.inbox));
}

/// Works for a while. Returns after how many milliseconds it is to be called again; -1: after the
/// next frame.
#[unsafe(no_mangle)]
extern "C" fn work(clock_ms: f64) -> i32 {
    let clock = Duration::try_from_secs_f64(clock_ms / 1e3).unwrap_or_default();
    match with(|state| state.page.work(clock)) {
        Next::Again => 0,
        Next::After(span) => i32::try_from(span.as_millis()).unwrap_or(i32::MAX).max(1),
        Next::Idle => -1,
    }
}

/// Leaves the next frame; returns its length, 0 where there is none.
#[unsafe(no_mangle)]
extern "C" fn next_frame() -> usize {
    with(|state| {
        state.outbox = state.page.next_frame().unwrap_or_default();
        state.outbox.len()
    })
}

/// Compiles the text in the inbox. Leaves the messages and, after them, the configuration; returns
/// the length of the messages.
#[unsafe(no_mangle)]
extern "C" fn compile() -> usize {
    with(|state| {
        let compiled = compiling::compile(&state.inbox);
        state.outbox = compiled.said.to_string().into_bytes();
        let length = state.outbox.len();
        state.outbox.extend(compiled.config.unwrap_or_default());
        length
    })
}

/// Answers what the inbox asks about a place of a program; returns the answer's length.
#[unsafe(no_mangle)]
extern "C" fn edit() -> usize {
    answer(editing::answer)
}

/// Runs the packet test in the inbox; returns the length of the result.
#[unsafe(no_mangle)]
extern "C" fn test() -> usize {
    answer(testing::answer)
}

/// Takes apart the packet that the inbox holds; returns the answer's length.
#[unsafe(no_mangle)]
extern "C" fn dissect() -> usize {
    answer(dissecting::answer)
}

/// Leaves the answer to what the inbox asks; returns its length.
fn answer(ask: impl FnOnce(&[u8]) -> Value) -> usize {
    with(|state| {
        state.outbox = ask(&state.inbox).to_string().into_bytes();
        state.outbox.len()
    })
}

/// The length of the outbox.
#[unsafe(no_mangle)]
extern "C" fn outbox_length() -> usize {
    with(|state| state.outbox.len())
}

/// After a trap: where its message is. The state may be in the midst of something, so this is apart.
#[unsafe(no_mangle)]
extern "C" fn last_words() -> *const u8 {
    LAST_WORDS.with_borrow(|words| words.as_ptr())
}

/// And how long it is.
#[unsafe(no_mangle)]
extern "C" fn last_words_length() -> usize {
    LAST_WORDS.with_borrow(|words| words.len())
}
