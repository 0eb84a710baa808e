//! Any field on the devices of a lattice: a number of complex numbers a site.

use super::transfer;
use crate::compute::{Buffer, Device, DeviceError};
use crate::geometry::{Lattice, NDIM, Shape};
use crate::scalar::Storage;
use bytemuck::Zeroable;
use num_complex::Complex;
use std::ops::Range;

/// The sites that a field lives on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sites {
    All,
    /// The sites of one parity, 0 for even ones.
    Parity(usize),
}

impl Sites {
    pub fn parities(self) -> &'static [usize] {
        match self {
            Sites::All => &[0, 1],
            Sites::Parity(0) => &[0],
            Sites::Parity(_) => &[1],
        }
    }

    /// Returns how many of `count` sites of the lattice are chosen.
    pub fn of(self, count: usize) -> usize {
        count * self.parities().len() / 2
    }
}

const ONE_EACH: &str = "there is a buffer for each domain of this process";

/// Numbers of any [`Shape`], on the same sites of a lattice.
///
/// There is one field, or several that lie one after the other. Each device has one buffer. The
/// meaning of the numbers is not known here.
pub struct SiteField<T: Storage> {
    lattice: Lattice,
    shape: Shape,
    sites: Sites,
    columns: usize,
    buffers: Vec<Buffer<T::Stored>>,
}

impl<T: Storage> SiteField<T> {
    pub fn zero(lattice: &Lattice, shape: Shape, sites: Sites, columns: usize) -> Result<Self, DeviceError> {
        Self::made_of(Buffer::zeroed, lattice, shape, sites, columns)
    }

    /// Makes fields that are to be overwritten.
    pub fn uninitialised(
        lattice: &Lattice,
        shape: Shape,
        sites: Sites,
        columns: usize,
    ) -> Result<Self, DeviceError> {
        Self::made_of(Buffer::uninitialised, lattice, shape, sites, columns)
    }

    fn made_of(
        buffer: impl Fn(&Device, usize) -> Result<Buffer<T::Stored>, DeviceError>,
        lattice: &Lattice,
        shape: Shape,
        sites: Sites,
        columns: usize,
    ) -> Result<Self, DeviceError> {
        let buffers = lattice.shards().iter().map(|shard| {
            let half_field = shard.layout(T::STORAGE).half_field(shape);
            buffer(&shard.device, columns * sites.parities().len() * half_field)
        });
        let buffers = buffers.collect::<Result<_, _>>()?;
        Ok(Self { lattice: lattice.clone(), shape, sites, columns, buffers })
    }

    /// Makes one field of the numbers that `values` writes for each site.
    ///
    /// Sites are counted on the whole lattice.
    pub fn from_values(
        lattice: &Lattice,
        shape: Shape,
        sites: Sites,
        values: impl Fn(usize, &mut [Complex<T::Real>]) + Sync,
    ) -> Result<Self, DeviceError> {
        let mut field = Self::zero(lattice, shape, sites, 1)?;
        field.set_column(0, values)?;
        Ok(field)
    }

    /// Sets the field number `column` to the numbers that `values` writes.
    ///
    /// `values` is called for each site of the whole lattice.
    pub fn set_column(
        &mut self,
        column: usize,
        values: impl Fn(usize, &mut [Complex<T::Real>]) + Sync,
    ) -> Result<(), DeviceError> {
        let parities = self.sites.parities();
        for (shard, buffer) in self.lattice.shards().iter().zip(&mut self.buffers) {
            let layout = shard.layout(T::STORAGE);
            let start = column * parities.len() * layout.half_field(self.shape);
            transfer::upload::<T>(buffer, start, &layout, self.shape, parities, &values)?;
        }
        Ok(())
    }

    /// Sets one site of the first field, which is on all sites.
    pub fn set_site(
        &mut self,
        site: [usize; NDIM],
        components: &[Complex<T::Real>],
    ) -> Result<(), DeviceError> {
        for (shard, buffer) in self.lattice.shards().iter().zip(&mut self.buffers) {
            if let Some(site) = shard.domain.local(site) {
                let layout = shard.layout(T::STORAGE);
                transfer::upload_site::<T>(buffer, &layout, self.shape, layout.place(site), components)?;
            }
        }
        Ok(())
    }

