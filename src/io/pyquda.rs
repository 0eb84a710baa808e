//! The attributes that PyQUDA gives to its groups and datasets in HDF5 files.

use super::checksum::{Checksum, Method, Sums, hexadecimal};
use super::error::Error;
use super::hdf5::{Attribute, Object, Writer};
use super::input::Input;
use crate::geometry::Dims;
use lattice_files::text::quoted;

/// The names of the two sums of a dataset.
pub(super) const SUMS: [&str; 2] = ["sum29", "sum31"];

/// The sums of a dataset as the file has them.
pub(super) struct StoredSums([String; 2]);

impl StoredSums {
    /// Compares the sums with those of the data. Sums that cannot be read disagree.
    pub(super) fn compared(&self, computed: Sums) -> Checksum {
        let parsed = self.0.each_ref().map(|text| hexadecimal(text));
        match parsed {
            [Some(a), Some(b)] => Checksum::new(Method::PyQuda, [a, b], computed),
            _ => Checksum::unreadable(Method::PyQuda, &self.0.join(" "), computed),
        }
    }
}

/// Reads the sums of a dataset; `None` if it lacks one of them.
pub(super) fn stored_sums(input: &mut Input, object: &Object) -> Result<Option<StoredSums>, Error> {
    let [a, b] = SUMS;
    Ok(match (object.text(input, a)?, object.text(input, b)?) {
        (Some(a), Some(b)) => Some(StoredSums([a, b])),
        _ => None,
    })
}

/// Returns a warning if the group says other extents than its datasets have.
pub(super) fn other_extents(input: &mut Input, group: &Object, dims: Dims) -> Result<Option<String>, Error> {
    let told = group.text(input, "Lattice")?;
    let extents =
        |text: &String| text.split_whitespace().map(str::parse).collect::<Result<Vec<usize>, _>>().ok();
    Ok(told.filter(|text| extents(text).as_deref() != Some(&dims.extents()[..])).map(|text| {
        format!("the attribute Lattice says {}, and the datasets are of a lattice of {dims}", quoted(&text))
    }))
}

/// Describes a group of fields.
pub(super) fn describe(writer: &mut Writer<'_>, group: &[&str], dims: Dims, spins: Option<usize>) {
    let [x, y, z, t] = dims.extents();
    let mut add = |name: &str, text: String| writer.attribute(group, name, Attribute::Text(text));
    add("Annotation", String::new());
    add("Lattice", format!("{x} {y} {z} {t}"));
    spins.into_iter().for_each(|spins| add("Spin", spins.to_string()));
    add("Color", "3".to_owned());
}
