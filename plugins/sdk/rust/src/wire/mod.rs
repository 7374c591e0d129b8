//! The protocol's messages (../../../proto/tunehost/v1/*.proto) as Protocol Buffers, by
//! hand: there are few of them, and a module for the sandbox stays small. Unknown fields
//! are skipped.

#[cfg(target_family = "wasm")]
mod guest;
mod problem;
#[cfg(all(unix, feature = "process"))]
mod stream;
mod train;

#[cfg(target_family = "wasm")]
pub use guest::*;
pub use problem::*;
#[cfg(all(unix, feature = "process"))]
pub use stream::*;
pub use train::*;

/// Why bytes are no message.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "malformed message: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

pub type Decoded<T> = Result<T, Malformed>;

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32,
    Bytes(&'a [u8]),
}

const WRONG_TYPE: Malformed = Malformed("a field has a wrong type");
const SHORT: Malformed = Malformed("it is cut short");

impl<'a> Value<'a> {
    pub fn uint(self) -> Decoded<u64> {
        match self {
            Value::Varint(x) | Value::Fixed64(x) => Ok(x),
            _ => Err(WRONG_TYPE),
        }
    }

    pub fn small(self) -> Decoded<u32> {
        self.uint().map(|x| x as u32)
    }

    pub fn flag(self) -> Decoded<bool> {
        self.uint().map(|x| x != 0)
    }

    pub fn double(self) -> Decoded<f64> {
        match self {
            Value::Fixed64(x) => Ok(f64::from_bits(x)),
            _ => Err(WRONG_TYPE),
        }
    }

    pub fn bytes(self) -> Decoded<&'a [u8]> {
        match self {
            Value::Bytes(b) => Ok(b),
            _ => Err(WRONG_TYPE),
        }
    }

    pub fn text(self) -> Decoded<String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    /// Adds the elements of a repeated field of doubles.
    pub fn doubles(self, to: &mut Vec<f64>) -> Decoded<()> {
        let packed = match self {
            Value::Bytes(packed) => packed,
            single => {
                to.push(single.double()?);
                return Ok(());
            }
        };
        if packed.len() % 8 != 0 {
            return Err(SHORT);
        }
        to.extend(packed.chunks_exact(8).map(|b| f64::from_bits(word(b))));
        Ok(())
    }

    /// Adds the elements of a repeated field of integers.
    pub fn uints(self, to: &mut Vec<u32>) -> Decoded<()> {
        let mut packed = match self {
            Value::Bytes(packed) => packed,
            single => {
                to.push(single.small()?);
                return Ok(());
            }
        };
        while !packed.is_empty() {
            to.push(varint(&mut packed)? as u32);
        }
        Ok(())
    }
}

fn word(eight: &[u8]) -> u64 {
    eight.iter().rev().fold(0, |x, b| x << 8 | u64::from(*b))
}

fn varint(rest: &mut &[u8]) -> Decoded<u64> {
    let mut x = 0;
    for shift in (0..70).step_by(7) {
        let (first, tail) = rest.split_first().ok_or(SHORT)?;
        *rest = tail;
        x |= u64::from(first & 0x7f).checked_shl(shift).unwrap_or(0);
        if first & 0x80 == 0 {
            return Ok(x);
        }
    }
    Err(Malformed("an integer does not end"))
}

fn take<'a>(rest: &mut &'a [u8], n: u64) -> Decoded<&'a [u8]> {
    if n > rest.len() as u64 {
        return Err(SHORT);
    }
    let (head, tail) = rest.split_at(n as usize);
    *rest = tail;
    Ok(head)
}

/// Calls `each` with the number and value of every field of a message.
pub fn fields<'a>(message: &'a [u8], mut each: impl FnMut(u64, Value<'a>) -> Decoded<()>) -> Decoded<()> {
    let mut rest = message;
    while !rest.is_empty() {
        let key = varint(&mut rest)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut rest)?),
            1 => Value::Fixed64(word(take(&mut rest, 8)?)),
            2 => {
                let n = varint(&mut rest)?;
                Value::Bytes(take(&mut rest, n)?)
            }
            5 => {
                take(&mut rest, 4)?;
                Value::Fixed32
            }
            _ => return Err(Malformed("a field has an unknown type")),
        };
        each(key >> 3, value)?;
    }
    Ok(())
}

