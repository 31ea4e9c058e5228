//! Reading timing scripts, line by line.

use units::{Span, Time};

use super::settings::Setting;
use super::{Action, Event, Script, ScriptError, Step};

pub(super) fn script(text: &str) -> Result<Script, ScriptError> {
    let mut script = Script { start: Vec::new(), steps: Vec::new(), expected: Vec::new() };
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        script.add(number, line).map_err(|message| ScriptError { line: number, message })?;
    }
    // Time never goes backwards; saying so here is kinder than a failure in the run.
    if let Some(pair) = script.steps.windows(2).find(|pair| pair[1].at < pair[0].at) {
        let message =
            format!("{} comes after {}; put the lines in order of time", pair[1].at, pair[0].at);
        return Err(ScriptError { line: pair[1].line, message });
    }
    Ok(script)
}

impl Script {
    fn add(&mut self, number: usize, line: &str) -> Result<(), String> {
        if let Some(rest) = line.strip_prefix("expect ") {
            self.expected.push(event(rest)?);
            return Ok(());
        }
        match line.split_once(": ") {
            None => self.start.push((number, Setting::read(line)?)),
            Some((at, rest)) => {
                let at = Time::ZERO + span(at)?;
                let action = action(rest.trim())?;
                self.steps.push(Step { line: number, at, action });
            }
        }
        Ok(())
    }
}

/// `send NAME LENGTH to CLASS`, or a setting.
fn action(text: &str) -> Result<Action, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["send", name, length, "to", class] => Ok(Action::Send {
            name: name.to_owned(),
            length: length.parse().map_err(|_| format!("`{length}` is no length in bytes"))?,
            class: class.parse().map_err(|_| format!("`{class}` is no class"))?,
        }),
        ["send", ..] => Err(format!("`{text}`: write `send NAME LENGTH to CLASS`")),
        _ => Setting::read(text).map(Action::Set),
    }
}

/// `INSTANT: NAME departs` or `INSTANT: NAME dropped REASON`.
fn event(text: &str) -> Result<Event, String> {
    let wrong =
        || format!("`{text}`: write `INSTANT: NAME departs` or `INSTANT: NAME dropped REASON`");
    let (at, rest) = text.split_once(": ").ok_or_else(wrong)?;
    let (name, fate) = rest.trim().split_once(' ').ok_or_else(wrong)?;
    if fate != "departs" && !fate.starts_with("dropped ") {
        return Err(wrong());
    }
    Ok(Event { at: Time::ZERO + span(at)?, name: name.to_owned(), fate: fate.to_owned() })
}

/// A decimal number and `ps`, `ns`, `us`, `ms` or `s`, exact to the picosecond.
pub(super) fn span(text: &str) -> Result<Span, String> {
    let text = text.trim();
    exact_span(text).ok_or_else(|| {
        format!("`{text}` is no time: write a number and ps, ns, us, ms or s, such as `51.2 ns`")
    })
}

fn exact_span(text: &str) -> Option<Span> {
    let (number, unit) = text.split_once(' ')?;
    let unit_ps: u64 = match unit.trim() {
        "ps" => 1,
        "ns" => 1_000,
        "us" => 1_000_000,
        "ms" => 1_000_000_000,
        "s" => 1_000_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut ps = whole.parse::<u64>().ok()?.checked_mul(unit_ps)?;
    let mut place_ps = unit_ps;
    for digit in fraction.chars() {
        if !place_ps.is_multiple_of(10) {
            return None;
        }
        place_ps /= 10;
        ps += u64::from(digit.to_digit(10)?) * place_ps;
    }
    Some(Span::from_ps(ps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_picosecond() {
        assert_eq!(span("51.2 ns"), Ok(Span::from_ps(51_200)));
        assert_eq!(span("1.000001 us"), Ok(Span::from_ps(1_000_001)));
        for text in ["1", "1 h", "1.5 ps", "-1 s", "x us"] {
            assert!(span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_wrong_line_is_named_with_its_number_and_what_to_write() {
        let wrong = |text| Script::read(text).expect_err("wrong").to_string();
        assert!(
            wrong("rate 1 Mb/s\n0 us: send a").starts_with("line 2: `send a`: write `send NAME")
        );
        assert!(wrong("colour red").starts_with("line 1: `colour red` is no setting"));
        assert!(
            wrong("2 us: send a 1 to 0\n1 us: send b 1 to 0")
                .starts_with("line 2: 1 us comes after")
        );
    }
}
