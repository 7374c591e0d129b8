//! A small JSON parser, so that a plugin needs no other crate for its options and
//! parameters. Authors may use another parser instead.

use crate::Result;
use std::fmt;

/// A JSON value. Integers beyond 2^53 lose their last digits.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object, in the order of the text.
    Object(Vec<(String, Json)>),
}

/// How deep values may nest.
const MAX_DEPTH: usize = 200;

impl Json {
    /// Parses a complete text.
    pub fn parse(text: &str) -> Result<Json> {
        let mut p = Parser { rest: text.trim_start() };
        let value = p.value(0)?;
        match p.rest.is_empty() {
            true => Ok(value),
            false => Err(p.unexpected()),
        }
    }

    /// The member of an object; nested ones are reached with `/`.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let member = |key: &str| match self {
            Json::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        };
        member(name).or_else(|| {
            let (group, rest) = name.split_once('/')?;
            member(group)?.get(rest)
        })
    }

    /// The number of that name; the error says what is there instead.
    pub fn number(&self, name: &str) -> Result<f64> {
        match self.get(name) {
            Some(Json::Number(x)) => Ok(*x),
            other => Err(mismatch(name, other, "a number")),
        }
    }

    /// The string of that name; the error says what is there instead.
    pub fn text(&self, name: &str) -> Result<&str> {
        match self.get(name) {
            Some(Json::Text(s)) => Ok(s),
            other => Err(mismatch(name, other, "a string")),
        }
    }

    /// The name of its type, for messages.
    pub(crate) fn form(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::Text(_) => "a string",
            Json::List(_) => "an array",
            Json::Object(_) => "an object",
        }
    }
}

fn mismatch(name: &str, found: Option<&Json>, expected: &str) -> crate::Error {
    let found = found.map_or("missing", Json::form);
    format!("{:?} is {}; expected {}", name, found, expected).into()
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn unexpected(&self) -> crate::Error {
        match self.rest.chars().next() {
            Some(c) => format!("not JSON: unexpected {:?}", c).into(),
            None => "not JSON: unexpected end".into(),
        }
    }

    /// Takes `token` and the white space after it, if it comes next.
    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start_matches(&[' ', '\t', '\n', '\r'][..]);
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        match self.take(token) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        if depth > MAX_DEPTH {
            return Err("the JSON is nested too deep".into());
        }
        match self.rest.as_bytes().first() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.take("null") => Ok(Json::Null),
            _ if self.take("true") => Ok(Json::Bool(true)),
            _ if self.take("false") => Ok(Json::Bool(false)),
            _ => Err(self.unexpected()),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json> {
        let mut members = Vec::new();
        self.expect("{")?;
        while !self.take("}") {
            if !members.is_empty() {
                self.expect(",")?;
            }
            let key = self.string()?;
            self.expect(":")?;
            members.push((key, self.value(depth + 1)?));
        }
        Ok(Json::Object(members))
    }

    fn list(&mut self, depth: usize) -> Result<Json> {
        let mut items = Vec::new();
        self.expect("[")?;
        while !self.take("]") {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(self.value(depth + 1)?);
        }
        Ok(Json::List(items))
    }

    fn number(&mut self) -> Result<Json> {
        let number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = self.rest.find(|c| !number(c)).unwrap_or(self.rest.len());
        match self.rest[..end].parse() {
            Ok(x) => {
                self.take(&self.rest[..end]);
                Ok(Json::Number(x))
            }
            Err(_) => Err(self.unexpected()),
        }
    }

    fn string(&mut self) -> Result<String> {
        let mut out = String::new();
        let mut chars = self.rest.strip_prefix('"').ok_or_else(|| self.unexpected())?.chars();
        loop {
            match chars.next().ok_or("not JSON: a string does not end")? {
                '"' => break,
                '\\' => out.push(escape(&mut chars)?),
                c if c < ' ' => return Err("not JSON: a string has a control character".into()),
                c => out.push(c),
            }
        }
        self.rest = chars.as_str();
        self.take("");
        Ok(out)
    }
}

