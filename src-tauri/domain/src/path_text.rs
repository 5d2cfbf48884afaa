//! A path as bytes, since a file name need not be text.

use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A path's bytes. In JSON: the text itself where it is UTF-8, else `{"bytes": "<hex>"}`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathText(Vec<u8>);

impl PathText {
    /// Takes bytes as they are.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, where it is one.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// For messages and matching by text: bytes that are no text become `\xNN`. Not injective; the bytes decide.
    pub fn lossy(&self) -> String {
        let mut text = String::new();
        for chunk in self.0.utf8_chunks() {
            text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                let _ = write!(text, "\\x{byte:02X}");
            }
        }
        text
    }

    /// Whether this path is `root` or lies beneath it, by whole components.
    pub fn is_within(&self, root: &Self) -> bool {
        let root = root.0.strip_suffix(b"/").unwrap_or(&root.0);
        self.0.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

impl From<&str> for PathText {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl std::fmt::Debug for PathText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.lossy())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes { bytes: String },
}

impl Serialize for PathText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.as_str() {
            return serializer.serialize_str(text);
        }
        let bytes = self.0.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        Form::Bytes { bytes }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PathText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Text(text) => Ok(Self(text.into_bytes())),
            Form::Bytes { bytes } => {
                if !bytes.is_ascii() || bytes.len() % 2 != 0 {
                    return Err(D::Error::custom("path bytes are no hexadecimal text"));
                }
                (0..bytes.len())
                    .step_by(2)
                    .map(|i| u8::from_str_radix(&bytes[i..i + 2], 16))
                    .collect::<Result<_, _>>()
                    .map(Self)
                    .map_err(D::Error::custom)
            }
        }
    }
}
