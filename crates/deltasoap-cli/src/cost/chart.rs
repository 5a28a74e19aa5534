//! Points and lines over an axis of numbers, as SVG.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

const SIZE: (u32, u32) = (900, 340);
const FONT: (&str, i32) = ("sans-serif", 14);
const COLORS: [RGBColor; 4] =
    [RGBColor(0x1F, 0x6F, 0xB4), RGBColor(0xE0, 0x60, 0x30), RGBColor(0x3B, 0x98, 0x4B), RGBColor(0x8A, 0x5F, 0x98)];

/// Points under one name.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// Whether a line connects them.
    pub is_line: bool,
}

/// Lines over one axis.
pub struct Chart {
    pub x: String,
    pub y: String,
    pub lines: Vec<Line>,
}

impl Chart {
    /// Draws it.
    ///
    /// # Errors
    /// When the plotting library refuses to draw.
    pub fn svg(&self) -> Result<String> {
        let mut text = String::new();
        self.draw(&mut text).map_err(|error| anyhow!("a chart cannot be drawn: {error}"))?;
        Ok(text)
    }

    fn draw(&self, text: &mut String) -> Result<(), Box<dyn std::error::Error + '_>> {
        let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
        let mut builder = ChartBuilder::on(&area);
        builder.margin(8).x_label_area_size(42).y_label_area_size(76);
        let mut chart = builder.build_cartesian_2d(self.range(|point| point.0), self.range(|point| point.1))?;
        chart.configure_mesh().x_desc(&self.x).y_desc(&self.y).label_style(FONT).draw()?;
        for (line, color) in self.lines.iter().zip(COLORS.into_iter().cycle()) {
            let points = line.points.iter().copied();
            let drawn = match line.is_line {
                true => chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?,
                false => chart.draw_series(points.map(|point| Circle::new(point, 2, color.filled())))?,
            };
            drawn.label(&line.name).legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], color.filled()));
        }
        let mut labels = chart.configure_series_labels();
        labels.position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.2));
        labels.label_font(FONT).draw()?;
        area.present()?;
        Ok(())
    }

    /// From zero, or the least below, to a little above the greatest.
    fn range(&self, of: impl Fn(&(f64, f64)) -> f64) -> std::ops::Range<f64> {
        let numbers = self.lines.iter().flat_map(|line| &line.points).map(of).filter(|number| number.is_finite());
        let (low, high) = numbers.fold((0.0_f64, 0.0_f64), |(low, high), number| (low.min(number), high.max(number)));
        if low == high { 0.0..1.0 } else { low * 1.08..high * 1.08 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>, is_line: bool) -> Chart {
        Chart { x: "items".into(), y: "µs".into(), lines: vec![Line { name: "ints".into(), points, is_line }] }
    }

    #[test]
    fn every_point_is_drawn() {
        let svg = chart(vec![(1.0, 2.0), (3.0, -4.0)], false).svg().expect("drawn");
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(["items", "µs", "ints"].iter().all(|text| svg.contains(text)));
        assert!(chart(vec![(1.0, 2.0), (3.0, 4.0)], true).svg().expect("drawn").contains("<polyline"));
    }

    #[test]
    fn nothing_to_draw_is_drawn_too() {
        assert!(chart(Vec::new(), true).svg().is_ok());
        assert!(chart(vec![(f64::NAN, 1.0)], true).svg().is_ok());
    }
}
