//! Tiles on a device.

use super::error::FftResult;
use super::kernels::tiles;
use super::lines::Lines;
use super::operand::{IN_PLACE, Operand};
use super::tables;
use super::tile::{Along, Tile};
use lattice_compute::scalar::Real;
use lattice_compute::{Argument, Buffer, Device, Event, Kernel, Range};
use num_complex::Complex;

/// Where tiles lie: how many there are, and the steps of rows and columns where they are read and written.
pub(super) struct Places {
    pub geometry: Vec<u64>,
    pub count: usize,
    pub steps: [[usize; 2]; 2],
}

impl Places {
    /// Returns the places of lines.
    pub fn of_lines(lines: &Lines) -> Self {
        let steps = [lines.from.stride, lines.to.stride].map(|stride| [stride; 2]);
        Self { geometry: lines.geometry(), count: lines.count(), steps }
    }
}

/// A kernel for tiles, with its constant factors.
pub(super) struct Tiles<T> {
    tile: Tile,
    places: Places,
    geometry: Buffer<u64>,
    row_roots: Buffer<Complex<T>>,
    column_roots: Buffer<Complex<T>>,
    kernel: Kernel,
}

impl<T: Real> Tiles<T> {
    /// Compiles the kernel of a tile.
    pub fn new(device: &Device, tile: Tile, places: Places) -> FftResult<Self> {
        let roots = |along: Along| -> FftResult<_> {
            let phase = tile.phases.iter().find(|phase| phase.along == along && phase.radices != [1]);
            let roots = tables::roots(phase.map_or(1, |phase| phase.length()));
            Ok(Buffer::from_slice(device, &tables::rounded::<T>(&roots))?)
        };
        Ok(Self {
            geometry: Buffer::from_slice(device, &places.geometry)?,
            row_roots: roots(Along::Rows)?,
            column_roots: roots(Along::Columns)?,
            kernel: tiles::<T>(device, &tile, places.geometry[0], places.steps)?,
            tile,
            places,
        })
    }

