//! Figures: panels side by side, a line for each configuration, written as SVG.

use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// One diagram of a figure.
pub struct Panel {
    /// Its title.
    pub title: String,
    /// The horizontal axis, with its unit.
    pub x_label: String,
    /// The vertical axis, with its unit.
    pub y_label: String,
    /// Whether the vertical axis is logarithmic; values must then be above zero.
    pub log_y: bool,
    /// The lines: a name and points.
    pub lines: Vec<Line>,
}

/// One line of a panel.
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Each panel is this wide and high, in pixels.
const PANEL_SIZE: (u32, u32) = (640, 460);

/// Draws the panels from left to right into `file`.
pub fn draw(file: &Path, panels: &[Panel]) -> Result<(), String> {
    if file.extension().is_none_or(|extension| extension != "svg") {
        return Err(format!(
            "--plot: {}: figures are written as SVG; give a name that ends in .svg",
            file.display()
        ));
    }
    let size = (PANEL_SIZE.0 * panels.len() as u32, PANEL_SIZE.1);
    let root = SVGBackend::new(file, size).into_drawing_area();
    let fail = |error: &dyn std::fmt::Display| format!("--plot: {}: {error}", file.display());
    root.fill(&WHITE).map_err(|error| fail(&error))?;
    for (panel, area) in panels.iter().zip(root.split_evenly((1, panels.len()))) {
        panel.draw(&area).map_err(|error| fail(&error))?;
    }
    root.present().map_err(|error| fail(&error))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type DrawError<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

impl Panel {
    fn draw<'a>(&self, area: &Area<'a>) -> Result<(), DrawError<'a>> {
        let points = || self.lines.iter().flat_map(|line| line.points.iter().copied());
        let x = range(points().map(|(x, _)| x));
        let y = range(points().map(|(_, y)| y));
        if self.log_y {
            // Whole decades around the values.
            let positive = points().map(|(_, y)| y).filter(|y| *y > 0.0);
            let low = positive.fold(f64::INFINITY, f64::min);
            let low = if low.is_finite() { 10f64.powf(low.log10().floor()) } else { 0.1 };
            let high = 10f64.powf(y.1.max(low * 10.0).log10().ceil());
            self.draw_on(area, x, (low..high).log_scale())
        } else {
            self.draw_on(area, x, y.0.min(0.0)..y.1 * 1.05)
        }
    }

    fn draw_on<'a, Y>(&self, area: &Area<'a>, x: (f64, f64), y: Y) -> Result<(), DrawError<'a>>
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(14)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(x.0..x.1, y)?;
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .axis_desc_style(("sans-serif", 15))
            .label_style(("sans-serif", 13))
            .light_line_style(WHITE.mix(0.0))
            .bold_line_style(BLACK.mix(0.12))
            .x_label_formatter(&|x| number(*x))
            .y_label_formatter(&|y| number(*y))
            .draw()?;
        for (index, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let points = line.points.iter().copied().filter(|(_, y)| !self.log_y || *y > 0.0);
            let style = colour.stroke_width(2);
            chart
                .draw_series(LineSeries::new(points, style))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 13))
            .draw()
    }
}

/// Colours that differ in lightness too (Okabe and Ito's palette).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(150, 150, 60),
];

/// The smallest and the largest value; a range of some width in any case.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low < high {
        (low, high)
    } else if low == high {
        (low - 0.5, high + 0.5)
    } else {
        (0.0, 1.0)
    }
}

/// A number as short as it can be without saying something else.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
