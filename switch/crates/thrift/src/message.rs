//! Messages: calls as they come, replies as they go.

use crate::read::{Cursor, ProtocolError, Reader};
use crate::value::{Struct, Value};
use crate::write;

/// The bytes in front of the name in the newer of the two forms of a message: version 1.
const VERSION_1: i32 = 0x8001_0000_u32.cast_signed();
const VERSION_MASK: i32 = 0xffff_0000_u32.cast_signed();

/// The kinds of messages that are understood, by their numbers.
const CALL: u8 = 1;
const REPLY: u8 = 2;
const EXCEPTION: u8 = 3;
const ONE_WAY: u8 = 4;

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The service that a multiplexed call is for; empty where the name has no service in it.
    pub service: String,
    pub method: String,
    /// By which the caller knows the reply.
    pub sequence: i32,
    /// Nobody waits for a reply.
    pub is_one_way: bool,
    pub arguments: Struct,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A result, of functions that have one.
    Returned(Option<Value>),
    /// The exception that the interface declares in this field of the function's result.
    Thrown(i16, Struct),
    /// An error that no interface declares.
    Failed(ApplicationError),
}

/// An error of Thrift's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationError {
    pub kind: ApplicationErrorKind,
    pub message: String,
}

/// Those of Thrift's kinds that occur here, with their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum ApplicationErrorKind {
    UnknownMethod = 1,
    InternalError = 6,
}

impl Call {
    /// The first message in `bytes`, and how many of them it is; no longer than `length_max`.
    pub fn read(bytes: &[u8], length_max: usize) -> Result<(Call, usize), ProtocolError> {
        CallReader::new(length_max).read(bytes)
    }
}

/// Reads one call that arrives in pieces.
#[derive(Debug)]
pub struct CallReader {
    length_max: usize,
    /// All bytes before it have been read.
    at: usize,
    /// The call without its arguments, once that is there.
    head: Option<Call>,
    arguments: Reader,
}

impl CallReader {
    /// For a message no longer than `length_max`.
    pub fn new(length_max: usize) -> CallReader {
        CallReader { length_max, at: 0, head: None, arguments: Reader::new() }
    }

    /// The message, and how many of `bytes` it is. `bytes` are all that have arrived, those of the
    /// last time first. After a message or an error there is nothing more to read.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(Call, usize), ProtocolError> {
        let mut cursor = Cursor::new(bytes, self.at, self.length_max);
        if self.head.is_none() {
            self.head = Some(head(&mut cursor)?);
        }
        let arguments = self.arguments.read(&mut cursor);
        self.at = cursor.position();
        let arguments = arguments?;
        let head = self.head.take().expect("it was read before the arguments");
        Ok((Call { arguments, ..head }, self.at))
    }
}

/// Reads the part in front of the arguments.
fn head(cursor: &mut Cursor<'_>) -> Result<Call, ProtocolError> {
    let first = cursor.i32()?;
    let (kind, name) = if first < 0 {
        if first & VERSION_MASK != VERSION_1 {
            let message = "it does not begin as Thrift's binary protocol does";
            return Err(ProtocolError::Wrong(message.to_owned()));
        }
        ((first & 0xff) as u8, cursor.binary()?)
    } else {
        // The older form begins with the length of the name.
        let name = cursor.bytes(first.cast_unsigned() as usize)?;
        (cursor.u8()?, name)
    };
    if kind != CALL && kind != ONE_WAY {
        return Err(ProtocolError::Wrong(format!("a message of kind {kind} is no call")));
    }
    let name = str::from_utf8(name)
        .map_err(|_| ProtocolError::Wrong("the name of the function is no text".to_owned()))?;
    let (service, method) = name.split_once(':').unwrap_or(("", name));
    let sequence = cursor.i32()?;
    let (service, method) = (service.to_owned(), method.to_owned());
    let arguments = Struct::default();
    Ok(Call { service, method, sequence, is_one_way: kind == ONE_WAY, arguments })
}

