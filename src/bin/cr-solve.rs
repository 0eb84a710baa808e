//! cr-solve.
fn main() {}
