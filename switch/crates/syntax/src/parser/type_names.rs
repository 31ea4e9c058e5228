//! Which names are types, scope by scope.

use std::collections::BTreeMap;
use std::rc::Rc;

/// Names declared until now. A variable may hide a type of the same name.
#[derive(Default)]
pub(super) struct TypeNames {
    top: BTreeMap<Rc<str>, bool>,
    inner: Vec<BTreeMap<Rc<str>, bool>>,
}

impl TypeNames {
    pub fn push(&mut self) {
        self.inner.push(BTreeMap::new());
    }

    /// Leaves the innermost scope.
    pub fn pop(&mut self) {
        self.inner.pop();
    }

    /// In the innermost scope, `name` is a type from here on, or is none.
    pub fn declare(&mut self, name: &Rc<str>, is_type: bool) {
        self.inner.last_mut().unwrap_or(&mut self.top).insert(name.clone(), is_type);
    }

    /// Whether the name is a type here.
    pub fn is_type(&self, name: &str, is_global: bool) -> bool {
        let inner = self.inner.iter().rev().filter(|_| !is_global);
        let known = inner.chain([&self.top]).find_map(|scope| scope.get(name));
        known.copied().unwrap_or(false)
    }
}
