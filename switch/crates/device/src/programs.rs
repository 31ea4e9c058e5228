//! The program in force, and those before it that still have packets in the switch.
//!
//! A packet's headers mean something only to the program that parsed them, so that program also
//! runs egress on it. A program that is replaced therefore stays until its last packet is gone;
//! nothing is lost when a controller loads a new one.

use pipeline::Pipeline;

#[derive(Debug)]
pub(crate) struct Loaded {
    pub generation: u32,
    pub pipeline: Box<Pipeline>,
    /// The number of its packets in the switch or with the driver.
    pub packets: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Programs {
    current: Option<Loaded>,
    /// Replaced, but not done yet; nearly always none.
    retired: Vec<Loaded>,
    /// No longer needed; to be freed by the driver.
    #[expect(clippy::vec_box, reason = "they come in boxes and leave in boxes")]
    done: Vec<Box<Pipeline>>,
    next_generation: u32,
}

impl Programs {
    pub fn current(&mut self) -> Option<&mut Loaded> {
        self.current.as_mut()
    }

    pub fn current_pipeline(&self) -> Option<&Pipeline> {
        self.current.as_ref().map(|loaded| &*loaded.pipeline)
    }

    /// Puts `pipeline` in force.
    pub fn install(&mut self, pipeline: Box<Pipeline>) {
        let generation = self.next_generation;
        self.next_generation = self.next_generation.wrapping_add(1);
        let new = Loaded { generation, pipeline, packets: 0 };
        // Nobody has taken what was done with before.
        self.done.clear();
        self.retired.extend(self.current.replace(new));
        self.part_with_empty_ones();
    }

    /// A program that no packet needs any more.
    pub fn poll_done(&mut self) -> Option<Box<Pipeline>> {
        self.done.pop()
    }

    fn part_with_empty_ones(&mut self) {
        while let Some(at) = self.retired.iter().position(|retired| retired.packets == 0) {
            self.done.push(self.retired.swap_remove(at).pipeline);
        }
    }

    /// The program of a packet.
    pub fn of(&mut self, generation: u32) -> &mut Loaded {
        let current = self.current.as_mut().filter(|loaded| loaded.generation == generation);
        match current {
            Some(loaded) => loaded,
            None => self
                .retired
                .iter_mut()
                .find(|loaded| loaded.generation == generation)
                .expect("a program stays as long as one of its packets"),
        }
    }

    /// A packet of `generation` is gone; so is its program, if it was the last of a retired one.
    pub fn release(&mut self, generation: u32) {
        let loaded = self.of(generation);
        loaded.packets -= 1;
        if loaded.packets == 0 {
            self.part_with_empty_ones();
        }
    }
}
