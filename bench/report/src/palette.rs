//! The colours of series: eight that differ for everybody, on a light and on a dark page.
//!
//! They began as those of Okabe and Ito (*Color Universal Design*, 2008), moved until each stands
//! out against its page, and any two differ as much as possible for readers with and without each
//! kind of colour blindness. Further series have the same colours, and other patterns.

use std::fmt::Write;

/// A colour: red, green and blue.
type Colour = u32;

/// The colours on one kind of page.
struct Palette {
    series: [Colour; COLOURS],
    /// The page itself.
    paper: Colour,
}

/// Number of colours.
pub const COLOURS: usize = 8;

/// Number of patterns of lines and bars for series of the same colour.
pub const PATTERNS: usize = 3;

const LIGHT: Palette = Palette {
    series: [0x04_6591, 0xe9_6708, 0x10_a67b, 0xa5_41dc, 0x00_0000, 0xb9_4300, 0x9f_87d5, 0x83_3242],
    paper: 0xff_ffff,
};

const DARK: Palette = Palette {
    series: [0x39_b9ff, 0xe6_9f00, 0x0d_9b92, 0xf0_ea40, 0xb9_ffff, 0xd4_5e02, 0x40_669d, 0xb9_bda9],
    paper: 0x15_181b,
};

/// Returns the style sheet: a variable per colour, and classes that choose one.
pub fn style() -> String {
    let mut style =
        format!(":root{{{}}}@media(prefers-color-scheme:dark){{:root{{{}}}}}", LIGHT.variables(), DARK.variables());
    for index in 0..COLOURS {
        // Writing to a string never fails.
        let _ = write!(style, ".c{index}{{--c:var(--c{index})}}");
    }
    style
}

/// Returns the CSS classes of a series: its colour, and its pattern.
pub fn classes(series: usize) -> String {
    format!("c{} p{}", series % COLOURS, series / COLOURS % PATTERNS)
}

impl Palette {
    fn variables(&self) -> String {
        let series = self.series.iter().enumerate().map(|(index, colour)| format!("--c{index}:#{colour:06x};"));
        series.collect::<String>() + &format!("--paper:#{:06x}", self.paper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Vector = [f64; 3];
    type Matrix = [Vector; 3];

    /// Normal vision, and protanopia, deuteranopia and tritanopia after Machado et al., *A
    /// Physiologically-based Model for Simulation of Color Vision Deficiency* (2009).
    const VISIONS: [Matrix; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
        [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
        [[1.255_528, -0.076_749, -0.178_779], [-0.078_411, 0.930_809, 0.147_602], [0.004_733, 0.691_367, 0.303_900]],
    ];

    /// The minimum distance in Oklab, in which one step that the eye can see is about 0.02. That of
    /// Okabe's and Ito's own colours is 0.076.
    const DISTANCE: f64 = 0.12;

    /// The minimum contrast of graphics by WCAG 2.2, criterion 1.4.11.
    const CONTRAST: f64 = 3.0;

    fn linear(colour: Colour) -> Vector {
        [16, 8, 0].map(|shift| {
            let part = f64::from(colour >> shift & 0xff) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: &Matrix, vector: Vector) -> Vector {
        matrix.map(|row| row.iter().zip(vector).map(|(one, other)| one * other).sum())
    }

    fn oklab(linear: Vector) -> Vector {
        const CONES: Matrix =
            [[0.412_221, 0.536_333, 0.051_446], [0.211_903, 0.680_700, 0.107_397], [0.088_302, 0.281_719, 0.629_979]];
        const LAB: Matrix = [
            [0.210_454, 0.793_618, -0.004_072],
            [1.977_998, -2.428_592, 0.450_594],
            [0.025_904, 0.782_772, -0.808_676],
        ];
        times(&LAB, times(&CONES, linear).map(f64::cbrt))
    }

    fn seen(colour: Colour, vision: &Matrix) -> Vector {
        oklab(times(vision, linear(colour)).map(|part| part.clamp(0.0, 1.0)))
    }

    fn distance(one: Colour, other: Colour, vision: &Matrix) -> f64 {
        let (one, other) = (seen(one, vision), seen(other, vision));
        one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
    }

    fn contrast(one: Colour, other: Colour) -> f64 {
        let luminance = |colour| {
            let [red, green, blue] = linear(colour);
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let (one, other) = (luminance(one), luminance(other));
        (one / other).max(other / one)
    }

    #[test]
    fn any_two_colours_differ_for_everybody() {
        for palette in [LIGHT, DARK] {
            for (at, &one) in palette.series.iter().enumerate() {
                for &other in &palette.series[..at] {
                    let least = VISIONS.iter().map(|vision| distance(one, other, vision)).fold(f64::MAX, f64::min);
                    assert!(least >= DISTANCE, "{one:06x} and {other:06x}: {least}");
                }
            }
        }
    }

    #[test]
    fn colours_stand_out_against_their_page() {
        for palette in [LIGHT, DARK] {
            for colour in palette.series {
                assert!(contrast(colour, palette.paper) >= CONTRAST, "{colour:06x}");
            }
        }
        assert!((contrast(0, 0xff_ffff) - 21.0).abs() < 1e-9);
    }

    #[test]
    fn series_of_the_same_colour_have_another_pattern() {
        let all: std::collections::HashSet<_> = (0..COLOURS * PATTERNS).map(classes).collect();
        assert_eq!(all.len(), COLOURS * PATTERNS);
        let style = style();
        assert!(["--c7:#833242", "--c7:#b9bda9", ".c7{--c:var(--c7)}"].iter().all(|part| style.contains(part)));
    }
}
