//! Items for types and elements.

use super::docs::docs;
use super::serde::Keys;
use super::{Layout, Options};
use crate::model::{
    Alternatives, Derived, Enumeration, Item, ItemId, ItemKind, Member, Model, Occurs, Role, Struct, TypeUse, Union,
};
use crate::names::{Rename, Scope, ident};
use deltasoap_core::QName;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use std::collections::HashSet;

/// Renders an item with its documentation.
pub(super) fn item(model: &Model, layout: &Layout, options: Options, id: ItemId, item: &Item) -> TokenStream {
    let is_compact = !model.number_records.contains(&id);
    let (module, name) = (layout.module_of(id), layout.name(id));
    let render = Render { model, layout, id, module, item, name, is_compact, has_serde: options.serde };
    let words = docs(&item.docs);
    let body = match &item.kind {
        ItemKind::Pending => TokenStream::new(),
        ItemKind::Struct(of) => render.structure(of),
        ItemKind::Choice(variants, alternatives) => render.choice(variants, *alternatives),
        ItemKind::Derived(of) => render.derived(of),
        ItemKind::Enumeration(of) => render.enumeration(of),
        ItemKind::Union(of) => render.union(of),
        ItemKind::Alias(of) => render.alias(of),
        ItemKind::Restriction(name, of) => render.restriction(name, of, false),
        ItemKind::Renamed(name, of) => render.restriction(name, of, true),
        ItemKind::Element(name, of, default) => render.element(name, of, default.as_deref()),
    };
    quote!(#words #body)
}

struct Render<'m> {
    model: &'m Model,
    layout: &'m Layout,
    id: ItemId,
    module: Option<usize>,
    item: &'m Item,
    /// The item's Rust name.
    name: &'m str,
    /// True if the type uses the shared routines of compact types.
    is_compact: bool,
    /// True if the type has serde's traits.
    has_serde: bool,
}

/// Arguments of `#[soap(...)]`.
#[derive(Default)]
struct Attributes(Vec<TokenStream>);

impl Attributes {
    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            let name = ident(name);
            self.0.push(quote!(#name));
        }
    }

