//! The files and sockets that a switch reaches: those of its command line.

use std::path::Path;

use ports::reach::Reach;
use service::address::Address;
use service::publisher::Place;

use crate::logging::Sink;
use crate::settings::Settings;

/// All that the switch opens by name from here on, at its start and later.
pub fn reach(settings: &Settings) -> Reach {
    let mut reach = Reach::default();
    let tls = settings.tls.iter().flat_map(|files| {
        [Some(&files.certificate), Some(&files.key), files.client_ca.as_ref()].into_iter().flatten()
    });
    settings.program.iter().chain(tls).for_each(|file| reach.read(file));
    // A panic's backtrace names lines of the program.
    if let Ok(own) = std::env::current_exe() {
        reach.read(&own);
    }
    if let Sink::File { path, .. } = &settings.logging.sink {
        // Older files move up.
        reach.write_below(folder(path));
        reach.write(&crate::logging::newest(path));
    }
    if let Some(file) = &settings.capture {
        reach.write(file);
    }
    if let Some(folder) = &settings.pcap {
        // Ports that come later have theirs.
        reach.write_below(folder);
        for name in settings.interfaces.iter().flat_map(|it| crate::tap::names(&it.device)) {
            reach.write(&folder.join(name));
        }
    }
    match &settings.grpc_address {
        Address::Tcp(address) => reach.listen_at(address.port()),
        Address::Unix(path) => reach.listen_in(folder(path)),
    }
    settings.thrift_port.iter().for_each(|port| reach.listen_at(*port));
    for place in settings.notifications.iter().chain(&settings.events) {
        match place {
            Place::Tcp(address) => reach.listen_at(address.port()),
            Place::Ipc(path) | Place::IpcNear(path) => reach.listen_in(folder(path)),
        }
    }
    reach
}

/// The folder that a file is in, or will be.
fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != "" => folder,
        _ => Path::new("."),
    }
}
