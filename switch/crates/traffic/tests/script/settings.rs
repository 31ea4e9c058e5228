//! The settings of a timing script: a word for each setting of a port.

use traffic::{
    AqmConfig, CodelConfig, Discipline, GroupConfig, Limit, NodeConfig, NodeKind, PortConfig,
    QueueConfig, SchedulerConfig, ShaperConfig,
};
use units::{Bytes, ClassId, PacketRate, Rate};

/// One setting, ready to be applied.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    words: Vec<String>,
}

/// The words of a timing script, for error messages; tests/timing/README.md explains them.
const SETTINGS: &str = "classes, rate, overhead, strict, drr, wrr, wfq, group, node, limit, \
                        shaper, queue N limit, queue N shaper or queue N codel";

impl Setting {
    /// Checks that it is a setting at all; its values are checked when it is applied.
    pub fn read(text: &str) -> Result<Setting, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let setting = Setting { words };
        // Applied to a port with all classes, so that only the words can be wrong.
        setting.apply(&mut PortConfig::strict(None, 8))?;
        Ok(setting)
    }

    /// Changes the port's configuration.
    pub fn apply(&self, port: &mut PortConfig) -> Result<(), String> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        match words[..] {
            ["classes", count] => {
                let count = number(count)? as usize;
                port.queues
                    .resize(count, QueueConfig { limit: Limit::NONE, ..QueueConfig::default() });
                port.queues.iter_mut().for_each(|queue| queue.limit = Limit::NONE);
                port.scheduler = SchedulerConfig::strict(count);
            }
            ["rate", "none"] => port.line_rate = None,
            ["rate", value, unit] => port.line_rate = Some(rate(value, unit)?),
            ["overhead", bytes] => port.overhead = Bytes(number(bytes)?),
            ["strict"] => port.scheduler = SchedulerConfig::strict(port.queues.len()),
            ["drr", quantum, ref weights @ ..] => {
                let quantum = Bytes(number(quantum)?);
                port.scheduler =
                    SchedulerConfig::shared(Discipline::Drr { quantum }, &numbers(weights)?);
            }
            ["wrr", ref weights @ ..] => {
                port.scheduler = SchedulerConfig::shared(Discipline::Wrr, &numbers(weights)?);
            }
            ["wfq", ref weights @ ..] => {
                port.scheduler = SchedulerConfig::shared(Discipline::Wfq, &numbers(weights)?);
            }
            ["group", ref rest @ ..] => add_group(port, rest)?,
            ["node", ref rest @ ..] => add_node(port, rest)?,
            ["limit", ref rest @ ..] => port.limit = limit(rest)?,
            ["shaper", ref rest @ ..] => port.shaper = shaper(rest)?,
            ["queue", class, ref rest @ ..] => {
                let class = number(class)? as usize;
                let queue =
                    port.queues.get_mut(class).ok_or(format!("there is no queue {class}"))?;
                self.apply_to_queue(queue, rest)?;
            }
            _ => return Err(self.unknown()),
        }
        Ok(())
    }

    fn apply_to_queue(&self, queue: &mut QueueConfig, words: &[&str]) -> Result<(), String> {
        match words {
            ["limit", rest @ ..] => queue.limit = limit(rest)?,
            ["shaper", rest @ ..] => queue.shaper = shaper(rest)?,
            ["codel"] => queue.aqm = Some(AqmConfig::Codel(CodelConfig::default())),
            _ => return Err(self.unknown()),
        }
        Ok(())
    }

    fn unknown(&self) -> String {
        format!("`{}` is no setting; use {SETTINGS}", self.words.join(" "))
    }
}

/// `group strict CLASS`, `group drr QUANTUM CLASS:WEIGHT...`, `group wrr|wfq CLASS:WEIGHT...`: one
/// more group behind those before. The first `group` line replaces what held before.
fn add_group(port: &mut PortConfig, words: &[&str]) -> Result<(), String> {
    let (discipline, members) = match words {
        ["strict", class] => (Discipline::Wrr, vec![(number(class)? as u8, 1)]),
        ["drr", quantum, rest @ ..] => {
            (Discipline::Drr { quantum: Bytes(number(quantum)?) }, members(rest)?)
        }
        ["wrr", rest @ ..] => (Discipline::Wrr, members(rest)?),
        ["wfq", rest @ ..] => (Discipline::Wfq, members(rest)?),
        _ => return Err("write `group strict CLASS` or `group drr|wrr|wfq ...`".to_owned()),
    };
    let group = GroupConfig::new(discipline, &members);
    let class_count = port.queues.len();
    match &mut port.scheduler {
        // A scheduler that already has all classes is not one that is being written.
        SchedulerConfig::Groups(groups) if member_count(groups) < class_count => groups.push(group),
        scheduler => *scheduler = SchedulerConfig::Groups(vec![group]),
    }
    Ok(())
}

