//! Elimination order and fill of a symmetric sparsity pattern.
//!
//! Minimum degree on the explicit elimination graph: the node with the fewest neighbours goes first
//! (of equals the smallest), and its neighbours become a clique. Depends on the pattern alone, so it
//! is found once for a contact graph and the same for any number of threads.

/// The symbolic factorisation of a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Symbolic {
    /// Position in the elimination order of each node.
    pub(crate) position: Vec<u32>,
    /// Node at each position.
    pub(crate) node: Vec<u32>,
    /// Start of each column's list in `rows`; one more than there are columns.
    pub(crate) start: Vec<usize>,
    /// For each column (a position) the later positions with which it has a block, ascending.
    pub(crate) rows: Vec<u32>,
}

impl Symbolic {
    /// Analyses the graph of `nodes` nodes with the given edges (any order, doubles and loops
    /// allowed).
    pub(crate) fn new(nodes: usize, edges: impl Iterator<Item = (u32, u32)>) -> Self {
        Self::within(nodes, edges, u64::MAX).unwrap_or_default()
    }

    /// The same; `None` as soon as [`Self::work`] is sure to be more than `most`.
    pub(crate) fn within(
        nodes: usize,
        edges: impl Iterator<Item = (u32, u32)>,
        most: u64,
    ) -> Option<Self> {
        let mut neighbours = neighbours(nodes, edges);
        let mut work = 0_u64;
        let mut ends: usize = neighbours.iter().map(Vec::len).sum();
        let mut queue = DegreeQueue::new(&neighbours);
        let mut out = Self {
            position: vec![0; nodes],
            node: Vec::with_capacity(nodes),
            start: vec![0],
            rows: Vec::new(),
        };
        let mut merged = Vec::new();
        while let Some(k) = queue.pop() {
            out.position[k as usize] = out.node.len() as u32;
            out.node.push(k);
            let clique = std::mem::take(&mut neighbours[k as usize]);
            work = work.saturating_add(column_work(clique.len()));
            ends -= 2 * clique.len();
            if let [only] = clique[..] {
                let list = &mut neighbours[only as usize];
                if let Ok(at) = list.binary_search(&k) {
                    list.remove(at);
                }
                queue.set(only, list.len());
            } else {
                for &i in &clique {
                    let list = &mut neighbours[i as usize];
                    merge_without(list, &clique, (i, k), &mut merged);
                    ends += merged.len() + 1 - list.len();
                    std::mem::swap(list, &mut merged);
                    queue.set(i, list.len());
                }
            }
            let rest = rest_work(nodes - out.node.len(), ends / 2);
            if work.saturating_add(rest) > most {
                return None;
            }
            out.rows.extend_from_slice(&clique);
            out.start.push(out.rows.len());
        }
        out.rows_to_positions();
        Some(out)
    }

    /// The pattern without fill, in the order of the distance to the `roots`, nodes that no path
    /// connects with them last. In a tower that stands on a root no fill is missing.
    pub(crate) fn without_fill(
        nodes: usize,
        edges: impl Iterator<Item = (u32, u32)>,
        roots: impl Iterator<Item = u32>,
    ) -> Self {
        let neighbours = neighbours(nodes, edges);
        let mut seen = vec![false; nodes];
        let mut node: Vec<u32> = Vec::with_capacity(nodes);
        let mut roots: Vec<u32> = roots.collect();
        roots.sort_unstable();
        roots.dedup();
        for &root in &roots {
            seen[root as usize] = true;
        }
        node.extend(roots);
        let mut at = 0;
        for other in 0..nodes as u32 {
            while at < node.len() {
                for &next in &neighbours[node[at] as usize] {
                    if !std::mem::replace(&mut seen[next as usize], true) {
                        node.push(next);
                    }
                }
                at += 1;
            }
            if !std::mem::replace(&mut seen[other as usize], true) {
                node.push(other);
            }
        }
        let mut position = vec![0; nodes];
        for (at, &node) in node.iter().enumerate() {
            position[node as usize] = at as u32;
        }
        let (mut start, mut rows) = (vec![0], Vec::new());
        for &k in &node {
            let here = position[k as usize];
            let later = neighbours[k as usize].iter();
            rows.extend(later.filter(|i| position[**i as usize] > here));
            start.push(rows.len());
        }
        let mut out = Self {
            position,
            node,
            start,
            rows,
        };
        out.rows_to_positions();
        out
    }

    /// From nodes to positions, ascending in each column.
    fn rows_to_positions(&mut self) {
        for row in &mut self.rows {
            *row = self.position[*row as usize];
        }
        for column in 0..self.node.len() {
            self.rows[self.start[column]..self.start[column + 1]].sort_unstable();
        }
    }

    /// Off-diagonal blocks of the factor's lower half.
    pub(crate) fn fill(&self) -> usize {
        self.rows.len()
    }

    /// The later positions of column `k`.
    pub(crate) fn column(&self, k: usize) -> &[u32] {
        &self.rows[self.start[k]..self.start[k + 1]]
    }

