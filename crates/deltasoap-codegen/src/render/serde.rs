//! Attributes for serde: the names are those of the WSDL.
//!
//! The form mirrors the generated types, so that nothing has to be guessed when it is read: a
//! choice is a map of one entry, under the name of its field. Elements and attributes have the keys
//! that they have in the JSON of `deltasoap-dynamic`.

use crate::model::{ItemKind, Member, Model, Occurs, Role, TypeUse};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::HashSet;

/// Numbers: unlike serde's own implementations, ours write all values, and read numbers and texts.
const NUMBERS: [&str; 11] =
    ["deltasoap::lexical::BigInt", "f32", "f64", "i16", "i32", "i64", "i8", "u16", "u32", "u64", "u8"];

/// Renders the attributes of a type's fields or variants.
pub(super) struct Keys<'m> {
    model: &'m Model,
    taken: HashSet<String>,
}

impl<'m> Keys<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        Keys { model, taken: HashSet::new() }
    }

    /// Returns the attribute of a field.
    pub(super) fn field(&mut self, member: &Member, rust: &str) -> TokenStream {
        let absent = match member.occurs {
            Occurs::Once => None,
            Occurs::AtMostOnce => Some(quote!(default, skip_serializing_if = "::core::option::Option::is_none")),
            Occurs::Many(..) => Some(quote!(default, skip_serializing_if = "::std::vec::Vec::is_empty")),
        };
        let is_present = member.occurs == Occurs::AtMostOnce && member.is_nillable();
        let module = match (is_present, self.is_number(&member.content)) {
            (true, true) => Some(quote!(with = "deltasoap::types::present_number")),
            (true, false) => Some(quote!(deserialize_with = "deltasoap::types::present")),
            (false, true) => Some(quote!(with = "deltasoap::lexical::number")),
            (false, false) => None,
        };
        attribute([self.rename(&preferred_key(member, rust), rust), absent, module])
    }

    /// Returns the attribute of a variant with the content of a member.
    pub(super) fn variant(&mut self, member: &Member, rust: &str) -> TokenStream {
        attribute([self.rename(&preferred_key(member, rust), rust), self.number(&member.content)])
    }

    /// Returns the attribute of a variant with a key of its own.
    pub(super) fn named(&mut self, key: &str, rust: &str) -> TokenStream {
        attribute([self.rename(key, rust)])
    }

    /// Returns the attribute of content without a key.
    pub(super) fn content(&self, content: &TypeUse) -> TokenStream {
        attribute([self.number(content)])
    }

    fn rename(&mut self, key: &str, rust: &str) -> Option<TokenStream> {
        let numbered = (2_u32..).map(|number| format!("{key}#{number}"));
        let mut keys = [key.to_owned()].into_iter().chain(numbered);
        let key = keys.find(|key| self.taken.insert(key.clone())).unwrap_or_default();
        (key != rust).then(|| quote!(rename = #key))
    }

    fn number(&self, content: &TypeUse) -> Option<TokenStream> {
        self.is_number(content).then(|| quote!(with = "deltasoap::lexical::number"))
    }

    fn is_number(&self, content: &TypeUse) -> bool {
        match content {
            TypeUse::Plain(path) => NUMBERS.contains(path),
            TypeUse::Array(items) => self.is_number(&items.item),
            TypeUse::List(item) => self.is_number(item),
            TypeUse::Item(id) => match &self.model.item(self.model.resolve(*id)).kind {
                ItemKind::Alias(of) => self.is_number(of),
                _ => false,
            },
            TypeUse::Shared(_) => false,
        }
    }
}

fn preferred_key(member: &Member, rust: &str) -> String {
    match member.role {
        Role::Element => member.name.local.to_string(),
        Role::Attribute => format!("@{}", member.name.local),
        Role::Text => "$".to_owned(),
        Role::Inline | Role::Group => rust.to_owned(),
    }
}

fn attribute<const N: usize>(parts: [Option<TokenStream>; N]) -> TokenStream {
    let parts: Vec<TokenStream> = parts.into_iter().flatten().collect();
    if parts.is_empty() { TokenStream::new() } else { quote!(#[serde(#(#parts),*)]) }
}
