//! Charts as SVG for a [`page`](crate::page), whose style sheet defines their colours, light and
//! dark.

use std::fmt::Write;
use std::ops::Range;

use crate::page::escape;
use crate::{number, palette};

/// A chart.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// Label of the horizontal axis, with its unit.
    pub across: String,
    /// Label of the vertical axis, with its unit.
    pub up: String,
    /// The content.
    pub body: Body,
}

/// The content of a chart.
#[derive(Debug, Clone)]
pub enum Body {
    /// Bars in groups, from zero.
    Bars {
        /// Names of the groups.
        groups: Vec<String>,
        /// Name and heights of each series; it has one bar in each group.
        series: Vec<(String, Vec<f64>)>,
    },
    /// Points on two axes. On logarithmic scales, numbers that are not positive are omitted.
    Lines {
        /// The lines.
        lines: Vec<Line>,
        /// True if both scales are logarithmic.
        is_logarithmic: bool,
    },
}

/// Named points.
#[derive(Debug, Clone)]
pub struct Line {
    /// The name.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// The drawing style.
    pub mark: Mark,
}

/// The drawing style of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Separate points.
    Dots,
    /// Connected points.
    Line,
    /// Points with connections.
    Both,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 34.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 44.0;

impl Chart {
    /// Creates a chart of grouped bars.
    pub fn bars(
        title: impl Into<String>,
        across: impl Into<String>,
        up: impl Into<String>,
        groups: Vec<String>,
        series: Vec<(String, Vec<f64>)>,
    ) -> Self {
        Chart { title: title.into(), across: across.into(), up: up.into(), body: Body::Bars { groups, series } }
    }

    /// Creates a chart of one curve per series over the same numbers, on logarithmic scales.
    pub fn curves(
        title: impl Into<String>,
        across: impl Into<String>,
        up: impl Into<String>,
        places: &[f64],
        series: Vec<(String, Vec<f64>)>,
    ) -> Self {
        let line = |(name, heights): (String, Vec<f64>)| Line {
            name,
            points: places.iter().copied().zip(heights).collect(),
            mark: Mark::Both,
        };
        let lines = series.into_iter().map(line).collect();
        let body = Body::Lines { lines, is_logarithmic: true };
        Chart { title: title.into(), across: across.into(), up: up.into(), body }
    }

    /// Creates a chart of lines and dots on scales that include zero.
    pub fn lines(title: impl Into<String>, across: impl Into<String>, up: impl Into<String>, lines: Vec<Line>) -> Self {
        let body = Body::Lines { lines, is_logarithmic: false };
        Chart { title: title.into(), across: across.into(), up: up.into(), body }
    }

    /// Returns the names in the legend.
    pub fn names(&self) -> Vec<&str> {
        match &self.body {
            Body::Bars { series, .. } => series.iter().map(|(name, _)| name.as_str()).collect(),
            Body::Lines { lines, .. } => lines.iter().map(|line| line.name.as_str()).collect(),
        }
    }

    /// Returns the text alternative: title, axes and series.
    pub fn label(&self) -> String {
        format!("{}: {} by {}: {}", self.title, self.up, self.across, self.names().join(", "))
    }

    /// Returns the legend as HTML; nothing for a single series, which the title names.
    pub fn legend(&self) -> String {
        let names = self.names();
        let key = |(index, name): (usize, &&str)| {
            let classes = palette::classes(index);
            let key = match &self.body {
                Body::Bars { .. } => format!("<rect class=\"{classes}\" width=\"20\" height=\"12\"/>"),
                Body::Lines { lines, .. } => key_of_line(&classes, lines[index].mark),
            };
            format!("<li><svg viewBox=\"0 0 26 12\" aria-hidden=\"true\">{key}</svg>{}</li>", escape(name))
        };
        match names.len() {
            0 | 1 => String::new(),
            _ => format!("<ul class=\"legend\">{}</ul>", names.iter().enumerate().map(key).collect::<String>()),
        }
    }

