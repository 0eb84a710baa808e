//! Products of matrices on every device here, against products in higher precision.
//!
//! Every matrix lies in a larger buffer: around C nothing may change, and around A and B there are NaNs, which any
//! sum that reads them would show. With `LATTICE_CL_TEST_SMALL=1` the matrices are tiny, for runs under a simulator.

use crate::common;
use crate::products;

use common::{SMALL_MMA, devices, opened, small};
use lattice_cl::compute::{Buffer, CacheMode, Device, DeviceKind, DeviceOptions, TuningMode, discover};
use lattice_cl::host::Philox;
use lattice_cl::linalg::gemm::{
    Arithmetic, GemmParams, GemmTuning, Mma, Panels, Registers, gemm_with, tune_gemm,
};
use lattice_cl::linalg::{BlasError, MatMut, MatRef, MatrixLayout, Op, Order, gemm};
use lattice_cl::scalar::{Element, Precision, Real};
use num_complex::Complex;
use products::{Case, Wide, check};
use serde_json::{Value, json};
use std::time::Duration;

/// The operations on both factors as a kernel sees them, in memory of either order.
#[derive(Clone, Copy)]
struct Operations {
    transposed: [bool; 2],
    conjugate: [bool; 2],
}

impl Operations {
    const COUNT: usize = 16;

    fn new(number: usize) -> Self {
        let bit = |place: usize| number >> place & 1 != 0;
        Self { transposed: [bit(0), bit(1)], conjugate: [bit(2), bit(3)] }
    }
}

/// The operations that a kernel is tried with.
#[derive(Clone, Copy)]
enum TriedOperations {
    /// All of them, because the kernel reads them from its arguments.
    All,
    /// All on a GPU, and one for each element type on a processor.
    ///
    /// The kernel is compiled for its operations. Processors compile slowly.
    Compiled,
    /// One of them.
    One(usize),
}

impl TriedOperations {
    fn list<T: Element>(self, device: &Device) -> Vec<Operations> {
        let double = T::Real::PRECISION == Precision::Double;
        let all = if T::IS_COMPLEX { Operations::COUNT } else { 4 };
        match self {
            TriedOperations::Compiled if device.info().kind == DeviceKind::Cpu => {
                vec![Operations::new(match (T::IS_COMPLEX, double) {
                    (false, false) => 0,
                    (false, true) => 3,
                    (true, false) => 1 + 8,
                    (true, true) => 2 + 4,
                })]
            }
            TriedOperations::One(number) => vec![Operations::new(number % all)],
            TriedOperations::All | TriedOperations::Compiled => {
                (0..Operations::COUNT).map(Operations::new).collect()
            }
        }
    }
}

/// Numbers that look random.
struct Draw(Philox);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0.next_u32() as usize % n
    }

    fn of<V: Copy>(&mut self, list: &[V]) -> V {
        list[self.below(list.len())]
    }
}

/// Draws a case with these operations at random.
///
/// Drawn are sizes, leading dimensions, offsets, scalars and the order of C.
fn case_of(draw: &mut Draw, operations: Operations) -> Case {
    let sizes: &[usize] =
        if small() { &[0, 1, 2, 3, 7, 17, 33] } else { &[0, 1, 2, 3, 7, 31, 33, 64, 65, 127, 129, 257] };
    let [m, n, k] = std::array::from_fn(|_| draw.of(sizes));
    let c_order = draw.of(&[Order::ColumnMajor, Order::RowMajor]);
    // A row-major C is computed as its transposed: the factors change places.
    let swapped = c_order == Order::RowMajor;
    let factor = |draw: &mut Draw, slot: usize| {
        let op = if operations.conjugate[slot] { Op::C } else { draw.of(&[Op::N, Op::T]) };
        let transposed = operations.transposed[slot] != swapped;
        let order = if (op != Op::N) != transposed { Order::RowMajor } else { Order::ColumnMajor };
        (op, order)
    };
    let (first, second) = (factor(draw, 0), factor(draw, 1));
    let ((op_a, a_order), (op_b, b_order)) = if swapped { (second, first) } else { (first, second) };
    let place = |draw: &mut Draw| [draw.of(&[0, 1, 3, 4, 8]), draw.of(&[0, 0, 1, 4, 6])];
    let scalars = [(1.0, 0.0), (0.0, 0.0), (-0.75, 0.5), (2.0, 0.0)];
    let scalar = |draw: &mut Draw| {
        let (re, im) = draw.of(&scalars);
        Complex::new(re, im)
    };
    // α = 0 is rare, β = 0 is not.
    let mut alpha = scalar(draw);
    if draw.below(4) != 0 && alpha == Complex::default() {
        alpha = 1.5.into();
    }
    Case {
        extents: [m, n, k],
        ops: [op_a, op_b],
        orders: [a_order, b_order, c_order],
        places: [place(draw), place(draw), place(draw)],
        alpha,
        beta: scalar(draw),
        count: draw.of(&[1, 1, 1, 2, 3]),
    }
}

