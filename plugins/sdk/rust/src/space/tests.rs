//! Compares with what the Go package answered: testdata/vectors.json, which
//! vectors_test.go writes.

use super::*;
use crate::{wire, Json};

fn vectors() -> Json {
    Json::parse(include_str!("../../testdata/vectors.json")).unwrap()
}

fn list<'a>(json: &'a Json, name: &str) -> &'a [Json] {
    match json.get(name) {
        Some(Json::List(items)) => items,
        other => panic!("{} is {:?}", name, other),
    }
}

fn number(json: &Json) -> f64 {
    match json {
        Json::Number(x) => *x,
        _ => f64::NAN,
    }
}

fn point(json: &Json) -> Point {
    match json {
        Json::List(items) => items.iter().map(number).collect(),
        other => panic!("a point is {:?}", other),
    }
}

/// The space of an OpenSearcherRequest in hex.
fn space(json: &Json, name: &str) -> Space {
    let hex = json.text(name).unwrap();
    let byte = |i: usize| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap();
    let message: Vec<u8> = (0..hex.len() / 2).map(byte).collect();
    wire::open_request(&message).unwrap().0.space
}

/// The same bits, but for the payload of NaN and the sign of zero.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || a.is_nan() && b.is_nan())
}

/// Calls `f` with each space, what Go says about it, and its name.
fn each(f: impl Fn(&Space, &Json, &str)) {
    let all = vectors();
    let spaces = list(&all, "spaces");
    assert_eq!(spaces.len(), 4);
    spaces.iter().for_each(|v| f(&space(v, "open"), v, v.text("name").unwrap()));
}

#[test]
fn random_numbers() {
    let all = vectors();
    let seeds = match all.get("random") {
        Some(Json::Object(members)) => members,
        other => panic!("{:?}", other),
    };
    for (seed, _) in seeds {
        let mut rng = Rng::new(seed.parse().unwrap());
        for want in list(all.get("random").unwrap(), seed) {
            assert_eq!(Json::Text(rng.bits().to_string()), *want);
        }
    }
}

#[test]
fn places_in_the_unit_cube() {
    each(|space, v, name| {
        for (i, rows) in list(v, "units").iter().enumerate() {
            let rows = match rows {
                Json::List(rows) => rows,
                other => panic!("{:?}", other),
            };
            for row in rows.iter().map(point) {
                let (u, x, back) = (row[0], row[1], row[2]);
                assert_eq!(space.from_unit(i, u), x, "{} {} at {}", name, i, u);
                let place = space.to_unit(i, x);
                assert!((place - back).abs() <= 1e-14, "{} {}: {} at {}, not {}", name, i, x, place, back);
                assert_eq!(space.quantise(i, x), x, "{} {}", name, i);
            }
        }
    });
}

#[test]
fn samples() {
    each(|space, v, name| {
        for (seed, want) in list(v, "samples").iter().enumerate() {
            let got = space.sample(&mut Rng::new(seed as u64)).unwrap();
            assert!(same(&got, &point(want)), "{} {}: {:?}, not {:?}", name, seed, got, want);
        }
    });
}

#[test]
fn checks_conditions_and_expressions() {
    each(|space, v, name| {
        let exprs = self::space(v, "exprs").constraints;
        assert_eq!(exprs.len(), 100);
        for fate in list(v, "points") {
            let p = point(fate.get("point").unwrap());
            assert_eq!(Json::Bool(space.holds(&p)), *fate.get("holds").unwrap(), "{} {:?}", name, p);
            let check = space.check(&p).err().unwrap_or_default();
            let want = fate.text("check").unwrap();
            assert_eq!(check.is_empty(), want.is_empty(), "{} {:?}: {} {}", name, p, check, want);
            let mut pruned = p.clone();
            space.prune(&mut pruned);
            assert!(same(&pruned, &point(fate.get("pruned").unwrap())), "{} {:?}", name, p);
            let values: Vec<f64> = exprs.iter().map(|e| e.eval(space, &p)).collect();
            assert!(same(&values, &point(fate.get("values").unwrap())), "{} {:?}", name, p);
        }
    });
}

