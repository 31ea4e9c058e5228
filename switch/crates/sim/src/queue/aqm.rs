//! `--aqm`: active queue management in a word and its parameters.
//!
//! Methods and parameters have the names of topology files; a parameter's value has its unit behind
//! it: `codel:target=5ms:interval=100ms`.

use std::str::FromStr;

use traffic::{AqmConfig, Limit, Parameter, Probability};
use units::{Bytes, ClassId, Ratio, Span};

use super::words;
use crate::outside::Class;

/// An AQM as it was written, and as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aqm {
    name: String,
    config: Option<AqmConfig>,
    class: Option<Class>,
}

impl Aqm {
    /// As it was written.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The Python class, if it is one.
    pub fn class(&self) -> Option<&Class> {
        self.class.as_ref()
    }

    /// The configuration of a queue.
    pub fn config(&self) -> Option<AqmConfig> {
        self.config.clone()
    }
}

impl FromStr for Aqm {
    type Err = String;

    fn from_str(text: &str) -> Result<Aqm, String> {
        let mut words = text.split(':');
        let name = words.next().unwrap_or_default();
        if text == "none" {
            return Ok(Aqm { name: text.to_owned(), config: None, class: None });
        }
        if let Some((class, None)) = Class::parse(text) {
            return Ok(Aqm { name: text.to_owned(), config: None, class: Some(class) });
        }
        let mut config = AqmConfig::named(name).ok_or_else(|| {
            format!(
                "`{name}` is unknown; there are none, {}, or FILE.py:CLASS",
                AqmConfig::NAMES.join(", ")
            )
        })?;
        for word in words {
            set(&mut config, name, word)?;
        }
        Ok(Aqm { name: text.to_owned(), config: Some(config), class: None })
    }
}

/// Sets one parameter, `target=5ms`.
fn set(config: &mut AqmConfig, method: &str, word: &str) -> Result<(), String> {
    let mut parameters = config.parameters();
    let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
    let there_are = format!("{method} has {}", names.join(", "));
    let (name, value) = word.split_once('=').ok_or_else(|| {
        format!("`{word}` is no parameter; write it as {}=VALUE; {there_are}", names[0])
    })?;
    let at = names.iter().position(|known| *known == name);
    let at = at.ok_or_else(|| format!("`{name}` is unknown; {there_are}"))?;
    let (_, parameter) = parameters.swap_remove(at);
    read(parameter, value).ok_or_else(|| {
        let example = match config.parameters().swap_remove(at).1 {
            Parameter::Bytes(_) => "1514B",
            Parameter::Class(_) | Parameter::Count(_) => "1",
            Parameter::Flag(_) => "yes or no",
            Parameter::Limit(_) => "20 for packets or 30000B",
            Parameter::Ratio(_) => "2 or 1/8",
            Parameter::Share(_) => "10% or 20000ppm",
            Parameter::Span(_) => "5ms",
        };
        format!("`{word}`: `{value}` does not fit; write it as {example}")
    })
}

fn read(parameter: Parameter<'_>, text: &str) -> Option<()> {
    match parameter {
        Parameter::Bytes(it) => *it = Bytes(text.strip_suffix('B')?.parse().ok()?),
        Parameter::Class(it) => *it = ClassId(text.parse().ok()?),
        Parameter::Count(it) => *it = text.parse().ok()?,
        Parameter::Flag(it) => *it = flag(text)?,
        Parameter::Limit(it) => {
            *it = words::limit(text).ok().filter(|limit| *limit != Limit::NONE)?;
        }
        Parameter::Ratio(it) => {
            let (over, under) = text.split_once('/').unwrap_or((text, "1"));
            *it = Ratio::new(over.parse().ok()?, under.parse().ok()?)?;
        }
        Parameter::Share(it) => *it = share(text)?,
        Parameter::Span(it) => *it = span(text)?,
    }
    Some(())
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn share(text: &str) -> Option<Probability> {
    let (number, whole) = match text.strip_suffix('%') {
        Some(percent) => (percent, 100),
        None => (text.strip_suffix("ppm")?, 1_000_000),
    };
    let parts = number.parse().ok().filter(|parts| *parts <= whole)?;
    Probability::ratio(parts, whole)
}

fn span(text: &str) -> Option<Span> {
    let number_of = |unit| text.strip_suffix(unit)?.parse::<u64>().ok();
    // Every unit ends in `s`, but behind the number of seconds there is no other letter.
    (number_of("ns").map(Span::from_ns))
        .or_else(|| number_of("us").map(Span::from_us))
        .or_else(|| number_of("ms").map(Span::from_ms))
        .or_else(|| number_of("s").map(Span::from_secs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_read_by_the_names_of_topology_files() {
        for name in AqmConfig::NAMES {
            let aqm: Aqm = name.parse().expect("a name of the list");
            assert_eq!(aqm.config(), AqmConfig::named(name));
        }
        assert_eq!("none".parse::<Aqm>().map(|aqm| aqm.config()), Ok(None));
    }

    #[test]
    fn a_parameter_has_its_unit_behind_it() {
        let Some(AqmConfig::Codel(codel)) =
            "codel:target=1ms:interval=20ms:mtu=9000B:ecn=no".parse::<Aqm>().unwrap().config()
        else {
            panic!("it is CoDel");
        };
        assert_eq!((codel.target, codel.interval), (Span::from_ms(1), Span::from_ms(20)));
        assert_eq!((codel.mtu, codel.ecn), (Bytes(9000), false));
        let Some(AqmConfig::Red(red)) =
            "red:min=5:max=15:probability=10%".parse::<Aqm>().unwrap().config()
        else {
            panic!("it is RED");
        };
        assert_eq!((red.profiles[0].min, red.profiles[0].max), (5, 15));
        assert_eq!(Some(red.profiles[0].max_probability), Probability::ratio(1, 10));
    }

    #[test]
    fn what_is_wrong_is_told_with_what_there_is() {
        for (text, complaint) in [
            ("blue", "`blue` is unknown; there are none, codel"),
            ("codel:5", "`5` is no parameter; write it as target=VALUE"),
            ("pie:speed=5ms", "`speed` is unknown; pie has target"),
            ("pie:target=5", "`target=5`: `5` does not fit; write it as 5ms"),
            ("ecn_step:threshold=none", "write it as 20 for packets"),
        ] {
            let found = text.parse::<Aqm>().expect_err(text);
            assert!(found.contains(complaint), "{found}");
        }
    }
}
