//! Header unions that a compiler wrote as headers.
//!
//! p4c writes a union that stands alone in the struct of headers as one header, whose type is the
//! union's, and refers to its members as `u.one` and `u.two`, which it does not list. simple_switch
//! refuses such JSON. The meaning is clear, so the members and the union are added here, as p4c
//! itself writes them where a union is an element of a stack.

use std::collections::{BTreeMap, BTreeSet};

use crate::node::ReadError;
use crate::room::Room;
use crate::{Header, HeaderUnion, Program};

/// Replaces each header whose type is a union's by the members of the union, and lists the union.
pub(crate) fn spell_out(program: &mut Program) -> Result<(), ReadError> {
    let types: BTreeSet<&str> =
        program.header_types.iter().map(|kind| kind.name.as_str()).collect();
    let mut unions = BTreeMap::new();
    for kind in &program.header_union_types {
        if !types.contains(kind.name.as_str()) {
            let _ = unions.entry(kind.name.as_str()).or_insert(kind);
        }
    }
    let next_id = program.headers.iter().map(|header| header.id).max().map(|id| id.checked_add(1));
    // A file with the highest id there is has no room for more; its header is refused later.
    let mut free = next_id.flatten().into_iter().flat_map(|first| first..=u32::MAX);
    let mut room = Room::for_what("members of unions that are written as headers");
    let (mut added, mut spelled) = (Vec::new(), BTreeMap::new());
    for (index, header) in program.headers.iter().enumerate() {
        let Some(kind) = unions.get(header.header_type.as_str()) else { continue };
        let ids: Vec<u32> = free.by_ref().take(kind.headers.len()).collect();
        if ids.len() < kind.headers.len() {
            continue;
        }
        for ((member, header_type), id) in kind.headers.iter().zip(&ids) {
            let names = [&header.name, member, header_type];
            room.take(&names).map_err(|error| error.at(format!("/headers/{index}")))?;
            added.push(Header {
                name: format!("{}.{member}", header.name),
                id: *id,
                header_type: header_type.clone(),
                metadata: false,
                pi_omit: header.pi_omit,
            });
        }
        let union = HeaderUnion {
            name: header.name.clone(),
            // Only stacks of unions look for ids, and their unions stand before this one.
            id: header.id,
            union_type: kind.name.clone(),
            header_ids: ids,
            pi_omit: header.pi_omit,
        };
        let _ = spelled.insert(index, union);
    }
    let mut index = 0..;
    program.headers.retain(|_| index.next().is_none_or(|index| !spelled.contains_key(&index)));
    program.header_unions.extend(spelled.into_values().rev());
    program.headers.extend(added);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::read;

    /// A program with these headers, whose union type has the members one and two.
    fn program(headers: &str) -> crate::Program {
        let text = format!(
            r#"{{
              "header_types": [
                {{ "name": "one_t", "id": 0, "fields": [["v", 8, false]] }},
                {{ "name": "two_t", "id": 1, "fields": [["v", 16, false]] }}
              ],
              "header_union_types": [
                {{ "name": "either_t", "id": 0, "headers": [["one", "one_t"], ["two", "two_t"]] }}
              ],
              "headers": [{headers}]
            }}"#
        );
        read(text.as_bytes()).expect("it is BMv2 JSON")
    }

    #[test]
    fn a_union_written_as_a_header_becomes_its_members_and_a_union() {
        let program = program(
            r#"{ "name": "first", "id": 3, "header_type": "one_t", "metadata": false },
               { "name": "u", "id": 5, "header_type": "either_t", "metadata": true },
               { "name": "last", "id": 4, "header_type": "two_t", "metadata": false }"#,
        );
        let headers: Vec<(&str, u32, &str, bool)> = program
            .headers
            .iter()
            .map(|it| (it.name.as_str(), it.id, it.header_type.as_str(), it.metadata))
            .collect();
        let expected = [
            ("first", 3, "one_t", false),
            ("last", 4, "two_t", false),
            ("u.one", 6, "one_t", false),
            ("u.two", 7, "two_t", false),
        ];
        assert_eq!(headers, expected);
        let [union] = &program.header_unions[..] else { panic!("one union") };
        assert_eq!((union.name.as_str(), &union.header_ids[..]), ("u", &[6, 7][..]));
    }

    #[test]
    fn without_room_for_ids_the_header_stays_for_the_loader_to_refuse() {
        let program = program(
            r#"{ "name": "u", "id": 4294967294, "header_type": "either_t", "metadata": true }"#,
        );
        assert_eq!((program.headers.len(), program.header_unions.len()), (1, 0));
    }

    #[test]
    fn members_are_refused_before_they_take_more_than_four_mebibytes() {
        // 65 kB of text stand for a million headers.
        let member = |index| format!(r#"["m{index}", "one_t"]"#);
        let members: Vec<String> = (0..1000).map(member).collect();
        let header = |id| format!(r#"{{ "name": "h{id}", "id": {id}, "header_type": "u_t" }}"#);
        let headers: Vec<String> = (0..1000).map(header).collect();
        let text = format!(
            r#"{{ "header_union_types": [{{ "name": "u_t", "id": 0, "headers": [{}] }}],
                  "headers": [{}] }}"#,
            members.join(","),
            headers.join(",")
        );
        let error = read(text.as_bytes()).expect_err("they are too many").to_string();
        let said = "expected members of unions that are written as headers to take at most 4 MiB";
        assert!(error.contains(said), "{error}");
    }
}
