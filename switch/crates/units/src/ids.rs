//! Ports and classes: numbers that name things.

use std::fmt;

/// A port of a device. The same number in P4, P4Runtime, Mininet and the dashboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

/// The highest port number: v1model's `PortId_t` is a `bit<9>`.
pub const PORT_NUMBER_MAX: u16 = 511;

/// How many classes a port can have at the most; v1model's `priority` is a `bit<3>`.
pub const CLASS_COUNT_MAX: usize = 8;

/// A class of an output port: 0 is the lowest, as in simple_switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u8);

impl ClassId {
    /// For indexing an array of classes.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl PortId {
    /// For indexing an array of ports.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for PortId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
