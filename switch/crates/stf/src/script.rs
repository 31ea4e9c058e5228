//! STF text to statements. One statement a line; `#` starts a comment.
//!
//! ```text
//! add TABLE [PRIORITY] KEY:VALUE ... ACTION(NAME:VALUE, ...)
//! add TABLE [PRIORITY] KEY:VALUE ... member=ID|group=ID
//! member PROFILE ID ACTION [NAME=VALUE ...]          group PROFILE ID MEMBER...
//! setdefault TABLE ACTION(NAME:VALUE, ...)
//! remove all
//! packet PORT HEX...
//! expect PORT [HEX... [$]]        `*` stands for any digit, `$` for the end of the packet
//! no_packet
//! wait
//! check_counter NAME(INDEX) [packets|bytes OPERATOR NUMBER]
//! check_register NAME(INDEX) VALUE
//! mirroring_add SESSION PORT      mirroring_add_mc SESSION GROUP     mirroring_delete SESSION
//! mc_mgrp_create GROUP            mc_node_create RID PORT...         mc_node_associate GROUP NODE
//! counter_read|counter_write|register_read|register_write|register_reset|meter_set_rates ...
//! ```
//!
//! Names of tables, keys, actions and parameters may stand in double quotes, which those need that
//! have a space or a parenthesis in them, or a colon outside of brackets: `"(h.a ++ h.b)":0x0a0002`.
//! Arguments of an action without names are in the order of its parameters.

use std::fmt;

use bits::Int;

/// More than the widest field or register that switches have; `packet` is another matter.
const DIGIT_COUNT_MAX: usize = 10_000;

/// A line that is no statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// From 1.
    pub line: usize,
    /// The mistake.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A value of a key: digits, some of which may not count, and a prefix length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue {
    /// The value, zeros where digits do not count.
    pub value: Int,
    /// Ones for the digits that are written and count.
    pub mask: Int,
    /// Written with `*`.
    pub has_wildcard: bool,
    /// Bits of the digits before the first `*`.
    pub fixed_bits: u32,
    /// Bits of all digits.
    pub written_bits: u32,
    /// After `/`.
    pub prefix_length: Option<u32>,
    /// After `..`: the end of a range.
    pub range_end: Option<Int>,
}

/// An action and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The action.
    pub action: String,
    /// Names and values; without names they stand in the order of the parameters.
    pub arguments: Vec<(String, Int)>,
}

/// The action of a table entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryCall {
    /// It runs an action.
    Action(Call),
    /// It runs the action of a member of this group of the table's action profile.
    Group(u32),
    /// It runs the action of this member of the table's action profile.
    Member(u32),
}

/// How a counter is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterCheck {
    /// Bytes rather than packets.
    pub bytes: bool,
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`.
    pub operator: String,
    /// With this number.
    pub number: u64,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Adds a table entry.
    Add { table: String, priority: Option<i32>, key: Vec<(String, KeyValue)>, call: EntryCall },
    /// Compares a counter.
    CheckCounter { name: String, index: u64, check: Option<CounterCheck> },
    /// Compares a cell of a register.
    CheckRegister { name: String, index: u64, value: Int },
    /// Sets a counter.
    CounterWrite { name: String, index: u64, packets: u64, bytes: u64 },
    /// A packet is to come out; `None` is any.
    Expect { port: u16, packet: Option<String> },
    /// Adds a node to a multicast group.
    GroupAssociate { group: u32, node: usize },
    /// Adds a multicast group.
    GroupCreate { group: u32 },
    /// Sets the rates of a meter, or of all meters of an array.
    MeterSetRates { name: String, index: Option<u64>, rates: Vec<(f64, u64)> },
    /// Removes a clone session.
    MirrorDelete { session: u32 },
    /// Clones go to a multicast group.
    MirrorGroup { session: u32, group: u32 },
    /// Clones go to a port.
    MirrorPort { session: u32, port: u16 },
    /// Adds a node that groups can have.
    NodeCreate { rid: u16, ports: Vec<u16> },
    /// Gives a node other ports.
    NodeUpdate { node: usize, ports: Vec<u16> },
    /// No packet is to come out.
    NoPacket,
    /// Sets the members of a group of an action profile.
    ProfileGroup { profile: String, group: u32, members: Vec<u32> },
    /// Sets a member of an action profile.
    ProfileMember { profile: String, member: u32, call: Call },
    /// A packet comes in.
    Packet { port: u16, bytes: Vec<u8> },
    /// Sets all registers of an array to zero.
    RegisterReset { name: String },
    /// Sets a register.
    RegisterWrite { name: String, index: u64, value: Int },
    /// Reads something, which changes nothing.
    Read,
    /// Removes all entries of all tables.
    RemoveAll,
    /// Sets a default action.
    SetDefault { table: String, call: Call },
    /// Lets time pass.
    Wait,
}

/// Reads a script: statements with their lines.
pub fn parse(text: &str) -> Result<Vec<(usize, Statement)>, ScriptError> {
    let mut statements = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = without_comment(line).trim();
        if !line.is_empty() {
            let statement = statement(line);
            let error = |message| ScriptError { line: index + 1, message };
            statements.push((index + 1, statement.map_err(error)?));
        }
    }
    Ok(statements)
}

/// The text before the first `#` that is not part of a quoted name.
fn without_comment(line: &str) -> &str {
    let mut is_quoted = false;
    let end = line.find(|character| {
        is_quoted ^= character == '"';
        character == '#' && !is_quoted
    });
    &line[..end.unwrap_or(line.len())]
}

