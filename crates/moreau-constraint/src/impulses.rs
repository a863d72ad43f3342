use moreau_math::Vec3;
use serde::{Deserialize, Serialize};

/// The unknowns of a [`crate::ContactProblem`]: warm start on the way in, solution on the way out.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Impulses {
    /// One (normal, tangent 1, tangent 2) a contact, N s, acting on B.
    pub contacts: Vec<Vec3>,
    /// One a row, N s (N m s for angular rows).
    pub rows: Vec<f64>,
}

impl Clone for Impulses {
    fn clone(&self) -> Self {
        Self {
            contacts: self.contacts.clone(),
            rows: self.rows.clone(),
        }
    }

    /// Memory is reused.
    fn clone_from(&mut self, other: &Self) {
        self.contacts.clone_from(&other.contacts);
        self.rows.clone_from(&other.rows);
    }
}

impl Impulses {
    /// All zero, for a problem of that many contacts and rows.
    pub fn zero(contacts: usize, rows: usize) -> Self {
        Self {
            contacts: vec![Vec3::ZERO; contacts],
            rows: vec![0.0; rows],
        }
    }

    /// Sets the lengths, filling with zeros, and zeroes every entry that is not finite: whatever a
    /// caller hands over becomes a usable warm start.
    pub fn sanitize(&mut self, contacts: usize, rows: usize) {
        self.contacts.resize(contacts, Vec3::ZERO);
        self.rows.resize(rows, 0.0);
        for l in self.contacts.iter_mut().filter(|l| !l.is_finite()) {
            *l = Vec3::ZERO;
        }
        for l in self.rows.iter_mut().filter(|l| !l.is_finite()) {
            *l = 0.0;
        }
    }
}
