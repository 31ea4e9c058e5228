//! [`Keeps`]: how much state outlives the program that it was written for.

/// The state that a program takes over from its predecessor. bmv2 keeps some of it with the switch
/// rather than with the program.
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
