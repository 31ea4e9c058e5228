//! The repository's own programs, and programs that are made up.

use std::fs;
use std::path::{Path, PathBuf};

use compiler::PreprocessorOptions;
use compiler::{SourceError, SourceProvider};
use p4c::files::{BUILT_IN, Files};

use super::chance::Chance;

/// The folder of the whole kit.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The P4 files of a folder, in order.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "p4")).collect();
    paths.sort();
    paths
}

/// Compiles a program; none if it is no whole program, as what others include is not.
pub fn compile(path: &Path) -> Option<bmv2::Program> {
    let include_directories =
        vec![root().join("p4src").to_string_lossy().into_owned(), BUILT_IN.to_owned()];
    let preprocessor = PreprocessorOptions { include_directories, ..Default::default() };
    let options = compiler::Options { preprocessor, ..Default::default() };
    compiler::compile(&Files, &path.to_string_lossy(), &options).program
}

/// The packets that a program's own test sends, and some that many programs know.
pub fn packets(program: &Path) -> Vec<Vec<u8>> {
    let test = fs::read_to_string(program.with_extension("stf")).unwrap_or_default();
    let lines = test.lines().filter_map(|line| line.strip_prefix("packet "));
    let mut packets: Vec<Vec<u8>> = lines.filter_map(bytes_of).collect();
    packets.extend([6, 17].map(ipv4));
    packets
}

/// The bytes of a line `PORT BYTES`.
fn bytes_of(line: &str) -> Option<Vec<u8>> {
    let (_, digits) = line.trim().split_once(' ')?;
    let digits: String = digits.split_whitespace().collect();
    let pairs = (0..digits.len() / 2).map(|pair| digits.get(2 * pair..2 * pair + 2));
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}

/// An IPv4 packet from 10.0.0.1 to 10.0.0.9 with time to live 64 and a right checksum.
fn ipv4(protocol: u8) -> Vec<u8> {
    let mut packet = vec![0; 100];
    packet[12..14].copy_from_slice(&[8, 0]);
    packet[14..34].copy_from_slice(&[
        0x45, 0, 0, 86, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 9,
    ]);
    // 4500 + 0056 + 4000 + 0a00 + 0001 + 0a00 + 0009 = 9960, and the protocol.
    let checksum = !(0x9960 + u16::from(protocol));
    packet[24..26].copy_from_slice(&checksum.to_be_bytes());
    packet[34..38].copy_from_slice(&[0, 80, 1, 187]);
    packet
}

/// Widths of the made-up header's fields: 264 bits, whole bytes, few of them aligned.
pub const WIDTHS: [u32; 12] = [8, 3, 13, 1, 7, 32, 48, 64, 16, 9, 55, 8];

/// The declarations of those fields.
pub fn fields() -> String {
    let fields = WIDTHS.iter().enumerate();
    fields.map(|(number, width)| format!("bit<{width}> f{number}; ")).collect()
}

