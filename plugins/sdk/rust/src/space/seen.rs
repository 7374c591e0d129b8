use super::sample::MAX_TRIES;
use super::{given_axes, Axis, Point, Rng, Space, Tight, Walk};
use crate::Result;
use std::collections::HashSet;

/// The number of draws that try to find a new point before all remaining points are listed.
const SEEN_TRIES: usize = 100;

/// Helps searchers to suggest no point of a finite space twice. It remembers points. In spaces
/// that are large, infinite or without parameters, and if the host knows more conditions than
/// the space (`opaque`), it remembers nothing and every point counts as new.
pub struct Seen {
    space: Space,
    finite: Option<Finite>,
}

struct Finite {
    axes: Vec<Axis>,
    size: usize,
    keys: HashSet<Vec<u64>>,
}

impl Seen {
    /// Remembers the points of a space with at most `limit` points. Fails if the space has no
    /// points.
    pub fn new(space: &Space, limit: usize) -> Result<Seen> {
        let mut seen = Seen { space: space.clone(), finite: None };
        if space.opaque || space.params.is_empty() {
            return Ok(seen);
        }
        match (space.size(limit), space.axes()) {
            (Some(0), _) => return Err("no point of the space satisfies the constraints: loosen them".into()),
            (Some(size), Some(axes)) => seen.finite = Some(Finite { axes, size, keys: HashSet::new() }),
            _ => {}
        }
        Ok(seen)
    }

    /// Remembers a point, unless it is not in the space.
    pub fn add(&mut self, p: &[f64]) {
        if let Some(finite) = &mut self.finite {
            if self.space.check(p).is_ok() && self.space.holds(p) {
                finite.keys.insert(self.space.key(p));
            }
        }
    }

    /// Whether a point is remembered.
    pub fn has(&self, p: &[f64]) -> bool {
        self.finite.as_ref().map_or(false, |f| f.keys.contains(&self.space.key(p)))
    }

    /// Whether every point of the space is remembered.
    pub fn full(&self) -> bool {
        self.finite.as_ref().map_or(false, |f| f.keys.len() >= f.size)
    }

    /// The points with the given coordinates that are not remembered; empty if nothing is
    /// remembered.
    pub fn left(&self, given: Option<&[f64]>) -> Vec<Point> {
        let mut points = Vec::new();
        if let Some(finite) = &self.finite {
            let mut walk = Walk::new(&self.space, given_axes(&finite.axes, given));
            while walk.advance() {
                points.extend(walk.point().filter(|p| !self.has(p)).map(<[f64]>::to_vec));
            }
        }
        points
    }

    /// Returns a new point, and remembers it: `given`, completed by the first of draw(0),
    /// draw(1), … with which it is new and satisfies the constraints. If the draws find none,
    /// one of the remaining points is chosen at random. If none remains, the result is None;
    /// or, if coordinates were given, a point with them is repeated, because a request with
    /// coordinates needs an answer.
    pub fn pick(
        &mut self,
        given: Option<&[f64]>,
        rng: &mut Rng,
        mut draw: impl FnMut(&mut Rng, usize) -> Point,
    ) -> Result<Option<Point>> {
        if let Some(given) = given {
            self.space.check_given(given)?;
        }
        if self.finite.is_none() {
            return Ok(Some(self.draw(given, MAX_TRIES, rng, &mut draw)?));
        }
        match self.pick_new(given, rng, &mut draw) {
            None if given.map_or(false, |g| g.iter().any(|x| !x.is_nan())) => {
                Ok(Some(self.space.sample_given(rng, given)?))
            }
            None => Ok(None),
            Some(p) => {
                self.add(&p);
                Ok(Some(p))
            }
        }
    }

    fn pick_new(
        &self,
        given: Option<&[f64]>,
        rng: &mut Rng,
        draw: &mut impl FnMut(&mut Rng, usize) -> Point,
    ) -> Option<Point> {
        if self.full() {
            return None;
        }
        if let Ok(p) = self.draw(given, SEEN_TRIES, rng, draw) {
            return Some(p);
        }
        let mut left = self.left(given);
        match left.len() {
            0 => None,
            n => Some(left.swap_remove(rng.below(n))),
        }
    }

    fn draw(
        &self,
        given: Option<&[f64]>,
        tries: usize,
        rng: &mut Rng,
        draw: &mut impl FnMut(&mut Rng, usize) -> Point,
    ) -> std::result::Result<Point, Tight> {
        for attempt in 0..tries {
            let p = self.space.complete(given, &draw(rng, attempt));
            if self.space.holds(&p) && !self.has(&p) {
                return Ok(p);
            }
        }
        Err(Tight)
    }
}
