//! The CRCs whose parameters a program leaves to the control plane.

use agent::visit::Site;
use pipeline::CrcParameters;
use thrift::Struct;

use crate::codes::crc;
use crate::found::{NAME, pipeline};
use crate::job::{Outcome, Run};

pub const FUNCTIONS: &[(&str, Run)] = &[
    ("bm_set_crc16_custom_parameters", Run::Once(set_crc16)),
    ("bm_set_crc32_custom_parameters", Run::Once(set_crc32)),
];

fn set_crc16(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let number = |config: &Struct, field: i16| config.i16(field).cast_unsigned().into();
    set_crc(site, arguments, 16, number)
}

fn set_crc32(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let number = |config: &Struct, field: i16| config.i32(field).cast_unsigned().into();
    set_crc(site, arguments, 32, number)
}

fn set_crc(
    site: &mut Site<'_>,
    arguments: &Struct,
    width_bits: u32,
    number: impl Fn(&Struct, i16) -> u64,
) -> Outcome {
    let name = arguments.text(NAME);
    let config = arguments.structure(3).ok_or(crc::INVALID_CONFIG)?;
    let pipeline = pipeline(site, crc::INVALID_NAME)?;
    let before = pipeline.crc(name).map_err(|_| crc::INVALID_NAME)?;
    if before.is_none_or(|before| before.width_bits != width_bits) {
        return Err(crc::WRONG_TYPE);
    }
    let parameters = CrcParameters {
        width_bits,
        polynomial: number(config, 1),
        initial: number(config, 2),
        final_xor: number(config, 3),
        reflect_input: config.bool(4),
        reflect_output: config.bool(5),
    };
    pipeline.set_crc(name, parameters).map_err(|_| crc::WRONG_TYPE)?;
    Ok(None)
}
