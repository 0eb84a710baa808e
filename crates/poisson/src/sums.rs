//! Numbers that come with a potential.

/// A symmetric tensor: xx, yy, zz, yz, xz, xy.
pub type Tensor = [f64; 6];

/// The axes of the elements of a [`Tensor`].
pub const TENSOR_AXES: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [1, 2], [0, 2], [0, 1]];

/// The electrostatic stress of a periodic density, in hartree/bohr³ or rydberg/bohr³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stress {
    /// If the charge of each mesh cell stays when the cell is strained.
    pub fixed_charge: Tensor,
    /// If the density stays when the cell is strained; the convention of SIESTA's `POISON`.
    pub fixed_density: Tensor,
}

/// Sums over a density: Σρ and Σρ(f_i − ½) with the fractional positions f.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    pub charge: f64,
    pub first: [f64; 3],
}

/// Sums over a spectrum h: Σ K|h|² and Σ K G_a G_b/G² |h|², both halves of the spectrum counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SpectralSums {
    pub energy: f64,
    pub stress: Tensor,
}

impl Moments {
    /// Takes four sums of a kernel.
    pub fn of(sums: [f64; 4]) -> Self {
        Self { charge: sums[0], first: [sums[1], sums[2], sums[3]] }
    }
}

impl SpectralSums {
    /// Takes seven sums of a kernel.
    pub fn of(sums: [f64; 7]) -> Self {
        Self { energy: sums[0], stress: std::array::from_fn(|i| sums[1 + i]) }
    }

    /// Returns E = (Ω/2) Σ K |ρ_G|², with ρ_G = h/N for `points` N.
    pub fn energy(&self, volume: f64, points: usize) -> f64 {
        0.5 * volume * self.energy / (points as f64).powi(2)
    }

    /// Returns σ_ab = (1/Ω) Σ e_G (2 G_a G_b/G² ∓ δ_ab) with e_G = (Ω/2) K |ρ_G|².
    pub fn stress(&self, points: usize) -> Stress {
        let squared = (points as f64).powi(2);
        let with = |sign: f64| {
            std::array::from_fn(|i| {
                let diagonal =
                    if TENSOR_AXES[i][0] == TENSOR_AXES[i][1] { 0.5 * sign * self.energy } else { 0.0 };
                (self.stress[i] + diagonal) / squared
            })
        };
        Stress { fixed_charge: with(-1.0), fixed_density: with(1.0) }
    }
}

/// Adds the parts of sums that groups have made, in the order of the groups.
pub(crate) fn added<const COUNT: usize>(parts: &[f64], stride: usize) -> [f64; COUNT] {
    let mut sums = [0.0; COUNT];
    for part in parts.chunks(stride) {
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    sums
}
