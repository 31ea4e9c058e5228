//! [`Runtime`]: a call in, a reply out. Knows no sockets and no threads; what takes long is its
//! host's to do elsewhere.

use std::sync::Arc;

use agent::devices::Opened;
use agent::front::Front;
use agent::{Keeps, Load};
use p4runtime::Refusal;
use p4runtime::config::Config;
use thrift::{ApplicationError, ApplicationErrorKind, Call, Reply, Struct, Value};
use units::PortId;

use crate::codes::{Thrown, swap};
use crate::job::{Job, Outcome};
use crate::md5::md5;
use crate::queues::Settings;
use crate::{functions, ids, ports};

/// The field of a function's result that holds its exception: each function has one at most.
const EXCEPTION: i16 = 1;

/// The parts that a [`Runtime`] delegates.
pub trait Host: Send + Sync {
    /// Makes a program of a configuration, which takes long ([`Load::new`]).
    fn load(&self, config: Arc<Config>) -> impl Future<Output = Result<Load, Refusal>> + Send;

    /// Opens the network device of this name for a port.
    fn open(
        &self,
        port: PortId,
        device: String,
    ) -> impl Future<Output = Result<Opened, Refusal>> + Send;

    /// Closes what was opened for a port.
    fn close(&self, opened: Opened) -> impl Future<Output = ()> + Send;
}

/// The interface of one switch.
#[derive(Debug)]
pub struct Runtime<H> {
    front: Arc<Front>,
    host: H,
    device_id: u64,
    /// The port at which it is served.
    port: u16,
    /// Where digests are published, as an address of nanomsg; empty: nowhere.
    notifications: String,
    /// Where steps of packets are published, in the same form.
    events: String,
    queues: Settings,
}

/// Why there is no outcome: the switch cannot.
enum Failed {
    Thrown(Thrown),
    Refused(Refusal),
    Unknown,
}

impl From<Thrown> for Failed {
    fn from(thrown: Thrown) -> Failed {
        Failed::Thrown(thrown)
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Failed {
        Failed::Refused(refusal)
    }
}

impl<H: Host> Runtime<H> {
    pub fn new(front: Arc<Front>, host: H, device_id: u64, port: u16) -> Runtime<H> {
        let (notifications, events) = (String::new(), String::new());
        Runtime { front, host, device_id, port, notifications, events, queues: Settings::default() }
    }

    /// The same, where digests and steps of packets are published at these addresses.
    #[must_use]
    pub fn publishing(self, notifications: String, events: String) -> Runtime<H> {
        Runtime { notifications, events, ..self }
    }

    /// The result of a call.
    pub async fn answer(&self, call: Call) -> Reply {
        let name = format!("{}:{}", call.service, call.method);
        let (kind, message) = match self.carry_out(call).await {
            Ok(value) => return Reply::Returned(value),
            Err(Failed::Thrown(Thrown(code))) => {
                return Reply::Thrown(EXCEPTION, Struct::default().with(1, Value::I32(code)));
            }
            Err(Failed::Refused(refusal)) => (ApplicationErrorKind::InternalError, refusal.message),
            Err(Failed::Unknown) => {
                (ApplicationErrorKind::UnknownMethod, format!("this switch has no {name}"))
            }
        };
        Reply::Failed(ApplicationError { kind, message })
    }

