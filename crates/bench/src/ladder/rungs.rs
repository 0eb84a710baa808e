//! The rungs of the ladder (`cl/ladder/`): their kernels and launches.

use super::fields::Fields;
use lattice_cl::compute::{Argument, Buffer, Device, Event, Kernel, KernelFamily, KernelKey, Range, Result};
use lattice_cl::scalar::Precision;
use num_complex::Complex64;
use std::cell::RefCell;

// SAFETY: a test compares every rung with the host on every device, under Oclgrind too. `apply`
// passes the buffers that each kernel was written for.
#[allow(unsafe_code)]
const LADDER: KernelFamily = unsafe {
    KernelFamily::trusted(
        "ladder",
        &[
            include_str!("../../cl/ladder/common.cl"),
            include_str!("../../cl/ladder/site.cl"),
            include_str!("../../cl/ladder/twelve.cl"),
            include_str!("../../cl/ladder/hard_coded.cl"),
            include_str!("../../cl/ladder/arithmetic.cl"),
            include_str!("../../cl/ladder/one_barrier.cl"),
            include_str!("../../cl/ladder/coalesced.cl"),
            include_str!("../../cl/ladder/products.cl"),
        ],
    )
};

/// A step of the ladder, which adds one idea.
#[derive(Debug)]
pub struct Rung {
    /// Number in the study that the ladder repeats: 1.0, 1.1 and so on.
    pub number: &'static str,
    /// The idea that this rung adds to the rung before.
    pub idea: &'static str,
    /// Kernels, launched one after the other.
    ///
    /// They are launched for each direction if one of them asks for a direction.
    kernels: &'static [Step],
}

/// A kernel of a rung.
#[derive(Debug)]
struct Step {
    name: &'static str,
    /// Work-items of a site.
    items: usize,
    /// Work-items of a group.
    group: usize,
    operands: &'static [Operand],
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operand {
    Out,
    Psi,
    /// Memory that passes results from one kernel of a rung to the next.
    Projected,
    Links,
    GroupedLinks,
    Neighbours,
    Columns,
    Entries,
    Kappa,
    Volume,
    Extents,
    Direction,
    /// Local memory: complex numbers for each work-item of the group.
    Local(usize),
}

use Operand::*;

/// 16 sites, a multiple of every width that devices work in.
const GROUP: usize = 192;

/// All rungs but the last, which is the operator of this library.
pub const RUNGS: [Rung; 9] = [
    Rung {
        number: "1.0",
        idea: "one work-item a site",
        kernels: &[Step {
            name: "ladder_site",
            items: 1,
            group: 64,
            operands: &[Out, Psi, Links, Neighbours, Columns, Entries, Kappa, Volume],
        }],
    },
    Rung {
        number: "1.1",
        idea: "twelve work-items a site, local memory",
        kernels: &[Step {
            name: "ladder_twelve",
            items: 12,
            group: 12,
            operands: &[Out, Psi, Links, Neighbours, Columns, Entries, Kappa, Local(1)],
        }],
    },
    Rung {
        number: "1.2",
        idea: "groups of a multiple of 12 and 16",
        kernels: &[Step {
            name: "ladder_twelve",
            items: 12,
            group: GROUP,
            operands: &[Out, Psi, Links, Neighbours, Columns, Entries, Kappa, Local(1)],
        }],
    },
    Rung {
        number: "1.3",
        idea: "projections hard-coded",
        kernels: &[Step {
            name: "ladder_hard_coded",
            items: 12,
            group: GROUP,
            operands: &[Out, Psi, Links, Neighbours, Kappa, Local(1)],
        }],
    },
    Rung {
        number: "1.4",
        idea: "index arithmetic, no table of neighbours",
        kernels: &[Step {
            name: "ladder_arithmetic",
            items: 12,
            group: GROUP,
            operands: &[Out, Psi, Links, Extents, Kappa, Local(1)],
        }],
    },
    Rung {
        number: "1.5",
        idea: "one barrier instead of sixteen",
        kernels: &[Step {
            name: "ladder_one_barrier",
            items: 12,
            group: GROUP,
            operands: &[Out, Psi, Links, Extents, Kappa, Local(8)],
        }],
    },
    Rung {
        number: "1.6",
        idea: "links regrouped, transposed and paired",
        kernels: &[Step {
            name: "ladder_coalesced",
            items: 12,
            group: GROUP,
            operands: &[Out, Psi, GroupedLinks, Extents, Kappa, Local(8)],
        }],
    },
    Rung {
        number: "1.6.1",
        idea: "no local memory",
        kernels: &[Step {
            name: "ladder_no_local",
            items: 12,
            group: GROUP,
            operands: &[Out, Psi, GroupedLinks, Extents, Kappa],
        }],
    },
    Rung {
        number: "2.0",
        idea: "a kernel for each small matrix product",
        kernels: &[
            Step {
                name: "ladder_spin_product",
                items: 12,
                group: GROUP,
                operands: &[Projected, Psi, Extents, Direction],
            },
            Step {
                name: "ladder_colour_product",
                items: 12,
                group: GROUP,
                operands: &[Out, Psi, Projected, GroupedLinks, Kappa, Direction],
            },
        ],
    },
];

/// The kernels of a rung, built for one device.
#[derive(Debug)]
pub struct BuiltRung {
    rung: &'static Rung,
    kernels: Vec<Kernel>,
    /// Memory between the kernels of one rung; empty if there is one kernel.
    projected: RefCell<Buffer<Complex64>>,
}

impl BuiltRung {
    /// Builds the kernels for fields of one lattice.
    ///
    /// # Errors
    /// [`DeviceError::Build`](lattice_cl::compute::DeviceError::Build).
    pub fn new(device: &Device, rung: &'static Rung, fields: &Fields) -> Result<Self> {
        let program = device.program(&KernelKey::new(LADDER, Precision::Double))?;
        let kernel = |step: &Step| program.kernel(step.name);
        let kernels = rung.kernels.iter().map(kernel).collect::<Result<_>>()?;
        let between = if rung.kernels.len() > 1 { 12 * fields.volume() } else { 0 };
        Ok(Self { rung, kernels, projected: RefCell::new(Buffer::zeroed(device, between)?) })
    }

