//! Entries that no packet has hit for their timeouts: found by sweeping over the tables now and
//! then, a few entries at a time. Specification: "Idle-timeout", "Table Idle Timeout Notification".

use std::sync::Arc;

use p4runtime::config::Config;
use p4runtime::report::Report;
use p4runtime::translate::table::{FoundEntry, TableQuery};
use pipeline::EntryId;
use units::{Span, Time};

use super::look::View;
use crate::reports::Reporter;

/// Time between the beginnings of two sweeps: an entry may be reported this much later than due.
pub(super) const SWEEP_INTERVAL: Span = Span::from_ms(100);

/// Entries in one notification; more make several.
const ENTRIES_PER_REPORT: usize = 1000;

/// One sweep over all tables whose entries can time out.
#[derive(Debug)]
pub(super) struct Sweep {
    /// P4Info's ids of the tables that are left, the next one last.
    tables: Vec<u32>,
    /// The next entry's number in it.
    at: u32,
    /// Idle entries of this table that are not reported yet.
    idle: Vec<FoundEntry>,
}

impl Sweep {
    /// A sweep that has not begun.
    pub fn new(view: &View<'_>) -> Self {
        let tables = view.forwarding.config.index.tables();
        let tables = tables.filter(|table| table.has_idle_timeout).map(|table| table.name.id);
        Self { tables: tables.collect(), at: 0, idle: Vec::new() }
    }

    /// Looks at up to `left` entries. `true`: the sweep has come to its end.
    pub fn go_on(
        &mut self,
        view: &mut View<'_>,
        left: &mut usize,
        reporter: &mut Reporter,
    ) -> bool {
        while let Some(table_id) = self.tables.last().copied() {
            let forwarding = view.forwarding;
            let (Ok(table), Ok(bound)) =
                (forwarding.config.index.table(table_id), forwarding.binding.table(table_id))
            else {
                return true;
            };
            while self.at < view.pipeline.table(bound.table).entry_numbers() {
                if *left == 0 {
                    return false;
                }
                *left -= 1;
                let id = EntryId(self.at);
                self.at += 1;
                if is_idle(view, bound.table, id) {
                    self.idle.extend(view.entry(table, bound, id, &TableQuery::default()));
                    // The clock of the entry starts again, so the next notice is one timeout away.
                    view.pipeline.table_mut(bound.table).touch(id, view.now);
                }
                if self.idle.len() == ENTRIES_PER_REPORT {
                    self.report(table_id, &forwarding.config, reporter);
                }
            }
            self.report(table_id, &forwarding.config, reporter);
            self.tables.pop();
            self.at = 0;
        }
        true
    }

    fn report(&mut self, table_id: u32, config: &Arc<Config>, reporter: &mut Reporter) {
        if !self.idle.is_empty() {
            let entries = std::mem::take(&mut self.idle);
            reporter.report(config, Report::IdleTimeout { table_id, entries });
        }
    }
}

fn is_idle(view: &View<'_>, table: usize, id: EntryId) -> bool {
    let loaded = &view.pipeline.table(table);
    let timeout = loaded.entry(id).ok().and_then(|entry| entry.idle_timeout);
    let last_hit = loaded.last_hit(id).unwrap_or(Time::ZERO);
    timeout.is_some_and(|timeout| view.now.since(last_hit) >= timeout)
}