fn statement(line: &str) -> Result<Statement, String> {
    let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let keyword = keyword.to_ascii_lowercase();
    let word = |index: usize| {
        words
            .get(index)
            .copied()
            .ok_or_else(|| format!("{keyword}: argument {} is missing", index + 1))
    };
    let from = |index: usize| words.get(index..).unwrap_or_default();
    Ok(match keyword.as_str() {
        "add" => add(rest)?,
        "check_counter" => check_counter(rest)?,
        "check_register" => {
            let (name, index, value) = cell(rest, "register")?;
            Statement::CheckRegister { name, index, value: number(value)? }
        }
        "counter_read" | "meter_get_rates" | "mirroring_get" | "register_read" => Statement::Read,
        "counter_write" => Statement::CounterWrite {
            name: word(0)?.to_owned(),
            index: small(word(1)?)?,
            packets: small(word(2)?)?,
            bytes: small(word(3)?)?,
        },
        "expect" => expected(small(word(0)?)?, from(1))?,
        "group" => profile_group(&words)?,
        "mc_mgrp_create" => Statement::GroupCreate { group: small(word(0)?)? },
        "mc_node_associate" => {
            Statement::GroupAssociate { group: small(word(0)?)?, node: small(word(1)?)? }
        }
        "mc_node_create" => Statement::NodeCreate { rid: small(word(0)?)?, ports: all(from(1))? },
        "mc_node_update" => Statement::NodeUpdate { node: small(word(0)?)?, ports: all(from(1))? },
        "member" => profile_member(&words)?,
        "meter_array_set_rates" => Statement::MeterSetRates {
            name: word(0)?.to_owned(),
            index: None,
            rates: from(1).iter().map(|rate| meter_rate(rate)).collect::<Result<_, _>>()?,
        },
        "meter_set_rates" => Statement::MeterSetRates {
            name: word(0)?.to_owned(),
            index: Some(small(word(1)?)?),
            rates: from(2).iter().map(|rate| meter_rate(rate)).collect::<Result<_, _>>()?,
        },
        "mirroring_add" => {
            Statement::MirrorPort { session: small(word(0)?)?, port: small(word(1)?)? }
        }
        "mirroring_add_mc" => {
            Statement::MirrorGroup { session: small(word(0)?)?, group: small(word(1)?)? }
        }
        "mirroring_delete" => Statement::MirrorDelete { session: small(word(0)?)? },
        "no_packet" => Statement::NoPacket,
        "packet" => Statement::Packet { port: small(word(0)?)?, bytes: bytes(&from(1).concat())? },
        "register_reset" => Statement::RegisterReset { name: word(0)?.to_owned() },
        "register_write" => Statement::RegisterWrite {
            name: word(0)?.to_owned(),
            index: small(word(1)?)?,
            value: number(word(2)?)?,
        },
        "remove" if rest == "all" => Statement::RemoveAll,
        "setdefault" => {
            let (table, call_text) = name(rest)?;
            Statement::SetDefault { table: table.to_owned(), call: call(call_text)? }
        }
        "wait" => Statement::Wait,
        _ => return Err(format!("`{keyword}` is no STF statement")),
    })
}

