//! The programs that a solve runs, built ahead.
//!
//! Operators ask for their programs when they are made. Each program takes a good part of a second
//! to compile. The parameters of a solve tell which programs the solve runs. The programs can
//! therefore be built while the gauge configuration is being read. A program that is missing here
//! is built when an operator asks for it. Only time is lost.

use super::params::SolveParams;
use super::plan::{Inner, IterationPrecision, Preconditioning};
use crate::compute::{Device, KernelKey, build_programs};
use crate::field::{LinkFormat, clover_blocks_key, conversion_key, host_order_key, update_key};
use crate::geometry::{Anisotropy, Boundary, Lattice, Shape, Shard};
use crate::host::{Reconstruction, StencilFactors};
use crate::operator::{Ending, Region, SiteTerm, System, Task, hops_of, known_key, sides_of};
use crate::scalar::{Half, Storage};
use lattice_solvers::update::{self, Formula};

/// Builds [`programs_of_solve`], except programs that exist already.
///
/// No links are needed.
pub fn build_programs_of_solve(
    lattice: &Lattice,
    boundary: Boundary,
    anisotropy: Anisotropy,
    reconstruction: Reconstruction,
    site_term: SiteTerm,
    params: &SolveParams,
) {
    build_programs(&programs_of_solve(lattice, boundary, anisotropy, reconstruction, site_term, params));
}

/// Returns the programs that a solve of M x = b takes, each with its device.
///
/// The links have this boundary condition, anisotropy and reconstruction. There are no programs on
/// the host.
///
/// [`Device::program`] builds one program, [`build_programs`] all.
pub fn programs_of_solve(
    lattice: &Lattice,
    boundary: Boundary,
    anisotropy: Anisotropy,
    reconstruction: Reconstruction,
    site_term: SiteTerm,
    params: &SolveParams,
) -> Vec<(Device, KernelKey)> {
    let links = LinkFormat { lattice: lattice.clone(), boundary, anisotropy, reconstruction };
    let mut programs = SolvePrograms {
        links,
        preconditioning: params.preconditioning(),
        factors: site_term.typical_factors(),
        programs: Vec::new(),
    };
    programs.residual();
    programs.each(|_, shard| host_order_key::<f64>(&shard.layout(f64::STORAGE), true));
    match params.precision() {
        IterationPrecision::Double => programs.iteration::<f64>(params),
        IterationPrecision::Single => programs.lower::<f32>(params, false),
        IterationPrecision::Mixed(Inner::Single) => programs.lower::<f32>(params, true),
        IterationPrecision::Mixed(Inner::Half) => programs.lower::<Half>(params, true),
    }
    programs.programs
}

/// An operator, and the treatment of its result.
#[derive(Clone, Copy)]
struct Application {
    dagger: bool,
    gamma5: bool,
    ending: Ending,
}

impl Application {
    const PLAIN: Self = Self { dagger: false, gamma5: false, ending: Ending::Store };
    const ADJOINT: Self = Self { dagger: true, ..Self::PLAIN };
    const HERMITIAN: Self = Self { gamma5: true, ..Self::PLAIN };

    fn with(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }
}

/// Returns the operators that a method applies, besides making its own.
///
/// See the fused operations of `LinearOperator`.
fn applications(params: &SolveParams) -> Vec<Application> {
    use Application as A;
    match (params, params.system()) {
        (SolveParams::Cg(_), _) => {
            vec![A::ADJOINT, A::PLAIN.with(Ending::Norm2), A::ADJOINT.with(Ending::Subtract)]
        }
        (SolveParams::Cgne(_), _) => vec![A::ADJOINT, A::PLAIN.with(Ending::Subtract)],
        (_, System::Normal) => vec![A::ADJOINT, A::PLAIN.with(Ending::Norm2)],
        (_, System::Hermitian) => vec![A::HERMITIAN, A::HERMITIAN.with(Ending::Products)],
        (_, System::Direct) => vec![A::PLAIN.with(Ending::Products)],
    }
}

