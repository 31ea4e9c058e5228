//! Ids of a program's objects, which are those of its BMv2 JSON.

use thrift::Struct;

use crate::codes::{Thrown, lookup};

/// The id of the object whose kind and name the arguments give.
pub fn id_of(program: &bmv2::Program, arguments: &Struct) -> Result<u32, Thrown> {
    let name = arguments.text(3);
    let tables = || program.pipelines.iter().flat_map(|control| &control.tables);
    let profiles = || program.pipelines.iter().flat_map(|control| &control.action_profiles);
    let found = match arguments.i32(2) {
        0 => find(tables().map(|it| (&it.name, it.id)), name),
        1 => find(profiles().map(|it| (&it.name, it.id)), name),
        2 => find(program.counter_arrays.iter().map(|it| (&it.name, it.id)), name),
        3 => find(program.meter_arrays.iter().map(|it| (&it.name, it.id)), name),
        4 => find(program.register_arrays.iter().map(|it| (&it.name, it.id)), name),
        5 => find(program.learn_lists.iter().map(|it| (&it.name, it.id)), name),
        _ => return Err(lookup::INVALID_TYPE),
    };
    found.ok_or(lookup::INVALID_NAME)
}

fn find<'a>(objects: impl IntoIterator<Item = (&'a String, u32)>, name: &str) -> Option<u32> {
    objects.into_iter().find(|(candidate, _)| *candidate == name).map(|(_, id)| id)
}

#[cfg(test)]
mod tests {
    use thrift::Value;

    use super::*;

    #[test]
    fn each_kind_has_ids_of_its_own_and_what_there_is_not_has_a_code() {
        let register =
            bmv2::RegisterArray { name: "cells".to_owned(), id: 7, ..Default::default() };
        let program = bmv2::Program { register_arrays: vec![register], ..bmv2::Program::default() };
        let asked = |kind: i32, name: &str| {
            let arguments = Struct::default().with(2, Value::I32(kind));
            id_of(&program, &arguments.with(3, Value::text(name)))
        };
        assert_eq!(asked(4, "cells"), Ok(7));
        assert_eq!(asked(2, "cells"), Err(lookup::INVALID_NAME));
        assert_eq!(asked(6, "cells"), Err(lookup::INVALID_TYPE));
    }
}
