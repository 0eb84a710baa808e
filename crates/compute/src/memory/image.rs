//! Images: tables of numbers that a device reads by its texture units.

use crate::error::{DeviceError, Result};
use crate::kernel::Argument;
use crate::open::Device;
use crate::queue::Core;
use opencl3::memory::{
    CL_FLOAT, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY, CL_R, ClMem, Image as RawImage,
};
use opencl3::types::{cl_image_desc, cl_image_format};
use std::fmt;
use std::ptr;
use std::sync::Arc;

/// Rows of `f32` numbers that kernels read as `__read_only image2d_t`.
///
/// One channel, `CL_R` and `CL_FLOAT`. Kernels take the first component of `read_imagef`. The
/// contents never change.
///
/// Not every device has such images, or interpolates between their numbers:
/// [`Device::linear_images`] tells.
pub struct Image2d {
    raw: RawImage,
    core: Arc<Core>,
    width: usize,
    height: usize,
}

// SAFETY: the handle of an OpenCL object may be used by every thread (OpenCL 1.2, appendix A.2),
// and this image is never written.
unsafe impl Sync for Image2d {}

impl Image2d {
    /// Returns the largest width and height of an image; zeros on a device without images.
    pub fn largest(device: &Device) -> [usize; 2] {
        let raw = &device.core().raw;
        if !raw.image_support().unwrap_or(false) {
            return [0, 0];
        }
        [raw.image2d_max_width().unwrap_or(0), raw.image2d_max_height().unwrap_or(0)]
    }

    /// Makes an image of `height` rows of `width` numbers, one row after another.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`]; [`DeviceError::ImageTooLarge`] if the device has no images
    /// of this size; [`DeviceError::OpenCl`].
    pub fn from_rows(device: &Device, width: usize, height: usize, numbers: &[f32]) -> Result<Self> {
        let core = device.core();
        let largest = Self::largest(device);
        if width == 0 || height == 0 || width > largest[0] || height > largest[1] {
            return Err(DeviceError::ImageTooLarge {
                device: core.label.clone(),
                wanted: [width, height],
                largest,
            });
        }
        let wanted = width * height;
        if numbers.len() != wanted {
            return Err(DeviceError::LengthMismatch { what: "image", wanted, found: numbers.len() });
        }
        let format = cl_image_format { image_channel_order: CL_R, image_channel_data_type: CL_FLOAT };
        let shape = cl_image_desc {
            image_type: CL_MEM_OBJECT_IMAGE2D,
            image_width: width,
            image_height: height,
            image_depth: 1,
            image_array_size: 1,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: ptr::null_mut(),
        };
        // SAFETY: `numbers` has width × height values without gaps, as the pitches of 0 say.
        // CL_MEM_COPY_HOST_PTR copies them before the call returns, and writes none of them. The
        // context is alive.
        let raw = unsafe {
            RawImage::create(
                &core.context,
                CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                &format,
                &shape,
                numbers.as_ptr().cast_mut().cast(),
            )
        }
        .map_err(core.failed("clCreateImage"))?;
        Ok(Self { raw, core: Arc::clone(core), width, height })
    }

    /// Returns the numbers in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }
}

impl<'a> From<&'a Image2d> for Argument<'a> {
    fn from(image: &'a Image2d) -> Self {
        Argument::image(&image.core, image.raw.get())
    }
}

impl fmt::Debug for Image2d {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image2d({} × {} on {})", self.width, self.height, self.core.label)
    }
}
