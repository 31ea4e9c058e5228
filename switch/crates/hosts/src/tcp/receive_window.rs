//! How much may be sent to us: the advertised window and its autotuning (RFC 9293 section 3.8.6,
//! RFC 7323 section 2; Linux's dynamic right-sizing).
//!
//! The window is a part of the receive buffer (`window_256ths`): the kernel needs the rest for its
//! own bookkeeping. The buffer begins at `rmem.default` and grows, up to `rmem.max`, to twice what
//! the application takes in a round trip, and more while the sender is in slow start.

use units::Time;

use super::settings::TcpSettings;

/// The maximum of the 16 bits of a SYN's window.
const UNSCALED_MAX: u32 = 65_535;
const SCALE_MAX: u32 = 14;

/// The receiver's side of flow control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveWindow {
    buffer_bytes: u64,
    /// The most that is advertised for now: grows with each segment that arrives in order.
    slow_start: u32,
    /// Our window scale.
    pub scale: u8,
    mss: u32,
    /// The window told last, and the next expected byte when it was.
    told: u32,
    told_at: u64,
    /// Round-trip time as the receiver sees it; zero before the first measurement.
    rtt_us: u32,
    /// The bytes taken in the last round trip, and the beginning of the present one.
    taken_bytes: u64,
    round_from: u64,
    round_since: Time,
}

impl ReceiveWindow {
    /// For segments of `mss` bytes of payload.
    pub fn new(settings: &TcpSettings, mss: u32) -> ReceiveWindow {
        let ratio = settings.window_256ths;
        let most = settings.rmem.max.count().max(1);
        let scale = if settings.window_scaling {
            most.ilog2().saturating_sub(15).min(SCALE_MAX) as u8
        } else {
            0
        };
        let buffer_bytes = settings.rmem.default.count();
        let whole = (buffer_bytes * u64::from(ratio) / 256).min(u64::from(u32::MAX)) as u32;
        let whole_segments = if whole > mss { whole / mss * mss } else { whole };
        let told = whole_segments.min(UNSCALED_MAX);
        ReceiveWindow {
            buffer_bytes,
            slow_start: told,
            scale,
            mss,
            told,
            told_at: 0,
            rtt_us: 0,
            taken_bytes: u64::from(told).min(u64::from(settings.initial_window * mss)),
            round_from: 1,
            round_since: Time::ZERO,
        }
    }

    /// The other side's SYN is number 0: from number 1 on. No scale unless both offered one.
    pub fn begin(&mut self, now: Time, scaled: bool) {
        self.told_at = 1;
        self.round_since = now;
        if !scaled {
            self.scale = 0;
        }
    }

    /// The part of the last advertised window that is still open.
    pub fn open(&self, nxt: u64) -> u32 {
        (self.told_at + u64::from(self.told)).saturating_sub(nxt) as u32
    }

    /// The first byte that may not come.
    pub fn end(&self) -> u64 {
        self.told_at + u64::from(self.told)
    }

    /// The next expected byte when a window was last advertised.
    pub fn told_at(&self) -> u64 {
        self.told_at
    }

    /// The window told last, whole.
    pub fn last_told(&self) -> u32 {
        self.told
    }

    pub fn rtt_us(&self) -> u32 {
        self.rtt_us
    }

    /// `ss` calls it rcv_space.
    pub fn taken_bytes(&self) -> u64 {
        self.taken_bytes
    }

    /// The most the present buffer allows.
    fn clamp(&self, settings: &TcpSettings) -> u64 {
        self.buffer_bytes * u64::from(settings.window_256ths) / 256
    }

    /// The window to advertise now; `held_bytes` wait in the buffer. Never shrinks an advertised
    /// window.
    pub fn choose(&self, nxt: u64, held_bytes: u64, settings: &TcpSettings) -> u32 {
        let most = if self.scale == 0 { u64::from(UNSCALED_MAX) } else { u64::from(u32::MAX >> 2) };
        let free = self.clamp(settings).saturating_sub(held_bytes).min(most);
        let open = self.open(nxt);
        let full = self.clamp(settings);
        // Silly window avoidance (RFC 9293 section 3.8.6.2.2): less than a segment is nothing.
        if free < full / 2 && free < u64::from(self.mss) || free == 0 {
            return open;
        }
        let free = free.min(u64::from(self.slow_start)) as u32;
        let window = if self.scale > 0 {
            free.div_ceil(1 << self.scale) << self.scale
        } else if open <= free.saturating_sub(self.mss) || open > free {
            free / self.mss * self.mss
        } else {
            open
        };
        window.max(open)
    }

