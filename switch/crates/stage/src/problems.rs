//! [`Problems`]: a list that grows while a topology is read, so that all of them are reported at
//! once.

use p4runtime::router::Problem;

/// All mistakes until now.
#[derive(Debug, Default)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    pub fn add(
        &mut self,
        place: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) {
        let (place, found, advice) = (place.into(), found.into(), advice.into());
        self.0.push(Problem { place, found, advice });
    }
}