    async fn carry_out(&self, call: Call) -> Result<Option<Value>, Failed> {
        if let Some(run) = functions::find(&call.service, &call.method) {
            let arguments = call.arguments;
            let visit =
                self.front.visit::<Outcome>(|reply| Box::new(Job::new(run, arguments, reply)));
            return Ok(visit.await??);
        }
        if matches!(&*call.service, "psa_switch" | "simple_switch")
            && let Some(done) = self.queues.call(&self.front, &call.method, &call.arguments).await
        {
            return Ok(Some(Value::I32(done?)));
        }
        match (&*call.service, &*call.method) {
            ("standard", "bm_dev_mgr_add_port") => self.add_port(&call.arguments).await,
            ("standard", "bm_dev_mgr_remove_port") => self.remove_port(&call.arguments).await,
            ("standard", "bm_dev_mgr_show_ports") => Ok(Some(ports::list(&self.front).await?)),
            ("standard", "bm_get_config_md5") => self.config_md5().map(Some),
            ("standard", "bm_get_config") => self.config().map(Some),
            ("standard", "bm_get_id_from_name") => self.id_from_name(&call.arguments).map(Some),
            ("standard", "bm_load_new_config") => self.load_new_config(&call.arguments).await,
            ("standard", "bm_mgmt_get_info") => Ok(Some(self.info())),
            ("standard", "bm_reset_state") => self.reset_state().await,
            ("standard", "bm_swap_configs") => self.swap_configs().await,
            _ => Err(Failed::Unknown),
        }
    }

    /// The program as it was loaded.
    fn config(&self) -> Result<Value, Failed> {
        match self.front.current() {
            Some(config) => Ok(Value::Binary(config.json()?.to_vec())),
            None => Ok(Value::text("")),
        }
    }

    fn config_md5(&self) -> Result<Value, Failed> {
        let json = self.front.current().map(|config| config.json()).transpose()?;
        Ok(Value::Binary(md5(&json.unwrap_or_default()).to_vec()))
    }

    /// The program was read before, when it was loaded.
    fn id_from_name(&self, arguments: &Struct) -> Result<Value, Failed> {
        let json = self.front.current().map(|config| config.json()).transpose()?;
        let program = json.and_then(|json| bmv2::read(&json).ok()).unwrap_or_default();
        Ok(Value::I32(ids::id_of(&program, arguments)?.cast_signed()))
    }

    async fn add_port(&self, arguments: &Struct) -> Result<Option<Value>, Failed> {
        let (port, device) = (ports::port_of(arguments, 2)?, arguments.text(1).to_owned());
        let opened = self.host.open(port, device.clone()).await.map_err(|_| ports::ERROR)?;
        ports::add(&self.front, port, device, opened).await?;
        self.queues.apply(&self.front, port).await;
        Ok(None)
    }

    async fn remove_port(&self, arguments: &Struct) -> Result<Option<Value>, Failed> {
        let removed = ports::remove(&self.front, ports::port_of(arguments, 1)?).await?;
        if let Some(opened) = removed {
            self.host.close(opened).await;
        }
        Ok(None)
    }

    /// BmConfig.
    fn info(&self) -> Value {
        let info = Struct::default().with(1, Value::I64(self.device_id.cast_signed()));
        let mut info = info.with(2, Value::I32(self.port.into()));
        for (field, address) in [(3, &self.notifications), (4, &self.events)] {
            if !address.is_empty() {
                info = info.with(field, Value::text(address.as_str()));
            }
        }
        Value::Struct(info)
    }

    /// Resets the entries to those of a fresh load: the program is loaded once more, so that
    /// packets pass meanwhile.
    async fn reset_state(&self) -> Result<Option<Value>, Failed> {
        if let Some(config) = self.front.programs().in_force {
            let load = self.host.load(config).await?.keeping(Keeps::Settings);
            self.front.put_in_force(Some(load)).await?;
        }
        Ok(None)
    }

    async fn load_new_config(&self, arguments: &Struct) -> Result<Option<Value>, Failed> {
        if self.front.programs().saved.is_some() {
            return Err(swap::ONGOING.into());
        }
        let json = arguments.bytes(1).to_vec();
        let config = Arc::new(Config::without_p4info(json.into()));
        self.front.save(self.host.load(config).await?.keeping(Keeps::Copies)).await?;
        Ok(None)
    }

    async fn swap_configs(&self) -> Result<Option<Value>, Failed> {
        if self.front.programs().saved.is_none() {
            return Err(swap::NOT_ONGOING.into());
        }
        self.front.put_in_force(None).await?;
        Ok(None)
    }
}