    pub fn set_zero(&mut self) -> Result<(), DeviceError> {
        self.buffers.iter_mut().try_for_each(|buffer| buffer.fill(T::Stored::zeroed()))
    }

    /// Returns one buffer for each device of the lattice.
    pub fn buffers(&self) -> &[Buffer<T::Stored>] {
        &self.buffers
    }

    pub fn buffers_mut(&mut self) -> &mut [Buffer<T::Stored>] {
        &mut self.buffers
    }

    /// Returns the bytes of the storage, including the storage of other ranks.
    pub fn bytes(&self) -> usize {
        self.bytes_of_domains().sum()
    }

    /// Returns the bytes of the storage of each domain.
    fn bytes_of_domains(&self) -> impl Iterator<Item = usize> {
        let fields = self.columns * self.sites.parities().len();
        let shards = self.lattice.everywhere().iter();
        shards.map(move |shard| {
            fields * shard.layout(T::STORAGE).half_field(self.shape) * size_of::<T::Stored>()
        })
    }

    /// Appends the bytes of the storage, domain by domain.
    ///
    /// Every rank gets the bytes of all ranks.
    pub fn append_bytes_to(&self, bytes: &mut Vec<u8>) -> Result<(), DeviceError> {
        let mut own = self.buffers.iter();
        for (domain, count) in self.bytes_of_domains().enumerate() {
            let start = bytes.len();
            match self.rank_of(domain) {
                None => bytes.extend_from_slice(bytemuck::cast_slice(&own.next().expect(ONE_EACH).to_vec()?)),
                Some(_) => bytes.resize(start + count, 0),
            }
            if let Some(world) = self.lattice.ranks() {
                world.broadcast(self.lattice.placement().rank_of(domain), &mut bytes[start..])?;
            }
        }
        self.lattice.check_peers()
    }

    /// Returns the rank that has a domain, if it is another rank.
    fn rank_of(&self, domain: usize) -> Option<usize> {
        let rank = self.lattice.placement().rank_of(domain);
        self.lattice.ranks().filter(|world| world.rank() != rank).map(|_| rank)
    }

    /// Restores the fields from bytes, as many as the storage has.
    pub fn set_bytes(&mut self, bytes: &[u8]) -> Result<(), DeviceError> {
        let mut rest = bytes;
        let counts: Vec<usize> = self.bytes_of_domains().collect();
        let is_own: Vec<bool> = (0..counts.len()).map(|domain| self.rank_of(domain).is_none()).collect();
        let mut own = self.buffers.iter_mut();
        for (count, is_own) in counts.into_iter().zip(is_own) {
            let (part, others) = rest.split_at(count);
            rest = others;
            if !is_own {
                continue;
            }
            let buffer = own.next().expect(ONE_EACH);
            let mut numbers = vec![T::Stored::default(); buffer.len()];
            bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(part);
            buffer.write(&numbers)?;
        }
        Ok(())
    }

    /// Copies one parity of these fields, which are on all sites, to `to`.
    ///
    /// `to` has one parity.
    pub fn copy_parity_to(&self, to: &mut Self) -> Result<(), DeviceError> {
        for (k, pieces) in to.pieces_in_all().enumerate() {
            for (in_all, in_own) in pieces {
                to.buffers[k].slice_mut(in_own)?.copy_from(self.buffers[k].slice(in_all)?)?;
            }
        }
        Ok(())
    }

    /// Copies `from` into the part of these fields on the sites of `from`.
    ///
    /// These fields are on all sites.
    pub fn copy_parity_from(&mut self, from: &Self) -> Result<(), DeviceError> {
        for (k, pieces) in from.pieces_in_all().enumerate() {
            for (in_all, in_own) in pieces {
                self.buffers[k].slice_mut(in_all)?.copy_from(from.buffers[k].slice(in_own)?)?;
            }
        }
        Ok(())
    }

