//! The fused updates of the methods of this crate.
//!
//! In the formulas x is a solution, r a residual, p a direction, q its image A p.

use super::{Formula, FusedUpdate};

/// Makes a constant of each row, and a list of all formulas.
macro_rules! updates {
    ($( $(#[$doc:meta])* $NAME:ident: $Counts:ty = $name:literal, $text:literal; )*) => {
        $(
            $(#[$doc])*
            ///
            #[doc = concat!("`", $text, "`")]
            pub const $NAME: $Counts = FusedUpdate::new($name, $text);
        )*

        /// The formulas of all updates above. Devices compile their kernels together.
        pub static ALL: &[Formula] = &[$( *$NAME.formula() ),*];
    };
}

updates! {
    /// A multiple of a vector is added to another.
    AXPY: FusedUpdate<1, 1, 1, 0> = "axpy", "y = y + a x";
    /// A vector becomes a multiple of itself plus another.
    XPBY: FusedUpdate<1, 1, 1, 0> = "xpby", "y = x + b y";
    /// The inner product.
    DOT: FusedUpdate<0, 2, 0, 1> = "inner_product", "(x, y)";
    /// The squared norm.
    NORM2: FusedUpdate<0, 1, 0, 1> = "norm2", "(x, x)";
    /// The residual after a step, and its norm.
    RESIDUAL: FusedUpdate<1, 1, 1, 1> = "residual", "r = r - a q; (r, r)";
    /// Solution and residual after a step, and the norm of the residual.
    SOLUTION_AND_RESIDUAL: FusedUpdate<1, 2, 2, 1> =
        "solution_and_residual", "x = x + a p; r = r - a q; (r, r)";
    /// The solution after a step, and the next direction.
    SOLUTION_AND_DIRECTION: FusedUpdate<2, 1, 2, 0> = "solution_and_direction", "x = x + a p; p = r + b p";
    /// The next direction and its image, with the sums that the next step needs.
    DIRECTION_AND_IMAGE: FusedUpdate<1, 2, 2, 2> =
        "direction_and_image", "p = r + b p; q = s + b q; (r, q), (q, q)";
    /// The solution after a step, the next direction and its image.
    ///
    /// The update also has the sums that the next step needs.
    SOLUTION_DIRECTION_AND_IMAGE: FusedUpdate<2, 2, 3, 2> =
        "solution_direction_and_image", "x = x + a p; p = r + b p; q = s + b q; (r, q), (q, q)";
    /// Solution and residual after the two steps of BiCGStab.
    ///
    /// The update also has the sums that the next direction needs.
    BICGSTAB_SOLUTION_AND_RESIDUAL: FusedUpdate<2, 3, 2, 2> =
        "bicgstab_solution_and_residual", "x = x + a p + b r; r = r - b t; (q, r), (r, r)";
    /// A step of a smoother along its residual.
    SMOOTHING_STEP: FusedUpdate<1, 1, 2, 0> = "smoothing_step", "x = x + a r; r = r - a q";
    /// The next direction of BiCGStab.
    BICGSTAB_DIRECTION: FusedUpdate<2, 2, 1, 0> = "bicgstab_direction", "p = p - a v; p = r + b p";
}
