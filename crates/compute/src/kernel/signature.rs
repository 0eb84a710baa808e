//! The parameters of a kernel, by the report of its compiler.
//!
//! A kernel declares its parameters once, in its text. Programs are built with
//! `-cl-kernel-arg-info`, so that drivers tell name, type and address space of each parameter.
//! The report is kept beside the binary of the program, for drivers that forget it in binaries.

use super::element_type::CType;
use opencl3::error_codes::{CL_KERNEL_ARG_INFO_NOT_AVAILABLE, ClError};
use opencl3::kernel::{
    CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ADDRESS_PRIVATE,
    CL_KERNEL_ARG_TYPE_CONST, Kernel as RawKernel,
};
use opencl3::types::cl_uint;
use std::fmt;
use std::sync::Arc;

/// The kind of a parameter, which says the kind of argument that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `__global const T *name`.
    Input,
    /// `__global T *name`.
    Output,
    /// `__local T *name`.
    Local,
    /// `T name`.
    Value,
    /// `__read_only image2d_t name`.
    Image,
    /// `__constant T *name`, which no argument is for.
    Constant,
}

/// The kinds and their words beside a binary.
const KINDS: [(Kind, &str); 6] = [
    (Kind::Input, "input"),
    (Kind::Output, "output"),
    (Kind::Local, "local"),
    (Kind::Value, "value"),
    (Kind::Image, "image"),
    (Kind::Constant, "constant"),
];

/// One parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub name: Arc<str>,
    pub kind: Kind,
    /// The type, or `None` for types that are no scalars or vectors of OpenCL.
    pub ctype: Option<CType>,
    /// `true` if the next position of the kernel is the offset, `ulong name_offset`.
    ///
    /// The offset counts elements.
    pub with_offset: bool,
}

impl Parameter {
    /// Returns the number of positions for this parameter: 2 for views.
    pub fn positions(&self) -> usize {
        1 + usize::from(self.with_offset)
    }

