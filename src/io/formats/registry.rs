//! The registry: a line for each format, from which every list of formats is made.

/// Hands all formats to another macro, as `Name = file`.
///
/// `Name` is the type of the format, in the file beside this one.
///
/// Files are recognised, and formats are listed, in this order. Formats in `written` also have a
/// writer.
macro_rules! every_format {
    ($make:ident) => {
        $make! {
            written {
                /// ILDG: LIME records `ildg-format` and `ildg-binary-data`.
                ///
                /// The file is big-endian, with a SciDAC checksum.
                #[default]
                Ildg = ildg,
                /// SciDAC (QIO): LIME record `scidac-binary-data`.
                ///
                /// The file is big-endian, with a SciDAC checksum.
                SciDac = scidac,
                /// NERSC archive: a text header and three or two rows of each link.
                Nersc = nersc,
                /// MILC version 5: a binary header and links in single precision.
                Milc = milc,
                /// openQCD ("universal"): the links around odd points, little-endian.
                OpenQcd = openqcd,
                /// DDalphaAMG: all links with t slowest, little-endian.
                DdAlphaAmg = ddalphaamg,
                /// Bridge++ text: one number a line, t slowest, without a header.
                BridgeText = bridge_text,
                /// Bridge++ binary: the order of ILDG, big-endian, without a header.
                BridgeBinary = bridge_binary,
                /// NPY, an array of NumPy: direction slowest, then t.
                Npy = npy,
                /// HDF5 as PyQUDA writes it: a dataset for each direction, with its sums.
                PyQudaHdf5 = pyquda_hdf5,
            }
            only_read {}
        }
    };
}

macro_rules! enumeration {
    (
        written { $($(#[$about:meta])* $written:ident = $file:ident,)* }
        only_read { $($(#[$about_read:meta])* $read:ident = $file_read:ident,)* }
    ) => {
        /// A format of gauge configurations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
        pub enum Format {
            $($(#[$about])* $written,)*
            $($(#[$about_read])* $read,)*
        }

        impl Format {
            /// Every format that is written.
            pub const ALL: [Format; [$(Format::$written),*].len()] = [$(Format::$written),*];

            /// Every format that is read: all formats.
            pub const READ: [Format; [$(Format::$written,)* $(Format::$read),*].len()] =
                [$(Format::$written,)* $(Format::$read),*];
        }
    };
}

every_format!(enumeration);
pub(super) use every_format;
