//! The state of a solve between two iterations: to be kept, and to go on from.

use crate::VectorSpace;
use num_complex::Complex64;
use std::borrow::Cow;
use std::time::Duration;

/// All that a method knows between two iterations, by name.
///
/// Values of the same name are a list, in its order. A solve may go on from a state, with the same
/// operator, right-hand side and parameters. It takes the steps that the kept solve would have
/// taken. The bits are equal if the operations of the space give the same bits each time.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverState<V> {
    /// The method.
    pub method: Name,
    /// Vectors of the method.
    pub vectors: Vec<(Name, V)>,
    /// Scalars of the method.
    ///
    /// They are results of inner products, or follow from such results.
    pub scalars: Vec<(Name, Complex64)>,
    /// Other numbers.
    pub numbers: Vec<(Name, f64)>,
    /// Numbers of iterations and of other things.
    pub counts: Vec<(Name, u64)>,
    /// Relative residual by the recurrence, before the first iteration and after each.
    pub history: Vec<f64>,
}

/// Name of the count that says how long a solve has taken.
pub(crate) const NANOSECONDS: &str = "nanoseconds";

/// A name in a state.
pub type Name = Cow<'static, str>;

/// The method cannot go on from the given state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state to go on from is of {found}, and {method} needs {needed}; start without it")]
pub struct ForeignState {
    /// The method that was to go on.
    pub method: &'static str,
    /// The parts that the method needs.
    pub needed: String,
    /// The method of the state.
    pub found: String,
}

/// Names of the parts of a method's state, beside the parts of all methods.
pub(crate) struct Names<const V: usize, const S: usize, const N: usize> {
    pub method: &'static str,
    pub vectors: [&'static str; V],
    pub scalars: [&'static str; S],
    pub numbers: [&'static str; N],
}

/// [`Names`] whatever their counts are.
#[derive(Clone, Copy)]
pub(crate) struct NameLists<'a> {
    pub method: &'static str,
    pub vectors: &'a [&'static str],
    pub scalars: &'a [&'static str],
    pub numbers: &'a [&'static str],
}

impl<const V: usize, const S: usize, const N: usize> Names<V, S, N> {
    pub fn lists(&self) -> NameLists<'_> {
        let Self { method, vectors, scalars, numbers } = self;
        NameLists { method, vectors, scalars, numbers }
    }
}

/// The parts that a method goes on from.
pub(crate) struct Resumed<S: VectorSpace, const V: usize, const K: usize, const N: usize> {
    pub vectors: [S::Vector; V],
    pub scalars: [S::Scalar; K],
    pub numbers: [f64; N],
}

impl<T> SolverState<T> {
    /// Returns the time in the method until the state.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.count(NANOSECONDS).unwrap_or(0))
    }

    /// Removes the vector of this name from the state and returns it.
    pub(crate) fn vector(&mut self, name: &'static str) -> Result<T, Missing> {
        let position = self.vectors.iter().position(|(own, _)| own == name).ok_or(Missing(name))?;
        Ok(self.vectors.swap_remove(position).1)
    }

    pub(crate) fn scalar(&self, name: &'static str) -> Result<Complex64, Missing> {
        value(&self.scalars, name)
    }

    pub(crate) fn number(&self, name: &'static str) -> Result<f64, Missing> {
        value(&self.numbers, name)
    }

    /// Returns the scalars of this name, `count` of them.
    pub(crate) fn scalars(&self, name: &'static str, count: usize) -> Result<Vec<Complex64>, Missing> {
        list(&self.scalars, name, count)
    }

    /// Returns the numbers of this name, `count` of them.
    pub(crate) fn numbers(&self, name: &'static str, count: usize) -> Result<Vec<f64>, Missing> {
        list(&self.numbers, name, count)
    }

    pub(crate) fn count(&self, name: &'static str) -> Result<u64, Missing> {
        value(&self.counts, name)
    }
}

/// The name of a part that a state does not have.
pub(crate) struct Missing(pub &'static str);

fn value<T: Copy>(values: &[(Name, T)], name: &'static str) -> Result<T, Missing> {
    values.iter().find(|(own, _)| own == name).map(|(_, value)| *value).ok_or(Missing(name))
}

fn list<T: Copy>(values: &[(Name, T)], name: &'static str, count: usize) -> Result<Vec<T>, Missing> {
    let list: Vec<T> = values.iter().filter(|(own, _)| own == name).map(|(_, value)| *value).collect();
    if list.len() == count { Ok(list) } else { Err(Missing(name)) }
}

/// Returns values with their names, in the form of a state.
pub(crate) fn named_values<T>(values: impl IntoIterator<Item = (&'static str, T)>) -> Vec<(Name, T)> {
    values.into_iter().map(|(name, value)| (name.into(), value)).collect()
}
