//! Panels of lines over time, as SVG or PNG.

use super::png;
use crate::fault::Fault;
use crate::output;
use crate::target::Target;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::FontStyle;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Letters for the pictures; see the licence beside it.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-latin.ttf");
const FAMILY: &str = "sans-serif";

/// Size of a picture of one panel, in the units of an SVG; a PNG has twice as many pixels.
const WIDTH: u32 = 960;
const PANEL_HEIGHT: u32 = 220;
const TITLE_HEIGHT: u32 = 34;
const PNG_SCALE: u32 = 2;

/// That of a letter in the names of lines, about.
const LETTER_WIDTH: u32 = 7;

/// Colours that can be told apart with any eyes (the first six by Okabe and Ito).
const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
    RGBColor(120, 94, 240),
    RGBColor(150, 120, 60),
    RGBColor(170, 170, 170),
];

/// A line of a panel.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Time (s) and value; what is not finite is left out.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Lines over the same time.
#[derive(Clone, Debug)]
pub(crate) struct PanelOf {
    /// What it shows, with its unit.
    pub(crate) title: String,
    /// Whether its values go over decades; those that are not positive are then left out.
    pub(crate) decades: bool,
    pub(crate) lines: Vec<Line>,
}

/// Kinds of pictures, by the ends of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Svg,
    Png,
}

/// A picture that will be drawn.
#[derive(Debug)]
pub(crate) struct Picture {
    kind: Kind,
    target: Target,
}

impl Picture {
    /// Its kind is known from its name, and it can be written; of all of them before any is drawn.
    pub(crate) fn all(files: &[PathBuf]) -> Result<Vec<Self>, Fault> {
        let kinds: Vec<_> = files
            .iter()
            .map(|file| kind(file))
            .collect::<Result<_, _>>()?;
        let pictures = kinds.into_iter().zip(files);
        let picture = |(kind, file): (Kind, &PathBuf)| {
            let target = Target::new(file)?;
            Ok(Self { kind, target })
        };
        pictures.map(picture).collect()
    }

    /// As it was given.
    pub(crate) fn file(&self) -> &Path {
        self.target.path()
    }
}

fn kind(file: &Path) -> Result<Kind, Fault> {
    match file.extension().and_then(|e| e.to_str()) {
        Some("svg") => Ok(Kind::Svg),
        Some("png") => Ok(Kind::Png),
        _ => Err(Fault::input(
            format!("{}: is neither .svg nor .png", file.display()),
            "give a name that ends in one of them",
        )),
    }
}

/// Draws the panels below each other into a file.
pub(crate) fn draw(picture: &Picture, title: &str, panels: &[PanelOf]) -> Result<(), Fault> {
    let file = picture.file();
    static FONTS: Once = Once::new();
    FONTS.call_once(|| {
        // Fails only for bytes that are no font.
        let _ = plotters::style::register_font(FAMILY, FontStyle::Normal, FONT);
    });
    let height = TITLE_HEIGHT + PANEL_HEIGHT * panels.len() as u32;
    let bytes = match picture.kind {
        Kind::Svg => {
            let mut text = String::new();
            let root = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
            paint(&root, title, panels, 1).map_err(|error| failed(file, &error))?;
            drop(root);
            text.into_bytes()
        }
        Kind::Png => {
            let size = (WIDTH * PNG_SCALE, height * PNG_SCALE);
            let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
            let root = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
            paint(&root, title, panels, PNG_SCALE).map_err(|error| failed(file, &error))?;
            drop(root);
            png::encode(&pixels, size.0, size.1)
        }
    };
    picture.target.write(&bytes)
}

fn failed<E: std::error::Error + Send + Sync>(
    file: &Path,
    error: &DrawingAreaErrorKind<E>,
) -> Fault {
    let message = format!("cannot draw {}: {error}", file.display());
    Fault::run(message, "--panels draws fewer panels")
}

type Painted<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

fn paint<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    title: &str,
    panels: &[PanelOf],
    scale: u32,
) -> Painted<DB> {
    root.fill(&WHITE)?;
    let font = (FAMILY, 18 * scale).into_font().color(&BLACK);
    let (head, body) = root.split_vertically(TITLE_HEIGHT * scale);
    let at = (12 * scale as i32, 10 * scale as i32);
    head.draw_text(title, &font, at)?;
    let areas = body.split_evenly((panels.len().max(1), 1));
    let times = bounds(
        panels
            .iter()
            .flat_map(|p| &p.lines)
            .flat_map(|l| l.points.iter().map(|(t, _)| *t)),
    );
    let times = times.unwrap_or(0.0..1.0);
    // The names of lines stand beside them all, so that they hide none and times are one below the other.
    let named = panels.iter().any(|panel| panel.lines.len() > 1);
    let longest = panels.iter().flat_map(|panel| &panel.lines);
    let longest = longest.map(|line| line.name.chars().count() as u32).max();
    let width = (30 + LETTER_WIDTH * longest.unwrap_or(0)).min(WIDTH / 3);
    let names = if named { width * scale } else { 0 };
    for (area, panel) in areas.iter().zip(panels) {
        let (area, beside) = area.split_horizontally(area.dim_in_pixel().0 - names);
        if panel.lines.len() > 1 {
            names_of(&beside, panel, scale)?;
        }
        let shown = |y: f64| y.is_finite() && (!panel.decades || y > 0.0);
        let points = panel.lines.iter().flat_map(|l| &l.points);
        let values = bounds(points.map(|(_, y)| *y).filter(|y| shown(*y)));
        let values = values.unwrap_or(if panel.decades { 1e-12..1.0 } else { 0.0..1.0 });
        if panel.decades {
            let range = whole_decades(&values);
            axes(&area, panel, times.clone(), range.log_scale(), scale)?;
        } else {
            let room = (values.end - values.start) * 0.06;
            let range = values.start - room..values.end + room;
            axes(&area, panel, times.clone(), range, scale)?;
        }
    }
    root.present()
}

