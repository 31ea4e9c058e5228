//! How long the data plane works for controllers before packets have their turn again.

use units::Span;

/// Steps of control work between two rounds of packets: as a rule some ten microseconds.
pub const SLICE_STEPS_MAX: usize = 16;

/// What a slice may take before it ends with fewer steps: far enough below the 100 us for which packets
/// may wait that the steps under way can be dear ones.
pub const SLICE_SPAN: Span = Span::from_us(30);

/// Steps between two looks at the clock.
pub const STEPS_BETWEEN_LOOKS: usize = 4;