fn kernel_agrees<T: Wide>(device: &Device, tuning: GemmTuning, tried: TriedOperations) {
    let params = GemmParams::default().with_arithmetic(tuning.arithmetic::<T>()).with_tuning(Some(tuning));
    let tried = tried.list::<T>(device);
    let mut draw = Draw(Philox::new(7, 1, 0));
    let count = if small() { 6 } else { 36 };
    for number in 0..count {
        check::<T>(device, &params, &case_of(&mut draw, tried[number % tried.len()]));
    }
}

/// Products with few rows, columns or both, with their sums in parts of which the last is shorter.
fn parts_agree<T: Wide>(device: &Device, tuning: GemmTuning, tried: TriedOperations) {
    let params = GemmParams::default()
        .with_arithmetic(tuning.arithmetic::<T>())
        .with_tuning(Some(tuning))
        .with_parts(Some(3));
    let extents = if small() {
        vec![[5, 3, 77]]
    } else {
        vec![[13, 7, 1030], [131, 5, 77], [3, 141, 335], [31, 29, 700]]
    };
    let tried = tried.list::<T>(device);
    let mut draw = Draw(Philox::new(13, 1, 0));
    for number in 0..extents.len().max(tried.len()) {
        let mut case = case_of(&mut draw, tried[number % tried.len()]);
        (case.extents, case.count) = (extents[number % extents.len()], 1);
        check::<T>(device, &params, &case);
    }
}

/// A product with this variant is an error that says why.
fn refused<T: Wide>(device: &Device, tuning: GemmTuning, why: &str) {
    let params = GemmParams::default().with_arithmetic(tuning.arithmetic::<T>()).with_tuning(Some(tuning));
    let a = Buffer::<T>::zeroed(device, 4).unwrap();
    let mut c = Buffer::<T>::zeroed(device, 4).unwrap();
    let layout = MatrixLayout::column_major(2, 2);
    let matrix = MatRef::new(&a, layout).unwrap();
    let target = MatMut::new(&mut c, layout).unwrap();
    let error = gemm_with(&params, Op::N, Op::N, 1, matrix, matrix, 0, target).unwrap_err();
    assert!(matches!(&error, BlasError::Variant { reason, .. } if reason.contains(why)), "{error}");
}

fn on_every_device<T: Wide>(tuning: GemmTuning, tried: TriedOperations) {
    for device in devices() {
        kernel_agrees::<T>(&device, tuning, tried);
    }
}