/// Writes a message. Fields that have their default are left out.
#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// The message that `fill` writes.
    pub fn message(fill: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut w = Writer::default();
        fill(&mut w);
        w.0
    }

    /// How long the message is so far.
    #[cfg(all(unix, feature = "process"))]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The message.
    #[cfg(all(unix, feature = "process"))]
    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut x: u64) {
        while x >= 0x80 {
            self.0.push(x as u8 | 0x80);
            x >>= 7;
        }
        self.0.push(x as u8);
    }

    pub fn uint(&mut self, field: u64, x: u64) {
        if x != 0 {
            self.varint(field << 3);
            self.varint(x);
        }
    }

    pub fn flag(&mut self, field: u64, x: bool) {
        self.uint(field, u64::from(x));
    }

    pub fn double(&mut self, field: u64, x: f64) {
        if x.to_bits() != 0 {
            self.varint(field << 3 | 1);
            self.0.extend(x.to_le_bytes());
        }
    }

    pub fn bytes(&mut self, field: u64, b: &[u8]) {
        if !b.is_empty() {
            self.element(field, b);
        }
    }

    pub fn text(&mut self, field: u64, s: &str) {
        self.bytes(field, s.as_bytes());
    }

    /// An element of a repeated field, or a message that is there: even when empty.
    pub fn element(&mut self, field: u64, b: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(b.len() as u64);
        self.0.extend(b);
    }

    pub fn nested(&mut self, field: u64, fill: impl FnOnce(&mut Writer)) {
        self.element(field, &Writer::message(fill));
    }

    pub fn doubles(&mut self, field: u64, xs: &[f64]) {
        if !xs.is_empty() {
            self.varint(field << 3 | 2);
            self.varint(8 * xs.len() as u64);
            self.0.extend(xs.iter().flat_map(|x| x.to_le_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever comes, it is decoded or refused; what is cut short is refused.
    #[test]
    fn garbage_is_no_panic() {
        let mut rng = crate::Rng::new(1);
        for _ in 0..20_000 {
            let n = rng.below(40);
            let bytes: Vec<u8> =
                (0..n).map(|_| [rng.below(26), rng.below(256)][rng.below(2)] as u8).collect();
            let _ = (open_request(&bytes), suggest_request(&bytes), json_request(&bytes));
            #[cfg(all(unix, feature = "process"))]
            let _ = train_request(&bytes);
        }
        for malformed in [&[0x0a, 5, 1][..], &[0x08], &[0x09, 1, 2], &[0x0b], &[0xff; 11]] {
            assert!(open_request(malformed).is_err(), "{:?}", malformed);
        }
    }

    /// What trials ask for and what there is are the JSON that was sent.
    #[test]
    fn resources_are_read() {
        let problem = |w: &mut Writer| {
            w.text(6, r#"{"cpu": "2"}"#);
            w.text(7, r#"{"cpu": "16", "gpu": "4"}"#);
        };
        let (p, ..) = open_request(&Writer::message(|w| w.nested(1, problem))).unwrap();
        assert_eq!(
            (p.request.as_str(), p.capacity.as_str()),
            (r#"{"cpu": "2"}"#, r#"{"cpu": "16", "gpu": "4"}"#)
        );
    }

    /// Expressions that would not end, or refer to nothing, are refused.
    #[test]
    fn expressions_are_checked() {
        let with = |fill: &dyn Fn(&mut Writer)| {
            let constraint = |w: &mut Writer| w.nested(1, |w| w.nested(1, |w| w.nested(2, |w| fill(w))));
            open_request(&Writer::message(constraint)).map(|_| ())
        };
        assert_eq!(with(&|w| w.uint(1, 1)), Ok(()));
        assert!(with(&|w| w.uint(1, 2)).is_err(), "a parameter that is not there");
        assert!(with(&|w| w.uint(1, 5)).is_err(), "a sum of nothing");
        assert!(with(&|w| w.uint(1, 99)).is_err(), "an unknown operation");
        let mut deep = Writer::message(|w| w.uint(1, 1));
        for _ in 0..600 {
            deep = Writer::message(|w| {
                w.uint(1, 4);
                w.element(5, &deep);
            });
        }
        assert!(with(&|w| w.0.extend(&deep)).is_err(), "nested too deep");
    }
}
