//! The public linear complementarity problems, where they are at hand.

use moreau_solver_active_set::{LcpAnswer, lcp_residual, solve_lcp_exact};
use std::path::{Path, PathBuf};

/// The folder of the large problem sets: `MOREAU_PROBLEMS`, or beside the workspace.
fn problems() -> PathBuf {
    std::env::var_os("MOREAU_PROBLEMS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/problems"),
        PathBuf::from,
    )
}

/// (row-major matrix, q) of a file: `size`, then the matrix dense by columns or by 3x3 blocks of rows,
/// then q, then remarks.
fn read(path: &Path) -> (Vec<f64>, Vec<f64>) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut words = text.split_whitespace();
    let mut number = || words.next().unwrap().parse::<f64>().unwrap();
    let n = number() as usize;
    let storage = number() as usize;
    assert_eq!((number() as usize, number() as usize), (n, n));
    let mut matrix = vec![0.0; n * n];
    if storage == 0 {
        assert_eq!((number() as usize, number() as usize), (n, n));
        for j in 0..n {
            for i in 0..n {
                matrix[i * n + j] = number();
            }
        }
    } else {
        let mut count = || number() as usize;
        let (blocks, block_rows, block_columns) = (count(), count(), count());
        let row_ends: Vec<usize> = (0..block_rows).map(|_| count()).collect();
        let column_ends: Vec<usize> = (0..block_columns).map(|_| count()).collect();
        let (filled1, filled2) = (count(), count());
        let pointers: Vec<usize> = (0..filled1).map(|_| count()).collect();
        let columns: Vec<usize> = (0..filled2).map(|_| count()).collect();
        assert_eq!(blocks, filled2);
        let start = |ends: &[usize], k: usize| if k == 0 { 0 } else { ends[k - 1] };
        for (row, range) in pointers.windows(2).enumerate() {
            for k in range[0]..range[1] {
                assert_eq!(number() as usize, k);
                for j in start(&column_ends, columns[k])..column_ends[columns[k]] {
                    for i in start(&row_ends, row)..row_ends[row] {
                        matrix[i * n + j] = number();
                    }
                }
            }
        }
    }
    let q = (0..n).map(|_| number()).collect();
    (matrix, q)
}

#[test]
fn every_public_problem_is_decided() {
    let folder = problems().join("lcp");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!(
            "SKIPPED: no problems in {} (set MOREAU_PROBLEMS)",
            folder.display()
        );
        return;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 10, "{paths:?}");
    for path in paths {
        let (matrix, q) = read(&path);
        let answer = solve_lcp_exact(&matrix, &q).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        // All ten have a solution.
        let LcpAnswer::Solution(z) = &answer else {
            panic!("{name}: {answer:?}");
        };
        let residual = lcp_residual(&matrix, &q, z);
        println!("{name}: residual {residual:.1e}");
        assert!(residual <= 1e-14, "{name}: {residual:e}");
        let n = q.len();
        for i in 0..n {
            let products = matrix[i * n..(i + 1) * n].iter().zip(z).map(|(m, z)| m * z);
            let size = products.clone().fold(q[i].abs(), |sum, p| sum + p.abs());
            let w = products.fold(q[i], |sum, p| sum + p);
            assert!(z[i] >= 0.0 && w >= -1e-13 * size, "{name}: {i}");
            assert!(z[i] == 0.0 || w <= 1e-13 * size, "{name}: {i}");
        }
    }
}
