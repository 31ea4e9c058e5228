//! [`Names`]: the strings that controllers write for the values of a type, and their numbers.
//!
//! A program declares it with `@p4runtime_translation("", string)` before a `type`. The data plane
//! knows numbers only, so each string gets one when it is first written, and keeps it as long as
//! the program is loaded, and across RECONCILE_AND_COMMIT:
//!
//! 1. The program's own pairs, in `@p4runtime_translation_mappings({{"", 0}})`, stay so.
//! 2. A string that is a number, like "7", stands for that number while no other string has it.
//! 3. Any other string gets the smallest number above 0 that is free.
//!
//! A number that comes from a packet and has no string yet is written as a number: "7". The strings
//! of ports are only of the first two kinds: a number chosen here would be a port that is not there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bits::Int;
use messages::p4::config::v1 as config;
use prost::bytes::Bytes;
use units::memory::{Budget, Exhausted, Purpose, Share};

use crate::refusal::Refusal;

/// The most strings of one type.
const COUNT_MAX: usize = 1 << 16;
/// The longest string.
const SIZE_BYTES_MAX: usize = 1024;
/// The memory of a string beside its bytes, which are there twice.
const OVERHEAD_BYTES: usize = 256;
const MAPPINGS: &str = "@p4runtime_translation_mappings";

/// How a type that the program translates looks to controllers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Translation {
    /// A number that may have another width than in the data plane; here they are the same.
    Number,
    /// A string.
    Names(Arc<Names>),
}

/// The translations of a P4Info, by the names of their types.
pub type Translations = BTreeMap<String, Translation>;

/// The strings of one type.
#[derive(Debug)]
pub struct Names {
    type_name: String,
    /// Bits of the numbers, once the data plane's program is known.
    width_bits: OnceLock<usize>,
    /// Whether the numbers are those of ports.
    names_ports: OnceLock<()>,
    known: Mutex<Known>,
}

/// Both directions; every pair is in both.
#[derive(Debug, Default)]
struct Known {
    numbers: BTreeMap<String, Int>,
    strings: BTreeMap<Int, String>,
    /// No smaller number but 0 is free.
    next: u64,
    /// The memory of the controllers' strings.
    memory: Share,
}

/// P4Info's translated types.
pub fn translations(types: &config::P4TypeInfo) -> Result<Translations, Refusal> {
    use config::p4_new_type_spec::Representation;
    use config::p4_new_type_translation::SdnType;
    let mut found = Translations::new();
    for (name, new) in &types.new_types {
        let Some(Representation::TranslatedType(translated)) = &new.representation else {
            continue;
        };
        let translation = match translated.sdn_type {
            Some(SdnType::SdnString(_)) => {
                Translation::Names(Arc::new(Names::new(name, &new.annotations)?))
            }
            Some(SdnType::SdnBitwidth(_)) | None => Translation::Number,
        };
        found.insert(name.clone(), translation);
    }
    Ok(found)
}

impl Translation {
    /// The strings, where the type has some.
    pub fn names(this: Option<&Self>) -> Option<&Names> {
        match this {
            Some(Self::Names(names)) => Some(names),
            Some(Self::Number) | None => None,
        }
    }
}

/// A type is what its name says.
impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.type_name == other.type_name
    }
}

impl Eq for Names {}

impl Names {
    fn new(type_name: &str, annotations: &[String]) -> Result<Self, Refusal> {
        let mut known = Known { next: 1, ..Known::default() };
        let written = annotations.iter().filter_map(|it| it.strip_prefix(MAPPINGS));
        for text in written {
            let pairs = mappings(text).ok_or_else(|| {
                Refusal::invalid(format!(
                    "P4Info, type {type_name}: {MAPPINGS}{text} is no list of pairs like \
                     {{\"name\", 1}}"
                ))
            })?;
            for (string, number) in pairs {
                known.pair(type_name, string, number.into())?;
            }
        }
        Ok(Self {
            type_name: type_name.to_owned(),
            width_bits: OnceLock::new(),
            names_ports: OnceLock::new(),
            known: Mutex::new(known),
        })
    }

    /// The data plane's numbers have this many bits.
    pub(super) fn learn_width(&self, width_bits: usize) -> Result<(), Refusal> {
        let known = *self.width_bits.get_or_init(|| width_bits);
        if known == width_bits {
            return Ok(());
        }
        Err(Refusal::invalid(format!(
            "type {} has {known} bits in one place of p4_device_config and {width_bits} in another",
            self.type_name
        )))
    }

    /// Strings come out of this memory from now on, as entries do.
    fn learn_memory(&self, memory: Budget) {
        self.known().memory = memory.share(Purpose::Entries);
    }

    /// The numbers are those of ports.
    pub(super) fn learn_that_ports_are_named(&self) {
        self.names_ports.get_or_init(|| ());
    }