impl Reply {
    /// The message that answers a call of this function.
    pub fn write(&self, method: &str, sequence: i32) -> Vec<u8> {
        let (kind, body) = match self {
            Reply::Returned(value) => {
                let mut body = Struct::default();
                if let Some(value) = value {
                    body.set(0, value.clone());
                }
                (REPLY, body)
            }
            Reply::Thrown(field, exception) => {
                (REPLY, Struct::default().with(*field, Value::Struct(exception.clone())))
            }
            Reply::Failed(error) => {
                let body = Struct::default().with(1, Value::text(&*error.message));
                (EXCEPTION, body.with(2, Value::I32(error.kind as i32)))
            }
        };
        let mut bytes = Vec::new();
        write::i32(&mut bytes, VERSION_1 | i32::from(kind));
        write::binary(&mut bytes, method.as_bytes());
        write::i32(&mut bytes, sequence);
        write::structure(&mut bytes, &body);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Map, Type};

    const LENGTH_MAX: usize = 1 << 20;

    /// A call with an argument of every type, as a client writes it.
    fn call() -> (Call, Vec<u8>) {
        let point = Struct::default().with(1, Value::I8(-3)).with(2, Value::Double(2.5));
        let arguments = Struct::default()
            .with(1, Value::I32(-5))
            .with(2, Value::text("t"))
            .with(3, Value::List(Type::Struct, vec![Value::Struct(point)]))
            .with(4, Value::I64(1 << 40))
            .with(5, Value::Bool(true))
            .with(6, Value::I16(0x1234));
        let mut bytes = Vec::new();
        write::i32(&mut bytes, VERSION_1 | i32::from(CALL));
        write::binary(&mut bytes, b"standard:add");
        write::i32(&mut bytes, 7);
        write::structure(&mut bytes, &arguments);
        let (service, method) = ("standard".to_owned(), "add".to_owned());
        (Call { service, method, sequence: 7, is_one_way: false, arguments }, bytes)
    }

    #[test]
    fn a_call_is_read_once_all_of_it_is_there() {
        let (call, bytes) = call();
        assert_eq!(Call::read(&bytes, LENGTH_MAX), Ok((call, bytes.len())));
        for length in 0..bytes.len() {
            let found = Call::read(&bytes[..length], LENGTH_MAX);
            // It says how much it needs at least, which is more than there is.
            let Err(ProtocolError::Incomplete(needed)) = found else { panic!("{found:?}") };
            assert!(needed > length && needed <= bytes.len(), "{needed} of {}", bytes.len());
        }
    }

    /// 4,000 numbers in a list in a struct, whose bytes come one by one.
    #[test]
    fn a_message_in_pieces_is_read_once() {
        let numbers = (0..4000).map(Value::I32).collect();
        let inner = Struct::default().with(1, Value::List(Type::I32, numbers));
        let arguments = Struct::default().with(1, Value::Struct(inner)).with(2, Value::text("t"));
        let (call, _) = call();
        let mut bytes = Vec::new();
        write::i32(&mut bytes, VERSION_1 | i32::from(CALL));
        write::binary(&mut bytes, b"standard:add");
        write::i32(&mut bytes, 7);
        write::structure(&mut bytes, &arguments);
        let mut reader = CallReader::new(LENGTH_MAX);
        for length in 0..bytes.len() {
            let found = reader.read(&bytes[..length]);
            assert!(matches!(found, Err(ProtocolError::Incomplete(_))), "{length}: {found:?}");
        }
        assert_eq!(reader.read(&bytes), Ok((Call { arguments, ..call }, bytes.len())));
        // The list and the numbers in it, the two structs' fields, and no value twice.
        assert_eq!(reader.arguments.value_count(), 4000 + 3);
    }

