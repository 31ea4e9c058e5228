//! Ports that are added while the switch runs: their devices are opened on a thread of its own, which
//! may wait, and which keeps the right to do so when those that speak with controllers have none.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use agent::devices::{Devices, Opened};
use p4runtime::{Code, Refusal};
use ports::privilege::{self, DEVICES, FILES};
use ports::{OpenError, PacketSocket};
use units::PortId;

use crate::later_ports::Allowed;
use crate::settings::Settings;
use crate::tap::Capture;

/// Asks for devices; one that may not be used is refused here.
pub struct Opener {
    allowed: Allowed,
    wishes: Mutex<Sender<Wish>>,
}

/// A device that a caller waits for.
struct Wish {
    port: PortId,
    device: String,
    answer: Sender<Result<Opened, Refusal>>,
}

/// The opener of devices, and the captures that go with them.
pub struct Opening {
    /// The folder for captures; none: no captures.
    pcap: Option<PathBuf>,
    wishes: Receiver<Wish>,
}

/// The network device of a new port.
pub struct OpenedPort {
    /// The socket of its frames.
    pub socket: PacketSocket,
    /// Where they are recorded, if they are.
    pub capture: Option<Capture>,
}

impl Opener {
    /// Captures as for the ports of the command line. The second half is to be
    /// [started](Opening::start).
    pub fn new(settings: &Settings) -> (Opener, Opening) {
        let (sender, wishes) = channel();
        let (allowed, pcap) = (Allowed::new(settings), settings.pcap.clone());
        (Opener { allowed, wishes: Mutex::new(sender) }, Opening { pcap, wishes })
    }
}

impl Devices for Opener {
    fn open(&self, port: PortId, device: &str) -> Result<Opened, Refusal> {
        self.allowed.check(port, device)?;
        let (answer, answers) = channel();
        let stopping = || Refusal::new(Code::Unavailable, "the switch is stopping");
        let wish = Wish { port, device: device.to_owned(), answer };
        self.wishes.lock().map_err(|_| stopping())?.send(wish).map_err(|_| stopping())?;
        answers.recv().map_err(|_| stopping())?
    }
}

impl Opening {
    /// Opens requested devices from now on, on a thread with the rights of the calling one, as long
    /// as there is a requester.
    pub fn start(self) -> io::Result<()> {
        let run = move || {
            let _kept = privilege::keep(DEVICES.and(FILES));
            for Wish { port, device, answer } in &self.wishes {
                // The requester may be gone; then the device is closed again.
                let _unheard = answer.send(self.open(port, &device));
            }
        };
        thread::Builder::new().name("vitrine-open".to_owned()).spawn(run).map(drop)
    }

    fn open(&self, port: PortId, device: &str) -> Result<Opened, Refusal> {
        let socket = PacketSocket::open(device).map_err(|error| {
            let message = format!("port {port}: {error}");
            match &error {
                OpenError::Missing(_) => Refusal::not_found(message),
                OpenError::TooManyFiles(_) => Refusal::exhausted(message),
                _ => Refusal::precondition(message),
            }
        })?;
        let capture = self.pcap.as_deref().map(|folder| Capture::create(folder, device));
        let capture = capture.transpose().map_err(Refusal::precondition)?;
        Ok(Opened(Box::new(OpenedPort { socket, capture })))
    }
}