    /// Returns the positions of the fields of one parity, for each device and field.
    ///
    /// One position is in a buffer of all sites, the other in the field's own buffer.
    fn pieces_in_all(
        &self,
    ) -> impl Iterator<Item = impl Iterator<Item = (Range<usize>, Range<usize>)> + use<T>> + use<T> {
        let (columns, parity) = (self.columns, self.sites.parities()[0]);
        let sizes: Vec<usize> = self.buffers.iter().map(|buffer| buffer.len() / columns).collect();
        sizes.into_iter().map(move |size| {
            let range = move |k: usize| k * size..(k + 1) * size;
            (0..columns).map(move |column| (range(2 * column + parity), range(column)))
        })
    }

    /// Copies `from`, which is one field, into the field number `column`.
    pub fn copy_column_from(&mut self, column: usize, from: &Self) -> Result<(), DeviceError> {
        for (own, from) in self.buffers.iter_mut().zip(&from.buffers) {
            let start = column * from.len();
            own.slice_mut(start..start + from.len())?.copy_from(from)?;
        }
        Ok(())
    }

    /// Copies the field number `column` to `to`.
    pub fn copy_column_to(&self, column: usize, to: &mut Self) -> Result<(), DeviceError> {
        for (own, to) in self.buffers.iter().zip(&mut to.buffers) {
            let start = column * to.len();
            to.copy_from(own.slice(start..start + to.len())?)?;
        }
        Ok(())
    }

    /// Sets `to` to these fields, or to `plus` + these fields.
    ///
    /// The result has the precision of `to`. Sums are not for half precision.
    pub fn convert_to<R: Storage>(
        &self,
        plus: Option<&SiteField<R>>,
        to: &mut SiteField<R>,
    ) -> Result<(), DeviceError> {
        let parities = self.columns * self.sites.parities().len();
        let buffers = self.buffers.iter().zip(&mut to.buffers);
        for (index, (shard, (own, to))) in self.lattice.shards().iter().zip(buffers).enumerate() {
            let layouts = [shard.layout(T::STORAGE), shard.layout(R::STORAGE)];
            let plus = plus.map(|plus| &plus.buffers[index]);
            transfer::cast_into::<T, R>(own, plus, to, layouts.each_ref(), self.shape, parities)?;
        }
        Ok(())
    }

