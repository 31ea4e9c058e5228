//! [`Keeps`]: how much of what was written outlives the program that it was written for.

/// What a program takes over from the one that packets run through. bmv2 keeps some of what is written
/// with the switch rather than with the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// Multicast groups and clone sessions: the program is another one, the ports are the same.
    Copies,
    /// Nothing: what was written goes with the program that it was written for.
    #[default]
    Nothing,
    /// Clone sessions, value sets and CRCs: what bmv2's reset of a program leaves alone.
    Settings,
}
