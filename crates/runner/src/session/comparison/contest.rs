//! Who takes part in the heats: servers that run, commands, or stacks that were prepared as for a session.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    Exchange, HeatRecord, LoadSpec, TargetId,
    comparison::{ComparedCommand, ComparedPoint, Contender, ContenderKind, Side},
    heat::Role,
    load::{Endpoint, Target},
    machine::Finding,
    plan::Pinning,
};

use super::{ComparisonEvent, ComparisonOptions, Contenders};
use crate::{
    heat::{Entry, Heat, HeatError, Machine, ServerMember, Subject, UrlMember, run},
    prepare::search_path,
    process::{CpuGroup, environment},
    secret::{hide_in_load, without_password},
    session::{
        SessionError, SessionOptions,
        folder::{SessionFolder, now},
        inherited_by_servers,
        members::{HeatSetting, Seat},
        preparation::prepare,
        server::{Program, Server, StartError},
        services::Services,
    },
    verify::{Client, Fault, status_answer},
};

/// How long one question may take until a command is ready.
const ATTEMPT: Duration = Duration::from_secs(2);

/// Both sides, ready for their heats.
pub(super) enum Contest<'a> {
    /// Two URLs or two commands.
    Servers(&'a [Contender; 2]),
    /// Two stacks, with the services behind them.
    Stacks {
        session: &'a SessionOptions,
        services: Box<Services>,
        contenders: Box<[Contender; 2]>,
    },
}

/// A heat to run.
pub(super) struct HeatRequest<'a> {
    pub(super) options: &'a ComparisonOptions,
    pub(super) folder: &'a SessionFolder,
    pub(super) pinning: &'a Pinning,
    pub(super) point: &'a ComparedPoint,
    pub(super) number: u32,
    pub(super) seed: u64,
    pub(super) orders: Vec<Vec<usize>>,
    pub(super) interrupt: &'a Arc<AtomicBool>,
}

impl<'a> Contest<'a> {
    /// Builds and checks stacks and starts their services; the others need nothing.
    pub(super) fn prepare(
        options: &'a ComparisonOptions,
        folder: &SessionFolder,
        pinning: &Pinning,
        on_event: &mut dyn FnMut(&ComparisonEvent),
        interrupt: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let session = match &options.contenders {
            Contenders::Servers(sides) => return Ok(Self::Servers(sides)),
            Contenders::Stacks(session) => session,
        };
        let mut tell = |event: &deadheat_model::Event| {
            on_event(&ComparisonEvent::Preparing(Box::new(event.clone())));
        };
        let (services, prepared) = prepare(session, folder, pinning, &mut tell, interrupt)?;
        let mut contenders = prepared.into_iter().map(|one| Contender {
            name: one.record.target.to_string(),
            kind: ContenderKind::Stack {
                record: Box::new(one.record),
            },
        });
        let (Some(a), Some(b)) = (contenders.next(), contenders.next()) else {
            return Err(SessionError::Interrupted);
        };
        Ok(Self::Stacks {
            session,
            services: Box::new(services),
            contenders: Box::new([a, b]),
        })
    }

    /// Both sides as they are recorded: commands without what may be a password, which is whole in memory alone.
    pub(super) fn contenders(&self) -> [Contender; 2] {
        match self {
            Contest::Servers(sides) => sides.each_ref().map(as_recorded),
            Contest::Stacks { contenders, .. } => contenders.as_ref().clone(),
        }
    }

    /// What was found about the machine beforehand.
    pub(super) fn findings(&self) -> Vec<Finding> {
        match self {
            Contest::Servers(_) => Vec::new(),
            Contest::Stacks { session, .. } => session.findings.clone(),
        }
    }

    /// The database's version and origin.
    pub(super) fn describe_postgres(&self) -> Option<String> {
        match self {
            Contest::Servers(_) => None,
            Contest::Stacks { services, .. } => services.describe_postgres(),
        }
    }

