//! A packet as the parser of a program sees it, and which headers could stand where it has stopped;
//! both ends are JSON.
//!
//! ```text
//!   {"main", "files", "port": 1, "frame": "02000a..."}
//!   {"layers": [{"name": "ipv4", "at": 14, "fields": [{"name": "ttl", "at": 176, "width": 8}]}],
//!    "error": null or "PacketTooShort",
//!    "offers": [{"at": 34, "layers": [{"name": "udp", "fields": [{"name", "width"}]}],
//!                "sets": [{"at": 184, "width": 8, "value": "11", "mask": "ff"}]}]}
//!   {"refused": why}
//! ```
//!
//! `at` counts bytes of the frame for headers, and its bits for fields and for values to set, so
//! that the parser takes that way. The parser itself answers, so the result is right whatever a
//! program does there.

use std::collections::BTreeMap;

use bmv2::{
    ExtractTarget, FieldRef, FieldWidth, Lookahead, ParseState, ParserOperation, Program,
    Transition, TransitionKey, TransitionMatch,
};
use device::TraceEvent;
use pipeline::Event;
use serde_json::{Value, json};
use stf::Switch;
use units::PortId;

use crate::testing::loaded;
use crate::texts::Texts;

/// The number of states without a header after which a parser is not followed any further.
const STATES_MAX: usize = 16;

/// The answer. Never panics, on any request.
pub fn answer(request: &[u8]) -> Value {
    let request: Value = serde_json::from_slice(request).unwrap_or_default();
    match dissected(&request) {
        Ok(told) => told,
        Err(why) => json!({"refused": why}),
    }
}

fn dissected(request: &Value) -> Result<Value, String> {
    let texts = Texts::in_value(request).ok_or("there is no program with a parser")?;
    let port = request["port"].as_u64().and_then(|port| u16::try_from(port).ok()).unwrap_or(0);
    let frame = bytes_of(request["frame"].as_str().unwrap_or_default())
        .ok_or("a packet is an even number of hexadecimal digits")?;
    let (program, pipeline) = loaded(&texts)?;
    let mut switch = Switch::new(pipeline);
    let steps = switch.send_traced(PortId(port), &frame);
    let first = steps.first().map(|step| step.packet);
    let own = steps.into_iter().filter(|step| Some(step.packet) == first);
    let events = own.filter_map(|step| match step.event {
        TraceEvent::Program(event) => Some(event),
        _ => None,
    });
    Ok(Dissection::of(&program, events).told())
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(pair, 16).ok()
        })
        .collect()
}

/// A header of the packet.
struct Layer {
    name: String,
    at: usize,
    length: usize,
}

/// Bits that lead the parser along a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set {
    at: usize,
    width: usize,
    value: Vec<u8>,
    mask: Vec<u8>,
}

/// Headers that could follow.
struct Offer {
    at: usize,
    layers: Vec<String>,
    sets: Vec<Set>,
}

/// A search for the headers that could follow a state.
#[derive(Default)]
struct Search<'p> {
    /// Where in the packet the next header begins.
    at: usize,
    offers: Vec<Offer>,
    /// The states that were followed, and by how many more states at most.
    visits: BTreeMap<&'p str, usize>,
    /// How many states have been followed.
    state_count: usize,
}

