//! Makes the Rust types of all messages.
//!
//! * P4Runtime's definitions come from the installed Python package `p4runtime`: a small script
//!   writes what its modules carry as a FileDescriptorSet. Nothing of it is copied into the
//!   repository.
//!   A field of P4Runtime 1.5 that the package does not have is added: what nobody knows is dropped
//!   when a message is read, and a server must be able to refuse what it does not do.
//! * `vitrine.v1` comes from the files in `proto/vitrine/v1` through `protoc`.
//!
//! Both sets feed one run of the code generator, and are left as one file, whose path the build
//! script of `service` finds in DEP_VITRINE_MESSAGES_DESCRIPTORS. Each step that can fail on a
//! machine that is not set up ends the build with the one sentence that helps.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

const SCRIPT: &str = "proto/p4runtime_descriptors.py";
const VITRINE_FOLDER: &str = "proto/vitrine/v1";

fn main() {
    println!("cargo::rerun-if-changed={SCRIPT}");
    println!("cargo::rerun-if-changed={VITRINE_FOLDER}");
    println!("cargo::rerun-if-env-changed=VITRINE_PYTHON");
    println!("cargo::rerun-if-env-changed=PROTOC");

    if let Err(problem) = build() {
        println!("cargo::error={problem}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets no OUT_DIR")?);
    let mut files = p4runtime_descriptors(&out)?;
    add_backup_replicas(&mut files);
    files.file.extend(vitrine_descriptors(&out)?.file);
    let descriptors = out.join("descriptors.binpb");
    std::fs::write(&descriptors, files.encode_to_vec())
        .map_err(|error| format!("{}: {error}", descriptors.display()))?;
    println!("cargo::metadata=DESCRIPTORS={}", descriptors.display());
    prost_build::Config::new()
        .bytes(["."])
        // Ordered maps: what a client reads back is the same bytes every time.
        .btree_map(["."])
        .compile_fds(files)
        .map_err(|error| format!("generating Rust from the protobuf definitions failed: {error}"))
}

/// The descriptors of `p4.v1` and all it imports, from the first Python that has them.
fn p4runtime_descriptors(out: &Path) -> Result<FileDescriptorSet, String> {
    let python = interpreter();
    let target = out.join("p4runtime.binpb");
    let run = Command::new(&python).arg(SCRIPT).arg(&target).output();
    let advice = "P4Runtime's protobuf definitions come from the Python package `p4runtime`. Run \
                  `make setup` in the repository's root, or set VITRINE_PYTHON to a Python that \
                  has the package";
    succeeded(run).map_err(|why| format!("{}: {why}. {advice}.", python.display()))?;
    read(&target)
}

/// `Replica.backup_replicas`, where the package is older than it.
fn add_backup_replicas(files: &mut FileDescriptorSet) {
    let field = |name: &str, number, label: Label, kind: Type, type_name: Option<&str>| {
        FieldDescriptorProto {
            name: Some(name.to_owned()),
            number: Some(number),
            label: Some(label.into()),
            r#type: Some(kind.into()),
            type_name: type_name.map(str::to_owned),
            ..FieldDescriptorProto::default()
        }
    };
    for file in files.file.iter_mut().filter(|file| file.package() == "p4.v1") {
        if file.message_type.iter().any(|message| message.name() == "BackupReplica") {
            continue;
        }
        let replica = file.message_type.iter_mut().find(|message| message.name() == "Replica");
        let Some(replica) = replica else { continue };
        let of = Some(".p4.v1.BackupReplica");
        replica.field.push(field("backup_replicas", 4, Label::Repeated, Type::Message, of));
        file.message_type.push(DescriptorProto {
            name: Some("BackupReplica".to_owned()),
            field: vec![
                field("port", 1, Label::Optional, Type::Bytes, None),
                field("instance", 2, Label::Optional, Type::Uint32, None),
            ],
            ..DescriptorProto::default()
        });
    }
}

/// `VITRINE_PYTHON`, else the repository's own virtual environment, else the machine's python3.
fn interpreter() -> PathBuf {
    if let Some(named) = env::var_os("VITRINE_PYTHON") {
        return PathBuf::from(named);
    }
    // crates/messages -> crates -> switch -> the repository's root.
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../build/venv/bin/python");
    println!("cargo::rerun-if-changed={}", venv.display());
    if venv.exists() { venv } else { PathBuf::from("python3") }
}

/// The descriptors of `vitrine.v1`; it imports nothing from elsewhere.
fn vitrine_descriptors(out: &Path) -> Result<FileDescriptorSet, String> {
    let protoc = env::var_os("PROTOC").map_or_else(|| PathBuf::from("protoc"), PathBuf::from);
    let target = out.join("vitrine.binpb");
    let mut set_out = std::ffi::OsString::from("--descriptor_set_out=");
    set_out.push(&target);
    let run = Command::new(&protoc)
        .args(["--include_source_info", "--proto_path=proto"])
        // protoc 3.12 (Ubuntu 22.04) wants this for `optional`; later ones accept and ignore it.
        .arg("--experimental_allow_proto3_optional")
        .arg(set_out)
        .args(vitrine_files()?)
        .output();
    let advice = "Run `make setup` in the repository's root, or install the package \
                  protobuf-compiler";
    succeeded(run).map_err(|why| format!("{}: {why}. {advice}.", protoc.display()))?;
    read(&target)
}

/// The proto files of `vitrine.v1`, in the order of their names.
fn vitrine_files() -> Result<Vec<PathBuf>, String> {
    let complaint = |error: std::io::Error| format!("{VITRINE_FOLDER}: {error}");
    let entries = std::fs::read_dir(VITRINE_FOLDER).map_err(complaint)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<Result<Vec<_>, _>>().map_err(complaint)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "proto"));
    paths.sort();
    Ok(paths)
}

fn succeeded(run: std::io::Result<Output>) -> Result<(), String> {
    let output = run.map_err(|error| format!("cannot be started ({error})"))?;
    if output.status.success() {
        return Ok(());
    }
    // The last line of a Python traceback or of protoc's complaint names the cause.
    let stderr = String::from_utf8_lossy(&output.stderr);
    let cause = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message");
    Err(format!("{} ({cause})", output.status))
}

fn read(path: &Path) -> Result<FileDescriptorSet, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    FileDescriptorSet::decode(bytes.as_slice())
        .map_err(|error| format!("{} is no FileDescriptorSet: {error}", path.display()))
}
