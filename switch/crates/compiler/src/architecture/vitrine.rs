//! The declarations of `vitrine.p4`: functions that any architecture may have besides its own.
//!
//! A primitive has the function's name and its arguments in their order, as p4c writes the call of an
//! extern function that its back end does not know.

use super::Operand::{Destination, Number};
use super::{BlockKind, Function, Meaning, Operand, Place, Primitive};

pub const FILE: &str = "vitrine.p4";

pub const FUNCTIONS: &[Function] = &[
    in_ingress("buffer_use", &[Destination(0), Destination(1)]),
    in_ingress("port_rate", &[Number(0), Destination(1), Destination(2)]),
    in_ingress("queue_depth", &[Number(0), Number(1), Destination(2), Destination(3)]),
    in_ingress("set_rank", &[Number(0)]),
    in_ingress("voq_depth", &[Number(0), Number(1), Number(2), Destination(3), Destination(4)]),
];

const fn in_ingress(name: &'static str, operands: &'static [Operand]) -> Function {
    let place = Place {
        blocks: &[BlockKind::Ingress],
        emitted: &[],
        title: "the functions of vitrine.p4 belong to ingress",
        hint: "call the function in the ingress control; egress finds what its packet met in \
               standard_metadata",
    };
    Function { name, meaning: Meaning::Primitive(Primitive { name, operands, place: Some(place) }) }
}