fn expected(port: u16, words: &[&str]) -> Result<Statement, String> {
    let digits: String = words.concat().to_ascii_lowercase();
    let is_digit = |digit: char| digit.is_ascii_hexdigit() || digit == '*';
    let body = digits.strip_suffix('$').unwrap_or(&digits);
    if let Some(wrong) = body.chars().find(|digit| !is_digit(*digit)) {
        return Err(format!("`{wrong}` is no hexadecimal digit, nor `*`"));
    }
    Ok(Statement::Expect { port, packet: Some(digits).filter(|digits| !digits.is_empty()) })
}

fn number(text: &str) -> Result<Int, String> {
    check_length(text)?;
    text.parse::<Int>().map_err(|error| error.to_string())
}

/// Reading decimal digits takes the square of their number.
fn check_length(number: &str) -> Result<(), String> {
    match number.len() > DIGIT_COUNT_MAX {
        true => Err(format!("a number has at most {DIGIT_COUNT_MAX} digits")),
        false => Ok(()),
    }
}

fn small<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let value = number(text)?.to_u64().and_then(|value| T::try_from(value).ok());
    value.ok_or_else(|| format!("{text} is out of range"))
}

fn all(words: &[&str]) -> Result<Vec<u16>, String> {
    words.iter().map(|word| small(word)).collect()
}

fn bytes(digits: &str) -> Result<Vec<u8>, String> {
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return Err(format!(
            "a packet has an even number of hexadecimal digits, not {}",
            digits.len()
        ));
    }
    let pairs = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).map_err(|_| format!("`{pair}` is no byte")))
        .collect()
}

/// `RATE:BURST`, the rate in packets or bytes a microsecond.
fn meter_rate(text: &str) -> Result<(f64, u64), String> {
    let (rate, burst) =
        text.split_once(':').ok_or_else(|| format!("`{text}` is not RATE:BURST"))?;
    Ok((rate.parse().map_err(|_| format!("`{rate}` is no rate"))?, small(burst)?))
}

/// A name at the beginning of a text, and what stands behind it.
fn name(text: &str) -> Result<(&str, &str), String> {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix('"') {
        let (name, rest) = quoted
            .split_once('"')
            .ok_or_else(|| format!("the quotes that begin before `{quoted}` do not end"))?;
        return Ok((name, rest.trim_start()));
    }
    // The colon of a slice, `h.x[31:24]`, ends no name.
    let mut is_inside = false;
    let ends = |character: char| {
        is_inside = character == '[' || is_inside && character != ']';
        character.is_whitespace() || !is_inside && ":(,)".contains(character)
    };
    let (name, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
    match name {
        "" => Err("a name is missing".to_owned()),
        _ => Ok((name, rest.trim_start())),
    }
}

/// `PROFILE ID MEMBER...`.
fn profile_group(words: &[&str]) -> Result<Statement, String> {
    let [profile, group, members @ ..] = words else {
        return Err("a group is written group PROFILE ID MEMBER...".to_owned());
    };
    Ok(Statement::ProfileGroup {
        profile: (*profile).to_owned(),
        group: small(group)?,
        members: members.iter().map(|member| small(member)).collect::<Result<_, _>>()?,
    })
}

/// `PROFILE ID ACTION [NAME=VALUE ...]`.
fn profile_member(words: &[&str]) -> Result<Statement, String> {
    let [profile, member, action, arguments @ ..] = words else {
        return Err("a member is written member PROFILE ID ACTION NAME=VALUE...".to_owned());
    };
    let arguments = arguments.iter().map(|word| assigned(word)).collect::<Result<_, _>>()?;
    Ok(Statement::ProfileMember {
        profile: (*profile).to_owned(),
        member: small(member)?,
        call: Call { action: (*action).to_owned(), arguments },
    })
}

/// `NAME=VALUE`.
fn assigned(text: &str) -> Result<(String, Int), String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=VALUE"))?;
    Ok((name.to_owned(), number(value)?))
}

