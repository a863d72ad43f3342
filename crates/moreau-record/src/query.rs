//! Contacts by pair, body, frames and thresholds.
//!
//! `touches` says when a pair was in contact, the index of chunks by pair which chunk of a frame has it,
//! and the chunks' largest values which chunks a threshold leaves: only those are unpacked.

use crate::contact::pair_key;
use crate::{ContactRecord, RecordError, RecordedRun};
use moreau_pipeline::{BodyId, Contact};
use rusqlite::params;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Which contacts to look for. The default is all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactQuery {
    /// Only in these frames.
    pub frames: Option<RangeInclusive<u64>>,
    /// Only contacts of this body.
    pub of: Option<BodyId>,
    /// Only contacts with this body, too.
    pub with: Option<BodyId>,
    /// Only with at least this normal impulse, N s.
    pub min_normal_impulse: Option<f64>,
    /// Only where the bodies overlap by at least this, m.
    pub min_penetration: Option<f64>,
    /// Only where they came together at least this fast, m/s.
    pub min_approach_speed: Option<f64>,
    /// Only so many, those with the largest normal impulses, the heaviest first. `None`: all, in order
    /// of frames and ids.
    pub heaviest: Option<usize>,
}

impl ContactQuery {
    fn takes(&self, record: &ContactRecord) -> bool {
        let c = &record.contact;
        let has = |id: Option<BodyId>| id.is_none_or(|id| c.a == id || c.b == id);
        let least = |value: f64, least: Option<f64>| least.is_none_or(|least| value >= least);
        // A body does not touch itself.
        (self.of != self.with || self.of.is_none())
            && has(self.of)
            && has(self.with)
            && least(c.impulse.x, self.min_normal_impulse)
            && least(record.penetration(), self.min_penetration)
            && least(record.approach_speed(), self.min_approach_speed)
    }
}

/// A span of frames in which two bodies had at least one contact point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Index of the first body in [`RecordedRun::bodies`].
    pub a: usize,
    /// Index of the other.
    pub b: usize,
    /// The first frame with a contact.
    pub first_frame: u64,
    /// The last; `None` where they touch when the run ends.
    pub last_frame: Option<u64>,
}

/// The contacts found so far.
struct Found<'q> {
    query: &'q ContactQuery,
    contacts: Vec<ContactRecord>,
}

impl Found<'_> {
    fn take(&mut self, record: ContactRecord) {
        if self.query.takes(&record) {
            self.contacts.push(record);
        }
        if let Some(most) = self.query.heaviest
            && self.contacts.len() > 4096 + 2 * most
        {
            self.cut(most);
        }
    }

    /// Keeps the heaviest, sorted.
    fn cut(&mut self, most: usize) {
        self.contacts.sort_by(|x, y| {
            let (a, b) = (x.contact.impulse.x, y.contact.impulse.x);
            b.total_cmp(&a)
                .then((x.frame, x.ordinal).cmp(&(y.frame, y.ordinal)))
        });
        self.contacts.truncate(most);
    }

    /// The impulse that a contact must reach to be among the heaviest.
    fn bar(&mut self) -> Option<f64> {
        let most = self.query.heaviest?;
        if self.contacts.len() < most {
            return None;
        }
        self.cut(most);
        Some(
            self.contacts
                .last()
                .map_or(f64::INFINITY, |c| c.contact.impulse.x),
        )
    }

    fn finish(mut self) -> Vec<ContactRecord> {
        match self.query.heaviest {
            Some(most) => self.cut(most),
            None => self.contacts.sort_by_key(|c| (c.frame, c.ordinal)),
        }
        self.contacts
    }
}

