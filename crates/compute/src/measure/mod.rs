//! Speed of a device's memory and arithmetic, and of a team.

mod access;
mod arithmetic;
mod bandwidth;
mod linear_images;
mod many_sums;
mod streams;
mod team_rates;
mod twin;

pub use access::{AccessKernels, GatherList};
pub use arithmetic::{ArithmeticRate, arithmetic_rate};
pub use bandwidth::triad_bandwidth;
pub use linear_images::LinearImages;
pub use many_sums::{PowerSums, SumsLayout};
pub use streams::{StreamArrays, StreamKernels, StreamLaunch, repeated};
pub use team_rates::TeamRates;
pub use twin::{PeriodicNumbers, Stream, random_places};
