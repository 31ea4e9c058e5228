//! The [`Stage`]: carries out what clients of the world and of its routers want, and lets time pass.
//!
//! # Driving
//!
//! The owner of the stage calls [`Stage::work`] with the time of a clock that never goes back, does
//! as the answer says ([`Next`]), and calls it again, at once when `wake` is called. Between two
//! calls the futures of [`Front`] and of the routers' [`Fronts`] are polled, here or on other
//! threads.
//!
//! # Order
//!
//! While the world stands still, requests are carried out at once and completely. While time passes
//! they are carried out between two turns, at the instant that the world has reached.

use std::sync::Arc;
use std::time::Duration;

use agent::exchange::{Inbox, Reply, Wake, exchange, reply};
use agent::front::Fronts;
use messages::vitrine::v1;
use p4runtime::router::Problem;
use p4runtime::{Code, Refusal};
use pipeline::native::Compile;
use units::Time;

use crate::apps::app_of;
use crate::capture::{Capture, hand_frames};
use crate::front::Front;
use crate::guests::Runner;
use crate::invite::invite;
use crate::look::look;
use crate::network::{App, Network};
use crate::passing::{Advance, Passing, Run};
use crate::reports::report_message;
use crate::request::Request;
use crate::watch::{HostWatch, hand_events};

/// How long a stream may be read so slowly that the world waits for it and nothing is taken.
pub const STALL_MAX: Duration = Duration::from_secs(30);
/// How often it is looked whether there is room again, and whether it is time again.
const PAUSE: Duration = Duration::from_millis(1);
/// The longest frame that is handed in.
const FRAME_BYTES_MAX: usize = 65_535;
/// Turns of nodes between two looks at requests and readers.
const TURNS: usize = 512;

/// The next action of a stage's driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Calls again at once.
    Again,
    /// Calls again after this long, or when woken.
    After(Duration),
    /// Calls again when woken.
    Idle,
}

/// See the top of the file.
pub struct Stage {
    inbox: Inbox<Request>,
    fronts: Arc<Fronts>,
    wake: Wake,
    compile: Option<Compile>,
    runner: Runner,
    network: Option<Network>,
    passing: Passing,
    watches: Vec<HostWatch>,
    captures: Vec<Capture>,
    /// Since when a reader keeps the world waiting.
    stalled: Option<Duration>,
}

impl Stage {
    /// A stage without a network, and its front. `wake` is called when it has work; `compile`
    /// compiles programs to machine code, none: they are interpreted; `runner` runs classes that
    /// decide for routers and hosts.
    pub fn new(
        wake: Wake,
        compile: Option<Compile>,
        runner: Runner,
    ) -> (Stage, Front, Arc<Fronts>) {
        let (handle, inbox) = exchange(Arc::clone(&wake));
        let fronts = Arc::new(Fronts::default());
        let stage = Stage {
            inbox,
            fronts: Arc::clone(&fronts),
            wake,
            compile,
            runner,
            network: None,
            passing: Passing::Standing,
            watches: Vec::new(),
            captures: Vec::new(),
            stalled: None,
        };
        (stage, Front::new(handle), fronts)
    }

    /// Carries out what waits, and lets time pass for a while; `clock` is what time it really is.
    pub fn work(&mut self, clock: Duration) -> Next {
        let next = self.turn(clock);
        if next != Next::Again
            && let Some(network) = &self.network
        {
            // The next sample may be far away in real time.
            network.wake_readers();
        }
        next
    }

    fn turn(&mut self, clock: Duration) -> Next {
        while let Some(request) = self.inbox.poll_request() {
            self.begin(request, clock);
        }
        self.forget_closed();
        if matches!(&self.passing, Passing::Advancing(advance) if advance.reply.is_canceled()) {
            self.come_to_a_stand(Ok(None));
        }
        let Some(network) = &mut self.network else { return Next::Idle };
        network.work();
        hand_events(network, &mut self.watches);
        match self.passing {
            Passing::Standing => Next::Idle,
            _ => match self.wait_for_readers(clock) {
                Some(next) => next,
                None => self.go_on(clock),
            },
        }
    }

    // ---- requests ------------------------------------------------------------------------------

