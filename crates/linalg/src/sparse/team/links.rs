//! The ways of components from their places to those that need them.

use super::kernels::Kernels;
use super::vector::TeamVector;
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::host::sparse;
use crate::sparse::processor::Processor;
use crate::sparse::vector::Vector;
use lattice_compute::{Argument, Buffer, Device, Pending};
use std::sync::Arc;

/// Numbers of components at a place, and the kernels that use them.
pub(super) enum List<T> {
    Host(Vec<u32>),
    Device { places: Buffer<u32>, kernels: Arc<Kernels<T>>, device: Device },
}

impl<T: Arithmetic> List<T> {
    pub fn new(place: &Processor, places: Vec<u32>) -> BlasResult<Self> {
        Ok(match place {
            Processor::Host => Self::Host(places),
            Processor::Device(device) => Self::Device {
                places: Buffer::from_slice(device, &places)?,
                kernels: device.attached(Kernels::new)?,
                device: device.clone(),
            },
        })
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Host(places) => places.len(),
            Self::Device { places, .. } => places.len(),
        }
    }

    /// Starts reading the components of some vectors.
    pub fn gather(&self, vectors: usize, x: &Vector<T>) -> BlasResult<Gathered<T>> {
        match (self, x) {
            _ if self.len() * vectors == 0 => Ok(Gathered::There(Vec::new())),
            (Self::Host(places), Vector::Host(x)) => Ok(Gathered::There(sparse::gather(places, vectors, x))),
            (Self::Device { places, kernels, device }, Vector::Device(x)) => {
                let results = places.len() * vectors;
                let mut gathered = Buffer::uninitialised(device, results)?;
                let sizes = [Argument::value(results as u64), Argument::value(vectors as u32)];
                let arrays = [places.into(), (&**x).into(), (&mut gathered).into()];
                kernels.gather.start(kernels.range(results), &[&sizes[..], &arrays].concat())?;
                Ok(Gathered::OnItsWay(gathered.download()?))
            }
            _ => unreachable!("the places were checked"),
        }
    }

    /// Starts y = y + terms at the components of some vectors.
    pub fn add(&self, vectors: usize, terms: &Vector<T>, y: &mut Vector<T>) -> BlasResult<()> {
        match (self, terms, y) {
            (Self::Host(places), Vector::Host(terms), Vector::Host(y)) => {
                sparse::add_at(places, vectors, terms, y)
            }
            (Self::Device { places, kernels, .. }, Vector::Device(terms), Vector::Device(y)) => {
                let results = places.len() * vectors;
                let sizes = [Argument::value(results as u64), Argument::value(vectors as u32)];
                let arrays = [places.into(), (&**terms).into(), (&mut **y).into()];
                kernels.add_at.start(kernels.range(results), &[&sizes[..], &arrays].concat())?;
            }
            _ => unreachable!("the places were checked"),
        }
        Ok(())
    }
}

/// Components that come to the host.
pub(super) enum Gathered<T> {
    There(Vec<T>),
    OnItsWay(Pending<Vec<T>>),
}

impl<T: Arithmetic> Gathered<T> {
    pub fn wait(self) -> BlasResult<Vec<T>> {
        Ok(match self {
            Self::There(values) => values,
            Self::OnItsWay(pending) => pending.wait()?,
        })
    }
}

/// The components that all places send, and where those that a place needs are among them.
pub(super) struct Links<T> {
    /// The components of each place that others need.
    sent: Vec<List<T>>,
    /// For each place the runs of its halo: place, first of its sent components, length.
    runs: Vec<Vec<[usize; 3]>>,
}

impl<T: Arithmetic> Links<T> {
    /// `starts` has the first component of each place, `halos` the components that each needs.
    pub fn new(places: &[Processor], starts: &[usize], halos: &[Vec<u32>]) -> BlasResult<Self> {
        let mut sent: Vec<Vec<u32>> = vec![Vec::new(); places.len()];
        let owner = |component: u32| starts.partition_point(|start| *start <= component as usize) - 1;
        for component in halos.iter().flatten() {
            let owner = owner(*component);
            sent[owner].push(*component - starts[owner] as u32);
        }
        for list in &mut sent {
            list.sort_unstable();
            list.dedup();
        }
        let runs = halos.iter().map(|halo| {
            let mut runs: Vec<[usize; 3]> = Vec::new();
            for component in halo {
                let owner = owner(*component);
                let local = *component - starts[owner] as u32;
                let place = sent[owner].partition_point(|other| *other < local);
                match runs.last_mut() {
                    Some([last, first, length]) if *last == owner && *first + *length == place => {
                        *length += 1
                    }
                    _ => runs.push([owner, place, 1]),
                }
            }
            runs
        });
        let runs = runs.collect();
        let lists = places.iter().zip(sent).map(|(place, list)| List::new(place, list));
        Ok(Self { sent: lists.collect::<BlasResult<_>>()?, runs })
    }

    /// Starts reading what others need.
    pub fn gather(&self, vectors: usize, x: &TeamVector<T>) -> BlasResult<Vec<Gathered<T>>> {
        self.sent.iter().zip(&x.parts).map(|(list, part)| list.gather(vectors, part)).collect()
    }

    /// Puts the halo of a place together.
    pub fn halo(&self, place: usize, vectors: usize, sent: &[Vec<T>]) -> Vec<T> {
        let run =
            |[owner, first, length]: &[usize; 3]| &sent[*owner][first * vectors..(first + length) * vectors];
        self.runs[place].iter().flat_map(run).copied().collect()
    }
}
