//! The parameters of the methods.

use super::plan::{IterationPrecision, Method, Plan, Preconditioning};
use crate::operator::System;
use lattice_solvers::Stopping;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Parameters of [`cr`](super::cr).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// Which system is iterated. Default [`System::Normal`].
    pub system: System,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for CrParams {
    fn default() -> Self {
        let Stopping { tolerance, max_iterations, .. } = Stopping::default();
        Self {
            tol: tolerance,
            max_iterations,
            system: System::default(),
            precision: IterationPrecision::Double,
            preconditioning: Preconditioning::None,
        }
    }
}

/// Parameters of [`cg`](super::cg) and [`cgne`](super::cgne).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CgParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for CgParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, precision, preconditioning }
    }
}

/// Parameters of [`bicgstab`](super::bicgstab).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BicgstabParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations, of two applications of M each. Default 10 000.
    pub max_iterations: usize,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for BicgstabParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, precision, preconditioning }
    }
}

/// Parameters of [`bicgstab_l`](super::bicgstab_l).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BicgstabLParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations, of 2ℓ applications of M each. Default 10 000.
    pub max_iterations: usize,
    /// ℓ, the degree of the polynomials by which the residual is made minimal. Default 2.
    pub degree: usize,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for BicgstabLParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, degree: 2, precision, preconditioning }
    }
}

/// Parameters of [`gcr`](super::gcr).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GcrParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// m, the directions that are kept, each two fields. Default 16.
    pub restart: usize,
    /// Steps of Minimal Residual that make a direction of a residual; with none it is the residual itself. Default 4.
    pub smoothing: usize,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for GcrParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, restart: 16, smoothing: 4, precision, preconditioning }
    }
}

/// Parameters of [`mr`](super::mr).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MrParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// ω, more than 0 and less than 2. Default 1.
    pub relaxation: f64,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for MrParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, relaxation: 1.0, precision, preconditioning }
    }
}

/// The parameters of one of the methods.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SolveParams {
    /// Those of [`cr`](super::cr).
    Cr(CrParams),
    /// Those of [`cg`](super::cg).
    Cg(CgParams),
    /// Those of [`cgne`](super::cgne).
    Cgne(CgParams),
    /// Those of [`bicgstab`](super::bicgstab).
    Bicgstab(BicgstabParams),
    /// Those of [`bicgstab_l`](super::bicgstab_l).
    BicgstabL(BicgstabLParams),
    /// Those of [`gcr`](super::gcr).
    Gcr(GcrParams),
    /// Those of [`mr`](super::mr).
    Mr(MrParams),
}

impl SolveParams {
    /// The name of the method.
    pub fn method(&self) -> &'static str {
        match self {
            SolveParams::Cr(_) => "cr",
            SolveParams::Cg(_) => "cg",
            SolveParams::Cgne(_) => "cgne",
            SolveParams::Bicgstab(_) => "bicgstab",
            SolveParams::BicgstabL(_) => "bicgstab-l",
            SolveParams::Gcr(_) => "gcr",
            SolveParams::Mr(_) => "mr",
        }
    }

    /// The system that is iterated.
    pub fn system(&self) -> System {
        Plan::from(*self).method.system()
    }

    /// Precision of the iteration.
    pub fn precision(&self) -> IterationPrecision {
        Plan::from(*self).precision
    }

    /// Which form of the equation is iterated.
    pub fn preconditioning(&self) -> Preconditioning {
        Plan::from(*self).preconditioning
    }

    /// The same with another limit of iterations.
    pub(crate) fn with_limit(mut self, limit: usize) -> Self {
        let max_iterations = match &mut self {
            SolveParams::Cr(params) => &mut params.max_iterations,
            SolveParams::Cg(params) => &mut params.max_iterations,
            SolveParams::Cgne(params) => &mut params.max_iterations,
            SolveParams::Bicgstab(params) => &mut params.max_iterations,
            SolveParams::BicgstabL(params) => &mut params.max_iterations,
            SolveParams::Gcr(params) => &mut params.max_iterations,
            SolveParams::Mr(params) => &mut params.max_iterations,
        };
        *max_iterations = limit;
        self
    }
}

impl fmt::Display for SolveParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method())?;
        if self.preconditioning() != Preconditioning::None {
            write!(f, " {}", self.preconditioning())?;
        }
        write!(f, " in {}", self.precision())
    }
}

impl From<SolveParams> for Plan {
    fn from(params: SolveParams) -> Self {
        match params {
            SolveParams::Cr(params) => params.into(),
            SolveParams::Cg(params) => params.into(),
            SolveParams::Cgne(params) => plan_of_cgne(params),
            SolveParams::Bicgstab(params) => params.into(),
            SolveParams::BicgstabL(params) => params.into(),
            SolveParams::Gcr(params) => params.into(),
            SolveParams::Mr(params) => params.into(),
        }
    }
}

impl From<CrParams> for Plan {
    fn from(params: CrParams) -> Self {
        let CrParams { tol, max_iterations, system, precision, preconditioning } = params;
        Self {
            method: Method::Cr(system),
            precision,
            preconditioning,
            stopping: stopping(tol, max_iterations),
        }
    }
}

impl From<CgParams> for Plan {
    fn from(params: CgParams) -> Self {
        let CgParams { tol, max_iterations, precision, preconditioning } = params;
        Self { method: Method::Cg, precision, preconditioning, stopping: stopping(tol, max_iterations) }
    }
}

/// That of [`cgne`](super::cgne).
pub(super) fn plan_of_cgne(params: CgParams) -> Plan {
    Plan { method: Method::Cgne, ..params.into() }
}

impl From<BicgstabParams> for Plan {
    fn from(params: BicgstabParams) -> Self {
        let BicgstabParams { tol, max_iterations, precision, preconditioning } = params;
        Self { method: Method::Bicgstab, precision, preconditioning, stopping: stopping(tol, max_iterations) }
    }
}

impl From<BicgstabLParams> for Plan {
    fn from(params: BicgstabLParams) -> Self {
        let BicgstabLParams { tol, max_iterations, degree, precision, preconditioning } = params;
        Self {
            method: Method::BicgstabL { degree },
            precision,
            preconditioning,
            stopping: stopping(tol, max_iterations),
        }
    }
}

impl From<GcrParams> for Plan {
    fn from(params: GcrParams) -> Self {
        let GcrParams { tol, max_iterations, restart, smoothing, precision, preconditioning } = params;
        Self {
            method: Method::Gcr { restart, smoothing },
            precision,
            preconditioning,
            stopping: stopping(tol, max_iterations),
        }
    }
}

impl From<MrParams> for Plan {
    fn from(params: MrParams) -> Self {
        let MrParams { tol, max_iterations, relaxation, precision, preconditioning } = params;
        Self {
            method: Method::Mr { relaxation },
            precision,
            preconditioning,
            stopping: stopping(tol, max_iterations),
        }
    }
}

pub(crate) fn stopping(tolerance: f64, max_iterations: usize) -> Stopping {
    Stopping { tolerance, max_iterations, ..Default::default() }
}
