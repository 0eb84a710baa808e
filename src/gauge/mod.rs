//! Algorithms on links.
//!
//! These are heat bath, smearing, gradient flow, gauge fixing and observables. The flow and stout
//! smearing also run on a device.

mod ape;
mod directions;
mod energy;
mod flow;
mod flow_scales;
mod gauge_fixing;
mod heat_bath;
mod hyp;
mod laplacian;
mod link_table;
mod observables;
mod on_device;
mod projection;
mod smear;
pub(crate) mod smear_text;
mod staples;
mod stout;
mod su2;
mod wilson_loops;

pub use directions::{Directions, DirectionsError};
pub use energy::{Energy, TopologicalCharge, energy, energy_and_charge, topological_charge};
pub use flow::{FlowAction, FlowError, FlowOutcome, FlowParams, FlowRow, flow, flow_on};
pub use flow_scales::FlowScales;
pub use gauge_fixing::{FixError, FixOutcome, FixParams, FixedStart, Gauge, fix_gauge};
pub use heat_bath::{GenerateError, GenerateParams, Start, generate, generate_watched};
pub use observables::{Plaquette, link_trace, plaquette, polyakov_loop};
pub use on_device::{DeviceLinks, LinkUpdate};
pub use projection::Projection;
pub use smear::{SmearError, SmearParams, Smearing, smear, smear_on};
pub use wilson_loops::{WilsonLoopError, WilsonLoops};
