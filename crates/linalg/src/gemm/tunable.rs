//! The product as something to be tuned.

use super::narrow::WIDTH;
use super::output_region::OutputRegion;
use super::problem::{Factor, Problem, Target};
use super::tuning::{Arithmetic, GemmTuning};
use crate::error::{BlasError, BlasResult};
use crate::op::Op;
use lattice_compute::scalar::{Element, ElementType, Precision};
use lattice_compute::sync::lock;
use lattice_compute::tuning::{self, Key, RenewError, Step, Tunable, TuningResult, time_of_launch};
use lattice_compute::{AnyBuffer, Device, DeviceKind};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Powers of two that bound an extent.
///
/// Extents below the first are one class, and so are extents above half of the last. Narrow tiles
/// have one width for a class.
const CLASSES: [u32; 2] = [3, 13];

/// Longest extent of the products that are timed.
const LONGEST: usize = 1 << CLASSES[1];

/// Longest extent if the other two are narrow.
const LONGEST_OF_NARROW: usize = 1 << 20;

/// The class of products for which one variant is the fastest.
///
/// A class is for elements of one type on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Class {
    arithmetic: Arithmetic,
    transposed: [bool; 2],
    /// Exponents of the powers of two that m, n and k do not exceed.
    exponents: [u32; 3],
}

impl Class {
    fn new(arithmetic: Arithmetic, transposed: [bool; 2], extents: [usize; 3]) -> Self {
        let exponent = |extent: usize| {
            let power = extent.checked_next_power_of_two().map_or(usize::BITS, usize::trailing_zeros);
            power.clamp(CLASSES[0], CLASSES[1])
        };
        Self { arithmetic, transposed, exponents: extents.map(exponent) }
    }

    /// Returns the smallest or the largest extents of the class, if it has bounds.
    fn corner(&self, largest: bool) -> [usize; 3] {
        self.exponents.map(|exponent| match (largest, exponent) {
            (true, _) => 1 << exponent,
            (false, exponent) if exponent == CLASSES[0] => 1,
            (false, _) => (1 << (exponent - 1)) + 1,
        })
    }