/// A program that is made up: its source, for the message of a failure.
///
/// Its parser looks ahead, verifies and chooses by a key of two fields; its control computes
/// expressions of every kind on fields of odd widths, in actions with parameters, under conditions,
/// behind a table.
pub fn made_up(chance: &mut Chance) -> String {
    let fields = fields();
    let assign = |chance: &mut Chance, params: bool| {
        let (kind, number) = (*chance.one(&["h.a", "h.b", "m"]), chance.below(WIDTHS.len()));
        let value = Expressions { chance, params }.value(WIDTHS[number], 3);
        format!("{kind}.f{number} = {value}; ")
    };
    let body = |chance: &mut Chance, params: bool| -> String {
        (0..1 + chance.below(4)).map(|_| assign(chance, params)).collect()
    };
    let [first, second, third, fourth] =
        [true, true, false, false].map(|params| body(chance, params));
    let mut test = || Expressions { chance, params: false }.test(3);
    let (outer, inner, asked) = (test(), test(), test());
    let (parsed, wide) = (assign(chance, false), WIDTHS[7]);
    // 8 registers, and an index that is beyond them every other time.
    let [read, written] = [0; 2].map(|_: u32| *chance.one(&[0, 2, 4, 5]));
    let stored = Expressions { chance, params: false }.value(33, 2);
    let case = chance.below(4);
    let key = *chance.one(&["exact", "ternary"]);
    let (one, two) = (chance.below(WIDTHS.len()), chance.below(5));
    format!(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header h_t {{ {fields} }}\n\
         struct headers {{ h_t a; h_t b; }}\nstruct meta {{ {fields} }}\n\
         parser p(packet_in k, out headers h, inout meta m, inout standard_metadata_t s) {{\n\
         state start {{ bit<32> ahead = k.lookahead<bit<32>>(); k.extract(h.a); m.f7 = (bit<{wide}>) ahead;\n\
         {parsed} verify({asked}, error.NoMatch); m.f0 = 1;\n\
         transition select(h.a.f0, h.a.f1) {{ ({case}, _): more; (_, 2 &&& 3): more;\n\
         default: accept; }} }}\n\
         state more {{ k.extract(h.b); transition accept; }} }}\n\
         control v(inout headers h, inout meta m) {{ apply {{}} }}\n\
         control i(inout headers h, inout meta m, inout standard_metadata_t s) {{\n\
         register<bit<33>>(8) r; bit<33> v;\n\
         action x(bit<7> p0, bit<48> p1) {{ {first} }}\n\
         action y(bit<64> p0, bit<13> p1) {{ {second} }}\n\
         action z() {{ {third} }}\n\
         table t {{ key = {{ h.a.f{one}: {key}; h.a.f{two}: exact; }}\n\
         actions = {{ x; y; z; }} default_action = z(); }}\n\
         apply {{ s.egress_spec = 2; v = 5;\n\
         r.read(v, (bit<32>) h.a.f{read}[3:0]); h.a.f9 = h.a.f9 ^ (bit<9>) v;\n\
         r.write((bit<32>) h.a.f{written}[3:0], {stored});\n\
         if ({outer}) {{ if (t.apply().hit) {{ {fourth} }} else {{ if ({inner}) {{ z(); }} }} }}\n\
         else {{ t.apply(); mark_to_drop(s); s.egress_spec = (bit<9>) h.a.f2; }} }} }}\n\
         control e(inout headers h, inout meta m, inout standard_metadata_t s) {{ apply {{\n\
         h.a.f3 = m.f3; h.a.f6 = m.f6 ^ (bit<48>) m.f10; }} }}\n\
         control c(inout headers h, inout meta m) {{ apply {{\n\
         update_checksum(h.a.isValid(), {{ h.a.f0, h.a.f1, h.a.f2, h.a.f3, h.a.f4, h.a.f5,\n\
         h.a.f6, h.a.f7 }}, h.a.f8, HashAlgorithm.csum16); }} }}\n\
         control d(packet_out k, in headers h) {{ apply {{ k.emit(h.a); k.emit(h.b); }} }}\n\
         V1Switch(p(), v(), i(), e(), c(), d()) main;\n"
    )
}

/// Compiles a program that is made up.
pub fn compile_text(source: String) -> bmv2::Program {
    struct One(String);
    impl SourceProvider for One {
        fn read(&self, path: &str) -> Result<String, SourceError> {
            if path == "made_up.p4" { Ok(self.0.clone()) } else { Files.read(path) }
        }
    }
    let preprocessor = PreprocessorOptions {
        include_directories: vec![BUILT_IN.to_owned()],
        ..Default::default()
    };
    let options = compiler::Options { preprocessor, ..Default::default() };
    let output = compiler::compile(&One(source.clone()), "made_up.p4", &options);
    output.program.unwrap_or_else(|| panic!("{:?}\n{source}", output.diagnostics))
}

