//! Compiling costs grow with the length of a source: twice the text takes a little more than twice the memory,
//! allocations and JSON, whatever it consists of. Sources are made from a seed, by repeating a few
//! constructs; SEEDS sets how many.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use compiler::{Options, SourceError, SourceProvider, compile};

thread_local! {
    static ALLOCATED_BYTES: Cell<u64> = const { Cell::new(0) };
    static HELD_BYTES: Cell<i64> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, counting what this thread asks of it.
struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED_BYTES.set(ALLOCATED_BYTES.get() + layout.size() as u64);
        HELD_BYTES.set(HELD_BYTES.get() + layout.size() as i64);
        PEAK_BYTES.set(PEAK_BYTES.get().max(HELD_BYTES.get()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD_BYTES.set(HELD_BYTES.get() - layout.size() as i64);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Texts<'a>(&'a str);

impl SourceProvider for Texts<'_> {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        match path.rsplit('/').next() {
            Some("core.p4") => Ok(include_str!("../../../../p4src/include/core.p4").to_owned()),
            Some("v1model.p4") => {
                Ok(include_str!("../../../../p4src/include/v1model.p4").to_owned())
            }
            Some("test.p4") => Ok(self.0.to_owned()),
            _ => Err(SourceError::NotFound),
        }
    }
}

/// The costs of compiling a source.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// Bytes allocated in all: the work, as far as it makes something.
    allocated: u64,
    /// Bytes held at the most.
    peak: u64,
    json: u64,
}

fn cost_of(source: &str) -> Cost {
    let mut options = Options::default();
    options.preprocessor.include_directories = vec!["include".to_owned()];
    let (allocated, held) = (ALLOCATED_BYTES.get(), HELD_BYTES.get());
    PEAK_BYTES.set(held);
    let output = compile(&Texts(source), "test.p4", &options);
    let json = output.program.as_ref().map_or(0, |program| bmv2::write(program).len() as u64);
    drop(output);
    Cost {
        allocated: ALLOCATED_BYTES.get() - allocated,
        peak: (PEAK_BYTES.get() - held) as u64,
        json,
    }
}

