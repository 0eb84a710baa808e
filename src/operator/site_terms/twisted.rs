//! The twisted mass.

use super::flavour::Flavour;
use super::parameter::{GivenNumbers, Parameter, ParameterMatrix, SpinTerm};
use crate::host::gamma::I_GAMMA5;

/// μ of a twisted mass.
pub(super) struct Mu;

impl Parameter for Mu {
    fn key(&self) -> &'static str {
        "mu"
    }

    fn meaning(&self) -> &'static str {
        "the twisted mass"
    }

    fn formula(&self) -> &'static str {
        "adds 2i kappa mu gamma5, with --mass i mu gamma5; gamma5 = diag(1, 1, -1, -1);\n--flavour down has -mu"
    }

    fn matrix(&self) -> ParameterMatrix {
        let text = include_str!("../../../cl/stencil/site_twisted.cl");
        ParameterMatrix::Spin(SpinTerm { gamma: I_GAMMA5, name: "twisted", text })
    }

    fn line(&self, keys: &GivenNumbers, flavour: Option<Flavour>) -> Option<(&'static str, String)> {
        Some((self.symbol(), format!("{:?}, flavour {}", keys.number(self.key()).unwrap_or(0.0), flavour?)))
    }
}