macro_rules! kernels_of {
    ($element:ty, $name:ident, $load:expr, $depth:expr, $panel:expr, $lanes:expr) => {
        mod $name {
            use super::*;

            const REGISTERS: Registers = Registers {
                tile: [32, 64, $depth],
                item: [4, 4],
                vector: $load,
                load: $load,
                pad: $load,
                band: 2,
                slices: 1,
                max_registers: None,
            };

            #[test]
            fn textbook() {
                on_every_device::<$element>(GemmTuning::Global, TriedOperations::All);
                for device in devices() {
                    kernel_agrees::<$element>(&device, GemmTuning::Local, TriedOperations::All);
                    parts_agree::<$element>(&device, GemmTuning::Local, TriedOperations::All);
                }
            }

            #[test]
            fn registers() {
                on_every_device::<$element>(GemmTuning::Registers(REGISTERS), TriedOperations::Compiled);
            }

            #[test]
            fn panels() {
                let variant =
                    Panels { panel: $panel, block: [2 * $panel[0], 2 * $panel[1], 40], lanes: $lanes };
                for device in devices() {
                    kernel_agrees::<$element>(&device, GemmTuning::Panels(variant), TriedOperations::All);
                    parts_agree::<$element>(&device, GemmTuning::Panels(variant), TriedOperations::All);
                }
            }

            #[test]
            fn slices() {
                let variant = Registers { tile: [32, 8, $depth], band: 8, slices: 2, ..REGISTERS };
                for device in devices() {
                    let tuning = GemmTuning::Registers(variant);
                    if device.info().pocl_version() == Some(5) {
                        refused::<$element>(&device, tuning, "PoCL 5");
                    } else {
                        parts_agree::<$element>(&device, tuning, TriedOperations::Compiled);
                    }
                }
            }

            #[test]
            fn matrix_units() {
                let variant = Mma {
                    tile: [32, 32, $depth],
                    warp: [16, 16],
                    stages: 2 + usize::from($load > 1),
                    instruction: $depth / 2,
                    band: 3,
                    spread: $load == 2,
                    prefetch: 128,
                    max_registers: None,
                };
                on_every_device::<$element>(GemmTuning::Mma(variant), TriedOperations::Compiled);
            }
        }
    };
}

kernels_of!(f32, single_real, 4, 16, [32, 4], 16);
kernels_of!(f64, double_real, 2, 8, [16, 4], 8);
kernels_of!(Complex<f32>, single_complex, 2, 8, [16, 4], 16);
kernels_of!(Complex<f64>, double_complex, 1, 8, [16, 4], 8);

/// With tiles that are not square.
const OBLONG_MMA: Mma = Mma { tile: [32, 16, 16], band: 8, ..SMALL_MMA };

#[test]
fn matrix_units_make_parts() {
    for device in devices() {
        parts_agree::<f64>(&device, GemmTuning::Mma(OBLONG_MMA), TriedOperations::Compiled);
    }
}

/// Among them the one that NVIDIA's arithmetic makes, whose bits are all set but for the sign. Numbers near the largest have no neighbour of fewer bits above them.
#[test]
fn numbers_that_are_none_stay_so_in_three_products() {
    let params = GemmParams::default()
        .with_arithmetic(Arithmetic::ThreeTf32)
        .with_tuning(Some(GemmTuning::Mma(OBLONG_MMA)));
    let layout = MatrixLayout::column_major(16, 16);
    for device in devices() {
        for first in [0x7fff_ffff, 0xffff_ffff, 0x7fc0_0000, 0x7f7f_f7ff].map(f32::from_bits) {
            let mut elements = [0.0f32; 256];
            (0..16).for_each(|i| elements[17 * i] = 1.0);
            let b = Buffer::from_slice(&device, &elements).unwrap();
            elements[0] = first;
            let a = Buffer::from_slice(&device, &elements).unwrap();
            let mut c = Buffer::<f32>::zeroed(&device, 256).unwrap();
            let (left, right) = (MatRef::new(&a, layout).unwrap(), MatRef::new(&b, layout).unwrap());
            let result = MatMut::new(&mut c, layout).unwrap();
            gemm_with(&params, Op::N, Op::N, 1.0, left, right, 0.0, result).unwrap().wait().unwrap();
            let found = c.to_vec().unwrap();
            let device = device.label();
            let is_it = (found[0] / first - 1.0).abs() < 1e-6 || first.is_nan() && found[0].is_nan();
            assert!(is_it, "{device}: {first} {}", found[0]);
            assert_eq!(found[17], 1.0, "{device}");
        }
    }
}

