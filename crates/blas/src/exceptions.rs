//! The flags of floating-point exceptions, which belong to the caller.
//!
//! NumPy warns of flags that a product has raised. Drivers and compilers of kernels raise some that
//! have nothing to do with the result.

use std::mem::MaybeUninit;

#[link(name = "m")]
unsafe extern "C" {
    fn fegetenv(environment: *mut Room) -> i32;
    fn fesetenv(environment: *const Room) -> i32;
    #[cfg(test)]
    fn fetestexcept(exceptions: i32) -> i32;
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

/// The flags of an invalid operation and of a division by zero, on x86-64.
#[cfg(all(test, target_arch = "x86_64"))]
const WARNED_OF: i32 = 0x01 | 0x04;

/// The flags of an invalid operation and of a division by zero, on 64-bit Arm.
#[cfg(all(test, target_arch = "aarch64"))]
const WARNED_OF: i32 = 0x01 | 0x02;

/// Returns the flags that are raised and that programs warn of.
#[cfg(test)]
pub fn raised() -> i32 {
    // SAFETY: the flags of this thread are only read.
    unsafe { fetestexcept(WARNED_OF) }
}
