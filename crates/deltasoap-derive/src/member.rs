//! A field of a struct or the value of a choice's variant, and the expressions generated for it.

use crate::attributes::{Flag, Local, Mark, Role};
use crate::names::{ncname, xml_name};
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Error, Expr, Field, Fields, Ident, LitInt, LitStr, Result, Type, Variant, parse_quote};

/// A field or variant, with its place in XML.
pub(crate) struct Member {
    /// Its name in Rust.
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) role: Role,
    pub(crate) default: Option<Expr>,
    /// The text of an empty element or an absent attribute.
    pub(crate) default_text: Option<LitStr>,
    /// Minimum and maximum number of occurrences of a list's element.
    min: Option<LitInt>,
    max: Option<LitInt>,
    /// True for a variant without a value, which stands for an empty element.
    pub(crate) is_unit: bool,
    /// True if an earlier field may have the same name.
    is_again: bool,
    /// True if the field, if it is optional, is absent where its element is nil.
    pub(crate) is_nillable: bool,
    /// True if the field itself says so.
    must_be_nillable: bool,
    /// Its name in XML.
    local: String,
    namespace: String,
}

impl Member {
    /// Creates the member for a named field of a struct.
    pub(crate) fn from_field(field: &Field, target: &Target) -> Result<Self> {
        let local = Local::parse(&field.attrs)?;
        local.allow(&[Mark::Again, Mark::Nillable])?;
        let Some(ident) = &field.ident else { return Err(Error::new_spanned(field, "a field without a name")) };
        Self::new(ident, field.ty.clone(), local, target)
    }

