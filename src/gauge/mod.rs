//! What is done to links: heat bath, field strength, observables. All of it works on plain host data.

mod energy;
mod heat_bath;
mod observables;
mod su2;

pub use energy::{Energy, energy, topological_charge};
pub use heat_bath::{GenerateError, GenerateParams, Start, generate, generate_watched};
pub use observables::{Plaquette, link_trace, plaquette, polyakov_loop};
