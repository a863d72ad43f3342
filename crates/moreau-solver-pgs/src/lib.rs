//! Projected Gauss-Seidel over rows and contacts, in its plainest form.
use moreau_constraint::*;
use moreau_math::*;
use moreau_solver::*;
use serde::{Deserialize, Serialize};
/// s
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PgsSettings {
    /// x
    pub max_sweeps: u32,
    /// x
    pub tolerance: f64,
}
impl Default for PgsSettings {
    fn default() -> Self {
        Self {
            max_sweeps: 400,
            tolerance: 1e-9,
        }
    }
}
/// x
#[derive(Default, Debug)]
pub struct PgsSolver {
    s: PgsSettings,
}
#[allow(missing_docs)]
impl PgsSolver {
    pub fn new(s: PgsSettings) -> Self {
        Self { s }
    }
    pub fn settings(&self) -> &PgsSettings {
        &self.s
    }
}
impl ContactSolver for PgsSolver {
    fn name(&self) -> &'static str {
        "pgs"
    }
    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self { s: self.s })
    }
    fn solve(
        &mut self,
        p: &ContactProblem,
        l: &mut Impulses,
        v: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        l.sanitize(p.contacts().len(), p.rows().len());
        p.velocities_into(l, v);
        let mut rep = SolveReport::empty();
        for k in 0..=self.s.max_sweeps {
            let c = certify(p, l)?;
            rep.residual = c.natural_map;
            rep.worst_contact = c.worst_contact;
            rep.sweeps = k;
            if c.natural_map <= self.s.tolerance {
                rep.stop = StopReason::Converged;
                return Ok(rep);
            }
            let n = p.contacts().len();
            for (i, r) in p.rows().iter().enumerate() {
                let w = r.velocity(&v[r.a], &v[r.b]) + r.bias + r.regularization * l.rows[i];
                let x = (l.rows[i] - w / p.row_diagonal(r)).clamp(r.lower, r.upper);
                let d = x - l.rows[i];
                l.rows[i] = x;
                p.apply_row(r, d, v);
            }
            for j in 0..n {
                let i = if k % 2 == 0 { j } else { n - 1 - j };
                let c = &p.contacts()[i];
                let w = p.delassus_block(c);
                let u = p.contact_velocity(c, v) + c.bias;
                let o = l.contacts[i];
                let ln = (o.x - u.x / w.x_axis.x).max(0.0);
                let d0 = ln - o.x;
                p.apply_contact(c, vec3(d0, 0.0, 0.0), v);
                let u = p.contact_velocity(c, v) + c.bias;
                let r = 1.0 / (w.y_axis.y + w.z_axis.z);
                let (a, b) = project_disc(o.y - r * u.y, o.z - r * u.z, c.friction * ln);
                p.apply_contact(c, vec3(0.0, a - o.y, b - o.z), v);
                l.contacts[i] = vec3(ln, a, b);
            }
        }
        rep.stop = StopReason::Budget;
        Ok(rep)
    }
}