/// The variants that a search would try; on a processor, which compiles slowly, the shipped one.
#[test]
fn shipped_variants_agree() {
    fn all<T: Wide>() {
        for device in devices() {
            for arithmetic in [Arithmetic::Ieee, Arithmetic::ThreeTf32] {
                let mut variants = GemmTuning::variants::<T>(&device, arithmetic);
                variants.retain(|variant| variant.arithmetic::<T>() == arithmetic);
                if device.info().kind == DeviceKind::Cpu {
                    variants.truncate(1);
                }
                for (number, &tuning) in variants.iter().enumerate() {
                    kernel_agrees::<T>(&device, tuning, TriedOperations::One(number));
                }
            }
        }
    }
    // The simulator has too little local memory for them.
    if small() {
        return;
    }
    all::<f32>();
    all::<f64>();
    all::<Complex<f32>>();
    all::<Complex<f64>>();
}

/// Products that a device does in another way than by tiles: with vectors, and with sums in parts.
#[test]
fn skinny_products_agree() {
    fn all<T: Wide>() {
        let extents: &[[usize; 3]] = if small() {
            &[[1, 5, 7], [5, 1, 7], [1, 1, 7]]
        } else {
            &[
                [1, 65, 129],
                [65, 1, 129],
                [1, 1, 700],
                [1, 33, 0],
                [3, 31, 1030],
                [33, 2, 2003],
                [31, 31, 515],
                [259, 9, 67],
                [11, 270, 130],
                [133, 140, 5],
            ]
        };
        for device in devices() {
            let mut draw = Draw(Philox::new(11, 1, 0));
            for number in 0..3 * extents.len() {
                let mut case = case_of(&mut draw, Operations::new(drawn_operations(number)));
                (case.extents, case.count) = (extents[number % extents.len()], 1);
                check::<T>(&device, &GemmParams::default(), &case);
            }
        }
    }
    /// Numbers of operations that come round after all extents have.
    fn drawn_operations(number: usize) -> usize {
        (5 * number + number / 10) % Operations::COUNT
    }
    all::<f32>();
    all::<f64>();
    all::<Complex<f32>>();
    all::<Complex<f64>>();
}

#[test]
fn the_variant_that_was_kept_is_used_where_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let options = DeviceOptions::default()
        .with_cache(CacheMode::TuningFile(folder.path().join("tuning.json")))
        .with_tuning(TuningMode::Cached);
    let chosen = |size| -> Vec<GemmTuning> {
        let devices = opened(&options).into_iter();
        let chosen =
            devices.map(|d| GemmTuning::chosen::<f32>(&d, Arithmetic::Ieee, [Op::N, Op::T], [size, 20, 17]));
        chosen.collect()
    };
    let shipped = chosen(20);
    for device in opened(&options) {
        tune_gemm::<f32>(&device, Arithmetic::Ieee, [Op::N, Op::T], [20; 3], Duration::ZERO).unwrap();
    }
    assert_eq!(chosen(20), shipped, "there was no time for a search");
    let file = folder.path().join("tuning.json");
    let edit = |change: &dyn Fn(&mut Value)| {
        let mut kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        kept["entries"].as_array_mut().unwrap().iter_mut().for_each(|entry| change(&mut entry["variant"]));
        std::fs::write(&file, kept.to_string()).unwrap();
    };
    edit(&|variant| *variant = json!({ "kernel": "local" }));
    assert_eq!(chosen(20), vec![GemmTuning::Local; shipped.len()]);
    assert_ne!(chosen(33), vec![GemmTuning::Local; shipped.len()], "another class");
    // One that is less accurate, and one that cannot be.
    let mma = json!({ "kernel": "mma", "tile": [32, 32, 16], "warp": [16, 16], "stages": 3, "instruction": 8, "band": 3 });
    let panels = json!({ "kernel": "panels", "panel": [32, 4], "block": [33, 4, 8], "lanes": 16 });
    for wrong in [mma, panels] {
        edit(&|variant| *variant = wrong.clone());
        assert_eq!(chosen(20), shipped);
    }
}

