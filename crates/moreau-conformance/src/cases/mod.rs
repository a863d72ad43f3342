//! All cases. A new one is a line in one of these files.

mod behaviour;
mod degenerate;
mod extreme;
mod invariance;
mod joints;
mod kinematic;
mod redundant;
mod reference;
mod single;
mod stacks;
mod wedges;
mod worked;

use crate::Case;

/// Every case, in a fixed order.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for group in [
        single::cases,
        worked::cases,
        redundant::cases,
        wedges::cases,
        stacks::cases,
        reference::cases,
        joints::cases,
        kinematic::cases,
        degenerate::cases,
        invariance::cases,
        behaviour::cases,
        extreme::cases,
    ] {
        all.extend(group());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trial;

    #[test]
    fn names_are_unique_and_wanted_velocities_fit() {
        let all = cases();
        assert!(all.len() > 100, "{}", all.len());
        for (i, case) in all.iter().enumerate() {
            assert!(
                all[..i].iter().all(|c| c.name != case.name),
                "{}",
                case.name
            );
            if let Trial::Velocities { want, .. } = &case.trial {
                assert_eq!(want.len(), case.problem.bodies().len(), "{}", case.name);
            }
        }
    }
}
