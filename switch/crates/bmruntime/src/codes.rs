//! The error codes of the interface. Each kind of object has codes of its own.

use pipeline::{Table, TableError};

/// An exception of the interface: its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thrown(pub i32);

/// TableOperationErrorCode.
pub mod table {
    use super::Thrown;

    pub const FULL: Thrown = Thrown(1);
    pub const INVALID_HANDLE: Thrown = Thrown(2);
    pub const EXPIRED_HANDLE: Thrown = Thrown(3);
    pub const COUNTERS_DISABLED: Thrown = Thrown(4);
    pub const METERS_DISABLED: Thrown = Thrown(5);
    pub const AGEING_DISABLED: Thrown = Thrown(6);
    pub const INVALID_NAME: Thrown = Thrown(7);
    pub const INVALID_ACTION_NAME: Thrown = Thrown(8);
    pub const WRONG_TYPE: Thrown = Thrown(9);
    pub const INVALID_MEMBER: Thrown = Thrown(10);
    pub const MEMBER_STILL_USED: Thrown = Thrown(11);
    pub const MEMBER_ALREADY_IN_GROUP: Thrown = Thrown(12);
    pub const MEMBER_NOT_IN_GROUP: Thrown = Thrown(13);
    pub const INVALID_GROUP: Thrown = Thrown(14);
    pub const GROUP_STILL_USED: Thrown = Thrown(15);
    pub const EMPTY_GROUP: Thrown = Thrown(16);
    pub const DUPLICATE_ENTRY: Thrown = Thrown(17);
    pub const BAD_MATCH_KEY: Thrown = Thrown(18);
    pub const INVALID_METER_OPERATION: Thrown = Thrown(19);
    pub const DEFAULT_ACTION_IS_CONST: Thrown = Thrown(20);
    pub const DEFAULT_ENTRY_IS_CONST: Thrown = Thrown(21);
    pub const NO_DEFAULT_ENTRY: Thrown = Thrown(22);
    pub const INVALID_PROFILE_NAME: Thrown = Thrown(23);
    pub const NO_SELECTOR: Thrown = Thrown(24);
    pub const IMMUTABLE_ENTRIES: Thrown = Thrown(25);
    pub const BAD_ACTION_DATA: Thrown = Thrown(26);
}

/// CounterOperationErrorCode.
pub mod counter {
    use super::Thrown;

    pub const INVALID_NAME: Thrown = Thrown(1);
    pub const INVALID_INDEX: Thrown = Thrown(2);
}

/// RegisterOperationErrorCode.
pub mod register {
    use super::Thrown;

    pub const INVALID_NAME: Thrown = Thrown(1);
    pub const INVALID_INDEX: Thrown = Thrown(2);
}

/// LearnOperationErrorCode.
pub mod learn {
    use super::Thrown;

    pub const INVALID_LIST: Thrown = Thrown(1);
    pub const ERROR: Thrown = Thrown(3);
}

/// MeterOperationErrorCode.
pub mod meter {
    use super::Thrown;

    pub const INVALID_NAME: Thrown = Thrown(1);
    pub const INVALID_INDEX: Thrown = Thrown(2);
    pub const BAD_RATES: Thrown = Thrown(3);
    pub const INVALID_RATE: Thrown = Thrown(4);
    pub const INVALID_BURST: Thrown = Thrown(5);
}

/// ParseVSetOperationErrorCode.
pub mod value_set {
    use super::Thrown;

    pub const INVALID_NAME: Thrown = Thrown(1);
    pub const ERROR: Thrown = Thrown(2);
}

/// CrcErrorCode.
pub mod crc {
    use super::Thrown;

    pub const INVALID_NAME: Thrown = Thrown(1);
    pub const WRONG_TYPE: Thrown = Thrown(2);
    pub const INVALID_CONFIG: Thrown = Thrown(3);
}

/// IdLookupErrorCode.
pub mod lookup {
    use super::Thrown;

    pub const INVALID_TYPE: Thrown = Thrown(0);
    pub const INVALID_NAME: Thrown = Thrown(1);
}

/// McOperationErrorCode.
pub mod multicast {
    use super::Thrown;

    pub const INVALID_ID: Thrown = Thrown(2);
    pub const INVALID_GROUP: Thrown = Thrown(3);
    pub const INVALID_NODE: Thrown = Thrown(4);
    pub const ERROR: Thrown = Thrown(5);
}

/// MirroringOperationErrorCode. For want of memory there is no code: after it the session is not
/// there.
pub mod mirroring {
    use super::Thrown;

    pub const NOT_FOUND: Thrown = Thrown(1);
    pub const NO_ROOM: Thrown = NOT_FOUND;
}

/// SwapOperationErrorCode. A program that is no program has no code there: what comes closest is
/// that nothing will be swapped.
pub mod swap {
    use super::Thrown;

    pub const ONGOING: Thrown = Thrown(2);
    pub const NOT_ONGOING: Thrown = Thrown(3);
}

/// Why a table did not take a change of its entries.
pub fn of_entries(error: &TableError) -> Thrown {
    match error {
        TableError::ActionNotInTable { .. } => table::INVALID_ACTION_NAME,
        TableError::Const { .. } => table::IMMUTABLE_ENTRIES,
        TableError::Data { .. } => table::BAD_ACTION_DATA,
        TableError::Exists { .. } => table::DUPLICATE_ENTRY,
        TableError::Full { .. } | TableError::Memory(_) => table::FULL,
        TableError::InUse { .. } => table::MEMBER_STILL_USED,
        TableError::Key { .. } => table::BAD_MATCH_KEY,
        TableError::NotFound { .. } => table::INVALID_HANDLE,
    }
}

/// Why this table did not take a default entry.
pub fn of_default(of: &Table, error: &TableError) -> Thrown {
    match error {
        TableError::Const { .. } if of.has_fixed_default() => table::DEFAULT_ENTRY_IS_CONST,
        TableError::Const { .. } => table::DEFAULT_ACTION_IS_CONST,
        other => of_entries(other),
    }
}