    fn begin(&mut self, request: Request, clock: Duration) {
        match request {
            Request::Build(request, slot) => reply(slot, self.build(*request)),
            Request::Advance((request, slot)) => self.advance(request, slot),
            Request::Pause((_, slot)) => {
                let paused = self.now().map(|now| v1::PauseResponse { time_ps: now.ps() });
                if paused.is_ok() {
                    self.come_to_a_stand(Ok(None));
                }
                reply(slot, paused);
            }
            Request::Run((request, slot)) => reply(slot, self.run(&request, clock)),
            Request::Start((request, slot)) => reply(slot, self.start(request)),
            Request::Stop((request, slot)) => reply(slot, self.stop(&request)),
            Request::Look((request, slot)) => {
                let running = matches!(self.passing, Passing::Running(_));
                reply(slot, self.network().and_then(|network| look(network, &request, running)));
            }
            Request::Fault((request, slot)) => reply(slot, self.fault(request)),
            Request::Inject((request, slot)) => reply(slot, self.inject(&request)),
            Request::Invite((request, slot)) => reply(slot, self.invite(&request)),
            Request::WatchHosts(((request, spout), slot)) => {
                let watch =
                    self.network().and_then(|network| HostWatch::new(network, &request, spout));
                reply(slot, watch.map(|watch| self.watch(watch)));
            }
            Request::Capture(((request, spout), slot)) => {
                let capture =
                    self.network().and_then(|network| Capture::new(network, &request, spout));
                reply(slot, capture.map(|capture| self.capture(capture)));
            }
        }
    }

    fn network(&mut self) -> Result<&mut Network, Refusal> {
        self.network.as_mut().ok_or_else(|| {
            Refusal::precondition("there is no network yet: build one with vitrine.v1.World.Build")
        })
    }

    fn now(&mut self) -> Result<Time, Refusal> {
        self.network().map(|network| network.world.now())
    }

    fn build(&mut self, request: v1::BuildRequest) -> Result<v1::BuildResponse, Vec<Problem>> {
        let network = Network::build(request, self.compile, &mut self.runner, &self.wake)?;
        self.fronts.replace(network.served());
        let why = Refusal::new(Code::Aborted, "the network was built anew");
        if let Some(mut before) = self.network.replace(network) {
            before.routers.iter_mut().for_each(|router| router.end(&why));
        }
        self.watches.drain(..).for_each(|watch| watch.end(&why));
        self.captures.drain(..).for_each(|capture| capture.end(&why));
        if let Passing::Advancing(advance) = std::mem::replace(&mut self.passing, Passing::Standing)
        {
            reply(advance.reply, Err(why));
        }
        Ok(v1::BuildResponse {})
    }

    fn start(&mut self, request: v1::StartRequest) -> Result<v1::StartResponse, Refusal> {
        self.network()?;
        let Stage { network: Some(network), runner, .. } = self else {
            unreachable!("it is there")
        };
        let host = network.host(&request.host)?;
        let resolve = |name: &str| {
            let named = network.topology.hosts.iter().find(|host| host.name == name)?;
            named.addresses.first()?.split('/').next()?.parse().ok()
        };
        let guests = &mut network.guests;
        let app = app_of(request.app.unwrap_or_default(), &resolve, &mut |name| {
            guests.algorithm(name, runner)
        })?;
        let node = network.hosts[host].node;
        let id = network.world.with_host(node, |host, now| host.start(now, app));
        network.apps.push(App { host, id });
        let number = network.apps.len() as u64;
        network.hosts[host].apps.push(number);
        Ok(v1::StartResponse { app: number, time_ps: network.world.now().ps() })
    }

    fn stop(&mut self, request: &v1::StopRequest) -> Result<v1::StopResponse, Refusal> {
        let network = self.network()?;
        let App { host, id } = network.app(request.app)?;
        let node = network.hosts[host].node;
        network.world.with_host(node, |host, now| host.stop(now, id));
        let report = Some(report_message(request.app, network.host_at(host), id));
        Ok(v1::StopResponse { report, time_ps: network.world.now().ps() })
    }

    fn invite(&mut self, request: &v1::InviteRequest) -> Result<v1::InviteResponse, Refusal> {
        self.check_stands()?;
        let Stage { network: Some(network), runner, .. } = self else {
            unreachable!("it is there")
        };
        invite(network, runner, request)
    }

    fn inject(&mut self, request: &v1::InjectRequest) -> Result<v1::InjectResponse, Refusal> {
        let network = self.network()?;
        let at = request.at.as_ref().ok_or_else(|| Refusal::invalid("the request has no port"))?;
        let end = network.router_port(at)?;
        for (place, frame) in request.frames.iter().enumerate() {
            if !(1..=FRAME_BYTES_MAX).contains(&frame.len()) {
                return Err(Refusal::invalid(format!(
                    "frames[{place}] has {} bytes: a frame has 1 to {FRAME_BYTES_MAX}",
                    frame.len()
                )));
            }
        }
        // Earlier requests to routers, such as traces, hold for it.
        network.work();
        request.frames.iter().for_each(|frame| network.world.inject(end, frame));
        Ok(v1::InjectResponse { time_ps: network.world.now().ps() })
    }