    #[test]
    fn maps_and_lists_are_read_wherever_they_are_cut() {
        let number = |n| Value::I8(n);
        let pairs = vec![(number(1), Value::text("one")), (number(2), Value::text(""))];
        let map = Map { types: (Type::I8, Type::Binary), pairs };
        let empty = Map { types: (Type::I8, Type::Bool), pairs: Vec::new() };
        let lists = vec![Value::List(Type::I8, vec![]), Value::List(Type::I8, vec![number(3)])];
        let arguments = Struct::default()
            .with(-1, Value::Map(map))
            .with(2, Value::Map(empty))
            .with(3, Value::List(Type::List, lists))
            .with(4, Value::List(Type::Struct, vec![Value::Struct(Struct::default()); 2]));
        let (call, _) = call();
        let mut bytes = Vec::new();
        write::i32(&mut bytes, VERSION_1 | i32::from(CALL));
        write::binary(&mut bytes, b"standard:add");
        write::i32(&mut bytes, 7);
        write::structure(&mut bytes, &arguments);
        let whole = Ok((Call { arguments, ..call }, bytes.len()));
        for cut in 0..bytes.len() {
            let mut reader = CallReader::new(LENGTH_MAX);
            assert!(reader.read(&bytes[..cut]).is_err());
            assert_eq!(reader.read(&bytes), whole, "cut after {cut} bytes");
        }
    }

    #[test]
    fn the_older_form_is_read_too() {
        let mut bytes = Vec::new();
        write::binary(&mut bytes, b"ping");
        bytes.push(CALL);
        write::i32(&mut bytes, 1);
        bytes.push(0);
        let (call, length) = Call::read(&bytes, LENGTH_MAX).unwrap();
        assert_eq!((&*call.service, &*call.method, length), ("", "ping", bytes.len()));
    }

    #[test]
    fn what_is_no_call_is_refused() {
        let wrong = |bytes: &[u8]| match Call::read(bytes, LENGTH_MAX) {
            Err(ProtocolError::Wrong(what)) => what,
            other => panic!("{bytes:?} must be refused, not {other:?}"),
        };
        assert!(wrong(&[0x80, 2, 0, 1, 0, 0, 0, 0]).contains("begin"));
        assert!(wrong(b"GET / HTTP/1.1").contains("at most"), "a length of 1.2 GB");
        let (_, bytes) = call();
        assert!(Call::read(&bytes, 20).is_err_and(|error| error.to_string().contains("20")));
        let mut reply = bytes.clone();
        reply[3] = REPLY;
        assert!(wrong(&reply).contains("no call"));
        // Lists of lists of lists: type 15, again and again, one element each.
        let mut deep = bytes[..24].to_vec();
        deep.truncate(4 + 4 + "standard:add".len() + 4);
        deep.extend([15, 0, 1]);
        deep.extend([15, 0, 0, 0, 1].repeat(100));
        assert!(wrong(&deep).contains("deep"));
        // A list (15) of 2^17 bytes (3), each of them a value.
        let mut many = deep[..4 + 4 + "standard:add".len() + 4].to_vec();
        many.extend([15, 0, 1, 3, 0, 2, 0, 0]);
        many.resize(many.len() + (1 << 17), 0);
        assert!(wrong(&many).contains("65536 values"));
    }

    #[test]
    fn replies_are_results_exceptions_and_errors() {
        // Version and kind, length of the name, name, sequence number, fields, end.
        let returned = Reply::Returned(Some(Value::I32(9))).write("f", 2);
        assert_eq!(returned, [0x80, 1, 0, 2, 0, 0, 0, 1, b'f', 0, 0, 0, 2, 8, 0, 0, 0, 0, 0, 9, 0]);
        let nothing = Reply::Returned(None).write("f", 2);
        assert_eq!(nothing[13..], [0]);
        let code = Struct::default().with(1, Value::I32(2));
        let thrown = Reply::Thrown(1, code).write("f", 2);
        assert_eq!(thrown[13..], [12, 0, 1, 8, 0, 1, 0, 0, 0, 2, 0, 0]);
        let error =
            ApplicationError { kind: ApplicationErrorKind::UnknownMethod, message: "?".into() };
        let failed = Reply::Failed(error).write("f", 2);
        assert_eq!(failed[3], EXCEPTION);
        assert_eq!(failed[13..], [11, 0, 1, 0, 0, 0, 1, b'?', 8, 0, 2, 0, 0, 0, 1, 0]);
    }
}
