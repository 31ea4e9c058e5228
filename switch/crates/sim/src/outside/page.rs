//! Replaces `child` in a web page, which runs Python beside this module and has no processes. A file
//! that the page provides takes frames and returns answers. The page limits the time of a decision.

use std::fs::File;
use std::io::{self, Read, Write};

use super::{Class, wire};

/// Opened once for each class. The first frame is the class's file and name, a line each; the rest is
/// what a pipe to a process would carry.
const PIPE: &str = "/dev/insides";
/// An answer is a match of 128 pairs at most, or a traceback.
const ANSWER_BYTES_MAX: u32 = 1 << 20;

/// A class that decides.
pub struct Process {
    pipe: File,
    /// Frames to send with the next question.
    told: Vec<u8>,
    /// The answer to the first frame.
    pub begun: Vec<u8>,
}

impl Process {
    /// Starts the class with its parameters.
    pub fn start(class: &Class, parameters: &serde_json::Value) -> Result<Process, String> {
        let pipe = File::options().read(true).write(true).open(PIPE);
        let pipe = pipe.map_err(|error| format!("there is no Python here: {error}"))?;
        let mut process = Process { pipe, told: Vec::new(), begun: Vec::new() };
        process.tell(format!("{}\n{}", class.file.display(), class.name).as_bytes());
        process.begun = process.ask(&wire::begin(parameters))?;
        Ok(process)
    }

    /// Sends a frame that needs no answer.
    pub fn tell(&mut self, body: &[u8]) {
        self.told.extend_from_slice(&wire::frame(body));
    }

    /// Sends a question and waits for the answer.
    pub fn ask(&mut self, body: &[u8]) -> Result<Vec<u8>, String> {
        let mut said = std::mem::take(&mut self.told);
        said.extend_from_slice(&wire::frame(body));
        let answer = self.pipe.write_all(&said).and_then(|()| self.answer());
        said.clear();
        self.told = said;
        let answer = answer.map_err(|error| format!("it did not answer: {error}"))?;
        match answer.split_first() {
            Some((0, answer)) => Ok(answer.to_vec()),
            Some((_, text)) => Err(String::from_utf8_lossy(text).trim_end().to_owned()),
            None => Err("it answered with nothing".to_owned()),
        }
    }

    fn answer(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.pipe.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length > ANSWER_BYTES_MAX {
            return Err(io::Error::other(format!("an answer of {length} bytes")));
        }
        let mut answer = vec![0; length as usize];
        self.pipe.read_exact(&mut answer)?;
        Ok(answer)
    }
}