/// Made-up expressions.
pub struct Expressions<'a> {
    pub chance: &'a mut Chance,
    /// Whether there are parameters.
    pub params: bool,
}

impl Expressions<'_> {
    /// A number of `bit<width>`.
    pub fn value(&mut self, width: u32, depth: u32) -> String {
        if depth == 0 {
            return self.leaf(width);
        }
        let (left, right) = (self.value(width, depth - 1), self.value(width, depth - 1));
        match self.chance.below(10) {
            0 => self.leaf(width),
            1 => format!("(~{left})"),
            2 => format!("({left} << {})", self.value(8, 0)),
            3 => format!("({left} >> {})", self.value(8, 0)),
            4 => format!("((bit<{width}>) (((int<{width}>) {left}) >> {}))", self.value(8, 0)),
            5 => format!("({} ? {left} : {right})", self.test(depth - 1)),
            _ => {
                let operator = *self.chance.one(&["+", "-", "*", "&", "|", "^", "|+|", "|-|"]);
                format!("({left} {operator} {right})")
            }
        }
    }

    fn leaf(&mut self, width: u32) -> String {
        let number = self.chance.below(WIDTHS.len());
        match self.chance.below(5) {
            0 => format!("{width}w{}", self.chance.number(width)),
            1 if self.params => format!("((bit<{width}>) p{})", self.chance.below(2)),
            2 => format!("((bit<{width}>) m.f{number})"),
            3 => {
                let high = self.chance.below(WIDTHS[number] as usize);
                let low = self.chance.below(high + 1);
                format!("((bit<{width}>) h.a.f{number}[{high}:{low}])")
            }
            _ => format!("((bit<{width}>) h.{}.f{number})", self.chance.one(&["a", "b"])),
        }
    }

    /// A question.
    pub fn test(&mut self, depth: u32) -> String {
        if depth == 0 {
            return format!("h.{}.isValid()", self.chance.one(&["a", "b"]));
        }
        let width = *self.chance.one(&WIDTHS);
        match self.chance.below(7) {
            0 => format!("({} && {})", self.test(depth - 1), self.test(depth - 1)),
            1 => format!("({} || {})", self.test(depth - 1), self.test(depth - 1)),
            2 => format!("(!{})", self.test(depth - 1)),
            3 => self.of_fields(depth - 1),
            kind => {
                let (left, right) = (self.value(width, depth - 1), self.value(width, depth - 1));
                let compare = *self.chance.one(&["==", "!=", "<", "<=", ">", ">="]);
                let sign = if kind == 4 { format!("(int<{width}>) ") } else { String::new() };
                format!("({sign}{left} {compare} {sign}{right})")
            }
        }
    }

    /// A question about fields as they are, which the pipeline makes a list of tests. The numbers are
    /// small, as those in the first two fields of the packets are.
    pub fn of_fields(&mut self, depth: u32) -> String {
        if depth > 0 && self.chance.below(4) > 0 {
            let (left, right) = (self.of_fields(depth - 1), self.of_fields(depth - 1));
            return match self.chance.below(5) {
                0 => format!("(!{left})"),
                1 | 2 => format!("({left} && {right})"),
                _ => format!("({left} || {right})"),
            };
        }
        let any = self.chance.below(WIDTHS.len());
        let (kind, number) =
            (*self.chance.one(&["h.a", "h.b", "m"]), *self.chance.one(&[0, 1, any]));
        let compare = *self.chance.one(&["==", "!=", "<", "<=", ">", ">="]);
        let (width, small) = (WIDTHS[number], self.chance.below(8));
        match self.chance.below(5) {
            0 => self.test(0),
            1 => format!("({kind}.f{number} {compare} h.a.f{number})"),
            _ => format!("({kind}.f{number} {compare} {width}w{})", small % (1 << width.min(3))),
        }
    }
}
