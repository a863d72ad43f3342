//! Gauss-Seidel sweeps with the exact answer of each contact, stage S1 and the way out of stalls.

use crate::form::{BodyForm, Dual, Six};
use moreau_constraint::solve_single_contact;
use moreau_math::Vec3;

/// One sweep over rows and contacts, contacts in reverse order where `reverse`. `v` follows `l`.
pub(crate) fn sweep(form: &BodyForm, l: &mut Dual, v: &mut [Six], reverse: bool) {
    for (r, l) in form.rows.iter().zip(&mut l.rows) {
        if r.diagonal > 0.0 {
            let w = r.velocity(v) + r.bias + r.regularization * *l;
            let next = (*l - w / r.diagonal).clamp(r.lower, r.upper);
            r.apply(v, next - *l);
            *l = next;
        }
    }
    let count = form.contacts.len();
    for i in 0..count {
        let i = if reverse { count - 1 - i } else { i };
        let c = &form.contacts[i];
        let old = l.contacts[i];
        let q = c.velocity(v) - c.w * old;
        let next = solve_single_contact(&c.w, q, c.mu).impulse;
        let d = next - old;
        if d != Vec3::ZERO && d.is_finite() {
            c.apply(v, d);
            l.contacts[i] = next;
        }
    }
}

/// `count` sweeps in alternating directions; v is computed afresh from l before and after.
pub(crate) fn sweeps(form: &BodyForm, l: &mut Dual, v: &mut Vec<Six>, count: u32) {
    form.velocities(l, v);
    for k in 0..count {
        sweep(form, l, v, k % 2 == 1);
    }
    form.velocities(l, v);
}