/// A part of a source that can be repeated: where it stands, and its text with `N` for its number.
enum Part {
    Top(&'static str),
    Declaration(&'static str),
    Statement(&'static str),
    /// A statement around all that follow.
    Nested(&'static str, &'static str),
    /// A term of a sum, and of a condition.
    Term(&'static str),
    Condition(&'static str),
    /// A label or a case of a `switch`.
    Case(&'static str),
    State(&'static str),
}

const PARTS: [Part; 34] = [
    Part::Top("const bit<32> cN = N + 32w1;\n"),
    Part::Top("const bit<64> dN = 64w18446744073709551557 / (N + 1);\n"),
    Part::Top("#define MN N + 1\n"),
    Part::Top("#if N\n#endif\n"),
    Part::Top("bit<32> fN(in bit<32> x) { if (x == N) { return 1; } return x; }\n"),
    Part::Top("struct sN { bit<32> a; bit<32> b; }\n"),
    Part::Top("header kN { bit<32> a; varbit<64> b; }\n"),
    Part::Top("typedef bit<32> yN;\n"),
    Part::Top("@name(\"eN\") enum eN { A, B, C }\n"),
    Part::Declaration("bit<32> vN = meta.m;\n"),
    Part::Declaration("action aN(bit<32> x) { meta.m = x; }\n"),
    Part::Declaration(
        "table tN { key = { meta.m: exact; meta.n: ternary; } actions = { NoAction; } size = 16; }\n",
    ),
    Part::Declaration("register<bit<32>>(4) rN;\n"),
    Part::Declaration("counter(4, CounterType.packets) kN;\n"),
    Part::Statement("meta.n = meta.n + N;\n"),
    Part::Statement("if (meta.m == N) { meta.n = N; }\n"),
    Part::Statement("if (meta.m == N) { meta.n = N; } else { exit; }\n"),
    Part::Statement("if (meta.m == N) { return; }\n"),
    Part::Statement("{ bit<32> x = meta.m; meta.n = x; }\n"),
    Part::Statement("plus(meta.n);\n"),
    Part::Statement("meta.n = twice(meta.n);\n"),
    Part::Statement("meta.n[7:0] = meta.m[15:8];\n"),
    Part::Statement("hash(meta.m, HashAlgorithm.crc32, 32w0, { meta.n, hdr.h.v }, 32w100);\n"),
    Part::Statement("digest<bit<32>>(N, meta.m);\n"),
    Part::Statement("switch (meta.m) { N: { meta.n = 1; } default: { meta.n = 2; } }\n"),
    Part::Statement("for (bit<8> q = 0; q < 3; q = q + 1) { meta.n = meta.n + 1; }\n"),
    Part::Statement("nobody = N;\n"),
    Part::Nested("if (meta.m == N) {\n", "}\n"),
    Part::Term(" + (meta.m ^ N)"),
    Part::Term(" + (meta.m == N ? 32w1 : meta.n)"),
    Part::Condition(" && (meta.m != N)"),
    Part::Condition(" || (meta.m == N && meta.n == 1)"),
    Part::Case("N: "),
    Part::State("state sN { transition select(hdr.h.v) { N: accept; default: sX; } }\n"),
];

/// Nested blocks are refused beyond this depth.
const NESTED_MAX: usize = 40;

/// A program in which each of these parts stands `count` times.
fn source(parts: &[&Part], count: usize) -> String {
    let (mut top, mut declarations, mut body) = (String::new(), String::new(), String::new());
    let (mut sum, mut truth) = ("meta.n".to_owned(), "meta.b".to_owned());
    let (mut cases, mut states, mut closing) = (String::new(), String::new(), String::new());
    for (kind, part) in parts.iter().enumerate() {
        for number in 0..count {
            // Each kind has numbers of its own, so that no name occurs twice.
            let own = (kind * count + number).to_string();
            let text = |text: &str| {
                let next = if number + 1 == count { 0 } else { number + 1 };
                text.replace("sX", &format!("s{}", kind * count + next)).replace('N', &own)
            };
            match part {
                Part::Top(it) => top += &text(it),
                Part::Declaration(it) => declarations += &text(it),
                Part::Statement(it) => body += &text(it),
                Part::Nested(open, close) if number < NESTED_MAX => {
                    body += &text(open);
                    closing += close;
                }
                Part::Nested(..) => {}
                Part::Term(it) => sum += &text(it),
                Part::Condition(it) => truth += &text(it),
                Part::Case(it) => cases += &text(it),
                Part::State(it) => states += &text(it),
            }
        }
    }
    let choice = match cases.is_empty() {
        true => String::new(),
        false => format!("switch (meta.n) {{ {cases} {{ meta.m = 7; }} default: {{}} }}"),
    };
    format!(
        "#include <core.p4>
        #include <v1model.p4>
        header h_t {{ bit<32> v; bit<32> w; }}
        struct headers_t {{ h_t h; }}
        struct metadata_t {{ bit<32> m; bit<32> n; bool b; }}
        bit<32> twice(in bit<32> x) {{ return x + x; }}
        {top}
        parser p(packet_in packet, out headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard) {{
            state start {{ packet.extract(hdr.h); transition accept; }}
            {states}
        }}
        control c(inout headers_t hdr, inout metadata_t meta) {{ apply {{}} }}
        control i(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {{
            action plus(inout bit<32> x) {{ x = x + 1; }}
            {declarations}
            apply {{ {body} {closing} meta.n = {sum}; meta.b = {truth}; {choice} }}
        }}
        control e(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {{ apply {{}} }}
        control d(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.h); }} }}
        V1Switch(p(), c(), i(), e(), c(), d()) main;"
    )
}

/// Costs beyond those of a source without parts, at some count and at twice that.
fn check(parts: &[&Part], count: usize, name: &str) {
    let none = cost_of(&source(&[], 0));
    let [first, second] = [count, 2 * count].map(|count| cost_of(&source(parts, count)));
    // n log n from 100 to 200 grows 2.3 times; lists that double their room add up to as much again to
    // what is held.
    let grows = |of: fn(Cost) -> u64, times: u64| {
        let beyond = |cost: Cost| of(cost).saturating_sub(of(none));
        beyond(second) <= times * beyond(first) / 10 + (256 << 10)
    };
    let is_linear = grows(|cost| cost.allocated, 26) && grows(|cost| cost.peak, 35);
    assert!(is_linear && grows(|cost| cost.json, 26), "{name}: {first:?}, then {second:?}");
}

#[test]
fn each_construct_costs_what_its_length_says() {
    for (number, part) in PARTS.iter().enumerate() {
        check(&[part], 300, &format!("part {number}"));
    }
}

#[test]
fn constructs_together_cost_what_their_lengths_say() {
    let seeds: u64 = std::env::var("SEEDS").map_or(10, |it| it.parse().expect("a number"));
    for seed in 0..seeds {
        let mut dice = seed;
        let mut below = |bound: u64| {
            // SplitMix64.
            dice = dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (dice ^ (dice >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) % bound
        };
        let parts: Vec<&Part> =
            (0..2 + below(3)).map(|_| &PARTS[below(PARTS.len() as u64) as usize]).collect();
        check(&parts, 80 + below(100) as usize, &format!("seed {seed}"));
    }
}
