//! Patterns for names of network devices.

use std::str::FromStr;

/// A name in which `*` stands for any letters and `?` for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<char>);

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        match text {
            "" => Err("an empty pattern fits no device: write s1-eth*, or * for all".to_owned()),
            _ => Ok(Pattern(text.chars().collect())),
        }
    }
}

impl Pattern {
    /// Whether a device is called so.
    pub fn fits(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        fits(&self.0, &name)
    }
}

/// Device names have at most 15 letters, so trying every split is quick.
fn fits(pattern: &[char], name: &[char]) -> bool {
    match (pattern, name) {
        ([], rest) => rest.is_empty(),
        (['*', more @ ..], rest) => (0..=rest.len()).any(|from| fits(more, &rest[from..])),
        (['?', more @ ..], [_, rest @ ..]) => fits(more, rest),
        ([letter, more @ ..], [first, rest @ ..]) => letter == first && fits(more, rest),
        (_, []) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_names_and_not_more() {
        let fits = |pattern: &str, name| pattern.parse::<Pattern>().expect("a pattern").fits(name);
        assert!(fits("s1-eth*", "s1-eth12") && fits("s1-eth*", "s1-eth") && fits("*", "lo"));
        assert!(fits("s?-eth1", "s2-eth1") && fits("*-*1", "a-b-1"));
        assert!(!fits("s1-eth*", "s10-eth1") && !fits("s?-eth1", "s12-eth1") && !fits("lo", "lo0"));
        assert!("".parse::<Pattern>().is_err());
    }
}
