//! Messages of JSON-RPC as they travel: fields in their order, values byte for byte, so that what passes is what came.

use std::fmt;

use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;

/// What may stand in a message, and nothing else: a field that only the other side knows could mean what we do not see.
const OF_A_MESSAGE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The fields of a JSON object.
#[derive(Clone, Debug)]
pub(crate) struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    /// A message: one line.
    ///
    /// # Errors
    /// A sentence on why it cannot be passed on.
    pub(crate) fn of_a_message(line: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?.trim_end();
        // Some programs take a lone carriage return for the end of a line and would see other messages than we do.
        if text.contains('\r') {
            return Err("it holds a carriage return".to_owned());
        }
        if text.trim_start().starts_with('[') {
            return Err("it is a batch: send each message on its own line".to_owned());
        }
        let fields: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match fields.0.iter().find(|(name, _)| !OF_A_MESSAGE.contains(&name.as_str())) {
            Some((name, _)) => Err(format!("it has the field {name:?}, which JSON-RPC does not know")),
            None => Ok(fields),
        }
    }

    /// An object within a message.
    ///
    /// # Errors
    /// A sentence on why it is none.
    pub(crate) fn of(value: &RawValue) -> Result<Self, String> {
        serde_json::from_str(value.get()).map_err(|error| error.to_string())
    }

    /// A field.
    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| &**value)
    }

    /// A field that is an object; nothing where it is none.
    pub(crate) fn object(&self, name: &str) -> Option<Self> {
        Self::of(self.get(name)?).ok()
    }

    /// A field that is a text; nothing where it is none.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// The same with another value in a field.
    pub(crate) fn with(mut self, name: &str, value: Box<RawValue>) -> Self {
        match self.0.iter_mut().find(|(field, _)| field == name) {
            Some(field) => field.1 = value,
            None => self.0.push((name.to_owned(), value)),
        }
        self
    }

    /// As JSON.
    pub(crate) fn write(&self) -> String {
        let fields: Vec<_> = self
            .0
            .iter()
            .map(|(name, value)| format!("{}:{}", serde_json::Value::from(name.as_str()), value.get()))
            .collect();
        format!("{{{}}}", fields.join(","))
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Fields;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    // Some programs do not tell `name` from `Name` and take the last: which one runs must be plain.
                    if fields.iter().any(|(other, _)| folded(other) == folded(&name)) {
                        return Err(de::Error::custom(format!("the field {name:?} stands there twice")));
                    }
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

fn folded(name: &str) -> String {
    name.to_uppercase().to_lowercase()
}

/// Whether a field other than `name` itself could be taken for it.
pub(crate) fn is_taken_for(fields: &Fields, name: &str) -> bool {
    fields.0.iter().any(|(field, _)| field != name && folded(field) == name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_changed_is_the_one_field() {
        let fields = Fields::of_a_message(br#"{"jsonrpc":"2.0", "id":1.50,"params":{ "b":1,"a":"\u0041"}}"#).unwrap();
        let params = fields.object("params").unwrap();
        assert_eq!(params.write(), r#"{"b":1,"a":"\u0041"}"#);
        let changed = params.with("b", RawValue::from_string("[]".to_owned()).unwrap());
        assert_eq!(changed.write(), r#"{"b":[],"a":"\u0041"}"#);
        assert_eq!(fields.get("id").unwrap().get(), "1.50");
    }

    #[test]
    fn a_message_that_two_programs_would_read_differently_is_refused() {
        for line in [
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call"}]"#,
            r#"{"jsonrpc":"2.0","method":"ping","method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","method":"ping","Method":"tools/call"}"#,
            "{\"jsonrpc\":\"2.0\",\r\"method\":\"ping\"}",
            r#"{"jsonrpc":"2.0","method":"ping","more":1}"#,
            "no JSON",
        ] {
            assert!(Fields::of_a_message(line.as_bytes()).is_err(), "{line}");
        }
        assert!(Fields::of_a_message(b"\xff").is_err());
        let params = Fields::of_a_message(r#"{"params":{"argument\u017f":1}}"#.as_bytes()).unwrap();
        assert!(is_taken_for(&params.object("params").unwrap(), "arguments"));
    }
}
