//! Enums marked `derived`: a type and the types derived from it, selected by `xsi:type` (XSD 1.0
//! part 1, 2.6.1).

use crate::attributes::{Flag, Local, Mark, Role};
use crate::member::only_type;
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Ident, Result, Type, Variant};

/// A variant and the type it holds.
struct DerivedType {
    ident: Ident,
    ty: Type,
    is_base: bool,
    is_other: bool,
}

/// Returns the implementations for an enum of these types.
pub(crate) fn expand<'v>(target: &Target, variants: impl Iterator<Item = &'v Variant>) -> Result<TokenStream> {
    target.container.allow(&[Flag::Derived, Flag::Message], "a type with the types derived from it")?;
    target.forbid_generics("a type with the types derived from it")?;
    let types = variants.map(|variant| derived_type(variant, target)).collect::<Result<Vec<_>>>()?;
    let description = target.describe_by(&hierarchy(target, &types), false);
    let content = content(target, &types)?;
    let derived = derived(target, &types)?;
    Ok(quote!(#description #content #derived))
}

fn derived_type(variant: &Variant, target: &Target) -> Result<DerivedType> {
    let local = Local::parse(&variant.attrs)?;
    local.allow(&[Mark::Base, Mark::Other])?;
    let (is_base, is_other) = (local.has(Mark::Base), local.has(Mark::Other));
    local.forbid_defaults("a variant that stands for a type has no default")?;
    let Local { name, namespace, qualified, role, .. } = local;
    if name.is_some() || namespace.is_some() || qualified.is_some() || role != Role::Element {
        return Err(Error::new_spanned(variant, "a derived type has its name from its own definition"));
    }
    match only_type(&variant.fields) {
        Some(ty) => {
            let (ident, ty) = (variant.ident.clone(), target.without_self(ty.clone())?);
            Ok(DerivedType { ident, ty, is_base, is_other })
        }
        None => Err(Error::new_spanned(variant, "a variant holds one value of its type")),
    }
}

/// Returns the schema: the types with their names. They are sorted, so it is made on first use.
fn hierarchy(target: &Target, types: &[DerivedType]) -> TokenStream {
    let runtime = target.runtime();
    let reference =
        |DerivedType { ty, .. }: &DerivedType| quote_spanned!(ty.span()=> <#ty as #runtime::Typed>::REFERENCE);
    let base = match types.iter().find(|ty| ty.is_base).map(reference) {
        Some(base) => quote!(::core::option::Option::Some(#base)),
        None => quote!(::core::option::Option::None),
    };
    let named = types.iter().filter(|ty| !ty.is_other).map(|ty| {
        let (reference, ty) = (reference(ty), &ty.ty);
        quote_spanned!(ty.span()=> (#runtime::derived::name::<#ty>(), #reference))
    });
    quote! {
        static ELEMENT: ::std::sync::LazyLock<#runtime::schema::Element> = ::std::sync::LazyLock::new(|| {
            let types = ::std::vec![#(#named),*];
            #runtime::schema::Element::Open(#runtime::schema::OpenElement::new(#base, types))
        });
        &ELEMENT
    }
}

/// Returns the index of the only variant with a mark.
fn marked(types: &[DerivedType], is_marked: impl Fn(&DerivedType) -> bool) -> Result<TokenStream> {
    let mut found = types.iter().enumerate().filter(|(_, ty)| is_marked(ty));
    match (found.next(), found.next()) {
        (None, _) => Ok(quote!(::core::option::Option::None)),
        (Some((index, _)), None) => Ok(quote!(::core::option::Option::Some(#index))),
        (_, Some((_, second))) => Err(Error::new_spanned(&second.ident, "another variant has this mark")),
    }
}

/// Returns the implementation of `Content`. The vacant value is the smallest one: the tree for
/// other types, else the base, else the first variant.
fn content(target: &Target, types: &[DerivedType]) -> Result<TokenStream> {
    let runtime = target.runtime();
    let vacant = types.iter().find(|ty| ty.is_other).or(types.iter().find(|ty| ty.is_base)).or(types.first());
    let Some(DerivedType { ident, ty, .. }) = vacant else {
        return Err(Error::new_spanned(&target.ident, "an enum without variants has no values"));
    };
    let content = quote_spanned!(ty.span()=> <#ty as #runtime::Content>);
    let typed = quote_spanned!(ty.span()=> <#ty as #runtime::Typed>);
    let shortcuts = target.implement(
        &quote!(#runtime::content::Shortcuts),
        &quote!(
            const COMPACT: bool = true;
        ),
    );
    let content = target.implement(
        &quote!(#runtime::Content),
        &quote! {
            const REPLACES: bool = true;

            fn vacant(view: #runtime::schema::View<'_>) -> Self {
                Self::#ident(#content::vacant(#typed::view()))
            }

            fn decode(
                &mut self,
                cursor: &mut #runtime::decode::Cursor<'_>,
                view: #runtime::schema::View<'_>,
            ) -> #runtime::decode::Step {
                #runtime::derived::decode(self, cursor)
            }

            fn encode(&self, encoder: &mut #runtime::encode::Encoder, view: #runtime::schema::View<'_>) {
                #runtime::derived::encode(self, encoder);
            }
        },
    );
    Ok(quote!(#content #shortcuts))
}

fn derived(target: &Target, types: &[DerivedType]) -> Result<TokenStream> {
    let runtime = target.runtime();
    let (base, other) = (marked(types, |ty| ty.is_base)?, marked(types, |ty| ty.is_other)?);
    let idents: Vec<_> = types.iter().map(|ty| &ty.ident).collect();
    let indices: Vec<_> = (0..types.len()).collect();
    let values: Vec<_> =
        types.iter().map(|it| if is_boxed(&it.ty) { quote!(&**value) } else { quote!(value) }).collect();
    let values_mut: Vec<_> =
        types.iter().map(|it| if is_boxed(&it.ty) { quote!(&mut **value) } else { quote!(value) }).collect();
    let contents = types.iter().map(|DerivedType { ty, .. }| ty);
    let names = contents.map(|ty| quote_spanned!(ty.span()=> #runtime::derived::name::<#ty>()));
    Ok(target.implement(
        &quote!(#runtime::derived::Derived),
        &quote! {
            const NAMES: &'static [#runtime::QName] = &[#(#names),*];
            const BASE: ::core::option::Option<usize> = #base;
            const OTHER: ::core::option::Option<usize> = #other;

            fn variant(&self) -> usize {
                match self { #(Self::#idents(_) => #indices,)* }
            }

            fn vacate(&mut self, variant: usize) {
                *self = match variant {
                    #(#indices => Self::#idents(#runtime::content::compact::vacant()),)*
                    _ => return,
                };
            }

            fn content(&self) -> &dyn #runtime::derived::OneType {
                match self { #(Self::#idents(value) => #values,)* }
            }

            fn content_mut(&mut self) -> &mut dyn #runtime::derived::OneType {
                match self { #(Self::#idents(value) => #values_mut,)* }
            }
        },
    ))
}

/// Returns true for a `Box`. Its content is passed as an object, so that nothing is compiled for
/// the box.
fn is_boxed(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Box"))
}
