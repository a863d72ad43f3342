//! Problem files of all formats: what they hold, and what is refused.

use moreau_constraint::{
    BodyInput, ContactFrame, ContactInput, ContactPoint, ContactProblem, Impulses, Row,
};
use moreau_math::{Mat3, SymMat3, Vec3, Velocity, vec3};
use moreau_solver::files::{FileError, ProblemFile, load, write_problem};
use moreau_solver::{DelassusError, DelassusProblem, Measures, certify};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of a folder of the large problem sets, in the order of their names; `None`, with a
/// message, where it is not at hand.
fn folder(name: &str) -> Option<Vec<PathBuf>> {
    let sets = std::env::var_os("MOREAU_PROBLEMS")
        .map_or_else(|| root().join("../shared/problems"), PathBuf::from);
    let folder = sets.join(name);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: no {} (set MOREAU_PROBLEMS)", folder.display());
        return None;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "dat" || e == "json"));
    paths.sort();
    Some(paths)
}

/// A deterministic number in (-1, 1).
fn number(seed: &mut u64) -> f64 {
    *seed = seed
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn vector(seed: &mut u64) -> Vec3 {
    vec3(number(seed), number(seed), number(seed))
}

/// Two contacts whose W is not symmetric: entry (i, j) is 10 i + j, plus 100 on the diagonal.
fn entry(i: usize, j: usize) -> f64 {
    (10 * i + j) as f64 + if i == j { 100.0 } else { 0.0 }
}

fn dense_text() -> String {
    let columns = (0..6).flat_map(|j| (0..6).map(move |i| format!("{} ", entry(i, j))));
    let entries: String = columns.collect();
    format!("3\n2\n0\n6\n6\n6\t6\n{entries}\n-1 2 3\n-4 5 6e-1\n0.5 0.25\n0\n")
}

fn block_text() -> String {
    let block = |i: usize, j: usize| -> String {
        let columns = (0..3).flat_map(|c| (0..3).map(move |r| (3 * i + r, 3 * j + c)));
        columns.map(|(i, j)| format!("{}\n", entry(i, j))).collect()
    };
    let blocks: String = [(0, 0), (0, 1), (1, 0), (1, 1)]
        .iter()
        .enumerate()
        .map(|(index, (i, j))| format!("{index}\n{}", block(*i, *j)))
        .collect();
    format!(
        "3\n2\n1\n6\n6\n4\n2\n2\n3 6\n3 6\n3 4\n0 2 4\n0 1 0 1\n{blocks}-1 2 3\n-4 5 0.6\n0.5 0.25"
    )
}

fn delassus(text: &str) -> DelassusProblem {
    match ProblemFile::parse(text).unwrap() {
        ProblemFile::Delassus(problem) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn both_storages_keep_both_triangles() {
    let dense = delassus(&dense_text());
    assert_eq!(dense, delassus(&block_text()));
    assert_eq!((dense.contacts(), dense.block_count()), (2, 4));
    assert_eq!(dense.q()[1], vec3(-4.0, 5.0, 0.6));
    assert_eq!(dense.friction(), [0.5, 0.25]);
    // W r + q entry by entry.
    let r = [vec3(1.0, -2.0, 3.0), vec3(0.5, 0.25, -1.0)];
    let flat = [1.0, -2.0, 3.0, 0.5, 0.25, -1.0];
    let q = [-1.0, 2.0, 3.0, -4.0, 5.0, 0.6];
    let u = dense.velocities(&r);
    for i in 0..6 {
        let want = (0..6).fold(q[i], |sum, j| sum + entry(i, j) * flat[j]);
        assert!((u[i / 3][i % 3] - want).abs() < 1e-12);
    }
}

#[test]
fn the_measures_are_their_formulas() {
    let of = |problem: &DelassusProblem, r: &[Vec3]| Measures::in_contact_space(problem, r);
    // One contact, W = 2 I, q = (-1, 1, 0), mu = 0.5, r = (1, 0, 0): u = (1, 1, 0).
    let w = Mat3::from_diagonal(Vec3::splat(2.0));
    let q = vec3(-1.0, 1.0, 0.0);
    let problem = DelassusProblem::new(vec![q], vec![0.5], vec![(0, 0, w)]).unwrap();
    let r = [Vec3::X];
    // r - (u + g) = (-0.5, -1, 0): mu |z_t| = 0.5 <= 0.5, so its projection is 0.
    let largest = 2.0_f64.sqrt();
    assert!((of(&problem, &r).natural_map - 1.0 / largest).abs() < 1e-15);
    // rho = 1/2: z = (0.25, -0.5, 0), projected on (0.4, -0.2, 0); |r - p| = |(0.6, 0.2, 0)|;
    // the denominator is max(|q|/2, |r|, |u|/2) = 1.
    assert!((of(&problem, &r).scaled_natural_map - 0.4_f64.sqrt()).abs() < 1e-15);
    // rho = 3/6 as well, divided by it: m/s.
    let (residual, worst) = problem.residual(&r);
    assert!((residual - 2.0 * 0.4_f64.sqrt()).abs() < 1e-15);
    assert_eq!(worst, Some(0));
    // 1/2 r'Wr + q'r = 1 - 1.
    assert_eq!(of(&problem, &r).energy, 0.0);
    // Units of mass: W/1000, 1000 r. Only the scaled measure stays.
    let heavy = DelassusProblem::new(vec![q], vec![0.5], vec![(0, 0, w * 1e-3)]).unwrap();
    let r = [Vec3::X * 1e3];
    assert!((of(&heavy, &r).scaled_natural_map - 0.4_f64.sqrt()).abs() < 1e-12);
    assert!((of(&heavy, &r).natural_map - 1.0 / largest).abs() > 0.1);
}

#[test]
fn bodies_and_contact_space_give_the_same_velocities() {
    let mut seed = 3;
    for name in ["pyramid4", "stack2", "wedge30"] {
        let path = root().join(format!("fixtures/problems/{name}.json"));
        let file = load(&path).unwrap();
        let problem = file.problem().unwrap();
        let contact_space = DelassusProblem::from_problem(problem).unwrap();
        let mut impulses = problem.cold_start();
        impulses.contacts.fill_with(|| vector(&mut seed));
        let v = problem.velocities(&impulses);
        let u = contact_space.velocities(&impulses.contacts);
        for (c, u) in problem.contacts().iter().zip(&u) {
            let want = problem.contact_velocity(c, &v) + c.bias;
            assert!((want - *u).length() < 1e-12, "{name}: {want} {u}");
        }
        let map = certify(problem, &impulses).unwrap().natural_map;
        assert!((contact_space.residual(&impulses.contacts).0 - map).abs() < 1e-12);
        let bodies = Measures::of(problem, &impulses).unwrap();
        let contacts = Measures::in_contact_space(&contact_space, &impulses.contacts);
        for (a, b) in [
            (bodies.natural_map, contacts.natural_map),
            (bodies.scaled_natural_map, contacts.scaled_natural_map),
            (bodies.energy, contacts.energy),
        ] {
            assert!((a - b).abs() < 1e-12 * (1.0 + a.abs()), "{name}: {a} {b}");
        }
        for i in 0..contact_space.contacts() {
            for (j, block) in contact_space.row(i) {
                let mut back = contact_space.row(j);
                let mirror = back.find(|(k, _)| *k == i).expect("a symmetric pattern").1;
                assert_eq!(block.transpose(), *mirror);
            }
        }
    }
}

#[test]
fn rows_have_no_place_in_contact_space() {
    let error = DelassusProblem::from_problem(&unusual_problem()).unwrap_err();
    assert_eq!(error, DelassusError::Rows { rows: 3 });
}

#[test]
fn what_is_not_a_problem_in_contact_space_is_refused() {
    let new = |q: Vec3, mu: f64, blocks: &[(u32, u32, Mat3)]| {
        DelassusProblem::new(vec![q], vec![mu], blocks.to_vec()).unwrap_err()
    };
    let w = Mat3::IDENTITY;
    let errors = [
        (
            new(Vec3::NAN, 0.5, &[]),
            "contact 0: q is [NaN, NaN, NaN], must be finite",
        ),
        (
            new(Vec3::X, -0.5, &[]),
            "contact 0: friction is -0.5, must be 0 or more, and finite",
        ),
        (
            new(Vec3::X, 0.5, &[(0, 1, w)]),
            "block (0, 1) is outside of a matrix of 1 contacts",
        ),
        (
            new(Vec3::X, 0.5, &[(0, 0, w), (0, 0, w)]),
            "block (0, 0) is given twice",
        ),
        (
            new(Vec3::X, 0.5, &[(0, 0, w * f64::NAN)]),
            "block (0, 0) is not finite",
        ),
        (
            new(Vec3::X, 0.5, &[(0, 0, -w)]),
            "contact 0: the diagonal of W has -1, must be 0 or more",
        ),
    ];
    for (error, message) in errors {
        assert_eq!(error.to_string(), message);
    }
    let lengths = DelassusProblem::new(vec![Vec3::X], vec![], vec![]).unwrap_err();
    assert_eq!(
        lengths.to_string(),
        "0 friction coefficients for 1 contacts"
    );
}

#[test]
fn every_public_file_is_read() {
    let Some(paths) = folder("fclib") else {
        return;
    };
    assert_eq!(paths.len(), 25);
    for path in &paths {
        let file = load(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(file.contacts() > 0 && file.problem().is_none());
    }
    // The same problem in both storages.
    let [dense, blocks] = ["FC3D_Example1.dat", "FC3D_Example1_SBM.dat"]
        .map(|name| load(&paths[0].with_file_name(name)).unwrap());
    assert_eq!(dense, blocks);
    // A matrix that is symmetric to 1e-3 only.
    let text = std::fs::read_to_string(paths[0].with_file_name("RockPile_tob1.dat")).unwrap();
    let rocks = delassus(&text);
    let mut skew = 0.0_f64;
    for i in 0..rocks.contacts() {
        for (j, block) in rocks.row(i) {
            let mut mirror = rocks.row(j).filter(|(k, _)| *k == i);
            let mirror = mirror.next().expect("a symmetric pattern").1.transpose();
            skew = skew.max(
                (*block - mirror)
                    .to_cols_array()
                    .into_iter()
                    .fold(0.0, f64::max),
            );
        }
    }
    assert!(skew > 1e-3, "{skew}");
}

#[test]
fn every_reference_problem_is_read() {
    let Some(paths) = folder("made") else {
        return;
    };
    assert_eq!(paths.len(), 43);
    for path in &paths {
        let file = load(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (problem, reference) = (file.problem().unwrap(), file.reference().unwrap());
        assert_eq!(reference.v_plus.len() + 1, problem.bodies().len());
        let free: Vec<Velocity> = problem.bodies().iter().map(|b| b.velocity).collect();
        let energy = problem.kinetic_energy(&free);
        assert!((energy - reference.energy_before).abs() <= 1e-9 * energy.max(1.0));
    }
}

#[test]
fn mistakes_in_a_text_file_name_their_place() {
    let good = dense_text();
    let change = |from: &str, to: &str| good.replacen(from, to, 1);
    let cases = [
        (
            String::new(),
            "the file ends at line 1 after 0 tokens, where the dimension should follow",
        ),
        (
            "2 1".into(),
            "line 1, token 1: the dimension is `2`, must be 3: is it a linear complementarity problem (its size, M and q), or one in the plane? Only contacts in space with friction are solved",
        ),
        (
            "3\n-1".into(),
            "line 2, token 2: the number of contacts is `-1`, must be a whole number",
        ),
        (
            "3\n1000000000000\n0".into(),
            "line 2, token 2: 1000000000000 contacts do not fit into the 2 bytes that follow",
        ),
        (
            change("\n0\n", "\n2\n"),
            "line 3, token 3: the matrix storage is `2`, must be 0 or 1",
        ),
        (
            change("\n6\n", "\n7\n"),
            "line 4, token 4: the number of rows is `7`, must be 6",
        ),
        (
            change("100 ", "x "),
            "line 7, token 8: an entry of W is `x`, must be a finite number",
        ),
        (
            change("-1 2 3", "-1 inf 3"),
            "line 8, token 45: q is `inf`, must be a finite number",
        ),
        (
            change("0.5 0.25", "0.5 -0.25"),
            "contact 1: friction is -0.25, must be 0 or more, and finite",
        ),
        (
            change("\n0.5 0.25\n0\n", "\n0.5"),
            "the file ends at line 10 after 50 tokens, where mu should follow",
        ),
        (
            format!("{good} 7"),
            "line 12, token 53: what follows the problem is `7`, must be nothing",
        ),
    ];
    for (text, message) in cases {
        let error = ProblemFile::parse(&text).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn mistakes_in_a_block_file_name_their_place() {
    let good = block_text();
    let cases = [
        (
            "\n3 6\n",
            "\n3 5\n",
            "line 9, token 10: the end of a block row is `5`, must be 6",
        ),
        (
            "\n3 4\n",
            "\n4 4\n",
            "line 11, token 13: the number of row pointers is `4`, must be 1 to 3",
        ),
        (
            "\n3 4\n",
            "\n3 5\n",
            "line 11, token 14: the number of block columns' indices is `5`, must be 4",
        ),
        (
            "\n0 2 4\n",
            "\n0 3 2\n",
            "line 12, token 17: a row pointer is `2`, must be 3 to 4",
        ),
        (
            "\n0 2 4\n",
            "\n0 2 3\n",
            "line 12, token 17: the last row pointer is `3`, must be 4",
        ),
        (
            "\n0 1 0 1\n",
            "\n0 1 0 2\n",
            "line 13, token 21: a block column is `2`, must be below 2",
        ),
        ("\n0 1 0 1\n", "\n0 1 0 0\n", "block (1, 0) is given twice"),
        (
            "\n0 1 0 1\n0\n",
            "\n0 1 0 1\n1\n",
            "line 14, token 22: the index of a block is `1`, must be 0",
        ),
        (
            "\n4\n2\n2\n",
            "\n40\n2\n2\n",
            "line 6, token 6: 440 entries of blocks do not fit into the 172 bytes that follow",
        ),
    ];
    for (from, to, message) in cases {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from:?}");
        let error = ProblemFile::parse(&text).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    let texts = [
        dense_text(),
        block_text(),
        write_problem("", &unusual_problem()),
    ];
    let junk = [
        "0",
        "1",
        "3",
        "-7",
        "18446744073709551615",
        "1e999",
        "nan",
        "{",
        "é",
        "\0",
    ];
    let mut seed = 11;
    for text in texts {
        let mut refused = 0;
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            refused += usize::from(ProblemFile::parse(&text[..end]).is_err());
        }
        // A last digit or the ignored number may be missing.
        assert!(refused + 8 >= text.len(), "{refused} of {}", text.len());
        let words: Vec<&str> = text.split_inclusive([' ', '\n', '\t', ',']).collect();
        for at in 0..words.len() {
            let pick = ((number(&mut seed) + 1.0) * 0.5 * junk.len() as f64) as usize;
            let mut changed = words.clone();
            let word = format!("{} ", junk[pick.min(junk.len() - 1)]);
            changed[at] = &word;
            // Whether it still is a problem depends on the word; it must only come back.
            let _ = ProblemFile::parse(&changed.concat());
        }
    }
}

/// A problem with what is hard to write down: no bounds, negative zeros, tiny and long numbers.
fn unusual_problem() -> ContactProblem {
    let mut seed = 5;
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    for k in 0..3 {
        let turn = moreau_math::Quat::from_axis_angle(vector(&mut seed).normalize(), 0.3);
        problem
            .add_body(BodyInput {
                inverse_mass: 0.1 + f64::from(k) / 3.0,
                inverse_inertia: SymMat3::from_diagonal(vec3(1.0, 2.0, 3.0)).rotated(turn),
                velocity: Velocity::new(vector(&mut seed), vec3(-0.0, 5e-324, 1e300)),
            })
            .unwrap();
    }
    problem
        .add_contact(ContactInput {
            a: ground,
            b: 1,
            normal: vec3(1.0, 2.0, -0.5).normalize(),
            lever_a: vector(&mut seed),
            lever_b: vector(&mut seed),
            separation: 0.1,
            friction: 0.7,
            restitution: 0.0,
        })
        .unwrap();
    problem
        .add_contact_point(ContactPoint {
            a: 1,
            b: 2,
            frame: ContactFrame::new(Vec3::NEG_Y),
            lever_a: vector(&mut seed),
            lever_b: vector(&mut seed),
            friction: 0.0,
            bias: vec3(0.1 + 0.2, -0.0, f64::MIN_POSITIVE),
        })
        .unwrap();
    let levers = (vector(&mut seed), vector(&mut seed));
    let row = Row::bilateral((1, 2), Vec3::X, levers, 0.25);
    let half = Row { lower: 0.0, ..row };
    let boxed = Row {
        lower: -1.0 / 3.0,
        upper: 1e-17,
        regularization: 1e-9,
        ..row
    };
    for row in [row, half, boxed] {
        problem.add_row(row).unwrap();
    }
    problem
}

#[test]
fn own_files_keep_every_bit() {
    let problem = unusual_problem();
    let text = write_problem("unusual \"one\"", &problem);
    let ProblemFile::Problem(file) = ProblemFile::parse(&text).unwrap() else {
        panic!("another format");
    };
    assert_eq!(file.name, "unusual \"one\"");
    assert_eq!(file.problem, problem);
    // Equality takes -0 for 0; the text does not.
    assert_eq!(write_problem(&file.name, &file.problem), text);
    assert_eq!(file.problem.rows()[0].upper, f64::INFINITY);
    assert_eq!(file.problem.rows()[1].lower, 0.0);
    let l = Impulses::zero(2, 3);
    let bits = |p: &ContactProblem| format!("{:?}", certify(p, &l).unwrap());
    assert_eq!(bits(&file.problem), bits(&problem));
}

#[test]
fn json_of_another_kind_is_refused() {
    let head = "{\"format\": \"moreau-problem\", \"version\": 1, \"dt\": 0.01, ";
    let cases = [
        (
            "{\"format\": \"moreau-scene\", \"version\": 1}".to_owned(),
            "format `moreau-scene` version 1 is unknown; this program reads `moreau-problem` version 1",
        ),
        (
            "{\"format\": \"moreau-problem\", \"version\": 2}".to_owned(),
            "format `moreau-problem` version 2 is unknown; this program reads `moreau-problem` version 1",
        ),
        (
            "{".to_owned(),
            "line 1, column 1: EOF while parsing an object",
        ),
        (
            format!("{head}\n\"bodies\": [], \"contacts\": []}}"),
            "line 2, column 29: missing field `rows`",
        ),
        (
            format!("{head}\"bodies\": [], \"contacts\": [], \"rows\": [], \"cows\": []}}"),
            "line 1, column 103: unknown field `cows`, expected one of `format`, `version`, `name`, \
             `dt`, `bodies`, `contacts`, `rows`",
        ),
    ];
    for (text, message) in cases {
        let error = ProblemFile::parse(&text).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let file = root().join("fixtures/problems/stack2.json");
    let text = std::fs::read_to_string(file).unwrap();
    let bad = text.replacen("\"b\": 1,", "\"b\": 9,", 1);
    assert!(matches!(
        ProblemFile::parse(&bad).unwrap_err(),
        FileError::Problem(error) if error.to_string().contains("b is 10")
    ));
    assert!(matches!(
        load(Path::new("no/such/file")).unwrap_err(),
        FileError::Read { .. }
    ));
}

#[test]
fn fields_that_are_none_are_refused_at_every_depth() {
    let text = write_problem("", &unusual_problem());
    for (owner, first) in [
        ("a body", "{\"inverse_mass\":"),
        ("an inertia", "{\"xx\":"),
        ("a velocity", "{\"linear\":"),
        ("a contact", "\"contacts\":[{\"a\":"),
        ("a frame", "{\"normal\":"),
        ("a row", "\"rows\":[{\"a\":"),
    ] {
        assert!(text.contains(first), "{owner}: {text}");
        let brace = first.find('{').unwrap() + 1;
        let (before, after) = first.split_at(brace);
        let bad = text.replacen(first, &format!("{before}\"cows\":3,{after}"), 1);
        let column = text.find(first).unwrap() + before.len();
        let FileError::Json {
            line: 1,
            column: at,
            message,
        } = ProblemFile::parse(&bad).unwrap_err()
        else {
            panic!("{owner}: another error");
        };
        assert!(message.starts_with("unknown field `cows`"), "{message}");
        assert!((column..column + 8).contains(&at), "{owner}: {at}");
    }
}

/// The tolerance is a part of it.
#[test]
fn a_reference_problem_cannot_loosen_its_own_certificate() {
    let file = root().join("fixtures/problems/stack2.json");
    let text = std::fs::read_to_string(file).unwrap();
    let scale = |to: &str| {
        let (before, after) = text.split_once("\"residual_scale\":").unwrap();
        let end = after.find([',', '}']).unwrap();
        ProblemFile::parse(&format!(
            "{before}\"residual_scale\": {to}{}",
            &after[end..]
        ))
    };
    for good in ["1.0", "0.001", "1e3"] {
        assert!(scale(good).is_ok());
    }
    for bad in ["1e150", "1000.1", "0.0", "-1.0"] {
        let error = scale(bad).unwrap_err();
        assert!(matches!(error, FileError::Scale { most: 1e3, .. }));
        let message = error.to_string();
        assert!(
            message.starts_with("reference.residual_scale is "),
            "{message}"
        );
    }
}

/// A row is a contact's normal without friction.
#[test]
fn rows_take_part_in_the_measures() {
    let mut problem = ContactProblem::new(0.01).unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    let ball = problem
        .add_body(BodyInput {
            inverse_mass: 4.0,
            inverse_inertia: SymMat3::ZERO,
            velocity: Velocity::new(vec3(0.0, -3.0, 0.0), Vec3::ZERO),
        })
        .unwrap();
    let levers = (Vec3::ZERO, Vec3::ZERO);
    problem
        .add_row(Row {
            lower: 0.0,
            ..Row::bilateral((ground, ball), Vec3::Y, levers, 0.0)
        })
        .unwrap();
    let mut impulses = problem.cold_start();
    impulses.rows[0] = 0.5;
    // w = 4 * 0.5 - 3 = -1: l - max(0, l + 1) = -1, of 3; with rho = 1/4 it is 0.25 of 0.75.
    let measures = Measures::of(&problem, &impulses).unwrap();
    assert!((measures.natural_map - 1.0 / 3.0).abs() < 1e-15);
    assert!((measures.scaled_natural_map - 1.0 / 3.0).abs() < 1e-15);
    assert!((measures.energy + 1.0).abs() < 1e-15);
    impulses.rows[0] = 0.75;
    let measures = Measures::of(&problem, &impulses).unwrap();
    assert_eq!(measures.natural_map, 0.0);
    impulses.rows.clear();
    assert!(Measures::of(&problem, &impulses).is_err());
}
