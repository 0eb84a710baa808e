//! The state of a solve between two iterations: to be kept, and to go on from.

use crate::{LinearOperator, ScalarOf, VectorOf};
use num_complex::Complex64;
use std::borrow::Cow;
use std::time::Duration;

/// All that a method knows between two iterations, by name. Values of the same name are a list, in its order.
///
/// A solve that goes on from a state, with the same operator, source and parameters, takes the very steps that the solve would have taken which
/// the state is of: the same bits, if the operations of its space give the same bits each time.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverState<V> {
    /// The method.
    pub method: Name,
    /// Its vectors.
    pub vectors: Vec<(Name, V)>,
    /// Its scalars: results of inner products, or what follows from such.
    pub scalars: Vec<(Name, Complex64)>,
    /// Other numbers.
    pub numbers: Vec<(Name, f64)>,
    /// Numbers of iterations and of other things.
    pub counts: Vec<(Name, u64)>,
    /// Relative residual by the recurrence, before the first iteration and after each.
    pub history: Vec<f64>,
}

/// The count that says how long a solve has taken.
pub(crate) const NANOSECONDS: &str = "nanoseconds";

/// A name in a state.
pub type Name = Cow<'static, str>;

/// The state to go on from is not one that the method can go on from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state to go on from is of {found}, and {method} needs {needed}; start without it")]
pub struct ForeignState {
    /// The method that was to go on.
    pub method: &'static str,
    /// What it needs.
    pub needed: String,
    /// The method that the state is of.
    pub found: String,
}

/// What the state of a method has beside that of every method.
pub(crate) struct Names<const V: usize, const S: usize, const N: usize> {
    pub method: &'static str,
    pub vectors: [&'static str; V],
    pub scalars: [&'static str; S],
    pub numbers: [&'static str; N],
}

/// What a method goes on from.
pub(crate) struct Resumed<A: LinearOperator, const V: usize, const S: usize, const N: usize> {
    pub vectors: [VectorOf<A>; V],
    pub scalars: [ScalarOf<A>; S],
    pub numbers: [f64; N],
}

impl<T> SolverState<T> {
    /// Time in the method until then.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.count(NANOSECONDS).unwrap_or(0))
    }

    /// The vectors of these names, which are no longer in the state then.
    pub(crate) fn vectors<const V: usize>(&mut self, names: [&'static str; V]) -> Result<[T; V], Missing> {
        let mut found = Vec::with_capacity(V);
        for name in names {
            let position = self.vectors.iter().position(|(own, _)| own == name).ok_or(Missing(name))?;
            found.push(self.vectors.swap_remove(position).1);
        }
        found.try_into().map_err(|_| Missing("as many vectors as names"))
    }

    pub(crate) fn scalar(&self, name: &'static str) -> Result<Complex64, Missing> {
        value(&self.scalars, name)
    }

    pub(crate) fn number(&self, name: &'static str) -> Result<f64, Missing> {
        value(&self.numbers, name)
    }

    /// The scalars of this name, which must be so many.
    pub(crate) fn scalars(&self, name: &'static str, count: usize) -> Result<Vec<Complex64>, Missing> {
        list(&self.scalars, name, count)
    }

    /// The numbers of this name, which must be so many.
    pub(crate) fn numbers(&self, name: &'static str, count: usize) -> Result<Vec<f64>, Missing> {
        list(&self.numbers, name, count)
    }

    pub(crate) fn count(&self, name: &'static str) -> Result<u64, Missing> {
        value(&self.counts, name)
    }
}

/// What a state does not have.
pub(crate) struct Missing(pub &'static str);

fn value<T: Copy>(values: &[(Name, T)], name: &'static str) -> Result<T, Missing> {
    values.iter().find(|(own, _)| own == name).map(|(_, value)| *value).ok_or(Missing(name))
}

fn list<T: Copy>(values: &[(Name, T)], name: &'static str, count: usize) -> Result<Vec<T>, Missing> {
    let list: Vec<T> = values.iter().filter(|(own, _)| own == name).map(|(_, value)| *value).collect();
    if list.len() == count { Ok(list) } else { Err(Missing(name)) }
}

/// Values with their names, as a state has them.
pub(crate) fn named_values<T>(values: impl IntoIterator<Item = (&'static str, T)>) -> Vec<(Name, T)> {
    values.into_iter().map(|(name, value)| (name.into(), value)).collect()
}