    /// Starts to compute out = ψ − κHψ.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](lattice_cl::compute::DeviceError::OpenCl).
    pub fn apply(
        &self,
        fields: &Fields,
        kappa: f64,
        psi: &Buffer<Complex64>,
        out: &mut Buffer<Complex64>,
    ) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        let mut projected = self.projected.borrow_mut();
        let by_direction = self.rung.kernels.iter().any(|step| step.operands.contains(&Direction));
        for direction in 0..if by_direction { 8_u32 } else { 1 } {
            for (step, kernel) in self.rung.kernels.iter().zip(&self.kernels) {
                let (mut out, mut projected) = (Some(out.view_mut()), Some(projected.view_mut()));
                let arguments: Vec<Argument<'_>> = step
                    .operands
                    .iter()
                    .filter_map(|operand| {
                        Some(match *operand {
                            Out => out.take()?.into(),
                            Psi => psi.into(),
                            Projected => projected.take()?.into(),
                            Links => (&fields.links).into(),
                            GroupedLinks => (&fields.grouped_links).into(),
                            Neighbours => (&fields.neighbours).into(),
                            Columns => (&fields.columns).into(),
                            Entries => (&fields.entries).into(),
                            Kappa => Argument::value(kappa),
                            Volume => Argument::value(fields.volume() as u32),
                            Extents => Argument::value(fields.extents),
                            Direction => Argument::value(direction),
                            Local(numbers) => Argument::local::<Complex64>(numbers * step.group),
                        })
                    })
                    .collect();
                let range = Range::covering(step.items * fields.volume(), step.group);
                events.push(kernel.launch(range, &arguments)?);
            }
        }
        Ok(events)
    }
}
