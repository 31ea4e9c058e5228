//! Broken programs: the compiler must answer, whatever it is given. The fuzz target (switch/fuzz)
//! goes further; this is the part of it that always runs.
//!
//! Programs of tests/diagnostics and p4src are cut, joined and shuffled by a generator with a fixed
//! seed. `GARBAGE_ROUNDS` and `GARBAGE_SEEDS` (a directory of programs) add more.

use compiler::{Options, Severity, SourceError, SourceProvider, compile};
use p4c::files::Files;
use std::fs;
use std::path::{Path, PathBuf};

/// A program under a name of its own; includes from where they really are.
struct Text(String);

impl SourceProvider for Text {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        if path == "main.p4" { Ok(self.0.clone()) } else { Files.read(path) }
    }
}

/// Marsaglia's xorshift: the same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut directories: Vec<PathBuf> =
        ["tests/diagnostics", "p4src/programs", "p4src/control", "p4src/lib"]
            .iter()
            .map(|name| root.join(name))
            .collect();
    directories.extend(std::env::var_os("GARBAGE_SEEDS").map(PathBuf::from));
    let mut paths: Vec<PathBuf> = directories
        .iter()
        .flat_map(|directory| fs::read_dir(directory).expect("the directory exists").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "p4"))
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).expect("a program can be read")).collect()
}

/// The pieces that are exchanged: words and everything between them.
fn pieces(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (piece, others) = rest.split_at(length);
        pieces.push(piece);
        rest = others;
    }
    pieces
}

/// A few pieces left out, doubled, exchanged or taken from another program.
fn garbled(text: &str, other: &str, numbers: &mut Numbers) -> String {
    let mut all = pieces(text);
    let foreign = pieces(other);
    for _ in 0..1 + numbers.below(4) {
        let at = numbers.below(all.len());
        match numbers.below(5) {
            0 if !all.is_empty() => {
                all.remove(at);
            }
            1 if !all.is_empty() => {
                let piece = all[at];
                all.insert(numbers.below(all.len()), piece);
            }
            2 if !all.is_empty() => {
                let second = numbers.below(all.len());
                all.swap(at, second);
            }
            3 => {
                let from = numbers.below(foreign.len());
                let to = (from + numbers.below(40)).min(foreign.len());
                let at = at.min(all.len());
                all.splice(at..at, foreign[from..to].iter().copied());
            }
            _ => {
                let end = (at + numbers.below(40)).min(all.len());
                all.drain(at.min(end)..end);
            }
        }
    }
    all.concat()
}

#[test]
fn broken_programs_get_an_answer() {
    let rounds: usize =
        std::env::var("GARBAGE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let programs = programs();
    let mut numbers = Numbers(0x5EED);
    let mut options = Options::default();
    options.preprocessor.include_directories.push(p4c::files::BUILT_IN.into());
    for round in 0..rounds {
        let text = &programs[numbers.below(programs.len())];
        let other = &programs[numbers.below(programs.len())];
        let text = garbled(text, other, &mut numbers);
        let provider = Text(text.clone());
        let answer = std::panic::catch_unwind(|| compile(&provider, "main.p4", &options));
        let Ok(output) = answer else { panic!("round {round}: the compiler panics on\n{text}") };
        let has_errors = output.diagnostics.iter().any(|found| found.severity == Severity::Error);
        assert!(!(has_errors && output.program.is_some()), "errors and output for\n{text}");
    }
}

#[test]
fn binary_garbage_and_extremes_get_an_answer() {
    let nested = |open: &str, close: &str| open.repeat(3000) + &close.repeat(3000);
    let chain = |first: &str, link: fn(usize) -> String| {
        first.to_string() + &(1..64).map(link).collect::<String>()
    };
    for text in [
        chain("struct S0 { bit<8> x; }", |n| format!("struct S{n} {{ S{0} a; S{0} b; }}", n - 1))
            + "const S40 x = { ... };",
        chain("typedef bit<8> T0;", |n| format!("typedef tuple<T{0}, T{0}> T{n};", n - 1)),
        chain("const int c0 = 3;", |n| format!("const int c{n} = c{0} * c{0};", n - 1)),
        chain("const string s0 = \"ab\";", |n| format!("const string s{n} = s{0} ++ s{0};", n - 1)),
        chain("const bit<9> b0 = 1;", |n| {
            format!("const bit<9> b{n} = (b{0} ++ b{0})[8:0];", n - 1)
        }),
        "control c() { apply { tuple<> t; t[0] = 1; } }".into(),
        String::new(),
        "\0\u{1}\u{fffd}\u{fffd}\"".into(),
        "#".repeat(1000),
        nested("(", ")"),
        format!("const int x = {};", "9".repeat(20_000)),
        "const int x = 1 << 1 << 1 << 60000 << 60000;".into(),
        "const bit<4294967295> x = 0; const bit<65536> y = ~0;".into(),
        format!("const int x = {};", vec!["1"; 5000].join("+")),
        format!("control c() {{ apply {{ {} }} }}", "if (true) ".repeat(5000)),
        format!("typedef {} x;", nested("tuple<", ">")),
        "struct S<T> { T x; } typedef S<S<S<bit<1>>>> X;".into(),
        "extern E<T> { E(); E<E<T>> f(); } E<bit<1>>() e;".into(),
    ] {
        let mut options = Options::default();
        options.preprocessor.include_directories.push(p4c::files::BUILT_IN.into());
        compile(&Text(text), "main.p4", &options);
    }
}
