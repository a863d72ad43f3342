//! The CSV of poses and the page.

use crate::folder::{Folder, SCENE};

#[test]
fn poses_are_a_row_a_body_and_step() {
    let folder = Folder::new("poses");
    let args = [
        "run",
        "pair.json",
        "--steps",
        "5",
        "--poses",
        "deep/down/poses.csv",
    ];
    assert_eq!(folder.moreau(&args).code, 0);
    let text = folder.read("deep/down/poses.csv");
    let mut lines = text.lines();
    let header = "step,time,body,name,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz";
    assert_eq!(lines.next(), Some(header));
    let rows: Vec<_> = lines.collect();
    assert_eq!(rows.len(), 6 * 3);
    assert!(
        rows[0].starts_with("0,0.0,0,floor,0.0,0.0,0.0,0.0,0.0,0.0,1.0,"),
        "{}",
        rows[0]
    );
    assert!(
        rows[1].starts_with("0,0.0,1,\"box, small\",0.0,0.5,0.0,"),
        "{}",
        rows[1]
    );
    let ball: Vec<Vec<&str>> = rows
        .iter()
        .skip(2)
        .step_by(3)
        .map(|row| row.split(',').collect())
        .collect();
    // Semi-implicit fall: v = -g t after each step.
    for (step, row) in ball.iter().enumerate().take(3) {
        assert_eq!(
            (row[0], row[2], row[3]),
            (step.to_string().as_str(), "2", "ball")
        );
        let (time, speed): (f64, f64) = (row[1].parse().unwrap(), row[12].parse().unwrap());
        assert!((time - step as f64 / 60.0).abs() < 1e-15);
        assert!((speed + 9.81 * time).abs() < 1e-12, "{speed} at {time}");
    }
}

#[test]
fn the_page_holds_the_run_and_loads_nothing() {
    let folder = Folder::new("page");
    let ran = folder.moreau(&["run", "pair.json", "--html", "out/pair.html"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("out/pair.html"), "{}", ran.out);
    let page = folder.read("out/pair.html");
    // The policy refuses whatever a script would fetch; the markup asks for nothing.
    let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";
    assert!(page.contains(policy));
    let markup = &page[..page.find("<script").unwrap()];
    for network in ["http://", "https://", "src=", "href=", "@import", "url("] {
        assert!(!markup.contains(network), "the page contains {network:?}");
    }
    for mark in ["/*STYLE*/", "/*META*/", "/*DATA*/", "/*SCRIPT*/"] {
        assert!(!page.contains(mark), "{mark} was not filled in");
    }
    let element = |open: &str| {
        let start = page.find(open).unwrap() + open.len();
        let end = page[start..].find("</script>").unwrap();
        &page[start..start + end]
    };
    let meta: serde_json::Value =
        serde_json::from_str(element("<script id=\"meta\" type=\"application/json\">")).unwrap();
    let run = &meta["runs"][0];
    assert_eq!(run["bodies"].as_array().unwrap().len(), 3);
    assert_eq!(run["bodies"][1]["name"], "box, small");
    assert_eq!(run["frame_steps"].as_array().unwrap().len(), 21);
    assert_eq!(meta["verdict"]["good"], true);
    let data = element("<script id=\"data\" type=\"text/plain\">");
    assert!(data.len() > 100);
    let letter = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
    assert!(data.bytes().all(letter));
}

#[test]
fn view_writes_the_page_of_a_scene() {
    let folder = Folder::new("view");
    let ran = folder.moreau(&["view", "pair.json", "--no-open"]);
    assert_eq!(ran.code, 0);
    let name = "out/pair.html";
    assert!(ran.out.contains(name), "{}", ran.out);
    assert!(folder.read(name).contains("\"frame_steps\":[0,1,2,"));
}

#[test]
fn names_cannot_break_out_of_the_page() {
    let folder = Folder::new("names");
    let name = "</script><script>alert(1)</script>";
    folder.write(
        "sly.json",
        &SCENE.replace("\"ball\"", &format!("\"{name}\"")),
    );
    assert_eq!(
        folder
            .moreau(&["run", "sly.json", "--steps", "1", "--html", "sly.html"])
            .code,
        0
    );
    assert!(!folder.read("sly.html").contains("<script>alert"));
}

#[test]
fn a_run_without_steps_has_a_page_too() {
    let folder = Folder::new("still");
    let args = [
        "run",
        "pair.json",
        "--steps",
        "0",
        "--html",
        "a.html",
        "--poses",
        "a.csv",
    ];
    assert_eq!(folder.moreau(&args).code, 0);
    assert!(folder.read("a.html").contains("\"frame_steps\":[0]"));
    assert_eq!(folder.read("a.csv").lines().count(), 4);
}
