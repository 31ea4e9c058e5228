//! [`Kept`]: what a visitor keeps with a program.

use std::any::Any;
use std::fmt;

/// One value of a type that only the visitor knows.
#[derive(Default)]
pub(super) struct Kept(Option<Held>);

struct Held {
    value: Box<dyn Any + Send>,
    /// Makes another of its type.
    copy: fn(&dyn Any) -> Box<dyn Any + Send>,
}

impl Kept {
    /// The value, which begins as its type's default; another visitor's is replaced.
    pub fn of<T: Any + Clone + Default + Send>(&mut self) -> Option<&mut T> {
        if !self.0.as_ref().is_some_and(|held| held.value.is::<T>()) {
            self.0 = Some(Held { value: Box::new(T::default()), copy: copy_of::<T> });
        }
        self.0.as_mut()?.value.downcast_mut()
    }
}

impl Clone for Kept {
    fn clone(&self) -> Kept {
        Kept(self.0.as_ref().map(|held| Held { value: (held.copy)(&*held.value), ..*held }))
    }
}

fn copy_of<T: Any + Clone + Default + Send>(value: &dyn Any) -> Box<dyn Any + Send> {
    Box::new(value.downcast_ref::<T>().cloned().unwrap_or_default())
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}
