//! Makes the Rust of the gRPC services out of the descriptors that `messages` has gathered; the
//! messages themselves are that crate's.

use std::env;
use std::path::PathBuf;

use prost::Message;
use prost_types::FileDescriptorSet;

/// Packages that have messages, and where those are in Rust.
const MESSAGES: [(&str, &str); 4] = [
    (".google.rpc", "::messages::google::rpc"),
    (".p4.config.v1", "::messages::p4::config::v1"),
    (".p4.v1", "::messages::p4::v1"),
    (".vitrine.v1", "::messages::vitrine::v1"),
];

fn main() {
    if let Err(problem) = build() {
        println!("cargo::error={problem}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let path = env::var_os("DEP_VITRINE_MESSAGES_DESCRIPTORS");
    let path = PathBuf::from(path.ok_or("the crate `messages` has not told of its descriptors")?);
    println!("cargo::rerun-if-changed={}", path.display());
    let complaint = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = std::fs::read(&path).map_err(|error| complaint(&error))?;
    let files = FileDescriptorSet::decode(bytes.as_slice()).map_err(|error| complaint(&error))?;
    MESSAGES
        .into_iter()
        .fold(tonic_prost_build::configure(), |builder, (package, path)| {
            builder.extern_path(package, path)
        })
        .compile_fds(files)
        .map_err(|error| format!("generating Rust from the protobuf definitions failed: {error}"))
}