    fn fault(&mut self, request: v1::FaultRequest) -> Result<v1::FaultResponse, Refusal> {
        use v1::fault_request::Kind;
        let (wake, fronts) = (Arc::clone(&self.wake), Arc::clone(&self.fronts));
        let network = self.network()?;
        match request.kind {
            Some(Kind::Cut(end)) => {
                let (_, cable) = network.plug(&end)?;
                network.world.cut(network.cables[cable].0);
            }
            Some(Kind::Mend(end)) => {
                let (_, cable) = network.plug(&end)?;
                network.world.mend(network.cables[cable].0);
            }
            Some(Kind::Restart(name)) => {
                let (device_id, served) = network.restart(&name, &wake)?;
                fronts.put(device_id, served);
            }
            None => {
                return Err(Refusal::invalid("the request is empty: say cut, mend or restart"));
            }
        }
        Ok(v1::FaultResponse { time_ps: network.world.now().ps() })
    }

    // ---- readers -------------------------------------------------------------------------------

    fn watch(&mut self, watch: HostWatch) {
        if watch.wants_events() {
            self.tell_events(true);
        }
        self.watches.push(watch);
    }

    fn tell_events(&mut self, on: bool) {
        let Some(network) = &mut self.network else { return };
        for host in &network.hosts {
            network.world.with_host(host.node, |host, _| host.watch_apps(on));
        }
    }

    fn capture(&mut self, capture: Capture) {
        if let Some(network) = &mut self.network {
            capture.ends().iter().for_each(|end| network.world.capture(*end, true));
        }
        self.captures.push(capture);
    }

    /// Removes readers that have gone.
    fn forget_closed(&mut self) {
        if self.watches.iter().any(HostWatch::is_closed) {
            self.watches.retain(|watch| !watch.is_closed());
            if !self.watches.iter().any(HostWatch::wants_events) {
                self.tell_events(false);
            }
        }
        let (gone, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.captures).into_iter().partition(Capture::is_closed);
        self.captures = left;
        let Some(network) = &mut self.network else { return };
        for end in gone.iter().flat_map(Capture::ends) {
            let wanted = self.captures.iter().any(|capture| capture.ends().contains(end));
            network.world.capture(*end, wanted);
        }
    }

    /// The action if a stream has no room for the next event; nothing: go on.
    fn wait_for_readers(&mut self, clock: Duration) -> Option<Next> {
        let routers = self.network.as_ref().map_or(&[][..], |network| &network.routers);
        let filling = routers.iter().any(|router| router.is_filling())
            || self.watches.iter().any(HostWatch::is_filling)
            || self.captures.iter().any(Capture::is_filling);
        if !filling {
            self.stalled = None;
            return None;
        }
        let since = *self.stalled.get_or_insert(clock);
        if clock.saturating_sub(since) < STALL_MAX {
            return Some(Next::After(PAUSE));
        }
        self.stalled = None;
        let why = Refusal::exhausted(format!(
            "nothing was read for {} s while the world waited for it: read while time passes, in a \
             thread of its own",
            STALL_MAX.as_secs()
        ));
        for router in routers {
            router.front.end_filling(&why);
            router.agent.feeds().filter(|it| it.is_filling()).for_each(|it| it.end(why.clone()));
        }
        self.watches.iter().filter(|it| it.is_filling()).for_each(|it| it.end(&why));
        self.captures.iter().filter(|it| it.is_filling()).for_each(|it| it.end(&why));
        self.forget_closed();
        None
    }

    // ---- time ----------------------------------------------------------------------------------

    fn advance(
        &mut self,
        request: v1::AdvanceRequest,
        slot: Reply<Result<v1::AdvanceResponse, Refusal>>,
    ) {
        if let Err(refusal) = self.check_stands() {
            return reply(slot, Err(refusal));
        }
        let Some(network) = &self.network else { return };
        if let Some(advance) = Advance::new(network, request, slot) {
            self.passing = Passing::Advancing(advance);
        }
    }

