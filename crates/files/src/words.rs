//! Enumerations whose values have a word each: on command lines, in job files, in results.

/// An enumeration of words, made by [`words!`](crate::words!).
pub trait Words: Copy + Send + Sync + 'static {
    /// The noun for a value, without an article: `multigrid cycle`.
    const WHAT: &'static str;
    /// All values, in the order in which help lists them.
    const VALUES: &'static [Self];

    /// Returns the word of the value.
    fn word(self) -> &'static str;

    /// Returns other words that are read as the value, and never written.
    fn aliases(self) -> &'static [&'static str];

    /// Returns a line of help, empty where the word says it all.
    fn help(self) -> &'static str;
}

/// Reads the word of a value.
///
/// # Errors
/// A message with all words if there is no such value.
pub fn parse<T: Words>(text: &str) -> Result<T, String> {
    let is_read = |value: &&T| value.word() == text || value.aliases().contains(&text);
    let found = T::VALUES.iter().find(is_read).copied();
    found.ok_or_else(|| format!("`{text}` is no {}; choose {}", T::WHAT, listed::<T>()))
}

/// Returns all words, in the order in which help lists them.
pub fn all<T: Words>() -> Vec<&'static str> {
    T::VALUES.iter().map(|value| value.word()).collect()
}

/// Returns all words as a list in a sentence: `a, b or c`.
pub fn listed<T: Words>() -> String {
    sentence(&all::<T>(), "or")
}

/// Returns words as a list in a sentence, with `before_last` before the last one.
pub fn sentence(words: &[&str], before_last: &str) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => {
            format!("{} {before_last} {last}", first.join(", "))
        }
        _ => words.concat(),
    }
}

/// Gives an enumeration its words.
///
/// Makes the constant `ALL`, the function `name`, [`Display`](std::fmt::Display),
/// [`FromStr`](std::str::FromStr) and [`Words`]. A text behind a word is its line of help.
/// Words behind `|` are read too. A variant with a field is written with the field's value.
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Cycle {
///     V,
///     K,
/// }
/// lattice_files::words! { Cycle, "cycle": V = "v"; K = "k" | "krylov", "more work, fewer cycles" }
/// assert_eq!("k".parse(), Ok(Cycle::K));
/// assert_eq!("krylov".parse(), Ok(Cycle::K));
/// assert_eq!("w".parse::<Cycle>(), Err("`w` is no cycle; choose v or k".to_owned()));
/// assert_eq!((Cycle::V.to_string(), Cycle::ALL.len()), ("v".to_owned(), 2));
/// ```
#[macro_export]
macro_rules! words {
    (
        $type:ty, $what:literal:
        $($value:ident $(($field:path))? = $word:literal $(| $alias:literal)* $(, $help:literal)?);+ $(;)?
    ) => {
        impl $type {
            /// All values.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$value $(($field))?),+];

            /// Returns the word that stands for the value.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value $(($field))? => $word),+
                }
            }
        }

        impl $crate::words::Words for $type {
            const WHAT: &'static str = $what;
            const VALUES: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                self.name()
            }

            fn aliases(self) -> &'static [&'static str] {
                match self {
                    $(Self::$value $(($field))? => &[$($alias),*]),+
                }
            }

            fn help(self) -> &'static str {
                match self {
                    $(Self::$value $(($field))? => concat!($($help)?)),+
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                $crate::words::parse(text)
            }
        }
    };
}