/// Within a class of extents products with few tiles have another shipped variant than those with many.
#[test]
fn what_is_shipped_for_one_product_is_not_kept_for_larger_ones() {
    if small() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = |tuning| {
        DeviceOptions::default()
            .with_cache(CacheMode::TuningFile(folder.path().join("tuning.json")))
            .with_tuning(tuning)
    };
    let mut gpu = discover().devices.swap_remove(0);
    (gpu.info.kind, gpu.info.compute_units) = (DeviceKind::Gpu, 100);
    let chosen = |tuning, size| {
        let device = Device::open(&gpu, &options(tuning)).unwrap();
        GemmTuning::chosen::<f32>(&device, Arithmetic::Ieee, [Op::N; 2], [size; 3])
    };
    let [few, many] = [520, 1024].map(|size| chosen(TuningMode::Shipped, size));
    assert_ne!(few, many);
    let device = Device::open(&gpu, &options(TuningMode::Cached)).unwrap();
    tune_gemm::<f32>(&device, Arithmetic::Ieee, [Op::N; 2], [520; 3], Duration::ZERO).unwrap();
    assert_eq!([520, 1024].map(|size| chosen(TuningMode::Cached, size)), [few, many]);
}

#[test]
fn chained_products_need_no_waiting() {
    for device in devices() {
        let layout = MatrixLayout::column_major(3, 3);
        let rotation = Buffer::from_slice(&device, &[0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]).unwrap();
        let mut from = Buffer::from_slice(&device, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]).unwrap();
        let mut last = None;
        for _ in 0..3 {
            let mut to = Buffer::<f64>::zeroed(&device, 9).unwrap();
            let (a, b) = (MatRef::new(&rotation, layout).unwrap(), MatRef::new(&from, layout).unwrap());
            last = Some(gemm(Op::N, Op::N, 1.0, a, b, 0.0, MatMut::new(&mut to, layout).unwrap()).unwrap());
            // The operand is dropped while the product may still be waiting to run.
            from = to;
        }
        last.unwrap().wait().unwrap();
        assert_eq!(from.to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    }
}

