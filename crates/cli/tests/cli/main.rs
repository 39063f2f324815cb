//! The `deadheat` binary as its users have it: what it measures, what it says when something is wrong, what it leaves
//! behind. Stacks are small Python servers with a fault each (`fake_server.py`), so a session takes a second.

mod architecture;
mod checking;
mod comparing;
mod comparing_live;
mod conformance;
mod doctor;
mod faults;
mod heats;
mod history;
mod interrupted;
mod killed;
mod live;
mod load;
mod load_arrivals;
mod load_faults;
mod load_hosts;
mod load_latency;
mod load_options;
mod load_outputs;
mod load_tls;
mod load_wrong;
mod manifests;
mod new_stack;
mod preparing;
mod published;
mod readme;
mod reporting;
mod results_folder;
mod resumed;
mod resumed_after_kills;
mod services;
mod session;
mod setup;
mod support;
mod writing;
