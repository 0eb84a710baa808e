//! Objects of OpenCL that Python's other packages made, by their handles as numbers.
//!
//! `lattice_cl/interop.py` alone calls these functions, with handles of live objects of pyopencl.
//! The promise of [`ForeignHandle::trusting`] is thus kept.

use super::array::{Array, Elements};
use super::devices::{Team, opened_with};
use super::failure::{Raised, invalid};
use super::work;
use lattice_cl::compute::{self, Buffer, DeviceError, ForeignHandle, WeakDevice};
use lattice_cl::sync::lock;
use num_complex::{Complex32, Complex64};
use pyo3::prelude::*;
use std::sync::Mutex;

/// The devices that are open in contexts of others, with the handles of the contexts.
///
/// Arrays of one context so lie on one device. An open device keeps its context, so that no other
/// context has the handle.
static OPEN: Mutex<Vec<(usize, WeakDevice)>> = Mutex::new(Vec::new());

/// Returns the open device of a context, or opens it.
fn device_in(context: &ForeignHandle) -> compute::Result<compute::Device> {
    let mut open = lock(&OPEN);
    open.retain(|(_, device)| device.upgrade().is_some());
    let known = open.iter().find(|(handle, _)| *handle == context.number());
    if let Some(device) = known.and_then(|(_, device)| device.upgrade()) {
        return Ok(device);
    }
    let device = compute::Device::open_in_foreign(context, &opened_with())?;
    open.push((context.number(), device.downgrade()));
    Ok(device)
}

/// Opens the device of a `cl_context`; `context` is an object that keeps it.
#[pyfunction]
pub fn team_in_context(py: Python<'_>, handle: usize, context: Py<PyAny>) -> PyResult<Team> {
    let context = ForeignHandle::trusting(handle, context);
    let device = work::run(py, None, move |_| device_in(&context))?;
    Ok(Team::of_device(device.map_err(|error| error.raised(py))?))
}

/// Makes an array of a `cl_mem` in a `cl_context`, without a copy.
///
/// The array keeps `owner`, and `owner` keeps the memory and the context.
#[pyfunction]
pub fn array_of_memory(
    py: Python<'_>,
    context: usize,
    memory: usize,
    element: &str,
    shape: Vec<usize>,
    owner: Py<PyAny>,
) -> PyResult<Array> {
    let Some(len) = shape.iter().try_fold(1_usize, |all, &extent| all.checked_mul(extent)) else {
        return Err(invalid(py, format!("no memory holds an array of shape {shape:?}")));
    };
    fn taken<T: bytemuck::Pod>(
        device: &compute::Device,
        memory: &ForeignHandle,
        len: usize,
    ) -> compute::Result<Elements>
    where
        Elements: From<Buffer<T>>,
    {
        Buffer::<T>::of_foreign(device, memory, len).map(Elements::from)
    }
    let context = ForeignHandle::trusting(context, owner.clone_ref(py));
    let (element, memory) = (element.to_owned(), ForeignHandle::trusting(memory, owner));
    let elements = work::run(py, None, move |_| {
        let device = device_in(&context)?;
        match element.as_str() {
            "float32" => taken::<f32>(&device, &memory, len),
            "float64" => taken::<f64>(&device, &memory, len),
            "complex64" => taken::<Complex32>(&device, &memory, len),
            "complex128" => taken::<Complex64>(&device, &memory, len),
            other => {
                let reason = format!("its elements are {other}");
                Err(DeviceError::Foreign { what: "memory object", reason })
            }
        }
    })?;
    Ok(Array { elements: elements.map_err(|error| error.raised(py))?, shape })
}
