//! Plots as SVG text, to stand in an HTML page.

use anyhow::Result;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;

/// Values under one label.
pub struct Series {
    pub label: &'static str,
    pub color: RGBColor,
    pub values: Vec<f64>,
}

/// The colour of regular mode.
pub const REGULAR: RGBColor = RGBColor(0x8A, 0x8F, 0x98);
/// The colour of differential decoding, of templates, and of messages that are the same.
pub const DIFFERENTIAL: RGBColor = RGBColor(0x1F, 0x6F, 0xB4);
/// The colour of perfect structural matches.
pub const PERFECT: RGBColor = RGBColor(0x5B, 0xA8, 0x5B);
/// The colour of partial structural matches.
pub const PARTIAL: RGBColor = RGBColor(0xE0, 0xA0, 0x30);
/// The colour of what was written for the first time.
pub const FIRST: RGBColor = REGULAR;

const WIDTH: u32 = 900;
const HEIGHT: u32 = 320;
const FONT: (&str, i32) = ("sans-serif", 14);

type Area<'svg> = DrawingArea<SVGBackend<'svg>, Shift>;
type Builder<'a, 'svg> = ChartBuilder<'a, 'a, SVGBackend<'svg>>;
type Chart<'a, 'svg, X> = ChartContext<'a, SVGBackend<'svg>, Cartesian2d<X, RangedCoordf64>>;

/// Bars in groups: a group for each name, in it a bar of each series.
///
/// # Errors
/// When the plotting library refuses to draw.
pub fn bars(unit: &str, names: &[&str], series: &[Series]) -> Result<String> {
    drawn(|area| {
        let groups = names.len() as i32;
        let axis = (-GROUP / 2..GROUP * groups - GROUP / 2).with_key_points((0..groups).map(|at| at * GROUP).collect());
        let mut chart = builder(area).build_cartesian_2d(axis, 0.0..top(series))?;
        let name = |x: &i32| names.get((x / GROUP) as usize).copied().unwrap_or_default().to_owned();
        let mut mesh = chart.configure_mesh();
        mesh.disable_x_mesh().x_label_formatter(&name);
        mesh.y_labels(6).y_max_light_lines(1).y_desc(unit).label_style(FONT).draw()?;
        for (index, each) in (0..).zip(series) {
            let width = BARS / series.len() as i32;
            let left = width * index - BARS / 2;
            let bar = |(group, &value): (i32, &f64)| bar(group * GROUP + left, width, value, each.color);
            draw(&mut chart, each, (0..).zip(&each.values).map(bar))?;
        }
        label(&mut chart)
    })
}

/// From one group to the next.
const GROUP: i32 = 100;
/// Width of the bars of a group.
const BARS: i32 = 80;
/// Between two bars.
const GAP: i32 = 3;

fn bar(left: i32, width: i32, value: f64, color: RGBColor) -> Rectangle<(i32, f64)> {
    Rectangle::new([(left, 0.0), (left + width - GAP, value)], color.filled())
}

/// A line for each series; the first value is message 1's, the next one that of `step` messages later.
///
/// # Errors
/// When the plotting library refuses to draw.
pub fn lines(unit: &str, series: &[Series], step: usize) -> Result<String> {
    drawn(|area| {
        let points = series.iter().map(|each| each.values.len()).max().unwrap_or_default();
        let number = |index: usize| i32::try_from(index * step + 1).unwrap_or(i32::MAX);
        let axis = 1..number(points.max(2) - 1);
        let mut chart = builder(area).build_cartesian_2d(axis, 0.0..top(series))?;
        let mut mesh = chart.configure_mesh();
        mesh.disable_x_mesh().x_desc("message");
        mesh.y_labels(6).y_max_light_lines(1).y_desc(unit).label_style(FONT).draw()?;
        for each in series {
            let points = each.values.iter().enumerate().map(|(index, &value)| (number(index), value));
            draw(&mut chart, each, LineSeries::new(points, each.color.stroke_width(2)))?;
        }
        label(&mut chart)
    })
}

/// The SVG text of what `draw` draws.
fn drawn(draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<String> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area();
    draw(&area)?;
    area.present()?;
    drop(area);
    Ok(text)
}

fn builder<'a, 'svg>(area: &'a Area<'svg>) -> Builder<'a, 'svg> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(8).x_label_area_size(42).y_label_area_size(70);
    builder
}

/// Where the upper end of the axis is: there is room for the labels above the highest bar.
fn top(series: &[Series]) -> f64 {
    let highest = series.iter().flat_map(|each| &each.values).copied().fold(0.0, f64::max);
    if highest > 0.0 { highest * 1.3 } else { 1.0 }
}

/// Draws a series, and remembers its label and colour.
fn draw<'svg, X, E>(
    chart: &mut Chart<'_, 'svg, X>,
    series: &Series,
    elements: impl IntoIterator<Item = E>,
) -> Result<()>
where
    X: Ranged<ValueType = i32>,
    for<'e> &'e E: PointCollection<'e, (i32, f64)>,
    E: Drawable<SVGBackend<'svg>>,
{
    let color = series.color;
    let key = move |(x, y): (i32, i32)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], color.filled());
    chart.draw_series(elements)?.label(series.label).legend(key);
    Ok(())
}

/// Says which colour is what.
fn label<'a, 'svg: 'a, X: Ranged<ValueType = i32>>(chart: &mut Chart<'a, 'svg, X>) -> Result<()> {
    let mut labels = chart.configure_series_labels();
    let place = SeriesLabelPosition::UpperRight;
    Ok(labels.position(place).background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.2)).label_font(FONT).draw()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> [Series; 1] {
        [Series { label: "some", color: REGULAR, values: values.to_vec() }]
    }

    #[test]
    fn every_bar_and_every_name_is_drawn() {
        let plot = bars("MB/s", &["one", "two"], &series(&[3.0, 4.0])).expect("a plot");
        assert!(plot.starts_with("<svg") && plot.trim_end().ends_with("</svg>"));
        assert_eq!(plot.matches("#8A8F98").count(), 3, "two bars and the key: {plot}");
        assert!(["one", "two", "some", "MB/s"].iter().all(|text| plot.contains(text)));
    }

    #[test]
    fn nothing_to_draw_is_drawn_too() {
        for values in [&[][..], &[0.0], &[1.0]] {
            assert!(bars("", &["x"], &series(values)).is_ok());
            assert!(lines("", &series(values), 3).is_ok());
        }
        assert!(bars("", &[], &[]).is_ok());
    }
}
