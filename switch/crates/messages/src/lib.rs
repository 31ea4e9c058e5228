//! The protobuf messages of P4Runtime and `vitrine.v1`, by package; and one message of older
//! controllers.
//!
//! `src/generated` is the output of crate `codegen`, checked in so that a build needs neither Python
//! nor `protoc`. `tests/test_messages.py` checks that it belongs to the installed package
//! `p4runtime` and to `proto/vitrine/v1`; `tests/generated_code.sh update` generates it again.

#![allow(missing_docs, clippy::all, rustdoc::all)]

pub mod google {
    pub mod rpc {
        include!("generated/google.rpc.rs");
    }
}

pub mod p4 {
    pub mod config {
        pub mod v1 {
            include!("generated/p4.config.v1.rs");
        }
    }

    pub mod v1 {
        include!("generated/p4.v1.rs");
    }

    pub mod tmp {
        /// The wrapper in which older controllers ship BMv2 JSON. The Python package `p4runtime`
        /// does not carry its definition, so the two fields that matter are declared here.
        #[derive(Clone, PartialEq, prost::Message)]
        pub struct P4DeviceConfig {
            /// Start the program anew; every load does that here.
            #[prost(bool, tag = "1")]
            pub reassign: bool,
            /// The BMv2 JSON.
            #[prost(bytes = "bytes", tag = "3")]
            pub device_data: prost::bytes::Bytes,
        }
    }
}

pub mod vitrine {
    pub mod v1 {
        include!("generated/vitrine.v1.rs");
    }
}
