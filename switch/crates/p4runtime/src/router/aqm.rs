//! Active queue management and shares of the buffer, one message a kind.
//!
//! A method's message has its parameters as fields, so both directions follow from one row in
//! `methods!`: the field of each parameter. How a field is read and written follows from the
//! parameter's type ([`Field`]). Behind `told`, the row does the same for the method's state, which
//! is only ever written ([`Told`]).

use messages::vitrine::v1;
use traffic::{
    AqmConfig, AqmState, BufferShare, CodelConfig, DualPi2Config, EcnStepConfig, Limit, PieConfig,
    Probability, RedConfig, RedProfile, RedUnit,
};
use units::{Bytes, ClassId, Ratio, Span, Time};
use v1::aqm::Kind;

use super::Problem;
use super::limit::{limit_message, limit_of};
use super::parts::{problem, ratio_message, ratio_of, span};

const MILLION: u64 = 1_000_000;

/// A method's parameters as its message has them.
trait Method: Sized {
    type Config;

    /// Unset fields have their default values; mistakes are appended to the problems.
    fn read(&self, reading: &mut Reading<'_>) -> Self::Config;

    /// The message with every field set.
    fn write(config: &Self::Config) -> Self;
}

/// The place of mistakes, and those found until now.
struct Reading<'a> {
    place: &'a str,
    problems: &'a mut Vec<Problem>,
}

macro_rules! methods {
    ($($kind:ident($config:ident) $({ $($field:ident: $parameter:ident),* })?
        $(told $state:ident { $($shown:ident: $kept:ident),* })?;)*) => {
        /// The queue management of a message; `None` for a message with no kind.
        pub(super) fn aqm_of(
            aqm: &v1::Aqm,
            place: &str,
            problems: &mut Vec<Problem>,
        ) -> Option<AqmConfig> {
            let place = &format!("{place}, AQM");
            let reading = &mut Reading { place, problems };
            Some(match aqm.kind.as_ref()? {
                $(Kind::$kind(message) => AqmConfig::$kind(message.read(reading)),)*
            })
        }

        /// The message for a queue's management, every field set.
        pub(super) fn aqm_message(aqm: Option<&AqmConfig>) -> v1::Aqm {
            let kind = aqm.map(|aqm| match aqm {
                $(AqmConfig::$kind(config) => Kind::$kind(Method::write(config)),)*
            });
            v1::Aqm { kind }
        }

        /// The message for the state of a queue's management.
        pub(super) fn aqm_state_message(state: AqmState) -> v1::AqmState {
            let kind = match state {
                $($(AqmState::$kind(state) => v1::aqm_state::Kind::$kind(v1::$state {
                    $($shown: Told::told(&state.$kept),)*
                }),)?)*
            };
            v1::AqmState { kind: Some(kind) }
        }

        $($(impl Method for v1::$kind {
            type Config = $config;

            fn read(&self, reading: &mut Reading<'_>) -> $config {
                let usual = $config::default();
                $config {
                    $($parameter: match &self.$field {
                        Some(given) => Field::read(given, usual.$parameter, reading),
                        None => usual.$parameter,
                    },)*
                }
            }

            fn write(config: &$config) -> v1::$kind {
                v1::$kind { $($field: Some(Field::write(&config.$parameter)),)* }
            }
        })?)*
    };
}

methods! {
    Codel(CodelConfig) { target_ns: target, interval_ns: interval, mtu_bytes: mtu, ecn: ecn }
        told CodelState { count: count, next_drop_ps: next };
    Dualpi2(DualPi2Config) {
        l4s_class: l4s_class, target_ns: target, update_ns: update, alpha: alpha, beta: beta,
        coupling: coupling, l4s_min_ns: l4s_min, l4s_range_ns: l4s_range,
        l4s_queue_packets: l4s_queue
    } told Dualpi2State { base_ppb: base_ppb, delay_ns: delay };
    EcnStep(EcnStepConfig) { threshold: threshold };
    Pie(PieConfig) {
        target_ns: target, update_ns: update, burst_ns: burst, alpha: alpha, beta: beta,
        ecn_below_ppm: ecn_below, mean_packet_bytes: mean_packet, ecn: ecn
    } told PieState {
        probability_ppb: probability_ppb, delay_ns: delay, burst_left_ns: burst_left
    };
    // Its profiles are written out below.
    Red(RedConfig) told RedState { average_thousandths: average_thousandths };
}