    fn check_stands(&mut self) -> Result<(), Refusal> {
        let network = self.network()?;
        if let Some(fault) = network.guests.fault(&network.world) {
            return Err(fault);
        }
        match self.passing {
            Passing::Standing => Ok(()),
            Passing::Advancing(_) => Err(Refusal::precondition(
                "time passes for somebody else's Advance: wait until it is over, or Pause",
            )),
            Passing::Running(_) => {
                Err(Refusal::precondition("time passes by itself: Pause the world first"))
            }
        }
    }

    fn run(
        &mut self,
        request: &v1::RunRequest,
        clock: Duration,
    ) -> Result<v1::RunResponse, Refusal> {
        if !matches!(self.passing, Passing::Running(_)) {
            self.check_stands()?;
        }
        let now = self.now()?;
        self.passing = Passing::Running(Run::new(request, clock, now)?);
        Ok(v1::RunResponse { time_ps: now.ps() })
    }

    /// Lets time pass for a while.
    fn go_on(&mut self, clock: Duration) -> Next {
        let Some(network) = &self.network else { return Next::Idle };
        let now = network.world.now();
        let until = match &mut self.passing {
            Passing::Standing => return Next::Idle,
            Passing::Advancing(advance) => {
                let stop = advance.stopped_by(&network.world);
                let is_over =
                    stop.is_some() || (advance.until == Some(now) && !network.is_due_now());
                if is_over {
                    self.come_to_a_stand(Ok(stop));
                    return Next::Idle;
                }
                advance.until
            }
            Passing::Running(run) if run.until == Some(now) => {
                self.come_to_a_stand(Ok(None));
                return Next::Idle;
            }
            Passing::Running(run) => match run.target(clock, now) {
                Some(target) if target <= now => return Next::After(PAUSE),
                target => target.into_iter().chain(run.until).min(),
            },
        };
        // Where nothing happens any more, time does not pass for ever.
        let Some(until) = until.or_else(|| self.next_due()) else {
            if matches!(self.passing, Passing::Advancing(_)) {
                self.come_to_a_stand(Ok(None));
            }
            return Next::Idle;
        };
        self.pass(until);
        let fault = self.network.as_ref().and_then(|it| it.guests.fault(&it.world));
        if let Some(fault) = fault {
            self.come_to_a_stand(Err(fault));
        }
        Next::Again
    }

    /// When something happens, or has to be done for readers.
    fn next_due(&self) -> Option<Time> {
        let network = self.network.as_ref()?;
        network.world.next_due().into_iter().chain(self.next_look()).min()
    }

    /// When controllers or readers have to be served, after the present instant.
    fn next_look(&self) -> Option<Time> {
        let network = self.network.as_ref()?;
        let now = network.world.now();
        let samples = self.watches.iter().filter_map(HostWatch::next_sample);
        samples.filter(|due| *due > now).chain(network.next_due()).min()
    }

    /// Lets time pass until `until`, or for some turns, until readers have to be served or an event
    /// has happened that a caller waits for.
    fn pass(&mut self, until: Time) {
        let until = self.next_look().map_or(until, |look| look.min(until));
        let Some(network) = &mut self.network else { return };
        let passing = &mut self.passing;
        let Network { world, guests, .. } = &mut *network;
        let arrived = world.advance_while(until, TURNS, |world| match &*passing {
            // A router's report may be due at its agent before `until`.
            _ if world.has_reports() || guests.fault(world).is_some() => false,
            Passing::Advancing(advance) => advance.stopped_by(world).is_none(),
            _ => true,
        });
        if network.deliver()
            && let Passing::Advancing(advance) = passing
        {
            advance.note_packet_in();
        }
        hand_events(network, &mut self.watches);
        hand_frames(network, &mut self.captures);
        if arrived {
            network.handle_time();
            self.watches.iter_mut().for_each(|watch| watch.sample(network));
        }
    }

    /// Ends the passing of time: tells readers that their events are complete, and callers the
    /// reason.
    fn come_to_a_stand(&mut self, stop: Result<Option<u32>, Refusal>) {
        let Some(network) = &mut self.network else { return };
        let now = network.world.now();
        let passing = std::mem::replace(&mut self.passing, Passing::Standing);
        if matches!(passing, Passing::Standing) {
            return;
        }
        network.routers.iter_mut().for_each(|router| router.complete_until(now));
        self.watches.iter_mut().for_each(|watch| watch.complete_until(now));
        self.captures.iter().for_each(|capture| capture.complete_until(now));
        if let Passing::Advancing(advance) = passing {
            let response = |stop| v1::AdvanceResponse { time_ps: now.ps(), stop };
            reply(advance.reply, stop.map(response));
        }
    }
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("passing", &self.passing).finish_non_exhaustive()
    }
}