    /// The names of the variables that both sides inherit. Nothing is started for a URL.
    pub(super) fn environment(&self) -> Vec<String> {
        let is_command = |side: &Contender| matches!(side.kind, ContenderKind::Command { .. });
        match self {
            Contest::Servers(sides) if sides.iter().any(is_command) => {
                environment::names(environment::whole())
            }
            Contest::Servers(_) => Vec::new(),
            Contest::Stacks { .. } => inherited_by_servers(),
        }
    }

    /// Runs a heat of both sides.
    pub(super) fn heat(&mut self, request: HeatRequest<'_>) -> Result<HeatRecord, HeatError> {
        match self {
            Contest::Servers(sides) => {
                let entries = Side::BOTH.map(|side| server(&request, &sides[side.member()], side));
                request.run(entries, &[])
            }
            Contest::Stacks {
                session, services, ..
            } => {
                let workloads = &session.workloads;
                let workload = workloads
                    .iter()
                    .find(|one| one.manifest.id == request.point.workload);
                let (Some(workload), Some(point)) = (workload, &request.point.load) else {
                    return Err(HeatError::NoOrder);
                };
                let groups = services.groups();
                let fixtures = Mutex::new(&mut services.fixtures);
                let setting = HeatSetting {
                    session,
                    workload: &workload.manifest,
                    point,
                    plan: &request.point.heat,
                    pinning: request.pinning,
                    seed: request.seed,
                    interrupt: request.interrupt,
                };
                let entries = Side::BOTH.map(|side| {
                    let seat = Seat {
                        target: &session.targets[side.member()],
                        number: side.member(),
                        role: Role::Member,
                        log: request.log(side),
                        offered_per_second: None,
                    };
                    setting.stack(seat, &fixtures)
                });
                request.run(entries, &groups)
            }
        }
    }
}

impl HeatRequest<'_> {
    fn log(&self, side: Side) -> PathBuf {
        self.folder.log(&format!("{side}-heat{}", self.number))
    }

    /// Runs a heat; `services` are the control groups of what works for the members.
    fn run(&self, entries: [Entry<'_>; 2], services: &[CpuGroup]) -> Result<HeatRecord, HeatError> {
        let heat = Heat {
            number: self.number,
            plan: self.point.heat,
            orders: self.orders.clone(),
            entries: entries.into(),
            least: 2,
        };
        let machine = Machine {
            cpus: self.pinning.cpus(),
            services: services.to_vec(),
        };
        let mut record = run(heat, now(), &machine, self.interrupt)?;
        for member in &mut record.members {
            member.command = words_as_recorded(&member.command);
        }
        Ok(record)
    }
}

/// A server that is no stack as a member.
fn server<'a>(request: &HeatRequest<'a>, side: &'a Contender, which: Side) -> Entry<'a> {
    let stop = Arc::clone(request.interrupt);
    let spec = |load: &LoadSpec| LoadSpec {
        wait: request.point.heat.wait,
        seed: request.seed,
        cpus: match request.pinning {
            Pinning::Apart { generator, .. } => generator.clone(),
            Pinning::Off { .. } => load.cpus.clone(),
        },
        ..load.clone()
    };
    let member: Box<dyn crate::heat::Member + 'a> = match &side.kind {
        ContenderKind::Url { load } => Box::new(UrlMember::new(spec(load), stop)),
        ContenderKind::Command { command, load } => {
            let subject = CommandSubject {
                program: program(request, &side.name, command, which),
                load: spec(load),
            };
            Box::new(ServerMember::of(subject, stop))
        }
        // Stacks have a contest of their own.
        ContenderKind::Stack { .. } => unreachable!("a stack among servers that are none"),
    };
    Entry {
        target: TargetId::new(which.to_string(), None),
        role: Role::Member,
        warm_up: request.options.warm_up_of(None),
        member,
    }
}

/// A command's server.
struct CommandSubject<'a> {
    program: Program<'a>,
    load: LoadSpec,
}

