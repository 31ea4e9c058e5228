//! The language server, by its messages to an editor.

use compiler::PreprocessorOptions;
use p4c::lsp::{Programs, Server, read_message, serve, write_message};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufReader, Cursor, pipe};
use std::path::{Path, PathBuf};
use std::thread;

/// An editor with one folder, whose files are this test's.
struct Editor {
    server: Server,
    folder: PathBuf,
    number: u64,
    /// The latest diagnostics of the compiler, by file name.
    marks: std::collections::BTreeMap<String, Vec<Value>>,
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Editor {
    fn new(name: &str, files: &[(&str, &str)]) -> Editor {
        let folder =
            std::env::temp_dir().join(format!("vitrine-lsp-{}-{name}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
            fs::write(path, text).expect("a file can be written");
        }
        let server = Server::new(Programs::new(PreprocessorOptions::default()));
        let mut editor = Editor { server, folder, number: 0, marks: Default::default() };
        let root = editor.address("");
        let told = editor.ask("initialize", json!({"rootUri": root}));
        assert_eq!(told["capabilities"]["hoverProvider"], true);
        editor
    }

    fn address(&self, file: &str) -> String {
        format!("file://{}", self.folder.join(file).display())
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.asked(method, parameters);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    fn asked(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters});
        let messages = self.server.handle(&message).messages;
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0]["id"], self.number);
        messages[0].clone()
    }

    fn tell(&mut self, method: &str, parameters: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": parameters});
        for told in self.server.handle(&message).messages {
            assert_eq!(told["method"], "textDocument/publishDiagnostics");
            let address = told["params"]["uri"].as_str().unwrap_or_default();
            let name =
                address.strip_prefix(&format!("{}/", self.address("").trim_end_matches('/')));
            let list = told["params"]["diagnostics"].as_array().cloned().unwrap_or_default();
            self.marks.insert(name.unwrap_or(address).to_owned(), list);
        }
    }

    fn open(&mut self, file: &str, text: &str) {
        let document =
            json!({"uri": self.address(file), "text": text, "languageId": "p4", "version": 1});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn change(&mut self, file: &str, text: &str) {
        let document = json!({"uri": self.address(file), "version": 2});
        let changes = json!([{"text": text}]);
        self.tell(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": changes}),
        );
    }

    /// Asks about the place of `needle` in a text, `behind` bytes into it.
    fn at(&mut self, method: &str, file: &str, text: &str, needle: &str, behind: usize) -> Value {
        let offset = text.find(needle).expect("it is there") + behind;
        let before = &text[..offset];
        let line = before.matches('\n').count();
        let character = before.rsplit('\n').next().unwrap_or("").encode_utf16().count();
        let position = json!({"line": line, "character": character});
        let document = json!({"uri": self.address(file)});
        self.ask(
            method,
            json!({"textDocument": document, "position": position, "newName": "renamed"}),
        )
    }
}

const PROGRAM: &str = include_str!("../../stage/tests/rig/wire.p4");
const LIBRARY: &str = "/* \u{1f4a1} */ header probe_t { bit<8> hops; }\n";

fn with_library() -> String {
    PROGRAM.replacen("#include <v1model.p4>", "#include <v1model.p4>\n#include \"lib/probe.p4\"", 1)
}

#[test]
fn mistakes_are_marked_where_they_are_and_go_when_they_are_mended() {
    let mut editor = Editor::new("marks", &[]);
    editor.open("a.p4", &PROGRAM.replacen("egress_spec", "egres_spec", 1));
    let found = &editor.marks["a.p4"];
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["severity"], 1);
    let message = found[0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("egress_spec"), "{message}");
    let fixes = editor.ask(
        "textDocument/codeAction",
        json!({"textDocument": {"uri": editor.address("a.p4")}, "range": found[0]["range"]}),
    );
    assert_eq!(fixes[0]["title"], "Replace `egres_spec` with `egress_spec`");
    editor.change("a.p4", PROGRAM);
    assert_eq!(editor.marks["a.p4"], Vec::<Value>::new());
}

#[test]
fn a_file_without_main_is_read_with_the_program_that_includes_it() {
    let program = with_library();
    let mut editor = Editor::new("owner", &[("a.p4", &program), ("lib/probe.p4", LIBRARY)]);
    let broken = LIBRARY.replace("bit<8>", "bit<8> x; byte");
    editor.open("lib/probe.p4", &broken);
    let found = &editor.marks["lib/probe.p4"];
    assert_eq!(found.len(), 1, "{found:?}");
    // "/* X */ header probe_t { bit<8> x; byte": the sign is two units of the line.
    assert_eq!(found[0]["range"]["start"], json!({"line": 0, "character": 36}));
}

