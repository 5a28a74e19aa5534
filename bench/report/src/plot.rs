//! Charts as SVG for a [`page`](crate::page), whose style sheet defines their colours, light and
//! dark.

use std::fmt::Write;
use std::ops::Range;

use crate::html::escape;
use crate::palette;

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

/// A name, and a number for each group or place.
pub type Series = (String, Vec<f64>);

/// The content of a chart.
#[derive(Debug, Clone)]
pub enum Body {
    /// Bars in groups, from zero.
    Bars {
        /// Names of the groups.
        groups: Vec<String>,
        /// Name and heights of each series; it has one bar in each group.
        series: Vec<Series>,
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
        series: Vec<Series>,
    ) -> Self {
        Chart { title: title.into(), across: across.into(), up: up.into(), body: Body::Bars { groups, series } }
    }

    /// Creates a chart of one curve per series over the same numbers, on logarithmic scales.
    pub fn curves(
        title: impl Into<String>,
        across: impl Into<String>,
        up: impl Into<String>,
        places: &[f64],
        series: Vec<Series>,
    ) -> Self {
        let line = |(name, heights): Series| Line {
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
        match &self.body {
            Body::Bars { groups, series } if are_long(groups) => {
                let mut svg = Svg::lying(groups, series.len());
                svg.lying_bars(groups, series);
                svg.finish(&self.up, &self.across)
            }
            Body::Bars { groups, series } => {
                let mut svg = Svg::new();
                svg.bars(groups, series);
                svg.finish(&self.across, &self.up)
            }
            Body::Lines { lines, is_logarithmic } => {
                let mut svg = Svg::new();
                svg.lines(lines, *is_logarithmic);
                svg.finish(&self.across, &self.up)
            }
        }
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
        let step = self.step();
        let first = (self.low / step).ceil() as i64;
        (first..first + 12).map(|at| at as f64 * step).take_while(|tick| *tick <= self.high).collect()
    }

    /// Returns the distance of round numbers on a linear axis.
    fn step(&self) -> f64 {
        round_step((self.high - self.low) / 8.0)
    }

    /// Formats a round number on the axis; on a linear one all but zero have as many decimals.
    fn name(&self, tick: f64) -> String {
        if tick == 0.0 {
            return "0".to_owned();
        }
        let finest = if self.is_logarithmic { tick } else { self.step() };
        let decimals = (-finest.log10() - 1e-9).ceil().max(0.0) as usize;
        format!("{tick:.decimals$}")
    }
}

/// Returns the smallest of 1, 2, 5, 10, 20, ... that is not below a number.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| *step >= least).unwrap_or(power * 10.0)
}

/// Width of a letter, about.
const LETTER: f64 = 7.4;
/// Maximum number of letters beside a lying bar.
const LETTERS: usize = 50;
/// Thickness of a lying bar.
const THICKNESS: f64 = 18.0;

fn letters(name: &str) -> usize {
    name.chars().count()
}

/// Returns true if names would overlap below standing bars.
fn are_long(groups: &[String]) -> bool {
    let room = (WIDTH - LEFT - RIGHT) / groups.len().max(1) as f64;
    groups.iter().any(|name| letters(name) as f64 * LETTER > room)
}

/// Returns the end of a name, which tells apart what has the same namespace.
fn shortened(name: &str) -> String {
    match letters(name).checked_sub(LETTERS) {
        None | Some(0) => name.to_owned(),
        Some(excess) => std::iter::once('\u{2026}').chain(name.chars().skip(excess + 1)).collect(),
    }
}

struct Svg {
    text: String,
    /// The area of the plot.
    x: Range<f64>,
    y: Range<f64>,
}

impl Svg {
    fn new() -> Self {
        Svg { text: String::new(), x: LEFT..WIDTH - RIGHT, y: TOP..HEIGHT - BOTTOM }
    }

    /// Creates a plot with room for long names at its left; its height depends on the number of
    /// bars.
    fn lying(groups: &[String], series: usize) -> Self {
        let longest = groups.iter().map(|name| letters(name).min(LETTERS)).max().unwrap_or(0);
        let bars = groups.len() * series.max(1);
        let left = 40.0 + longest as f64 * LETTER;
        Svg { text: String::new(), x: left..WIDTH - RIGHT, y: TOP..TOP + (bars as f64 * THICKNESS).max(60.0) }
    }

    /// Draws the labels of the axes, and returns the whole.
    fn finish(mut self, across: &str, up: &str) -> String {
        self.labels(across, up);
        let height = self.y.end + BOTTOM;
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" xmlns=\"http://www.w3.org/2000/svg\" aria-hidden=\"true\">{}</svg>",
            self.text
        )
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

    fn down(&self, share: f64) -> f64 {
        self.y.start + share * (self.y.end - self.y.start)
    }

    /// Draws horizontal grid lines, with their numbers at the left.
    fn heights(&mut self, scale: &Scale) {
        for tick in scale.ticks() {
            let Some(share) = scale.place(tick) else { continue };
            let (y, left, right) = (self.up(share), self.x.start, self.x.end);
            self.add(&format!("<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"));
            self.label(left - 6.0, y + 4.5, "end", &scale.name(tick));
        }
    }

