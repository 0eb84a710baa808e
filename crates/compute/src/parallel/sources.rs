//! Sequences to begin with: numbers, slices and their parts, vectors.

use super::sequence::{Indexed, Parallel};
use std::ops::Range;
use std::slice;

/// A collection that becomes a sequence.
pub trait IntoParallel {
    /// The type of the items.
    type Item;
    /// The sequence.
    type Parallel: Parallel<Item = Self::Item>;

    /// Makes the sequence.
    fn into_par_iter(self) -> Self::Parallel;
}

impl<P: Parallel> IntoParallel for P {
    type Item = P::Item;
    type Parallel = P;

    fn into_par_iter(self) -> P {
        self
    }
}

/// Numbers one after the other.
pub struct Numbers(Range<usize>);

impl IntoParallel for Range<usize> {
    type Item = usize;
    type Parallel = Numbers;

    fn into_par_iter(self) -> Numbers {
        Numbers(self)
    }
}

impl Parallel for Numbers {
    type Item = usize;
    type Sequential = Range<usize>;

    fn units(&self) -> usize {
        self.0.len()
    }

    fn split_at(self, unit: usize) -> (Self, Self) {
        let middle = self.0.start + unit;
        (Self(self.0.start..middle), Self(middle..self.0.end))
    }

    fn sequential(self) -> Range<usize> {
        self.0
    }

