//! Parses `#[soap(...)]` on types, fields and variants.

use crate::names::{Rename, ncname};
use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Expr, LitInt, LitStr, Path, Result, Token, Type, parse_quote};

/// The attributes of a type.
pub(crate) struct Container {
    /// The XSD type's name, if it differs from the Rust name.
    pub(crate) name: Option<String>,
    /// The namespace of the type, of its message element, and of qualified children.
    pub(crate) namespace: String,
    /// The name of its items in SOAP arrays.
    pub(crate) item_name: Option<String>,
    /// The name of its element, if it is a message.
    pub(crate) element: Option<String>,
    /// The type of the response, if it is a request.
    pub(crate) response: Option<Type>,
    pub(crate) rename_all: Option<Rename>,
    /// The text of its element if the element is empty.
    pub(crate) default_text: Option<LitStr>,
    /// The path of the runtime.
    pub(crate) runtime: Path,
    /// The flags in the attributes, with their positions.
    pub(crate) flags: Vec<(Flag, Span)>,
}

/// An attribute of a type without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    /// The type's name is also the name of its element.
    Message,
    /// Children are in the namespace.
    Qualified,
    /// Children come in any order.
    All,
    /// Other children are allowed.
    Open,
    /// Children that may be absent may be nil instead.
    Nillable,
    /// An enum of unit variants is a choice of empty elements.
    Choice,
    /// Its elements are part of another type, without an element around them.
    Group,
    /// An enum is a union of simple types.
    Union,
    /// An enum is a type and the types derived from it.
    Derived,
    /// A tuple struct has its field's type.
    Transparent,
    /// The type uses the shared routines of compact types.
    Compact,
}

const FLAGS: &[(&str, Flag)] = &[
    ("message", Flag::Message),
    ("qualified", Flag::Qualified),
    ("all", Flag::All),
    ("open", Flag::Open),
    ("nillable", Flag::Nillable),
    ("choice", Flag::Choice),
    ("group", Flag::Group),
    ("union", Flag::Union),
    ("derived", Flag::Derived),
    ("transparent", Flag::Transparent),
    ("compact", Flag::Compact),
];

impl Container {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut container = Container {
            name: None,
            namespace: String::new(),
            item_name: None,
            element: None,
            response: None,
            rename_all: None,
            default_text: None,
            runtime: parse_quote!(::deltasoap::engine),
            flags: Vec::new(),
        };
        each(attributes, |meta| container.take(&meta))?;
        Ok(container)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let key = key(meta);
        if let Some((_, flag)) = FLAGS.iter().find(|(name, _)| *name == key) {
            self.flags.push((*flag, span(meta)));
            return Ok(());
        }
        match key.as_str() {
            "name" => self.name = Some(ncname(&text(meta)?)?),
            "namespace" => self.namespace = text(meta)?.value(),
            "item_name" => self.item_name = Some(ncname(&text(meta)?)?),
            "element" => {
                let name = text(meta)?;
                self.element = Some(if name.value().is_empty() { String::new() } else { ncname(&name)? });
            }
            "response" => self.response = Some(meta.value()?.parse()?),
            "rename_all" => self.rename_all = Some(Rename::from_lit(&text(meta)?)?),
            "default_text" => self.default_text = Some(text(meta)?),
            "crate" => self.runtime = text(meta)?.parse()?,
            _ => return Err(unknown(meta, "a type")),
        }
        Ok(())
    }

    pub(crate) fn has(&self, flag: Flag) -> bool {
        self.flags.iter().any(|(found, _)| *found == flag)
    }

    /// Returns an error for a flag that has no meaning for this kind of type.
    pub(crate) fn allow(&self, allowed: &[Flag], kind: &str) -> Result<()> {
        if let Some(text) = self.default_text.as_ref().filter(|_| !allowed.contains(&Flag::Transparent)) {
            return Err(Error::new(text.span(), format!("this attribute has no meaning on {kind}")));
        }
        let is_allowed = |flag: &Flag| *flag == Flag::Compact || allowed.contains(flag);
        match self.flags.iter().find(|(flag, _)| !is_allowed(flag)) {
            None => Ok(()),
            Some((_, span)) => Err(Error::new(*span, format!("this attribute has no meaning on {kind}"))),
        }
    }
}

/// How a field appears in its element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// As a child element.
    Element,
    /// As the elements of a choice, without one around them.
    Inline,
    /// As the elements of a choice between groups, or of one of its branches.
    Group,
    /// As an attribute.
    Attribute,
    /// As the element's text.
    Text,
}

/// An attribute of a field or variant that has no value and is not a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A variant is the type of elements without `xsi:type`.
    Base,
    /// A variant takes elements of all other types.
    Other,
    /// The element of an earlier field may come again here.
    Again,
    /// A field is absent if its element is nil.
    Nillable,
}

