//! The routes of connections. A load has a route to each address of each of its targets. The number of a connection
//! decides its route, so that several workers and hosts together behave like one generator.

use std::{ops::Range, sync::Arc};

use deadheat_model::{
    LoadSpec,
    load::{Endpoint, Exchange, Protocol, Target},
};

use crate::{
    LoadError,
    socket::Peer,
    tls,
    tunnel::{ProxyHandshake, Tunnel},
};

/// The longest cycle of exchanges that weights may make.
const LONGEST_CYCLE: usize = 1 << 20;

/// An address of a target.
#[derive(Debug)]
pub(crate) struct Route {
    /// The index of the target.
    pub(crate) target: usize,
    pub(crate) peer: Peer,
}

/// A connection's route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RouteChoice {
    /// The index of the route.
    pub(crate) route: u32,
    /// Its number among the connections to the same target.
    pub(crate) nth: u64,
}

/// The setup that all connections to a target share.
#[derive(Debug)]
struct TargetSetup {
    tls: Option<tls::Client>,
    /// The handshake with its proxy; `None` without a tunnel.
    tunnel: Option<Arc<ProxyHandshake>>,
    /// The range of its exchanges in the cycle.
    turns: Range<usize>,
    /// The range of its routes.
    routes: Range<usize>,
}

/// All routes, and which connection takes which.
#[derive(Debug)]
pub(crate) struct Routes {
    all: Vec<Route>,
    setups: Vec<TargetSetup>,
    /// The exchanges in the order in which connections repeat them: the cycle of each target, one after the other.
    pub(crate) cycle: Vec<u32>,
    /// For each connection by its number: its target, and its number among that target's connections. Empty if there is
    /// only one target.
    targets: Vec<RouteChoice>,
}

impl Routes {
    /// The routes of a load; an error says which part of the spec does not fit.
    pub(crate) fn new(spec: &LoadSpec) -> Result<Self, LoadError> {
        let mut routes = Self {
            all: Vec::new(),
            setups: Vec::new(),
            cycle: Vec::new(),
            targets: Vec::new(),
        };
        let is_http2 = matches!(spec.protocol, Protocol::Http2 { .. });
        let mut weights = Vec::new();
        for (target, about) in spec.targets().enumerate() {
            let own = (0u32..).zip(&spec.exchanges);
            let own: Vec<(u32, &Exchange)> = own.filter(|(_, one)| one.target == target).collect();
            weights.push(own.iter().map(|(_, one)| u64::from(one.weight)).sum());
            routes.add(target, about, &own, is_http2)?;
        }
        let problem = |problem: String| Err(LoadError::Routes { problem });
        if let Some(lost) = spec
            .exchanges
            .iter()
            .find(|one| one.target >= routes.setups.len())
        {
            return problem(format!(
                "a request goes to target {}, which there is not",
                lost.target
            ));
        }
        let connections = spec.schedule.most_connections();
        if (connections as usize) < routes.all.len() {
            return problem(format!(
                "{connections} connections cannot lead to {} addresses: use at least as many connections",
                routes.all.len()
            ));
        }
        if routes.all.len() > 1 && spec.schedule.is_open() {
            return problem(
                "in an open loop, requests that a slow server delays would go to the others, which hides how slow it \
                 is. Load each server at its own rate"
                    .to_owned(),
            );
        }
        if routes.setups.len() > 1 {
            let least = routes.setups.iter().map(|setup| setup.routes.len() as u64);
            let counts = shares(
                u64::from(connections),
                &weights,
                &least.collect::<Vec<u64>>(),
            );
            routes.targets = places(&counts);
        }
        Ok(routes)
    }

    fn add(
        &mut self,
        target: usize,
        about: &Target,
        exchanges: &[(u32, &Exchange)],
        is_http2: bool,
    ) -> Result<(), LoadError> {
        let (turn, route) = (self.cycle.len(), self.all.len());
        self.cycle.extend(cycle(exchanges)?);
        for endpoint in about.endpoints() {
            self.all.push(Route {
                target,
                peer: peer(&endpoint)?,
            });
        }
        let tls = about.tls.as_ref();
        let tls = tls.map(|tls| tls::Client::new(tls, is_http2));
        self.setups.push(TargetSetup {
            tls: tls.transpose()?,
            tunnel: script(about)?,
            turns: turn..self.cycle.len(),
            routes: route..self.all.len(),
        });
        Ok(())
    }

    /// All routes.
    pub(crate) fn all(&self) -> &[Route] {
        &self.all
    }

    /// The route of the connection with this number among all connections.
    pub(crate) fn place(&self, number: u64) -> RouteChoice {
        let RouteChoice { route: target, nth } = if self.targets.is_empty() {
            RouteChoice {
                route: 0,
                nth: number,
            }
        } else {
            self.targets[(number % self.targets.len() as u64) as usize]
        };
        let routes = &self.setups[target as usize].routes;
        RouteChoice {
            route: (routes.start as u64 + nth % routes.len() as u64) as u32,
            nth,
        }
    }

    /// The range of the cycle that connections on `route` send.
    pub(crate) fn turns(&self, route: u32) -> Range<usize> {
        self.setup(route).turns.clone()
    }

