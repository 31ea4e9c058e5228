//! The generated protobuf messages of P4Runtime and `vitrine.v1`, by package; and the one message
//! nobody ships any more.
//!
//! The only crate whose build needs Python and `protoc`; `build.rs` says where the definitions come
//! from. The gRPC services themselves are generated in `service`, from the same descriptors.

#![allow(missing_docs, clippy::all, rustdoc::all)]

pub mod google {
    pub mod rpc {
        include!(concat!(env!("OUT_DIR"), "/google.rpc.rs"));
    }
}

pub mod p4 {
    pub mod config {
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/p4.config.v1.rs"));
        }
    }

    pub mod v1 {
        include!(concat!(env!("OUT_DIR"), "/p4.v1.rs"));
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
        include!(concat!(env!("OUT_DIR"), "/vitrine.v1.rs"));
    }
}