    /// Creates the member for a variant of a choice.
    pub(crate) fn from_variant(variant: &Variant, target: &Target) -> Result<Self> {
        let local = Local::parse(&variant.attrs)?;
        local.allow(&[])?;
        if let Role::Attribute | Role::Text = local.role {
            return Err(Error::new_spanned(variant, "a variant of a choice stands for an element"));
        }
        if let Some(default) = &local.default {
            return Err(Error::new_spanned(default, "a choice has no default"));
        }
        let runtime = target.runtime();
        let ty = match only_type(&variant.fields) {
            Some(ty) => ty.clone(),
            None if variant.fields.is_empty() => parse_quote!(#runtime::Empty),
            None => {
                return Err(Error::new_spanned(&variant.fields, "a variant holds one value without a name, or none"));
            }
        };
        let is_unit = variant.fields.is_empty();
        Ok(Member { is_unit, ..Self::new(&variant.ident, ty, local, target)? })
    }

    fn new(ident: &Ident, ty: Type, local: Local, target: &Target) -> Result<Self> {
        let namespace = local.namespace(&target.container);
        let (is_again, is_nillable) = (local.has(Mark::Again), local.has(Mark::Nillable));
        let name = match local.name {
            Some(name) => ncname(&name)?,
            None => xml_name(ident, target.container.rename_all),
        };
        let (ident, ty) = (ident.clone(), target.without_self(ty)?);
        let Local { role, default, default_text, min, max, .. } = local;
        check_default_text(role, default.as_ref(), default_text.as_ref(), target)?;
        check_bounds(role, min.as_ref(), max.as_ref())?;
        if is_nillable && role != Role::Element {
            return Err(Error::new_spanned(ident, "only an element can be nil"));
        }
        let all_are_nillable = role == Role::Element && target.container.has(Flag::Nillable);
        Ok(Member {
            ident,
            ty,
            role,
            default,
            default_text,
            min,
            max,
            is_unit: false,
            is_again,
            is_nillable: is_nillable || all_are_nillable,
            must_be_nillable: is_nillable,
            local: name,
            namespace,
        })
    }

    /// Returns `<Type as Occurs>`, whose errors point to the type.
    pub(crate) fn occurs(&self, target: &Target) -> TokenStream {
        let (runtime, ty) = (target.runtime(), &self.ty);
        quote_spanned!(ty.span()=> <#ty as #runtime::Occurs>)
    }

    /// Returns `<Type as ListShortcuts>`, for its methods.
    pub(crate) fn shortcuts(&self, target: &Target) -> TokenStream {
        let (runtime, ty) = (target.runtime(), &self.ty);
        quote_spanned!(ty.span()=> <#ty as #runtime::content::ListShortcuts>)
    }

    /// Returns the trait with this method of a field's type: `Occurs` or `ListShortcuts`.
    pub(crate) fn with_method(&self, method: &TokenStream, target: &Target) -> TokenStream {
        match method.to_string().as_str() {
            "run" | "patch" => self.shortcuts(target),
            _ => self.occurs(target),
        }
    }

    /// Returns `<Type as Group>`, whose errors point to the type.
    pub(crate) fn group(&self, target: &Target) -> TokenStream {
        let (runtime, ty) = (target.runtime(), &self.ty);
        quote_spanned!(ty.span()=> <#ty as #runtime::Group>)
    }

    /// Returns `<Type as DecodeFields>`, for a group.
    pub(crate) fn fields(&self, target: &Target) -> TokenStream {
        let (runtime, ty) = (target.runtime(), &self.ty);
        quote_spanned!(ty.span()=> <#ty as #runtime::decode::DecodeFields>)
    }

    pub(crate) fn is_group(&self) -> bool {
        self.role == Role::Group
    }

    /// Returns `<Type as AttributeValue>`, whose errors point to the type.
    pub(crate) fn attribute_value(&self, target: &Target) -> TokenStream {
        let (runtime, ty) = (target.runtime(), &self.ty);
        quote_spanned!(ty.span()=> <#ty as #runtime::AttributeValue>)
    }

    /// Returns `<Type as Typed>`, whose errors point to the type.
    pub(crate) fn typed(&self, target: &Target) -> TokenStream {
        let (runtime, ty) = (target.runtime(), &self.ty);
        quote_spanned!(ty.span()=> <#ty as #runtime::Typed>)
    }

    /// Returns the schema of the child element.
    pub(crate) fn field(&self, target: &Target) -> TokenStream {
        let (runtime, occurs) = (target.runtime(), self.occurs(target));
        if target.is_compact() && self.is_plain() && !self.must_be_nillable {
            let (ty, namespace, local) = (&self.ty, &self.namespace, &self.local);
            let field = if self.is_nillable { quote!(nillable_field) } else { quote!(field) };
            return quote_spanned!(ty.span()=> #runtime::content::compact::#field::<#ty>(#namespace, #local));
        }
        let name = target.qname(&self.namespace, &self.local);
        let (min, max, inline) = (self.min(&occurs), self.max(&occurs), self.inline(&occurs));
        let nillable = self.nillable(&occurs);
        let reference = quote!(#occurs::REFERENCE);
        let element = match &self.default_text {
            Some(text) => {
                let element = quote!(#runtime::schema::View::from_static(#reference).element);
                let with_default = with_default(&element, text, target);
                quote!(#runtime::schema::ElementRef::Static(#with_default))
            }
            None => reference,
        };
        quote! {
            #runtime::schema::Field {
                name: #name,
                element: #element,
                min: #min,
                max: #max,
                nillable: #nillable,
                inline: #inline,
            }
        }
    }

    /// Returns true for a child element with no attribute other than its name.
    fn is_plain(&self) -> bool {
        let is_bounded = self.min.is_some() || self.max.is_some();
        self.role == Role::Element && !is_bounded && self.default.is_none() && self.default_text.is_none()
    }

    fn min(&self, occurs: &TokenStream) -> TokenStream {
        if let Some(min) = &self.min {
            return self.list_bound(occurs, &quote!(#min));
        }
        if self.default.is_none() {
            return quote!(#occurs::MIN);
        }
        quote_spanned! {self.ty.span()=> {
            ::core::assert!(
                ::core::matches!(#occurs::MAX, ::core::option::Option::Some(1)),
                "only a field that occurs once can have a default",
            );
            0
        }}
    }

    fn max(&self, occurs: &TokenStream) -> TokenStream {
        match &self.max {
            Some(max) => self.list_bound(occurs, &quote!(::core::option::Option::Some(#max))),
            None => quote!(#occurs::MAX),
        }
    }

    /// Returns a bound that only lists may have.
    fn list_bound(&self, occurs: &TokenStream, value: &TokenStream) -> TokenStream {
        quote_spanned! {self.ty.span()=> {
            ::core::assert!(
                ::core::matches!(#occurs::MAX, ::core::option::Option::None),
                "only a list (`Vec`) has a `min` or a `max`",
            );
            #value
        }}
    }

    fn nillable(&self, occurs: &TokenStream) -> TokenStream {
        if self.must_be_nillable {
            return quote_spanned! {self.ty.span()=> {
                ::core::assert!(
                    #occurs::NIL_IS_ABSENT,
                    "a `nillable` field is an `Option`, and not of `Nillable`, which may be nil anyway",
                );
                true
            }};
        }
        match self.is_nillable {
            true => quote!(#occurs::NILLABLE || #occurs::NIL_IS_ABSENT),
            false => quote!(#occurs::NILLABLE),
        }
    }

    fn inline(&self, occurs: &TokenStream) -> TokenStream {
        if self.role != Role::Inline {
            return quote!(false);
        }
        quote_spanned! {self.ty.span()=> {
            ::core::assert!(#occurs::CHOICE, "only a choice (an enum whose variants hold values), a group or a tree (`Node`) can be inline");
            true
        }}
    }

    /// Returns the schema of the attribute.
    pub(crate) fn attribute(&self, target: &Target) -> TokenStream {
        let (runtime, value) = (target.runtime(), self.attribute_value(target));
        let name = target.qname(&self.namespace, &self.local);
        let required = if self.default.is_some() { quote!(false) } else { quote!(#value::REQUIRED) };
        let (required, default) = match &self.default_text {
            Some(text) => (quote!(false), quote!(::core::option::Option::Some(::std::borrow::Cow::Borrowed(#text)))),
            None => (required, quote!(::core::option::Option::None)),
        };
        quote! {
            #runtime::schema::Attribute {
                name: #name,
                element: #value::REFERENCE,
                required: #required,
                default: #default,
            }
        }
    }

    /// Returns the value that decoding starts from.
    pub(crate) fn vacant(&self, target: &Target) -> TokenStream {
        match (&self.default, self.role) {
            (Some(default), _) => quote!(#default),
            (None, Role::Element | Role::Inline) => self.vacant_element(target),
            (None, Role::Group) => {
                let group = self.group(target);
                quote!(#group::vacant())
            }
            (None, Role::Attribute) => {
                let value = self.attribute_value(target);
                quote!(#value::vacant())
            }
            (None, Role::Text) => {
                let (runtime, ty, typed) = (target.runtime(), &self.ty, self.typed(target));
                quote!(<#ty as #runtime::Content>::vacant(#typed::view()))
            }
        }
    }

    /// Returns the value of an absent element, ignoring its default.
    pub(crate) fn vacant_element(&self, target: &Target) -> TokenStream {
        if self.is_group() {
            let group = self.group(target);
            return quote!(#group::vacant());
        }
        if target.is_compact() {
            let (compact, ty) = (target.compact(), &self.ty);
            return quote_spanned!(ty.span()=> #compact::vacant());
        }
        let occurs = self.occurs(target);
        quote!(#occurs::vacant(#occurs::content_view()))
    }
}

fn check_default_text(role: Role, default: Option<&Expr>, text: Option<&LitStr>, target: &Target) -> Result<()> {
    let Some(text) = text else { return Ok(()) };
    target.forbid_generics("a type with `default_text`")?;
    match (role, default) {
        (Role::Element, _) | (Role::Attribute, None) => Ok(()),
        (Role::Attribute, Some(_)) => {
            Err(Error::new(text.span(), "an attribute has `default` or `default_text`, not both"))
        }
        _ => Err(Error::new(text.span(), "only an element or an attribute has a `default_text`")),
    }
}

fn check_bounds(role: Role, min: Option<&LitInt>, max: Option<&LitInt>) -> Result<()> {
    let Some(first) = min.or(max) else { return Ok(()) };
    if !matches!(role, Role::Element | Role::Inline) {
        return Err(Error::new(first.span(), "only an element has a `min` or a `max`"));
    }
    let value = |bound: Option<&LitInt>| bound.map(LitInt::base10_parse::<u32>).transpose();
    match (value(min)?.unwrap_or(0), value(max)?) {
        (_, Some(..2)) => {
            Err(Error::new(first.span(), "a list has a `max` of at least 2: what occurs once is not a list"))
        }
        (min, Some(most)) if min > most => Err(Error::new(first.span(), "`min` is more than `max`")),
        _ => Ok(()),
    }
}

/// Returns a function that returns a schema element with a default. `element` is the one without.
pub(crate) fn with_default(element: &TokenStream, text: &LitStr, target: &Target) -> TokenStream {
    changed(element, &default_of(element, text, target), target)
}

/// Returns the call that adds a default to a schema element. If the element has attributes, its
/// text gets a schema element of its own.
pub(crate) fn default_of(element: &TokenStream, text: &LitStr, target: &Target) -> TokenStream {
    let runtime = target.runtime();
    let inner = quote!(#runtime::schema::View::of(#element).text().element);
    let inner = changed(&inner, &quote!(.with_default(#text)), target);
    quote!(.with_text_default(#text, #runtime::schema::ElementRef::Static(#inner)))
}

/// Returns a function that returns the result of calling `change` on a schema element, computed
/// once. `element` is the original.
pub(crate) fn changed(element: &TokenStream, change: &TokenStream, target: &Target) -> TokenStream {
    let runtime = target.runtime();
    let description = quote!(#runtime::schema::Element);
    quote!({
        fn changed() -> &'static #description {
            static ELEMENT: ::std::sync::LazyLock<#description> = ::std::sync::LazyLock::new(|| {
                <#description as ::core::clone::Clone>::clone(#element) #change
            });
            &ELEMENT
        }
        changed
    })
}

/// Returns the type of the only field, if there is one and it is unnamed.
pub(crate) fn only_type(fields: &Fields) -> Option<&Type> {
    match fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Some(&fields.unnamed[0].ty),
        _ => None,
    }
}

/// Returns an error if two members have the same XML name and are not marked `again`. Inline
/// choices and groups have no name.
pub(crate) fn check_distinct(members: &[Member], kind: &str) -> Result<()> {
    let mut seen = HashSet::new();
    for member in members.iter().filter(|member| !matches!(member.role, Role::Inline | Role::Group)) {
        if !seen.insert((&member.namespace, &member.local)) && !member.is_again {
            let why = format!("another {kind} is named {:?}", member.local);
            return Err(Error::new_spanned(&member.ident, why));
        }
    }
    Ok(())
}