/// The programs for the solves of an equation.
struct SolvePrograms {
    links: LinkFormat,
    preconditioning: Preconditioning,
    /// The factors of M. Their numbers are arguments of the kernels, except zeros.
    factors: StencilFactors,
    programs: Vec<(Device, KernelKey)>,
}

impl SolvePrograms {
    /// Adds the programs for residuals in double.
    ///
    /// Programs for the way to the Schur complement and back are added too.
    fn residual(&mut self) {
        self.updates::<f64>(&[*update::NORM2.formula()]);
        self.full::<f64>(Application::PLAIN);
        if self.preconditioning != Preconditioning::None {
            self.operator::<f64>(Application::PLAIN);
            // To the source of the complement, and from its solution.
            for factors in sides_of(self.factors) {
                self.kernel::<f64>(hop(factors, true, Ending::Store));
            }
        }
    }

    /// Adds the programs that iterate.
    fn iteration<T: Storage>(&mut self, params: &SolveParams) {
        self.updates::<T>(&params.updates());
        if self.preconditioning == Preconditioning::None {
            // The operator that iterates is made with this one.
            self.operator::<T>(Application::PLAIN);
        }
        for application in applications(params) {
            self.operator::<T>(application);
        }
    }

    /// Adds the programs that iterate in a lower precision.
    ///
    /// If `add` is set, the results of the iteration are added to a solution in double.
    fn lower<T: Storage>(&mut self, params: &SolveParams, add: bool) {
        let links = Shape::links(self.links.reconstruction.reals());
        self.each(conversion_of::<f64, T>(links, false));
        self.iteration::<T>(params);
        self.each(conversion_of::<f64, T>(Shape::SPINOR, false));
        self.each(conversion_of::<T, f64>(Shape::SPINOR, add));
    }

    /// Adds the operator that is iterated.
    fn operator<T: Storage>(&mut self, application: Application) {
        let Application { dagger, gamma5, ending } = application;
        let Some(symmetry) = self.preconditioning.schur_symmetry() else {
            return self.full::<T>(application);
        };
        let factors = StencilFactors { gamma5, ..self.factors };
        let [to_odd, to_even] = hops_of(factors, symmetry, dagger);
        self.kernel::<T>(hop(to_odd, false, Ending::Store));
        self.kernel::<T>(hop(to_even, true, ending));
    }

    /// Adds the operator on all sites.
    fn full<T: Storage>(&mut self, Application { dagger, gamma5, ending }: Application) {
        let factors = StencilFactors { gamma5, ..self.factors };
        let factors = if dagger { factors.adjoint() } else { factors };
        self.kernel::<T>(Task { factors, region: Region::Full, ending, columns: 1 });
    }

    fn kernel<T: Storage>(&mut self, task: Task) {
        self.each(|links, shard| known_key::<T>(shard, links, task));
        for stored in
            [task.factors.shift, task.factors.coefficient].iter().filter_map(|factor| factor.matrix.stored())
        {
            self.each(|_, _| clover_blocks_key::<T>(stored));
        }
    }

    /// Adds the programs of updates.
    fn updates<T: Storage>(&mut self, updates: &[Formula]) {
        for formula in updates {
            self.each(|_, shard| update_key::<T>(&shard.device, &shard.layout(T::STORAGE), formula));
        }
    }

    /// Adds a program for each device once.
    fn each(&mut self, key: impl Fn(&LinkFormat, &Shard) -> KernelKey) {
        for shard in self.links.lattice.shards() {
            let program = (shard.device.clone(), key(&self.links, shard));
            if !self.programs.contains(&program) {
                self.programs.push(program);
            }
        }
    }
}

/// Returns the task of a hop between parities, which have one kernel in common.
fn hop(factors: StencilFactors, shift: bool, ending: Ending) -> Task {
    Task { factors, region: Region::Parity { parity: 0, shift }, ending, columns: 1 }
}

fn conversion_of<T: Storage, R: Storage>(
    shape: Shape,
    add: bool,
) -> impl Fn(&LinkFormat, &Shard) -> KernelKey {
    move |_, shard| {
        let [from, to] = [T::STORAGE, R::STORAGE].map(|precision| shard.layout(precision));
        conversion_key([&from, &to], shape, add)
    }
}
