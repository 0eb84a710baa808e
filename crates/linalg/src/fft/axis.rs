//! The transform of one axis: many lines of one length.

use super::callback::Callback;
use super::cut::Cut;
use super::error::{FftError, FftResult};
use super::factors::{factors, fast_length, two_factors};
use super::fixed::{Fixed, LEAST_ELEMENTS};
use super::kernels::{Kernels, fixed, with_callback};
use super::lines::{Lines, Mode, Side, lines};
use super::operand::{IN_PLACE, LOAD_SWAPPED, Operand, STORE_SWAPPED};
use super::shape::{Layout, Shape};
use super::tables;
use super::tile::Tile;
use super::tiles::{Places, Tiles};
use super::variant::{FftAlgorithm, FftTuning};
use lattice_compute::scalar::Real;
use lattice_compute::{Argument, Buffer, Device, Event, Kernel, Range, Scratch};
use num_complex::Complex;

/// The sign of the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Inverse,
}

/// Kernels for lines in local memory, with their constant factors.
pub(super) struct Local<T> {
    lines: Lines,
    /// Length of the transforms in local memory.
    m: usize,
    way: FftAlgorithm,
    radices: u64,
    /// Columns whose results are turned; 0 for none.
    columns: usize,
    geometry: Buffer<u64>,
    roots: Buffer<Complex<T>>,
    chirp: Option<Buffer<Complex<T>>>,
    response: Option<Buffer<Complex<T>>>,
    slots: Buffer<u32>,
    turns: Option<Buffer<Complex<T>>>,
    /// Kernels of these lines alone, if they have some.
    own: Option<Own>,
}

/// Kernels of some lines, and how lines are cut for them.
struct Own {
    /// Lines of a vector.
    lanes: usize,
    /// Work-items of a group.
    local: usize,
    /// Vectors of a group.
    vectors: usize,
    /// Elements of local memory between real and imaginary parts.
    plane: usize,
    /// Doubles of local memory that each work-item needs at the end.
    doubles: usize,
    kernel: Kernel,
}

/// Lines that are too long for local memory.
struct Long<T> {
    lines: Lines,
    /// Length of the transforms, a product of two shorter ones.
    m: usize,
    is_bluestein: bool,
    geometry: Buffer<u64>,
    chirp: Buffer<Complex<T>>,
    response: Buffer<Complex<T>>,
    /// The two steps between scratch arrays.
    steps: [Local<T>; 2],
}

enum AxisPlan<T> {
    /// Lines of one element: a copy with a factor is a pass without radices.
    Local(Box<Local<T>>),
    /// Lines or planes in registers.
    Tiles(Box<Tiles<T>>),
    /// Complex lines in two steps, from the caller's buffer and to it.
    TwoSteps(Box<[Local<T>; 2]>),
    Long(Box<Long<T>>),
}

/// The transform of all lines along one axis, in one direction.
pub(super) struct Axis<T> {
    plan: AxisPlan<T>,
    /// Complex numbers of each of two scratch arrays.
    scratch: usize,
}

fn buffer<T: Real>(device: &Device, values: &[num_complex::Complex64]) -> FftResult<Buffer<Complex<T>>> {
    Ok(Buffer::from_slice(device, &tables::rounded::<T>(values))?)
}

/// Returns a table, or something else that is not looked at.
fn given_or<'a, T: Real>(table: Option<&'a Buffer<Complex<T>>>, other: Argument<'a>) -> Argument<'a> {
    table.map_or(other, Argument::from)
}

impl<T: Real> Local<T> {
    /// Prepares lines without a convolution, whose length has radices.
    fn direct(device: &Device, lines: Lines, columns: usize) -> FftResult<Self> {
        let tuning = FftTuning::shipped(lines.length, usize::MAX).expect("any length has a plan");
        Self::new(device, lines, &tuning, columns, None)
    }

