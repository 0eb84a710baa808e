//! Copies from the memory of one GPU to the memory of another by AMD's driver.
//!
//! The extension `cl_amd_copy_buffer_p2p` has one function. The function copies between buffers of
//! two contexts, each with one GPU, in a queue of either context. Kernels do not reach the memory of
//! the other GPU. So these copies carry faces, and the host adds sums.
//!
//! This way is untried: there was no machine with such a driver. It is used only where a trial
//! succeeds between every two devices (`Peers::copies`).

use super::extension::function;
use super::probe::{WORDS, word};
use crate::error::Result;
use crate::memory::{Buffer, BufferView, BufferViewMut, CopyAcross, check_length};
use crate::open::{COPIES_TO_PEERS, Device, PeerWay};
use crate::queue::Event;
use bytemuck::Pod;

/// The function that copies between devices of a team.
#[derive(Clone, Copy, Debug)]
pub struct PeerCopies {
    copy: CopyAcross,
}

impl PeerCopies {
    /// Finds the function for two devices of one platform.
    pub(super) fn between(a: &Device, b: &Device) -> Result<Self, String> {
        for device in [a, b] {
            if !PeerWay::Amd.is_thinkable_for(device.info()) {
                return Err(format!("{} has no {COPIES_TO_PEERS}", device.label()));
            }
        }
        if a == b || a.core().raw.id() == b.core().raw.id() {
            return Err(format!("{} and {} are one GPU", a.label(), b.label()));
        }
        if a.info().platform != b.info().platform {
            return Err(format!("{} and {} are of two platforms", a.label(), b.label()));
        }
        let address = function(a, c"clEnqueueCopyBufferP2PAMD")?;
        // SAFETY: the extension defines the function of this name with this signature.
        Ok(Self { copy: unsafe { std::mem::transmute::<*mut std::ffi::c_void, CopyAcross>(address) } })
    }

    /// Copies words in both directions and checks them.
    ///
    /// # Errors
    /// The reason in words, if a word did not come.
    pub(super) fn probe(a: &Device, b: &Device) -> Result<(), String> {
        Self::between(a, b)?.check([a, b])
    }

    fn check(&self, devices: [&Device; 2]) -> Result<(), String> {
        for (from, seed) in [(0, 0x5eed_0001), (1, 0x0b5e_55ed), (0, 0x0dd_ba11)] {
            let [from, to] = [devices[from], devices[1 - from]];
            let found = self.pass(from, to, seed).map_err(|error| error.to_string())?;
            if let Some(place) = (0..WORDS).find(|&place| found[place] != word(seed, place)) {
                let [from, to] = [from, to].map(Device::label);
                return Err(format!("word {place} that {from} sent did not come to {to}"));
            }
        }
        Ok(())
    }

    /// Returns the words that a device has after another has sent them.
    ///
    /// They lie at different places of the two buffers.
    fn pass(&self, from: &Device, to: &Device, seed: u32) -> Result<Vec<u32>> {
        let words: Vec<u32> = (0..WORDS).map(|place| word(seed, place)).collect();
        let mut source = Buffer::zeroed(from, WORDS + 3)?;
        source.slice_mut(3..WORDS + 3)?.write(&words)?;
        let mut destination = Buffer::zeroed(to, WORDS + 1)?;
        self.start(source.slice(3..WORDS + 3)?, destination.slice_mut(1..WORDS + 1)?, &[])?.wait()?;
        Ok(destination.to_vec()?.split_off(1))
    }

