//! The command line of p4c-bm2-ss and of the p4c driver, as far as build files use it.

use std::collections::VecDeque;
use syntax::preprocessor::Definition;

/// The command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The program.
    pub main_file: Option<String>,
    /// Where the BMv2 JSON goes (`-o`); nowhere if not asked for.
    pub output: Option<String>,
    /// Where the P4Info goes, its format by the ending of the name.
    pub p4info_files: Vec<String>,
    /// Where the program's entries go, as P4Runtime's text.
    pub entries_files: Vec<String>,
    /// `--pp`: where the preprocessed program goes.
    pub preprocessed: Option<String>,
    /// `--ndebug`: assertions are left out.
    pub without_assertions: bool,
    /// `--maxErrorCount`: the number of errors shown.
    pub error_count_max: Option<usize>,
    /// `--Wwarn`: these warnings (all if the list has an empty name) stay warnings.
    pub warnings_kept: Vec<String>,
    /// The format where `--p4runtime-format` or the older options say it.
    pub p4info_format: Option<P4InfoFormat>,
    /// `-I`.
    pub include_directories: Vec<String>,
    /// `-D` and `-U`.
    pub definitions: Vec<Definition>,
    /// `-E`: print the preprocessed text, or write it to [`Arguments::preprocessed`]; compile nothing.
    pub preprocess_only: bool,
    /// `-o` of the driver: made if it is missing.
    pub output_directory: Option<String>,
    /// `-M` and `-MD`: a rule for make with the files that were read.
    pub make_rule: Option<MakeRule>,
    /// `-###`: print the command, run nothing.
    pub is_dry_run: bool,
    /// `--disable-annotations`: these annotations are ignored.
    pub annotations_disabled: Vec<String>,
    /// `--Werror`: these warnings (all if the list has an empty name) are errors.
    pub warnings_as_errors: Vec<String>,
    /// `--Wdisable`: these warnings (all if the list has an empty name) are not shown.
    pub warnings_disabled: Vec<String>,
    /// `--emit-externs`.
    pub emit_externs: bool,
    /// `--help` or `--version`: print this text, do nothing.
    pub print: Option<Print>,
}

/// The rule for `-M` and `-MD`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MakeRule {
    /// `-MF`, or for `-MD` a file beside the output; without either the rule is printed.
    pub file: Option<String>,
    /// `-MT`: what depends on the files; otherwise the JSON.
    pub targets: Vec<String>,
    /// `-MD`: compile besides.
    pub compiles: bool,
}

/// Texts to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// How to call it.
    Help,
    /// `--target-help`: for which switches it compiles.
    Targets,
    /// Which version it is.
    Version,
}

/// How to write P4Info.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum P4InfoFormat {
    /// Protobuf's binary form.
    Binary,
    /// Protobuf's JSON form.
    Json,
    /// Protobuf's text form.
    Text,
}

impl P4InfoFormat {
    /// By the ending of a file name, as p4c does it.
    pub fn of_file(name: &str) -> P4InfoFormat {
        match name.rsplit_once('.') {
            Some((_, "bin")) => P4InfoFormat::Binary,
            Some((_, "json")) => P4InfoFormat::Json,
            _ => P4InfoFormat::Text,
        }
    }
}

/// The text of `--help`.
pub const HELP: &str = "\
Compiles a P4-16 program for v1model, BMv2's PSA or Tofino's tna and t2na: whichever its main is of.