    /// Returns these fields in another precision.
    pub fn cast<R: Storage>(&self) -> Result<SiteField<R>, DeviceError> {
        let mut cast = SiteField::zero(&self.lattice, self.shape, self.sites, self.columns)?;
        self.convert_to(None, &mut cast)?;
        Ok(cast)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{DeviceOptions, Team, discover};
    use crate::geometry::{Dims, Grid, SitePosition};
    use crate::scalar::{Half, StoragePrecision};

    /// Groups that vectors do not divide.
    const SHAPES: [Shape; 2] =
        [Shape { groups: 1, group: 7, with_unit: true }, Shape { groups: 2, group: 3, with_unit: false }];

    fn lattice() -> Lattice {
        let device = Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap();
        let dims = Dims::new([4, 2, 6, 2]).unwrap();
        Lattice::with_grid(&Team::of(vec![device; 2]), dims, Grid::new([1, 1, 2, 1]).unwrap()).unwrap()
    }

    /// Returns another number for each column, site and component.
    fn number(column: usize, site: usize, component: usize) -> Complex<f64> {
        let k = (20 * column + component) as f64 + site as f64 / 128.0;
        Complex::new(k, -0.5 * k)
    }

    /// Returns the number that lies at the place given by the layout.
    fn stored(field: &SiteField<f64>, column: usize, site: usize, component: usize) -> Complex<f64> {
        let coordinates = field.lattice.dims().coordinates(site);
        for (shard, buffer) in field.lattice.shards().iter().zip(&field.buffers) {
            if let Some(local) = shard.domain.local(coordinates) {
                let layout = shard.layout(StoragePrecision::Double);
                let start = column * field.sites.parities().len() * layout.half_field(field.shape);
                let place = layout.place(local);
                let parity = if field.sites == Sites::All { place.parity } else { 0 };
                let place = SitePosition { parity, ..place };
                let numbers = buffer.to_vec().unwrap();
                let [re, im] = layout.offsets(field.shape, component, place).map(|at| numbers[start + at]);
                return Complex::new(re, im);
            }
        }
        panic!("site {site} is on no device");
    }

    fn columns(lattice: &Lattice, shape: Shape) -> SiteField<f64> {
        let mut field = SiteField::zero(lattice, shape, Sites::All, 2).unwrap();
        for column in 0..2 {
            let fill = |site: usize, numbers: &mut [Complex<f64>]| {
                numbers.iter_mut().enumerate().for_each(|(c, z)| *z = number(column, site, c));
            };
            field.set_column(column, fill).unwrap();
        }
        field
    }

    /// Returns some of all sites and components.
    fn some(field: &SiteField<f64>) -> impl Iterator<Item = (usize, usize)> {
        let (sites, components) = (field.lattice.dims().volume(), field.shape.components());
        (0..sites * components).step_by(11).map(move |k| (k / components, k % components))
    }

    #[test]
    fn numbers_lie_where_the_layout_says() {
        let lattice = lattice();
        for shape in SHAPES {
            let mut field = columns(&lattice, shape);
            for column in 0..2 {
                for (site, component) in some(&field) {
                    assert_eq!(stored(&field, column, site, component), number(column, site, component));
                }
            }
            let other = vec![Complex::new(-1.0, 2.0); shape.components()];
            field.set_site([3, 1, 4, 0], &other).unwrap();
            let site = lattice.dims().site([3, 1, 4, 0]);
            assert_eq!(stored(&field, 0, site, 1), other[1]);
        }
    }

    #[test]
    fn parts_are_copied_there_and_back() {
        let lattice = lattice();
        for shape in SHAPES {
            let field = columns(&lattice, shape);
            let mut odd = SiteField::zero(&lattice, shape, Sites::Parity(1), 2).unwrap();
            field.copy_parity_to(&mut odd).unwrap();
            let mut one = SiteField::zero(&lattice, shape, Sites::Parity(1), 1).unwrap();
            odd.copy_column_to(1, &mut one).unwrap();
            let mut all = SiteField::zero(&lattice, shape, Sites::All, 2).unwrap();
            odd.copy_column_from(0, &one).unwrap();
            all.copy_parity_from(&odd).unwrap();
            let mut again = SiteField::zero(&lattice, shape, Sites::All, 2).unwrap();
            let mut bytes = Vec::new();
            all.append_bytes_to(&mut bytes).unwrap();
            assert_eq!(bytes.len(), all.bytes());
            again.set_bytes(&bytes).unwrap();
            for (site, component) in some(&field) {
                // The second column is in the place of the first one too, on odd sites.
                let odd = lattice.dims().parity(site) == 1;
                let expected = if odd { number(1, site, component) } else { Complex::default() };
                for column in 0..2 {
                    assert_eq!(stored(&again, column, site, component), expected);
                }
            }
        }
    }

    #[test]
    fn numbers_survive_a_lower_precision() {
        let lattice = lattice();
        let field = columns(&lattice, SHAPES[0]);
        let (single, half) = (field.cast::<f32>().unwrap(), field.cast::<Half>().unwrap());
        let expect = |field: &SiteField<f64>, times: f64, bound: f64| {
            for (site, component) in some(field) {
                let expected = times * number(1, site, component);
                assert!((stored(field, 1, site, component) - expected).norm() < bound);
            }
        };
        // All numbers have few digits.
        expect(&single.cast().unwrap(), 1.0, 1e-12);
        // A unit is the largest number, 26, over 32767.
        expect(&half.cast().unwrap(), 1.0, 1e-3);
        let mut sum = SiteField::zero(&lattice, SHAPES[0], field.sites, field.columns).unwrap();
        single.convert_to(Some(&field), &mut sum).unwrap();
        expect(&sum, 2.0, 1e-12);
    }
}