struct Dissection<'p> {
    program: &'p Program,
    layers: Vec<Layer>,
    error: Option<String>,
    /// The state that the parser was in last, and how many headers there were before it.
    last: Option<(&'p ParseState, usize)>,
    /// The last state that chose by the packet, and how many headers there were when it did.
    chosen: Option<(&'p ParseState, usize)>,
}

impl<'p> Dissection<'p> {
    fn of(program: &'p Program, events: impl Iterator<Item = Event>) -> Dissection<'p> {
        let mut found =
            Dissection { program, layers: Vec::new(), error: None, last: None, chosen: None };
        for event in events {
            match event {
                Event::ParserState { name } => {
                    found.choose();
                    found.last = found.state(&name).map(|state| (state, found.layers.len()));
                }
                Event::Extracted { header, length } => {
                    let at = found.end();
                    found.layers.push(Layer { name: header, at, length });
                }
                Event::ParserDone { error, .. } => {
                    // In these two the last state has come to its transition.
                    if ["NoError", "NoMatch"].contains(&error.as_str()) {
                        found.choose();
                    }
                    found.error = Some(error).filter(|error| error != "NoError");
                    break;
                }
                _ => {}
            }
        }
        found
    }

    fn choose(&mut self) {
        if let Some((state, _)) = self.last.take()
            && !state.transition_key.is_empty()
        {
            self.chosen = Some((state, self.layers.len()));
        }
    }

    fn end(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.at + layer.length)
    }

    fn state(&self, name: &str) -> Option<&'p ParseState> {
        self.program.parsers.first()?.parse_states.iter().find(|state| state.name == name)
    }

    // ---- what could follow ---------------------------------------------------------------------

    fn offers(&self) -> Vec<Offer> {
        let mut offers = Vec::new();
        if let Some((state, before)) = self.last {
            // It wanted more than there is: the rest of its headers.
            let done = self.layers.len() - before;
            let rest: Vec<String> = self.extracts(state).into_iter().skip(done).collect();
            if !rest.is_empty() {
                offers.push(Offer { at: self.end(), layers: rest, sets: Vec::new() });
            }
        }
        if let Some((state, count)) = self.chosen {
            let at = self.layers.get(..count).and_then(<[Layer]>::last);
            let at = at.map_or(0, |layer| layer.at + layer.length);
            let mut search = Search { at, offers, ..Search::default() };
            self.behind(state, &[], STATES_MAX, &mut search);
            offers = search.offers;
        }
        offers
    }

    /// The transitions of a state. They depend on the state alone, so it is followed again only
    /// where more steps are left.
    fn behind(&self, state: &'p ParseState, sets: &[Set], left: usize, search: &mut Search<'p>) {
        let before = search.visits.entry(&state.name).or_default();
        if left <= *before {
            return;
        }
        *before = left;
        search.state_count += 1;
        for Transition { matches, next_state } in &state.transitions {
            let next = next_state.as_deref().and_then(|name| self.state(name));
            let own = self.sets(state, matches, search.at);
            let (Some(next), Some(own)) = (next, own) else { continue };
            let sets = [sets, &own].concat();
            let layers = self.extracts(next);
            if layers.is_empty() {
                self.behind(next, &sets, left - 1, search);
            } else if !search.offers.iter().any(|offer| offer.layers == layers) {
                search.offers.push(Offer { at: search.at, layers, sets });
            }
        }
    }

    /// The headers that a state extracts.
    fn extracts(&self, state: &ParseState) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for operation in &state.operations {
            let (ParserOperation::Extract(target)
            | ParserOperation::ExtractVariable { target, .. }) = operation
            else {
                continue;
            };
            match target {
                ExtractTarget::Header(name) => found.push(name.clone()),
                ExtractTarget::Stack(stack) => {
                    let taken = |names: &mut dyn Iterator<Item = &String>| {
                        names.filter(|name| self.is_of_stack(name, stack)).count()
                    };
                    let index = taken(&mut self.layers.iter().map(|layer| &layer.name))
                        + taken(&mut found.iter());
                    found.extend(self.element(stack, index));
                }
                // Which of a union's members it is the program knows alone.
                ExtractTarget::UnionStack { .. } => {}
            }
        }
        found
    }

    fn elements<'s>(&'s self, stack: &str) -> impl Iterator<Item = &'p str> + 's {
        let stack = self.program.header_stacks.iter().find(|each| each.name == stack);
        let ids = stack.map_or(&[][..], |stack| &stack.header_ids);
        ids.iter().filter_map(|id| {
            let header = self.program.headers.iter().find(|header| header.id == *id)?;
            Some(header.name.as_str())
        })
    }

    fn element(&self, stack: &str, index: usize) -> Option<String> {
        self.elements(stack).nth(index).map(str::to_owned)
    }

    fn is_of_stack(&self, header: &str, stack: &str) -> bool {
        self.elements(stack).any(|name| name == header)
    }

    /// The values in the packet that this transition needs; nothing where it depends on something
    /// else.
    fn sets(&self, state: &ParseState, matches: &TransitionMatch, at: usize) -> Option<Vec<Set>> {
        let (value, mask) = match matches {
            TransitionMatch::Default => return Some(Vec::new()),
            TransitionMatch::Value { value, mask } => (value, mask),
            TransitionMatch::ValueSet { .. } => return None,
        };
        let mut sets = Vec::new();
        let mut from = 0;
        for key in &state.transition_key {
            let place = self.place(key, at);
            let width =
                place.map_or_else(|| self.width_elsewhere(key), |(_, width)| Some(width))?;
            let to = from + width.div_ceil(8);
            let value = value.get(from..to)?.to_vec();
            let mask = mask
                .as_ref()
                .map_or_else(|| Some(ones(width)), |mask| mask.get(from..to).map(<[u8]>::to_vec))?;
            from = to;
            if mask.iter().all(|byte| *byte == 0) {
                continue;
            }
            let (at, width) = place?;
            sets.push(Set { at, width, value, mask });
        }
        Some(sets)
    }

    /// Where in the packet the bits of a key are, and how many.
    fn place(&self, key: &TransitionKey, at: usize) -> Option<(usize, usize)> {
        match key {
            TransitionKey::Field(FieldRef { header, field }) => self.field(header, field),
            TransitionKey::Lookahead(Lookahead { offset_bits, width_bits }) => {
                Some((8 * at + *offset_bits as usize, *width_bits as usize))
            }
            TransitionKey::StackField { stack, field } => {
                let of_stack = |layer: &&Layer| self.is_of_stack(&layer.name, stack);
                let last = self.layers.iter().rev().find(of_stack)?;
                self.field(&last.name, field)
            }
            TransitionKey::UnionStackField { .. } => None,
        }
    }

    fn field(&self, header: &str, field: &str) -> Option<(usize, usize)> {
        let layer = self.layers.iter().rev().find(|layer| layer.name == header)?;
        let found = self.fields(layer).into_iter().find(|(name, ..)| *name == field);
        found.map(|(_, at, width)| (at, width))
    }

    /// The width of a field that is not in the packet.
    fn width_elsewhere(&self, key: &TransitionKey) -> Option<usize> {
        let TransitionKey::Field(FieldRef { header, field }) = key else { return None };
        let mut widths = self.widths(header);
        widths.find(|(name, _)| name == field).and_then(|(_, width)| width)
    }

    // ---- layout --------------------------------------------------------------------------------

    /// Names and widths of a header's fields; none for the one of variable length.
    fn widths(&self, header: &str) -> impl Iterator<Item = (&'p str, Option<usize>)> + use<'p> {
        let program = self.program;
        let kind = program.headers.iter().find(|each| each.name == header);
        let kind = kind.map(|header| header.header_type.as_str());
        let kind = program.header_types.iter().find(|each| Some(each.name.as_str()) == kind);
        kind.into_iter().flat_map(|kind| &kind.fields).map(|field| match field.width {
            FieldWidth::Bits(width) => (field.name.as_str(), Some(width as usize)),
            FieldWidth::Variable => (field.name.as_str(), None),
        })
    }

    /// Names of a header's fields, and where in the packet they are.
    fn fields(&self, layer: &Layer) -> Vec<(&'p str, usize, usize)> {
        let fixed: usize = self.widths(&layer.name).filter_map(|(_, width)| width).sum();
        let rest = (8 * layer.length).saturating_sub(fixed);
        let mut at = 8 * layer.at;
        let placed = self.widths(&layer.name).map(|(name, width)| {
            let width = width.unwrap_or(rest);
            at += width;
            (name, at - width, width)
        });
        placed.collect()
    }

    fn told(&self) -> Value {
        let layers = self.layers.iter().map(|layer| {
            let fields = self.fields(layer);
            let fields = fields.iter().filter(|(.., width)| *width > 0);
            let field = |(name, at, width): &(&str, usize, usize)| json!({"name": name, "at": at, "width": width});
            json!({"name": layer.name, "at": layer.at, "fields": fields.map(field).collect::<Value>()})
        });
        let offers = self.offers().into_iter().map(|offer| {
            let layers = offer.layers.iter().map(|name| {
                let fields = self.widths(name).filter_map(|(name, width)| Some((name, width?)));
                let fields: Value =
                    fields.map(|(name, width)| json!({"name": name, "width": width})).collect();
                json!({"name": name, "fields": fields})
            });
            let sets = offer.sets.iter().map(|set| {
                let (value, mask) = (digits(&set.value), digits(&set.mask));
                json!({"at": set.at, "width": set.width, "value": value, "mask": mask})
            });
            json!({
                "at": offer.at, "layers": layers.collect::<Value>(), "sets": sets.collect::<Value>(),
            })
        });
        json!({
            "layers": layers.collect::<Value>(), "error": self.error,
            "offers": offers.collect::<Value>(),
        })
    }
}