impl Method for v1::Red {
    type Config = RedConfig;

    fn read(&self, reading: &mut Reading<'_>) -> RedConfig {
        let usual = RedConfig::default();
        let profiles: Vec<RedProfile> = (self.profiles.iter())
            .map(|profile| RedProfile {
                min: profile.min,
                max: profile.max,
                max_probability: Field::read(&profile.max_ppm, Probability::NEVER, reading),
            })
            .collect();
        let weight = self.weight_ppm.as_ref();
        RedConfig {
            unit: if self.in_bytes { RedUnit::Bytes } else { RedUnit::Packets },
            profiles: if profiles.is_empty() { usual.profiles } else { profiles },
            weight: weight.map_or(usual.weight, |ppm| Field::read(ppm, usual.weight, reading)),
            gentle: self.gentle.unwrap_or(usual.gentle),
            mean_packet: self.mean_packet_bytes.map_or(usual.mean_packet, Bytes),
            ecn: self.ecn.unwrap_or(usual.ecn),
        }
    }

    fn write(config: &RedConfig) -> v1::Red {
        let profiles = config.profiles.iter().map(|profile| v1::RedProfile {
            min: profile.min,
            max: profile.max,
            max_ppm: profile.max_probability.write(),
        });
        v1::Red {
            in_bytes: config.unit == RedUnit::Bytes,
            profiles: profiles.collect(),
            weight_ppm: Some(config.weight.write()),
            gentle: Some(config.gentle),
            mean_packet_bytes: Some(config.mean_packet.0),
            ecn: Some(config.ecn),
        }
    }
}

/// A part of a method's state as a field of a message; `Wire` is the field's type. Parts that are
/// parameters, too, are written as such.
trait Told<Wire> {
    fn told(&self) -> Wire;
}

impl<Wire, T: Field<Wire>> Told<Wire> for T {
    fn told(&self) -> Wire {
        self.write()
    }
}

impl Told<Option<u64>> for Option<Time> {
    fn told(&self) -> Option<u64> {
        self.map(Time::ps)
    }
}

/// A parameter as a field of a message; `Wire` is the field's type.
trait Field<Wire>: Sized {
    /// `usual` is the result where the field is wrong.
    fn read(wire: &Wire, usual: Self, reading: &mut Reading<'_>) -> Self;

    fn write(&self) -> Wire;
}

impl Field<bool> for bool {
    fn read(wire: &bool, _usual: bool, _reading: &mut Reading<'_>) -> bool {
        *wire
    }

    fn write(&self) -> bool {
        *self
    }
}

impl Field<u64> for u64 {
    fn read(wire: &u64, _usual: u64, _reading: &mut Reading<'_>) -> u64 {
        *wire
    }

    fn write(&self) -> u64 {
        *self
    }
}

impl Field<u64> for Bytes {
    fn read(wire: &u64, _usual: Bytes, _reading: &mut Reading<'_>) -> Bytes {
        Bytes(*wire)
    }

    fn write(&self) -> u64 {
        self.0
    }
}

impl Field<u64> for Span {
    fn read(wire: &u64, _usual: Span, _reading: &mut Reading<'_>) -> Span {
        span(*wire)
    }

    fn write(&self) -> u64 {
        self.whole_ns()
    }
}

impl Field<u64> for Probability {
    fn read(wire: &u64, usual: Probability, reading: &mut Reading<'_>) -> Probability {
        if *wire > MILLION {
            let found = format!("{wire} ppm");
            reading.problems.push(problem(reading.place, found, "certainty is 1,000,000 ppm"));
            return usual;
        }
        Probability::ppm(*wire)
    }