/// `ACTION(NAME:VALUE, ...)`, possibly `= ID` after it.
fn call(text: &str) -> Result<Call, String> {
    let (action, rest) = name(text)?;
    let rest = rest.strip_prefix('(').ok_or("an action is written NAME(...)")?;
    let (arguments, rest) = rest.split_once(')').ok_or("the action's `)` is missing")?;
    if !rest.trim_start().is_empty() && !rest.trim_start().starts_with('=') {
        return Err(format!("`{}` behind the action has no meaning", rest.trim()));
    }
    let argument = |text: &str| {
        if let Ok(value) = number(text) {
            return Ok((String::new(), value));
        }
        let (name, value) = name(text)?;
        let value = value.strip_prefix(':').ok_or_else(|| format!("`{text}` is not NAME:VALUE"))?;
        Ok((name.to_owned(), number(value.trim())?))
    };
    let arguments = arguments.split(',').map(str::trim).filter(|text| !text.is_empty());
    Ok(Call {
        action: action.to_owned(),
        arguments: arguments.map(argument).collect::<Result<_, String>>()?,
    })
}

/// A table, then a priority and keys in any order, then the action, which its parenthesis tells, or
/// `member=` or `group=`.
fn add(text: &str) -> Result<Statement, String> {
    let (table, mut rest) = name(text)?;
    let mut priority = None;
    let mut key = Vec::new();
    loop {
        if rest.is_empty() {
            return Err("an action NAME(...) is missing".to_owned());
        }
        let (word, after) = name(rest)?;
        if after.starts_with('(') {
            let call = EntryCall::Action(call(rest)?);
            return Ok(Statement::Add { table: table.to_owned(), priority, key, call });
        }
        if let Some((kind @ ("group" | "member"), id)) = word.split_once('=')
            && after.is_empty()
        {
            let id = small(id)?;
            let call = if kind == "group" { EntryCall::Group(id) } else { EntryCall::Member(id) };
            return Ok(Statement::Add { table: table.to_owned(), priority, key, call });
        }
        rest = match after.strip_prefix(':') {
            Some(after) => {
                let after = after.trim_start();
                let end = after.find(char::is_whitespace).unwrap_or(after.len());
                key.push((escaped_index(word), key_value(&after[..end])?));
                after[end..].trim_start()
            }
            None => {
                priority = Some(small::<u32>(word)? as i32);
                after
            }
        };
    }
}

/// `h$1.f` is an older way to write `h[1].f`.
fn escaped_index(name: &str) -> String {
    let Some((before, after)) = name.split_once('$') else { return name.to_owned() };
    let digits = after.len() - after.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    match digits {
        0 => name.to_owned(),
        _ => format!("{before}[{}]{}", &after[..digits], &after[digits..]),
    }
}

fn key_value(text: &str) -> Result<KeyValue, String> {
    let (text, prefix_length) = match text.split_once('/') {
        Some((value, length)) => (value, Some(small(length)?)),
        None => (text, None),
    };
    let (text, range_end) = match text.split_once("..") {
        Some((low, high)) => (low, Some(number(high)?)),
        None => (text, None),
    };
    let (text, explicit_mask) = match text.split_once("&&&") {
        Some((value, mask)) => (value, Some(number(mask)?)),
        None => (text, None),
    };
    check_length(text)?;
    let lower = text.to_ascii_lowercase();
    let (digits, radix, bits) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16, 4),
        Some("0b") => (&lower[2..], 2, 1),
        Some("0o") => (&lower[2..], 8, 3),
        _ => (lower.as_str(), 10, 4),
    };
    let read = |digits: &str| Int::from_digits(digits, radix).map_err(|error| error.to_string());
    let value = read(&digits.replace('*', "0"))?;
    let written_bits = match radix {
        10 => value.bit_length().div_ceil(4) as u32 * 4,
        _ => digits.len() as u32 * bits,
    };
    // Of a decimal number that begins with `*` nothing is fixed: its digits are no bits.
    let fixed_bits = written_bits.saturating_sub(digits.matches('*').count() as u32 * bits);
    let mask = match (explicit_mask, radix) {
        (Some(mask), _) => mask,
        (None, 10) => &Int::one().shift_left(written_bits as usize) - &Int::one(),
        (None, _) => {
            let highest = char::from_digit(radix - 1, radix).unwrap_or_default();
            let counts = |digit| if digit == '*' { '0' } else { highest };
            read(&digits.chars().map(counts).collect::<String>())?
        }
    };
    let has_wildcard = digits.contains('*');
    Ok(KeyValue { value, mask, has_wildcard, fixed_bits, written_bits, prefix_length, range_end })
}

