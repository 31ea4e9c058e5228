//! `--aqm`: active queue management in a word and a few numbers.

use std::str::FromStr;

use traffic::{AqmConfig, CodelConfig, Limit, PieConfig, Probability, RedConfig, RedProfile};
use units::Span;

/// An AQM as it was written, and as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aqm {
    name: String,
    config: Option<AqmConfig>,
}

impl Aqm {
    /// As it was written.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a queue is configured with.
    pub fn config(&self) -> Option<AqmConfig> {
        self.config.clone()
    }
}

impl FromStr for Aqm {
    type Err = String;

    fn from_str(text: &str) -> Result<Aqm, String> {
        let unknown = || {
            format!(
                "`{text}` is unknown; use none, codel[:TARGET_MS:INTERVAL_MS], pie[:TARGET_MS], \
                 red[:MIN:MAX:PERCENT] or ecn:PACKETS"
            )
        };
        let mut words = text.split(':');
        let name = words.next().unwrap_or_default();
        let numbers: Vec<u64> =
            words.map(str::parse).collect::<Result<_, _>>().map_err(|_| unknown())?;
        let config = match (name, &numbers[..]) {
            ("none", []) => None,
            ("codel", []) => Some(AqmConfig::Codel(CodelConfig::default())),
            ("codel", [target, interval]) => Some(AqmConfig::Codel(CodelConfig {
                target: Span::from_ms(*target),
                interval: Span::from_ms(*interval),
                ..CodelConfig::default()
            })),
            ("pie", []) => Some(AqmConfig::Pie(PieConfig::default())),
            ("pie", [target]) => {
                let target = Span::from_ms(*target);
                Some(AqmConfig::Pie(PieConfig { target, ..PieConfig::default() }))
            }
            ("red", []) => Some(AqmConfig::Red(RedConfig::default())),
            ("red", [min, max, percent]) => {
                let max_probability = Probability::ratio(*percent, 100).unwrap_or_default();
                let profiles = vec![RedProfile { min: *min, max: *max, max_probability }];
                Some(AqmConfig::Red(RedConfig { profiles, ..RedConfig::default() }))
            }
            ("ecn", [packets]) => Some(AqmConfig::EcnStep { threshold: Limit::packets(*packets) }),
            _ => return Err(unknown()),
        };
        Ok(Aqm { name: text.to_owned(), config })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_read_with_and_without_its_numbers() {
        for text in ["none", "codel", "codel:1:20", "pie", "pie:5", "red", "red:5:15:10", "ecn:20"]
        {
            assert_eq!(text.parse::<Aqm>().map(|aqm| aqm.name), Ok(text.to_owned()));
        }
        for text in ["", "codel:5", "red:5", "ecn", "blue", "pie:soon"] {
            assert!(text.parse::<Aqm>().is_err(), "{text}");
        }
    }
}
