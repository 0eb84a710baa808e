//! Spinor fields on the host that tests compare, in double.

use lattice_cl::{Dims, Storage, StoragePrecision, host};

pub type Spinor = host::Spinor<f64>;

/// ‖a − b‖ / ‖b‖
pub fn distance(a: &[Spinor], b: &[Spinor]) -> f64 {
    assert_eq!(a.len(), b.len());
    let difference: Vec<Spinor> =
        a.iter().zip(b).map(|(a, b)| Spinor::from_fn(|s, c| a.0[s][c] - b.0[s][c])).collect();
    (host::spinor_fields::norm2(&difference) / host::spinor_fields::norm2(b)).sqrt()
}

/// How far an operator in this storage may be from its twin, by [`distance`].
pub fn bound(storage: StoragePrecision) -> f64 {
    match storage {
        StoragePrecision::Double => 1e-14,
        StoragePrecision::Single => 1e-6,
        StoragePrecision::Half => 1e-3,
    }
}

/// The spinors on the sites of one parity.
pub fn half(field: &[Spinor], dims: Dims, parity: usize) -> Vec<Spinor> {
    (0..dims.volume()).filter(|&site| dims.parity(site) == parity).map(|site| field[site]).collect()
}

/// The field as the host hands it to this storage.
pub fn narrow<T: Storage>(field: &[Spinor]) -> Vec<host::Spinor<T::Real>> {
    field.iter().map(Spinor::cast).collect()
}

/// The field that the host has from this storage.
pub fn wide<T: Storage>(field: &[host::Spinor<T::Real>]) -> Vec<Spinor> {
    field.iter().map(host::Spinor::cast).collect()
}
