//! Pairs of balls, with one contact each.
//!
//! Where no lever has a part across the normal, lever = arm n, an impulse turns a ball by what it has across the normal alone,
//! and normal and tangents are not coupled:
//!
//! ```text
//! u_n = n.dv    u_t1 = t1.dv + t2.w    u_t2 = t2.dv - t1.w      dv = v_b - v_a,  w = arm_b w_b - arm_a w_a
//! n x l = l_t1 t2 - l_t2 t1
//! W_nn = 1/m_a + 1/m_b    W_tt = (W_nn + arm_a^2/I_a + arm_b^2/I_b) 1    W_tn = 0
//! ```
//!
//! With that a contact takes half of the memory.

use crate::lanes::{Lanes, WIDTH};
use crate::packed::{Ball, BodyIndex, BodyRecord};
use crate::visit::{
    Body, Columns, Law, Mass, V3, Visited, add, cross, dot, inverse, load3, scale, sub,
};

/// Eight pairs of balls in registers.
pub(crate) struct Balls<L> {
    a: Body<L>,
    b: Body<L>,
    /// 1/m and 1/I.
    mass_a: [L; 2],
    mass_b: [L; 2],
    arms: [L; 2],
    axes: [V3<L>; 3],
    friction: L,
}

impl<L: Lanes> Visited<L> for Balls<L> {
    type Record = Ball;
    type Point = Ball;

    #[inline(always)]
    fn indices(ball: &Ball) -> [&[BodyIndex; WIDTH]; 2] {
        [&ball.a, &ball.b]
    }

    #[inline(always)]
    fn new(ball: &Ball, [a, b]: [Columns<L>; 2], _: &[BodyRecord]) -> Self {
        let (normal, tangent1) = (load3(&ball.normal), load3(&ball.tangent1));
        Self {
            mass_a: [a[6], a[7]],
            mass_b: [b[6], b[7]],
            a: Body::of(a),
            b: Body::of(b),
            arms: [L::load(&ball.arms[0]), L::load(&ball.arms[1])],
            axes: [normal, tangent1, cross(normal, tangent1)],
            friction: L::load(&ball.friction),
        }
    }

    #[inline(always)]
    fn columns(&self) -> [Columns<L>; 2] {
        let ([ma, ia], [mb, ib]) = (self.mass_a, self.mass_b);
        [self.a.columns(ma, ia), self.b.columns(mb, ib)]
    }

    #[inline(always)]
    fn friction(&self) -> L {
        self.friction
    }

    #[inline(always)]
    fn shifted_velocity(&self, ball: &Ball) -> V3<L> {
        let [_, t1, t2] = self.axes;
        let dv = sub(self.b.linear, self.a.linear);
        let w = sub(
            scale(self.b.angular, self.arms[1]),
            scale(self.a.angular, self.arms[0]),
        );
        [
            self.shifted_normal_velocity(ball),
            dot(t1, dv) + dot(t2, w),
            dot(t2, dv) - dot(t1, w),
        ]
    }

    #[inline(always)]
    fn shifted_normal_velocity(&self, ball: &Ball) -> L {
        dot(self.axes[0], sub(self.b.linear, self.a.linear)) + L::load(&ball.bias)
    }

    #[inline(always)]
    fn apply<const FRICTION: bool>(&mut self, _: &Ball, change: V3<L>) {
        let [n, t1, t2] = self.axes;
        let ([ma, ia], [mb, ib]) = (self.mass_a, self.mass_b);
        let mut impulse = scale(n, change[0]);
        if FRICTION {
            impulse = add(impulse, add(scale(t1, change[1]), scale(t2, change[2])));
            let turn = sub(scale(t2, change[1]), scale(t1, change[2]));
            let [arm_a, arm_b] = self.arms;
            self.a.angular = sub(self.a.angular, scale(turn, ia * arm_a));
            self.b.angular = add(self.b.angular, scale(turn, ib * arm_b));
        }
        self.a.linear = sub(self.a.linear, scale(impulse, ma));
        self.b.linear = add(self.b.linear, scale(impulse, mb));
    }

    #[inline(always)]
    fn law(ball: &Ball) -> Law<'_> {
        Law {
            inverse_normal: &ball.inverse_normal,
            step: &ball.step,
            scale: &ball.scale,
        }
    }

    #[inline(always)]
    fn coupled(_: &Ball, s: V3<L>, _: L) -> [L; 2] {
        [s[1], s[2]]
    }
}

/// Writes the coefficients that follow from masses and arms.
#[inline(always)]
pub(crate) fn prepare_ball<L: Lanes>(ball: &mut Ball, [mass_a, mass_b]: [&Mass<L, false>; 2]) {
    let [arm_a, arm_b] = [L::load(&ball.arms[0]), L::load(&ball.arms[1])];
    let nn = mass_a.inverse + mass_b.inverse;
    let turn_a = mass_a.xx_yy_zz[0] * (arm_a * arm_a);
    let tt = nn + turn_a + mass_b.xx_yy_zz[0] * (arm_b * arm_b);
    inverse(nn).store(&mut ball.inverse_normal);
    inverse(tt).store(&mut ball.step);
    ((nn + tt + tt) * L::splat(1.0 / 3.0)).store(&mut ball.scale);
}