    /// Returns the class of extents as text: `m<=2^10 n<=2^10 k>2^12`.
    fn text(&self) -> String {
        let names = ["m", "n", "k"].into_iter().zip(self.exponents);
        let words = names.map(|(name, exponent)| match exponent {
            exponent if exponent == CLASSES[1] => format!("{name}>2^{}", exponent - 1),
            exponent => format!("{name}<=2^{exponent}"),
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The variants that one device has chosen for elements of each type.
///
/// Reading the tuning file for every product would cost more than small products do.
///
/// `None` for the shipped variant of a class. Within a class it differs between products with many
/// tiles and products with few.
#[derive(Default)]
struct Chosen(Mutex<HashMap<(ElementType, Class), Option<GemmTuning>>>);

impl Chosen {
    fn of(device: &Device) -> Arc<Self> {
        let chosen: Result<_, std::convert::Infallible> = device.attached(|_| Ok(Self::default()));
        match chosen {
            Ok(chosen) => chosen,
            Err(impossible) => match impossible {},
        }
    }
}

impl GemmTuning {
    /// Returns the variant for C = op(A) op(B) unless another is asked for.
    ///
    /// `extents` are m, n and k. All matrices are column-major. The device's
    /// [`TuningMode`](lattice_compute::TuningMode) decides between the variant that was found
    /// fastest and the shipped one.
    pub fn chosen<T: Element>(
        device: &Device,
        arithmetic: Arithmetic,
        [op_a, op_b]: [Op; 2],
        extents: [usize; 3],
    ) -> Self {
        chosen(device, ElementType::of::<T>(), arithmetic, [op_a != Op::N, op_b != Op::N], extents, 1)
    }
}

/// Returns the variant for products for which none is asked for.
///
/// Batches are not tuned.
pub(super) fn chosen(
    device: &Device,
    element: ElementType,
    arithmetic: Arithmetic,
    transposed: [bool; 2],
    extents: [usize; 3],
    count: usize,
) -> GemmTuning {
    if count != 1 || extents.contains(&0) {
        return shipped(device, element, arithmetic, extents, count);
    }
    let product = Product::new(device, element, arithmetic, transposed, extents);
    product.chosen().unwrap_or_else(|| shipped(device, element, arithmetic, extents, 1))
}

/// Returns the variant that is used untuned for a product of these extents.
fn shipped(
    device: &Device,
    element: ElementType,
    arithmetic: Arithmetic,
    extents: [usize; 3],
    count: usize,
) -> GemmTuning {
    let units = if device.info().kind == DeviceKind::Cpu { 0 } else { device.info().compute_units };
    let variant =
        GemmTuning::shipped_for(device, element, arithmetic).for_size(element, extents, count, units);
    // NVIDIA's driver gives more local memory than it reports.
    let told = !device.supports_inline_ptx();
    if told { variant.within(element, device.info().local_memory_bytes as usize) } else { variant }
}

/// The result of a search for products of one class.
#[derive(Clone, Debug)]
pub struct TunedGemm {
    /// Element type, arithmetic, op(A) and op(B), and class of extents.
    pub key: Key,
    /// The variant that is used untuned.
    pub shipped: GemmTuning,
    /// The result of the search.
    pub found: TuningResult<GemmTuning>,
}

/// Searches now for the fastest variant of C = op(A) op(B).
///
/// `extents` are m, n and k. All matrices are column-major. The variant is used for all products of
/// the class of these extents. A class reaches from one power of two to the next. An earlier result
/// is replaced.
///
/// # Errors
/// If the device fails or has too little memory for the matrices, an extent is 0, or the result
/// cannot be kept.
pub fn tune_gemm<T: Element>(
    device: &Device,
    arithmetic: Arithmetic,
    [op_a, op_b]: [Op; 2],
    extents: [usize; 3],
    budget: Duration,
) -> Result<TunedGemm, RenewError<BlasError>> {
    let transposed = [op_a != Op::N, op_b != Op::N];
    tune(&Product::new(device, ElementType::of::<T>(), arithmetic, transposed, extents), budget)
}

fn tune(product: &Product<'_>, budget: Duration) -> Result<TunedGemm, RenewError<BlasError>> {
    let found = tuning::renew(product, budget)?;
    product.remember(&found.variant);
    Ok(TunedGemm { key: product.key(), shipped: product.shipped(), found })
}

/// Products of one class on one device, with the extents that are timed.
struct Product<'a> {
    device: &'a Device,
    element: ElementType,
    class: Class,
    extents: [usize; 3],
}

impl<'a> Product<'a> {
    fn new(
        device: &'a Device,
        element: ElementType,
        arithmetic: Arithmetic,
        transposed: [bool; 2],
        extents: [usize; 3],
    ) -> Self {
        let class = Class::new(arithmetic, transposed, extents);
        // Larger matrices are as fast, and take longer. Narrow ones are over too soon.
        let narrow = extents.iter().filter(|&&extent| extent <= WIDTH).count();
        let longest = if narrow >= 2 { LONGEST_OF_NARROW } else { LONGEST };
        let extents = extents.map(|extent| extent.min(longest));
        Self { device, element, class, extents }
    }

    /// Returns the variant that is used for the class, unless it is the shipped one.
    fn chosen(&self) -> Option<GemmTuning> {
        let known = lock(&Chosen::of(self.device).0).get(&(self.element, self.class)).copied();
        if let Some(known) = known {
            return known;
        }
        self.remember(&tuning::choose(self))
    }

    /// Tells whether a variant is the shipped one for some product of the class.
    ///
    /// Within a class the shipped variant differs between products with many tiles and products
    /// with few. An earlier process may have found the shipped variant of another product the best.
    fn is_shipped(&self, variant: &GemmTuning) -> bool {
        let corners = [false, true].map(|largest| self.class.corner(largest));
        let shipped = |extents| shipped(self.device, self.element, self.class.arithmetic, extents, 1);
        corners.into_iter().chain([self.extents]).any(|extents| shipped(extents) == *variant)
    }

    fn remember(&self, variant: &GemmTuning) -> Option<GemmTuning> {
        let kept = (!self.is_shipped(variant)).then_some(*variant);
        lock(&Chosen::of(self.device).0).insert((self.element, self.class), kept);
        kept
    }
}

/// The matrices of one product.
struct Matrices {
    a: AnyBuffer,
    b: AnyBuffer,
    c: AnyBuffer,
}

impl Tunable for Product<'_> {
    type Variant = GemmTuning;
    type Data = Matrices;
    type Error = BlasError;

    fn device(&self) -> &Device {
        self.device
    }

    fn key(&self) -> Key {
        let element = match (self.element.precision, self.element.complex) {
            (Precision::Single, false) => "s",
            (Precision::Double, false) => "d",
            (Precision::Single, true) => "c",
            (Precision::Double, true) => "z",
        };
        let arithmetic = match self.class.arithmetic {
            Arithmetic::Ieee => "ieee",
            Arithmetic::ThreeTf32 => "three-tf32",
        };
        let form: String =
            self.class.transposed.map(|transposed| if transposed { 't' } else { 'n' }).iter().collect();
        Key::new("gemm", self.class.text())
            .option("element", element)
            .option("arithmetic", arithmetic)
            .option("form", form)
    }

    fn shipped(&self) -> GemmTuning {
        shipped(self.device, self.element, self.class.arithmetic, self.extents, 1)
    }

    fn steps(&self) -> Vec<Step<'_, GemmTuning>> {
        let tiles = move |shipped: &GemmTuning| {
            let mut all = GemmTuning::variants_for(self.device, self.element, self.class.arithmetic);
            if !all.contains(shipped) {
                all.push(*shipped);
            }
            all
        };
        vec![Box::new(tiles), Box::new(GemmTuning::bands)]
    }

    fn complaint(&self, variant: &GemmTuning) -> Option<String> {
        let less_accurate = variant.arithmetic_for(self.element) != Arithmetic::Ieee
            && self.class.arithmetic == Arithmetic::Ieee;
        if less_accurate {
            return Some("it is less accurate than single precision".to_owned());
        }
        let complaint =
            variant.complaint(self.element).or_else(|| variant.too_large(self.element, self.device));
        complaint.or_else(|| variant.miscompiled(self.device))
    }

    fn data(&self) -> BlasResult<Matrices> {
        if self.extents.contains(&0) {
            return Err(BlasError::NothingToTune { extents: self.extents });
        }
        let [m, n, k] = self.extents;
        // Numbers of order one without a pattern: multiples of the golden ratio are spread evenly over
        // the unit interval. Zeros would need less power than usual matrices do, and so be faster.
        let number = |n: usize| (n as f64 * 0.618_033_988_749_894_9).fract() - 0.5;
        let matrix = |len| AnyBuffer::from_reals(self.device, self.element, len, &number);
        Ok(Matrices { a: matrix(m * k)?, b: matrix(k * n)?, c: matrix(m * n)? })
    }

    fn time(&self, tuning: &GemmTuning, data: &mut Matrices) -> BlasResult<Duration> {
        let [m, n, k] = self.extents;
        let Matrices { a, b, c } = data;
        let factor = |x, [rows, columns]: [usize; 2], transposed| Factor {
            elements: x,
            leading_dimension: if transposed { columns } else { rows },
            stride: 0,
            transposed,
            conjugate: false,
        };
        let [a_transposed, b_transposed] = self.class.transposed;
        let problem = Problem {
            m,
            n,
            k,
            count: 1,
            missing: 0,
            region: OutputRegion::All,
            alpha: self.element.factor(1),
            beta: self.element.factor(0),
            a: factor(a.input(), [m, k], a_transposed),
            b: factor(b.input(), [k, n], b_transposed),
            c: Target { elements: c.output(), leading_dimension: m, stride: 0 },
        };
        let launch = || super::launch(self.device, *tuning, None, problem).map(drop);
        time_of_launch(launch, || Ok(self.device.finish()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_bounded_by_powers_of_two() {
        let class = |extents| Class::new(Arithmetic::Ieee, [false; 2], extents).text();
        assert_eq!(class([512, 513, 1]), "m<=2^9 n<=2^10 k<=2^3");
        assert_eq!(class([8, 9, 32]), "m<=2^3 n<=2^4 k<=2^5");
        assert_eq!(class([4096, 4097, usize::MAX]), "m<=2^12 n>2^12 k>2^12");
    }
}
