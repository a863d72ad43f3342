//! `moreau solve` and `moreau run --dump-step`.

use crate::folder::Folder;
use serde_json::Value;

/// One contact with W = I, q = (-1, 3, -4) m/s and mu = 0.5: r is the projection (1, -0.3, 0.4).
const ONE: &str = "3 1\n0 3 3\n3 3\n1 0 0\n0 1 0\n0 0 1\n-1 3 -4\n0.5\n";

fn problems(out: &str) -> Vec<Value> {
    let json: Value = serde_json::from_str(out).unwrap();
    json["problems"].as_array().unwrap().clone()
}

#[test]
fn a_problem_of_one_contact() {
    let folder = Folder::new("solve-one");
    folder.write("one.dat", ONE);
    for solver in ["newton", "sweeps"] {
        let ran = folder.moreau(&[
            "solve",
            "one.dat",
            "--json",
            "--solver",
            solver,
            "--impulses",
            "out/r.txt",
        ]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
        let [problem] = &problems(&ran.out)[..] else {
            panic!("{}", ran.out);
        };
        assert_eq!(problem["contacts"], 1);
        assert_eq!(problem["certified"], true);
        assert!(problem["natural_map"].as_f64().unwrap() < 1e-14);
        // 1/2 r'Wr + q'r = 0.625 - 3.5.
        let merit = problem["energy_merit_j"].as_f64().unwrap();
        assert!((merit + 2.875).abs() < 1e-12, "{merit}");
        let text = folder.read("out/r.txt");
        let numbers: Vec<f64> = text
            .split_whitespace()
            .map(|x| x.parse().unwrap())
            .collect();
        for (got, want) in numbers.iter().zip([1.0, -0.3, 0.4]) {
            assert!((got - want).abs() < 1e-14, "{text}");
        }
        assert_eq!((numbers.len(), text.lines().count()), (3, 1));
    }
    let ran = folder.moreau(&["solve", "one.dat", "one.dat"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("one.dat") && ran.out.contains("2 of 2 certified, solver newton"));
}

#[test]
fn a_dumped_step_is_solved_by_every_solver() {
    let folder = Folder::new("solve-dump");
    let ran = folder.moreau(&["run", "pair.json", "--dump-step", "5", "step/five.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out
            .contains("problem: step/five.json (4 contacts, 0 rows"),
        "{}",
        ran.out
    );
    assert!(
        folder
            .read("step/five.json")
            .starts_with("{\"format\":\"moreau-problem\"")
    );
    for solver in ["newton", "block", "sweeps", "simd", "pgs"] {
        let ran = folder.moreau(&["solve", "step/five.json", "--solver", solver, "--json"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(problems(&ran.out)[0]["contacts"], 4);
    }
    // Friction is not for the active set.
    let ran = folder.moreau(&["solve", "step/five.json", "--solver", "active-set"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(
        ran.err.contains("active-set") && ran.err.contains("does not take"),
        "{}",
        ran.err
    );
    // The run is the same as without the dump.
    let figures = |args: &[&str]| {
        let ran = folder.moreau(&[&["run", "pair.json", "--json"], args].concat());
        let json: Value = serde_json::from_str(&ran.out).unwrap();
        json["state_hash"].clone()
    };
    assert_eq!(
        figures(&[]),
        figures(&["--dump-step", "5", "step/five.json"])
    );
}

#[test]
fn what_is_not_certified_fails() {
    let folder = Folder::new("solve-fails");
    folder.moreau(&["run", "pair.json", "--dump-step", "5", "five.json"]);
    let ran = folder.moreau(&["solve", "five.json", "--solver", "pgs", "--tol", "1e-300"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.contains("NOT certified") && ran.err.contains("five.json"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("0 of 1 certified"), "{}", ran.out);
}

/// Files that are no contact problems keep nobody from the answers of the others.
#[test]
fn one_bad_file_leaves_the_answers_of_the_others() {
    let folder = Folder::new("solve-some");
    folder.write("one.dat", ONE);
    folder.write("lcp.dat", "2\n0\n2\n2\n2 2\n1 1\n1 1\n-1 -1\n");
    let args = ["solve", "none.dat", "one.dat", "lcp.dat", "one.dat"];
    let ran = folder.moreau(&args);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.contains("2 of 4 certified"), "{}", ran.out);
    assert!(
        ran.out.contains("2 could not be read or solved"),
        "{}",
        ran.out
    );
    for expect in ["none.dat", "lcp.dat", "complementarity"] {
        assert!(ran.err.contains(expect), "no {expect:?} in {}", ran.err);
    }
    let ran = folder.moreau(&[
        "solve", "none.dat", "one.dat", "lcp.dat", "one.dat", "--json",
    ]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["certified"], false);
    assert_eq!(json["problems"].as_array().unwrap().len(), 2);
    let files = json["refused"].as_array().unwrap();
    let files: Vec<_> = files
        .iter()
        .map(|file| file["file"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["none.dat", "lcp.dat"]);
    // None at all.
    let ran = folder.moreau(&["solve", "none.dat", "lcp.dat"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(
        ran.out.lines().next(),
        Some("0 of 2 certified, solver newton")
    );
}

#[test]
fn wrong_problems_and_arguments_say_what_is_right() {
    let folder = Folder::new("solve-wrong");
    folder.write("one.dat", ONE);
    folder.write("bad.dat", &ONE.replacen("-1 3", "-1 x", 1));
    folder.write("scene.json", crate::folder::SCENE);
    let cases: [(&[&str], &str); 9] = [
        (&["solve"], "FILE"),
        (&["solve", "none.dat"], "none.dat"),
        (&["solve", "bad.dat"], "line 7, token 18"),
        (&["solve", "scene.json"], "moreau-problem"),
        (&["solve", "one.dat", "--solver", "magic"], "active-set"),
        (&["solve", "one.dat", "--solver", "pgs"], "newton, sweeps"),
        (&["solve", "one.dat", "--tol", "0"], "positive"),
        (
            &["solve", "one.dat", "one.dat", "--impulses", "r"],
            "one by one",
        ),
        (
            &["run", "pair.json", "--dump-step", "21", "x.json"],
            "from 1 to 20",
        ),
    ];
    for (args, expect) in cases {
        let ran = folder.moreau(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(
            ran.err.contains(expect),
            "{args:?}: no {expect:?} in {}",
            ran.err
        );
    }
}
