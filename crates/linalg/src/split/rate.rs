//! The speed at which a device multiplies matrices, by which shares are made.

use crate::error::BlasResult;
use crate::gemm::{GemmParams, gemm_with};
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use crate::op::Op;
use lattice_compute::scalar::Element;
use lattice_compute::sync::lock;
use lattice_compute::{Buffer, Device, PinnedBuffer};
use std::collections::HashMap;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Time of a product that is long enough for a measurement.
const LONG_ENOUGH: Duration = Duration::from_millis(10);

/// Edges of the matrices that are tried.
const EDGES: [usize; 6] = [128, 256, 512, 1024, 2048, 4096];

/// The rates that were measured on one device for elements of type `T`.
struct Rates<T> {
    known: Mutex<HashMap<GemmParams, f64>>,
    element: PhantomData<T>,
}

/// Bytes that are sent at a time, as large products do.
const SENT: usize = 4 << 20;

/// Number of transfers in a measurement.
const TIMES: usize = 16;

/// Bytes per second that a device is sent from pinned memory.
struct UploadRate(f64);

/// Returns the bytes per second that a device is sent from pinned memory.
///
/// The rate is measured on first use.
pub fn upload_rate(device: &Device) -> BlasResult<f64> {
    Ok(device.attached(UploadRate::measure)?.0)
}

impl UploadRate {
    fn measure(device: &Device) -> BlasResult<Self> {
        let pinned = Arc::new(PinnedBuffer::<u8>::kept(device, SENT)?);
        let mut to = Buffer::<u8>::uninitialised(device, SENT)?;
        let mut send = |times: usize| -> BlasResult<Duration> {
            let start = Instant::now();
            let under_way = (0..times).map(|_| pinned.share_start_to(&mut to, &[]));
            let under_way = under_way.collect::<Result<Vec<_>, _>>()?;
            for pending in under_way {
                pending.wait()?;
            }
            Ok(start.elapsed())
        };
        // The first transfer allocates the device's memory.
        send(1)?;
        Ok(Self((TIMES * SENT) as f64 / send(TIMES)?.as_secs_f64()))
    }
}

/// Returns the multiplications and additions in a term of a product of this type.
pub fn flops_of_term<T: Element>() -> f64 {
    if T::IS_COMPLEX { 8.0 } else { 2.0 }
}

/// Returns the flops per second of products with these parameters.
///
/// The rate is measured on first use, on larger and larger matrices until one takes 10 ms.
pub fn rate<T: Element>(device: &Device, params: &GemmParams) -> BlasResult<f64> {
    let rates: Result<_, Infallible> =
        device.attached(|_| Ok(Rates::<T> { known: Mutex::default(), element: PhantomData }));
    let rates = match rates {
        Ok(rates) => rates,
        Err(impossible) => match impossible {},
    };
    let known = || lock(&rates.known);
    if let Some(rate) = known().get(params) {
        return Ok(*rate);
    }
    let mut rate = 0.0;
    for edge in EDGES {
        let mut matrices = [(); 3].map(|()| Buffer::<T>::zeroed(device, edge * edge));
        if edge > EDGES[0] && matrices.iter().any(Result::is_err) {
            break;
        }
        let layout = MatrixLayout::column_major(edge, edge);
        let [a, b, c] = &mut matrices;
        let [a, b, c] = [a, b, c].map(|matrix| matrix.as_mut().map_err(|error| error.clone()));
        let (a, b, c) = (a?, b?, c?);
        for buffer in [&mut *a, &mut *b] {
            buffer.fill(T::from_complex(0.5.into()))?;
        }
        let mut product = || -> BlasResult<Duration> {
            let start = Instant::now();
            let (a, b) = (MatRef::new(&*a, layout)?, MatRef::new(&*b, layout)?);
            gemm_with(params, Op::N, Op::N, 1, a, b, 0, MatMut::new(&mut *c, layout)?)?;
            device.finish()?;
            Ok(start.elapsed())
        };
        // The first product may have to be compiled.
        product()?;
        let time = product()?;
        rate = flops_of_term::<T>() * (edge as f64).powi(3) / time.as_secs_f64();
        if time >= LONG_ENOUGH {
            break;
        }
    }
    known().insert(*params, rate);
    Ok(rate)
}
