//! The ending of a stencil: twin of `cl/stencil/ending_….cl`.

use super::{Cost, KernelPart};
use crate::compute::KernelKey;
use std::cell::OnceCell;

/// The operand of an ending, besides the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// A field to multiply with.
    Field,
    /// The number that multiplies the result.
    Multiple,
    /// The matrix that multiplies the results.
    Matrix,
}

/// The sums that an ending makes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Makes {
    Nothing,
    /// Numbers that stay on the device.
    ///
    /// The numbers are the norm of the stored spinors and, with a field, the product with that
    /// field.
    Numbers,
    /// The Gram matrix of the stored columns.
    Gram,
}

/// The properties of an ending.
pub(super) struct Row {
    name: &'static str,
    text: &'static str,
    pub takes: Takes,
    pub makes: Makes,
    /// `true` if the result is subtracted from the stored field.
    ///
    /// Otherwise the result replaces the stored field.
    subtracts: bool,
}

/// Makes the type of endings, from one row for each.
///
/// A row has a name, a text in `cl/stencil/`, the operand, the sums, and `true` if it subtracts.
macro_rules! endings {
    ($( $(#[$doc:meta])* $Ending:ident: $name:literal, $file:literal, $takes:ident, $makes:ident, $subtracts:literal; )*) => {
        /// The treatment of a stencil's result.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
        pub enum Ending {
            $( $(#[$doc])* $Ending, )*
        }

        impl Ending {
            const COUNT: usize = [$( Ending::$Ending ),*].len();

            pub(super) fn row(self) -> Row {
                match self {
                    $( Ending::$Ending => Row {
                        name: $name,
                        text: include_str!(concat!("../../../../cl/stencil/", $file)),
                        takes: Takes::$takes,
                        makes: Makes::$makes,
                        subtracts: $subtracts,
                    }, )*
                }
            }
        }
    };
}

endings! {
    /// The result is stored. For any number of columns.
    #[default]
    Store: "store", "ending_store.cl", Nothing, Nothing, false;
    /// The result is stored, and its norm summed up. For one column.
    Norm2: "norm2", "ending_norm2.cl", Nothing, Numbers, false;
    /// The result is stored. Its norm and its product with a field are summed up.
    ///
    /// For one column.
    Products: "products", "ending_products.cl", Field, Numbers, false;
    /// A multiple of the result is subtracted from the stored field.
    ///
    /// The norm of the difference is summed up. For one column.
    Subtract: "subtract", "ending_subtract.cl", Multiple, Numbers, true;
    /// The result is stored, and its Gram matrix summed up. For several columns.
    Gram: "gram", "ending_columns.cl", Nothing, Gram, false;
    /// The result times a matrix is subtracted from the stored columns.
    ///
    /// The Gram matrix of the difference is summed up. For several columns.
    SubtractColumns: "subtract_columns", "ending_columns.cl", Matrix, Gram, true;
}

impl Ending {
    /// Tells whether the ending is one for several columns.
    ///
    /// Devices take such an ending in double, in one lane, and for an even number of columns from 4
    /// to 12. Such an ending is fast on devices that have matrix units.
    pub fn is_of_block(self) -> bool {
        self.row().makes == Makes::Gram
    }

    /// Tells whether the ending takes this number of columns.
    pub(crate) fn is_for(self, columns: usize) -> bool {
        match self.row().makes {
            Makes::Nothing => columns > 0,
            Makes::Numbers => columns == 1,
            Makes::Gram => columns > 1,
        }
    }

    /// Tells whether the ending subtracts from the stored field.
    pub(crate) fn subtracts(self) -> bool {
        self.row().subtracts
    }
}

/// A value for each ending, made at its first use.
pub(crate) struct ByEnding<S>([OnceCell<Box<S>>; Ending::COUNT]);

impl<S> Default for ByEnding<S> {
    fn default() -> Self {
        Self(Default::default())
    }
}

impl<S> ByEnding<S> {
    pub fn get<E>(&self, ending: Ending, make: impl FnOnce() -> Result<S, E>) -> Result<&S, E> {
        let cell = &self.0[ending as usize];
        if let Some(made) = cell.get() {
            return Ok(made);
        }
        let made = Box::new(make()?);
        Ok(cell.get_or_init(|| made))
    }
}

impl KernelPart for Ending {
    fn add_to(&self, key: KernelKey) -> KernelKey {
        let Row { name, text, makes, subtracts, .. } = self.row();
        if makes != Makes::Gram {
            return key.part(name, text);
        }
        key.define("SUBTRACT_COLUMNS", u8::from(subtracts))
            .part("quads", include_str!("../../../../cl/quads.cl"))
            .part("fragments", include_str!("../../../../cl/fragments.cl"))
            .part(name, text)
    }

    /// Counts 48 flops for a norm, and 96 for a product or a subtraction.
    ///
    /// Each column adds 96 flops for a product with a matrix, and 48 for a Gram matrix. Only half
    /// of a Gram matrix is computed.
    fn cost(&self, columns: usize) -> Cost {
        let Row { takes, makes, subtracts, .. } = self.row();
        let columns = columns as u64;
        let of_sums = match makes {
            Makes::Nothing => 0,
            Makes::Numbers => 48,
            Makes::Gram => 48 * (columns + 1),
        };
        let of_operand = match takes {
            Takes::Nothing => 0,
            Takes::Field | Takes::Multiple => 96,
            Takes::Matrix => 96 * columns,
        };
        let spinors = usize::from(takes == Takes::Field) + usize::from(subtracts);
        Cost { flops: of_sums + of_operand, spinors, blocks: Vec::new() }
    }
}
