//! The flags of floating-point exceptions, which belong to the caller.
//!
//! NumPy warns of flags that a product has raised. Drivers and compilers of kernels raise some that
//! have nothing to do with the result.

use std::mem::MaybeUninit;

#[link(name = "m")]
unsafe extern "C" {
    fn fegetenv(environment: *mut Room) -> i32;
    fn fesetenv(environment: *const Room) -> i32;
}

/// Room for `fenv_t` of every processor.
#[repr(C, align(64))]
struct Room([u8; 256]);

/// The flags at one moment, which come back when this is dropped.
pub struct Flags(MaybeUninit<Room>);

impl Flags {
    pub fn keep() -> Self {
        let mut room = MaybeUninit::uninit();
        // SAFETY: the room is large enough for the environment of this thread.
        unsafe { fegetenv(room.as_mut_ptr()) };
        Self(room)
    }
}

impl Drop for Flags {
    fn drop(&mut self) {
        // SAFETY: `keep` has written the environment.
        unsafe { fesetenv(self.0.as_ptr()) };
    }
}
