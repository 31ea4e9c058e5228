//! The generated protobuf types and services, by package; and the one message nobody ships any more.
//!
//! `build.rs` says where the definitions come from.

#![allow(missing_docs, clippy::all, rustdoc::all)]

pub mod google {
    pub mod rpc {
        tonic::include_proto!("google.rpc");
    }
}

pub mod p4 {
    pub mod config {
        pub mod v1 {
            tonic::include_proto!("p4.config.v1");
        }
    }

    pub mod v1 {
        tonic::include_proto!("p4.v1");
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
        tonic::include_proto!("vitrine.v1");
    }
}
