//! The ending of a stencil: twin of `cl/stencil/ending_….cl`.

use super::{Cost, KernelPart};
use crate::device::{KernelKey, Number, Parameter, Reduction};
use crate::scalar::Storage;
use std::cell::OnceCell;

/// What an ending takes besides the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// A field to multiply with.
    Field,
    /// The factor of the result.
    Multiple,
    /// The matrix that multiplies the results.
    Matrix,
}

/// What an ending sums up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Makes {
    Nothing,
    /// Numbers that stay on the device: the norm of what is stored, and with a field the product with it.
    Numbers,
    /// The Gram matrix of what is stored.
    Gram,
}

/// The row of an ending.
pub(super) struct Row {
    name: &'static str,
    text: &'static str,
    pub takes: Takes,
    pub makes: Makes,
    /// Whether the result is taken from what is stored, or takes its place.
    subtracts: bool,
}

/// Makes the type of endings of a row for each: the text in `cl/stencil/`, what it takes, what it makes, what it does.
macro_rules! endings {
    ($( $(#[$doc:meta])* $Ending:ident: $name:literal, $file:literal, $takes:ident, $makes:ident, $subtracts:literal; )*) => {
        /// What becomes of a stencil's result.
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
    /// It is stored. For any number of columns.
    #[default]
    Store: "store", "ending_store.cl", Nothing, Nothing, false;
    /// It is stored, and its norm summed up. For one source.
    Norm2: "norm2", "ending_norm2.cl", Nothing, Numbers, false;
    /// It is stored, and its product with a field and its norm are summed up. For one source.
    Products: "products", "ending_products.cl", Field, Numbers, false;
    /// A multiple of it is subtracted from what is stored, and the norm of the difference summed up. For one source.
    Subtract: "subtract", "ending_subtract.cl", Multiple, Numbers, true;
    /// It is stored, and its Gram matrix summed up. For several columns.
    Gram: "gram", "ending_columns.cl", Nothing, Gram, false;
    /// Its product with a matrix is subtracted from what is stored, and the Gram matrix of the difference summed up. For several columns.
    SubtractColumns: "subtract_columns", "ending_columns.cl", Matrix, Gram, true;
}

impl Ending {
    /// Whether it is one for several columns.
    ///
    /// Devices take it in double, in one lane, and for an even number of columns from 4 to 12. It is fast where they have
    /// matrix units.
    pub fn is_of_block(self) -> bool {
        self.row().makes == Makes::Gram
    }

    /// Whether it is one for so many columns.
    pub(crate) fn is_for(self, columns: usize) -> bool {
        match self.row().makes {
            Makes::Nothing => columns > 0,
            Makes::Numbers => columns == 1,
            Makes::Gram => columns > 1,
        }
    }

    /// Whether it takes something from what is stored.
    pub(crate) fn subtracts(self) -> bool {
        self.row().subtracts
    }
}

/// Something for each ending, made when it is wanted first.
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

    fn parameters<T: Storage>(&self) -> Vec<Parameter> {
        let Row { takes, makes, .. } = self.row();
        let mut parameters = match takes {
            Takes::Nothing => Vec::new(),
            Takes::Field => vec![Parameter::input::<T::Stored>("against")],
            Takes::Multiple => {
                let number = Number::parameters(["a_re", "a_im", "a_ratios"]);
                std::iter::once(Number::memory_parameter()).chain(number).collect()
            }
            Takes::Matrix => vec![Parameter::input::<f64>("matrix")],
        };
        match makes {
            Makes::Nothing => {}
            Makes::Numbers => parameters.extend(Reduction::parameters()),
            Makes::Gram => parameters.push(Parameter::output::<f64>("partials")),
        }
        parameters
    }

    /// 48 flops for a norm, and 96 for a product or a subtraction; for each column 96 for a product with a matrix, and 48 for a
    /// Gram matrix, of which half is made.
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
