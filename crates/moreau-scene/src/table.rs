use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Named entries in the order of the file; no name twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<T>(Vec<(String, T)>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Table<T> {
    /// The entry of that name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, entry)| entry)
    }

    /// Adds an entry; replaces one of the same name.
    pub fn insert(&mut self, name: impl Into<String>, entry: T) {
        let name = name.into();
        match self.0.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = entry,
            None => self.0.push((name, entry)),
        }
    }

    /// All entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    /// The names, for an error message.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|(name, _)| format!("`{name}`")).collect();
        if names.is_empty() {
            "none is defined".into()
        } else {
            names.join(", ")
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<N: Into<String>, T> FromIterator<(N, T)> for Table<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(entries: I) -> Self {
        let mut table = Self::default();
        for (name, entry) in entries {
            table.insert(name, entry);
        }
        table
    }
}

impl<T: Serialize> Serialize for Table<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, entry) in &self.0 {
            map.serialize_entry(name, entry)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Table<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of named entries")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table<T>, A::Error> {
                let mut table = Table::default();
                while let Some(name) = map.next_key::<String>()? {
                    if table.get(&name).is_some() {
                        return Err(A::Error::custom(format!(
                            "the name `{name}` is taken twice"
                        )));
                    }
                    let entry = map.next_value()?;
                    table.0.push((name, entry));
                }
                Ok(table)
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Table<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Table_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let entry = generator.subschema_for::<T>();
        schemars::json_schema!({ "type": "object", "additionalProperties": entry })
    }
}
