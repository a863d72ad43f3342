use moreau_math::{Mat3, Pose, Vec3};

/// A box in the working frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedBox {
    pub(super) center: Vec3,
    /// Unit axes.
    pub(super) axes: [Vec3; 3],
    /// Half extents along the axes, m.
    pub(super) half: [f64; 3],
}

impl PlacedBox {
    pub(super) fn new(half_extents: Vec3, pose: &Pose, origin: Vec3) -> Self {
        let m = Mat3::from_quat(pose.rotation);
        Self {
            center: pose.translation - origin,
            axes: [m.x_axis, m.y_axis, m.z_axis],
            half: half_extents.to_array(),
        }
    }

    /// The corner whose bit i says on which side it lies along axis i.
    pub(super) fn vertex(&self, index: usize) -> Vec3 {
        let h = |i: usize| {
            if index >> i & 1 == 1 {
                self.half[i]
            } else {
                -self.half[i]
            }
        };
        self.center + (self.axes[0] * h(0) + self.axes[1] * h(1) + self.axes[2] * h(2))
    }

    /// The corner furthest along `direction`.
    pub(super) fn support(&self, direction: Vec3) -> usize {
        (0..3).fold(0, |bits, i| {
            bits | usize::from(self.axes[i].dot(direction) >= 0.0) << i
        })
    }
}
