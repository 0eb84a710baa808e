//! Values of other programs for Dirac operators, and the operators from their definition.

use super::shared;
use super::spinors::Spinor;
use lattice_cl::geometry::Boundary;
use lattice_cl::host::gamma::spin_times;
use lattice_cl::host::{self, CloverBlocks, FieldStrength, GaugeConfiguration, LinkField, StencilFactors};
use lattice_cl::io::{ReadOptions, read_gauge_with};
use lattice_cl::{Dims, operator::SiteTerm};
use num_complex::Complex;
use serde_json::Value;

/// The values, or `None` with a loud line.
pub fn reference() -> Option<Value> {
    let text = std::fs::read_to_string(shared()?.join("reference/physics.json")).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

pub fn complex(value: &Value) -> Complex<f64> {
    Complex::new(number(&value[0]), number(&value[1]))
}

/// The configuration that an entry is about.
pub fn configuration_of(entry: &Value) -> GaugeConfiguration {
    let file = entry["file"].as_str().unwrap();
    // One of these files does not tell its extents.
    let dims = file.starts_with("wilson_beta5.7").then(|| Dims::new([4, 4, 4, 4]).unwrap());
    let options = ReadOptions::default().with_dims(dims);
    read_gauge_with(shared().unwrap().join("data").join(file), &options).unwrap().configuration
}

pub fn boundary_of(entry: &Value) -> Boundary {
    let signs = std::array::from_fn(|mu| entry["boundary"][mu].as_i64().unwrap() as i8);
    Boundary::from_signs(signs).unwrap()
}

/// The spinors of the reference's probe: cos(0.1 k) and so on, k counting components.
pub fn probe(dims: Dims) -> Vec<Spinor> {
    let component = |k: f64| Complex::new((0.1 * k).cos(), (0.2 * k + 0.3).sin());
    let spinor = |site: usize| Spinor::from_fn(|s, c| component(((site * 4 + s) * 3 + c) as f64));
    (0..dims.volume()).map(spinor).collect()
}

/// The probe of links: Σ_k φ*[k] U[k], k counting sites, directions, rows and columns.
pub fn probe_of_links(links: &GaugeConfiguration) -> Complex<f64> {
    let phi = |k: f64| Complex::new((0.1 * k).cos(), (0.2 * k + 0.3).sin());
    let entry = |k: usize| links.entry(k / 36, k / 9 % 4, k / 3 % 3, k % 3);
    (0..36 * links.dims().volume()).map(|k| phi(k as f64).conj() * entry(k)).sum()
}

/// γ5 φ
pub fn gamma5(field: &[Spinor]) -> Vec<Spinor> {
    let turned = |psi: &Spinor| Spinor::from_fn(|s, c| if s < 2 { psi.0[s][c] } else { -psi.0[s][c] });
    field.iter().map(turned).collect()
}

/// (1 + 2κ Σ a Γ + κ c_sw T − κ H) φ, from the definition.
///
/// The spin matrices Γ and their parameters a are those that the term names, such as μ and iγ5. Values of
/// other programs and exact propagators tell whether they are right.
pub fn operator(
    configuration: &GaugeConfiguration,
    boundary: Boundary,
    kappa: f64,
    term: SiteTerm,
    phi: &[Spinor],
) -> Vec<Spinor> {
    let links = LinkField::<f64>::new(configuration, boundary);
    let mut image = vec![Spinor::default(); phi.len()];
    host::stencil(&links, StencilFactors::new(1.0, -kappa), phi, &mut image);
    let add = |image: &mut Spinor, number: f64, other: &Spinor| {
        *image = Spinor::from_fn(|s, c| image.0[s][c] + other.0[s][c] * number);
    };
    for (site, image) in image.iter_mut().enumerate() {
        for (a, gamma) in term.spin_matrices() {
            add(image, 2.0 * kappa * a, &spin_times(&gamma, &phi[site]));
        }
        let f = FieldStrength::at(configuration, site);
        let blocks = CloverBlocks::of_field_strength(&f.0, 0.0, kappa * term.csw(), [1.0; 6]);
        add(image, 1.0, &blocks.times(&phi[site]));
    }
    image
}

/// The operators of an entry: their names, what they are, and their values.
pub fn operators_of(entry: &Value) -> Vec<(String, SiteTerm, Value)> {
    let [csw, mu] = ["c_sw", "mu"].map(|key| number(&entry[key]));
    let term = |name: &str| match name {
        "wilson" => SiteTerm::Scalar,
        "clover" => SiteTerm::Clover { csw, mu: 0.0 },
        "twisted_mass" => SiteTerm::Twisted { mu },
        "twisted_clover" => SiteTerm::Clover { csw, mu },
        "twisted_clover_down" => SiteTerm::Clover { csw, mu: -mu },
        name => panic!("{name} is no operator"),
    };
    let operators = entry["operators"].as_object().unwrap();
    operators.iter().map(|(name, values)| (name.clone(), term(name), values.clone())).collect()
}

/// Compares M φ with the values of an operator.
pub fn expect_image(image: &[Spinor], phi: &[Spinor], expected: &Value, what: &str) {
    let norm2 = number(&expected["norm2"]);
    assert!((host::spinor_fields::norm2(image) / norm2 - 1.0).abs() < 1e-12, "{what}");
    let product = complex(&expected["phi_M_phi"]);
    assert!((host::spinor_fields::dot(phi, image) - product).norm() < 1e-10 * norm2, "{what}");
    for (site, list) in [(0, "first_site"), (17, "site_17")] {
        for (k, value) in expected[list].as_array().unwrap().iter().enumerate() {
            let found = image[site].0[k / 3][k % 3];
            assert!((found - complex(value)).norm() < 1e-12, "{what}, site {site}, {k}: {found}");
        }
    }
}
