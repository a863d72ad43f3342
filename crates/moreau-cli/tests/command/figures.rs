//! The JSON object and the table.

use crate::folder::{Folder, SCENE};
use serde_json::Value;

fn json(folder: &Folder, args: &[&str]) -> Value {
    let ran = folder.moreau(&[&["run", "pair.json", "--json"], args].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(ran.out.matches('\n').count(), 1, "one line: {}", ran.out);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn json_is_one_object_with_all_figures() {
    let folder = Folder::new("json");
    let figures = json(&folder, &[]);
    let numbers = [
        "threads",
        "bodies",
        "sleeping_bodies",
        "contact_points",
        "steps",
        "ms_per_step_median",
        "ms_per_step_p95",
        "max_penetration_m",
        "end_max_penetration_m",
        "kinetic_energy_j",
        "max_speed_m_s",
        "max_horizontal_drift_m",
        "energy_gain_j",
        "momentum_drift",
        "residual_max_m_s",
        "uncertified_steps",
    ];
    for key in numbers {
        assert!(figures[key].is_number(), "{key} is {}", figures[key]);
    }
    assert_eq!(figures["scene"], "pair");
    assert_eq!(figures["solver"], "auto");
    assert_eq!(figures["certified"], true);
    assert_eq!(figures["interrupted"], false);
    assert_eq!(
        (&figures["bodies"], &figures["steps"]),
        (&Value::from(3), &Value::from(20))
    );
    // Four corners of the box, one point of the ball.
    assert_eq!(figures["contact_points"], 5);
    assert!(figures["end_max_penetration_m"].as_f64().unwrap() < 1e-3);
    assert_eq!(figures["state_hash"].as_str().unwrap().len(), 16);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let folder = Folder::new("threads");
    let [one, two] = ["1", "2"].map(|n| json(&folder, &["--threads", n]));
    assert_eq!(
        (&one["threads"], &two["threads"]),
        (&Value::from(1), &Value::from(2))
    );
    for key in [
        "state_hash",
        "kinetic_energy_j",
        "residual_max_m_s",
        "max_penetration_m",
    ] {
        assert_eq!(one[key], two[key], "{key}");
    }
    let other = json(&folder, &["--dt", "1/120"]);
    assert_ne!(one["state_hash"], other["state_hash"]);
    assert_eq!(other["steps"], 40, "the same time in shorter steps");
}

#[test]
fn the_solver_can_be_chosen() {
    let folder = Folder::new("solver");
    let plain = json(&folder, &[]);
    for name in ["auto", "simd", "pgs", "block", "newton"] {
        let figures = json(&folder, &["--solver", name]);
        assert_eq!(figures["solver"], name);
        assert_eq!(figures["certified"], true);
        if name == "auto" {
            assert_eq!(
                figures["state_hash"], plain["state_hash"],
                "auto is the default"
            );
        }
    }
}

#[test]
fn each_solver_s_share_is_told() {
    let folder = Folder::new("shares");
    for name in ["auto", "block"] {
        let figures = json(&folder, &["--solver", name]);
        let [share] = &figures["solvers"].as_array().unwrap()[..] else {
            panic!("{}", figures["solvers"]);
        };
        let want = if name == "auto" { "newton" } else { name };
        assert_eq!(share["solver"], want);
        // Box and ball touch the floor, each on its own, the box in every step.
        let islands = share["islands"].as_u64().unwrap();
        assert!((20..=40).contains(&islands), "{islands}");
        let points = share["contact_points"].as_u64().unwrap();
        assert_eq!(points, islands + 3 * 20);
        assert_eq!(share["uncertified_islands"], 0);
        assert_eq!(share["residual_max_m_s"], figures["residual_max_m_s"]);
        assert!(share["sweeps"].is_u64() && share["factorizations"].is_u64());
        let ran = folder.moreau(&["run", "pair.json", "--solver", name]);
        let row = ran
            .out
            .lines()
            .find(|line| line.contains(want) && line.contains(&format!(" {islands} ")));
        assert!(row.is_some(), "{}", ran.out);
    }
    // It takes no friction, and says what to do.
    let ran = folder.moreau(&["run", "pair.json", "--solver", "active-set"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in ["active-set", "contacts with friction", "--solver auto"] {
        assert!(ran.err.contains(part), "no {part:?} in {}", ran.err);
    }
}

#[test]
fn no_steps_tell_the_initial_state() {
    let folder = Folder::new("no_steps");
    let figures = json(&folder, &["--steps", "0"]);
    for key in ["steps", "contact_points"] {
        assert_eq!(figures[key], 0, "{key}");
    }
    assert_eq!(figures["max_horizontal_drift_m"], 0.0);
    let ran = folder.moreau(&["run", "pair.json", "--steps", "0"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("no steps were made"), "{}", ran.out);
}

#[test]
fn the_table_is_for_people() {
    let folder = Folder::new("table");
    let ran = folder.moreau(&["run", "pair.json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for part in [
        "pair",
        "deepest overlap",
        "m/s",
        "all 20 steps are certified",
    ] {
        assert!(ran.out.contains(part), "no {part:?} in {}", ran.out);
    }
}

#[test]
fn steps_that_are_not_certified_are_told() {
    let folder = Folder::new("uncertified");
    // One sweep cannot solve a box on a floor.
    let settings = r#""steps": 20, "settings": {"solver": {"choice": "pgs", "pgs": {"max_sweeps": 1}}, "warm_start": false},"#;
    folder.write("hasty.json", &SCENE.replace("\"steps\": 20,", settings));
    let ran = folder.moreau(&["run", "hasty.json"]);
    assert!(
        ran.out.contains("steps are NOT certified: worst residual"),
        "{}",
        ran.out
    );
    let ran = folder.moreau(&["run", "hasty.json", "--json"]);
    let figures: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(figures["certified"], false);
    assert!(figures["uncertified_steps"].as_u64().unwrap() > 0);
}

#[test]
fn gates_decide_the_exit_code() {
    let folder = Folder::new("gates");
    for (bound, code, word) in [("0.01", 0, "passed"), ("-1", 1, "FAILED")] {
        let gate = format!(
            r#""steps": 20, "expect": [{{"quantity": "drift", "body": "ball", "at_most": {bound}, "reason": "it drops"}}],"#
        );
        folder.write("gated.json", &SCENE.replace("\"steps\": 20,", &gate));
        let ran = folder.moreau(&["run", "gated.json"]);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.out.contains(word), "{}", ran.out);
        assert_eq!(ran.err.contains("gate failed"), code == 1, "{}", ran.err);
    }
}

#[test]
fn a_profile_is_told_where_it_is_asked_for_and_changes_nothing() {
    let folder = Folder::new("profile");
    let plain = json(&folder, &[]);
    assert!(plain.get("profile").is_none());
    let measured = json(&folder, &["--profile"]);
    assert_eq!(measured["state_hash"], plain["state_hash"]);
    let profile = &measured["profile"];
    assert_eq!(profile["steps"], 20);
    let stages = profile["stages"].as_array().unwrap();
    let shares = stages.iter().map(|stage| stage["share"].as_f64().unwrap());
    let shares: f64 = shares.sum();
    assert!((0.5..=1.0 + 1e-9).contains(&shares), "{shares}");
    for stage in stages {
        let ms = |key: &str| stage[key].as_f64().unwrap();
        assert!(ms("ms_median") >= 0.0 && ms("ms_p95") >= ms("ms_median"));
    }
    assert!(profile["bytes"]["bodies"].as_u64().unwrap() > 0);

    let ran = folder.moreau(&["run", "pair.json", "--profile"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for part in [
        "broad phase",
        "correction",
        "20 steps measured",
        "held by the world",
    ] {
        assert!(ran.out.contains(part), "no {part:?} in {}", ran.out);
    }
}
