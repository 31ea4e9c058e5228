//! The classes that networks may use: those of files in certain folders.
//!
//! Clients of `vitrine-sim serve` name files in requests. Only those in a folder that its owner has
//! named are used.

use std::path::PathBuf;

use hosts::CongestionOutside;
use stage::Deciders;
use traffic::outside::{AqmOutside, ArbiterOutside, SchedulerOutside};
use units::Rate;

use super::{Aqm, Arbiter, Class, Congestion, Scheduler};

/// See above.
pub struct Library {
    /// Without links in their paths.
    folders: Vec<PathBuf>,
}

impl Library {
    /// The classes of these folders and those below them.
    pub fn new(folders: &[PathBuf]) -> Result<Library, String> {
        let whole = |folder: &PathBuf| match folder.canonicalize() {
            Ok(whole) if whole.is_dir() => Ok(whole),
            Ok(_) => Err(format!("--classes: {} is no folder", folder.display())),
            Err(error) => Err(format!("--classes: {}: {error}", folder.display())),
        };
        Ok(Library { folders: folders.iter().map(whole).collect::<Result<_, _>>()? })
    }

    fn class(&self, text: &str) -> Result<Class, String> {
        let (class, rest) = Class::parse(text)
            .ok_or_else(|| format!("`{text}` is no class: write FILE.py:CLASS"))?;
        if rest.is_some() {
            return Err(format!("`{text}`: nothing stands behind the class"));
        }
        let file = class.file.canonicalize();
        let file = file.map_err(|_| format!("there is no file {}", class.file.display()))?;
        if !self.folders.iter().any(|folder| file.starts_with(folder)) {
            let folders: Vec<String> =
                self.folders.iter().map(|folder| folder.display().to_string()).collect();
            return Err(format!(
                "{} is in none of the folders whose classes may decide (vitrine-sim serve \
                 --classes): {}",
                file.display(),
                folders.join(", ")
            ));
        }
        Ok(Class { file, name: class.name })
    }
}

impl Deciders for Library {
    fn arbiter(
        &mut self,
        class: &str,
        ports: usize,
        iterations: u8,
        seed: u64,
    ) -> Result<Box<dyn ArbiterOutside>, String> {
        let started = Arbiter::start(&self.class(class)?, ports, iterations, seed)?;
        Ok(Box::new(started))
    }

    fn scheduler(
        &mut self,
        class: &str,
        weights: &[u32],
        rate: Rate,
    ) -> Result<Box<dyn SchedulerOutside>, String> {
        Ok(Box::new(Scheduler::start(&self.class(class)?, weights, rate.bps())?))
    }

    fn aqm(&mut self, class: &str, rate: Rate, seed: u64) -> Result<Box<dyn AqmOutside>, String> {
        Ok(Box::new(Aqm::start(&self.class(class)?, rate.bps(), seed)?))
    }

    fn congestion(&mut self, class: &str, seed: u64) -> Result<Box<dyn CongestionOutside>, String> {
        Ok(Box::new(Congestion::start(&self.class(class)?, seed)?))
    }
}