    /// Returns the chart as SVG, without its title and legend.
    pub fn svg(&self) -> String {
        let mut svg = Svg::new();
        match &self.body {
            Body::Bars { groups, series } => svg.bars(groups, series),
            Body::Lines { lines, is_logarithmic } => svg.lines(lines, *is_logarithmic),
        }
        svg.labels(&self.across, &self.up);
        svg.text + "</svg>"
    }
}

/// The mapping of numbers to positions on an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

impl Scale {
    /// Returns a scale from zero, or the minimum if negative, to slightly above the maximum.
    fn linear(numbers: impl Iterator<Item = f64>) -> Self {
        let finite = numbers.filter(|number| number.is_finite());
        let (low, high) = finite.fold((0.0_f64, 0.0_f64), |(low, high), number| (low.min(number), high.max(number)));
        let (low, high) = if low == high { (0.0, 1.0) } else { (low * 1.05, high * 1.05) };
        Scale { low, high, is_logarithmic: false }
    }

    /// Returns a scale over the powers of ten that enclose the numbers.
    fn decades(numbers: impl Iterator<Item = f64>) -> Self {
        let positive = numbers.filter(|number| number.is_finite() && *number > 0.0);
        let (low, high) =
            positive.fold((f64::MAX, f64::MIN), |(low, high), number| (low.min(number), high.max(number)));
        let (low, high) = if low <= high { (low.log10().floor(), high.log10().ceil()) } else { (0.0, 1.0) };
        let (low, high) = (10_f64.powf(low), 10_f64.powf(high.max(low + 1.0)));
        Scale { low, high, is_logarithmic: true }
    }

    /// Returns the position on the axis from 0 to 1; `None` if a number has none.
    fn place(&self, number: f64) -> Option<f64> {
        let share = if self.is_logarithmic {
            (number / self.low).ln() / (self.high / self.low).ln()
        } else {
            (number - self.low) / (self.high - self.low)
        };
        share.is_finite().then_some(share)
    }

    /// Returns the round numbers on the axis.
    fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let exponents = self.low.log10().round() as i32..=self.high.log10().round() as i32;
            return exponents.map(|exponent| 10_f64.powi(exponent)).collect();
        }
        let step = round_step((self.high - self.low) / 5.0);
        let first = (self.low / step).ceil() as i64;
        (first..first + 12).map(|at| at as f64 * step).take_while(|tick| *tick <= self.high).collect()
    }
}

/// Returns the smallest of 1, 2, 5, 10, 20, ... that is not below a number.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| *step >= least).unwrap_or(power * 10.0)
}

struct Svg {
    text: String,
    /// The area of the plot.
    x: Range<f64>,
    y: Range<f64>,
}

impl Svg {
    fn new() -> Self {
        Svg {
            text: format!(
                "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" xmlns=\"http://www.w3.org/2000/svg\" aria-hidden=\"true\">"
            ),
            x: LEFT..WIDTH - RIGHT,
            y: TOP..HEIGHT - BOTTOM,
        }
    }

    fn add(&mut self, element: &str) {
        self.text.push_str(element);
    }

    fn label(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        // Writing to a string never fails.
        let _ = write!(self.text, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(text));
    }

    fn across(&self, share: f64) -> f64 {
        self.x.start + share * (self.x.end - self.x.start)
    }

    fn up(&self, share: f64) -> f64 {
        self.y.end - share * (self.y.end - self.y.start)
    }

    /// Draws horizontal grid lines, with their numbers at the left.
    fn heights(&mut self, scale: &Scale) {
        for tick in scale.ticks() {
            let Some(share) = scale.place(tick) else { continue };
            let (y, left, right) = (self.up(share), self.x.start, self.x.end);
            self.add(&format!("<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"));
            self.label(left - 6.0, y + 4.5, "end", &tick_name(tick));
        }
    }

