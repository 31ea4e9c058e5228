//! The words of the language that no text declares, each in a sentence or two.

/// The specification's meaning of a word; `is_member` for one behind a dot.
pub fn about(word: &str, is_member: bool) -> Option<&'static str> {
    find(if is_member { &MEMBERS } else { &WORDS }, word)
}

/// The effect of an operator.
pub fn about_sign(sign: &str) -> Option<&'static str> {
    find(&SIGNS, sign)
}

fn find(list: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    list.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
}

/// The members that need no declaration.
const MEMBERS: [(&str, &str); 15] = [
    (
        "action_run",
        "Which action the table ran: the subject of a `switch` whose labels are actions.",
    ),
    (
        "apply",
        "Applies a table, control or parser. A table looks its key up, runs the action of the entry that \
         matches, or else its default action, and tells what happened: `hit`, `miss`, `action_run`.",
    ),
    ("hit", "Whether an entry of the table matched."),
    (
        "isValid",
        "Whether the header is there: it was extracted or made valid, and not made invalid since.",
    ),
    ("last", "The element of the stack that was extracted last. In parsers only."),
    ("lastIndex", "The index of the element that was extracted last. In parsers only."),
    (
        "minSizeInBits",
        "How many bits a value has at least: fields of variable length count as empty.",
    ),
    ("minSizeInBytes", "How many bytes a value has at least, the last one counted in full."),
    ("miss", "Whether no entry of the table matched, so that the default action ran."),
    (
        "next",
        "The first element of the stack that is not extracted yet; extracting it moves on to the one \
         behind. In parsers only.",
    ),
    (
        "pop_front",
        "Takes so many headers away from the front of the stack. The others move up; the last ones \
         become invalid.",
    ),
    (
        "push_front",
        "Makes room for so many headers at the front of the stack. The others move back, those that \
         find no room are lost; the new ones are invalid.",
    ),
    ("setInvalid", "Takes the header out of the packet: deparsers pass over it."),
    (
        "setValid",
        "Puts the header into the packet. Fields that have not been written are undefined.",
    ),
    ("size", "How many elements the stack has, known at compile time."),
];

/// Keywords, and names that every parser and table has.
const WORDS: [(&str, &str); 59] = [
    (
        "_",
        "In a `select`, a `switch` or an entry: whatever the value is. As a type argument: the one that fits.",
    ),
    ("abstract", "A method of an extern that each instance has to write for itself."),
    ("accept", "The state in which a parser ends well."),
    (
        "action",
        "A piece of code that tables run. Parameters without a direction are data of the table's entry, \
         which the control plane gives; those with one are given in the program.",
    ),
    ("actions", "What the entries of a table may do. The control plane can use no other action."),
    ("apply", "What a control does with each packet: statements, in which tables are applied."),
    ("bit", "`bit<N>`: a number of N bits without a sign. Sums wrap around at 2^N."),
    ("bool", "`true` or `false`. It is no number: cast it to `bit<1>` to compute with it."),
    ("break", "Leaves the innermost loop."),
    (
        "const",
        "Known at compile time, and never changed; of a table's property: not by the control plane.",
    ),
    ("continue", "Leaves this round of the innermost loop and begins the next."),
    ("control", "A block that works on headers and metadata: declarations, then `apply { ... }`."),
    (
        "counters",
        "The `direct_counter` of the table: it counts packets and bytes for each entry, and for the default.",
    ),
    ("default", "The case for all that no other case fits: of a `switch`, or of a `select`."),
    (
        "default_action",
        "The action that a table runs when no entry matches. Without this property that is `NoAction`.",
    ),
    ("else", "What is done when the condition does not hold."),
    (
        "entries",
        "The entries that a table has from the beginning. With `const` in front the control plane can \
         neither change them nor add others.",
    ),
    (
        "enum",
        "A type with named values. With a type behind the word (`enum bit<8> ...`) the values are numbers, \
         and may be fields of headers.",
    ),
    ("error", "The type of what can go wrong in a parser; `error { ... }` adds names to it."),
    ("exact", "A match kind: all bits of the key are equal to the entry's."),
    (
        "exit",
        "Ends ingress or egress for this packet, also from inside of an action or another control.",
    ),
    ("extern", "Declares what the target provides: a function, or a kind of object with methods."),
    ("false", "The `bool` that does not hold."),
    (
        "for",
        "A loop: `for (bit<8> i = 0; i < n; i = i + 1)`, or `for (bit<8> i in 0 .. 7)`. How often it goes \
         round may depend on the packet; one that would take more than 10,000 rounds in a control is dropped.",
    ),
    (
        "header",
        "Fields that are next to each other in packets, and a hidden bit: whether the header is there. \
         Reading fields of one that is not gives anything.",
    ),
    ("header_union", "Headers of which at most one is valid at any time."),
    ("if", "Runs a statement when a condition holds."),
    (
        "implementation",
        "The `action_profile` or `action_selector` that holds the table's actions: entries lead to its members \
         or groups.",
    ),
    ("in", "Copied in when the call begins; cannot be written."),
    ("inout", "Copied in when the call begins, and copied out when it ends."),
    (
        "int",
        "`int<N>`: a number of N bits in two's complement. Without a width: a compile-time number of any size.",
    ),
    (
        "key",
        "What a table looks up: fields, each with its match kind. Without a key every packet misses.",
    ),
    (
        "lpm",
        "A match kind: the first bits are equal. Of several entries the one with the longest prefix wins.",
    ),
    ("match_kind", "The ways in which tables compare; architectures add their own."),
    ("meters", "The `direct_meter` of the table: it colours packets for each entry."),
    ("out", "Undefined (headers: invalid) when the call begins, and copied out when it ends."),
    (
        "package",
        "Blocks that make a whole: v1model's is `V1Switch`. The instance called `main` is the program.",
    ),
    (
        "parser",
        "A state machine that takes headers from the front of a packet. It begins in `start` and ends in \
         `accept` or `reject`.",
    ),
    (
        "priority",
        "Which of several entries that fit wins. With ternary, range or optional keys only; the larger \
         number wins, unless the table says `largest_priority_wins = false`.",
    ),
    (
        "reject",
        "The state in which a parser gives up; `parser_error` says why. In v1model the packet goes on all the same.",
    ),
    ("return", "Leaves the action, function or control; of a function with its value."),
    (
        "select",
        "Where a parser goes next, by values: the first case that fits. If none does the parser rejects \
         with `error.NoMatch`.",
    ),
    ("size", "How many entries the table has room for."),
    ("start", "The state in which every parser begins."),
    ("state", "A step of a parser: statements, then `transition` to the next."),
    ("string", "Text in quotation marks, known at compile time: for annotations and `log_msg`."),
    ("struct", "Values with names, of any types. Unlike a header it is no piece of a packet."),
    (
        "switch",
        "Runs the block of the first label that fits: by a value, or by the action that a table ran.",
    ),
    (
        "table",
        "Looks a key up among entries that the control plane writes, and runs the action of the one that \
         matches.",
    ),
    (
        "ternary",
        "A match kind: the bits under the entry's mask are equal. Of several entries the one of highest priority wins.",
    ),
    ("this", "The object whose method is being written."),
    (
        "transition",
        "Where a parser goes from this state: to another one, or where a `select` leads.",
    ),
    ("true", "The `bool` that holds."),
    ("tuple", "Several values without names: `tuple<bit<8>, bool>`."),
    (
        "type",
        "A new type with the values of another, but not to be mixed up with it: only casts lead from one to the other.",
    ),
    ("typedef", "Another name for a type."),
    (
        "value_set",
        "Values that a `select` compares with and that the control plane fills, as it does a table.",
    ),
    (
        "varbit",
        "`varbit<N>`: from 0 to N bits, how many is known when a packet comes. It can be extracted, copied and emitted.",
    ),
    ("void", "The result of what gives none."),
];