/// `NAME(INDEX) [packets|bytes OPERATOR NUMBER]`.
fn check_counter(rest: &str) -> Result<Statement, String> {
    let (name, index, rest) = cell(rest, "counter")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let check = match words.as_slice() {
        [] => None,
        [kind @ ("packets" | "bytes"), operator, number] => Some(CounterCheck {
            bytes: *kind == "bytes",
            operator: (*operator).to_owned(),
            number: small(number)?,
        }),
        _ => return Err("a check is written `packets == 3` or `bytes >= 100`".to_owned()),
    };
    Ok(Statement::CheckCounter { name, index, check })
}

/// `NAME(INDEX)` of a `what`, and what stands behind it.
fn cell<'a>(rest: &'a str, what: &str) -> Result<(String, u64, &'a str), String> {
    let (name, rest) =
        rest.split_once('(').ok_or_else(|| format!("a {what} is written NAME(INDEX)"))?;
    let (index, rest) =
        rest.split_once(')').ok_or_else(|| format!("the {what}'s `)` is missing"))?;
    Ok((name.trim().to_owned(), small(index.trim())?, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Statement {
        parse(line).unwrap().remove(0).1
    }

    #[test]
    fn an_entry_has_a_priority_keys_and_an_action() {
        let Statement::Add { table, priority, key, call } =
            one("add routes 10 hdr.ip$0.dst:0x0a**/16 x:0b1*0 set_port(port:2, mac:0x00_01) # why")
        else {
            panic!("it starts with add")
        };
        let EntryCall::Action(call) = call else { panic!("it ends with an action") };
        assert_eq!((table.as_str(), priority), ("routes", Some(10)));
        assert_eq!(key[0].0, "hdr.ip[0].dst");
        assert_eq!((&key[0].1.value, key[0].1.prefix_length), (&Int::from(0x0a00), Some(16)));
        // 1*0: the middle bit does not count.
        assert_eq!((&key[1].1.value, &key[1].1.mask), (&Int::from(0b100), &Int::from(0b101)));
        assert_eq!(
            call.arguments,
            [("port".to_owned(), Int::from(2)), ("mac".to_owned(), Int::from(1))]
        );
    }

    #[test]
    fn a_number_has_a_bound_and_its_mask_is_read_as_fast_as_its_digits() {
        for (prefix, digit) in [("", "9"), ("0x", "f"), ("0x", "*"), ("0b", "1"), ("0o", "7")] {
            let text = format!("{prefix}{}", digit.repeat(DIGIT_COUNT_MAX - prefix.len()));
            let long = format!("{text}{digit}");
            assert!(parse(&format!("add t k:{text} a()")).is_ok());
            for line in [
                format!("add t k:{long} a()"),
                format!("add t k:1..{long} a()"),
                format!("add t k:1&&&{long} a()"),
                format!("add t k:1/{long} a()"),
                format!("setdefault t a(x:{long})"),
                format!("check_register r({long}) 1"),
                format!("register_write r 1 {long}"),
                format!("member p 1 a x={long}"),
            ] {
                let error = parse(&line).unwrap_err();
                assert!(error.message.len() < 200, "{} characters", error.message.len());
            }
        }
        let Statement::Add { key, .. } = one("add t a:0x1*f b:0b1*0 c:0o7* d()") else {
            panic!("it starts with add")
        };
        let masks: Vec<&Int> = key.iter().map(|(_, value)| &value.mask).collect();
        assert_eq!(masks, [&Int::from(0xf0f), &Int::from(0b101), &Int::from(0o70)]);
    }

    #[test]
    fn a_name_in_quotes_may_have_whatever_ends_others() {
        let Statement::Add { table, priority, key, call } = one(
            r#"add "in.the table" 1 "h.a[7:0]":0b1*** "(h.b + 1)": 0x02 "in.set (it)"("to":0x3)"#,
        ) else {
            panic!("it starts with add")
        };
        let EntryCall::Action(call) = call else { panic!("it ends with an action") };
        assert_eq!((table.as_str(), priority), ("in.the table", Some(1)));
        let names: Vec<&str> = key.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["h.a[7:0]", "(h.b + 1)"]);
        assert_eq!((&key[0].1.value, key[0].1.fixed_bits), (&Int::from(8), 1));
        assert_eq!(call.action, "in.set (it)");
        assert_eq!(call.arguments, [("to".to_owned(), Int::from(3))]);
        assert_eq!(
            one(r#"setdefault "in.t" "in.drop"()"#),
            Statement::SetDefault {
                table: "in.t".to_owned(),
                call: Call { action: "in.drop".to_owned(), arguments: Vec::new() },
            }
        );
        let Statement::SetDefault { table, call } = one(r##"setdefault "#1" "in.#2"() # "why"?"##)
        else {
            panic!("it starts with setdefault")
        };
        assert_eq!((table.as_str(), call.action.as_str()), ("#1", "in.#2"));
        let error = parse("setdefault \"in.t in.drop()").unwrap_err();
        assert!(error.message.contains("quotes"), "{error}");
    }

    #[test]
    fn the_colon_of_a_slice_ends_no_name() {
        let Statement::Add { key, .. } = one("add t h.h.x[31:24]:3 h.y[1].z:0x4 a()") else {
            panic!("it starts with add")
        };
        let names: Vec<&str> = key.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["h.h.x[31:24]", "h.y[1].z"]);
    }

    #[test]
    fn action_profiles_have_members_and_groups() {
        let set_port = |name: &str| Call {
            action: "set_port".to_owned(),
            arguments: vec![(name.to_owned(), Int::from(2))],
        };
        assert_eq!(
            one("member ecmp 1 set_port port=0x0002"),
            Statement::ProfileMember {
                profile: "ecmp".to_owned(),
                member: 1,
                call: set_port("port")
            }
        );
        assert_eq!(
            one("group ecmp 7 1 2"),
            Statement::ProfileGroup { profile: "ecmp".to_owned(), group: 7, members: vec![1, 2] }
        );
        for (end, wanted) in [
            ("group=7", EntryCall::Group(7)),
            ("member=1", EntryCall::Member(1)),
            ("set_port(2)", EntryCall::Action(set_port(""))),
        ] {
            let Statement::Add { call, .. } = one(&format!("add t h.x:0x1 {end}")) else {
                panic!("it starts with add")
            };
            assert_eq!(call, wanted);
        }
        assert!(parse("member ecmp 1 set_port port").is_err());
        assert!(parse("add t h.x:1 group=many").is_err());
    }

    #[test]
    fn what_stands_behind_an_action_is_an_id_or_a_mistake() {
        let call = |action: &str| Call { action: action.to_owned(), arguments: Vec::new() };
        let statement = |call| Statement::SetDefault { table: "t".to_owned(), call };
        assert_eq!(one("setdefault t a() = 7"), statement(call("a")));
        assert_eq!(one("setdefault t a ()"), statement(call("a")));
        assert!(parse("setdefault t a() 7").is_err());
        assert!(parse("setdefault t a(x)").is_err());
        assert!(parse("setdefault t").is_err());
    }

    #[test]
    fn a_register_is_checked_cell_by_cell() {
        assert_eq!(
            one("check_register ingress.seen(3) 0x2a"),
            Statement::CheckRegister {
                name: "ingress.seen".to_owned(),
                index: 3,
                value: Int::from(42),
            }
        );
        assert!(parse("check_register ingress.seen 42").is_err());
    }

    #[test]
    fn packets_are_hexadecimal_with_wildcards_where_expected() {
        assert_eq!(one("packet 1 0A 0b0C"), Statement::Packet { port: 1, bytes: vec![10, 11, 12] });
        let packet = Some("0a**0c$".to_owned());
        assert_eq!(one("expect 2 0A ** 0C $"), Statement::Expect { port: 2, packet });
        assert_eq!(one("expect 2"), Statement::Expect { port: 2, packet: None });
    }

    #[test]
    fn what_is_no_statement_is_refused_with_its_line() {
        let error = parse("wait\n\nfly away").unwrap_err();
        assert_eq!(error.to_string(), "line 3: `fly` is no STF statement");
        assert!(parse("packet 1 0A0").is_err());
        assert!(parse("expect 1 0G").is_err());
        assert!(parse("add t a:1").is_err());
    }

    #[test]
    fn a_star_for_a_decimal_digit_fixes_nothing() {
        let Statement::Add { key, .. } = one("add t a:*1 b()") else {
            panic!("it starts with add")
        };
        assert_eq!((key[0].1.has_wildcard, key[0].1.fixed_bits), (true, 0));
    }
}
