//! The command line of p4c-bm2-ss and of the p4c driver, as far as build files use it.

use syntax::preprocessor::Definition;

/// What to do.
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
    /// `--maxErrorCount`: so many errors are shown.
    pub error_count_max: Option<usize>,
    /// `--Wwarn`: these warnings (all if the list has an empty name) stay warnings.
    pub warnings_kept: Vec<String>,
    /// The format where `--p4runtime-format` or the older options say it.
    pub p4info_format: Option<P4InfoFormat>,
    /// `-I`.
    pub include_directories: Vec<String>,
    /// `-D` and `-U`.
    pub definitions: Vec<Definition>,
    /// `-E`: print the preprocessed text, compile nothing.
    pub preprocess_only: bool,
    /// `--Werror`: these warnings (all if the list has an empty name) are errors.
    pub warnings_as_errors: Vec<String>,
    /// `--Wdisable`: these warnings (all if the list has an empty name) are not shown.
    pub warnings_disabled: Vec<String>,
    /// `--emit-externs`.
    pub emit_externs: bool,
    /// `--help` or `--version`: print this text, do nothing.
    pub print: Option<Print>,
}

/// Texts to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// How to call it.
    Help,
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
Compiles a P4-16 program for the architecture v1model or BMv2's PSA: whichever its main is of.

usage: vitrine-p4c [options] PROGRAM.p4
       vitrine-p4c lsp [-I DIRECTORY] [-D NAME]    answer an editor (docs/editors.md)

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
  --p4v 16, --std p4-16, --arch v1model, --arch psa, --target bmv2
                             accepted: there is nothing else, and the program says which it is
  -v, -g, --dump DIRECTORY, --top4 PASSES
                             accepted: there are no passes to tell of
  --version, --help
";

/// Reads the arguments behind the program's name; or says which one is wrong.
///
/// `is_driver` says that the program was started as `p4c`, whose `-o` names a directory.
pub fn parse(arguments: &[String], is_driver: bool) -> Result<Arguments, String> {
    let mut parsed = Arguments::default();
    let mut rest = arguments.iter();
    let mut output_directory = None;
    while let Some(argument) = rest.next() {
        let (name, inline) = split(argument);
        let mut value = || match &inline {
            Some(value) => Ok(value.clone()),
            None => rest.next().cloned().ok_or_else(|| format!("{name} needs a value")),
        };
        match name.as_str() {
            "-h" | "--help" => parsed.print = Some(Print::Help),
            "--version" => parsed.print = Some(Print::Version),
            "-I" => parsed.include_directories.push(value()?),
            "-D" => parsed.definitions.push(Definition::Define(value()?)),
            "-U" => parsed.definitions.push(Definition::Undefine(value()?)),
            "-E" => parsed.preprocess_only = true,
            "-o" if is_driver => output_directory = Some(value()?),
            "-o" => parsed.output = Some(value()?),
            "--toJSON" | "--toJson" => {
                return Err(format!(
                    "{name} writes p4c's inner form of the program, which is not here; -o writes \
                     BMv2 JSON"
                ));
            }
            "--p4runtime-files" | "--p4runtime-file" => {
                parsed.p4info_files.extend(value()?.split(',').map(String::from));
            }
            "--p4runtime-entries-files" | "--p4runtime-entries-file" => {
                let files: Vec<String> = value()?.split(',').map(String::from).collect();
                if let Some(binary) = files.iter().find(|name| !is_text(name)) {
                    return Err(format!("{name} {binary}: entries are written as text only"));
                }
                parsed.entries_files.extend(files);
            }
            "--pp" => parsed.preprocessed = Some(value()?),
            "--ndebug" => parsed.without_assertions = true,
            "--maxErrorCount" => parsed.error_count_max = Some(number(&name, &value()?)?),
            "-v" | "-g" => {}
            "--dump" | "--top4" => drop(value()?),
            "--p4runtime-format" => parsed.p4info_format = Some(format(&value()?)?),
            "--p4v" => require(&name, &value()?, &["16", "p4-16"])?,
            "--std" | "-x" => require(&name, &value()?, &["p4-16", "p4_16", "16"])?,
            "--arch" | "-a" => require(&name, &value()?, &["v1model", "psa"])?,
            "--target" | "-b" => {
                require(
                    &name,
                    &value()?,
                    &["bmv2", "bmv2-ss-p4org", "simple_switch", "psa_switch"],
                )?;
            }
            "--Werror" => parsed.warnings_as_errors.extend(list(inline)),
            "--Wwarn" => parsed.warnings_kept.extend(list(inline)),
            "--Wdisable" => parsed.warnings_disabled.extend(list(inline)),
            "--emit-externs" => parsed.emit_externs = true,
            _ if name.starts_with('-') && name.len() > 1 => {
                return Err(format!("there is no option {name}"));
            }
            _ if parsed.main_file.is_some() => {
                return Err(format!("one program at a time: {argument} is one too many"));
            }
            _ => parsed.main_file = Some(argument.clone()),
        }
    }
    if is_driver && let Some(main_file) = &parsed.main_file {
        let directory = output_directory.unwrap_or_else(|| ".".into());
        parsed.output = Some(format!("{directory}/{}.json", stem(main_file)));
    }
    Ok(parsed)
}

/// `--name=value` and `-Ivalue` in two parts.
fn split(argument: &str) -> (String, Option<String>) {
    if argument.starts_with("--") {
        return match argument.split_once('=') {
            Some((name, value)) => (name.into(), Some(value.into())),
            None => (argument.into(), None),
        };
    }
    for short in ["-I", "-D", "-U"] {
        if let Some(value) = argument.strip_prefix(short)
            && !value.is_empty()
        {
            return (short.into(), Some(value.into()));
        }
    }
    (argument.into(), None)
}

fn list(names: Option<String>) -> Vec<String> {
    names.unwrap_or_default().split(',').map(String::from).collect()
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