/// The smallest range of some size that has all values.
fn bounds(values: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    let mut range: Option<Range<f64>> = None;
    for x in values.filter(|x| x.is_finite()) {
        let old = range.unwrap_or(x..x);
        range = Some(old.start.min(x)..old.end.max(x));
    }
    range.map(|r| {
        let least = 1e-9 * r.start.abs().max(r.end.abs()).max(1e-300);
        if r.end - r.start > least {
            r
        } else {
            // A value that stays is drawn in the middle.
            let half = if r.start == 0.0 {
                1.0
            } else {
                0.1 * r.start.abs()
            };
            r.start - half..r.end + half
        }
    })
}

/// Powers of ten around a positive range.
fn whole_decades(range: &Range<f64>) -> Range<f64> {
    // Divisions round: a power that is all but there counts as there.
    let (start, end) = (range.start * (1.0 + 1e-9), range.end * (1.0 - 1e-9));
    let (mut low, mut high) = (1.0_f64, 1.0_f64);
    while low > start && low > 1e-300 {
        low /= 10.0;
    }
    while low * 10.0 <= start && low < 1e300 {
        low *= 10.0;
    }
    while high < end && high < 1e300 {
        high *= 10.0;
    }
    while high / 10.0 >= end && high > 1e-300 {
        high /= 10.0;
    }
    low..high.max(low * 10.0)
}

fn axes<DB, Y>(
    area: &DrawingArea<DB, Shift>,
    panel: &PanelOf,
    times: Range<f64>,
    values: Y,
    scale: u32,
) -> Painted<DB>
where
    DB: DrawingBackend,
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
{
    let font = |size: u32| (FAMILY, size * scale).into_font();
    let mut chart = ChartBuilder::on(area)
        .margin(6 * scale)
        .margin_right(16 * scale)
        .caption(&panel.title, font(14))
        .set_label_area_size(LabelAreaPosition::Left, 64 * scale)
        .set_label_area_size(LabelAreaPosition::Bottom, 24 * scale)
        .build_cartesian_2d(times, values)?;
    let all = panel.lines.iter().flat_map(|line| &line.points);
    let largest = all.map(|(_, y)| y.abs()).filter(|y| y.is_finite());
    // Labels are sums of steps: what is zero is so but for rounding.
    let nothing = if panel.decades {
        0.0
    } else {
        1e-12 * largest.fold(0.0, f64::max)
    };
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(220, 220, 220).stroke_width(scale))
        .axis_style(RGBColor(120, 120, 120).stroke_width(scale))
        .label_style(font(11))
        .x_label_formatter(&|t| format!("{} s", output::short(*t)))
        .y_label_formatter(&|y| output::short(if y.abs() < nothing { 0.0 } else { *y }))
        .x_labels(8)
        .y_labels(5)
        .draw()?;
    for (line, colour) in panel.lines.iter().zip(COLOURS.iter().cycle()) {
        let shown = |y: f64| y.is_finite() && (!panel.decades || y > 0.0);
        let points = line.points.iter().copied().filter(|(_, y)| shown(*y));
        chart.draw_series(LineSeries::new(points, line_style(colour, scale)))?;
    }
    Ok(())
}

fn line_style(colour: &RGBColor, scale: u32) -> ShapeStyle {
    colour.stroke_width(scale + scale / 2)
}

/// The names of a panel's lines, one below the other.
fn names_of<DB: DrawingBackend>(
    beside: &DrawingArea<DB, Shift>,
    panel: &PanelOf,
    scale: u32,
) -> Painted<DB> {
    let font = (FAMILY, 11 * scale).into_font().color(&BLACK);
    let pixels = |n: i32| n * scale as i32;
    let lines = panel.lines.iter().zip(COLOURS.iter().cycle());
    for (row, (line, colour)) in (0..).zip(lines) {
        let y = pixels(34 + 16 * row);
        let ends = vec![(0, y), (pixels(16), y)];
        beside.draw(&PathElement::new(ends, line_style(colour, scale)))?;
        beside.draw_text(&line.name, &font, (pixels(21), y - pixels(5)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_their_values() {
        assert_eq!(bounds([3.0, f64::NAN, -1.0].into_iter()), Some(-1.0..3.0));
        assert_eq!(bounds([0.0, 0.0].into_iter()), Some(-1.0..1.0));
        assert_eq!(bounds([5.0].into_iter()), Some(4.5..5.5));
        assert_eq!(bounds([f64::INFINITY].into_iter()), None);
        for (range, expect) in [
            (2e-3..5.0, (1e-3, 10.0)),
            (20.0..30.0, (10.0, 100.0)),
            (1.0..1.5, (1.0, 10.0)),
            (1e-12..2e-11, (1e-12, 1e-10)),
        ] {
            let got = whole_decades(&range);
            let near = |x: f64, y: f64| (x / y - 1.0).abs() < 1e-9;
            assert!(
                near(got.start, expect.0) && near(got.end, expect.1),
                "{got:?}"
            );
        }
    }
}
