use serde::{Deserialize, Serialize};

/// How the coefficients of two bodies make one.
///
/// Of two bodies with different rules the one further down this list is taken.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CombineRule {
    /// sqrt(a b).
    #[default]
    GeometricMean,
    /// (a + b)/2.
    Average,
    /// The smaller.
    Min,
    /// a b.
    Multiply,
    /// The larger.
    Max,
}

impl CombineRule {
    /// The coefficient of the pair.
    pub fn combine(self, a: f64, b: f64) -> f64 {
        match self {
            Self::GeometricMean if a == b => a,
            Self::GeometricMean => (a * b).sqrt(),
            Self::Average => 0.5 * (a + b),
            Self::Min => a.min(b),
            Self::Multiply => a * b,
            Self::Max => a.max(b),
        }
    }
}

/// Surface of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Coulomb's coefficient, >= 0. Default 0.5.
    pub friction: f64,
    /// Newton's coefficient, 0 (no bounce) to 1 (elastic). Default 0.
    pub restitution: f64,
    /// How friction combines with another body's.
    pub friction_rule: CombineRule,
    /// How restitution combines with another body's.
    pub restitution_rule: CombineRule,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            friction: 0.5,
            restitution: 0.0,
            friction_rule: CombineRule::GeometricMean,
            restitution_rule: CombineRule::GeometricMean,
        }
    }
}

impl Material {
    /// Friction and restitution of the contact of two materials.
    pub fn combine(&self, other: &Self) -> (f64, f64) {
        let friction = self.friction_rule.max(other.friction_rule);
        let restitution = self.restitution_rule.max(other.restitution_rule);
        (
            friction.combine(self.friction, other.friction),
            restitution.combine(self.restitution, other.restitution),
        )
    }
}
