//! Rates of products of 16-bit matrices, by several variants of the kernel.
//!
//! `cargo run --release -p lattice-linalg --example half_gemm -- [DEVICE] [N …]`, for example `1.0 4096
//! 8192`. Each product is checked at some elements, then timed by events. The rate is the median of
//! twenty products.

use lattice_compute::philox::Philox;
use lattice_compute::{Buffer, Device, DeviceOptions, MatrixOperation, Profiling, Selector, Team};
use lattice_linalg::gemm::half::{HalfFormat, HalfKernel, HalfMma, bf16, f16, gemm_half_with};
use lattice_linalg::{MatMut, MatRef, MatrixLayout, Op};
use std::error::Error;

const PRODUCTS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let selector: Selector = arguments.next().map_or(Ok(Selector::Auto), |text| text.parse())?;
    let mut sizes = arguments.map(|text| text.parse()).collect::<Result<Vec<usize>, _>>()?;
    if sizes.is_empty() {
        sizes.push(4096);
    }
    let options = DeviceOptions::default().with_profiling(Profiling::On);
    let team = Team::select_with([selector], &options)?;
    let Some(device) = team.devices().first() else { return Err("there is no OpenCL device".into()) };
    println!("{}", device.label());
    for n in sizes {
        measure::<f16>(device, "f16", n)?;
        measure::<bf16>(device, "bf16", n)?;
    }
    Ok(())
}

fn kernels(device: &Device, n: usize, along_terms: bool) -> Vec<HalfKernel> {
    if !device.supports_matrix_units(MatrixOperation::Bfloat16) {
        return vec![HalfKernel::Widened];
    }
    let variant =
        |tile, stages, band, spread| HalfKernel::Mma(HalfMma { tile, warp: [64, 64], stages, band, spread });
    vec![
        HalfKernel::suitable(device, [n; 2], along_terms),
        variant([128, 256, 32], 4, 8, false),
        variant([128, 256, 32], 4, 8, true),
        variant([256, 128, 32], 4, 8, false),
        variant([256, 128, 64], 3, 8, false),
        variant([128, 128, 32], 4, 8, false),
        HalfKernel::Widened,
    ]
}

fn measure<H: HalfFormat>(device: &Device, name: &str, n: usize) -> Result<(), Box<dyn Error>> {
    let mut random = Philox::new(1, 1, 0);
    let mut numbers = || -> Vec<H> {
        (0..n * n).map(|_| H::from_f32(random.next_u32() as f32 / u32::MAX as f32 - 0.5)).collect()
    };
    let (a, b) = (numbers(), numbers());
    let (on_a, on_b) = (Buffer::from_slice(device, &a)?, Buffer::from_slice(device, &b)?);
    let mut c = Buffer::<H>::zeroed(device, n * n)?;
    let layout = MatrixLayout::column_major(n, n);
    for (ops, text) in [([Op::N, Op::N], "nn"), ([Op::T, Op::N], "tn")] {
        for kernel in kernels(device, n, text == "tn") {
            let mut run = || {
                let (a, b) = (MatRef::new(&on_a, layout)?, MatRef::new(&on_b, layout)?);
                gemm_half_with(kernel, ops, 1.0, a, b, 0.0, MatMut::new(&mut c, layout)?)
            };
            if let Err(error) = run() {
                println!("{n} {name} {text} {kernel:?}: {error}");
                continue;
            }
            let mut seconds = Vec::with_capacity(PRODUCTS);
            for _ in 0..PRODUCTS {
                let done = run()?;
                done.wait()?;
                seconds.push(done.duration()?.map_or(f64::NAN, |duration| duration.as_secs_f64()));
            }
            let found = c.to_vec()?;
            let mut largest: f64 = 0.0;
            for at in (0..n * n).step_by((n * n / 61).max(1)) {
                let (i, j) = (at % n, at / n);
                let entering = |p: usize| if ops[0] == Op::N { a[i + p * n] } else { a[p + i * n] };
                let expected: f64 =
                    (0..n).map(|p| f64::from(entering(p).to_f32()) * f64::from(b[p + j * n].to_f32())).sum();
                largest = largest.max((f64::from(found[at].to_f32()) - expected).abs());
            }
            seconds.sort_by(f64::total_cmp);
            let tflops = 2.0 * (n as f64).powi(3) / seconds[PRODUCTS / 2] / 1e12;
            let bound = (n as f64).sqrt() * if H::IS_BFLOAT { 0.004 } else { 0.0005 };
            let verdict = if largest <= bound { "right" } else { "WRONG" };
            let kernel = match kernel {
                HalfKernel::Mma(variant) => variant.to_string(),
                HalfKernel::Widened => "widened".to_owned(),
            };
            println!("{n} {name} {text} {kernel}: {tflops:.1} TFLOP/s, error {largest:.1e} {verdict}");
        }
    }
    Ok(())
}
