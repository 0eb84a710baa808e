//! What grids know of elements.

/// Symbol, radius of Bragg and Slater in ångström (J. Chem. Phys. 41 (1964) 3199, noble gases and At as in use), and ξ of
/// Treutler and Ahlrichs (J. Chem. Phys. 102 (1995) 346) in bohr, for hydrogen and all behind it.
const ELEMENTS: [(&str, f64, Option<f64>); 86] = [
    ("H", 0.35, Some(0.8)),
    ("He", 1.4, Some(0.9)),
    ("Li", 1.45, Some(1.8)),
    ("Be", 1.05, Some(1.4)),
    ("B", 0.85, Some(1.3)),
    ("C", 0.7, Some(1.1)),
    ("N", 0.65, Some(0.9)),
    ("O", 0.6, Some(0.9)),
    ("F", 0.5, Some(0.9)),
    ("Ne", 1.5, Some(0.9)),
    ("Na", 1.8, Some(1.4)),
    ("Mg", 1.5, Some(1.3)),
    ("Al", 1.25, Some(1.3)),
    ("Si", 1.1, Some(1.2)),
    ("P", 1.0, Some(1.1)),
    ("S", 1.0, Some(1.0)),
    ("Cl", 1.0, Some(1.0)),
    ("Ar", 1.8, Some(1.0)),
    ("K", 2.2, Some(1.5)),
    ("Ca", 1.8, Some(1.4)),
    ("Sc", 1.6, Some(1.3)),
    ("Ti", 1.4, Some(1.2)),
    ("V", 1.35, Some(1.2)),
    ("Cr", 1.4, Some(1.2)),
    ("Mn", 1.4, Some(1.2)),
    ("Fe", 1.4, Some(1.2)),
    ("Co", 1.35, Some(1.2)),
    ("Ni", 1.35, Some(1.1)),
    ("Cu", 1.35, Some(1.1)),
    ("Zn", 1.35, Some(1.1)),
    ("Ga", 1.3, Some(1.1)),
    ("Ge", 1.25, Some(1.0)),
    ("As", 1.15, Some(0.9)),
    ("Se", 1.15, Some(0.9)),
    ("Br", 1.15, Some(0.9)),
    ("Kr", 1.9, Some(0.9)),
    ("Rb", 2.35, None),
    ("Sr", 2.0, None),
    ("Y", 1.8, None),
    ("Zr", 1.55, None),
    ("Nb", 1.45, None),
    ("Mo", 1.45, None),
    ("Tc", 1.35, None),
    ("Ru", 1.3, None),
    ("Rh", 1.35, None),
    ("Pd", 1.4, None),
    ("Ag", 1.6, None),
    ("Cd", 1.55, None),
    ("In", 1.55, None),
    ("Sn", 1.45, None),
    ("Sb", 1.45, None),
    ("Te", 1.4, None),
    ("I", 1.4, None),
    ("Xe", 2.1, None),
    ("Cs", 2.6, None),
    ("Ba", 2.15, None),
    ("La", 1.95, None),
    ("Ce", 1.85, None),
    ("Pr", 1.85, None),
    ("Nd", 1.85, None),
    ("Pm", 1.85, None),
    ("Sm", 1.85, None),
    ("Eu", 1.85, None),
    ("Gd", 1.8, None),
    ("Tb", 1.75, None),
    ("Dy", 1.75, None),
    ("Ho", 1.75, None),
    ("Er", 1.75, None),
    ("Tm", 1.75, None),
    ("Yb", 1.75, None),
    ("Lu", 1.75, None),
    ("Hf", 1.55, None),
    ("Ta", 1.45, None),
    ("W", 1.35, None),
    ("Re", 1.35, None),
    ("Os", 1.3, None),
    ("Ir", 1.35, None),
    ("Pt", 1.35, None),
    ("Au", 1.35, None),
    ("Hg", 1.5, None),
    ("Tl", 1.9, None),
    ("Pb", 1.8, None),
    ("Bi", 1.6, None),
    ("Po", 1.9, None),
    ("At", 1.45, None),
    ("Rn", 2.1, None),
];

/// ξ of an element that Treutler and Ahlrichs do not name.
const OTHER_SCALE: f64 = 1.0;

/// Returns the radius and ξ of the element with this nuclear charge.
pub(super) fn element(charge: usize) -> Option<(f64, f64)> {
    let (_, radius, scale) = ELEMENTS.get(charge.checked_sub(1)?)?;
    Some((*radius, scale.unwrap_or(OTHER_SCALE)))
}

/// Returns the nuclear charge of a symbol, in any case of letters.
pub(crate) fn charge(symbol: &str) -> Option<usize> {
    ELEMENTS.iter().position(|(known, ..)| known.eq_ignore_ascii_case(symbol)).map(|number| number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found() {
        assert_eq!(element(1), Some((0.35, 0.8)));
        assert_eq!(element(54), Some((2.1, 1.0)));
        assert_eq!((element(79), element(86)), (Some((1.35, 1.0)), Some((2.1, 1.0))));
        assert_eq!((element(0), element(87)), (None, None));
        assert_eq!((charge("c"), charge("CL"), charge("Xx")), (Some(6), Some(17), None));
    }
}