impl RecordedRun<'_> {
    /// The contacts that `query` asks for.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn contacts_where(&self, query: &ContactQuery) -> Result<Vec<ContactRecord>, RecordError> {
        let all = self.first_frame()..=self.last_frame();
        let frames = query.frames.clone().unwrap_or(all.clone());
        // Bounds that the file's integers hold.
        let frames = (*frames.start()).max(*all.start())..=(*frames.end()).min(*all.end());
        let mut found = Found {
            query,
            contacts: Vec::new(),
        };
        match (query.of, query.with) {
            (Some(a), Some(b)) => {
                let pair = key(a.min(b), a.max(b));
                for (_, span) in self.spans(pair..=pair, &frames)? {
                    for frame in span {
                        self.chunks_of(frame, pair..=pair, &mut found)?;
                    }
                }
            }
            (Some(body), None) | (None, Some(body)) => self.of_body(body, &frames, &mut found)?,
            (None, None) => self.by_threshold(&frames, &mut found)?,
        }
        Ok(found.finish())
    }

    /// When which bodies touched, sorted by pair and frame.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn touches(&self) -> Result<Vec<Touch>, RecordError> {
        let recording = self.recording();
        let mut statement = recording.sql(recording.connection.prepare_cached(
            "SELECT a, b, first_frame, last_frame FROM touches WHERE run = ? \
             ORDER BY pair, first_frame",
        ))?;
        let rows = statement.query_map([self.number()], |row| {
            Ok(Touch {
                a: row.get::<_, i64>(0)? as usize,
                b: row.get::<_, i64>(1)? as usize,
                first_frame: row.get::<_, i64>(2)? as u64,
                last_frame: row.get::<_, Option<i64>>(3)?.map(|frame| frame as u64),
            })
        });
        let rows = recording.sql(rows)?;
        rows.map(|row| recording.sql(row)).collect()
    }

    /// The body of that name, or of that id (`3`, `3v1`).
    pub fn find(&self, name: &str) -> Option<BodyId> {
        let named = self.bodies().iter().find(|body| body.name == name);
        let is = |id: BodyId| {
            id.to_string() == name || (id.generation == 0 && id.index.to_string() == name)
        };
        let found = named.or_else(|| self.bodies().iter().find(|body| is(body.id)));
        found.map(|body| body.id)
    }

    fn of_body(
        &self,
        body: BodyId,
        frames: &RangeInclusive<u64>,
        found: &mut Found<'_>,
    ) -> Result<(), RecordError> {
        // As A its pairs follow each other.
        let low = i64::from(body.index) << 32;
        let as_a = low..=low | i64::from(u32::MAX);
        let mut touched = BTreeSet::new();
        let mut pairs: Vec<(u64, i64)> = Vec::new();
        for record in self.bodies().iter().filter(|b| b.id == body) {
            let number = record.body as i64;
            let spans = self.spans(as_a.clone(), frames)?.into_iter();
            spans
                .filter(|(a, _)| *a == number)
                .for_each(|(_, span)| touched.extend(span));
            for (pair, span) in self.pairs_as_b(number, frames)? {
                pairs.extend(span.map(|frame| (frame, pair)));
            }
        }
        for frame in touched {
            self.chunks_of(frame, as_a.clone(), found)?;
        }
        for (frame, pair) in pairs {
            self.chunks_of(frame, pair..=pair, found)?;
        }
        Ok(())
    }

    /// The first bodies of touches of those pairs, and the frames in which they held.
    fn spans(
        &self,
        pairs: RangeInclusive<i64>,
        frames: &RangeInclusive<u64>,
    ) -> Result<Vec<(i64, RangeInclusive<u64>)>, RecordError> {
        let recording = self.recording();
        let mut statement = recording.sql(recording.connection.prepare_cached(
            "SELECT a, first_frame, last_frame FROM touches \
             WHERE run = ? AND pair BETWEEN ? AND ?",
        ))?;
        let bounds = params![self.number(), pairs.start(), pairs.end()];
        let rows = statement.query_map(bounds, |row| {
            Ok((row.get(0)?, within(row.get(1)?, row.get(2)?, frames)))
        });
        let rows = recording.sql(rows)?;
        rows.map(|row| recording.sql(row)).collect()
    }

    fn pairs_as_b(
        &self,
        number: i64,
        frames: &RangeInclusive<u64>,
    ) -> Result<Vec<(i64, RangeInclusive<u64>)>, RecordError> {
        let recording = self.recording();
        let mut statement = recording.sql(recording.connection.prepare_cached(
            "SELECT pair, first_frame, last_frame FROM touches WHERE run = ? AND b = ?",
        ))?;
        let rows = statement.query_map(params![self.number(), number], |row| {
            let span = within(row.get(1)?, row.get(2)?, frames);
            Ok((row.get::<_, i64>(0)?, span))
        });
        let rows = recording.sql(rows)?;
        rows.map(|row| recording.sql(row)).collect()
    }

    /// Contacts of a frame whose pairs lie in `pairs`.
    fn chunks_of(
        &self,
        frame: u64,
        pairs: RangeInclusive<i64>,
        found: &mut Found<'_>,
    ) -> Result<(), RecordError> {
        let recording = self.recording();
        let mut statement = recording.sql(recording.connection.prepare_cached(
            "SELECT first_ordinal, data FROM contact_chunks \
             WHERE run = ? AND frame = ? AND last_pair >= ? AND first_pair <= ? \
             AND max_normal_impulse >= ? AND max_penetration >= ? AND max_approach_speed >= ?",
        ))?;
        let query = found.query;
        // An impulse is never below zero by more than rounding, but who knows the solver.
        let least = |x: Option<f64>| x.unwrap_or(f64::NEG_INFINITY);
        let rows = statement.query(params![
            self.number(),
            frame as i64,
            pairs.start(),
            pairs.end(),
            least(query.min_normal_impulse.filter(|x| *x > 0.0)),
            least(query.min_penetration),
            least(query.min_approach_speed),
        ]);
        let mut rows = recording.sql(rows)?;
        while let Some(row) = recording.sql(rows.next())? {
            self.chunk(frame, row, |record| {
                if pairs.contains(&pair_key(&record.contact)) {
                    found.take(record);
                }
            })?;
        }
        Ok(())
    }

    fn by_threshold(
        &self,
        frames: &RangeInclusive<u64>,
        found: &mut Found<'_>,
    ) -> Result<(), RecordError> {
        let query = found.query;
        let recording = self.recording();
        // The heaviest chunk first, so that the search can end early. The index alone tells which.
        let order = if query.heaviest.is_some() {
            "max_normal_impulse DESC"
        } else {
            "frame"
        };
        let sql = format!(
            "SELECT rowid, max_normal_impulse FROM contact_chunks \
             WHERE run = ? AND frame BETWEEN ? AND ? \
             AND max_normal_impulse >= ? AND max_penetration >= ? AND max_approach_speed >= ? \
             ORDER BY {order}"
        );
        let mut statement = recording.sql(recording.connection.prepare_cached(&sql))?;
        let mut data = recording.sql(recording.connection.prepare_cached(
            "SELECT frame, first_ordinal, data FROM contact_chunks WHERE rowid = ?",
        ))?;
        let least = |x: Option<f64>| x.unwrap_or(f64::NEG_INFINITY);
        let rows = statement.query(params![
            self.number(),
            *frames.start() as i64,
            *frames.end() as i64,
            least(query.min_normal_impulse.filter(|x| *x > 0.0)),
            least(query.min_penetration),
            least(query.min_approach_speed),
        ]);
        let mut rows = recording.sql(rows)?;
        while let Some(row) = recording.sql(rows.next())? {
            let max: f64 = recording.sql(row.get("max_normal_impulse"))?;
            if found.bar().is_some_and(|bar| max < bar) {
                break;
            }
            let chunk: i64 = recording.sql(row.get("rowid"))?;
            let mut chunk = recording.sql(data.query([chunk]))?;
            while let Some(row) = recording.sql(chunk.next())? {
                let frame = recording.sql(row.get::<_, i64>("frame"))? as u64;
                self.chunk(frame, row, |record| found.take(record))?;
            }
        }
        Ok(())
    }
}

fn key(a: BodyId, b: BodyId) -> i64 {
    i64::from(a.index) << 32 | i64::from(b.index)
}

fn within(first: i64, last: Option<i64>, frames: &RangeInclusive<u64>) -> RangeInclusive<u64> {
    let last = last.map_or(u64::MAX, |last| last as u64);
    (first as u64).max(*frames.start())..=last.min(*frames.end())
}

impl ContactRecord {
    /// The body that touches `body`; `None` where it is not in the contact.
    pub fn other(&self, body: BodyId) -> Option<BodyId> {
        let Contact { a, b, .. } = self.contact;
        if a == body {
            Some(b)
        } else {
            (b == body).then_some(a)
        }
    }
}