/// Operators that most languages do not have.
const SIGNS: [(&str, &str); 7] = [
    (
        "&&&",
        "A set of values: `value &&& mask`. The bits under the mask are compared, the others are not.",
    ),
    ("++", "Puts bits side by side: the value on the left has the higher ones."),
    ("..", "A set of values: from the one on the left to the one on the right, both included."),
    ("|+|", "A sum that does not wrap around: what is too large is the largest value of the type."),
    (
        "|+|=",
        "Adds to the variable without wrapping around: what is too large is the type's largest value.",
    ),
    (
        "|-|",
        "A difference that does not wrap around: what is too small is the smallest value of the type.",
    ),
    (
        "|-|=",
        "Subtracts from the variable without wrapping around: what is too small is the type's smallest value.",
    ),
];

/// Words with which something can begin here.
pub fn beginning(place: crate::surroundings::Place) -> &'static [&'static str] {
    use crate::surroundings::Place;
    match place {
        Place::Body => &[
            "bit", "bool", "break", "const", "continue", "exit", "for", "if", "int", "return",
            "switch",
        ],
        Place::Control => &["action", "apply", "bit", "bool", "const", "int", "table"],
        Place::Fields => &["bit", "bool", "error", "int", "varbit"],
        Place::List => &[],
        Place::Parser => &["state", "value_set"],
        Place::State => &["bit", "bool", "transition"],
        Place::Table => &[
            "actions",
            "const",
            "counters",
            "default_action",
            "entries",
            "implementation",
            "key",
            "meters",
            "size",
        ],
        Place::Top => &[
            "action",
            "const",
            "control",
            "enum",
            "error",
            "extern",
            "header",
            "header_union",
            "match_kind",
            "package",
            "parser",
            "struct",
            "type",
            "typedef",
        ],
        Place::Transition => &["accept", "reject", "select"],
    }
}

#[cfg(test)]
mod tests {
    use super::{about, about_sign, beginning};
    use crate::surroundings::Place;
    use syntax::token::KEYWORDS;

    const PLACES: [Place; 9] = [
        Place::Body,
        Place::Control,
        Place::Fields,
        Place::List,
        Place::Parser,
        Place::State,
        Place::Table,
        Place::Top,
        Place::Transition,
    ];

    #[test]
    fn every_keyword_and_every_word_that_is_offered_has_a_sentence() {
        let offered = PLACES.iter().flat_map(|place| beginning(*place));
        let missing: Vec<_> =
            KEYWORDS.iter().chain(offered).filter(|word| about(word, false).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert!(about_sign("|+|").is_some() && about_sign("+").is_none());
    }

    #[test]
    fn words_of_a_place_are_sorted() {
        for place in PLACES {
            assert!(beginning(place).is_sorted(), "{place:?}");
        }
    }
}