    /// Asks the driver about one position; `None` if the driver cannot tell.
    fn query(raw: &RawKernel, position: cl_uint) -> Result<Option<Self>, ClError> {
        let ask = || {
            let name = raw.get_arg_name(position)?;
            let type_name = raw.get_arg_type_name(position)?;
            let constant = raw.get_arg_type_qualifier(position)? & u64::from(CL_KERNEL_ARG_TYPE_CONST) != 0;
            let address = raw.get_arg_address_qualifier(position)?;
            let kind = match address {
                // Drivers differ in the address space that they tell of images.
                _ if type_name.contains("image2d") => Kind::Image,
                CL_KERNEL_ARG_ADDRESS_GLOBAL if constant => Kind::Input,
                CL_KERNEL_ARG_ADDRESS_GLOBAL => Kind::Output,
                CL_KERNEL_ARG_ADDRESS_LOCAL => Kind::Local,
                CL_KERNEL_ARG_ADDRESS_PRIVATE => Kind::Value,
                _ => Kind::Constant,
            };
            let ctype = CType::parse(&type_name);
            Ok(Self { name: name.into(), kind, ctype, with_offset: false })
        };
        match ask() {
            // Without the name nothing else can be trusted: some drivers answer with blanks for
            // binaries.
            Ok(parameter) => Ok(Some(parameter).filter(|p: &Self| !p.name.is_empty())),
            Err(ClError(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns `true` if this is the offset of the memory that stands before it.
    fn is_offset_of(&self, memory: &Self) -> bool {
        matches!(memory.kind, Kind::Input | Kind::Output)
            && self.kind == Kind::Value
            && self.ctype == Some(CType { scalar: "ulong", components: 1 })
            && self.name.strip_suffix("_offset") == Some(&*memory.name)
    }

    /// Reads a parameter that [`Signature`] has written.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(',');
        let [name, kind, ctype, view] = std::array::from_fn(|_| words.next());
        let (kind, _) = KINDS.iter().find(|(_, word)| Some(*word) == kind)?;
        let ctype = match ctype? {
            "" => None,
            name => Some(CType::parse(name)?),
        };
        let with_offset = match view? {
            "whole" => false,
            "view" => true,
            _ => return None,
        };
        let name = name.filter(|name| !name.is_empty())?.into();
        words.next().is_none().then_some(Self { name, kind: *kind, ctype, with_offset })
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.with_offset { "view" } else { "buffer" };
        match self.kind {
            Kind::Input | Kind::Output => write!(f, "{what}")?,
            Kind::Local => f.write_str("local memory")?,
            Kind::Value => f.write_str("value")?,
            Kind::Image => return f.write_str("image to read"),
            Kind::Constant => f.write_str("constant memory")?,
        }
        match self.ctype {
            Some(ctype) => write!(f, " of {ctype}")?,
            None => f.write_str(" of another type")?,
        }
        match self.kind {
            Kind::Input => f.write_str(" to read"),
            Kind::Output => f.write_str(" to write"),
            _ => Ok(()),
        }
    }
}

/// The parameters of a kernel in the order of its text.
///
/// A pointer `x` that is followed by `ulong x_offset` is one parameter, a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature(Arc<[Parameter]>);

impl Signature {
    /// Asks the driver for the parameters of a kernel; `None` if the driver cannot tell them.
    pub fn query(raw: &RawKernel) -> Result<Option<Self>, ClError> {
        let mut parameters: Vec<Parameter> = Vec::new();
        for position in 0..raw.num_args()? {
            let Some(parameter) = Parameter::query(raw, position)? else { return Ok(None) };
            match parameters.last_mut() {
                Some(memory) if parameter.is_offset_of(memory) => memory.with_offset = true,
                _ => parameters.push(parameter),
            }
        }
        Ok(Some(Self(parameters.into())))
    }

    /// Returns the parameters.
    pub fn parameters(&self) -> &[Parameter] {
        &self.0
    }

    /// Returns the number of positions in the kernel.
    pub fn positions(&self) -> usize {
        self.0.iter().map(Parameter::positions).sum()
    }
}

/// The signatures of a program's kernels, by the names of the kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signatures(Vec<(String, Signature)>);

impl Signatures {
    /// Returns the signature of a kernel, if there is one.
    pub(super) fn get(&self, kernel: &str) -> Option<&Signature> {
        self.0.iter().find(|(name, _)| name == kernel).map(|(_, signature)| signature)
    }

    /// Adds the signature of a kernel.
    pub(super) fn push(&mut self, kernel: &str, signature: Signature) {
        self.0.push((kernel.to_owned(), signature));
    }

    /// Reads what [`Display`](fmt::Display) has written; `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let signature = |line: &str| {
            let mut words = line.split(' ');
            let kernel = words.next().filter(|name| !name.is_empty())?;
            let parameters: Option<Vec<Parameter>> = words.map(Parameter::parse).collect();
            Some((kernel.to_owned(), Signature(parameters?.into())))
        };
        text.lines().map(signature).collect::<Option<_>>().map(Self)
    }
}

impl fmt::Display for Signatures {
    /// Writes a line for each kernel: its name, then its parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kernel, signature) in &self.0 {
            f.write_str(kernel)?;
            for Parameter { name, kind, ctype, with_offset } in signature.parameters() {
                let (_, kind) = KINDS.iter().find(|(known, _)| known == kind).expect("all kinds are listed");
                let ctype = ctype.map(|ctype| ctype.to_string()).unwrap_or_default();
                let view = if *with_offset { "view" } else { "whole" };
                write!(f, " {name},{kind},{ctype},{view}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, kind: Kind, ctype: &str, with_offset: bool) -> Parameter {
        Parameter { name: name.into(), kind, ctype: CType::parse(ctype), with_offset }
    }

    #[test]
    fn signatures_come_back_from_their_text() {
        let mut signatures = Signatures::default();
        let all = [
            parameter("x", Kind::Input, "double2", true),
            parameter("y", Kind::Output, "float", false),
            parameter("own", Kind::Local, "uint", false),
            parameter("ratios", Kind::Value, "uint4", false),
            parameter("table", Kind::Image, "image2d_t", false),
            parameter("fixed", Kind::Constant, "char", false),
        ];
        signatures.push("all", Signature(all.into()));
        signatures.push("none", Signature([].into()));
        let text = signatures.to_string();
        assert_eq!(text.lines().last(), Some("none"));
        assert_eq!(Signatures::parse(&text), Some(signatures));
        assert_eq!(Signatures::parse(""), Some(Signatures::default()));
        for damaged in [
            " x,input,double,view",
            "all x",
            "all x,input,double",
            "all x,input,double,part",
            "all x,input,doble,view",
            "all x,output,double,view,",
            "all ,value,double,whole",
            "all  x,input,double,view",
        ] {
            assert_eq!(Signatures::parse(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn an_offset_is_a_ulong_behind_the_memory_that_it_is_named_after() {
        let memory = parameter("x", Kind::Input, "double", false);
        assert!(parameter("x_offset", Kind::Value, "ulong", false).is_offset_of(&memory));
        for other in [
            parameter("y_offset", Kind::Value, "ulong", false),
            parameter("x_offset", Kind::Value, "uint", false),
            parameter("x_offset", Kind::Value, "ulong2", false),
            parameter("x_offset", Kind::Output, "ulong", false),
        ] {
            assert!(!other.is_offset_of(&memory), "{other}");
        }
        let own = parameter("x", Kind::Local, "double", false);
        assert!(!parameter("x_offset", Kind::Value, "ulong", false).is_offset_of(&own));
    }

    #[test]
    fn parameters_are_told_in_words() {
        for (parameter, words) in [
            (parameter("x", Kind::Input, "double2", true), "view of double2 to read"),
            (parameter("x", Kind::Output, "float", false), "buffer of float to write"),
            (parameter("x", Kind::Value, "struct s", false), "value of another type"),
            (parameter("x", Kind::Local, "uint", false), "local memory of uint"),
            (parameter("x", Kind::Image, "image2d_t", false), "image to read"),
        ] {
            assert_eq!(parameter.to_string(), words);
        }
    }
}
