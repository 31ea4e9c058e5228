//! A header's fields: where each lies, and which type it has.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::marker::PhantomData;
use std::ops::Range;

/// Something that a header holds in whole bytes, in network byte order.
pub trait Value: Copy {
    const SIZE_BYTES: usize;

    /// `bytes` are exactly [`Value::SIZE_BYTES`].
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

/// A field of a header, by its place and its type.
///
/// Getting and setting panic where the bytes end before the field does: a checked view has looked.
pub struct Field<T> {
    start: usize,
    kind: PhantomData<T>,
}

impl<T> Clone for Field<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Field<T> {}

impl<T: Value> Field<T> {
    /// The field that begins this many bytes behind the header's first.
    pub const fn at(start: usize) -> Field<T> {
        Field { start, kind: PhantomData }
    }

    pub const fn start(self) -> usize {
        self.start
    }

    pub const fn end(self) -> usize {
        self.start + T::SIZE_BYTES
    }

    pub const fn range(self) -> Range<usize> {
        self.start..self.end()
    }

    /// The field of the header that begins with `header`.
    #[inline(always)]
    pub fn get(self, header: &[u8]) -> T {
        T::read(&header[self.range()])
    }

    /// As [`Field::get`], where the header may end too early.
    #[inline(always)]
    pub fn get_checked(self, header: &[u8]) -> Result<T, crate::WireError> {
        header.get(self.range()).map(T::read).ok_or(crate::WireError::Truncated)
    }

    #[inline(always)]
    pub fn set(self, header: &mut [u8], value: T) {
        value.write(&mut header[self.range()]);
    }
}

macro_rules! number {
    ($($kind:ty),*) => {$(
        impl Value for $kind {
            const SIZE_BYTES: usize = size_of::<$kind>();

            #[inline(always)]
            fn read(bytes: &[u8]) -> $kind {
                <$kind>::from_be_bytes(bytes.try_into().expect("a field's own length"))
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_be_bytes());
            }
        }
    )*};
}

number!(u8, u16, u32);

/// A type that is another one with a meaning.
macro_rules! value_as {
    ($kind:ty, $inner:ty, $from:expr, $into:expr) => {
        impl $crate::field::Value for $kind {
            const SIZE_BYTES: usize = <$inner as $crate::field::Value>::SIZE_BYTES;

            #[inline(always)]
            fn read(bytes: &[u8]) -> $kind {
                $from(<$inner as $crate::field::Value>::read(bytes))
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                $crate::field::Value::write($into(self), bytes);
            }
        }
    };
}

impl<const N: usize> Value for [u8; N] {
    const SIZE_BYTES: usize = N;

    #[inline(always)]
    fn read(bytes: &[u8]) -> [u8; N] {
        bytes.try_into().expect("a field's own length")
    }

    #[inline(always)]
    fn write(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self);
    }
}

value_as!(Ipv4Addr, [u8; 4], Ipv4Addr::from, |address: Ipv4Addr| address.octets());
value_as!(Ipv6Addr, [u8; 16], Ipv6Addr::from, |address: Ipv6Addr| address.octets());

/// A view's getters and setters for the fields that are whole bytes.
macro_rules! accessors {
    ($view:ident { $($get:ident, $set:ident: $kind:ty = $field:expr;)* }) => {
        impl<B: AsRef<[u8]>> $view<B> {
            /// A view of bytes that are known to be long enough, or are about to be written; reading
            /// what lies behind their end panics.
            pub const fn new_unchecked(bytes: B) -> Self {
                $view { bytes }
            }

            /// Header and payload.
            pub fn as_bytes(&self) -> &[u8] {
                self.bytes.as_ref()
            }

            pub fn into_inner(self) -> B {
                self.bytes
            }

            $(
                #[inline]
                pub fn $get(&self) -> $kind {
                    $field.get(self.bytes.as_ref())
                }
            )*
        }

        impl<B: AsRef<[u8]> + AsMut<[u8]>> $view<B> {
            pub fn as_mut_bytes(&mut self) -> &mut [u8] {
                self.bytes.as_mut()
            }

            $(
                #[inline]
                pub fn $set(&mut self, value: $kind) {
                    $field.set(self.bytes.as_mut(), value);
                }
            )*
        }
    };
}