    /// Draws vertical grid lines, with their numbers below.
    fn places(&mut self, scale: &Scale) {
        for tick in scale.ticks() {
            let Some(share) = scale.place(tick) else { continue };
            let (x, top, bottom) = (self.across(share), self.y.start, self.y.end);
            self.add(&format!("<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{bottom}\"/>"));
            self.label(x, bottom + 18.0, "middle", &scale.name(tick));
        }
    }

    fn bars(&mut self, groups: &[String], series: &[Series]) {
        let scale = scale_of(series);
        self.heights(&scale);
        for (group, name) in groups.iter().enumerate() {
            let x = self.across((group as f64 + 0.5) / groups.len() as f64);
            self.label(x, self.y.end + 18.0, "middle", name);
        }
        for bar in placed(&scale, groups.len(), series) {
            let (left, right) = (self.across(bar.begin), self.across(bar.end));
            self.bar(bar.series, left..right, self.up(bar.high)..self.up(bar.low));
        }
    }

    /// Draws bars from left to right, with names beside them.
    fn lying_bars(&mut self, groups: &[String], series: &[Series]) {
        let scale = scale_of(series);
        self.places(&scale);
        for (group, name) in groups.iter().enumerate() {
            let y = self.down((group as f64 + 0.5) / groups.len() as f64);
            self.label(self.x.start - 8.0, y + 4.5, "end", &shortened(name));
        }
        for bar in placed(&scale, groups.len(), series) {
            let (top, bottom) = (self.down(bar.begin), self.down(bar.end));
            self.bar(bar.series, self.across(bar.low)..self.across(bar.high), top..bottom);
        }
    }

    fn bar(&mut self, series: usize, x: Range<f64>, y: Range<f64>) {
        let (class, w, h) = (palette::classes(series), x.end - x.start, y.end - y.start);
        let (x, y) = (x.start, y.start);
        self.add(&format!(
            "<rect class=\"{class} bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\"/>"
        ));
    }

    fn lines(&mut self, lines: &[Line], is_logarithmic: bool) {
        let numbers = |of: fn(&(f64, f64)) -> f64| lines.iter().flat_map(|line| &line.points).map(of);
        let (across, up) = match is_logarithmic {
            true => (Scale::decades(numbers(|point| point.0)), Scale::decades(numbers(|point| point.1))),
            false => (Scale::linear(numbers(|point| point.0)), Scale::linear(numbers(|point| point.1))),
        };
        self.heights(&up);
        self.places(&across);
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

/// A bar: positions from 0 to 1 along the groups, and along the scale.
struct Bar {
    series: usize,
    begin: f64,
    end: f64,
    low: f64,
    high: f64,
}

fn scale_of(series: &[Series]) -> Scale {
    Scale::linear(series.iter().flat_map(|(_, heights)| heights).copied())
}

/// Returns the bars of all groups; there is none for what is not a number.
fn placed(scale: &Scale, groups: usize, series: &[Series]) -> Vec<Bar> {
    let zero = scale.place(0.0).unwrap_or(0.0);
    let bar = |group: usize, at: usize| {
        let height = scale.place(*series[at].1.get(group)?)?;
        let (begin, end) = sides(group, at, series.len());
        let (begin, end) = (begin / groups as f64, end / groups as f64);
        Some(Bar { series: at, begin, end, low: height.min(zero), high: height.max(zero) })
    };
    (0..groups).flat_map(|group| (0..series.len()).filter_map(move |at| bar(group, at))).collect()
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
        assert!([">0.001<", ">100000<", "</svg>full</li>"].iter().all(|part| svg.contains(part)), "{svg}");
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
    fn numbers_on_an_axis_have_as_many_decimals() {
        let names = |scale: Scale| scale.ticks().into_iter().map(|tick| scale.name(tick)).collect::<Vec<_>>();
        assert_eq!(names(Scale::linear([0.18].into_iter())), ["0", "0.05", "0.10", "0.15"]);
        assert_eq!(names(Scale::linear([-2.0, 2.5].into_iter()))[..3], ["-2", "-1", "0"]);
        assert_eq!(names(Scale::decades([0.02, 30.0].into_iter())), ["0.01", "0.1", "1", "10", "100"]);
    }

    #[test]
    fn long_names_stand_beside_lying_bars() {
        let names = texts(&["{urn:dslforum-org:cwmp-1-0}InformResponse", &"x".repeat(80), "{urn:vim25}Fetch"]);
        let series = vec![("a".to_owned(), vec![1.0, 2.0, f64::NAN]), ("b".to_owned(), vec![2.0, 0.5, -1.0])];
        let svg = drawn(&Chart::bars("Rate", "operation", "MB/s", names.clone(), series));
        let shown = format!("text-anchor=\"end\">\u{2026}{}<", "x".repeat(LETTERS - 1));
        assert!(svg.contains(&shown) && svg.contains(&format!("\"end\">{}<", names[0])), "{svg}");
        assert_eq!(svg.matches(" bar\"").count(), 5, "{svg}");
        let (label, axis) = (svg.find(">MB/s<").unwrap(), svg.find(">operation<").unwrap());
        assert!(label < axis && svg[label..axis].contains("rotate(-90)"), "numbers run across: {svg}");
        assert!(!are_long(&texts(&["1K", "10K"])) && are_long(&texts(&["a name of some length"; 9])));
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
