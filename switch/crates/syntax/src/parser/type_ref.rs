//! Types.

use super::Parser;
use super::expression::SUM_PRECEDENCE;
use crate::token::TokenKind;
use crate::tree::{Expression, Name, PrefixedName, TypeKind, TypeRef};

impl Parser<'_> {
    /// Whether a keyword that starts a type is `ahead` tokens away.
    fn base_type_ahead(&self, ahead: usize) -> bool {
        const WORDS: [&str; 10] =
            ["bit", "bool", "error", "int", "match_kind", "string", "tuple", "varbit", "void", "_"];
        let token = self.token(ahead);
        let is_list = token.is("list") && self.token(ahead + 1).is("<");
        token.kind == TokenKind::Word && (WORDS.contains(&&*token.text) || is_list)
    }

    /// Whether the tokens there are a type for certain: a base type or the name of one.
    pub(super) fn type_ahead(&self, ahead: usize) -> bool {
        let is_global = self.token(ahead).is(".");
        let token = self.token(ahead + usize::from(is_global));
        self.base_type_ahead(ahead)
            || (token.kind == TokenKind::Word && self.type_names.is_type(&token.text, is_global))
    }

    /// Whether the next tokens are a type for certain.
    pub(super) fn at_type(&self) -> bool {
        self.type_ahead(0)
    }

    /// Also takes `void` and, as a type argument, `_`: the type checker knows where they belong.
    pub(super) fn type_ref(&mut self) -> Option<TypeRef> {
        self.nested(|parser| parser.type_ref_unlimited())
    }

    /// A type, one level deeper.
    fn type_ref_unlimited(&mut self) -> Option<TypeRef> {
        let start = self.span();
        let kind = if self.base_type_ahead(0) { self.base_type()? } else { self.named_type()? };
        let mut type_ref = TypeRef { kind, span: start.to(self.last_span()) };
        while self.at("[") {
            self.bump();
            let size = Box::new(self.expression()?);
            self.expect("]")?;
            let kind = TypeKind::Array { element: Box::new(type_ref), size };
            type_ref = TypeRef { kind, span: start.to(self.last_span()) };
        }
        Some(type_ref)
    }

    /// A type that a keyword names.
    fn base_type(&mut self) -> Option<TypeKind> {
        let word = self.bump();
        Some(match &*word.text {
            "bit" => TypeKind::Bit(self.opt_width()?.map(Box::new)),
            "bool" => TypeKind::Bool,
            "error" => TypeKind::Error,
            "int" => match self.opt_width()? {
                Some(width) => TypeKind::Int(Box::new(width)),
                None => TypeKind::Integer,
            },
            "list" => {
                self.expect("<")?;
                let element = Box::new(self.type_ref()?);
                self.expect(">")?;
                TypeKind::List(element)
            }
            "match_kind" => TypeKind::MatchKind,
            "string" => TypeKind::String,
            "tuple" => TypeKind::Tuple(self.type_argument_list()?),
            "varbit" => match self.opt_width()? {
                Some(width) => TypeKind::Varbit(Box::new(width)),
                None => {
                    self.expected("`<` and the greatest width of the varbit");
                    return None;
                }
            },
            "void" => TypeKind::Void,
            _ => TypeKind::DontCare,
        })
    }

    /// `<8>`, `<(expression)>` or, as p4c has it, `<4 + 4>`: only operators that bind more strongly
    /// than shifts and comparisons, which would swallow the closing `>`.
    fn opt_width(&mut self) -> Option<Option<Expression>> {
        if !self.eat("<") {
            return Some(None);
        }
        let width = self.nested(|parser| parser.binary_expression(SUM_PRECEDENCE))?;
        self.expect(">")?;
        Some(Some(width))
    }

    /// A type by name, perhaps with arguments in `<>`.
    fn named_type(&mut self) -> Option<TypeKind> {
        let is_global = self.eat(".");
        if !self.at_name() {
            self.expected("a type");
            return None;
        }
        let name = PrefixedName { is_global, name: self.name()? };
        if self.at("<") {
            let arguments = self.type_argument_list()?;
            return Some(TypeKind::Specialized { name, arguments });
        }
        Some(TypeKind::Name(name))
    }

    /// `<type, type, ...>`.
    pub(super) fn type_argument_list(&mut self) -> Option<Vec<TypeRef>> {
        self.expect("<")?;
        let list = self.comma_list(">", |parser| parser.type_ref())?;
        self.expect(">")?;
        Some(list)
    }

    /// `<T, U>` in a declaration; the names are types from here on, in the innermost scope.
    pub(super) fn opt_type_parameters(&mut self) -> Option<Vec<Name>> {
        if !self.eat("<") {
            return Some(Vec::new());
        }
        let names = self.comma_list(">", |parser| parser.name())?;
        self.expect(">")?;
        for name in &names {
            self.type_names.declare(&name.text, true);
        }
        Some(names)
    }

    /// Whether `<...>(` follows: type arguments of a call, not a comparison. Looks for the closing
    /// bracket over tokens that can be part of types.
    pub(super) fn type_arguments_follow(&self) -> bool {
        if !self.at("<") {
            return false;
        }
        let (mut angles, mut rounds) = (0usize, 0usize);
        for ahead in 0.. {
            let token = self.token(ahead);
            match (token.kind, &*token.text) {
                (TokenKind::Symbol, "<") if rounds == 0 => angles += 1,
                (TokenKind::Symbol, ">") if rounds == 0 => {
                    angles -= 1;
                    if angles == 0 {
                        return self.token(ahead + 1).is("(");
                    }
                }
                (TokenKind::Symbol, "(") => rounds += 1,
                (TokenKind::Symbol, ")") if rounds > 0 => rounds -= 1,
                (TokenKind::Word | TokenKind::Integer, _) => {}
                (TokenKind::Symbol, "," | "." | "[" | "]") => {}
                // Inside of `bit<(WIDTH + 1)>` anything goes.
                (TokenKind::Symbol, symbol) if rounds > 0 && symbol != ";" => {}
                _ => return false,
            }
        }
        false
    }
}