    /// Prepares lines. Results are turned by the number of the column if `columns` is not 0.
    pub fn new(
        device: &Device,
        lines: Lines,
        tuning: &FftTuning,
        columns: usize,
        callback: Option<&Callback>,
    ) -> FftResult<Self> {
        let (n, m, way, radices) = (lines.length, tuning.length(), tuning.way, &tuning.radices);
        let convolution = match way {
            FftAlgorithm::Direct => None,
            FftAlgorithm::Bluestein => Some(tables::bluestein(n, m)),
            FftAlgorithm::Rader => tables::rader(n),
        };
        let convolution = convolution.as_ref();
        let packed = radices.iter().rev().fold(0, |packed, &radix| (packed << 4) | (radix as u64 - 1));
        let table = |values: Option<&Vec<_>>| match values {
            Some(values) if !values.is_empty() => buffer(device, values).map(Some),
            _ => Ok(None),
        };
        let slots = convolution.map(|c| c.slots.clone()).filter(|slots| !slots.is_empty());
        let (cut, real, elements) = (Cut::of(device), size_of::<T>(), n.max(m));
        let doubles = callback.map_or(0, |callback| callback.doubles);
        let own = match (Fixed::of(cut, real, &lines, tuning, columns), callback) {
            (Some(own), _) => {
                let kernel = fixed::<T>(device, &own, callback)?;
                let Fixed { lanes, vectors, local, plane, .. } = own;
                Some(Own { lanes, local, vectors, plane, doubles, kernel })
            }
            (None, Some(callback)) => {
                let kernel = with_callback::<T>(device, cut, radices, callback)?;
                let vectors = cut.vectors(elements, real);
                let (lanes, local, plane) = (cut.lanes, cut.local, elements * vectors);
                Some(Own { lanes, local, vectors, plane, doubles, kernel })
            }
            (None, None) => None,
        };
        let turns = (columns != 0).then(|| tables::roots(lines.length * columns));
        Ok(Self {
            m,
            way,
            radices: packed,
            columns,
            geometry: Buffer::from_slice(device, &lines.geometry())?,
            roots: buffer(device, &tables::roots(m))?,
            chirp: table(convolution.map(|c| &c.chirp))?,
            response: table(convolution.map(|c| &c.response))?,
            slots: Buffer::from_slice(device, &slots.unwrap_or_else(|| vec![0]))?,
            turns: table(turns.as_ref())?,
            own,
            lines,
        })
    }

    /// Returns how many lines or pairs there are.
    fn count(&self) -> usize {
        let singles = self.lines.count();
        if self.lines.are_paired() { singles.div_ceil(2) } else { singles }
    }

    /// Returns the number of work-groups of lines that have their own kernels; else 0.
    pub fn groups(&self) -> usize {
        self.own.as_ref().map_or(0, |own| self.count().div_ceil(own.lanes * own.vectors))
    }

    /// Launches the kernel. Without `from` the lines are transformed in place.
    pub fn run(
        &self,
        kernels: &Kernels<T>,
        from: Option<Operand<'_>>,
        to: Operand<'_>,
        swapped: u32,
        scale: f64,
    ) -> FftResult<Event> {
        self.run_with(kernels, from, to, swapped, scale, &[])
    }

