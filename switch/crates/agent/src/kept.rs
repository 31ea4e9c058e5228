//! [`Kept`]: what a visitor keeps with a program.

use std::any::Any;
use std::fmt;

/// One value of a type that only the visitor knows.
#[derive(Default)]
pub(super) struct Kept(Option<Box<dyn Any + Send>>);

impl Kept {
    /// The value, which begins as its type's default; another visitor's is replaced.
    pub fn of<T: Any + Default + Send>(&mut self) -> Option<&mut T> {
        if !self.0.as_ref().is_some_and(|kept| kept.is::<T>()) {
            self.0 = Some(Box::new(T::default()));
        }
        self.0.as_mut()?.downcast_mut()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}
