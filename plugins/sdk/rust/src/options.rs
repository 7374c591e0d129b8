use crate::{Error, Json, Result};

/// A plugin's options as the user wrote them. The plugin reads each option with a default;
/// the SDK refuses options that were not read.
#[derive(Debug)]
pub struct Options {
    text: String,
    json: Json,
    read: Vec<String>,
}

impl Options {
    /// Reads a JSON object; an empty text is an empty object.
    pub fn parse(text: &str) -> Result<Options> {
        let text = if text.trim().is_empty() { "{}" } else { text };
        match Json::parse(text).map_err(|e| format!("options: {}", e))? {
            Json::Null => Options::parse(""),
            json @ Json::Object(_) => Ok(Options { text: text.into(), json, read: Vec::new() }),
            _ => Err("options: expected a JSON object".into()),
        }
    }

    fn get<T>(
        &mut self,
        name: &str,
        default: T,
        expected: &str,
        convert: impl Fn(&Json) -> Option<T>,
    ) -> Result<T> {
        self.read.push(name.into());
        match self.json.get(name) {
            None => Ok(default),
            Some(json) => convert(json).ok_or_else(|| wrong(name, json, expected)),
        }
    }

    /// A number.
    pub fn number(&mut self, name: &str, default: f64) -> Result<f64> {
        self.get(name, default, "a number", |json| match json {
            Json::Number(x) => Some(*x),
            _ => None,
        })
    }

    /// An integer from 0.
    pub fn count(&mut self, name: &str, default: u64) -> Result<u64> {
        self.get(name, default, "a whole number from 0", |json| match json {
            Json::Number(x) if *x >= 0.0 && *x <= 9e15 && x.fract() == 0.0 => Some(*x as u64),
            _ => None,
        })
    }

    /// `true` or `false`.
    pub fn flag(&mut self, name: &str, default: bool) -> Result<bool> {
        self.get(name, default, "a boolean", |json| match json {
            Json::Bool(b) => Some(*b),
            _ => None,
        })
    }

    /// A string.
    pub fn string(&mut self, name: &str, default: &str) -> Result<String> {
        self.get(name, default.into(), "a string", |json| match json {
            Json::Text(s) => Some(s.clone()),
            _ => None,
        })
    }

    /// All options, for values that are not just numbers and strings. The caller must check
    /// for unknown options.
    pub fn all(&mut self) -> &Json {
        if let Json::Object(members) = &self.json {
            self.read.extend(members.iter().map(|(key, _)| key.clone()));
        }
        &self.json
    }

    /// The JSON text, for another parser. The caller must check for unknown options.
    pub fn text(&mut self) -> &str {
        self.all();
        &self.text
    }

    /// Fails if an option was not read.
    pub(crate) fn finish(&self) -> Result<()> {
        match &self.json {
            Json::Object(members) => match members.iter().find(|(key, _)| !self.read.contains(key)) {
                Some((key, _)) => Err(format!("option {:?} is unknown", key).into()),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

fn wrong(name: &str, json: &Json, expected: &str) -> Error {
    match json {
        Json::Number(x) => format!("option {:?} is {}; expected {}", name, x, expected).into(),
        _ => format!("option {:?} is {}; expected {}", name, json.form(), expected).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_with_defaults_and_refuses_the_rest() {
        let mut o = Options::parse(r#"{"step": 0.5, "start": 3, "greedy": true, "typo": 1}"#).unwrap();
        assert_eq!(o.number("step", 0.1).unwrap(), 0.5);
        assert_eq!(o.count("start", 10).unwrap(), 3);
        assert_eq!(o.count("more", 7).unwrap(), 7);
        assert_eq!(o.string("name", "x").unwrap(), "x");
        assert!(o.flag("greedy", false).unwrap());
        assert_eq!(o.finish().unwrap_err().to_string(), "option \"typo\" is unknown");
        assert_eq!(
            o.count("step", 1).unwrap_err().to_string(),
            "option \"step\" is 0.5; expected a whole number from 0"
        );
        assert_eq!(
            o.flag("start", true).unwrap_err().to_string(),
            "option \"start\" is 3; expected a boolean"
        );
        o.all();
        assert!(o.finish().is_ok());
        assert!(Options::parse("").unwrap().finish().is_ok());
        assert!(Options::parse("[]").is_err());
    }
}