    /// Starts to copy elements of one device to another, after `wait`.
    ///
    /// The copy is in the copy queue of the first device. The other device's earlier commands must
    /// be done.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`](crate::DeviceError::LengthMismatch);
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn start<T: Pod>(
        &self,
        from: BufferView<'_, T>,
        mut to: BufferViewMut<'_, T>,
        wait: &[&Event],
    ) -> Result<Event> {
        check_length("copy between devices", to.len(), from.len())?;
        // SAFETY: the function is the one of the extension, or of a test with its signature.
        unsafe { from.copy_across(self.copy, &mut to, wait) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::{DeviceOptions, PeerWays};
    use crate::peer::Peers;
    use crate::select::discover;
    use cl3::command_queue::{
        create_command_queue, enqueue_marker_with_wait_list, enqueue_read_buffer, enqueue_write_buffer,
        release_command_queue,
    };
    use cl3::context::{CL_CONTEXT_DEVICES, get_context_info};
    use cl3::event::wait_for_events;
    use cl3::memory::{CL_MEM_CONTEXT, get_mem_object_info};
    use opencl3::error_codes::CL_SUCCESS;
    use opencl3::types::{cl_command_queue, cl_context, cl_event, cl_int, cl_mem, cl_uint};
    use std::ptr;

    /// Stands for the function of the extension: copies through the host, and waits.
    unsafe extern "system" fn copy_by_host(
        queue: cl_command_queue,
        from: cl_mem,
        to: cl_mem,
        from_offset: usize,
        to_offset: usize,
        bytes: usize,
        count: cl_uint,
        wait: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int {
        let copied = || -> Result<cl_event, cl_int> {
            let mut data = vec![0_u8; bytes];
            let context: isize = get_mem_object_info(to, CL_MEM_CONTEXT)?.into();
            let context = context as cl_context;
            let devices: Vec<isize> = get_context_info(context, CL_CONTEXT_DEVICES)?.into();
            // SAFETY: the caller gives what the function of the extension takes. Both transfers
            // block, and the queue of the other context is released once.
            unsafe {
                if count > 0 {
                    wait_for_events(std::slice::from_raw_parts(wait, count as usize))?;
                }
                let data = data.as_mut_ptr().cast();
                enqueue_read_buffer(queue, from, 1, from_offset, bytes, data, 0, ptr::null())?;
                let other = create_command_queue(context, devices[0] as _, 0)?;
                enqueue_write_buffer(other, to, 1, to_offset, bytes, data, 0, ptr::null())?;
                release_command_queue(other)?;
                enqueue_marker_with_wait_list(queue, 0, ptr::null())
            }
        };
        match copied() {
            // SAFETY: a place for the event.
            Ok(done) => unsafe {
                *event = done;
                CL_SUCCESS
            },
            Err(status) => status,
        }
    }

    /// Stands for a function that copies nothing.
    unsafe extern "system" fn copy_nothing(
        queue: cl_command_queue,
        _: cl_mem,
        _: cl_mem,
        _: usize,
        _: usize,
        _: usize,
        _: cl_uint,
        _: *const cl_event,
        event: *mut cl_event,
    ) -> cl_int {
        // SAFETY: the caller gives a queue.
        match unsafe { enqueue_marker_with_wait_list(queue, 0, ptr::null()) } {
            // SAFETY: a place for the event.
            Ok(done) => unsafe {
                *event = done;
                CL_SUCCESS
            },
            Err(status) => status,
        }
    }

    fn pair() -> [Device; 2] {
        let found = discover().devices;
        let options = DeviceOptions { peer: Some(PeerWays::only(PeerWay::Amd)), ..Default::default() };
        [(); 2].map(|()| Device::open(&found[0], &options).unwrap())
    }

    #[test]
    fn a_function_that_copies_passes_the_trial() {
        let [a, b] = pair();
        PeerCopies { copy: copy_by_host }.check([&a, &b]).unwrap();
        let error = PeerCopies { copy: copy_nothing }.check([&a, &b]).unwrap_err();
        assert!(error.contains("did not come to"), "{error}");
        let mut short = Buffer::<u32>::zeroed(&b, 2).unwrap();
        let long = Buffer::<u32>::zeroed(&a, 3).unwrap();
        let copies = PeerCopies { copy: copy_by_host };
        assert!(copies.start(long.slice(..).unwrap(), short.slice_mut(..).unwrap(), &[]).is_err());
    }

    #[test]
    fn devices_without_the_extension_have_no_copies() {
        let [a, b] = pair();
        if PeerWay::Amd.is_thinkable_for(a.info()) {
            return;
        }
        assert!(Peers::copies(&[a.clone(), b.clone()]).is_none());
        let reason = PeerCopies::probe(&a, &b).unwrap_err();
        assert!(reason.contains(COPIES_TO_PEERS), "{reason}");
    }
}
