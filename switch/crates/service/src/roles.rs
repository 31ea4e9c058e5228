//! The roles that a controller's certificate lets it take.
//!
//! Where TLS is mutual, each organizational unit of the certificate's subject that begins with
//! `role:` names a role of P4Runtime: `/CN=collector/OU=role:stats/OU=role:meters`. `OU=role:` is
//! the default role, which may do everything. A certificate without such a unit lets its bearer
//! take any role.
//!
//! When it is read the certificate has been verified, so this is no parser of X.509: it walks to
//! the subject and reads that. Where it cannot, the bearer may take no role.

use std::collections::BTreeSet;

use p4runtime::{Code, Refusal};

/// How a unit begins that names a role.
const PREFIX: &str = "role:";

/// The attribute `organizationalUnitName`, 2.5.4.11 (X.520).
const ORGANIZATIONAL_UNIT: &[u8] = &[0x55, 0x04, 0x0b];

/// Tags of ASN.1 (X.690).
const INTEGER: u8 = 0x02;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const PRINTABLE_STRING: u8 = 0x13;
const IA5_STRING: u8 = 0x16;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;

/// Which roles a controller may take.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Roles {
    /// Nothing says which.
    Any,
    /// Those with these names.
    Named(BTreeSet<String>),
}

impl Roles {
    /// Those that a certificate names.
    pub fn of_certificate(der: &[u8]) -> Self {
        let Some(units) = units(der) else { return Self::Named(BTreeSet::new()) };
        let named = units.into_iter().filter_map(|unit| unit.strip_prefix(PREFIX));
        let named: BTreeSet<String> = named.map(str::to_owned).collect();
        if named.is_empty() { Self::Any } else { Self::Named(named) }
    }

    /// Refuses a role that is none of them.
    pub fn check(&self, role: &str) -> Result<(), Refusal> {
        self.check_for(role, &spoken(role))
    }

    /// Refuses a program if the default role is none of them: the program reserves objects for
    /// roles, so its loader decides what each role may do.
    pub fn check_program(&self) -> Result<(), Refusal> {
        self.check_for("", "loading a program needs the default role, which")
    }

    fn check_for(&self, role: &str, wanted: &str) -> Result<(), Refusal> {
        match self {
            Self::Named(names) if !names.contains(role) => {
                let names: Vec<String> = names.iter().map(|name| spoken(name)).collect();
                let names = match names.as_slice() {
                    [] => "none, because the units of its subject cannot be read".to_owned(),
                    names => names.join(", "),
                };
                let message = format!(
                    "{wanted} is not for this controller: its certificate lets it take {names}"
                );
                Err(Refusal::new(Code::PermissionDenied, message))
            }
            Self::Any | Self::Named(_) => Ok(()),
        }
    }
}

fn spoken(role: &str) -> String {
    if role.is_empty() { "the default role".to_owned() } else { format!("role `{role}`") }
}

/// The organizational units of a certificate's subject, which is a list of sets of pairs of a type
/// and a value. `None` if they cannot be read.
fn units(certificate: &[u8]) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut sets = subject(certificate)?;
    while !sets.is_empty() {
        let (mut pairs, other_sets) = expect(SET, sets)?;
        while !pairs.is_empty() {
            let (pair, other_pairs) = expect(SEQUENCE, pairs)?;
            let (kind, value) = expect(OBJECT_IDENTIFIER, pair)?;
            if kind == ORGANIZATIONAL_UNIT {
                found.push(text(value)?);
            }
            pairs = other_pairs;
        }
        sets = other_sets;
    }
    Some(found)
}

/// The content of a certificate's subject (RFC 5280, section 4.1).
fn subject(certificate: &[u8]) -> Option<&[u8]> {
    let (signed, _) = expect(SEQUENCE, certificate)?;
    let (mut rest, _) = expect(SEQUENCE, signed)?;
    if let Some((_, behind)) = expect(VERSION, rest) {
        rest = behind;
    }
    let (_serial, rest) = expect(INTEGER, rest)?;
    let (_algorithm, rest) = expect(SEQUENCE, rest)?;
    let (_issuer, rest) = expect(SEQUENCE, rest)?;
    let (_validity, rest) = expect(SEQUENCE, rest)?;
    expect(SEQUENCE, rest).map(|(subject, _)| subject)
}

/// A text of a kind in which each byte of ASCII stands for itself.
fn text(value: &[u8]) -> Option<&str> {
    let (tag, text, _) = element(value)?;
    let is_plain = matches!(tag, UTF8_STRING | PRINTABLE_STRING | IA5_STRING);
    std::str::from_utf8(text).ok().filter(|_| is_plain)
}

