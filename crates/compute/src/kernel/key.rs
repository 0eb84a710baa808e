//! The key of a compiled program.

use crate::error::{DeviceError, Result};
use crate::scalar::{Element, ElementType, Precision, Real};
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Text that stands before every source.
const PRELUDE: &str = include_str!("../../cl/common.cl");

/// A family of kernels: a name and OpenCL C text, without the common prelude.
///
/// ```ignore
/// const LEVEL1: KernelFamily =
///     KernelFamily::new("level1", &[include_str!("../cl/reduction.cl"), include_str!("../cl/level1.cl")]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFamily {
    name: &'static str,
    sources: &'static [&'static str],
}

impl KernelFamily {
    /// Makes a family of this name, whose text is `sources` one after another.
    ///
    /// # Safety
    /// Launches check the arguments, not what a kernel does with them. The kernels must stay inside
    /// of their arguments and must not race, for all arguments and ranges of their launches.
    /// Kernels on a processor run in this process.
    pub const unsafe fn trusted(name: &'static str, sources: &'static [&'static str]) -> Self {
        Self::new(name, sources)
    }

    /// Makes a family of this workspace, whose kernels are checked under Oclgrind.
    ///
    /// All other families are [`trusted`](Self::trusted).
    #[doc(hidden)]
    pub const fn new(name: &'static str, sources: &'static [&'static str]) -> Self {
        Self { name, sources }
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the prelude and the sources as one text.
    pub fn flattened(&self) -> String {
        let mut text = PRELUDE.to_owned();
        for source in self.sources {
            text.push('\n');
            text.push_str(source);
        }
        text
    }
}

impl Hash for KernelFamily {
    /// Hashes the name, which spreads the keys well enough.
    ///
    /// Equality looks at the text too.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// More text of a program, which stands behind the text of its family.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SourceFragment {
    name: &'static str,
    text: Cow<'static, str>,
}

impl Hash for SourceFragment {
    /// Hashes the name, which spreads the keys well enough.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// The family, the parts and the specialisation of a program.
///
/// Family, parts and specialisation decide everything that a program does.
///
/// The key finds the programs in memory and, together with the device, the programs on disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelKey {
    family: KernelFamily,
    parts: Vec<SourceFragment>,
    precision: Precision,
    complex: bool,
    lanes: usize,
    definitions: Vec<(&'static str, String)>,
    max_registers: Option<u32>,
}

impl KernelKey {
    /// Makes a key for real numbers of the given precision.
    ///
    /// The key has one lane and no further definitions.
    pub fn new(family: KernelFamily, precision: Precision) -> Self {
        Self {
            family,
            parts: Vec::new(),
            precision,
            complex: false,
            lanes: 1,
            definitions: Vec::new(),
            max_registers: None,
        }
    }

    /// Specialises the key for the precision of `T`.
    pub fn of_real<T: Real>(family: KernelFamily) -> Self {
        Self::new(family, T::PRECISION)
    }

    /// Specialises the key for vectors of elements of a type.
    pub fn of(family: KernelFamily, element: ElementType) -> Self {
        Self { complex: element.complex, ..Self::new(family, element.precision) }
    }

    /// Specialises the key for vectors of `T`, real or complex.
    pub fn of_element<T: Element>(family: KernelFamily) -> Self {
        Self::of(family, ElementType::of::<T>())
    }

    /// Makes the elements complex, or real.
    pub fn complex(self, complex: bool) -> Self {
        Self { complex, ..self }
    }

    /// Sets the number of lanes of a vector (1, 2, 4, 8 or 16).
    pub fn lanes(self, lanes: usize) -> Self {
        Self { lanes, ..self }
    }

    /// Adds a definition, `-D name=value`. The order of definitions is part of the key.
    pub fn define(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.definitions.push((name, value.to_string()));
        self
    }

    /// Adds text of this workspace behind the text of the family and of earlier parts.
    ///
    /// `name` is for people.
    #[doc(hidden)]
    pub fn part(mut self, name: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        self.parts.push(SourceFragment { name, text: text.into() });
        self
    }

    /// Sets the largest number of registers for a work-item.
    ///
    /// Only devices that [can be told](crate::Device::supports_register_limit) obey it.
    pub fn max_registers(self, count: u32) -> Self {
        Self { max_registers: Some(count), ..self }
    }

    /// Returns the family.
    pub fn family(&self) -> &KernelFamily {
        &self.family
    }

    /// Returns the text for the compiler: prelude, family's sources and parts.
    pub(super) fn source(&self) -> String {
        let mut text = self.family.flattened();
        for part in &self.parts {
            text.push('\n');
            text.push_str(&part.text);
        }
        text
    }

    /// Returns the compiler's options for this key.
    ///
    /// The options are the language, argument names and definitions. The definitions are `REAL`,
    /// `REAL_BITS`, `IS_COMPLEX`, `LANES`, and the key's own.
    ///
    /// # Errors
    /// [`DeviceError::InvalidDefinition`] if a definition would not reach the compiler as one word.
    pub(super) fn options(&self) -> Result<String> {
        let mut options = format!(
            "-cl-std=CL1.2 -cl-kernel-arg-info -D REAL={} -D REAL_BITS={} -D IS_COMPLEX={} -D LANES={}",
            self.precision.opencl_name(),
            self.precision.bits(),
            u8::from(self.complex),
            self.lanes
        );
        for (name, value) in &self.definitions {
            let identifier = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && !name.is_empty();
            let word =
                !value.is_empty() && value.chars().all(|c| c.is_ascii_graphic() && !"\"'`\\;$".contains(c));
            if !identifier || !word {
                return Err(DeviceError::InvalidDefinition { definition: format!("{name}={value}") });
            }
            options.push_str(&format!(" -D {name}={value}"));
        }
        if let Some(count) = self.max_registers {
            options.push_str(&format!(" -cl-nv-maxrregcount={count}"));
        }
        Ok(options)
    }
}

impl fmt::Display for KernelKey {
    /// Writes the key, for example `level1 complex double lanes=8 LOCAL_SIZE=1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.complex { "complex" } else { "real" };
        f.write_str(self.family.name)?;
        self.parts.iter().try_for_each(|part| write!(f, "+{}", part.name))?;
        write!(f, " {kind} {} lanes={}", self.precision, self.lanes)?;
        self.definitions.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))?;
        self.max_registers.map_or(Ok(()), |count| write!(f, " registers<={count}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    const FAMILY: KernelFamily = KernelFamily::new("family", &["kernel void a() {}", "kernel void b() {}"]);

    #[test]
    fn a_key_names_everything_that_specialises() {
        let key = KernelKey::of_element::<Complex<f64>>(FAMILY).lanes(8).define("LOCAL_SIZE", 4);
        assert_eq!(key.to_string(), "family complex double lanes=8 LOCAL_SIZE=4");
        let options = key.options().unwrap();
        for option in
            ["-D REAL=double", "-D REAL_BITS=64", "-D IS_COMPLEX=1", "-D LANES=8", "-D LOCAL_SIZE=4"]
        {
            assert!(options.contains(option), "{options}");
        }
        assert_ne!(key, key.clone().lanes(4));
        assert_ne!(key, key.clone().define("MORE", 1));
    }

    #[test]
    fn the_source_is_one_text_with_the_prelude_first() {
        let text = FAMILY.flattened();
        assert!(text.starts_with(PRELUDE));
        assert!(text.ends_with("kernel void a() {}\nkernel void b() {}"));
    }

    #[test]
    fn parts_stand_behind_the_family() {
        let key = KernelKey::new(FAMILY, Precision::Single).part("more", "kernel void c() {}");
        assert_eq!(key.to_string(), "family+more real single lanes=1");
        assert!(key.source().ends_with("kernel void b() {}\nkernel void c() {}"));
        assert_ne!(key, KernelKey::new(FAMILY, Precision::Single).part("more", "kernel void d() {}"));
    }

    #[test]
    fn definitions_must_be_one_word() {
        for (name, value) in
            [("A", "1 2"), ("A", "\"x\""), ("A", ""), ("1A", "1"), ("A-B", "1"), ("A", "x\0")]
        {
            let error = KernelKey::new(FAMILY, Precision::Single).define(name, value).options().unwrap_err();
            assert!(matches!(error, DeviceError::InvalidDefinition { .. }), "{error}");
        }
    }
}
