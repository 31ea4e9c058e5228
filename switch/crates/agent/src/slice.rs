//! How long the data plane works for controllers before packets have their turn again.

use units::Span;

/// Steps of control work between two rounds of packets: as a rule some ten microseconds.
pub const SLICE_STEPS_MAX: usize = 16;

/// The duration after which a slice ends with fewer steps: far enough below the 100 us for which
/// packets may wait that the steps under way can be expensive.
pub const SLICE_SPAN: Span = Span::from_us(30);

/// Steps between two looks at the clock.
pub const STEPS_BETWEEN_LOOKS: usize = 4;