    fn ty(&mut self, name: &str, value: Option<TokenStream>) {
        if let Some(value) = value {
            let name = ident(name);
            self.0.push(quote!(#name = #value));
        }
    }

    fn text(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            let name = ident(name);
            self.0.push(quote!(#name = #value));
        }
    }

    fn number(&mut self, name: &str, value: Option<u32>) {
        if let Some(value) = value {
            let (name, value) = (ident(name), Literal::u32_unsuffixed(value));
            self.0.push(quote!(#name = #value));
        }
    }

    fn tokens(&self) -> TokenStream {
        let parts = &self.0;
        if parts.is_empty() { TokenStream::new() } else { quote!(#[soap(#(#parts),*)]) }
    }
}

impl Render<'_> {
    fn ty(&self, of: &TypeUse) -> TokenStream {
        self.layout.ty(self.model, of, self.module)
    }

    fn ident(&self) -> Ident {
        ident(self.name)
    }

    /// Returns namespace and name, unless they are the macro's defaults.
    fn container(&self, name: Option<&str>) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.text("namespace", Some(&*self.item.namespace).filter(|it| !it.is_empty()));
        attributes.text("name", name.filter(|name| *name != self.name));
        attributes
    }

    /// Returns namespace and name, and `compact` for a type that can compile small.
    fn compact_container(&self, name: Option<&str>) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.flag("compact", self.is_compact);
        attributes.0.extend(self.container(name).0);
        attributes
    }

    /// Returns the response to the item, if it is a request.
    fn response(&self) -> Option<TokenStream> {
        let response = self.model.responses.get(&self.id)?;
        Some(self.layout.path(self.model, *response, self.module))
    }

    fn structure(&self, of: &Struct) -> TokenStream {
        let name = self.ident();
        let mut attributes = self.compact_container(of.name.as_deref());
        let type_name = of.name.as_deref().unwrap_or(self.name);
        match of.element.as_deref() {
            Some(element) if element == type_name => attributes.flag("message", true),
            element => attributes.text("element", element),
        }
        attributes.ty("response", self.response());
        attributes.text("item_name", of.item_name.as_deref());
        attributes.flag("group", of.is_group);
        attributes.flag("all", of.is_all && !of.members.is_empty());
        attributes.flag("nillable", of.members.iter().any(Member::is_absent_if_nil));
        let names = field_names(&of.members);
        let style = Style::of(&of.members, &names, &self.item.namespace, &mut attributes);
        let mut seen = HashSet::new();
        let mut keys = self.keys();
        let fields = of.members.iter().zip(&names).map(|(member, name)| {
            let mut attributes = style.member(member, name);
            let is_again = member.role == Role::Element && !seen.insert(&member.name);
            attributes.flag("again", is_again);
            let (words, attributes) = (docs(&member.docs), attributes.tokens());
            let key = keys.as_mut().map(|keys| keys.field(member, name));
            let (name, ty) = (ident(name), self.member_type(member));
            quote!(#words #attributes #key pub #name: #ty)
        });
        let attributes = attributes.tokens();
        let (default, serde) = (self.default(), self.serde());
        quote! {
            #[derive(Debug, Clone, #default PartialEq, deltasoap::Soap)]
            #serde
            #attributes
            pub struct #name { #(#fields,)* }
        }
    }

    /// Returns the type of a member, with its occurrence.
    fn member_type(&self, member: &Member) -> TokenStream {
        let content = self.ty(&member.content);
        let content = if member.is_boxed { quote!(Box<#content>) } else { content };
        let content = if member.is_nillable() { quote!(deltasoap::Nillable<#content>) } else { content };
        match member.occurs {
            Occurs::Once => content,
            Occurs::AtMostOnce => quote!(Option<#content>),
            Occurs::Many(..) => quote!(Vec<#content>),
        }
    }

    fn choice(&self, members: &[Member], alternatives: Alternatives) -> TokenStream {
        let name = self.ident();
        let mut attributes = self.compact_container(None);
        attributes.flag("group", alternatives == Alternatives::Groups);
        let mut scope = Scope::default();
        let names: Vec<String> = members.iter().map(|member| scope.variant_name(&member.name.local)).collect();
        let style = Style::of(members, &names, &self.item.namespace, &mut attributes);
        let mut keys = self.keys();
        let variants = members.iter().zip(&names).map(|(member, name)| {
            let member = Member { occurs: in_choice(member, alternatives), ..member.clone() };
            let (words, attributes) = (docs(&member.docs), style.member(&member, name).tokens());
            let key = keys.as_mut().map(|keys| keys.variant(&member, name));
            let (name, ty) = (ident(name), self.member_type(&member));
            quote!(#words #attributes #key #name(#ty))
        });
        let attributes = attributes.tokens();
        let serde = self.serde();
        quote! {
            #[derive(Debug, Clone, PartialEq, deltasoap::Soap)]
            #serde
            #attributes
            pub enum #name { #(#variants,)* }
        }
    }

    fn derived(&self, of: &Derived) -> TokenStream {
        let name = self.ident();
        let mut attributes = Attributes::default();
        attributes.flag("derived", true);
        attributes.0.extend(self.container(Some(&of.name)).0);
        let mut scope = Scope::default();
        let named = |&id: &ItemId| (id, ident(&scope.variant_name(self.layout.name(self.model.resolve(id)))));
        let types: Vec<(ItemId, Ident)> = of.types.iter().map(named).collect();
        let mut keys = self.keys();
        let variants = types.iter().map(|(id, variant)| {
            let path = self.layout.path(self.model, *id, self.module);
            let base = if Some(*id) == of.base { quote!(#[soap(base)]) } else { TokenStream::new() };
            let key = keys.as_mut().map(|keys| keys.named(self.type_name(*id), &variant.to_string()));
            quote!(#base #key #variant(Box<#path>))
        });
        let other = ident(&scope.variant_name("Other"));
        let attributes = attributes.tokens();
        let base = types.iter().find(|(id, _)| Some(*id) == of.base);
        let default = base.filter(|_| self.has_default()).map(|(_, variant)| {
            quote! {
                impl ::core::default::Default for #name {
                    fn default() -> Self {
                        Self::#variant(Box::default())
                    }
                }
            }
        });
        let serde = self.serde();
        quote! {
            #[derive(Debug, Clone, PartialEq, deltasoap::Soap)]
            #serde
            #attributes
            pub enum #name {
                #(#variants,)*
                #[doc = " Any other type."]
                #[soap(other)]
                #other(deltasoap::types::Node),
            }
            #default
        }
    }

    /// Returns the name of a type in the WSDL, or that of its Rust type if it has none.
    fn type_name(&self, id: ItemId) -> &str {
        let id = self.model.resolve(id);
        let name = match &self.model.item(id).kind {
            ItemKind::Struct(of) => of.name.as_deref(),
            ItemKind::Restriction(name, _) | ItemKind::Renamed(name, _) => Some(name.as_str()),
            _ => None,
        };
        name.unwrap_or_else(|| self.layout.name(id))
    }

    /// Returns what renders serde's attributes, if the type has them.
    fn keys(&self) -> Option<Keys<'_>> {
        self.has_serde.then(|| Keys::new(self.model))
    }

    /// Returns the derivation of serde's traits.
    fn serde(&self) -> Option<TokenStream> {
        self.has_serde.then(|| quote!(#[derive(::serde::Serialize, ::serde::Deserialize)]))
    }

    fn has_default(&self) -> bool {
        self.model.defaults.contains(&self.id)
    }

    /// Returns the name of the trait `Default` for the types that derive it.
    fn default(&self) -> Option<TokenStream> {
        self.has_default().then(|| quote!(Default,))
    }

    fn enumeration(&self, of: &Enumeration) -> TokenStream {
        let name = self.ident();
        let mut attributes = self.compact_container(of.name.as_deref());
        let mut scope = Scope::default();
        let names: Vec<String> = of.values.iter().map(|(text, _)| scope.variant_name(text)).collect();
        let rule =
            Rename::for_most(names.iter().zip(&of.values).map(|(name, (text, _))| (name.as_str(), text.as_str())));
        attributes.text("rename_all", rule.name);
        let mut keys = self.keys();
        let variants = of.values.iter().zip(&names).map(|((text, words), name)| {
            let mut attributes = Attributes::default();
            attributes.text("name", Some(text.as_str()).filter(|text| !rule.gives(name, text)));
            let (words, attributes) = (docs(words), attributes.tokens());
            let key = keys.as_mut().map(|keys| keys.named(text, name));
            let name = ident(name);
            quote!(#words #attributes #key #name)
        });
        let attributes = attributes.tokens();
        let variants: Vec<_> = variants.collect();
        let untagged = self.has_serde.then(|| quote!(#[serde(untagged)]));
        let other = of.is_open.then(|| other_texts(&mut scope, untagged));
        let copy = (!of.is_open).then(|| quote!(Copy,));
        let serde = self.serde();
        quote! {
            #[derive(Debug, Clone, #copy PartialEq, Eq, Hash, deltasoap::Soap)]
            #serde
            #attributes
            pub enum #name { #(#variants,)* #other }
        }
    }

    fn union(&self, of: &Union) -> TokenStream {
        let name = self.ident();
        let mut attributes = Attributes::default();
        attributes.flag("union", true);
        attributes.0.extend(self.container(of.name.as_deref()).0);
        let mut scope = Scope::default();
        let variants = of.members.iter().map(|(preferred_name, member)| {
            let (variant, ty) = (ident(&scope.variant_name(preferred_name)), self.ty(member));
            let number = self.number(member);
            quote!(#number #variant(#ty))
        });
        let variants: Vec<_> = variants.collect();
        let attributes = attributes.tokens();
        let serde = self.serde();
        let untagged = self.has_serde.then(|| quote!(#[serde(untagged)]));
        quote! {
            #[derive(Debug, Clone, PartialEq, deltasoap::Soap)]
            #serde
            #attributes
            #untagged
            pub enum #name { #(#variants,)* }
        }
    }

    /// Returns serde's attribute for a field without a name.
    fn number(&self, of: &TypeUse) -> Option<TokenStream> {
        self.keys().map(|keys| keys.content(of))
    }

    fn alias(&self, of: &TypeUse) -> TokenStream {
        let (name, ty) = (self.ident(), self.ty(of));
        quote!(pub type #name = #ty;)
    }

    fn restriction(&self, xml: &str, of: &TypeUse, is_transparent: bool) -> TokenStream {
        let (name, ty) = (self.ident(), self.ty(of));
        let mut attributes = Attributes::default();
        attributes.flag("transparent", is_transparent);
        // The type's own name defaults to the Rust name, but not for transparent structs.
        attributes.text("name", Some(xml).filter(|_| is_transparent));
        attributes.0.extend(self.container(Some(xml).filter(|_| !is_transparent)).0);
        let attributes = attributes.tokens();
        let (default, serde, number) = (self.default(), self.serde(), self.number(of));
        quote! {
            #[derive(Debug, Clone, #default PartialEq, deltasoap::Soap)]
            #serde
            #attributes
            pub struct #name(#number pub #ty);
        }
    }

    fn element(&self, element: &QName, of: &TypeUse, default: Option<&str>) -> TokenStream {
        let (name, ty) = (self.ident(), self.ty(of));
        let mut attributes = Attributes::default();
        attributes.flag("transparent", true);
        attributes.text("namespace", Some(&*element.namespace).filter(|it| !it.is_empty()));
        attributes.text("element", Some(&*element.local));
        attributes.ty("response", self.response());
        attributes.text("default_text", default);
        let attributes = attributes.tokens();
        let (default, serde, number) = (self.default(), self.serde(), self.number(of));
        quote! {
            #[derive(Debug, Clone, #default PartialEq, deltasoap::Soap)]
            #serde
            #attributes
            pub struct #name(#number pub #ty);
        }
    }
}

/// Returns the variant of an enumeration for texts that the WSDL does not list.
fn other_texts(scope: &mut Scope, serde: Option<TokenStream>) -> TokenStream {
    let name = ident(&scope.variant_name("Unknown"));
    quote! {
        #[doc = " A value that the WSDL does not list."]
        #[soap(other)]
        #serde
        #name(String),
    }
}

/// Returns the occurrence of a variant's element once the variant is chosen.
fn in_choice(member: &Member, alternatives: Alternatives) -> Occurs {
    match member.occurs {
        many @ Occurs::Many(..) if alternatives == Alternatives::Groups => many,
        _ => Occurs::Once,
    }
}

fn field_names(members: &[Member]) -> Vec<String> {
    let mut scope = Scope::default();
    members.iter().map(|member| scope.value_name(&member.name.local)).collect()
}

/// Common properties of the members of a type.
struct Style<'m> {
    rule: &'static Rename,
    namespace: &'m str,
    is_qualified: bool,
}

impl<'m> Style<'m> {
    /// Finds the common properties, and adds them to the type's attributes.
    fn of(members: &[Member], names: &[String], namespace: &'m str, attributes: &mut Attributes) -> Self {
        let named = members.iter().zip(names).filter(|(member, _)| has_name(member));
        let rule = Rename::for_most(named.map(|(member, name)| (name.as_str(), &*member.name.local)));
        let elements = members.iter().filter(|member| member.role == Role::Element);
        let qualified = elements.clone().filter(|member| member.name.namespace == namespace).count();
        let unqualified = elements.filter(|member| member.name.namespace.is_empty()).count();
        let is_qualified = !namespace.is_empty() && qualified > unqualified;
        attributes.flag("qualified", is_qualified);
        attributes.text("rename_all", rule.name);
        Style { rule, namespace, is_qualified }
    }

    fn member(&self, member: &Member, rust: &str) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.flag("attribute", member.role == Role::Attribute);
        attributes.flag("text", member.role == Role::Text);
        attributes.flag("inline", member.role == Role::Inline);
        attributes.flag("group", member.role == Role::Group);
        attributes.text("default_text", member.default_text.as_deref());
        if let Occurs::Many(min, max) = member.occurs {
            attributes.number("min", Some(min).filter(|&min| min > 0));
            attributes.number("max", max);
        }
        if !has_name(member) {
            let namespaces = Some(&*member.name.namespace).filter(|it| member.role == Role::Inline && !it.is_empty());
            attributes.text("namespace", namespaces);
            return attributes;
        }
        attributes.text("name", Some(&*member.name.local).filter(|local| !self.rule.gives(rust, local)));
        let is_qualified = self.is_qualified && member.role == Role::Element;
        match &*member.name.namespace {
            own if own == self.namespace => attributes.flag("qualified", !is_qualified && !own.is_empty()),
            "" => attributes.flag("unqualified", is_qualified),
            other => attributes.text("namespace", Some(other)),
        }
        attributes
    }
}

/// Returns true for members that are identified by their name.
fn has_name(member: &Member) -> bool {
    matches!(member.role, Role::Element | Role::Attribute)
}
