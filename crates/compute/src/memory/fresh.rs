//! Copies of buffers in fresh memory of the host, written by several threads.
//!
//! The system gives a page its memory at the first write. One thread that writes fresh pages is
//! slower than any transfer, and drivers write with one thread. So drivers write into pinned memory
//! here, and the threads of the host copy one piece of it while the next is under way.

use super::buffer::BufferView;
use super::huge_pages::vec_in_huge_pages;
use super::mapping::Mapping;
use super::pending::Pending;
use super::pinned::PinnedBuffer;
use crate::error::Result;
use crate::parallel::*;
use crate::queue::Queue;
use crate::select::DeviceKind;
use bytemuck::Pod;
use opencl3::memory::CL_MAP_READ;
use std::collections::VecDeque;
use std::mem::MaybeUninit;

/// Bytes of the smallest copy that several threads write.
const LEAST_BYTES: usize = 4 << 20;

/// Bytes of a piece in pinned memory. It has a share for each thread of a large host.
const PIECE: usize = 32 << 20;

/// Pieces of pinned memory: one is copied while another one is under way.
const STAGES: usize = 2;

/// Bytes that a thread writes at a time: a huge page.
const SHARE: usize = 2 << 20;

/// A transfer into pinned memory, and the place of its elements.
type Piece<'a, T> = (Pending<PinnedBuffer<T>>, &'a mut [MaybeUninit<T>]);

impl<T: Pod> BufferView<'_, T> {
    /// Returns the elements, after all commands on the compute queue.
    ///
    /// Several threads write the memory if it is large.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl);
    /// [`DeviceError::HostMemory`](crate::DeviceError::HostMemory).
    pub fn to_vec(&self) -> Result<Vec<T>> {
        if self.len().saturating_mul(size_of::<T>()) < LEAST_BYTES {
            let mut data = vec![T::zeroed(); self.len()];
            self.read(&mut data)?;
            return Ok(data);
        }
        let mut data = vec_in_huge_pages(self.len())?;
        let fresh = &mut data.spare_capacity_mut()[..self.len()];
        match self.device().info().kind {
            DeviceKind::Cpu => self.copy_mapped(fresh)?,
            _ => self.copy_staged(fresh)?,
        }
        // SAFETY: the copy has written all bytes of as many elements, and any bytes are a `T: Pod`.
        unsafe { data.set_len(self.len()) };
        Ok(data)
    }

    /// Copies all elements by a mapping: a processor's buffers are memory of the host.
    fn copy_mapped(&self, fresh: &mut [MaybeUninit<T>]) -> Result<()> {
        let (start, bytes) = (self.offset() * size_of::<T>(), size_of_val(fresh));
        let mapping = Mapping::new(self.memory(), Queue::Compute, start + bytes, CL_MAP_READ)?;
        // SAFETY: as many bytes are mapped for reading. Kernels that write them are done, because
        // the map waited its turn in the queue. None is enqueued before the unmapping below.
        let mapped =
            unsafe { std::slice::from_raw_parts(mapping.address().as_ptr().cast::<u8>().add(start), bytes) };
        write_by_threads(fresh, mapped);
        mapping.unmap()
    }

    /// Copies all elements through pinned memory.
    fn copy_staged(&self, fresh: &mut [MaybeUninit<T>]) -> Result<()> {
        let piece = (PIECE / size_of::<T>()).max(1);
        let mut under_way: VecDeque<Piece<'_, T>> = VecDeque::new();
        let mut first = 0;
        for fresh in fresh.chunks_mut(piece) {
            if under_way.len() == STAGES {
                arrive(under_way.pop_front())?;
            }
            let from = self.slice(first..first + fresh.len())?;
            first += fresh.len();
            let pinned = PinnedBuffer::kept(self.device(), fresh.len())?;
            under_way.push_back((pinned.read_from_in_order(from)?, fresh));
        }
        while !under_way.is_empty() {
            arrive(under_way.pop_front())?;
        }
        Ok(())
    }
}

/// Waits for a piece, and copies it to its place.
fn arrive<T: Pod>(piece: Option<Piece<'_, T>>) -> Result<()> {
    let Some((pending, fresh)) = piece else { return Ok(()) };
    write_by_threads(fresh, bytemuck::cast_slice(pending.wait()?.as_slice()));
    Ok(())
}

/// Writes all bytes of some elements.
///
/// # Panics
/// If there are more bytes or fewer.
fn write_by_threads<T: Pod>(fresh: &mut [MaybeUninit<T>], from: &[u8]) {
    let bytes = size_of_val(fresh);
    assert_eq!(bytes, from.len(), "all bytes of the elements");
    // SAFETY: these are the bytes of the elements, which are borrowed exclusively. Any byte, written
    // or not, is a `MaybeUninit<u8>`.
    let fresh =
        unsafe { std::slice::from_raw_parts_mut(fresh.as_mut_ptr().cast::<MaybeUninit<u8>>(), bytes) };
    fresh.par_chunks_mut(SHARE).zip(from.par_chunks(SHARE)).for_each(|(fresh, from)| {
        // SAFETY: both have as many bytes, and one of them is borrowed exclusively.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), fresh.as_mut_ptr().cast(), from.len()) };
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Team};

    #[test]
    fn copies_have_all_elements_in_their_order() {
        // A small copy, one by several threads, and one of several pieces of pinned memory.
        for len in [5, LEAST_BYTES / 4 + 3, (STAGES + 1) * PIECE / 4 - 1] {
            let numbers: Vec<u32> = (0..len as u32).map(|k| k.wrapping_mul(2_654_435_761)).collect();
            for device in Team::select([]).unwrap().devices() {
                let buffer = Buffer::from_slice(device, &numbers).unwrap();
                for first in [0, 3] {
                    let view = buffer.slice(first..).unwrap();
                    let what = format!("{len} elements from {first} on {}", device.label());
                    assert!(view.to_vec().unwrap() == numbers[first..], "{what}");
                    for way in [BufferView::copy_mapped, BufferView::copy_staged] {
                        let mut fresh = vec![MaybeUninit::new(0); view.len()];
                        way(&view, &mut fresh).unwrap();
                        // SAFETY: all were initialised in the first place.
                        let found = fresh.iter().map(|number| unsafe { number.assume_init() });
                        assert!(found.eq(numbers[first..].iter().copied()), "{what}");
                    }
                }
            }
        }
    }
}