    fn bars(&mut self, groups: &[String], series: &[(String, Vec<f64>)]) {
        let scale = Scale::linear(series.iter().flat_map(|(_, heights)| heights).copied());
        self.heights(&scale);
        let (width, zero) = (1.0 / groups.len().max(1) as f64, scale.place(0.0).unwrap_or(0.0));
        for (group, name) in groups.iter().enumerate() {
            let (x, y) = (self.across((group as f64 + 0.5) * width), self.y.end + 18.0);
            self.label(x, y, "middle", name);
            for (index, (_, heights)) in series.iter().enumerate() {
                let height = heights.get(group).and_then(|height| scale.place(*height));
                let Some(height) = height else { continue };
                let (left, right) = sides(group, index, series.len());
                let (x, right) = (self.across(left * width), self.across(right * width));
                let (y, bottom) = (self.up(height.max(zero)), self.up(height.min(zero)));
                let (class, w, h) = (palette::classes(index), right - x, bottom - y);
                self.add(&format!(
                    "<rect class=\"{class} bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\"/>"
                ));
            }
        }
    }

    fn lines(&mut self, lines: &[Line], is_logarithmic: bool) {
        let numbers = |of: fn(&(f64, f64)) -> f64| lines.iter().flat_map(|line| &line.points).map(of);
        let (across, up) = match is_logarithmic {
            true => (Scale::decades(numbers(|point| point.0)), Scale::decades(numbers(|point| point.1))),
            false => (Scale::linear(numbers(|point| point.0)), Scale::linear(numbers(|point| point.1))),
        };
        self.heights(&up);
        for tick in across.ticks() {
            let Some(x) = across.place(tick).map(|share| self.across(share)) else { continue };
            let y = self.y.end + 18.0;
            self.label(x, y, "middle", &tick_name(tick));
        }
        for (index, line) in lines.iter().enumerate() {
            let place = |&(x, y): &(f64, f64)| Some((self.across(across.place(x)?), self.up(up.place(y)?)));
            let points: Vec<(f64, f64)> = line.points.iter().filter_map(place).collect();
            self.line(index, &points, line.mark);
        }
    }

