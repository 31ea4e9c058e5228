//! Lines as simple_switch writes them.

use std::fmt;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::clock::time_of_day;

/// `[hh:mm:ss.mmm] [bmv2] [L] [thread N] text`; the time is that of UTC.
pub struct Bmv2Lines;

impl<S, N> FormatEvent<S, N> for Bmv2Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let now = time_of_day();
        let (seconds, milliseconds) = (now.as_secs(), now.subsec_millis());
        let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
        let level = letter(*event.metadata().level());
        THREAD.with(|thread| {
            write!(
                writer,
                "[{hours:02}:{minutes:02}:{:02}.{milliseconds:03}] [bmv2] [{level}] \
                 [thread {thread}] ",
                seconds % 60
            )
        })?;
        context.field_format().format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

thread_local! {
    /// The kernel's number of this thread, as `ps -L` and `top -H` show it.
    static THREAD: String = std::fs::read_link("/proc/thread-self")
        .ok()
        .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_default();
}

fn letter(level: Level) -> char {
    match level {
        Level::ERROR => 'E',
        Level::WARN => 'W',
        Level::INFO => 'I',
        Level::DEBUG => 'D',
        Level::TRACE => 'T',
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Text that a test reads again.
    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no writer panics").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_has_the_parts_that_people_search_for() {
        let page = Page::default();
        let sink = page.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_writer(move || sink.clone())
            .event_format(Bmv2Lines)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::debug!("received {} bytes on port {}", 98, 1);
        });
        let line = String::from_utf8(page.0.lock().expect("no panic").clone()).expect("text");
        let parts: Vec<&str> = line.split("] ").collect();
        assert_eq!(parts.len(), 5, "{line}");
        // [13:01:22.507
        assert_eq!((parts[0].len(), &parts[0][3..4], &parts[0][9..10]), (13, ":", "."), "{line}");
        assert_eq!(parts[1..3], ["[bmv2", "[D"], "{line}");
        assert!(parts[3].starts_with("[thread "), "{line}");
        assert_eq!(parts[4], "received 98 bytes on port 1\n");
    }
}