/// The attributes of a field or of a variant.
pub(crate) struct Local {
    /// The XML name, if it is not derived from the Rust name.
    pub(crate) name: Option<LitStr>,
    pub(crate) namespace: Option<String>,
    pub(crate) qualified: Option<bool>,
    pub(crate) role: Role,
    /// The value of an absent field.
    pub(crate) default: Option<Expr>,
    /// The text of an empty element or an absent attribute.
    pub(crate) default_text: Option<LitStr>,
    /// Minimum and maximum number of occurrences of a list's element.
    pub(crate) min: Option<LitInt>,
    pub(crate) max: Option<LitInt>,
    marks: Vec<(Mark, Span)>,
}

impl Local {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut local = Local {
            name: None,
            namespace: None,
            qualified: None,
            role: Role::Element,
            default: None,
            default_text: None,
            min: None,
            max: None,
            marks: Vec::new(),
        };
        each(attributes, |meta| local.take(&meta))?;
        Ok(local)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match key(meta).as_str() {
            "name" => self.name = Some(text(meta)?),
            "namespace" => self.namespace = Some(text(meta)?.value()),
            "qualified" => self.qualified = Some(true),
            "unqualified" => self.qualified = Some(false),
            "inline" => self.set_role(Role::Inline, meta)?,
            "group" => self.set_role(Role::Group, meta)?,
            "attribute" => self.set_role(Role::Attribute, meta)?,
            "text" => self.set_role(Role::Text, meta)?,
            "default" => self.default = Some(default(meta)?),
            "default_text" => self.default_text = Some(text(meta)?),
            "min" => self.min = Some(meta.value()?.parse()?),
            "max" => self.max = Some(meta.value()?.parse()?),
            "base" => self.marks.push((Mark::Base, span(meta))),
            "other" => self.marks.push((Mark::Other, span(meta))),
            "again" => self.marks.push((Mark::Again, span(meta))),
            "nillable" => self.marks.push((Mark::Nillable, span(meta))),
            _ => return Err(unknown(meta, "a field or variant")),
        }
        Ok(())
    }

    fn set_role(&mut self, role: Role, meta: &ParseNestedMeta<'_>) -> Result<()> {
        if self.role != Role::Element {
            return Err(meta.error("a field is only one of `inline`, `group`, `attribute` and `text`"));
        }
        self.role = role;
        Ok(())
    }

    /// Returns an error if there is a default of either kind where none is allowed.
    pub(crate) fn forbid_defaults(&self, why: &str) -> Result<()> {
        if let Some(default) = &self.default {
            return Err(Error::new_spanned(default, why));
        }
        match &self.default_text {
            Some(text) => Err(Error::new(text.span(), why)),
            None => Ok(()),
        }
    }

    pub(crate) fn has(&self, mark: Mark) -> bool {
        self.marks.iter().any(|(found, _)| *found == mark)
    }

    /// Returns an error for a mark that has no meaning here.
    pub(crate) fn allow(&self, allowed: &[Mark]) -> Result<()> {
        match self.marks.iter().find(|(mark, _)| !allowed.contains(mark)) {
            None => Ok(()),
            Some((_, span)) => Err(Error::new(*span, "this attribute has no meaning here")),
        }
    }

    /// Returns the given namespace, or else the container's if it is qualified.
    pub(crate) fn namespace(&self, container: &Container) -> String {
        let by_default = self.role == Role::Element && container.has(Flag::Qualified);
        match &self.namespace {
            Some(namespace) => namespace.clone(),
            None if self.qualified.unwrap_or(by_default) => container.namespace.clone(),
            None => String::new(),
        }
    }
}

/// Calls `take` with each part of each `#[soap(...)]`.
fn each(attributes: &[Attribute], mut take: impl FnMut(ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("soap"))
        .try_for_each(|attribute| attribute.parse_nested_meta(&mut take))
}

fn key(meta: &ParseNestedMeta<'_>) -> String {
    meta.path.get_ident().map(ToString::to_string).unwrap_or_default()
}

fn span(meta: &ParseNestedMeta<'_>) -> Span {
    meta.path.get_ident().map_or_else(Span::call_site, syn::Ident::span)
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}

/// Parses `default` or `default = expression`.
fn default(meta: &ParseNestedMeta<'_>) -> Result<Expr> {
    if meta.input.peek(Token![=]) {
        return meta.value()?.parse();
    }
    Ok(parse_quote!(::core::default::Default::default()))
}

/// Returns the error for an attribute that does not exist, with the name of one that other derive
/// macros have under this name.
fn unknown(meta: &ParseNestedMeta<'_>, of: &str) -> syn::Error {
    let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
    let remedy = match name.as_str() {
        "rename" => "use `name`",
        "attr" => "use `attribute`",
        "skip" | "flatten" => "serde's attributes are not those of `Soap`",
        _ => "the documentation of `derive(Soap)` lists them",
    };
    meta.error(format!("{of} has no attribute `{name}`: {remedy}"))
}
