//! Tables.

use super::Parser;
use crate::Span;
use crate::tree::{
    ActionListElement, ActionRef, Annotation, Entry, KeyElement, Name, TableDeclaration,
    TableProperty, TablePropertyKind,
};

impl Parser<'_> {
    /// `table name { properties }`.
    pub(super) fn table_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<TableDeclaration> {
        self.expect("table")?;
        let name = self.name()?;
        self.expect("{")?;
        let properties = self.braced(|parser| parser.table_property())?;
        Some(TableDeclaration { annotations, name, properties, span: start.to(self.last_span()) })
    }

    /// `key`, `actions`, `entries`, or `name = value`.
    fn table_property(&mut self) -> Option<TableProperty> {
        let start = self.span();
        let annotations = self.opt_annotations()?;
        let is_const = self.eat("const");
        let name: Name = self.name()?;
        self.expect("=")?;
        let kind = match &*name.text {
            "key" => {
                self.expect("{")?;
                TablePropertyKind::Key(self.braced(|parser| parser.key_element())?)
            }
            "actions" => {
                self.expect("{")?;
                TablePropertyKind::Actions(self.braced(|parser| parser.action_list_element())?)
            }
            "entries" => {
                self.expect("{")?;
                TablePropertyKind::Entries(self.braced(|parser| parser.entry())?)
            }
            _ => {
                let value = self.expression()?;
                self.expect(";")?;
                TablePropertyKind::Value(value)
            }
        };
        // The lists need no semicolon, but many programs have one.
        if !matches!(kind, TablePropertyKind::Value(_)) {
            self.eat(";");
        }
        Some(TableProperty { annotations, is_const, name, kind, span: start.to(self.last_span()) })
    }

    /// `expression : match_kind;`.
    fn key_element(&mut self) -> Option<KeyElement> {
        let expression = self.expression()?;
        self.expect(":")?;
        let match_kind = self.name()?;
        let annotations = self.opt_annotations()?;
        self.expect(";")?;
        let span = expression.span.to(self.last_span());
        Some(KeyElement { expression, match_kind, annotations, span })
    }

    /// An action's name, perhaps with arguments.
    fn action_list_element(&mut self) -> Option<ActionListElement> {
        let annotations = self.opt_annotations()?;
        let action = self.action_ref()?;
        self.expect(";")?;
        Some(ActionListElement { annotations, action })
    }

    /// `name` or `name(arguments)`.
    fn action_ref(&mut self) -> Option<ActionRef> {
        let start = self.span();
        let name = self.prefixed_name()?;
        let arguments = if self.at("(") { Some(self.argument_list()?) } else { None };
        Some(ActionRef { name, arguments, span: start.to(self.last_span()) })
    }

    /// `keys : action(arguments);`, perhaps with a priority in front.
    fn entry(&mut self) -> Option<Entry> {
        let start = self.span();
        let is_const = self.eat("const");
        let priority = if self.at("priority") && self.token(1).is("=") {
            self.bump();
            self.bump();
            let priority = self.primary_expression()?;
            self.expect(":")?;
            Some(priority)
        } else {
            None
        };
        let keyset = self.keyset_expression()?;
        self.expect(":")?;
        let action = self.action_ref()?;
        let annotations = self.opt_annotations()?;
        self.expect(";")?;
        let span = start.to(self.last_span());
        Some(Entry { is_const, priority, keyset, action, annotations, span })
    }
}
