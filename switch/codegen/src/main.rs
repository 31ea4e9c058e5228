//! Generates the Rust code of all protobuf messages and gRPC services, which is checked in.
//!
//! Usage: `codegen P4RUNTIME VITRINE MESSAGES SERVICES`
//!
//! `P4RUNTIME` and `VITRINE` are files with a FileDescriptorSet each; the messages go into the folder
//! `MESSAGES`, the gRPC servers and clients into `SERVICES`. `tests/generated_code.sh` calls it with
//! the descriptors of the installed Python package `p4runtime` and of `vitrine.v1`.
//!
//! Only this crate depends on the code generators, and no other crate depends on it. So a build of
//! the switch needs neither Python nor `protoc`.

use std::path::Path;
use std::process::ExitCode;

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

/// The packages with messages, and where those are in Rust.
const MESSAGES: [(&str, &str); 4] = [
    (".google.rpc", "::messages::google::rpc"),
    (".p4.config.v1", "::messages::p4::config::v1"),
    (".p4.v1", "::messages::p4::v1"),
    (".vitrine.v1", "::messages::vitrine::v1"),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [p4runtime, vitrine, messages, services] = arguments.as_slice() else {
        eprintln!("usage: codegen P4RUNTIME VITRINE MESSAGES SERVICES");
        return ExitCode::from(2);
    };
    match generate(p4runtime, vitrine, messages, services) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("codegen: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn generate(p4runtime: &str, vitrine: &str, messages: &str, services: &str) -> Result<(), String> {
    let mut files = read(Path::new(p4runtime))?;
    add_backup_replicas(&mut files);
    files.file.extend(read(Path::new(vitrine))?.file);
    prost_build::Config::new()
        .bytes(["."])
        // Ordered maps: a client reads back the same bytes every time.
        .btree_map(["."])
        .out_dir(messages)
        .compile_fds(files.clone())
        .map_err(|error| format!("cannot generate the messages: {error}"))?;
    MESSAGES
        .into_iter()
        .fold(tonic_prost_build::configure(), |builder, (package, path)| {
            builder.extern_path(package, path)
        })
        .out_dir(services)
        .compile_fds(files)
        .map_err(|error| format!("cannot generate the services: {error}"))
}

/// Adds `Replica.backup_replicas` of P4Runtime 1.5 where the package is older. An unknown field is
/// dropped when a message is read, and a server must be able to refuse what it does not support.
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

fn read(path: &Path) -> Result<FileDescriptorSet, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    FileDescriptorSet::decode(bytes.as_slice())
        .map_err(|error| format!("{} is no FileDescriptorSet: {error}", path.display()))
}