/// The content of an element with this tag, and what stands behind it.
fn expect(wanted: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = element(bytes)?;
    (tag == wanted).then_some((content, rest))
}

/// Tag and content of the first element, and what stands behind it (X.690, section 8.1).
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        // The length has as many bytes as the lower bits say; four are more than any certificate's.
        let count = usize::from(first & 0x7f);
        let (digits, rest) = rest.split_at_checked(count).filter(|_| count <= 4)?;
        (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An element of at most 127 bytes.
    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).unwrap();
        assert!(length < 0x80, "the long form has a test of its own");
        [&[tag, length], content].concat()
    }

    /// As much of a certificate as there is up to its subject, whose units these are.
    fn certificate(units: &[(u8, &str)]) -> Vec<u8> {
        let units = units.iter().map(|(tag, text)| {
            let kind = der(OBJECT_IDENTIFIER, ORGANIZATIONAL_UNIT);
            der(SET, &der(SEQUENCE, &[kind, der(*tag, text.as_bytes())].concat()))
        });
        let subject = units.collect::<Vec<_>>().concat();
        let before = [
            der(VERSION, &der(INTEGER, &[2])),
            der(INTEGER, &[1]),
            der(SEQUENCE, &[]),
            der(SEQUENCE, &[]),
            der(SEQUENCE, &[]),
        ];
        der(SEQUENCE, &der(SEQUENCE, &[before.concat(), der(SEQUENCE, &subject)].concat()))
    }

    fn named(names: &[&str]) -> Roles {
        Roles::Named(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn units_that_begin_with_role_name_roles() {
        let units =
            [(UTF8_STRING, "role:stats"), (PRINTABLE_STRING, "networks"), (IA5_STRING, "role:")];
        assert_eq!(Roles::of_certificate(&certificate(&units)), named(&["", "stats"]));
    }

    #[test]
    fn a_certificate_that_names_none_allows_any() {
        let roles = Roles::of_certificate(&certificate(&[(UTF8_STRING, "networks")]));
        assert_eq!(roles, Roles::Any);
        assert_eq!(roles.check("whatever"), Ok(()));
    }

    #[test]
    fn a_refusal_says_which_role_and_which_there_are() {
        let roles = named(&["meters", "stats"]);
        assert_eq!(roles.check("stats"), Ok(()));
        let refusal = roles.check("").unwrap_err();
        assert_eq!(refusal.code, Code::PermissionDenied);
        let said = "the default role is not for this controller: its certificate lets it take role \
                    `meters`, role `stats`";
        assert_eq!(refusal.message, said);
    }

    #[test]
    fn a_length_of_several_bytes_is_read() {
        let long = [&[SEQUENCE, 0x82, 0x01, 0x00][..], &[7; 256], &[9]].concat();
        assert_eq!(element(&long), Some((SEQUENCE, &[7; 256][..], &[9][..])));
    }

    #[test]
    fn only_who_may_take_the_default_role_loads_programs() {
        assert_eq!(Roles::Any.check_program(), Ok(()));
        assert_eq!(named(&["", "stats"]).check_program(), Ok(()));
        let said = "loading a program needs the default role, which is not for this controller: \
                    its certificate lets it take role `stats`";
        assert_eq!(named(&["stats"]).check_program().unwrap_err().message, said);
    }

    #[test]
    fn a_unit_that_cannot_be_read_lets_its_bearer_take_no_role() {
        // A BMPString: two bytes a character.
        let roles = Roles::of_certificate(&certificate(&[(0x1e, "\0r\0o\0l\0e\0:\0a")]));
        assert_eq!(roles, named(&[]));
        let said = "role `a` is not for this controller: its certificate lets it take none, \
                    because the units of its subject cannot be read";
        assert_eq!(roles.check("a").unwrap_err().message, said);
    }

    #[test]
    fn nor_does_a_certificate_that_is_cut_off_and_a_bent_one_is_read_without_a_panic() {
        let whole = certificate(&[(UTF8_STRING, "role:stats")]);
        for length in 0..whole.len() {
            assert_eq!(Roles::of_certificate(&whole[..length]), named(&[]), "{length} bytes");
        }
        for at in 0..whole.len() {
            for value in [0x00, 0x7f, 0x80, 0x84, 0xff] {
                let mut bent = whole.clone();
                bent[at] = value;
                let _whatever = Roles::of_certificate(&bent);
            }
        }
    }
}
