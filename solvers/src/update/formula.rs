//! The contents of a formula.

/// Most vectors of a formula.
pub(super) const MOST_FIELDS: usize = 8;
/// Most factors of a formula.
pub(super) const MOST_FACTORS: usize = 4;
/// Most assignments of a formula.
pub(super) const MOST_ASSIGNMENTS: usize = 4;
/// Most terms of an assignment, without the first vector.
pub(super) const MOST_TERMS: usize = 4;

/// The number of a vector, among the read or the written vectors of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A vector that is only read.
    Read(usize),
    /// A vector that is written.
    Written(usize),
}

/// A term of a sum: a factor times a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// `true` if the term is subtracted.
    pub negative: bool,
    /// Number of the factor.
    pub factor: usize,
    /// The vector.
    pub field: Operand,
}

/// A vector becomes a vector plus terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Number of the vector among the written vectors.
    pub to: usize,
    /// The first vector on the right.
    pub first: Operand,
    pub(super) terms: [Term; MOST_TERMS],
    pub(super) count: usize,
}

impl Assignment {
    pub(super) const NONE: Self = {
        let term = Term { negative: false, factor: 0, field: Operand::Read(0) };
        Self { to: 0, first: Operand::Read(0), terms: [term; MOST_TERMS], count: 0 }
    };

    /// Returns the terms behind the first vector, in the order of addition.
    pub fn terms(&self) -> &[Term] {
        &self.terms[..self.count]
    }
}

/// The formula of a fused update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    /// The place in the text that names each vector first.
    pub(super) fields: [usize; MOST_FIELDS],
    pub(super) is_written: [bool; MOST_FIELDS],
    pub(super) is_loaded: [bool; MOST_FIELDS],
    pub(super) field_count: usize,
    /// The place in the text that names each factor first.
    pub(super) factors: [usize; MOST_FACTORS],
    pub(super) factor_count: usize,
    pub(super) assignments: [Assignment; MOST_ASSIGNMENTS],
    pub(super) assignment_count: usize,
    pub(super) product: Option<(Operand, Operand)>,
    pub(super) norm2: Option<Operand>,
}

impl Formula {
    /// Returns the name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the text.
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// Returns the number of factors.
    pub const fn factors(&self) -> usize {
        self.factor_count
    }

    /// Returns the number of vectors that are only read.
    pub const fn read(&self) -> usize {
        self.field_count - self.written()
    }

    /// Returns the number of vectors that are written.
    pub const fn written(&self) -> usize {
        let (mut count, mut k) = (0, 0);
        while k < self.field_count {
            count += self.is_written[k] as usize;
            k += 1;
        }
        count
    }

    /// Returns the number of sums.
    pub const fn sums(&self) -> usize {
        self.product.is_some() as usize + self.norm2.is_some() as usize
    }

    /// Returns the assignments, in their order.
    pub fn assignments(&self) -> &[Assignment] {
        &self.assignments[..self.assignment_count]
    }

    /// Returns the two vectors whose inner product is a sum, if there is one.
    pub fn product(&self) -> Option<(Operand, Operand)> {
        self.product
    }

    /// Returns the vector whose squared norm is a sum, if there is one.
    pub fn norm2(&self) -> Option<Operand> {
        self.norm2
    }

    /// Returns all vectors, in the order in which the text names them first.
    pub fn fields(&self) -> impl Iterator<Item = Operand> {
        (0..self.field_count).map(|k| self.operand(k))
    }

    /// Tells whether the update needs the value that the vector has before.
    pub fn is_loaded(&self, field: Operand) -> bool {
        self.place(field).is_some_and(|k| self.is_loaded[k])
    }

    /// Returns the letter of a vector.
    pub fn field_name(&self, field: Operand) -> &'static str {
        self.place(field).map_or("", |k| self.letter(self.fields[k]))
    }

    /// Returns the letter of a factor.
    pub fn factor_name(&self, factor: usize) -> &'static str {
        self.letter(self.factors[factor])
    }

    /// Returns the floating-point operations for each component.
    ///
    /// They are 8 for a term, 8 for an inner product, and 4 for a norm.
    pub fn flops(&self) -> usize {
        let terms: usize = self.assignments().iter().map(|assignment| assignment.terms().len()).sum();
        8 * terms + 8 * usize::from(self.product.is_some()) + 4 * usize::from(self.norm2.is_some())
    }

    /// Returns the vectors that go through memory, if each is loaded and stored once.
    pub fn passes(&self) -> usize {
        self.is_loaded.iter().filter(|loaded| **loaded).count() + self.written()
    }

    fn letter(&self, at: usize) -> &'static str {
        &self.text[at..=at]
    }

    /// Returns the place of a vector among all vectors.
    fn place(&self, field: Operand) -> Option<usize> {
        (0..self.field_count).find(|k| self.operand(*k) == field)
    }

    /// Returns the vector that the text names as number `k`.
    pub(super) const fn operand(&self, k: usize) -> Operand {
        let (mut before, mut i) = (0, 0);
        while i < k {
            before += (self.is_written[i] == self.is_written[k]) as usize;
            i += 1;
        }
        if self.is_written[k] { Operand::Written(before) } else { Operand::Read(before) }
    }
}