#[test]
fn a_name_is_explained_found_and_renamed_in_all_files() {
    let program = with_library();
    let user = program.replacen("struct headers_t {}", "struct headers_t { probe_t probe; }", 1);
    assert_ne!(user, program, "the program has a struct of headers");
    let mut editor = Editor::new("rename", &[("a.p4", &user), ("lib/probe.p4", LIBRARY)]);
    editor.open("a.p4", &user);
    assert_eq!(editor.marks.get("a.p4"), None);
    let hover = editor.at("textDocument/hover", "a.p4", &user, "probe_t probe", 2);
    let shown = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(shown.contains("header probe_t { bit<8> hops; }"), "{shown}");
    let declared = editor.at("textDocument/definition", "a.p4", &user, "probe_t probe", 2);
    assert_eq!(declared["uri"], editor.address("lib/probe.p4"));
    assert_eq!(declared["range"]["start"], json!({"line": 0, "character": 16}));
    let edit = editor.at("textDocument/rename", "a.p4", &user, "probe_t probe", 2);
    let changes = edit["changes"].as_object().expect("changes");
    assert_eq!(changes.len(), 2, "{edit}");
    let document = json!({"uri": editor.address("a.p4")});
    let refused = editor.asked(
        "textDocument/rename",
        json!({"textDocument": document, "position": {"line": 0, "character": 0}, "newName": "x"}),
    );
    assert!(refused["error"]["message"].is_string(), "{refused}");
}

#[test]
fn fields_are_offered_behind_a_dot() {
    let mut editor = Editor::new("complete", &[]);
    // An unfinished statement, as while typing.
    let typed = PROGRAM.replacen(
        "standard.egress_spec = standard.ingress_port == 1 ? 9w2 : 9w1;",
        "standard.eg",
        1,
    );
    editor.open("a.p4", &typed);
    let found = editor.at("textDocument/completion", "a.p4", &typed, ".eg", 3);
    let items = found["items"].as_array().expect("items");
    let spec = items.iter().find(|item| item["label"] == "egress_spec").expect("egress_spec");
    assert_eq!(spec["detail"], "bit<9>");
    // "        standard.eg": what is typed of the name is replaced.
    let range = &spec["textEdit"]["range"];
    assert_eq!(
        (&range["start"]["character"], &range["end"]["character"]),
        (&json!(17), &json!(19))
    );
}

#[test]
fn what_is_unknown_is_refused_and_noise_is_survived() {
    let mut server = Server::new(Programs::new(PreprocessorOptions::default()));
    for noise in
        [json!(null), json!(3), json!([]), json!({}), json!({"id": 1}), json!({"method": 5})]
    {
        server.handle(&noise);
    }
    let refused = server.handle(&json!({"id": 1, "method": "textDocument/hover", "params": {}}));
    assert!(refused.messages[0]["error"]["message"].is_string());
    let unknown = server.handle(&json!({"id": 2, "method": "what/ever"}));
    assert!(unknown.messages[0]["error"]["code"].is_number());
    assert!(read_message(&mut Cursor::new(b"Content-Length: x\r\n\r\n")).is_err());
    assert_eq!(read_message(&mut Cursor::new(b"")).expect("the end"), None);
}

#[test]
fn it_speaks_over_pipes_until_the_editor_goes() {
    let (mut asking, mut editor) = (pipe().expect("a pipe"), pipe().expect("a pipe"));
    let serving = thread::spawn(move || {
        let mut server = Server::new(Programs::new(PreprocessorOptions::default()));
        serve(&mut server, &mut BufReader::new(asking.0), &mut editor.1)
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4src/classics/basic.p4");
    let path = path.canonicalize().expect("basic.p4 is there");
    let uri = format!("file://{}", path.display());
    let text = fs::read_to_string(&path).expect("basic.p4 can be read");
    let hover = json!({"textDocument": {"uri": uri}, "position": {"line": 9999, "character": 0}});
    let document = json!({"uri": uri, "text": text.replace("apply", "aply")});
    for message in [
        json!({"id": 1, "method": "initialize", "params": {}}),
        json!({"method": "initialized", "params": {}}),
        json!({"method": "textDocument/didOpen", "params": {"textDocument": document}}),
        json!({"id": 2, "method": "textDocument/hover", "params": hover}),
        json!({"id": 3, "method": "shutdown"}),
        json!({"method": "exit"}),
    ] {
        write_message(&mut asking.1, &message).expect("it listens");
    }
    let mut told = Vec::new();
    let mut out = BufReader::new(editor.0);
    while let Some(message) = read_message(&mut out).expect("messages") {
        told.push(message);
    }
    assert_eq!(told[0]["result"]["serverInfo"]["name"], "vitrine-p4c");
    let marks = told.iter().find(|one| one["method"] == "textDocument/publishDiagnostics");
    assert_eq!(marks.expect("marks")["params"]["uri"], uri);
    assert_eq!(told.last().expect("answers")["id"], 3);
    assert!(serving.join().expect("it ends").expect("pipes"), "somebody said goodbye");
}