    /// The number of a string; one that is new gets its number now.
    pub fn number_of(&self, bytes: &[u8]) -> Result<Int, Refusal> {
        let what = || format!("type {}", self.type_name);
        let string = std::str::from_utf8(bytes).map_err(|_| {
            Refusal::invalid(format!("{} is written as a string, and this is not UTF-8", what()))
        })?;
        let mut known = self.known();
        if let Some(number) = known.numbers.get(string) {
            return Ok(number.clone());
        }
        if string.is_empty() || string.len() > SIZE_BYTES_MAX {
            return Err(Refusal::invalid(format!(
                "{} is written as a string of 1 to {SIZE_BYTES_MAX} bytes, and this one has {}",
                what(),
                string.len()
            )));
        }
        let width_bits = self.width_bits.get().copied().unwrap_or(0);
        let fits = |number: &Int| number.bit_length() <= width_bits;
        let own = own_number(string).filter(fits).filter(|it| !known.strings.contains_key(it));
        let number = match own {
            Some(number) => number,
            None if self.names_ports.get().is_some() => {
                return Err(Refusal::invalid(format!(
                    "{string:?} is no port: a port's string is its number, like \"1\", or what the \
                     program pairs with one by {MAPPINGS}"
                )));
            }
            None => known.next_free().filter(fits).ok_or_else(|| {
                Refusal::exhausted(format!(
                    "{string:?} gets no number: {}, which has {width_bits} bits, has {} strings",
                    what(),
                    known.numbers.len()
                ))
            })?,
        };
        known.insert(string.to_owned(), number.clone())?;
        Ok(number)
    }

    /// The string of a number.
    pub fn bytes_of(&self, number: &Int) -> Bytes {
        let mut known = self.known();
        if let Some(string) = known.strings.get(number) {
            return string.clone().into();
        }
        let string = number.to_string();
        if known.numbers.len() < COUNT_MAX {
            // Where there is no room for it, the number is as good.
            let _kept = known.insert(string.clone(), number.clone());
        }
        string.into()
    }

