//! Faces that the driver copies from one device to another.
//!
//! The copies of an exchange wait for the packing kernels on their device. Events do not tie the
//! devices' contexts, so the host waits for the copies. Meanwhile the devices compute the sites that
//! need no face.
//!
//! Each face receives in two buffers, used in turn. When the copies of epoch e + 2 start, the host has
//! waited for those of e + 1. They come behind the packing for e + 1 on every device, and so
//! behind the stencils that read the faces of epoch e. So the buffer of epoch e may be overwritten.

use crate::compute::{BufferView, BufferViewMut, DeviceError, Event};
use crate::field::faces::{Exchange, Packed, Side};
use crate::geometry::Neighbours;
use bytemuck::Pod;

/// Starts to copy the faces that are being packed, by `copy`.
///
/// `copy` takes the source, the destination and the events to wait for.
pub(super) fn start<R: Pod>(
    neighbours: &[Neighbours],
    exchange: &mut Exchange<R>,
    copy: impl Fn(BufferView<'_, R>, BufferViewMut<'_, R>, &[&Event]) -> Result<Event, DeviceError>,
) -> Result<(), DeviceError> {
    // Copies of an application that failed.
    finish(exchange)?;
    let Exchange { domains, epoch, copies, .. } = exchange;
    for domain in 0..domains.len() {
        for direction in 0..domains[domain].len() {
            let faces = &mut domains[domain][direction];
            let Some(Packed { event, elements }) = faces.packed.take() else { continue };
            let (mu, packed): (usize, Vec<&Event>) = (faces.mu, event.iter().collect());
            for side in Side::BOTH {
                let neighbour = side.neighbour(&neighbours[domain])[mu];
                // Taken out, because the source lies in the same list.
                let mut to = side.opposite().of(&mut domains[neighbour][direction]).take_received();
                let from = side.of(&mut domains[domain][direction]).sent(*epoch);
                let turn = *epoch as usize % to.len();
                let copied = from
                    .slice(elements.clone())
                    .and_then(|from| copy(from, to[turn].slice_mut(elements.clone())?, &packed));
                side.opposite().of(&mut domains[neighbour][direction]).give_received(to);
                copies.push(copied?);
            }
        }
    }
    Ok(())
}

/// Waits for all copies.
pub(super) fn finish<R>(exchange: &mut Exchange<R>) -> Result<(), DeviceError> {
    exchange.copies.drain(..).try_for_each(|copy| copy.wait())
}