fn member_count(groups: &[GroupConfig]) -> usize {
    groups.iter().map(|group| group.members.len()).sum()
}

fn members(words: &[&str]) -> Result<Vec<(u8, u32)>, String> {
    let member = |word: &&str| {
        let (class, weight) =
            word.split_once(':').ok_or_else(|| format!("`{word}`: write CLASS:WEIGHT"))?;
        Ok((number(class)? as u8, number(weight)? as u32))
    };
    words.iter().map(member).collect()
}

/// `node root RATE UNIT CEIL UNIT`, then `node NAME RATE UNIT CEIL UNIT class CLASS priority
/// PRIORITY quantum BYTES` for each leaf below it.
fn add_node(port: &mut PortConfig, words: &[&str]) -> Result<(), String> {
    let usage = || {
        "write `node root RATE CEIL` or `node NAME RATE CEIL class CLASS priority PRIORITY quantum \
         BYTES`, rates with their units"
            .to_owned()
    };
    let [name, rate_value, rate_unit, ceil_value, ceil_unit, rest @ ..] = words else {
        return Err(usage());
    };
    let (node_rate, ceil) = (rate(rate_value, rate_unit)?, rate(ceil_value, ceil_unit)?);
    match rest {
        [] => {
            let root = NodeConfig::inner(name, node_rate, ceil, Vec::new());
            port.scheduler = SchedulerConfig::Hierarchy(root);
        }
        ["class", class, "priority", priority, "quantum", quantum] => {
            let mut leaf = NodeConfig::leaf(name, 0, node_rate, ceil);
            leaf.kind = NodeKind::Leaf {
                class: ClassId(number(class)? as u8),
                priority: number(priority)? as u8,
                quantum: Bytes(number(quantum)?),
            };
            if let SchedulerConfig::Hierarchy(root) = &mut port.scheduler
                && let NodeKind::Inner(children) = &mut root.kind
            {
                children.push(leaf);
            }
        }
        _ => return Err(usage()),
    }
    Ok(())
}

/// `none`, `N packets` or `N bytes`.
fn limit(words: &[&str]) -> Result<Limit, String> {
    match words {
        ["none"] => Ok(Limit::NONE),
        [count, "packets"] => Ok(Limit::packets(number(count)?)),
        [count, "bytes"] => Ok(Limit::bytes(Bytes(number(count)?))),
        _ => Err("write `limit N packets`, `limit N bytes` or `limit none`".to_owned()),
    }
}

/// `none`, `RATE UNIT burst BYTES` or `N pps burst PACKETS`.
fn shaper(words: &[&str]) -> Result<Option<ShaperConfig>, String> {
    match words {
        ["none"] => Ok(None),
        [pps, "pps", "burst", burst] => {
            let rate = PacketRate::from_pps(number(pps)?).ok_or("0 pps never sends")?;
            let burst = number(burst)? as u32;
            Ok(Some(ShaperConfig::Packets { rate, burst, catches_up: false }))
        }
        [value, unit, "burst", burst] => {
            Ok(Some(ShaperConfig::Bits { rate: rate(value, unit)?, burst: Bytes(number(burst)?) }))
        }
        _ => Err("write `shaper RATE burst BYTES`, `shaper N pps burst PACKETS` or `shaper none`"
            .to_owned()),
    }
}

fn rate(value: &str, unit: &str) -> Result<Rate, String> {
    format!("{value} {unit}").parse().map_err(|error: units::ParseRateError| error.to_string())
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no whole number"))
}

fn numbers(words: &[&str]) -> Result<Vec<u32>, String> {
    words.iter().map(|word| number(word).map(|number| number as u32)).collect()
}
