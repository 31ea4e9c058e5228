//! Names to places, and the proof that 64 bits are enough.
//!
//! Every [`Number`] is loaded together with the range of its true value, computed from the widths
//! of fields and the constants. `(0, 255)` comes out of a `bit<8>`; subtracting two of them gives
//! `(-255, 255)`; masking that with `0xff` gives `(0, 255)` again. A range beyond 127 bits is given
//! up as unknown: the number is then still right modulo 2^64, which suffices for a field of up to
//! 64 bits.

use bits::Int;
use bmv2::{BinaryOperator, Expression, UnaryOperator};

use super::{Compare, Condition, HeaderRef, Number, UnionRef, Wide};
use crate::error::{LoadError, unknown};
use crate::layout::Layout;
use crate::place::{Place, Variable};

/// The names that an expression may refer to.
pub(crate) struct Scope<'a> {
    pub layout: &'a Layout,
    /// Width of each parameter of the action.
    pub params: &'a [u32],
    /// Register arrays: names and widths.
    pub registers: &'a [(String, u32)],
}

/// A number and the range of its true value, if known.
#[derive(Clone, Debug)]
pub(crate) struct Ranged {
    pub number: Number,
    range: Option<(i128, i128)>,
}

/// How a 64-bit pattern is the true value.
#[derive(Clone, Copy, PartialEq)]
enum Exact {
    Signed,
    Unsigned,
}

impl Ranged {
    fn new(number: Number, low: i128, high: i128) -> Ranged {
        Ranged { number, range: Some((low, high)) }
    }

    fn unknown(number: Number) -> Ranged {
        Ranged { number, range: None }
    }

    fn fits_unsigned(&self) -> bool {
        self.range.is_some_and(|(low, high)| low >= 0 && high <= u64::MAX.into())
    }

    fn fits_signed(&self) -> bool {
        self.range.is_some_and(|(low, high)| low >= i64::MIN.into() && high <= i64::MAX.into())
    }

    fn exact(&self) -> Option<Exact> {
        match (self.fits_unsigned(), self.fits_signed()) {
            (true, _) => Some(Exact::Unsigned),
            (_, true) => Some(Exact::Signed),
            _ => None,
        }
    }
}

/// The form in which two operands are exact together.
fn exact_together(left: &Ranged, right: &Ranged) -> Option<Exact> {
    if left.fits_unsigned() && right.fits_unsigned() {
        Some(Exact::Unsigned)
    } else if left.fits_signed() && right.fits_signed() {
        Some(Exact::Signed)
    } else {
        None
    }
}

/// The first index in limbs of parameter `index`, and how many limbs it has.
pub(crate) fn param_limbs(params: &[u32], index: usize) -> (u32, u32) {
    let limbs = |width: &u32| width.div_ceil(64).max(1);
    (params[..index].iter().map(limbs).sum(), limbs(&params[index]))
}