    /// Launches the kernel like [`run`](Self::run), with the arguments of a callback.
    pub fn run_with(
        &self,
        kernels: &Kernels<T>,
        from: Option<Operand<'_>>,
        to: Operand<'_>,
        swapped: u32,
        scale: f64,
        more: &[Argument<'_>],
    ) -> FftResult<Event> {
        let (singles, lines) = (self.lines.count(), self.count());
        let (n, real) = (self.lines.length, size_of::<T>());
        let elements = n.max(self.m);
        let cut = kernels.cut;
        let (lanes, vectors, local, plane, doubles, kernel) = match &self.own {
            Some(own) => (own.lanes, own.vectors, own.local, own.plane, own.doubles, &own.kernel),
            None => {
                let vectors = cut.vectors(elements, real);
                (cut.lanes, vectors, cut.local, elements * vectors, 0, &kernels.lines)
            }
        };
        // One more lets a callback align its doubles.
        let at_end = if doubles > 0 { ((local * doubles + 1) * size_of::<f64>()).div_ceil(real) } else { 0 };
        let work = (4 * plane * lanes).max(at_end);
        let together = vectors * lanes;
        let roots = Argument::from(&self.roots);
        let reals = |is_complex: bool| 1 + u32::from(is_complex);
        let from_operand = from.unwrap_or(Operand { argument: roots, is_complex: true });
        let flags = swapped | if from.is_none() { IN_PLACE } else { 0 };
        let offsets = reals(from_operand.is_complex) | (reals(to.is_complex) << 16);
        let arguments = [
            from_operand.argument,
            to.argument,
            (&self.geometry).into(),
            roots,
            given_or(self.chirp.as_ref(), roots),
            given_or(self.response.as_ref(), roots),
            (&self.slots).into(),
            given_or(self.turns.as_ref(), roots),
            Argument::value(self.radices),
            Argument::value(lines as u64),
            Argument::value(singles as u64),
            Argument::value(self.lines.from.stride as u64),
            Argument::value(self.lines.to.stride as u64),
            Argument::value(self.columns as u32),
            Argument::value([n as u32, self.m as u32, self.way as u32, vectors as u32]),
            Argument::value([self.lines.from.mode as u32, self.lines.to.mode as u32, flags, offsets]),
            self.lines.present(),
            Argument::value(T::from_f64(scale)),
            Argument::local::<T>(work),
            Argument::local::<u64>(4 * together),
        ];
        let range = Range::groups(lines.div_ceil(together), local);
        Ok(kernel.launch(range, &[&arguments[..], more].concat())?)
    }
}

/// Returns the two steps of long lines with these geometries.
///
/// A line x of length n = n₁n₂ is an array of n₁ rows and n₂ columns. The first step transforms the
/// columns, and turns result k₁ of column j₂ by exp(−2πi k₁j₂/n). The second one transforms rows:
/// result k₂ of row k₁ is number k₁ + n₁k₂.
fn steps<T: Real>(device: &Device, first: Lines, second: Lines, columns: usize) -> FftResult<[Local<T>; 2]> {
    Ok([Local::direct(device, first, columns)?, Local::direct(device, second, 0)?])
}

impl<T: Real> Long<T> {
    /// Prepares lines by way of contiguous ones of length `m` = n₁n₂.
    fn new(device: &Device, lines: Lines, m: usize, [n1, n2]: [usize; 2]) -> FftResult<Self> {
        let is_bluestein = m != lines.length;
        let singles = lines.count();
        let count = if lines.are_paired() { singles.div_ceil(2) } else { singles };
        let contiguous = |length, from, to| Lines {
            length,
            extents: vec![count],
            from: Side { mode: Mode::Complex, stride: from, distances: vec![m], present: length },
            to: Side { mode: Mode::Complex, stride: to, distances: vec![m], present: length },
        };
        let first = contiguous(n1, n2, n2).with_columns(n2, 1, 1);
        let second = contiguous(n2, 1, n1).with_columns(n1, n2, 1);
        let convolution = is_bluestein.then(|| tables::bluestein(lines.length, m));
        let one = vec![num_complex::Complex64::new(1.0, 0.0)];
        let (chirp, response) = convolution.map_or((one.clone(), one), |c| (c.chirp, c.response));
        Ok(Self {
            m,
            is_bluestein,
            geometry: Buffer::from_slice(device, &lines.geometry())?,
            chirp: buffer(device, &chirp)?,
            response: buffer(device, &response)?,
            steps: steps(device, first, second, n2)?,
            lines,
        })
    }