    /// Probabilities are binary fractions; the nearest million-th is what was written.
    fn write(&self) -> u64 {
        let always = Probability::ALWAYS.raw();
        (self.raw() * MILLION + always / 2) / always
    }
}

impl Field<u32> for ClassId {
    fn read(wire: &u32, usual: ClassId, reading: &mut Reading<'_>) -> ClassId {
        match u8::try_from(*wire) {
            Ok(class) => ClassId(class),
            Err(_) => {
                let found = format!("class {wire}");
                reading.problems.push(problem(reading.place, found, "classes are 0 to 7"));
                usual
            }
        }
    }

    fn write(&self) -> u32 {
        self.0.into()
    }
}

impl Field<v1::Limit> for Limit {
    fn read(wire: &v1::Limit, _usual: Limit, _reading: &mut Reading<'_>) -> Limit {
        limit_of(wire)
    }

    fn write(&self) -> v1::Limit {
        limit_message(self)
    }
}

impl Field<v1::Ratio> for Ratio {
    fn read(wire: &v1::Ratio, usual: Ratio, reading: &mut Reading<'_>) -> Ratio {
        ratio_of(wire, reading.place, reading.problems).unwrap_or(usual)
    }

    fn write(&self) -> v1::Ratio {
        ratio_message(*self)
    }
}

/// A queue's claim on the shared buffer.
pub(super) fn share_of(
    share: &v1::BufferShare,
    place: &str,
    problems: &mut Vec<Problem>,
) -> BufferShare {
    let place = format!("{place}, share");
    let alpha = share.alpha.as_ref().and_then(|alpha| ratio_of(alpha, &place, problems));
    BufferShare { alpha, minimum: Bytes(share.minimum_bytes) }
}

/// The message for a queue's claim on the shared buffer.
pub(super) fn share_message(share: &BufferShare) -> v1::BufferShare {
    v1::BufferShare { alpha: share.alpha.map(ratio_message), minimum_bytes: share.minimum.0 }
}

#[cfg(test)]
mod tests {
    use traffic::Parameter;

    use super::*;

    /// The method with every parameter different from its default.
    fn altered(name: &str) -> AqmConfig {
        let mut config = AqmConfig::named(name).expect("a name of the list");
        for (_, parameter) in config.parameters() {
            match parameter {
                Parameter::Bytes(it) => *it += Bytes(3),
                Parameter::Class(it) => it.0 += 1,
                Parameter::Count(it) => *it += 3,
                Parameter::Flag(it) => *it = !*it,
                Parameter::Limit(it) => *it = Limit::packets(3),
                Parameter::Ratio(it) => *it = Ratio::new(7, 3).expect("not zero"),
                Parameter::Share(it) => *it = Probability::ppm(333_333),
                Parameter::Span(it) => *it += Span::from_us(3),
            }
        }
        config
    }

    #[test]
    fn every_parameter_of_every_method_is_in_its_message() {
        for name in AqmConfig::NAMES {
            let config = altered(name);
            let mut problems = Vec::new();
            let read = aqm_of(&aqm_message(Some(&config)), "port 1", &mut problems);
            assert_eq!((read.as_ref(), problems.len()), (Some(&config), 0), "{name}");
        }
    }

    #[test]
    fn a_message_without_parameters_is_the_method_with_its_defaults() {
        let pie = v1::Aqm { kind: Some(Kind::Pie(v1::Pie::default())) };
        assert_eq!(aqm_of(&pie, "port 1", &mut Vec::new()), AqmConfig::named("pie"));
        assert_eq!(aqm_of(&v1::Aqm::default(), "port 1", &mut Vec::new()), None);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let ratio = v1::Ratio { over: 0, under: 1 };
        let pie =
            v1::Pie { alpha: Some(ratio), ecn_below_ppm: Some(MILLION + 1), ..v1::Pie::default() };
        let mut problems = Vec::new();
        let _useless = aqm_of(&v1::Aqm { kind: Some(Kind::Pie(pie)) }, "port 1", &mut problems);
        let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "port 1, AQM: the ratio 0/1; both parts of a ratio are above 0",
                "port 1, AQM: 1000001 ppm; certainty is 1,000,000 ppm",
            ]
        );
    }
}