impl Scope<'_> {
    /// An expression that is stored: right modulo 2^64, or `None` where that is not enough.
    pub fn number(&self, expression: &Expression) -> Result<Option<Number>, LoadError> {
        Ok(self.ranged(expression)?.map(|ranged| ranged.number))
    }

    /// An expression used as an index or count, which the standard switch cuts to 64 bits.
    pub fn index(&self, expression: &Expression) -> Result<Number, LoadError> {
        match self.ranged(expression)? {
            Some(ranged) => Ok(ranged.number),
            None => Ok(Number::Low(Box::new(self.wide(expression)?))),
        }
    }

    pub fn header(&self, expression: &Expression) -> Result<HeaderRef, LoadError> {
        match expression {
            Expression::Header(name) => self.layout.header(name).map(HeaderRef::Known),
            Expression::Binary {
                operator: BinaryOperator::DereferenceHeaderStack,
                left,
                right,
            } => {
                let stack = self.stack(left)?;
                Ok(self.known_element(HeaderRef::OfStack {
                    stack,
                    index: Box::new(self.index(right)?),
                }))
            }
            Expression::AccessUnionHeader { union, member } => match self.union(union)? {
                UnionRef::Known(union) => {
                    let headers = &self.layout.unions[union as usize].headers;
                    let header = headers.get(*member as usize).copied();
                    header.map(HeaderRef::Known).ok_or_else(|| {
                        LoadError::new("", format!("the union has no member {member}"))
                    })
                }
                UnionRef::OfStack { stack, index } => {
                    Ok(HeaderRef::OfUnionStack { stack, index, member: *member })
                }
            },
            // As p4c writes `stack.last` where a whole header is assigned.
            Expression::StackField { stack, field } if field == "last" => {
                self.layout.stack(stack).map(HeaderRef::Last)
            }
            _ => Err(LoadError::new("", "expected a header")),
        }
    }

    /// A stack of headers.
    pub fn stack(&self, expression: &Expression) -> Result<u32, LoadError> {
        match expression {
            Expression::HeaderStack(name) => self.layout.stack(name),
            _ => Err(LoadError::new("", "expected a header stack")),
        }
    }

    pub fn union(&self, expression: &Expression) -> Result<UnionRef, LoadError> {
        match expression {
            Expression::HeaderUnion(name) => self.layout.union(name).map(UnionRef::Known),
            Expression::Binary { operator: BinaryOperator::DereferenceUnionStack, left, right } => {
                match left.as_ref() {
                    Expression::HeaderUnionStack(name) => Ok(UnionRef::OfStack {
                        stack: self.layout.union_stack(name)?,
                        index: Box::new(self.index(right)?),
                    }),
                    _ => Err(LoadError::new("", "expected a stack of header unions")),
                }
            }
            _ => Err(LoadError::new("", "expected a header union")),
        }
    }

    /// A field of a header found at run time: the header, and the place from its start.
    pub fn found_field(
        &self,
        header: HeaderRef,
        field: usize,
    ) -> Result<(HeaderRef, Place, bool), LoadError> {
        let layout = self.layout;
        let kind = match &header {
            HeaderRef::Known(header) => layout.headers[*header as usize].kind,
            HeaderRef::Last(stack) | HeaderRef::OfStack { stack, .. } => {
                layout.stacks[*stack as usize].kind
            }
            HeaderRef::LastInUnionStack { stack, member }
            | HeaderRef::OfUnionStack { stack, member, .. } => {
                let union = layout.union_stacks[*stack as usize].unions[0];
                let header = layout.unions[union as usize].headers.get(*member as usize);
                let header = header.ok_or_else(|| {
                    LoadError::new("", format!("the union has no member {member}"))
                })?;
                layout.headers[*header as usize].kind
            }
        };
        if let (HeaderRef::Known(header), Some(field)) =
            (&header, layout.kinds[kind].fields.get(field))
        {
            layout.refer(*header, &field.name);
        }
        match layout.kinds[kind].fields.get(field) {
            Some(field) => Ok((header, field.place, field.signed)),
            None => Err(LoadError::new("", format!("the header has no field {field}"))),
        }
    }

    /// An element of a stack at a constant index is a known header.
    fn known_element(&self, header: HeaderRef) -> HeaderRef {
        if let HeaderRef::OfStack { stack, index } = &header
            && let Number::Const(index) = **index
            && let Some(known) = self.layout.stacks[*stack as usize].headers.get(index as usize)
        {
            return HeaderRef::Known(*known);
        }
        header
    }

    fn register(&self, name: &str) -> Result<(u32, u32), LoadError> {
        let position = self.registers.iter().position(|(candidate, _)| candidate == name);
        let names = self.registers.iter().map(|(name, _)| name.as_str());
        let index = position.ok_or_else(|| unknown("register array", name, names))?;
        Ok((index as u32, self.registers[index].1))
    }

    /// A number with its range; `None` where 64 bits cannot do it.
    fn ranged(&self, expression: &Expression) -> Result<Option<Ranged>, LoadError> {
        Ok(match expression {
            Expression::Hex(value) => constant(value),
            Expression::Field(field) => {
                let field = self.layout.field(field)?;
                cell(field.place, field.signed, None)
            }
            Expression::AccessField { header, field } => {
                let header = self.header(header)?;
                let (header, place, signed) = self.found_field(header, *field as usize)?;
                match header {
                    HeaderRef::Known(known) => {
                        let base = self.layout.headers[known as usize].base;
                        cell(place.at(base), signed, None)
                    }
                    found => cell(place, signed, Some(found)),
                }
            }
            Expression::StackField { stack, field } => {
                let stack = self.layout.stack(stack)?;
                let kind = &self.layout.kinds[self.layout.stacks[stack as usize].kind];
                let field = kind.field(field)?;
                let (header, place, signed) = self.found_field(HeaderRef::Last(stack), field)?;
                cell(place, signed, Some(header))
            }
            Expression::Local(index) => {
                let width = *self.params.get(*index as usize).ok_or_else(|| {
                    let count = self.params.len();
                    LoadError::new(
                        "",
                        format!("the action has {count} parameters, no index {index}"),
                    )
                })?;
                let (at, _) = param_limbs(self.params, *index as usize);
                (width <= 64).then(|| unsigned_of(Number::Param(at), width))
            }
            Expression::Register { array, index } => {
                let (array, width) = self.register(array)?;
                let index = Box::new(self.index(index)?);
                (width <= 64).then(|| unsigned_of(Number::Register { array, index }, width))
            }
            Expression::Unary { operator, operand } => self.ranged_unary(*operator, operand)?,
            Expression::Binary { operator, left, right } => {
                let operands = (self.ranged(left)?, self.ranged(right)?);
                match operands {
                    (Some(left), Some(right)) => ranged_binary(*operator, left, right)?,
                    _ => None,
                }
            }
            Expression::Conditional { condition, if_true, if_false } => {
                self.ranged_select(condition, if_true, if_false)?
            }
            Expression::AccessUnionHeader { .. }
            | Expression::Bool(_)
            | Expression::Header(_)
            | Expression::HeaderStack(_)
            | Expression::HeaderUnion(_)
            | Expression::HeaderUnionStack(_) => {
                return Err(LoadError::new("", "expected a number"));
            }
        })
    }

    fn ranged_select(
        &self,
        condition: &Expression,
        if_true: &Expression,
        if_false: &Expression,
    ) -> Result<Option<Ranged>, LoadError> {
        let condition = self.condition(condition)?;
        let (Some(left), Some(right)) = (self.ranged(if_true)?, self.ranged(if_false)?) else {
            return Ok(None);
        };
        let range = left.range.zip(right.range);
        let range = range.map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        let branches = Box::new((condition, left.number, right.number));
        Ok(Some(Ranged { number: Number::Select(branches), range }))
    }

    fn ranged_unary(
        &self,
        operator: UnaryOperator,
        operand: &Expression,
    ) -> Result<Option<Ranged>, LoadError> {
        let size = |stack: u32| &self.layout.stacks[stack as usize];
        Ok(match operator {
            UnaryOperator::BitNot => self.ranged(operand)?.map(|operand| Ranged {
                range: operand.range.map(|(low, high)| (!high, !low)),
                number: Number::Not(Box::new(operand.number)),
            }),
            UnaryOperator::BoolToData => {
                Some(Ranged::new(Number::Bool(Box::new(self.condition(operand)?)), 0, 1))
            }
            UnaryOperator::LastStackIndex => {
                let stack = size(self.stack(operand)?);
                let fill = Number::Fill { next: stack.next };
                let number = Number::Subtract(Box::new((fill, Number::Const(1))));
                // An empty stack gives -1, which BMv2 stores as such.
                Some(Ranged::new(number, -1, stack.headers.len() as i128))
            }
            UnaryOperator::Negate => match self.ranged(operand)? {
                Some(operand) => ranged_binary(
                    BinaryOperator::Subtract,
                    Ranged::new(Number::Const(0), 0, 0),
                    operand,
                )?,
                None => None,
            },
            UnaryOperator::Plus => self.ranged(operand)?,
            UnaryOperator::SizeStack => {
                let stack = size(self.stack(operand)?);
                Some(Ranged::new(Number::Fill { next: stack.next }, 0, stack.headers.len() as i128))
            }
            UnaryOperator::DataToBool
            | UnaryOperator::Not
            | UnaryOperator::Valid
            | UnaryOperator::ValidUnion => {
                return Err(LoadError::new("", "expected a number, found a truth value"));
            }
        })
    }

    /// A number without bounds.
    pub fn wide(&self, expression: &Expression) -> Result<Wide, LoadError> {
        if let Some(ranged) = self.ranged(expression)?
            && let Some(exact) = ranged.exact()
        {
            return Ok(Wide::Number { number: ranged.number, signed: exact == Exact::Signed });
        }
        match expression {
            Expression::Hex(value) => Ok(Wide::Const(value.clone())),
            Expression::Field(field) => {
                let field = self.layout.field(field)?;
                Ok(match field.place {
                    Place::Bits(bits) => Wide::Bits { bits, signed: field.signed },
                    Place::Variable(variable) => Wide::Variable(variable),
                    // Every cell is exact.
                    Place::Cell(cell) => Wide::Number { number: Number::Cell(cell), signed: false },
                })
            }
            Expression::AccessField { header, field } => {
                let header = self.header(header)?;
                let (header, field, signed) = self.found_field(header, *field as usize)?;
                Ok(Wide::Found { header, field, signed })
            }
            Expression::StackField { stack, field } => {
                let stack = self.layout.stack(stack)?;
                let kind = &self.layout.kinds[self.layout.stacks[stack as usize].kind];
                let field = kind.field(field)?;
                let (header, field, signed) = self.found_field(HeaderRef::Last(stack), field)?;
                Ok(Wide::Found { header, field, signed })
            }
            Expression::Local(index) => {
                let (at, limbs) = param_limbs(self.params, *index as usize);
                Ok(Wide::Param { at, limbs })
            }
            Expression::Register { array, index } => {
                let (array, _) = self.register(array)?;
                Ok(Wide::Register { array, index: Box::new(self.index(index)?) })
            }
            Expression::Unary { operator, operand } => {
                let operand = self.wide(operand)?;
                Ok(match operator {
                    UnaryOperator::BitNot => Wide::Not(Box::new(operand)),
                    UnaryOperator::Negate => Wide::Negate(Box::new(operand)),
                    _ => operand,
                })
            }
            Expression::Binary { operator, left, right } => Ok(Wide::Binary {
                operator: *operator,
                operands: Box::new((self.wide(left)?, self.wide(right)?)),
            }),
            Expression::Conditional { condition, if_true, if_false } => {
                let condition = self.condition(condition)?;
                let branches = (condition, self.wide(if_true)?, self.wide(if_false)?);
                Ok(Wide::Select(Box::new(branches)))
            }
            _ => Err(LoadError::new("", "expected a number")),
        }
    }

    pub fn condition(&self, expression: &Expression) -> Result<Condition, LoadError> {
        self.truth(expression).map(Condition::decided)
    }

    fn truth(&self, expression: &Expression) -> Result<Condition, LoadError> {
        match expression {
            Expression::Bool(value) => Ok(Condition::Const(*value)),
            Expression::Unary { operator, operand } => match operator {
                UnaryOperator::DataToBool => match self.ranged(operand)? {
                    Some(ranged) if ranged.exact().is_some() => Ok(match ranged.number {
                        Number::Cell(cell) => {
                            Condition::CellConst { compare: Compare::NotEqual, cell, value: 0 }
                        }
                        number => Condition::NonZero(number),
                    }),
                    _ => Ok(Condition::NonZeroWide(self.wide(operand)?)),
                },
                UnaryOperator::Not => Ok(Condition::Not(Box::new(self.truth(operand)?))),
                UnaryOperator::Valid => Ok(Condition::Valid(self.header(operand)?)),
                UnaryOperator::ValidUnion => Ok(Condition::ValidUnion(self.union(operand)?)),
                _ => Err(LoadError::new("", "expected a truth value, found a number")),
            },
            Expression::Binary { operator, left, right } => match operator {
                BinaryOperator::And | BinaryOperator::Or => {
                    let pair = Box::new((self.truth(left)?, self.truth(right)?));
                    Ok(match operator {
                        BinaryOperator::And => Condition::And(pair),
                        _ => Condition::Or(pair),
                    })
                }
                BinaryOperator::Equal => self.equality(left, right),
                BinaryOperator::NotEqual => Ok(negated(self.equality(left, right)?)),
                BinaryOperator::Greater => self.compare(Compare::Greater, left, right),
                BinaryOperator::GreaterOrEqual => {
                    self.compare(Compare::GreaterOrEqual, left, right)
                }
                BinaryOperator::Less => self.compare(Compare::Less, left, right),
                BinaryOperator::LessOrEqual => self.compare(Compare::LessOrEqual, left, right),
                _ => Err(LoadError::new("", "expected a truth value, found a number")),
            },
            Expression::Conditional { condition, if_true, if_false } => {
                let branches =
                    (self.truth(condition)?, self.truth(if_true)?, self.truth(if_false)?);
                Ok(Condition::Select(Box::new(branches)))
            }
            _ => Err(LoadError::new("", "expected a truth value")),
        }
    }

    fn compare(
        &self,
        compare: Compare,
        left: &Expression,
        right: &Expression,
    ) -> Result<Condition, LoadError> {
        if let (Some(left), Some(right)) = (self.ranged(left)?, self.ranged(right)?)
            && let Some(exact) = exact_together(&left, &right)
        {
            return Ok(comparison(compare, left.number, right.number, exact == Exact::Signed));
        }
        let operands = Box::new((self.wide(left)?, self.wide(right)?));
        Ok(Condition::CompareWide { compare, operands })
    }

    /// `==` means something for numbers, truth values, headers, stacks and unions.
    fn equality(&self, left: &Expression, right: &Expression) -> Result<Condition, LoadError> {
        if let (Some(left), Some(right)) = (self.variable(left), self.variable(right)) {
            return Ok(Condition::VariablesEqual(left, right));
        }
        match (left, right) {
            (Expression::HeaderStack(left), Expression::HeaderStack(right)) => {
                let headers = |name| -> Result<Vec<HeaderRef>, LoadError> {
                    let stack = &self.layout.stacks[self.layout.stack(name)? as usize];
                    Ok(stack.headers.iter().map(|header| HeaderRef::Known(*header)).collect())
                };
                Ok(Condition::HeadersEqual(Box::new((headers(left)?, headers(right)?))))
            }
            (Expression::HeaderUnionStack(left), Expression::HeaderUnionStack(right)) => {
                let unions = |name| -> Result<Vec<u32>, LoadError> {
                    let stack = self.layout.union_stack(name)?;
                    Ok(self.layout.union_stacks[stack as usize].unions.clone())
                };
                let pairs = unions(left)?.into_iter().zip(unions(right)?);
                let equal = pairs.map(|(left, right)| {
                    Condition::UnionsEqual(Box::new((
                        UnionRef::Known(left),
                        UnionRef::Known(right),
                    )))
                });
                let all = equal.reduce(|all, one| Condition::And(Box::new((all, one))));
                Ok(all.unwrap_or(Condition::Const(true)))
            }
            _ if is_union(left) => {
                Ok(Condition::UnionsEqual(Box::new((self.union(left)?, self.union(right)?))))
            }
            _ if is_header(left) => {
                let pair = (vec![self.header(left)?], vec![self.header(right)?]);
                Ok(Condition::HeadersEqual(Box::new(pair)))
            }
            _ if is_condition(left) => {
                let as_number = |side| -> Result<Number, LoadError> {
                    Ok(Number::Bool(Box::new(self.condition(side)?)))
                };
                let operands = Box::new((as_number(left)?, as_number(right)?));
                Ok(Condition::Compare { compare: Compare::Equal, operands, signed: false })
            }
            _ => self.compare(Compare::Equal, left, right),
        }
    }

    fn variable(&self, expression: &Expression) -> Option<Variable> {
        match expression {
            Expression::Field(field) => match self.layout.field(field).ok()?.place {
                Place::Variable(variable) => Some(variable),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A comparison, in its short form where there is one.
fn comparison(compare: Compare, left: Number, right: Number, signed: bool) -> Condition {
    match (left, right) {
        (Number::Cell(cell), Number::Const(value)) if !signed => {
            Condition::CellConst { compare, cell, value }
        }
        (left, right) => Condition::Compare { compare, operands: Box::new((left, right)), signed },
    }
}

fn negated(condition: Condition) -> Condition {
    match condition {
        Condition::Compare { compare: Compare::Equal, operands, signed } => {
            Condition::Compare { compare: Compare::NotEqual, operands, signed }
        }
        Condition::CellConst { compare: Compare::Equal, cell, value } => {
            Condition::CellConst { compare: Compare::NotEqual, cell, value }
        }
        other => Condition::Not(Box::new(other)),
    }
}

fn is_header(expression: &Expression) -> bool {
    use BinaryOperator::DereferenceHeaderStack;
    matches!(
        expression,
        Expression::Header(_)
            | Expression::AccessUnionHeader { .. }
            | Expression::Binary { operator: DereferenceHeaderStack, .. }
    )
}

fn is_union(expression: &Expression) -> bool {
    use BinaryOperator::DereferenceUnionStack;
    matches!(
        expression,
        Expression::HeaderUnion(_) | Expression::Binary { operator: DereferenceUnionStack, .. }
    )
}

/// Whether an expression is a truth value, by its form.
pub(crate) fn is_condition(expression: &Expression) -> bool {
    match expression {
        Expression::Bool(_) => true,
        Expression::Unary { operator, .. } => matches!(
            operator,
            UnaryOperator::DataToBool
                | UnaryOperator::Not
                | UnaryOperator::Valid
                | UnaryOperator::ValidUnion
        ),
        Expression::Binary { operator, .. } => matches!(
            operator,
            BinaryOperator::And
                | BinaryOperator::Equal
                | BinaryOperator::Greater
                | BinaryOperator::GreaterOrEqual
                | BinaryOperator::Less
                | BinaryOperator::LessOrEqual
                | BinaryOperator::NotEqual
                | BinaryOperator::Or
        ),
        Expression::Conditional { if_true, .. } => is_condition(if_true),
        _ => false,
    }
}

fn constant(value: &Int) -> Option<Ranged> {
    match (value.to_u64(), value.to_i64()) {
        (Some(value), _) => Some(Ranged::new(Number::Const(value), value.into(), value.into())),
        (_, Some(value)) => {
            Some(Ranged::new(Number::Const(value as u64), value.into(), value.into()))
        }
        _ => None,
    }
}

fn unsigned_of(number: Number, width: u32) -> Ranged {
    Ranged::new(number, 0, bits::mask64(width as usize).into())
}

fn cell(place: Place, signed: bool, header: Option<HeaderRef>) -> Option<Ranged> {
    let Place::Cell(cell) = place else { return None };
    let number = match (header, signed) {
        (Some(header), _) => Number::Found { header, field: cell, signed },
        (None, true) => Number::CellSigned(cell),
        (None, false) => Number::Cell(cell),
    };
    if signed && cell.width > 0 {
        let limit = 1i128 << (cell.width - 1);
        Some(Ranged::new(number, -limit, limit - 1))
    } else {
        Some(unsigned_of(number, cell.width.into()))
    }
}

/// The smallest `2^n - 1` that is not below `high`.
fn filled(high: i128) -> i128 {
    (1i128 << (128 - high.leading_zeros()).min(126)) - 1
}

/// The range of `operator` applied to two ranges; `None` where it is not known.
fn range_of(
    operator: BinaryOperator,
    (a, b): (i128, i128),
    (c, d): (i128, i128),
) -> Option<(i128, i128)> {
    let negative = a < 0 || c < 0;
    Some(match operator {
        BinaryOperator::Add => (a.checked_add(c)?, b.checked_add(d)?),
        BinaryOperator::Subtract => (a.checked_sub(d)?, b.checked_sub(c)?),
        BinaryOperator::Multiply => {
            let products =
                [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            (*products.iter().min()?, *products.iter().max()?)
        }
        BinaryOperator::BitAnd if c >= 0 && a >= 0 => (0, b.min(d)),
        BinaryOperator::BitAnd if c >= 0 => (0, d),
        BinaryOperator::BitAnd if a >= 0 => (0, b),
        BinaryOperator::BitOr | BinaryOperator::BitXor if !negative => (0, filled(b.max(d))),
        BinaryOperator::BitAnd | BinaryOperator::BitOr | BinaryOperator::BitXor => {
            let limit = filled(b.max(d).max(!a).max(!c));
            (-limit - 1, limit)
        }
        BinaryOperator::ShiftLeft if d < 64 => {
            let scale = 1i128 << d;
            (a.min(0).checked_mul(scale)?, b.checked_mul(scale)?)
        }
        // Towards 0 for positive numbers, towards -1 for negative ones.
        BinaryOperator::ShiftRight => (a.min(0), b.max(0)),
        _ => return None,
    })
}

/// Wraps or clamps a number to `width` bits; `None` where 64 bits cannot do it.
fn ranged_cast(operator: BinaryOperator, operand: Ranged, width: i128) -> Option<Ranged> {
    let width = u8::try_from(width).ok().filter(|width| (1..=64).contains(width))?;
    let limit = 1i128 << (width - 1);
    let exact = operand.exact();
    let fits_signed = operand.fits_signed();
    let operand = Box::new(operand.number);
    match (operator, exact) {
        (BinaryOperator::WrapSigned, _) => {
            Some(Ranged::new(Number::WrapSigned { operand, width }, -limit, limit - 1))
        }
        (BinaryOperator::SaturateSigned, _) if fits_signed && width < 64 => {
            Some(Ranged::new(Number::SaturateSigned { operand, width }, -limit, limit - 1))
        }
        (BinaryOperator::SaturateUnsigned, Some(exact)) => {
            let signed = exact == Exact::Signed;
            Some(unsigned_of(Number::SaturateUnsigned { operand, width, signed }, width.into()))
        }
        _ => None,
    }
}

/// Applies an operator to two numbers of up to 64 bits; `None` where that needs more.
fn ranged_binary(
    operator: BinaryOperator,
    left: Ranged,
    right: Ranged,
) -> Result<Option<Ranged>, LoadError> {
    use BinaryOperator as Op;
    let mut range = left.range.zip(right.range).and_then(|(a, b)| range_of(operator, a, b));
    if operator == Op::BitAnd && range.is_none() {
        // One side is unknown: the other, if it is not negative, still bounds the result.
        let known = left.range.or(right.range).filter(|(low, _)| *low >= 0);
        range = known.map(|(_, high)| (0, high));
    }
    let width = right.range.map_or(0, |(low, _)| low);
    let (exact, shift_exact) = (left.exact(), right.fits_unsigned());
    let together = exact_together(&left, &right);
    if let (Number::Const(a), Number::Const(b), Some((low, high))) =
        (&left.number, &right.number, range)
        && matches!(operator, Op::Add | Op::Subtract | Op::Multiply)
        && low == high
    {
        let folded = match operator {
            Op::Add => a.wrapping_add(*b),
            Op::Subtract => a.wrapping_sub(*b),
            _ => a.wrapping_mul(*b),
        };
        return Ok(Some(Ranged { number: Number::Const(folded), range }));
    }
    if matches!(operator, Op::SaturateSigned | Op::SaturateUnsigned | Op::WrapSigned) {
        return Ok(ranged_cast(operator, left, width));
    }
    let operands = Box::new((left.number, right.number));
    let number = match operator {
        Op::Add => Number::Add(operands),
        Op::BitAnd => Number::And(operands),
        Op::BitOr => Number::Or(operands),
        Op::BitXor => Number::Xor(operands),
        Op::Multiply => Number::Multiply(operands),
        Op::Subtract => Number::Subtract(operands),
        Op::ShiftLeft if shift_exact => Number::ShiftLeft(operands),
        Op::ShiftRight if shift_exact && exact.is_some() => {
            Number::ShiftRight { operands, signed: exact == Some(Exact::Signed) }
        }
        Op::Divide if together == Some(Exact::Unsigned) => {
            range = left.range.map(|(_, high)| (0, high));
            Number::Divide(operands)
        }
        Op::Remainder if together == Some(Exact::Unsigned) => {
            range = left.range.map(|(_, high)| (0, high));
            Number::Remainder(operands)
        }
        Op::Divide | Op::Remainder | Op::ShiftLeft | Op::ShiftRight => return Ok(None),
        _ => return Err(LoadError::new("", "expected a number, found a truth value")),
    };
    Ok(Some(match range {
        Some((low, high)) => Ranged::new(number, low, high),
        None => Ranged::unknown(number),
    }))
}