/// So many bits that count, in whole bytes.
fn ones(width: usize) -> Vec<u8> {
    let mut bytes = vec![0xff; width.div_ceil(8)];
    if let Some(first) = bytes.first_mut()
        && !width.is_multiple_of(8)
    {
        *first = (1 << (width % 8)) - 1;
    }
    bytes
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ethernet; behind it IPv4 with options, or up to two tags.
    const PARSER: &str = r"
        #include <core.p4>
        #include <v1model.p4>
        header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
        header tag_t { bit<4> level; bit<12> id; bit<16> type; }
        header ip_t { bit<4> version; bit<4> ihl; varbit<320> rest; }
        struct headers_t { ethernet_t ethernet; tag_t[2] tags; ip_t ip; }
        struct metadata_t {}
        parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard) {
            state start {
                packet.extract(hdr.ethernet);
                transition select(hdr.ethernet.type) {
                    0x8100 &&& 0xff00: tag;
                    0x0800: ip;
                    default: accept;
                }
            }
            state tag {
                packet.extract(hdr.tags.next);
                transition select(hdr.tags.last.level, hdr.tags.last.type) {
                    (_, 0x0800): ip;
                    (7, 0x8100): tag;
                }
            }
            state ip {
                packet.extract(hdr.ip, (bit<32>) (packet.lookahead<bit<8>>() & 15) * 32 - 8);
                transition accept;
            }
        }
        control checks(inout headers_t hdr, inout metadata_t meta) { apply {} }
        control work(inout headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard) { apply {} }
        control emit(packet_out packet, in headers_t hdr) { apply {} }
        V1Switch(parse(), checks(), work(), work(), checks(), emit()) main;";

    fn told(frame: &str) -> Value {
        let request = json!({"main": "a.p4", "files": {"a.p4": PARSER}, "port": 1, "frame": frame});
        answer(request.to_string().as_bytes())
    }

    fn names(list: &Value) -> Vec<String> {
        let list = list.as_array().expect("a list");
        list.iter().map(|each| each["name"].as_str().expect("a name").to_owned()).collect()
    }

    #[test]
    fn an_empty_packet_is_offered_what_the_parser_begins_with() {
        let told = told("");
        assert_eq!(told["error"], "PacketTooShort");
        assert_eq!(names(&told["offers"][0]["layers"]), ["ethernet"]);
        assert_eq!(told["offers"][0]["at"], 0);
    }

    #[test]
    fn what_could_follow_says_which_bits_lead_there() {
        let told = told("0000000000010000000000021234");
        assert_eq!(
            (names(&told["layers"]), &told["error"]),
            (vec!["ethernet".into()], &json!(null))
        );
        assert_eq!(told["layers"][0]["fields"][2], json!({"name": "type", "at": 96, "width": 16}));
        let offers = &told["offers"];
        assert_eq!(names(&offers[0]["layers"]), ["tags[0]"]);
        let sets = json!([{"at": 96, "width": 16, "value": "8100", "mask": "ff00"}]);
        assert_eq!((&offers[0]["sets"], &offers[0]["at"]), (&sets, &json!(14)));
        assert_eq!(names(&offers[1]["layers"]), ["ip"]);
    }

    #[test]
    fn a_choice_by_two_fields_sets_those_that_count() {
        let told = told("000000000001000000000002 8100 0005 0000".replace(' ', "").as_str());
        assert_eq!(names(&told["layers"]), ["ethernet", "tags[0]"]);
        let offers = &told["offers"];
        // Only the type counts for one, both fields for the other: a nibble is its own byte.
        assert_eq!(
            offers[0]["sets"],
            json!([{"at": 128, "width": 16, "value": "0800", "mask": "ffff"}])
        );
        assert_eq!(names(&offers[1]["layers"]), ["tags[1]"]);
        let level = json!({"at": 112, "width": 4, "value": "07", "mask": "0f"});
        assert_eq!(offers[1]["sets"][0], level);
    }

    #[test]
    fn a_field_of_variable_length_is_as_long_as_the_packet_says() {
        let told =
            told("0000000000010000000000020800 420000000000000099".replace(' ', "").as_str());
        let rest = json!({"name": "rest", "at": 120, "width": 56});
        assert_eq!(told["layers"][1]["fields"][2], rest);
        assert_eq!(told["error"], Value::Null);
    }

    /// Twelve states without a header, each of which leads to the next by two values: 4,096 ways.
    #[test]
    fn a_state_is_followed_once_however_many_ways_lead_there() {
        let states = (0..12).map(|state| {
            let next = if state == 11 { "found".to_owned() } else { format!("s{}", state + 1) };
            format!(
                "state s{state} {{ transition select(hdr.ethernet.src) {{
                     1: {next}; 2: {next}; default: accept; }} }}"
            )
        });
        let found = "state found { packet.extract(hdr.ip, 0); transition accept; }";
        let states = states.chain([found.to_owned()]).collect::<String>();
        let source = PARSER
            .replacen("0x0800: ip;", "0x0800: s0;", 1)
            .replace("state ip {", &format!("{states} state ip {{"));
        let request = json!({"main": "a.p4", "files": {"a.p4": source}});
        let texts = Texts::in_value(&request).expect("there is a program");
        let (program, _) = loaded(&texts).expect("it is loaded");
        let mut dissection = Dissection::of(&program, std::iter::empty());
        dissection.layers.push(Layer { name: "ethernet".to_owned(), at: 0, length: 14 });
        let start = dissection.state("start").expect("there is a first state");
        let mut search = Search { at: 14, ..Search::default() };
        dissection.behind(start, &[], STATES_MAX, &mut search);
        let first: Vec<&str> = search.offers.iter().map(|offer| &*offer.layers[0]).collect();
        assert_eq!(first, ["tags[0]", "ip"]);
        assert_eq!(search.state_count, 13, "the first state and the twelve");
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        assert!(told("0g")["refused"].is_string());
        assert!(told("000")["refused"].is_string());
        assert!(answer(b"[]")["refused"].is_string());
    }
}