usage: vitrine-p4c [options] PROGRAM.p4
       vitrine-p4c lsp [-I DIRECTORY] [-D NAME]    answer an editor (docs/editors.md)
       vitrine-p4c test [options] PROGRAM.p4       check a program of any architecture
       vitrine-p4c fmt PROGRAM.p4 [-o FILE]        lay out its text (- reads standard input)
       vitrine-p4c graphs [options] PROGRAM.p4 [--graphs-dir DIRECTORY] [--fullGraph]
                                                   draw its parsers and controls for Graphviz

  -o FILE                    write BMv2 JSON (started as `p4c`: the directory for NAME.json)
  --p4runtime-files A,B      write P4Info: text, or binary or JSON for names that end
                             in .bin and .json
  --p4runtime-format FORMAT  text, binary or json, whatever the names
  --p4runtime-entries-files A,B
                             write the program's entries as a P4Runtime WriteRequest in text
  -I DIRECTORY               search included files here first
  -D NAME[=VALUE], -U NAME   define or undefine a macro
  -E, --pp FILE              print the preprocessed program, or write it while compiling
  --ndebug                   leave assert and assume out
  --maxErrorCount NUMBER     show no more errors than these
  --Werror[=WARNING]         treat warnings as errors
  --Wdisable[=WARNING]       do not show warnings
  --Wwarn[=WARNING]          keep warnings in spite of --Werror
  --emit-externs             keep calls of externs that the architecture does not have
  --disable-annotations=A,B  ignore annotations of these names
  -M, -MD                    print a rule for make with the files that are read; -MD compiles,
                             too, and writes the rule beside the output
  -MF FILE, -MT TARGET       where that rule goes, and what depends on the files
  --target tofino2           define __TARGET_TOFINO__ as 2 (--target tofino: as 1)
  --p4v 16, --std p4-16, --arch v1model|psa|tna|t2na, --target bmv2
                             accepted: there is nothing else, and the program says which it is
  -v, -g, -T LEVEL, --dump DIRECTORY, --top4 PASSES, --metrics NAMES, --parser-inline-opt
                             accepted: there are no passes to report on
  --version, --help

started as `p4c`, besides:
  -E                         write NAME.p4i into the directory of -o, compile nothing
  -e                         compile NAME.p4i of that directory
  -c, -S                     accepted: there is no assembler and no linker
  -Xp4c=OPTIONS, -Xpreprocessor=OPTIONS
                             options for the compiler
  -Xassembler=OPTIONS, -Xlinker=OPTIONS
                             accepted and ignored
  -###                       print the command, run nothing
  --debug, --target-help, -V
";

/// Reads the arguments behind the program's name; or says which one is wrong.
///
/// `is_driver` says that the program was started as `p4c`, whose `-o` names a directory.
pub fn parse(arguments: &[String], is_driver: bool) -> Result<Arguments, String> {
    let mut reader = Reader {
        rest: arguments.iter().map(|word| (word.clone(), is_driver)).collect(),
        ..Reader::default()
    };
    while let Some((argument, is_driver)) = reader.rest.pop_front() {
        let (name, inline) = split(&argument, is_driver);
        if is_driver && reader.driver_option(&name, inline.as_ref())?
            || reader.rule_option(&name, inline.as_ref())?
            || reader.file_option(&name, inline.as_ref())?
            || reader.message_option(&name, inline.as_ref())?
            || reader.accepted_option(&name, inline.as_ref())?
        {
            continue;
        }
        if name.starts_with('-') && name.len() > 1 {
            return Err(format!("there is no option {name}"));
        }
        if reader.parsed.main_file.is_some() {
            return Err(format!("one program at a time: {argument} is one too many"));
        }
        reader.parsed.main_file = Some(argument);
    }
    reader.finish(is_driver)
}

/// The command line as far as it is read. Each of its methods takes options of one kind and says whether
/// this was one.
#[derive(Default)]
struct Reader {
    parsed: Arguments,
    /// Words still to be read, and whether they are for the driver.
    rest: VecDeque<(String, bool)>,
    /// `-o` of the driver.
    output_directory: Option<String>,
    /// `-e` of the driver.
    skips_preprocessor: bool,
    /// `-MF`.
    rule_file: Option<String>,
    /// `-MT`.
    rule_targets: Vec<String>,
}

impl Reader {
    /// The value of an option: behind its `=`, or the next word.
    fn value(&mut self, name: &str, inline: Option<&String>) -> Result<String, String> {
        let next = || self.rest.pop_front().map(|(word, _)| word);
        inline.cloned().or_else(next).ok_or_else(|| format!("{name} needs a value"))
    }