    fn run(
        &self,
        kernels: &Kernels<T>,
        [a, b]: [&mut Scratch; 2],
        from: Operand<'_>,
        to: Operand<'_>,
        swapped: u32,
        scale: f64,
    ) -> FftResult<Vec<Event>> {
        let singles = self.lines.count();
        let count = if self.lines.are_paired() { singles.div_ceil(2) } else { singles };
        let (n, m) = (self.lines.length, self.m);
        let reals = |is_complex: bool| 1 + u32::from(is_complex);
        let offsets = reals(from.is_complex) | (reals(to.is_complex) << 16);
        let lines = [Argument::value(count as u64), Argument::value(singles as u64)];
        let sizes = Argument::value([n as u32, m as u32, u32::from(self.is_bluestein), 1]);
        let modes =
            Argument::value([self.lines.from.mode as u32, self.lines.to.mode as u32, swapped, offsets]);
        let [geometry, chirp] = [Argument::from(&self.geometry), Argument::from(&self.chirp)];
        let local = kernels.cut.local;
        let range = |items: usize| Range::covering(items.min(1 << 18), local);
        let [from_stride, to_stride] =
            [self.lines.from.stride, self.lines.to.stride].map(|stride| Argument::value(stride as u64));
        let mut events = vec![kernels.gather.launch(
            range(count * m),
            &[
                from.argument,
                a.output(),
                geometry,
                chirp,
                lines[0],
                lines[1],
                from_stride,
                sizes,
                modes,
                self.lines.present(),
            ],
        )?];
        // The first step works in place, the second one goes to the other array.
        let transform = |x: &mut Scratch, y: &mut Scratch| -> FftResult<_> {
            let first = self.steps[0].run(kernels, None, Operand::new(x.output(), true), 0, 1.0)?;
            let x = Operand::new(x.input(), true);
            Ok([first, self.steps[1].run(kernels, Some(x), Operand::new(y.output(), true), 0, 1.0)?])
        };
        events.extend(transform(a, b)?);
        let result = if self.is_bluestein {
            let product = [b.output(), (&self.response).into(), lines[0], Argument::value(m as u32)];
            events.push(kernels.product.launch(range(count * m), &product)?);
            events.extend(transform(b, a)?);
            a
        } else {
            b
        };
        let scale = Argument::value(T::from_f64(scale));
        events.push(kernels.scatter.launch(
            range(count * n),
            &[
                result.input(),
                to.argument,
                geometry,
                chirp,
                lines[0],
                lines[1],
                to_stride,
                sizes,
                modes,
                self.lines.present(),
                scale,
            ],
        )?);
        Ok(events)
    }
}

impl<T: Real> Axis<T> {
    /// Prepares lines that fit local memory, in sorted order.
    pub fn in_one(device: &Device, cut: Cut, lines: Lines, tuning: &FftTuning) -> FftResult<Self> {
        let plan = match Tile::of_lines(cut, size_of::<T>(), &lines, tuning) {
            Some(tile) => AxisPlan::Tiles(Box::new(Tiles::new(device, tile, Places::of_lines(&lines))?)),
            None => AxisPlan::Local(Box::new(Local::new(device, lines, tuning, 0, None)?)),
        };
        Ok(Self { plan, scratch: 0 })
    }

    /// Returns the tile for planes of the last two axes; `None` if they are small or do not fit.
    fn tile_of_planes(kernels: &Kernels<T>, shape: &Shape, modes: [Mode; 2]) -> Option<Tile> {
        let [.., n2, n3] = shape.extents[..] else { return None };
        let points = shape.points() * shape.batch;
        let is_worth = points >= LEAST_ELEMENTS && points / (n2 * n3) < 1 << 31;
        Tile::of_planes(kernels.cut, size_of::<T>(), [n2, n3], modes).filter(|_| is_worth)
    }

    /// Returns `true` if the last two axes take one launch, with rows of these modes.
    pub fn are_planes(kernels: &Kernels<T>, shape: &Shape, modes: [Mode; 2]) -> bool {
        Self::tile_of_planes(kernels, shape, modes).is_some()
    }

    /// Prepares planes of the last two axes, which [`are_planes`](Self::are_planes).
    pub fn planes(
        device: &Device,
        kernels: &Kernels<T>,
        shape: &Shape,
        from: (&Layout, Mode),
        to: (&Layout, Mode),
    ) -> FftResult<Self> {
        let tile = Self::tile_of_planes(kernels, shape, [from.1, to.1]).expect("the axes are planes");
        let rest = &shape.extents[..shape.extents.len() - 2];
        let count = rest.iter().product::<usize>() * shape.batch;
        // The others are dimensions of lines that have the second axis.
        let mut others = lines(&shape.extents, shape.batch, rest.len(), from, to);
        others.extents.remove(rest.len());
        others.from.distances.remove(rest.len());
        others.to.distances.remove(rest.len());
        let steps =
            [from, to].map(|(layout, _)| [rest.len(), rest.len() + 1].map(|axis| layout.strides[axis]));
        let places = Places { geometry: others.sorted().geometry(), count, steps };
        Ok(Self { plan: AxisPlan::Tiles(Box::new(Tiles::new(device, tile, places)?)), scratch: 0 })
    }