    fn line(&mut self, index: usize, points: &[(f64, f64)], mark: Mark) {
        let class = palette::classes(index);
        if mark != Mark::Dots && !points.is_empty() {
            let corners: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            self.add(&format!("<polyline class=\"{class} line\" points=\"{}\"/>", corners.join(" ")));
        }
        if mark != Mark::Line {
            let radius = if mark == Mark::Dots { 2 } else { 3 };
            for (x, y) in points {
                self.add(&format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"));
            }
        }
    }

    /// Draws the labels of the axes.
    fn labels(&mut self, across: &str, up: &str) {
        let (middle, bottom) = (f64::midpoint(self.x.start, self.x.end), self.y.end + BOTTOM - 6.0);
        self.label(middle, bottom, "middle", across);
        let y = f64::midpoint(self.y.start, self.y.end);
        self.add(&format!(
            "<text transform=\"translate(14 {y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(up)
        ));
    }
}

/// Returns the legend's sample of a line or of dots.
fn key_of_line(classes: &str, mark: Mark) -> String {
    let line = format!("<path class=\"{classes} line\" d=\"M0 6H26\"/>");
    let dot = format!("<circle class=\"{classes}\" cx=\"13\" cy=\"6\" r=\"4\"/>");
    match mark {
        Mark::Dots => dot,
        Mark::Line => line,
        Mark::Both => line + &dot,
    }
}

fn tick_name(tick: f64) -> String {
    match tick.abs() {
        0.0 => "0".to_owned(),
        size if size >= 1.0 && tick.fract() == 0.0 => format!("{tick}"),
        _ => number(tick),
    }
}

/// Returns the sides of a series' bar in its group: groups are 1 wide, with a gap between them.
fn sides(group: usize, series: usize, count: usize) -> (f64, f64) {
    let width = 0.8 / count.max(1) as f64;
    let left = group as f64 + 0.1 + width * series as f64;
    (left, left + width * 0.94)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|&text| text.to_owned()).collect()
    }

    /// Returns the SVG, after checking that it is XML.
    fn drawn(chart: &Chart) -> String {
        let figure = format!("<figure>{}{}</figure>", chart.legend(), chart.svg());
        roxmltree::Document::parse(&figure).unwrap_or_else(|error| panic!("{error}: {figure}"));
        assert!(!figure.contains("NaN") && !figure.contains("inf"), "{figure}");
        figure
    }

    #[test]
    fn a_chart_has_a_bar_a_value_and_a_legend() {
        let series = vec![("FCP".to_owned(), vec![1.0, 2.0]), ("<LCP>".to_owned(), vec![0.5, f64::NAN])];
        let svg = drawn(&Chart::bars("Time", "items", "ms", texts(&["1K", "10K"]), series));
        for part in ["FCP", "&lt;LCP&gt;", "10K", ">ms<", ">items<"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert_eq!((svg.matches("c0 p0 bar").count(), svg.matches("c1 p0 bar").count()), (2, 1), "{svg}");
    }

    #[test]
    fn a_curve_has_a_dot_a_value_but_where_there_is_none() {
        let curves = vec![("full".to_owned(), vec![0.002, f64::NAN, 70.0]), ("none".to_owned(), vec![-1.0; 3])];
        let svg = drawn(&Chart::curves("Times", "items", "ms", &[1.0, 100.0, 1e5], curves));
        assert_eq!((svg.matches("r=\"3\"").count(), svg.matches("<polyline").count()), (2, 1), "{svg}");
        assert!([">0.00100<", ">100000<", "</svg>full</li>"].iter().all(|part| svg.contains(part)), "{svg}");
    }

    #[test]
    fn lines_and_dots_are_told_apart() {
        let line = |mark| Line { name: "ints".to_owned(), points: vec![(1.0, 2.0), (3.0, -4.0)], mark };
        let chart = Chart::lines("Sizes", "items", "\u{B5}s", vec![line(Mark::Dots), line(Mark::Line)]);
        let svg = drawn(&chart);
        assert_eq!((svg.matches("r=\"2\"").count(), svg.matches("<polyline").count()), (2, 1));
        assert_eq!(chart.label(), "Sizes: \u{B5}s by items: ints, ints");
        assert!(svg.contains("items") && svg.contains("\u{B5}s"));
    }

    #[test]
    fn scales_have_room_and_round_ticks() {
        let decades = Scale::decades([0.002, 70.0].into_iter());
        assert_eq!((decades.low, decades.high), (0.001, 100.0));
        assert_eq!(decades.ticks(), [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]);
        assert_eq!(Scale::decades([10.0].into_iter()).ticks(), [10.0, 100.0]);
        let linear = Scale::linear([3.0, 40.0, f64::NAN].into_iter());
        assert_eq!(linear.ticks(), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(linear.place(42.0), Some(1.0));
        assert!(Scale::linear([-10.0, 10.0].into_iter()).ticks().contains(&-10.0));
    }

    #[test]
    fn nothing_to_draw_is_drawn_too() {
        drawn(&Chart::bars("", "", "", vec![], vec![]));
        drawn(&Chart::bars("", "", "", texts(&["x"]), vec![("y".to_owned(), vec![])]));
        drawn(&Chart::curves("", "", "", &[], vec![]));
        drawn(&Chart::lines("", "", "", vec![Line { name: String::new(), points: vec![], mark: Mark::Line }]));
        drawn(&Chart::lines(
            "",
            "",
            "",
            vec![Line { name: "n".into(), points: vec![(f64::NAN, 1.0)], mark: Mark::Both }],
        ));
    }

    #[test]
    fn bars_of_a_group_stand_side_by_side() {
        let all: Vec<(f64, f64)> = (0..3).map(|series| sides(1, series, 3)).collect();
        assert!(all[0].0 >= 1.0 && all[2].1 <= 2.0);
        assert!(all[0].1 <= all[1].0 && all[1].1 <= all[2].0);
    }

    #[test]
    fn one_series_needs_no_legend() {
        let series = |count| vec![("x".to_owned(), vec![1.0]); count];
        let legend = |count| Chart::bars("Time", "items", "ms", texts(&["1K"]), series(count)).legend();
        assert_eq!((legend(1).as_str(), legend(9).matches("<li>").count()), ("", 9));
        assert!(legend(9).contains("c0 p1"), "the ninth has the first colour, and another pattern");
    }
}