impl CommandSubject<'_> {
    fn ask(&self, address: SocketAddr) -> Result<(), Fault> {
        let Some(exchange) = self.load.exchanges.first() else {
            return Ok(());
        };
        let mut client = Client::with_timeout(address, ATTEMPT);
        status_answer(&mut client, &exchange.request, &exchange.expect.status)
    }
}

impl Subject for CommandSubject<'_> {
    fn start(&self, stop: &AtomicBool) -> Result<Server, StartError> {
        let mut probe = |address| self.ask(address).map_err(|fault| fault.to_string());
        Server::start_program(&self.program, stop, &mut probe)
    }

    fn verify(&self, server: &Server) -> Result<(u32, Vec<Exchange>), Fault> {
        self.ask(server.address)?;
        Ok((1, self.load.exchanges.clone()))
    }

    fn load(&self, address: SocketAddr, exchanges: Vec<Exchange>) -> LoadSpec {
        let load = self.load.clone();
        LoadSpec {
            target: Target {
                endpoint: Endpoint::Tcp { address },
                authority: address.to_string(),
                ..load.target
            },
            exchanges,
            ..load
        }
    }
}

fn program<'a>(
    request: &HeatRequest<'a>,
    name: &str,
    command: &ComparedCommand,
    side: Side,
) -> Program<'a> {
    let (pinned, cpus) = match request.pinning {
        Pinning::Apart { server, .. } => (Some(server.clone()), server.len()),
        Pinning::Off { cpus } => (None, cpus.len()),
    };
    Program {
        name: name.to_owned(),
        command: command.words.clone(),
        dir: command.folder.clone(),
        // It is the user's own, and so is the environment that it was given on the command line with.
        env: environment::whole()
            .into_iter()
            .chain([
                ("PATH".to_owned(), search_path()),
                ("CPUS".to_owned(), cpus.to_string()),
            ])
            .collect(),
        fills_arguments: true,
        supervision: &request.options.supervision,
        pinned,
        log: request.log(side),
        timeout: request.options.start_timeout,
    }
}

/// A side as its record has it.
fn as_recorded(side: &Contender) -> Contender {
    let mut side = side.clone();
    match &mut side.kind {
        ContenderKind::Url { load } => hide_in_load(load),
        ContenderKind::Command { command, load } => {
            command.words = words_as_recorded(&command.words);
            hide_in_load(load);
        }
        ContenderKind::Stack { .. } => {}
    }
    side
}

/// The words of a command without what may be a password.
fn words_as_recorded(words: &[String]) -> Vec<String> {
    words.iter().map(|word| without_password(word)).collect()
}

#[cfg(test)]
mod tests {
    use deadheat_model::{Schedule, StopRule};

    use super::*;

    fn url() -> ContenderKind {
        let target = Target::plain("127.0.0.1:80".parse().unwrap());
        let schedule = Schedule::Closed {
            connections: 1,
            ramp: Duration::ZERO,
        };
        let load = LoadSpec::new(target, Vec::new(), schedule, StopRule::Interrupt);
        ContenderKind::Url {
            load: Box::new(load),
        }
    }

    fn command() -> ContenderKind {
        let ContenderKind::Url { load } = url() else {
            unreachable!("it is a URL");
        };
        let command = ComparedCommand {
            words: vec!["./server".to_owned()],
            folder: PathBuf::from("/"),
        };
        ContenderKind::Command { command, load }
    }

    #[test]
    fn a_comparison_of_commands_names_all_variables_and_one_of_urls_none() {
        let names = |kind: ContenderKind| {
            let side = Contender {
                name: "a".to_owned(),
                kind,
            };
            Contest::Servers(&[side.clone(), side]).environment()
        };
        let mut all: Vec<String> = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        all.sort();
        let found = names(command());
        // Values that are not UTF-8 are not passed on.
        assert!(found.iter().all(|name| all.contains(name)), "{found:?}");
        // Cargo sets it for tests, and no server inherits it.
        let own = "CARGO_MANIFEST_DIR".to_owned();
        assert!(found.contains(&own) && !inherited_by_servers().contains(&own));
        assert_eq!(names(url()), Vec::<String>::new());
    }
}
