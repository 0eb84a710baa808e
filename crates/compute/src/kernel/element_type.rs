//! Types of OpenCL C, as Rust lays them out and as drivers spell them.

use crate::scalar::{ElementType, Precision};
use num_complex::Complex;
use std::any::TypeId;
use std::fmt;

/// A type of OpenCL C: a scalar type and a number of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CType {
    pub scalar: &'static str,
    pub components: usize,
}

/// Scalar types, with the other spellings that drivers use.
const SCALARS: [(&str, &[&str]); 11] = [
    ("char", &["signed char"]),
    ("uchar", &["unsigned char"]),
    ("short", &[]),
    ("ushort", &["unsigned short"]),
    ("int", &["signed int"]),
    ("uint", &["unsigned int", "unsigned", "size_t"]),
    ("long", &["long long", "signed long"]),
    ("ulong", &["unsigned long", "unsigned long long"]),
    ("half", &[]),
    ("float", &[]),
    ("double", &[]),
];

impl CType {
    /// Returns the OpenCL type with the layout of `T`; `None` for unknown types.
    pub fn of<T: 'static>() -> Option<Self> {
        let id = TypeId::of::<T>();
        let table = [
            (TypeId::of::<f32>(), "float", 1),
            (TypeId::of::<f64>(), "double", 1),
            (TypeId::of::<Complex<f32>>(), "float", 2),
            (TypeId::of::<Complex<f64>>(), "double", 2),
            (TypeId::of::<i8>(), "char", 1),
            (TypeId::of::<u8>(), "uchar", 1),
            (TypeId::of::<i16>(), "short", 1),
            (TypeId::of::<u16>(), "ushort", 1),
            (TypeId::of::<i32>(), "int", 1),
            (TypeId::of::<u32>(), "uint", 1),
            (TypeId::of::<i64>(), "long", 1),
            (TypeId::of::<u64>(), "ulong", 1),
            (TypeId::of::<[i32; 4]>(), "int", 4),
            (TypeId::of::<[u32; 2]>(), "uint", 2),
            (TypeId::of::<[u32; 4]>(), "uint", 4),
        ];
        table
            .iter()
            .find(|(known, ..)| *known == id)
            .map(|&(_, scalar, components)| Self { scalar, components })
    }

    /// Returns the OpenCL type of elements: a real, or two of them.
    pub fn of_element(element: ElementType) -> Self {
        Self { scalar: element.precision.opencl_name(), components: element.reals() }
    }

    /// Returns the elements that have this type; `None` if no elements have it.
    pub fn element(self) -> Option<ElementType> {
        let mut all = [Precision::Single, Precision::Double].into_iter();
        let precision = all.find(|precision| precision.opencl_name() == self.scalar)?;
        (self.components <= 2).then_some(ElementType { precision, complex: self.components == 2 })
    }

    /// Reads a type name in a driver's spelling, `double2*` or `const uint`.
    ///
    /// Returns `None` for names of other types.
    pub fn parse(name: &str) -> Option<Self> {
        let words: Vec<&str> = name
            .split(|c: char| c.is_whitespace() || c == '*')
            .filter(|word| !matches!(*word, "" | "const" | "restrict" | "volatile" | "__global" | "global"))
            .collect();
        let name = words.join(" ");
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (base, components) = name.split_at(name.len() - digits);
        let components = if components.is_empty() { 1 } else { components.parse().ok()? };
        let (scalar, _) = SCALARS.iter().find(|(s, others)| *s == base || others.contains(&base))?;
        Some(Self { scalar, components })
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scalar)?;
        if self.components > 1 { write!(f, "{}", self.components) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_are_read_as_drivers_spell_them() {
        let ctype = |scalar, components| Some(CType { scalar, components });
        for (name, expected) in [
            ("double2*", ctype("double", 2)),
            ("const float16 *", ctype("float", 16)),
            ("unsigned int", ctype("uint", 1)),
            ("ulong", ctype("ulong", 1)),
            ("unsigned long", ctype("ulong", 1)),
            ("volatile uint*", ctype("uint", 1)),
            ("struct s*", None),
            ("image2d_t", None),
        ] {
            assert_eq!(CType::parse(name), expected, "{name}");
        }
        assert_eq!(CType::of::<Complex<f64>>(), ctype("double", 2));
        assert_eq!(CType::of::<[f64; 5]>(), None);
        for element in [ElementType::of::<f32>(), ElementType::of::<Complex<f64>>()] {
            assert_eq!(CType::of_element(element).element(), Some(element));
        }
        assert_eq!(CType::of::<Complex<f64>>(), Some(CType::of_element(ElementType::of::<Complex<f64>>())));
        assert_eq!(CType::of::<u32>().and_then(CType::element), None);
    }
}
