//! Types as messages name them.

use super::Checker;
use crate::types::tree::{Text, Type};

impl Checker<'_, '_> {
    /// The type as a program would write it.
    pub(super) fn show(&self, ty: &Type) -> String {
        let list =
            |types: &[Type]| types.iter().map(|ty| self.show(ty)).collect::<Vec<_>>().join(", ");
        let generic = |name: &str, arguments: &[Type]| {
            if arguments.is_empty() {
                name.to_string()
            } else {
                format!("{name}<{}>", list(arguments))
            }
        };
        match ty {
            Type::Action => "action".into(),
            Type::Bit(width) => format!("bit<{width}>"),
            Type::Bool => "bool".into(),
            Type::Control(id) => format!("control {}", self.program.controls[*id].name.text),
            Type::ControlType(name, arguments) | Type::ParserType(name, arguments) => {
                generic(name, arguments)
            }
            Type::Enum(id) => self.program.enums[*id].name.text.to_string(),
            Type::Error => "error".into(),
            Type::Extern(id) => {
                let found = &self.program.externs[*id];
                generic(&found.name.text, &found.type_arguments)
            }
            Type::Int(width) => format!("int<{width}>"),
            Type::Integer => "int".into(),
            Type::List(element) => format!("list<{}>", self.show(element)),
            Type::MatchKind => "match_kind".into(),
            Type::New(id) => self.program.new_types[*id].name.text.to_string(),
            Type::Package(id) => {
                let found = &self.program.packages[*id];
                generic(&found.name.text, &found.type_arguments)
            }
            Type::Parser(id) => format!("parser {}", self.program.parsers[*id].name.text),
            Type::Record(fields) => {
                let show = |(name, ty): &(Text, Type)| format!("{name}: {}", self.show(ty));
                format!("{{{}}}", fields.iter().map(show).collect::<Vec<_>>().join(", "))
            }
            Type::Stack(element, size) => format!("{}[{size}]", self.show(element)),
            Type::String => "string".into(),
            Type::Struct(id) => {
                let found = &self.program.structs[*id];
                generic(&found.name.text, &found.type_arguments)
            }
            Type::TableResult(id) => {
                format!("result of table {}", self.program.tables[*id].name.text)
            }
            Type::Tuple(types) => format!("tuple<{}>", list(types)),
            Type::Varbit(width) => format!("varbit<{width}>"),
            Type::Variable(name) => name.trim_end_matches('\'').to_string(),
            Type::Void => "void".into(),
            Type::Wrong => "(unknown)".into(),
        }
    }
}