    /// Where the blocks of two nodes of an edge with each other lie, beside `rows`.
    pub(crate) fn place(&self, i: u32, j: u32) -> usize {
        let (i, j) = (self.position[i as usize], self.position[j as usize]);
        let (first, second) = (i.min(j) as usize, i.max(j));
        let at = self.column(first).partition_point(|r| *r < second);
        debug_assert_eq!(self.column(first).get(at), Some(&second));
        self.start[first] + at
    }

    /// Block operations of a numeric factorisation: the work estimate.
    pub(crate) fn work(&self) -> u64 {
        (0..self.node.len())
            .map(|k| column_work(self.column(k).len()))
            .sum()
    }
}

/// Block operations of a column with `n` later blocks.
fn column_work(n: usize) -> u64 {
    let n = n as u64;
    1 + n + n * n
}

/// Block operations that any order of the rest of a graph takes at least: its columns have all of its edges, and take
/// least where they are alike.
fn rest_work(nodes: usize, edges: usize) -> u64 {
    let (n, e) = (nodes as u64, edges as u64);
    n + e + e.saturating_mul(e).checked_div(n).unwrap_or(0)
}

/// The neighbours of each node, ascending.
fn neighbours(nodes: usize, edges: impl Iterator<Item = (u32, u32)>) -> Vec<Vec<u32>> {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (a, b) in edges {
        if a != b {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    neighbours
}

/// a ∪ b without two nodes; all ascending.
fn merge_without(a: &[u32], b: &[u32], without: (u32, u32), out: &mut Vec<u32>) {
    out.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => *x.min(y),
            (Some(x), None) => *x,
            (None, Some(y)) => *y,
            (None, None) => break,
        };
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
        if next != without.0 && next != without.1 {
            out.push(next);
        }
    }
}

/// Nodes by degree, then by number.
struct DegreeQueue {
    order: std::collections::BTreeSet<(usize, u32)>,
    degree: Vec<usize>,
}

impl DegreeQueue {
    fn new(neighbours: &[Vec<u32>]) -> Self {
        let degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
        let order = degree
            .iter()
            .enumerate()
            .map(|(i, d)| (*d, i as u32))
            .collect();
        Self { order, degree }
    }

    fn pop(&mut self) -> Option<u32> {
        self.order.pop_first().map(|(_, node)| node)
    }

    fn set(&mut self, node: u32, degree: usize) {
        let old = std::mem::replace(&mut self.degree[node as usize], degree);
        if old != degree && self.order.remove(&(old, node)) {
            self.order.insert((degree, node));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_no_fill() {
        let s = Symbolic::new(30, (0..29).map(|i| (i, i + 1)));
        assert_eq!(s.fill(), 29);
        assert_eq!(s.position.len(), 30);
    }

    #[test]
    fn a_star_is_eliminated_from_its_leaves() {
        let s = Symbolic::new(6, (1..6).map(|i| (0, i)));
        assert_eq!(s.fill(), 5);
        assert!(s.position[0] >= 4);
    }

    #[test]
    fn a_pattern_without_fill_is_that_of_the_graph() {
        let edges: Vec<(u32, u32)> = (0..30u32)
            .flat_map(|i| [(i, (i * 7 + 3) % 30), (i, (i + 1) % 30)])
            .collect();
        let s = Symbolic::without_fill(32, edges.iter().copied(), [5, 11, 5].into_iter());
        let graph = neighbours(32, edges.iter().copied());
        assert_eq!(s.fill(), graph.iter().map(Vec::len).sum::<usize>() / 2);
        assert_eq!(s.node[..2], [5, 11]);
        assert_eq!(s.node[30..], [30, 31]);
        for (k, &node) in s.node.iter().enumerate() {
            assert_eq!(s.position[node as usize], k as u32);
            let later = s.column(k).iter().map(|i| s.node[*i as usize]);
            assert!(later.clone().all(|i| graph[node as usize].contains(&i)));
            assert!(s.column(k).is_sorted() && s.column(k).iter().all(|i| *i > k as u32));
        }
    }

    #[test]
    fn an_analysis_stops_at_its_limit() {
        let edges = || (0..40u32).flat_map(|i| [(i, (i * 7 + 3) % 40), (i, (i + 1) % 40)]);
        let whole = Symbolic::new(40, edges());
        assert_eq!(
            Symbolic::within(40, edges(), whole.work()),
            Some(whole.clone())
        );
        assert_eq!(Symbolic::within(40, edges(), whole.work() - 1), None);
    }

    #[test]
    fn every_column_is_contained_in_that_of_its_first_row() {
        // The containment that the numeric phase relies on.
        let edges = (0..40u32).flat_map(|i| [(i, (i * 7 + 3) % 40), (i, (i + 1) % 40)]);
        let s = Symbolic::new(40, edges);
        for k in 0..40 {
            let column = s.column(k);
            for (at, j) in column.iter().enumerate() {
                let later = &column[at + 1..];
                let parent = s.column(*j as usize);
                assert!(later.iter().all(|i| parent.binary_search(i).is_ok()));
            }
        }
    }
}