    fn exact_len(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl Indexed for Numbers {}

/// The elements of a vector.
pub struct Owned<T>(std::vec::IntoIter<T>);

impl<T: Send> IntoParallel for Vec<T> {
    type Item = T;
    type Parallel = Owned<T>;

    fn into_par_iter(self) -> Owned<T> {
        Owned(self.into_iter())
    }
}

impl<T: Send, const N: usize> IntoParallel for [T; N] {
    type Item = T;
    type Parallel = Owned<T>;

    fn into_par_iter(self) -> Owned<T> {
        Vec::from(self).into_par_iter()
    }
}

impl<T: Send> Parallel for Owned<T> {
    type Item = T;
    type Sequential = std::vec::IntoIter<T>;

    fn units(&self) -> usize {
        self.0.len()
    }

    fn split_at(mut self, unit: usize) -> (Self, Self) {
        let before: Vec<T> = self.0.by_ref().take(unit).collect();
        (Self(before.into_iter()), self)
    }

    fn sequential(self) -> Self::Sequential {
        self.0
    }

    fn exact_len(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<T: Send> Indexed for Owned<T> {}

/// Sequences of the elements of a slice, or of its parts.
pub trait ParallelSlice<T>: AsRef<[T]> + AsMut<[T]> {
    /// Returns references to the elements.
    fn par_iter(&self) -> Elements<'_, T>
    where
        T: Sync,
    {
        Elements(self.as_ref())
    }

    /// Returns references by which elements can be changed.
    fn par_iter_mut(&mut self) -> ElementsMut<'_, T>
    where
        T: Send,
    {
        ElementsMut(self.as_mut())
    }

    /// Returns parts of `size` elements; the last may be shorter.
    ///
    /// # Panics
    /// When `size` is 0.
    fn par_chunks(&self, size: usize) -> Chunks<'_, T>
    where
        T: Sync,
    {
        assert!(size > 0, "parts of no elements");
        Chunks { elements: self.as_ref(), size }
    }

    /// Returns parts of `size` elements that can be changed; the last may be shorter.
    ///
    /// # Panics
    /// When `size` is 0.
    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T>
    where
        T: Send,
    {
        assert!(size > 0, "parts of no elements");
        ChunksMut { elements: self.as_mut(), size }
    }

    /// Returns parts of exactly `size` elements, without what is left at the end.
    ///
    /// # Panics
    /// When `size` is 0.
    fn par_chunks_exact(&self, size: usize) -> ChunksExact<'_, T>
    where
        T: Sync,
    {
        let elements = self.as_ref();
        let whole = elements.len() / size * size;
        ChunksExact { elements: &elements[..whole], size }
    }

    /// Returns parts of exactly `size` elements that can be changed, without what is left at the end.
    ///
    /// # Panics
    /// When `size` is 0.
    fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksExactMut<'_, T>
    where
        T: Send,
    {
        let elements = self.as_mut();
        let whole = elements.len() / size * size;
        ChunksExactMut { elements: &mut elements[..whole], size }
    }
}

impl<T> ParallelSlice<T> for [T] {}

/// Declares the elements of a slice as a sequence, and its parts of equal lengths.
macro_rules! slices {
    ($name:ident, $marker:ident, $slice:ty, $item:ty, $iter:ident, $cut:ident, $whole:ident) => {
        /// The elements of a slice.
        pub struct $name<'a, T>($slice);

        impl<'a, T: $marker> IntoParallel for $slice {
            type Item = $item;
            type Parallel = $name<'a, T>;

            fn into_par_iter(self) -> $name<'a, T> {
                $name(self)
            }
        }

        impl<'a, T: $marker> Parallel for $name<'a, T> {
            type Item = $item;
            type Sequential = slice::$iter<'a, T>;

            fn units(&self) -> usize {
                self.0.len()
            }

            fn split_at(self, unit: usize) -> (Self, Self) {
                let (before, behind) = self.0.$cut(unit);
                (Self(before), Self(behind))
            }

            fn sequential(self) -> Self::Sequential {
                self.0.$whole()
            }

            fn exact_len(&self) -> Option<usize> {
                Some(self.0.len())
            }
        }

        impl<'a, T: $marker> Indexed for $name<'a, T> {}
    };
    (parts $name:ident, $marker:ident, $slice:ty, $cut:ident, $parts:ident) => {
        /// Parts of a slice with equal lengths.
        pub struct $name<'a, T> {
            elements: $slice,
            size: usize,
        }

        impl<'a, T: $marker> Parallel for $name<'a, T> {
            type Item = $slice;
            type Sequential = slice::$name<'a, T>;

            fn units(&self) -> usize {
                self.elements.len().div_ceil(self.size)
            }

            fn split_at(self, unit: usize) -> (Self, Self) {
                let Self { elements, size } = self;
                let middle = (unit * size).min(elements.len());
                let (before, behind) = elements.$cut(middle);
                (Self { elements: before, size }, Self { elements: behind, size })
            }

            fn sequential(self) -> Self::Sequential {
                self.elements.$parts(self.size)
            }

            fn exact_len(&self) -> Option<usize> {
                Some(self.units())
            }
        }

        impl<'a, T: $marker> Indexed for $name<'a, T> {}
    };
}

slices!(Elements, Sync, &'a [T], &'a T, Iter, split_at, iter);
slices!(ElementsMut, Send, &'a mut [T], &'a mut T, IterMut, split_at_mut, iter_mut);
slices!(parts Chunks, Sync, &'a [T], split_at, chunks);
slices!(parts ChunksMut, Send, &'a mut [T], split_at_mut, chunks_mut);
slices!(parts ChunksExact, Sync, &'a [T], split_at, chunks_exact);
slices!(parts ChunksExactMut, Send, &'a mut [T], split_at_mut, chunks_exact_mut);

/// Declares references to what has a slice.
macro_rules! borrowed {
    ($($what:ty, $elements:ident, $item:ty, $marker:ident $(, $number:ident)?;)*) => {$(
        impl<'a, T: $marker $(, const $number: usize)?> IntoParallel for $what {
            type Item = $item;
            type Parallel = $elements<'a, T>;

            fn into_par_iter(self) -> $elements<'a, T> {
                $elements(self)
            }
        }
    )*};
}

borrowed! {
    &'a Vec<T>, Elements, &'a T, Sync;
    &'a mut Vec<T>, ElementsMut, &'a mut T, Send;
    &'a [T; N], Elements, &'a T, Sync, N;
}