    /// Takes over the strings of the program before, of the same type.
    fn adopt(&self, older: &Names) -> Result<(), Refusal> {
        let older = older.known();
        let mut known = self.known();
        for (string, number) in &older.numbers {
            known.pair(&self.type_name, string.clone(), number.clone())?;
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All their strings come out of this memory from now on.
pub(super) fn bound(translations: &Translations, memory: Budget) {
    let all = translations.values().filter_map(|it| Translation::names(Some(it)));
    all.for_each(|names| names.learn_memory(memory));
}

/// The strings of the program before, for one that takes over its entries.
pub(super) fn adopt(new: &Translations, older: &Translations) -> Result<(), Refusal> {
    for (name, translation) in new {
        let before = Translation::names(older.get(name));
        if let (Some(names), Some(before)) = (Translation::names(Some(translation)), before) {
            names.adopt(before)?;
        }
    }
    Ok(())
}

impl Known {
    fn insert(&mut self, string: String, number: Int) -> Result<(), Exhausted> {
        self.memory.grow((2 * string.len() + OVERHEAD_BYTES) as u64)?;
        self.strings.insert(number.clone(), string.clone());
        self.numbers.insert(string, number);
        Ok(())
    }

    /// A pair that is given; refused where it contradicts another.
    fn pair(&mut self, type_name: &str, string: String, number: Int) -> Result<(), Refusal> {
        let same = |known: Option<&Int>| known.is_none_or(|known| *known == number);
        let free = self.strings.get(&number).is_none_or(|known| *known == string);
        if !same(self.numbers.get(&string)) || !free {
            return Err(Refusal::invalid(format!(
                "type {type_name}: {string:?} and {number} cannot be a pair: one of them has another"
            )));
        }
        Ok(self.insert(string, number)?)
    }

    fn next_free(&mut self) -> Option<Int> {
        if self.numbers.len() >= COUNT_MAX {
            return None;
        }
        while self.strings.contains_key(&Int::from(self.next)) {
            self.next += 1;
        }
        Some(Int::from(self.next))
    }
}

/// The number that a string is, written as [`Names::bytes_of`] writes it.
fn own_number(string: &str) -> Option<Int> {
    let number: u64 = string.parse().ok()?;
    (number.to_string() == string).then(|| number.into())
}

/// The pairs of `({ { "" , 0 } , { "default" , 1 } , })`.
fn mappings(text: &str) -> Option<Vec<(String, u64)>> {
    let mut rest = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut pairs = Vec::new();
    while let Some(start) = rest.find('"') {
        let (between, quoted) = rest.split_at(start);
        let (string, behind) = quoted[1..].split_once('"')?;
        let end = behind.find('}')?;
        let number = behind[..end].trim().strip_prefix(',')?.trim();
        let number = match number.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => number.parse(),
        };
        if string.contains('\\') || !is_punctuation(between) {
            return None;
        }
        pairs.push((string.to_owned(), number.ok()?));
        rest = &behind[end..];
    }
    is_punctuation(rest).then_some(pairs)
}

fn is_punctuation(text: &str) -> bool {
    text.chars().all(|it| it.is_whitespace() || "{},".contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(annotations: &[&str], width_bits: usize) -> Names {
        let annotations: Vec<_> = annotations.iter().map(|&it| it.to_owned()).collect();
        let names = Names::new("vrf_t", &annotations).unwrap();
        names.learn_width(width_bits).unwrap();
        names
    }

    fn number(names: &Names, string: &str) -> Result<u64, String> {
        let number = names.number_of(string.as_bytes()).map_err(|refusal| refusal.message)?;
        Ok(number.to_u64().unwrap())
    }

    #[test]
    fn strings_come_out_of_the_memory_for_entries_and_go_back_with_their_program() {
        // 14 MiB of them for entries, and all but 1000 bytes taken.
        let memory = Budget::new(units::Bytes(48 << 20), units::Bytes(0));
        let all = memory.limit(Purpose::Entries).0;
        let others = memory.take(Purpose::Entries, all - 1000);
        let names = names(&[], 10);
        names.learn_memory(memory);
        assert_eq!((number(&names, "red"), number(&names, "blue")), (Ok(1), Ok(2)));
        let refused = number(&names, &"x".repeat(300)).expect_err("there is no room");
        assert!(refused.contains("no memory is left for entries"), "{refused}");
        // Known ones stay so, and numbers of packets are written nevertheless.
        assert_eq!(number(&names, "red"), Ok(1));
        assert_eq!(names.bytes_of(&Int::from(700_u64)), "700");
        drop((others, names));
        assert_eq!(memory.taken(Purpose::Entries).0, 0);
    }

    #[test]
    fn a_string_keeps_its_number_and_comes_back() {
        let names = names(&[], 10);
        assert_eq!((number(&names, "red"), number(&names, "blue")), (Ok(1), Ok(2)));
        assert_eq!(number(&names, "red"), Ok(1));
        assert_eq!(names.bytes_of(&Int::from(2)), "blue");
    }

    #[test]
    fn a_string_that_is_a_number_stands_for_it_while_it_is_free() {
        let names = names(&[], 3);
        assert_eq!((number(&names, "7"), number(&names, "red")), (Ok(7), Ok(1)));
        // 1 is taken, "02" is not how 2 is written, and 8 does not fit 3 bits.
        assert_eq!(number(&names, "1"), Ok(2));
        assert_eq!(number(&names, "02"), Ok(3));
        assert_eq!(number(&names, "8"), Ok(4));
    }

    #[test]
    fn a_number_from_a_packet_has_its_own_string_from_then_on() {
        let names = names(&[], 10);
        assert_eq!(names.bytes_of(&Int::from(1)), "1");
        assert_eq!((number(&names, "red"), number(&names, "1")), (Ok(2), Ok(1)));
    }

    #[test]
    fn the_programs_own_pairs_come_first() {
        let pairs = r#"@p4runtime_translation_mappings({ { "" , 0 } , { "red" , 0x3 } , })"#;
        let names = names(&[pairs], 10);
        assert_eq!((number(&names, ""), number(&names, "red")), (Ok(0), Ok(3)));
        assert_eq!(names.bytes_of(&Int::zero()), "");
        for wrong in [r#"({ { "red" } })"#, r#"({ { "red" , x } })"#, r#"({ "a", 1 }, x)"#] {
            let annotation = format!("@p4runtime_translation_mappings{wrong}");
            assert!(Names::new("vrf_t", &[annotation]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn when_all_numbers_are_taken_the_next_string_is_refused() {
        let names = names(&[], 2);
        for (string, expected) in [("a", 1), ("b", 2), ("c", 3)] {
            assert_eq!(number(&names, string), Ok(expected));
        }
        let refusal = names.number_of(b"d").unwrap_err();
        assert_eq!(refusal.code, crate::code::Code::ResourceExhausted);
        assert!(refusal.message.contains("2 bits, has 3 strings"), "{}", refusal.message);
    }

    #[test]
    fn empty_and_broken_strings_and_ports_without_a_number_are_refused() {
        let names = names(&[], 9);
        assert!(number(&names, "").unwrap_err().contains("this one has 0"));
        assert!(names.number_of(b"\xff").unwrap_err().message.contains("not UTF-8"));
        names.learn_that_ports_are_named();
        assert_eq!(number(&names, "3"), Ok(3));
        assert!(number(&names, "Ethernet0").unwrap_err().contains("is no port"));
    }

    #[test]
    fn a_program_that_takes_over_has_the_strings_of_the_one_before() {
        let (older, new) = (names(&[], 10), names(&[], 10));
        assert_eq!((number(&older, "red"), number(&older, "blue")), (Ok(1), Ok(2)));
        new.adopt(&older).unwrap();
        assert_eq!((number(&new, "blue"), number(&new, "green")), (Ok(2), Ok(3)));
        let other = names(&[r#"@p4runtime_translation_mappings({ { "red" , 5 } })"#], 10);
        assert!(other.adopt(&older).unwrap_err().message.contains("cannot be a pair"));
    }
}