    /// Number of routes to the target of `route`.
    pub(crate) fn width(&self, route: u32) -> u64 {
        self.setup(route).routes.len() as u64
    }

    /// The TLS configuration of connections on `route`; `None` without TLS.
    pub(crate) fn tls(&self, route: u32) -> Option<&tls::Client> {
        self.setup(route).tls.as_ref()
    }

    /// The handshake with the proxy on a new connection on `route`; `None` without a tunnel.
    pub(crate) fn tunnel(&self, route: u32) -> Option<Box<Tunnel>> {
        let script = self.setup(route).tunnel.as_ref()?;
        Some(Box::new(Tunnel::new(script)))
    }

    /// Whether any connection has TLS.
    pub(crate) fn have_tls(&self) -> bool {
        self.setups.iter().any(|setup| setup.tls.is_some())
    }

    /// Whether any connection is TCP without TLS.
    pub(crate) fn have_plain_tcp(&self) -> bool {
        let is_plain =
            |route: &Route| route.peer.is_tcp() && self.setups[route.target].tls.is_none();
        self.all.iter().any(is_plain)
    }

    fn setup(&self, route: u32) -> &TargetSetup {
        &self.setups[self.all[route as usize].target]
    }
}

fn peer(endpoint: &Endpoint) -> Result<Peer, LoadError> {
    Peer::new(endpoint).map_err(|source| LoadError::BadEndpoint {
        endpoint: endpoint.to_string(),
        source,
    })
}

/// The handshake with a target's proxy; `None` if no tunnel is needed.
fn script(target: &Target) -> Result<Option<Arc<ProxyHandshake>>, LoadError> {
    let proxy = target.proxy.as_ref();
    let proxy = proxy.filter(|_| target.forwarding_proxy().is_none());
    let script = proxy.map(ProxyHandshake::new).transpose();
    let script = script.map_err(|problem| LoadError::Proxy { problem })?;
    Ok(script.map(Arc::new))
}

/// Shares of `total` in proportion to the weights, each at least its `least`. The sum of `least` must not exceed the
/// total.
fn shares(total: u64, weights: &[u64], least: &[u64]) -> Vec<u64> {
    let all: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let exact = |weight: u64| (u128::from(total) * u128::from(weight) / all.max(1)) as u64;
    let mut shares: Vec<u64> = weights
        .iter()
        .zip(least)
        .map(|(weight, least)| exact(*weight).max(*least))
        .collect();
    // The excess of a share over its proportion, as a numerator with the same denominator for all.
    let excess = |share: u64, weight: u64| {
        i128::from(share) * all as i128 - i128::from(total) * i128::from(weight)
    };
    loop {
        let given: u64 = shares.iter().sum();
        let each = (0..shares.len()).map(|index| (excess(shares[index], weights[index]), index));
        let chosen = if given > total {
            each.filter(|(_, index)| shares[*index] > least[*index])
                .max()
        } else if given < total {
            each.min_by_key(|(excess, index)| (*excess, *index))
        } else {
            None
        };
        match chosen {
            Some((_, index)) if given > total => shares[index] -= 1,
            Some((_, index)) => shares[index] += 1,
            None => return shares,
        }
    }
}

/// For each connection its target, mixed as evenly as possible, and its number among the connections of that target.
/// `counts` are the connections of each target.
fn places(counts: &[u64]) -> Vec<RouteChoice> {
    let mut given = vec![0; counts.len()];
    let weights: Vec<i64> = counts.iter().map(|count| *count as i64).collect();
    let order = spread(&weights).map(|target| {
        let nth = given[target];
        given[target] += 1;
        RouteChoice {
            route: target as u32,
            nth,
        }
    });
    order.collect()
}

/// The indices in proportion to their weights, mixed as evenly as possible: always the index farthest behind its share
/// (smooth weighted round robin).
pub fn spread(weights: &[i64]) -> impl Iterator<Item = usize> + use<> {
    let weights = weights.to_vec();
    let total: i64 = weights.iter().sum();
    let mut behind = vec![0i64; weights.len()];
    (0..total).map(move |_| {
        let mut farthest = 0;
        for (index, weight) in weights.iter().enumerate() {
            behind[index] += weight;
            if behind[index] > behind[farthest] {
                farthest = index;
            }
        }
        behind[farthest] -= total;
        farthest
    })
}

/// The order of exchanges in which each appears in proportion to its weight.
fn cycle(exchanges: &[(u32, &Exchange)]) -> Result<Vec<u32>, LoadError> {
    let divisor = exchanges
        .iter()
        .fold(0, |divisor, (_, exchange)| common(divisor, exchange.weight));
    let weights: Vec<i64> = exchanges
        .iter()
        .map(|(_, exchange)| i64::from(exchange.weight / divisor.max(1)))
        .collect();
    let total: i64 = weights.iter().sum();
    if divisor == 0 || total as usize > LONGEST_CYCLE {
        return Err(LoadError::BadWeights {
            total: total as u64,
            most: LONGEST_CYCLE as u64,
        });
    }
    Ok(spread(&weights).map(|index| exchanges[index].0).collect())
}

/// The greatest common divisor.
fn common(a: u32, b: u32) -> u32 {
    match b {
        0 => a,
        _ => common(b, a % b),
    }
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
