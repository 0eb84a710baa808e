//! Text that sees the numbers of a transform on their way.

/// What a kernel of lines does with numbers while it reads them, or between transform and inverse.
///
/// The text is OpenCL C. It stands in front of the kernel and defines macros. Three must be there:
///
/// * `CALLBACK_PARAMETERS`: further parameters of the kernel, a comma before each.
/// * `CALLBACK_BEGIN`: declarations of each work-item.
/// * `CALLBACK_END(scratch)`: statements that every work-item comes to at the end. `scratch` is local
///   memory for doubles.
///
/// Two are of use, and one of them at least is defined:
///
/// * `LOADED(line, k, re, im)`: a statement for each number that is read. For rows in pairs `line` is
///   the number of the pair, `re` is element `k` of row `2 * line`, and `im` that of the next row if
///   this is less than `singles`.
/// * `MULTIPLY(line, k, re, im)`: a statement that changes component `k` of a spectrum. The kernel then
///   transforms back, without a factor. `lines` is the number of lines.
#[derive(Clone, Debug)]
pub struct Callback {
    /// The text.
    pub text: String,
    /// Doubles of local memory that the end takes for each work-item.
    pub doubles: usize,
}