    /// Options that only p4lang's driver takes, or takes in another sense.
    fn driver_option(&mut self, name: &str, inline: Option<&String>) -> Result<bool, String> {
        match name {
            "-###" | "--test-only" => self.parsed.is_dry_run = true,
            "-V" => self.parsed.print = Some(Print::Version),
            "-Xassembler" | "-Xlinker" => drop(self.value(name, inline)?),
            "-Xp4c" | "-Xpreprocessor" => {
                let value = self.value(name, inline)?;
                for word in value.split_whitespace().rev() {
                    self.rest.push_front((word.to_owned(), false));
                }
            }
            "-c" | "--compile" | "-S" | "--debug" => {}
            "-e" => self.skips_preprocessor = true,
            "-o" | "--output" => self.output_directory = Some(self.value(name, inline)?),
            "--disable-annotations"
            | "--disable-annotation"
            | "--disable-pragmas"
            | "--disable-pragma" => {
                let names = self.value(name, inline)?;
                self.parsed.annotations_disabled.extend(list(Some(&names)));
            }
            "--target-help" | "--targets-help" | "--help-targets" => {
                self.parsed.print = Some(Print::Targets);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The rule for make.
    fn rule_option(&mut self, name: &str, inline: Option<&String>) -> Result<bool, String> {
        match name {
            "-M" => drop(self.parsed.make_rule.get_or_insert_default()),
            "-MD" => self.parsed.make_rule.get_or_insert_default().compiles = true,
            "-MF" => self.rule_file = Some(self.value(name, inline)?),
            "-MT" => {
                let target = self.value(name, inline)?;
                self.rule_targets.push(target);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Options about files read and written.
    fn file_option(&mut self, name: &str, inline: Option<&String>) -> Result<bool, String> {
        match name {
            "-I" => {
                let directory = self.value(name, inline)?;
                self.parsed.include_directories.push(directory);
            }
            "-D" => {
                let text = self.value(name, inline)?;
                self.parsed.definitions.push(Definition::Define(text));
            }
            "-U" => {
                let name = self.value(name, inline)?;
                self.parsed.definitions.push(Definition::Undefine(name));
            }
            "-E" => self.parsed.preprocess_only = true,
            "-o" => self.parsed.output = Some(self.value(name, inline)?),
            "--pp" => self.parsed.preprocessed = Some(self.value(name, inline)?),
            "--toJSON" | "--toJson" => {
                return Err(format!(
                    "{name} writes p4c's inner form of the program, which is not here; -o writes \
                     BMv2 JSON"
                ));
            }
            "--p4runtime-files" | "--p4runtime-file" => {
                let files = self.value(name, inline)?;
                self.parsed.p4info_files.extend(files.split(',').map(String::from));
            }
            "--p4runtime-entries-files" | "--p4runtime-entries-file" => {
                let files = self.value(name, inline)?;
                let files: Vec<String> = files.split(',').map(String::from).collect();
                if let Some(binary) = files.iter().find(|name| !is_text(name)) {
                    return Err(format!("{name} {binary}: entries are written as text only"));
                }
                self.parsed.entries_files.extend(files);
            }
            "--p4runtime-format" => {
                self.parsed.p4info_format = Some(format(&self.value(name, inline)?)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Options about messages and the reading of the program.
    fn message_option(&mut self, name: &str, inline: Option<&String>) -> Result<bool, String> {
        let parsed = &mut self.parsed;
        match name {
            "-h" | "--help" => parsed.print = Some(Print::Help),
            "--version" => parsed.print = Some(Print::Version),
            "--Werror" => parsed.warnings_as_errors.extend(list(inline)),
            "--Wwarn" => parsed.warnings_kept.extend(list(inline)),
            "--Wdisable" => parsed.warnings_disabled.extend(list(inline)),
            "--disable-annotations" => parsed.annotations_disabled.extend(list(inline)),
            "--emit-externs" => parsed.emit_externs = true,
            "--ndebug" => parsed.without_assertions = true,
            "--maxErrorCount" => {
                let count = self.value(name, inline)?;
                self.parsed.error_count_max = Some(number(name, &count)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Options that change nothing here, or have one possible value.
    fn accepted_option(&mut self, name: &str, inline: Option<&String>) -> Result<bool, String> {
        match name {
            "-v" | "-g" | "--parser-inline-opt" => {}
            "--dump" | "--top4" | "--metrics" | "-T" => drop(self.value(name, inline)?),
            "--p4v" => require(name, &self.value(name, inline)?, &["16", "p4-16"])?,
            "--std" | "-x" => {
                require(name, &self.value(name, inline)?, &["p4-16", "p4_16", "16"])?;
            }
            "--arch" | "-a" => {
                require(name, &self.value(name, inline)?, &["v1model", "psa", "tna", "t2na"])?
            }
            "--target" | "-b" => {
                let known =
                    ["bmv2", "bmv2-ss-p4org", "simple_switch", "psa_switch", "tofino", "tofino2"];
                let target = self.value(name, inline)?;
                require(name, &target, &known)?;
                // Programs for both chips test it before they include one of the two files.
                let chip = match &*target {
                    "tofino" => "1",
                    "tofino2" => "2",
                    _ => return Ok(true),
                };
                let text = format!("__TARGET_TOFINO__={chip}");
                self.parsed.definitions.push(Definition::Define(text));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The driver names its files after the program; a rule for make lies beside the output.
    fn finish(self, is_driver: bool) -> Result<Arguments, String> {
        let mut parsed = self.parsed;
        if is_driver && let Some(main_file) = parsed.main_file.clone() {
            let directory = self.output_directory.unwrap_or_else(|| ".".into());
            let stem = format!("{directory}/{}", stem(&main_file));
            parsed.output = Some(format!("{stem}.json"));
            let preprocessed = format!("{stem}.p4i");
            if self.skips_preprocessor {
                parsed.main_file = Some(preprocessed);
            } else {
                parsed.preprocessed.get_or_insert(preprocessed);
            }
            parsed.output_directory = Some(directory);
        }
        let has_rule_option = self.rule_file.is_some() || !self.rule_targets.is_empty();
        if has_rule_option && parsed.make_rule.is_none() {
            return Err("-MF and -MT belong to -M or -MD".to_owned());
        }
        if let Some(rule) = &mut parsed.make_rule {
            let beside = || Some(format!("{}.d", parsed.output.as_deref()?.strip_suffix(".json")?));
            rule.file = self.rule_file.or_else(|| beside().filter(|_| rule.compiles));
            rule.targets = self.rule_targets;
        }
        Ok(parsed)
    }
}

/// Options of the driver with one dash whose value may follow a `=`.
const DRIVER_OPTIONS: [&str; 9] =
    ["-MF", "-MT", "-Xassembler", "-Xlinker", "-Xp4c", "-Xpreprocessor", "-a", "-b", "-o"];

/// `--name=value` and `-Ivalue` in two parts.
fn split(argument: &str, is_driver: bool) -> (String, Option<String>) {
    if is_driver
        && let Some((name, value)) = argument.split_once('=')
        && DRIVER_OPTIONS.contains(&name)
    {
        return (name.into(), Some(value.into()));
    }
    if argument.starts_with("--") {
        return match argument.split_once('=') {
            Some((name, value)) => (name.into(), Some(value.into())),
            None => (argument.into(), None),
        };
    }
    for short in ["-I", "-D", "-U", "-T"] {
        if let Some(value) = argument.strip_prefix(short)
            && !value.is_empty()
        {
            return (short.into(), Some(value.into()));
        }
    }
    (argument.into(), None)
}

fn list(names: Option<&String>) -> Vec<String> {
    names.map_or("", |names| names).split(',').map(String::from).collect()
}

fn format(text: &str) -> Result<P4InfoFormat, String> {
    match text {
        "binary" => Ok(P4InfoFormat::Binary),
        "json" => Ok(P4InfoFormat::Json),
        "text" => Ok(P4InfoFormat::Text),
        _ => Err(format!("--p4runtime-format is text, binary or json, not {text}")),
    }
}

/// Whether P4Runtime's text is meant by a file's name.
fn is_text(name: &str) -> bool {
    P4InfoFormat::of_file(name) == P4InfoFormat::Text
}

fn number(option: &str, text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{option} takes a number, not {text}"))
}

fn require(option: &str, value: &str, known: &[&str]) -> Result<(), String> {
    if known.contains(&value) {
        return Ok(());
    }
    Err(format!("{option} {value} is not possible, only {}", known.join(" or ")))
}

/// The file's name without directory and `.p4`.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".p4").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str, is_driver: bool) -> Result<Arguments, String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&words, is_driver)
    }

    #[test]
    fn the_line_of_the_p4_tutorials_is_understood() {
        let line =
            "--p4v 16 --p4runtime-files build/basic.p4.p4info.txtpb -o build/basic.json basic.p4";
        let arguments = parsed(line, false).expect("understood");
        assert_eq!(arguments.output.as_deref(), Some("build/basic.json"));
        assert_eq!(arguments.p4info_files, ["build/basic.p4.p4info.txtpb"]);
        assert_eq!(arguments.main_file.as_deref(), Some("basic.p4"));
    }

    #[test]
    fn the_driver_writes_into_a_directory() {
        let line = "-b bmv2 -a v1model --std p4-16 -o out -DX=1 -I inc dir/basic.p4";
        let arguments = parsed(line, true).expect("understood");
        assert_eq!(arguments.output.as_deref(), Some("out/basic.json"));
        assert_eq!(arguments.definitions, [Definition::Define("X=1".into())]);
        assert_eq!(arguments.include_directories, ["inc"]);
    }

    #[test]
    fn the_driver_takes_the_options_of_p4langs() {
        let driver = |line: &str| parsed(line, true).expect(line);
        let arguments = driver("-E -o out a.p4");
        assert!(arguments.preprocess_only);
        assert_eq!(arguments.preprocessed.as_deref(), Some("out/a.p4i"));
        let arguments = driver("-e -o out dir/a.p4");
        assert_eq!(arguments.main_file.as_deref(), Some("out/a.p4i"));
        assert_eq!(arguments.preprocessed, None);
        let arguments = driver("-b bmv2 a.p4 -o a.bmv2");
        assert_eq!(arguments.output.as_deref(), Some("a.bmv2/a.json"));
        assert_eq!(arguments.output_directory.as_deref(), Some("a.bmv2"));
        let arguments = driver("a.p4 -Xp4c=--emit-externs -Xpreprocessor -DX=1");
        assert!(arguments.emit_externs);
        assert_eq!(arguments.definitions, [Definition::Define("X=1".into())]);
        let arguments = driver("--disable-annotations hidden,name a.p4");
        assert_eq!(arguments.annotations_disabled, ["hidden", "name"]);
        let line = "-c -S -g -v --debug -T a:1 --metrics all --parser-inline-opt --std p4-16 \
                    -Xassembler x -Xlinker=y --target=bmv2 --arch v1model a.p4";
        assert_eq!(driver(line), driver("a.p4"));
        assert!(driver("-### a.p4").is_dry_run);
        assert_eq!(driver("-V").print, Some(Print::Version));
        assert_eq!(driver("--target-help").print, Some(Print::Targets));
        assert!(parsed("-Xp4c=x a.p4", false).is_err(), "p4c-bm2-ss has no such option");
    }

    #[test]
    fn rules_for_make_go_where_the_options_say() {
        let rule = |line: &str| parsed(line, true).expect(line).make_rule.expect("a rule");
        assert_eq!(rule("-M a.p4"), MakeRule::default());
        let wanted = MakeRule {
            file: Some("o/a.d".into()),
            targets: vec!["x".into(), "y".into()],
            compiles: true,
        };
        assert_eq!(rule("-MD -o o a.p4 -MT x -MT=y"), wanted);
        assert_eq!(rule("-M -MF a.mk a.p4").file.as_deref(), Some("a.mk"));
        assert!(parsed("-MF a.mk a.p4", true).is_err());
    }

    #[test]
    fn options_that_build_files_use_are_understood() {
        let line = "-v --Wwarn=overflow --Werror --maxErrorCount 3 --dump d --ndebug --pp a.p4i \
                    --p4runtime-entries-files a.txtpb,b.txtpb a.p4";
        let arguments = parsed(line, false).expect("understood");
        assert_eq!(arguments.main_file.as_deref(), Some("a.p4"));
        assert_eq!(arguments.warnings_kept, ["overflow"]);
        assert_eq!((arguments.error_count_max, arguments.without_assertions), (Some(3), true));
        assert_eq!(arguments.preprocessed.as_deref(), Some("a.p4i"));
        assert_eq!(arguments.entries_files, ["a.txtpb", "b.txtpb"]);
    }

    #[test]
    fn the_ending_of_a_name_says_the_form_of_p4info() {
        for (name, wanted) in [
            ("a.p4info.txtpb", P4InfoFormat::Text),
            ("a.txt", P4InfoFormat::Text),
            ("a.bin", P4InfoFormat::Binary),
            ("a.p4info.json", P4InfoFormat::Json),
        ] {
            assert_eq!(P4InfoFormat::of_file(name), wanted, "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, wanted) in [
            ("--p4v 14 a.p4", "--p4v 14 is not possible, only 16 or p4-16"),
            ("--frobnicate a.p4", "there is no option --frobnicate"),
            ("a.p4 b.p4", "one program at a time: b.p4 is one too many"),
            ("a.p4 -o", "-o needs a value"),
            ("--maxErrorCount many a.p4", "--maxErrorCount takes a number, not many"),
            (
                "--p4runtime-entries-files a.bin a.p4",
                "--p4runtime-entries-files a.bin: entries are written as text only",
            ),
        ] {
            assert_eq!(parsed(line, false), Err(wanted.into()), "{line}");
        }
    }
}