    /// Launches the kernel. Without `from` tiles are transformed in place.
    pub fn run(
        &self,
        from: Option<Operand<'_>>,
        to: Operand<'_>,
        swapped: u32,
        scale: f64,
    ) -> FftResult<Event> {
        let roots = Argument::from(&self.row_roots);
        let reals = |is_complex: bool| 1 + u32::from(is_complex);
        let source = from.unwrap_or(Operand { argument: roots, is_complex: true });
        let flags = swapped | if from.is_none() { IN_PLACE } else { 0 };
        let offsets = reals(source.is_complex) | (reals(to.is_complex) << 16);
        let [from_steps, to_steps] =
            self.places.steps.map(|steps| steps.map(|step| Argument::value(step as u64)));
        let arguments = [
            source.argument,
            to.argument,
            (&self.geometry).into(),
            roots,
            (&self.column_roots).into(),
            Argument::value(self.places.count as u64),
            from_steps[0],
            from_steps[1],
            to_steps[0],
            to_steps[1],
            Argument::value([flags, offsets]),
            Argument::value(T::from_f64(scale)),
            Argument::local::<T>(self.tile.work()),
        ];
        let groups = self.places.count.div_ceil(self.tile.together());
        Ok(self.kernel.launch(Range::groups(groups, self.tile.items), &arguments)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fft::cut::Cut;
    use crate::fft::lines::{Mode, Side};
    use crate::fft::variant::FftTuning;
    use crate::host::fft::{Direction, all_axes};
    use lattice_compute::Team;
    use num_complex::Complex64;

    /// Local memory that holds both parts of each element, and one that holds a part alone.
    const CUTS: [Cut; 2] =
        [Cut { lanes: 1, local: 64, local_bytes: 1 << 15 }, Cut { lanes: 1, local: 32, local_bytes: 808 }];

    const BOTH_SWAPPED: u32 = 3;

    fn numbers(count: usize) -> Vec<Complex64> {
        (0..count).map(|i| Complex64::new((i * i % 31) as f64 - 15.0, (i * 7 % 23) as f64 - 11.0)).collect()
    }

    fn expect(found: &[Complex64], wanted: &[Complex64], label: &str) {
        let largest = wanted.iter().map(|z| z.norm()).fold(0.0, f64::max);
        let apart = found.iter().zip(wanted).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(found.len() == wanted.len() && apart <= 1e-14 * largest, "{label}: {apart:e}");
    }

    fn planes(extents: [usize; 2], modes: [Mode; 2], cut: Cut) -> Tile {
        let tile = Tile::of_planes(cut, size_of::<f64>(), extents, modes).unwrap();
        assert!(extents != [9, 10] || tile.is_by_parts == (cut == CUTS[1]));
        tile
    }

    #[test]
    fn planes_are_the_twin() {
        for device in Team::select([]).unwrap().devices() {
            for (cut, [n2, n3]) in CUTS.into_iter().flat_map(|cut| [(cut, [9, 10]), (cut, [6, 15])]) {
                let (count, half) = (3, n3 / 2 + 1);
                let label = format!("{n2} rows of {n3}, {cut:?}, on {}", device.label());
                let x = numbers(count * n2 * n3);
                let twin = |x: &[Complex64], direction| {
                    let mut x = x.to_vec();
                    x.chunks_mut(n2 * n3).for_each(|plane| all_axes(plane, &[n2, n3], direction));
                    x
                };
                let places = |from: usize, to: usize| Places {
                    geometry: [1, count, n2 * from, n2 * to].map(|x| x as u64).to_vec(),
                    count,
                    steps: [[from, 1], [to, 1]],
                };
                let tile = planes([n2, n3], [Mode::Complex; 2], cut);
                let tiles = Tiles::<f64>::new(device, tile, places(n3, n3)).unwrap();
                let mut data = Buffer::from_slice(device, &x).unwrap();
                tiles.run(None, Operand::new(&mut data, true), 0, 1.0).unwrap();
                expect(&data.to_vec().unwrap(), &twin(&x, Direction::Forward), &label);

                let reals: Vec<f64> = x.iter().map(|z| z.re).collect();
                let tile = planes([n2, n3], [Mode::Real, Mode::Half], cut);
                let tiles = Tiles::<f64>::new(device, tile, places(n3, half)).unwrap();
                let from = Buffer::from_slice(device, &reals).unwrap();
                let mut to = Buffer::<Complex64>::zeroed(device, count * n2 * half).unwrap();
                let operand = Operand::new(&from, false);
                tiles.run(Some(operand), Operand::new(&mut to, true), 0, 1.0).unwrap();
                let as_complex: Vec<_> = reals.iter().map(|&x| Complex64::new(x, 0.0)).collect();
                let whole = twin(&as_complex, Direction::Forward);
                let wanted: Vec<_> = whole.chunks(n3).flat_map(|row| row[..half].to_vec()).collect();
                expect(&to.to_vec().unwrap(), &wanted, &format!("real {label}"));

                let tile = planes([n2, n3], [Mode::Half, Mode::Real], cut);
                let tiles = Tiles::<f64>::new(device, tile, places(half, n3)).unwrap();
                let mut back = Buffer::<f64>::zeroed(device, count * n2 * n3).unwrap();
                let scale = 1.0 / (n2 * n3) as f64;
                let operand = Operand::new(&to, true);
                tiles.run(Some(operand), Operand::new(&mut back, false), BOTH_SWAPPED, scale).unwrap();
                let back = back.to_vec().unwrap().into_iter().map(|x| Complex64::new(x, 0.0));
                expect(&back.collect::<Vec<_>>(), &as_complex, &format!("real {label}, back"));
            }
        }
    }

    #[test]
    fn real_rows_are_the_twin() {
        // An odd number of rows, of which the last group has fewer.
        let (n, count) = (15, 9);
        let side = |mode, distance| Side { mode, stride: 1, distances: vec![distance], present: n };
        let (real, half) = (side(Mode::Real, n + 2), side(Mode::Half, n / 2 + 1));
        let lines = |from: &Side, to: &Side| Lines {
            length: n,
            extents: vec![count],
            from: from.clone(),
            to: to.clone(),
        };
        let x: Vec<f64> = numbers(count * (n + 2)).iter().map(|z| z.re).collect();
        let rows: Vec<Complex64> =
            x.chunks(n + 2).flat_map(|row| row[..n].iter().map(|&x| Complex64::new(x, 0.0))).collect();
        let mut whole = rows.clone();
        whole.chunks_mut(n).for_each(|row| all_axes(row, &[n], Direction::Forward));
        let wanted: Vec<_> = whole.chunks(n).flat_map(|row| row[..n / 2 + 1].to_vec()).collect();
        for device in Team::select([]).unwrap().devices() {
            for cut in CUTS {
                let tuning = FftTuning { radices: vec![5, 3], ..FftTuning::shipped(n, n).unwrap() };
                let tiles = |lines: &Lines| {
                    let tile = Tile::with_lines(cut, size_of::<f64>(), lines, &tuning).unwrap();
                    Tiles::<f64>::new(device, tile, Places::of_lines(lines)).unwrap()
                };
                let from = Buffer::from_slice(device, &x).unwrap();
                let mut to = Buffer::<Complex64>::zeroed(device, wanted.len()).unwrap();
                let operand = Operand::new(&from, false);
                let there = tiles(&lines(&real, &half));
                there.run(Some(operand), Operand::new(&mut to, true), 0, 1.0).unwrap();
                expect(&to.to_vec().unwrap(), &wanted, &format!("{cut:?}"));
                let mut back = Buffer::<f64>::zeroed(device, x.len()).unwrap();
                let operand = Operand::new(&to, true);
                let scale = 1.0 / n as f64;
                let tiles = tiles(&lines(&half, &real));
                tiles.run(Some(operand), Operand::new(&mut back, false), BOTH_SWAPPED, scale).unwrap();
                let back = back.to_vec().unwrap();
                let found =
                    back.chunks(n + 2).flat_map(|row| row[..n].iter().map(|&x| Complex64::new(x, 0.0)));
                expect(&found.collect::<Vec<_>>(), &rows, &format!("{cut:?}, back"));
                assert!(back.chunks(n + 2).all(|row| row[n..] == [0.0, 0.0]));
            }
        }
    }

    #[test]
    fn lines_are_the_twin() {
        // Rows, and columns of which the last group has fewer.
        for (stride, distance) in [(1, 12), (9, 1)] {
            let side = Side { mode: Mode::Complex, stride, distances: vec![distance], present: 12 };
            let lines = Lines { length: 12, extents: vec![9], from: side.clone(), to: side };
            let x = numbers(108);
            let mut wanted = x.clone();
            for line in 0..9 {
                let places = || (0..12).map(|k| line * distance + k * stride);
                let mut one: Vec<_> = places().map(|place| x[place]).collect();
                all_axes(&mut one, &[12], Direction::Inverse);
                places().zip(one).for_each(|(place, value)| wanted[place] = value);
            }
            for device in Team::select([]).unwrap().devices() {
                for cut in CUTS {
                    let tuning = FftTuning { radices: vec![2, 6], ..FftTuning::shipped(12, 12).unwrap() };
                    let tile = Tile::with_lines(cut, size_of::<f64>(), &lines, &tuning).unwrap();
                    let tiles = Tiles::<f64>::new(device, tile, Places::of_lines(&lines)).unwrap();
                    let mut data = Buffer::from_slice(device, &x).unwrap();
                    tiles.run(None, Operand::new(&mut data, true), BOTH_SWAPPED, 1.0).unwrap();
                    expect(&data.to_vec().unwrap(), &wanted, &format!("{stride}, {cut:?}"));
                }
            }
        }
    }
}