#[test]
fn messages_of_checks() {
    each(|space, v, name| {
        for fate in list(v, "points").iter().filter(|_| name == "small") {
            let check = space.check(&point(fate.get("point").unwrap())).err().unwrap_or_default();
            assert_eq!(check, fate.text("check").unwrap());
        }
    });
}

#[test]
fn finite_spaces() {
    each(|space, v, name| {
        let size = space.size(1000);
        match v.get("size").unwrap() {
            Json::Number(n) => assert_eq!(size, Some(*n as usize), "{}", name),
            _ => return assert_eq!(size, None, "{}", name),
        }
        let left = Seen::new(space, 1000).unwrap().left(None);
        let want: Vec<Point> = list(v, "left").iter().map(point).collect();
        assert_eq!(left.len(), want.len());
        assert!(left.iter().zip(&want).all(|(a, b)| same(a, b)), "{}: {:?}", name, left);
    });
}

#[test]
fn seen_points_come_once() {
    each(|space, _, _| {
        let mut seen = Seen::new(space, 1000).unwrap();
        let size = match space.size(1000) {
            Some(size) => size,
            None => return,
        };
        let mut rng = Rng::new(1);
        let mut keys = std::collections::HashSet::new();
        for _ in 0..size {
            let p = seen.pick(None, &mut rng, |rng, _| space.draw(rng)).unwrap().unwrap();
            assert!(space.check(&p).is_ok() && space.holds(&p) && keys.insert(space.key(&p)));
        }
        assert!(seen.full());
        assert_eq!(seen.pick(None, &mut rng, |rng, _| space.draw(rng)).unwrap(), None);
        let mut given = vec![f64::NAN; space.params.len()];
        given[0] = space.from_unit(0, 0.1);
        let again = seen.pick(Some(&given), &mut rng, |rng, _| space.draw(rng)).unwrap().unwrap();
        assert_eq!(again[0], given[0]);
    });
}

#[test]
fn spaces_without_points() {
    let never = Expr::Const(0.0);
    let param = Param { name: "a".into(), kind: Kind::Int, high: 3.0, ..Param::default() };
    let space = Space { params: vec![param], constraints: vec![never], opaque: false };
    assert!(Seen::new(&space, 10).is_err());
    assert!(space.sample(&mut Rng::new(0)).is_err());
}

#[test]
fn functions_at_their_ends() {
    use super::portable::*;
    for (x, want) in [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, 0.0), (-1.5, -2.0), (0.49, 0.0), (3.7, 4.0)]
    {
        assert_eq!(round_even(x), want, "{}", x);
    }
    for (x, want) in [
        (0.0, 1.0),
        (709.0, 8.218407461554972e307),
        (-745.0, 5e-324),
        (-800.0, 0.0),
        (1.0, std::f64::consts::E),
    ] {
        assert!((exp(x) - want).abs() <= 1e-14 * want, "{} {}", x, exp(x));
    }
    for (z, want) in [
        (0.0, 0.5),
        (1.0, 0.8413447460685429),
        (-3.0, 1.349898031630095e-3),
        (-10.0, 7.61985302416047e-24),
        (9.0, 1.0),
    ] {
        assert!((normal_cdf(z) - want).abs() <= 1e-12 * want, "{} {}", z, normal_cdf(z));
    }
}

#[test]
fn numbers_outside_of_open_bounds_are_at_the_end() {
    for (kind, low, high) in [(Kind::Real, 0.1, 1.0), (Kind::Int, 1.0, 9.0)] {
        let param = Param { name: "x".into(), kind, low, high, log: true, ..Param::default() };
        let space = Space { params: vec![param], constraints: vec![], opaque: false };
        assert_eq!([-1e9, -3.0, 0.0, 12.0].map(|x| space.to_unit(0, x)), [0.0, 0.0, 0.0, 1.0]);
    }
}
