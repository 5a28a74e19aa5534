//! Charts as SVG.

use anyhow::{Result, anyhow};
use plotters::coord::{CoordTranslate, Shift};
use plotters::prelude::*;

use super::exhibit::{Chart, Style};

const SIZE: (u32, u32) = (860, 340);

/// Draws bars in groups or curves, each series in a colour of its own, named in a legend.
///
/// # Errors
/// When the drawing fails; it is into memory.
pub fn svg(chart: &Chart) -> Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let drawn = match &chart.style {
            Style::Bars => draw_bars(chart, &area),
            Style::Curves(places) => draw_curves(chart, places, &area),
        };
        drawn.map_err(|error| anyhow!("a chart cannot be drawn: {error}"))?;
    }
    Ok(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw_bars<'a>(chart: &'a Chart, area: &Area<'a>) -> Drawn {
    area.fill(&WHITE)?;
    let highest = chart.series.iter().flat_map(|(_, values)| values).copied().fold(0.0, f64::max);
    let mut context = ChartBuilder::on(area)
        .caption(&chart.title, ("sans-serif", 17))
        .margin(8)
        .x_label_area_size(24)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..chart.groups.len() as f64, 0.0..highest.max(1e-9) * 1.05)?;
    let name = |place: &f64| chart.groups.get(*place as usize).cloned().unwrap_or_default();
    context
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(chart.groups.len() + 1)
        .x_label_formatter(&name)
        .y_desc(&chart.unit)
        .draw()?;
    for (index, (name, values)) in chart.series.iter().enumerate() {
        let color = color(index);
        let bar = |(group, value): (usize, &f64)| {
            let (left, right) = sides(group, index, chart.series.len());
            Rectangle::new([(left, 0.0), (right, *value)], color.filled())
        };
        context
            .draw_series(values.iter().enumerate().map(bar))?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled()));
    }
    finish(context, area)
}

fn draw_curves<'a>(chart: &'a Chart, places: &[f64], area: &Area<'a>) -> Drawn {
    area.fill(&WHITE)?;
    let heights = chart.series.iter().flat_map(|(_, values)| values).copied();
    let mut context = ChartBuilder::on(area)
        .caption(&chart.title, ("sans-serif", 17))
        .margin(8)
        .x_label_area_size(24)
        .y_label_area_size(62)
        .build_cartesian_2d(decades(places.iter().copied()).log_scale(), decades(heights).log_scale())?;
    context.configure_mesh().y_desc(&chart.unit).draw()?;
    for (index, (name, values)) in chart.series.iter().enumerate() {
        let color = color(index);
        let points: Vec<(f64, f64)> = places.iter().copied().zip(values.iter().copied()).filter(is_drawn).collect();
        let dots = points.clone().into_iter().map(|point| Circle::new(point, 3, color.filled()));
        context.draw_series(dots)?;
        context
            .draw_series(std::iter::once(PathElement::new(points, color.stroke_width(2))))?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled()));
    }
    finish(context, area)
}

/// Adds the legend.
fn finish<'a, C: CoordTranslate>(mut context: ChartContext<'a, SVGBackend<'a>, C>, area: &Area<'a>) -> Drawn {
    let mut legend = context.configure_series_labels();
    legend.position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8)).draw()?;
    area.present()?;
    Ok(())
}

/// Whether a logarithmic scale has a place for it.
fn is_drawn((x, y): &(f64, f64)) -> bool {
    [x, y].into_iter().all(|number| number.is_finite() && *number > 0.0)
}

/// The powers of ten around numbers.
fn decades(numbers: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let positive = numbers.filter(|number| number.is_finite() && *number > 0.0);
    let (low, high) = positive.fold((f64::MAX, f64::MIN), |(low, high), number| (low.min(number), high.max(number)));
    if low > high { 1.0..10.0 } else { 10_f64.powf(low.log10().floor())..10_f64.powf(high.log10().floor() + 1.0) }
}

/// Where the bar of a series stands in its group: groups are 1 wide, with a gap between them.
fn sides(group: usize, series: usize, count: usize) -> (f64, f64) {
    let width = 0.8 / count.max(1) as f64;
    let left = group as f64 + 0.1 + width * series as f64;
    (left, left + width * 0.94)
}

fn color(series: usize) -> RGBColor {
    const COLORS: [(u8, u8, u8); 9] = [
        (68, 119, 170),
        (238, 102, 119),
        (34, 136, 51),
        (204, 187, 68),
        (102, 204, 238),
        (170, 51, 119),
        (120, 120, 120),
        (0, 0, 0),
        (230, 150, 60),
    ];
    let (red, green, blue) = COLORS[series % COLORS.len()];
    RGBColor(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_a_bar_a_value_and_a_legend() {
        let chart = Chart {
            title: "Time <1>".to_owned(),
            unit: "ms".to_owned(),
            groups: vec!["1K".to_owned(), "10K".to_owned()],
            series: vec![("FCP".to_owned(), vec![1.0, 2.0]), ("LCP".to_owned(), vec![0.5, 0.7])],
            style: Style::Bars,
        };
        let svg = svg(&chart).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for part in ["Time &lt;1&gt;", "FCP", "LCP", "10K"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert_eq!(svg.matches("#4477AA").count(), 3, "two bars and the legend");
    }

    fn curves(places: Vec<f64>, values: Vec<f64>) -> Chart {
        Chart {
            title: "Times".to_owned(),
            unit: "ms".to_owned(),
            groups: vec![],
            series: vec![("full".to_owned(), values)],
            style: Style::Curves(places),
        }
    }

    #[test]
    fn a_curve_has_a_dot_a_value_but_where_there_is_none() {
        let svg = svg(&curves(vec![1.0, 100.0, 1e5], vec![0.002, f64::NAN, 70.0])).unwrap();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("full") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn scales_are_whole_decades() {
        assert_eq!(decades([0.002, 70.0].into_iter()), 0.001..100.0);
        assert_eq!(decades([10.0].into_iter()), 10.0..100.0);
    }

    #[test]
    fn an_empty_chart_is_drawn_too() {
        let bars = Chart { style: Style::Bars, series: vec![], ..curves(vec![], vec![]) };
        assert!(svg(&bars).is_ok() && svg(&curves(vec![], vec![])).is_ok());
    }

    #[test]
    fn bars_of_a_group_stand_side_by_side() {
        let all: Vec<(f64, f64)> = (0..3).map(|series| sides(1, series, 3)).collect();
        assert!(all[0].0 >= 1.0 && all[2].1 <= 2.0);
        assert!(all[0].1 <= all[1].0 && all[1].1 <= all[2].0);
    }
}
