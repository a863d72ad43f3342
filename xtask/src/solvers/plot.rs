//! Line plots as SVG: panels on a grid, axes, one colour and dash a name.

use moreau::math::libm;
use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    Log,
}

/// What it shows, how, and from where to where.
pub(crate) type Axis = (String, Scale, (f64, f64));

pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 46.0;

/// Colour and dash by name, so that a solver looks the same everywhere. The colours can be told
/// apart by the colour-blind, the dashes on paper.
const STYLES: [(&str, &str, &str); 6] = [
    ("newton", "#0072B2", ""),
    ("block", "#D55E00", "8 3"),
    ("sweeps", "#009E73", "3 3"),
    ("simd", "#E69F00", "6 2 2 2"),
    ("pgs", "#CC79A7", "10 3 2 3"),
    ("active-set", "#56B4E9", "1 3"),
];

fn style(name: &str) -> (&'static str, &'static str) {
    let found = STYLES.iter().find(|style| style.0 == name);
    found.map_or(("#444444", "2 2"), |style| (style.1, style.2))
}

/// A page of rows of panels.
pub(crate) fn page(title: &str, rows: &[Vec<Panel>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let (width, height) = (WIDTH * columns as f64, HEIGHT * rows.len() as f64);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">"
    );
    let _ = writeln!(svg, "<title>{}</title>", escape(title));
    let _ = writeln!(
        svg,
        "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
    );
    for (r, row) in rows.iter().enumerate() {
        for (c, panel) in row.iter().enumerate() {
            let (x, y) = (WIDTH * c as f64, HEIGHT * r as f64);
            let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
            panel.draw(&mut svg);
            svg.push_str("</g>\n");
        }
    }
    svg.push_str("</svg>\n");
    svg
}

impl Panel {
    fn draw(&self, svg: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let x = |value: f64| LEFT + position(&self.x, value) * (right - LEFT);
        let y = |value: f64| bottom - position(&self.y, value) * (bottom - TOP);
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{}</text>",
            escape(&self.title)
        );
        for (value, label) in ticks(&self.x) {
            let x = x(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#dddddd\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                bottom + 16.0
            );
        }
        for (value, label) in ticks(&self.y) {
            let y = y(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#dddddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#000000\"/>"
        );
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            0.5 * (LEFT + right),
            HEIGHT - 10.0,
            escape(&self.x.0)
        );
        let middle = 0.5 * (TOP + bottom);
        let _ = writeln!(
            svg,
            "<text transform=\"rotate(-90 16 {middle:.1})\" x=\"16\" y=\"{middle:.1}\" \
             text-anchor=\"middle\">{}</text>",
            escape(&self.y.0)
        );
        for series in &self.series {
            let mut path = String::new();
            for (k, (px, py)) in series.points.iter().enumerate() {
                let letter = if k == 0 { 'M' } else { 'L' };
                let _ = write!(path, "{letter}{:.1} {:.1}", x(*px), y(*py));
            }
            let (color, dash) = style(&series.name);
            let _ = writeln!(
                svg,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" \
                 stroke-dasharray=\"{dash}\"/>"
            );
        }
        self.legend(svg, right);
    }

    fn legend(&self, svg: &mut String, right: f64) {
        let count = self.series.len() as f64;
        // In the corner that the curves leave: right below growing ones, left below falling ones.
        let grows = self.y.1 == Scale::Linear;
        let first = HEIGHT - BOTTOM - 16.0 * count;
        for (k, series) in self.series.iter().enumerate() {
            let y = first + 16.0 * k as f64;
            let (color, dash) = style(&series.name);
            let from = if grows { right - 110.0 } else { LEFT + 12.0 };
            let to = from + 30.0;
            let _ = writeln!(
                svg,
                "<path d=\"M{from} {y}H{to}\" stroke=\"{color}\" stroke-width=\"2\" \
                 stroke-dasharray=\"{dash}\"/><text x=\"{}\" y=\"{}\">{}</text>",
                to + 6.0,
                y + 4.0,
                escape(&series.name)
            );
        }
    }
}

/// Where a value lies on its axis, 0 to 1; beyond its ends at its ends.
fn position((_, scale, (from, to)): &Axis, value: f64) -> f64 {
    let at = match scale {
        Scale::Linear => (value - from) / (to - from),
        Scale::Log => libm::log10(value.max(*from) / from) / libm::log10(to / from),
    };
    at.clamp(0.0, 1.0)
}

fn ticks((_, scale, (from, to)): &Axis) -> Vec<(f64, String)> {
    if *scale == Scale::Linear {
        let at = |k: u32| from + (to - from) * f64::from(k) / 5.0;
        let whole = (0..=5).all(|k| at(k) == libm::round(at(k)));
        let label = |x: f64| {
            if whole {
                format!("{x}")
            } else {
                format!("{x:.1}")
            }
        };
        return (0..=5).map(|k| (at(k), label(at(k)))).collect();
    }
    let first = libm::round(libm::log10(*from)) as i32;
    let last = libm::round(libm::log10(*to)) as i32;
    // At most about eight labels.
    let stride = (last - first) / 8 + 1;
    let exponents = (first..=last).filter(|e| (e - first) % stride == 0);
    exponents
        .map(|e| {
            let value = libm::pow(10.0, f64::from(e));
            let label = if (0..=4).contains(&e) {
                format!("{value}")
            } else {
                format!("1e{e}")
            };
            (value, label)
        })
        .collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_on_axes() {
        let linear = (String::new(), Scale::Linear, (0.0, 4.0));
        let log = (String::new(), Scale::Log, (1e-2, 1e2));
        let cases = [
            (&linear, 1.0, 0.25),
            (&linear, 9.0, 1.0),
            (&log, 1.0, 0.5),
            (&log, 0.0, 0.0),
            (&log, 1e3, 1.0),
        ];
        for (axis, value, want) in cases {
            assert!((position(axis, value) - want).abs() < 1e-15, "{value}");
        }
    }

    #[test]
    fn labels() {
        let log = (String::new(), Scale::Log, (1e-14, 10.0));
        let labels: Vec<String> = ticks(&log).into_iter().map(|(_, label)| label).collect();
        assert_eq!(
            labels,
            [
                "1e-14", "1e-12", "1e-10", "1e-8", "1e-6", "1e-4", "1e-2", "1"
            ]
        );
    }

    #[test]
    fn a_page_has_its_names_and_curves() {
        let panel = Panel {
            title: "a < b".into(),
            x: ("x".into(), Scale::Log, (1.0, 10.0)),
            y: ("y".into(), Scale::Linear, (0.0, 1.0)),
            series: vec![Series {
                name: "newton".into(),
                points: vec![(1.0, 0.0), (10.0, 1.0)],
            }],
        };
        let svg = page("title", &[vec![panel]]);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let path = format!("M{LEFT:.1} {bottom:.1}L{right:.1} {TOP:.1}");
        for part in ["a &lt; b", "#0072B2", &path, "newton</text>"] {
            assert!(svg.contains(part), "no {part} in {svg}");
        }
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    }
}