    /// Prepares the transform of these lines.
    pub fn new(device: &Device, kernels: &Kernels<T>, lines: Lines) -> FftResult<Self> {
        let longest = kernels.cut.longest(size_of::<T>());
        let (n, lines) = (lines.length, lines.sorted());
        if let Some(tuning) = FftTuning::chosen::<T>(device, kernels.cut, &lines) {
            return Self::in_one(device, kernels.cut, lines, &tuning);
        }
        let (is_smooth, m) = (factors(n).is_some(), fast_length(2 * n - 1));
        let singles = lines.count();
        let two = two_factors(n, longest).filter(|_| is_smooth);
        if let Some([n1, n2]) = two
            && !lines.are_paired()
            && lines.are_whole()
        {
            // Between the steps lines are contiguous, in the order of their numbers.
            let mut between = Vec::new();
            lines.extents.iter().fold(n, |distance, &extent| {
                between.push(distance);
                distance * extent
            });
            let scratch =
                |stride, present| Side { mode: Mode::Complex, stride, distances: between.clone(), present };
            let (from, to) = (lines.from.clone(), lines.to.clone());
            let read = Side { stride: n2 * from.stride, present: n1, ..from.clone() };
            let first = Lines { length: n1, from: read, to: scratch(n2, n1), ..lines.clone() };
            let written = Side { stride: n1 * to.stride, present: n2, ..to.clone() };
            let second = Lines { length: n2, from: scratch(1, n2), to: written, ..lines };
            let first = first.with_columns(n2, from.stride, 1);
            let second = second.with_columns(n1, n2, to.stride);
            let plan = AxisPlan::TwoSteps(Box::new(steps(device, first, second, n2)?));
            return Ok(Self { plan, scratch: n * singles });
        }
        let count = if lines.are_paired() { singles.div_ceil(2) } else { singles };
        let parts = two
            .or_else(|| two_factors(m, longest))
            .or_else(|| two_factors((2 * n - 1).next_power_of_two(), longest))
            .ok_or_else(|| FftError::TooLong {
                length: n,
                longest: longest * longest,
                device: device.label().to_owned(),
            })?;
        let m = parts[0] * parts[1];
        Ok(Self { plan: AxisPlan::Long(Box::new(Long::new(device, lines, m, parts)?)), scratch: m * count })
    }

    /// Returns the bytes of scratch memory that a run needs.
    pub fn scratch_bytes(&self) -> u64 {
        let arrays = if matches!(self.plan, AxisPlan::TwoSteps(_)) { 1 } else { 2 };
        arrays * self.scratch as u64 * 2 * size_of::<T>() as u64
    }

    /// Transforms all lines, and returns what was launched.
    ///
    /// Without `from` lines are transformed in place.
    pub fn run(
        &self,
        device: &Device,
        kernels: &Kernels<T>,
        direction: Direction,
        from: Option<Operand<'_>>,
        to: Operand<'_>,
        scale: f64,
    ) -> FftResult<Vec<Event>> {
        let swapped = match direction {
            Direction::Forward => 0,
            Direction::Inverse => LOAD_SWAPPED | STORE_SWAPPED,
        };
        match &self.plan {
            AxisPlan::Local(local) => Ok(vec![local.run(kernels, from, to, swapped, scale)?]),
            AxisPlan::Tiles(tiles) => Ok(vec![tiles.run(from, to, swapped, scale)?]),
            AxisPlan::TwoSteps(steps) => {
                let [first, second] = &**steps;
                let mut between = device.scratch::<Complex<T>>(self.scratch)?;
                let from = from.unwrap_or(to);
                let there = Operand::new(between.output(), true);
                let event = first.run(kernels, Some(from), there, swapped & LOAD_SWAPPED, 1.0)?;
                let back = Operand::new(between.input(), true);
                Ok(vec![event, second.run(kernels, Some(back), to, swapped & STORE_SWAPPED, scale)?])
            }
            AxisPlan::Long(long) => {
                let mut a = device.scratch::<Complex<T>>(self.scratch)?;
                let mut b = device.scratch::<Complex<T>>(self.scratch)?;
                long.run(kernels, [&mut a, &mut b], from.unwrap_or(to), to, swapped, scale)
            }
        }
    }
}
