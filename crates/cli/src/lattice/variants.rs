//! Short texts of kernel variants and of the kernels that have them.

use lattice_cl::operator::Tuning;
use lattice_compute::tuning::text_of;
use lattice_linalg::fft::FftTuning;
use lattice_linalg::gemm::GemmTuning;
use lattice_md::PairTuning;
use serde::Deserialize;
use serde_json::Value;

/// Describes a variant of the tuning file, without options that are off.
pub fn short(kernel: &str, variant: &Value) -> String {
    let known = match kernel {
        "wilson" => Tuning::deserialize(variant).ok().map(|tuning| describe(&tuning)),
        "gemm" => GemmTuning::deserialize(variant).ok().map(|tuning| tuning.to_string()),
        "fft" => FftTuning::deserialize(variant).ok().map(|tuning| tuning.to_string()),
        "md" => PairTuning::deserialize(variant).ok().map(|tuning| tuning.to_string()),
        _ => None,
    };
    known.unwrap_or_else(|| text_of(variant))
}

/// Shortens the options of a kernel, `name=value name=value`.
///
/// Names that go without saying are left out.
pub fn short_options(options: &str) -> String {
    let words = options.split(' ').filter_map(|option| match option.split_once('=') {
        Some((_, "false")) | Some(("sources", "1")) => None,
        Some((name, "true")) => Some(name.to_owned()),
        Some((name, number)) if number.parse::<u32>().is_ok() => Some(format!("{name} {number}")),
        Some((_, word)) => Some(word.to_owned()),
        None => Some(option.to_owned()),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Describes a variant of the stencil, without options that are off.
pub fn describe(tuning: &Tuning) -> String {
    let Tuning {
        work_group,
        columns_per_item,
        share_links,
        max_registers,
        stream_links,
        stream_output,
        tile_z,
        boxes,
        rounds,
        prefetch,
    } = *tuning;
    let mut variant = format!("group {work_group}");
    if columns_per_item > 1 {
        variant += &format!(", sources {columns_per_item}");
    }
    if share_links {
        variant += ", links shared";
    }
    if let Some(count) = max_registers {
        variant += &format!(", registers {count}");
    }
    if stream_links {
        variant += ", links streamed";
    }
    if stream_output {
        variant += ", output streamed";
    }
    if tile_z != 0 {
        variant += &format!(", tile {tile_z}");
    }
    if boxes {
        variant += ", boxes";
    }
    if rounds > 1 {
        variant += &format!(", rounds {rounds}");
    }
    if prefetch != 0 {
        variant += &format!(", prefetch {prefetch}");
    }
    variant
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_off_is_left_out() {
        let options = "region=parity+shift precision=double links=18 sources=1 product=false";
        assert_eq!(short_options(options), "parity+shift double links 18");
        assert_eq!(short_options("element=d form=nt product=true sources=12"), "d nt product sources 12");
        let variant = json!({
            "work_group": 64, "sources_per_item": 1, "share_links": false, "max_registers": 128, "stream_links": true,
            "stream_output": false, "tile_z": 0, "boxes": false, "rounds": 1, "prefetch": 0
        });
        assert_eq!(short("wilson", &variant), "group 64, registers 128, links streamed");
        let panels = json!({ "kernel": "panels", "panel": [16, 8], "block": [128, 192, 256], "lanes": 8 });
        assert_eq!(short("gemm", &panels), "panels 16x8, block 128x192x256");
        let rader = json!({ "way": "rader", "radices": [10, 5, 5], "elements": 1024, "items": 128 });
        assert_eq!(short("fft", &rader), "rader 10·5·5, groups of 1024 elements, 128 items");
        assert_eq!(short("gemm", &json!({ "kernel": "other", "n": 3 })), "kernel=\"other\" n=3");
    }
}