/// The character that an escape stands for; `chars` is after the backslash.
fn escape(chars: &mut std::str::Chars) -> Result<char> {
    Ok(match chars.next() {
        Some(c @ ('"' | '\\' | '/')) => c,
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => unicode(chars)?,
        _ => return Err("not JSON: an unknown escape in a string".into()),
    })
}

/// The character of `\uXXXX`, or of two such that are a pair; one half of a pair alone is
/// replaced.
fn unicode(chars: &mut std::str::Chars) -> Result<char> {
    let first = hex(chars)?;
    let pair = chars.as_str().strip_prefix("\\u").map(str::chars);
    if let (0xD800..=0xDBFF, Some(mut after)) = (first, pair) {
        let second = hex(&mut after)?;
        if let 0xDC00..=0xDFFF = second {
            *chars = after;
            let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return Ok(char::from_u32(code).unwrap_or('\u{FFFD}'));
        }
    }
    Ok(char::from_u32(first).unwrap_or('\u{FFFD}'))
}

fn hex(chars: &mut std::str::Chars) -> Result<u32> {
    let digits = chars.as_str().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
    let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
    *chars = chars.as_str().get(4..).unwrap_or("").chars();
    code.ok_or_else(|| "not JSON: \\u needs four hexadecimal digits".into())
}

impl From<bool> for Json {
    fn from(b: bool) -> Json {
        Json::Bool(b)
    }
}

impl From<f64> for Json {
    fn from(x: f64) -> Json {
        Json::Number(x)
    }
}

impl From<&str> for Json {
    fn from(s: &str) -> Json {
        Json::Text(s.into())
    }
}

impl From<String> for Json {
    fn from(s: String) -> Json {
        Json::Text(s)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Json {
        Json::List(items.into_iter().map(Into::into).collect())
    }
}

/// Writes compact JSON. Numbers that are not finite become null.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(b) => write!(f, "{}", b),
            Json::Number(x) if x.is_finite() => write!(f, "{}", x),
            Json::Number(_) => f.write_str("null"),
            Json::Text(s) => quote(s, f),
            Json::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if i > 0 { "," } else { "" }, item)?;
                }
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (i, (key, value)) in members.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    quote(key, f)?;
                    write!(f, ":{}", value)?;
                }
                f.write_str("}")
            }
        }
    }
}

fn quote(s: &str, f: &mut fmt::Formatter) -> fmt::Result {
    use fmt::Write;
    f.write_str("\"")?;
    for c in s.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{}", c)?,
            c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes() {
        let text = r#"{"a":[1,-2.5,1e-7,true,false,null],"b":{"c/d":"x\"\\\u0001é😀"},"e":{},"f":[]}"#;
        assert_eq!(Json::parse(text).unwrap().to_string(), text.replace("1e-7", "0.0000001"));
        let spaced = " { \"a\" : [ 1 , 2 ] , \"b\" : { \"c\" : \"\\ud83d\\ude00\\n\" } } ";
        let json = Json::parse(spaced).unwrap();
        assert_eq!(json.text("b/c").unwrap(), "😀\n");
        assert_eq!(json.get("a"), Some(&Json::List(vec![Json::Number(1.0), Json::Number(2.0)])));
        assert_eq!(json.number("b").unwrap_err().to_string(), "\"b\" is an object; expected a number");
    }

    #[test]
    fn refuses_what_is_none() {
        for text in [
            "",
            "{",
            "[1,]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":1,}",
            "\"",
            "\"\\x\"",
            "\"\\u12\"",
            "1 2",
            "nul",
            "-",
            "+1",
            "NaN",
            "\"\u{1}\"",
        ] {
            assert!(Json::parse(text).is_err(), "{}", text);
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }
}