/// Columns of several results alternate in memory.
#[test]
fn results_may_alternate() {
    for device in devices() {
        let (m, n, k, count) = (2, 3, 4, 3);
        let numbers: Vec<f32> = (0..count * m * k).map(|i| (i % 7) as f32 - 3.0).collect();
        let a = Buffer::from_slice(&device, &numbers[..count * m * k]).unwrap();
        let b = Buffer::from_slice(&device, &numbers[..k * n]).unwrap();
        let a = MatRef::batch(&a, MatrixLayout::column_major(m, k), count, m * k).unwrap();
        let b = MatRef::batch(&b, MatrixLayout::column_major(k, n), count, 0).unwrap();
        let leading = count * m + 1;
        let tunings =
            [GemmTuning::Global, GemmTuning::Panels(Panels { panel: [2, 2], block: [2, 4, 8], lanes: 2 })];
        for tuning in [None].into_iter().chain(tunings.map(Some)) {
            let mut c = Buffer::from_slice(&device, &vec![5.0_f32; n * leading]).unwrap();
            let layout = MatrixLayout::column_major(m, n).leading_dimension(leading);
            let target = MatMut::batch(&mut c, layout, count, m).unwrap();
            let params = GemmParams::default().with_tuning(tuning);
            gemm_with(&params, Op::N, Op::N, 1, a, b, 2, target).unwrap();
            let found = c.to_vec().unwrap();
            for column in 0..n {
                for row in 0..leading {
                    let (number, i) = (row / m, row % m);
                    let sum = || -> f32 {
                        (0..k).map(|p| numbers[number * m * k + i + p * m] * numbers[p + column * k]).sum()
                    };
                    let expected = if number < count { sum() + 10.0 } else { 5.0 };
                    assert_eq!(found[row + column * leading], expected, "{tuning:?}: ({row}, {column})");
                }
            }
        }
    }
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let Some(device) = devices().into_iter().next() else { unreachable!("there is a device") };
    let other = devices().swap_remove(0);
    let buffer = Buffer::<f64>::zeroed(&device, 64).unwrap();
    let foreign = Buffer::<f64>::zeroed(&other, 64).unwrap();
    let mut result = Buffer::<f64>::zeroed(&device, 64).unwrap();
    let dense = MatrixLayout::column_major;
    let view = |rows, columns| MatRef::new(&buffer, dense(rows, columns)).unwrap();
    let mut product = |op_a, op_b, a: MatRef<'_, f64>, b: MatRef<'_, f64>, params: GemmParams| {
        let c = MatMut::new(&mut result, dense(4, 5)).unwrap();
        gemm_with(&params, op_a, op_b, 1.0, a, b, 0.0, c).unwrap_err().to_string()
    };
    let plain = GemmParams::default();
    let with = |tuning| plain.with_tuning(Some(tuning));
    let registers = Registers {
        tile: [32, 32, 8],
        item: [5, 4],
        vector: 1,
        load: 1,
        pad: 1,
        band: 1,
        slices: 1,
        max_registers: None,
    };
    let batch = MatRef::batch(&buffer, dense(4, 3), 2, 12).unwrap();
    let messages = [
        product(Op::N, Op::N, view(3, 3), view(3, 5), plain),
        product(Op::T, Op::N, view(4, 3), view(3, 5), plain),
        product(Op::N, Op::C, view(4, 3), view(4, 3), plain),
        product(Op::N, Op::N, view(4, 3), view(6, 5), plain),
        product(Op::N, Op::N, batch, view(3, 5), plain),
        product(Op::N, Op::N, view(4, 3), MatRef::new(&foreign, dense(3, 5)).unwrap(), plain),
        product(Op::N, Op::N, view(4, 3), view(3, 5), with(GemmTuning::Registers(registers))),
        MatRef::new(&buffer, dense(9, 8)).unwrap_err().to_string(),
        MatRef::new(&buffer, dense(4, 4).leading_dimension(3)).unwrap_err().to_string(),
        MatRef::batch(&buffer, dense(4, 4), 5, 16).unwrap_err().to_string(),
        MatMut::batch(&mut Buffer::<f64>::zeroed(&device, 64).unwrap(), dense(4, 4), 2, 15)
            .unwrap_err()
            .to_string(),
    ];
    let expected = [
        "gemm: A must have 4 rows (as C has), 3 found",
        "gemm: Aᵀ must have 4 rows (as C has), 3 found",
        "gemm: Bᴴ must have 5 columns (as C has), 4 found",
        "gemm: B must have 3 rows (as A, so transposed, has columns), 6 found",
        "gemm: C is a batch of 1 matrices, A one of 2; they must be equally many",
        "gemm: B is on device",
        "kernel variant registers 32x32x8, item 5x4, band 1 cannot be used: a tile must consist of whole work-items",
        "a 9×8 matrix with leading dimension 9 and offset 0 ends at element 72, but the buffer has 64 elements",
        "leading dimension of a column-major 4×4 matrix: at least 4 wanted, 3 found",
        "5 matrices, 16 elements apart, end at element 80, but the buffer has 64 elements",
        "the 2 matrices of a batch that is written have elements in common: a stride of at least 16 keeps them apart, 15 found",
    ];
    for (message, expected) in messages.iter().zip(expected) {
        assert!(message.starts_with(expected), "{message}\nwanted: {expected}");
    }

    let single = Buffer::<f32>::zeroed(&device, 64).unwrap();
    let mut result = Buffer::<f32>::zeroed(&device, 64).unwrap();
    let a = MatRef::new(&single, dense(4, 4)).unwrap();
    let params = plain.with_tuning(Some(GemmTuning::Mma(SMALL_MMA)));
    let error =
        gemm_with(&params, Op::N, Op::N, 1.0, a, a, 0.0, MatMut::new(&mut result, dense(4, 4)).unwrap());
    let error = error.unwrap_err();
    assert!(matches!(&error, BlasError::Variant { reason, .. } if reason.contains("ThreeTf32")), "{error}");
}
