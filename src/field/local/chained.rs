//! Faces that go through pinned memory while the host does something else.
//!
//! The devices have a context in common. A message is read into pinned memory behind the packing kernel,
//! written to the neighbour behind that, and the neighbour's next kernels wait for it. Events tie these
//! commands together. Groups inside the domain run beside them, if they are launched between `start` of
//! [`staged`](super::staged) and `finish`.
//!
//! * Each device writes what arrives on a queue for that alone. So no message waits behind one that has
//!   not been packed yet.
//! * Each face sends from two buffers and receives in two, used in turn, and neighbours are mutual. The
//!   packing of epoch e + 2 is behind the stencil that waited for the neighbour's message of e + 1. That
//!   message is behind the neighbour's stencil of epoch e, which waited for the domain's own message of e.
//!   So this message has left the buffer that packing writes, and the neighbour has read it.
//! * The next message is read into the pinned memory behind the last one's arrival.

use crate::compute::DeviceError;
use crate::field::faces::{Exchange, Message, compute_after_arrivals};
use crate::geometry::Neighbours;
use bytemuck::Pod;

/// Passes each message to the neighbour. Kernels that are launched from now on find it.
pub(super) fn finish<R: Pod>(
    neighbours: &[Neighbours],
    exchange: &mut Exchange<R>,
) -> Result<(), DeviceError> {
    let Exchange { domains, messages, epoch, .. } = exchange;
    let mut arrivals = vec![Vec::new(); domains.len()];
    for Message { domain, direction, side, elements, data } in messages.drain(..) {
        let neighbour = side.neighbour(&neighbours[domain])[domains[domain][direction].mu];
        let to = side.opposite().of(&mut domains[neighbour][direction]).received_mut(*epoch);
        let message = data.pass_to(to.slice_mut(elements)?)?;
        arrivals[neighbour].push(message.event().clone());
        side.of(&mut domains[domain][direction]).pass(message);
    }
    compute_after_arrivals(domains, &arrivals, *epoch)
}