    /// A window leaves in a segment; returns what goes into the header.
    pub fn tell(&mut self, window: u32, nxt: u64, in_syn: bool) -> u16 {
        self.told = window;
        self.told_at = nxt;
        if in_syn {
            window.min(UNSCALED_MAX) as u16
        } else {
            (window >> self.scale).min(UNSCALED_MAX) as u16
        }
    }

    /// A full segment arrived in order: more may be advertised. Tells whether it is.
    pub fn segment_arrived(
        &mut self,
        length: u32,
        held_bytes: u64,
        settings: &TcpSettings,
    ) -> bool {
        if length < 128 {
            return false;
        }
        let free = self.clamp(settings).saturating_sub(held_bytes);
        let room = free.saturating_sub(u64::from(self.slow_start)).min(u64::from(u32::MAX)) as u32;
        let step = (2 * self.mss).max(2 * length);
        self.slow_start = self.slow_start.saturating_add(room.min(step));
        room > 0
    }

    /// A round-trip time as the receiver sees it: from the echo of its own timestamp, or the time
    /// in which a window was filled. Only the least counts, as the sender may have paused.
    pub fn measured(&mut self, rtt_us: u32, from_timestamp: bool) {
        let rtt_us = rtt_us.max(1);
        self.rtt_us = match self.rtt_us {
            0 => rtt_us,
            old if from_timestamp => old - old / 8 + rtt_us / 8,
            old => old.min(rtt_us),
        };
    }

    /// The application has taken all up to `read`; `waiting` bytes lie behind holes. Once a round
    /// trip, the buffer is fitted.
    pub fn fit(&mut self, now: Time, read: u64, waiting: u64, settings: &TcpSettings) {
        let since_us = now.since(self.round_since).whole_us();
        if self.rtt_us == 0 || since_us < u64::from(self.rtt_us) {
            return;
        }
        let taken = read - self.round_from;
        if taken > self.taken_bytes {
            if settings.moderate_rcvbuf {
                // Twice what came, as this is known a round trip late; and as much more as the
                // sender has sped up since, twice.
                let mut window = 2 * taken;
                let faster = u128::from(window) * u128::from(taken - self.taken_bytes)
                    / u128::from(self.taken_bytes.max(1));
                window += (2 * faster).min(u128::from(u32::MAX)) as u64 + waiting;
                let buffer = window * 256 / u64::from(settings.window_256ths.max(1));
                self.buffer_bytes = self.buffer_bytes.max(buffer.min(settings.rmem.max.count()));
            }
            self.taken_bytes = taken;
        }
        self.round_from = read;
        self.round_since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::settings::Memory;
    use units::{Bytes, Span};

    /// Linux with its defaults and an MSS of 1460 opens with 64240 = 44 x 1460 and scale 10:
    /// 2^(15 + 10) = 32 MiB is tcp_rmem's maximum.
    #[test]
    fn the_first_window_is_linuxs() {
        let window = ReceiveWindow::new(&TcpSettings::default(), 1460);
        assert_eq!((window.told, window.scale), (64_240, 10));
    }

    #[test]
    fn the_window_grows_with_what_arrives_up_to_the_part_of_rmem_that_is_window() {
        let settings = TcpSettings {
            rmem: Memory { min: Bytes(4096), default: Bytes(131_072), max: Bytes(1 << 20) },
            ..TcpSettings::default()
        };
        let mut window = ReceiveWindow::new(&settings, 1448);
        window.begin(Time::ZERO, true);
        window.measured(10_000, true);
        let (mut now, mut nxt) = (Time::ZERO, 1u64);
        for _round in 0..30 {
            // The sender uses all of it, every 10 ms.
            let open = window.choose(nxt, 0, &settings);
            for _segment in 0..open / 1448 {
                nxt += 1448;
                window.segment_arrived(1448, 0, &settings);
            }
            now += Span::from_ms(10);
            window.fit(now, nxt, 0, &settings);
            window.tell(open, nxt, false);
        }
        assert_eq!(window.choose(nxt, 0, &settings), (1 << 20) / 2, "half of tcp_rmem's maximum");
    }

    /// RFC 9293 section 3.8.6.2.2: a window that is nearly shut stays shut until a segment fits.
    #[test]
    fn less_than_a_segment_is_not_told() {
        let settings = TcpSettings::default();
        let mut window = ReceiveWindow::new(&settings, 1460);
        window.begin(Time::ZERO, true);
        window.tell(0, 65_000, false);
        assert_eq!(window.choose(65_000, 65_536 - 1459, &settings), 0);
        assert!(window.choose(65_000, 65_536 - 1460, &settings) >= 1460);
    }
}
