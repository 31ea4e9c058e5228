//! A forwarding pipeline configuration as controllers send it: P4Info, device config, cookie.
//!
//! The device config is BMv2 JSON, in either of the two encodings that are in use: the JSON itself,
//! or `p4.tmp.P4DeviceConfig` around it. It is kept as it was sent, because reading it back must
//! give the same bytes.

use messages::p4::config::v1::P4Info;
use messages::p4::tmp::P4DeviceConfig;
use messages::p4::v1 as p4;
use messages::p4::v1::get_forwarding_pipeline_config_request::ResponseType;
use prost::Message;
use prost::bytes::Bytes;

use crate::index::Index;
use crate::refusal::Refusal;

/// The memory of a P4Info and its index for each byte of it, at most.
const INDEX_BYTES_PER_BYTE: u64 = 8;

/// One configuration, checked as far as P4Info goes.
#[derive(Debug)]
pub struct Config {
    /// As it was sent.
    message: p4::ForwardingPipelineConfig,
    /// The P4Info as indexes.
    pub index: Index,
    /// No controller has sent it.
    pub is_local: bool,
}

impl Config {
    /// INVALID_ARGUMENT if a part is missing or the P4Info contradicts itself.
    pub fn new(message: Option<p4::ForwardingPipelineConfig>) -> Result<Self, Refusal> {
        let message = message.ok_or_else(|| {
            Refusal::invalid("this action needs `config`; it is unset in the request")
        })?;
        let info = message.p4info.as_ref().ok_or_else(|| {
            Refusal::invalid("config.p4info is unset; send the P4Info of the program")
        })?;
        let index = Index::new(info)?;
        // The request that it came in is not kept with it.
        let message = p4::ForwardingPipelineConfig {
            p4_device_config: Bytes::copy_from_slice(&message.p4_device_config),
            ..message
        };
        Ok(Self { message, index, is_local: false })
    }

    /// A program that was loaded without a controller (from the command line), so without P4Info.
    pub fn without_p4info(json: Bytes) -> Self {
        let message = p4::ForwardingPipelineConfig {
            p4info: Some(P4Info::default()),
            p4_device_config: json,
            cookie: None,
        };
        Self { message, index: Index::default(), is_local: true }
    }

    /// Its memory, at most.
    pub fn size_bytes(&self) -> u64 {
        let info = self.message.p4info.as_ref().map_or(0, Message::encoded_len) as u64;
        self.message.p4_device_config.len() as u64 + info * INDEX_BYTES_PER_BYTE
    }

    /// The BMv2 JSON, out of either encoding.
    pub fn json(&self) -> Result<Bytes, Refusal> {
        let sent = &self.message.p4_device_config;
        if sent.is_empty() {
            return Err(Refusal::invalid(
                "config.p4_device_config is empty; send the BMv2 JSON that the compiler made",
            ));
        }
        // JSON starts with `{`, perhaps after white space. As a protobuf tag `{` (0x7b) and white
        // space (0x09, 0x0a, 0x0d, 0x20) mean fields 15, 1 and 4 with wire types that
        // P4DeviceConfig does not have there, except for 0x0a: so try JSON first.
        if sent.trim_ascii_start().first() == Some(&b'{') {
            return Ok(sent.clone());
        }
        match P4DeviceConfig::decode(sent.clone()) {
            Ok(wrapped) if !wrapped.device_data.is_empty() => Ok(wrapped.device_data),
            _ => Err(Refusal::invalid(format!(
                "config.p4_device_config ({} bytes) is neither BMv2 JSON, which starts with {{, \
                 nor a p4.tmp.P4DeviceConfig with JSON in device_data",
                sent.len()
            ))),
        }
    }

    /// The parts that a reader wants; the cookie is in each of them.
    pub fn reply(&self, wanted: ResponseType) -> p4::ForwardingPipelineConfig {
        let everything = &self.message;
        let with_info = matches!(wanted, ResponseType::All | ResponseType::P4infoAndCookie);
        let with_device = matches!(wanted, ResponseType::All | ResponseType::DeviceConfigAndCookie);
        p4::ForwardingPipelineConfig {
            p4info: everything.p4info.clone().filter(|_| with_info),
            p4_device_config: if with_device {
                everything.p4_device_config.clone()
            } else {
                Bytes::new()
            },
            cookie: everything.cookie,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &[u8] = b"  {\"program\": \"router\"}";

    fn config(device_config: Bytes) -> Config {
        Config::new(Some(p4::ForwardingPipelineConfig {
            p4info: Some(P4Info::default()),
            p4_device_config: device_config,
            cookie: Some(p4::forwarding_pipeline_config::Cookie { cookie: 42 }),
        }))
        .unwrap()
    }

    #[test]
    fn json_is_found_in_both_encodings() {
        let json = Bytes::from_static(JSON);
        assert_eq!(config(json.clone()).json().unwrap(), json);
        let wrapped = P4DeviceConfig { reassign: true, device_data: json.clone() };
        assert_eq!(config(wrapped.encode_to_vec().into()).json().unwrap(), json);
    }

    #[test]
    fn anything_else_is_refused_with_its_size() {
        let refusal = config(Bytes::from_static(b"garbage")).json().unwrap_err();
        assert_eq!(refusal.code, crate::code::Code::InvalidArgument);
        assert!(refusal.message.contains("7 bytes"), "{}", refusal.message);
    }

    #[test]
    fn each_response_type_has_its_parts_and_always_the_cookie() {
        let config = config(Bytes::from_static(JSON));
        let parts = |wanted| {
            let reply = config.reply(wanted);
            assert_eq!(reply.cookie.unwrap().cookie, 42);
            (reply.p4info.is_some(), !reply.p4_device_config.is_empty())
        };
        assert_eq!(parts(ResponseType::All), (true, true));
        assert_eq!(parts(ResponseType::CookieOnly), (false, false));
        assert_eq!(parts(ResponseType::P4infoAndCookie), (true, false));
        assert_eq!(parts(ResponseType::DeviceConfigAndCookie), (false, true));
    }
}
