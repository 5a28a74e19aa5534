//! Validates one element: its type, its attributes, its content.

use super::Checker;
use super::item::Item;
use super::model::{Assigned, Matcher, stand_ins};
use crate::facets;
use deltasoap_core::lexical::Base64;
use deltasoap_core::schema::{Builtin, shortened};
use deltasoap_core::soap::Version;
use deltasoap_core::{Buffer, PartUri, QName, ns};
use deltasoap_wsdl::xsd::{
    AttributeUse, Element, ElementId, Particle, ProcessContents, Term, TypeDefinition, TypeId, Variety, Wildcard,
};
use deltasoap_wsdl::{NormalizedContent, NormalizedType};

/// Returns true for content without elements: a group without elements counts as empty (XSD 1.0
/// part 1, 3.4.2).
fn is_empty(content: &NormalizedContent) -> bool {
    match content {
        NormalizedContent::Elements(Particle { term: Term::Sequence(parts) | Term::All(parts), .. }) => {
            parts.is_empty()
        }
        NormalizedContent::Empty => true,
        _ => false,
    }
}

impl<'c> Checker<'c> {
    /// Validates an element that must be declared in the contract, or name its type.
    pub(super) fn declared(&mut self, item: &Item, otherwise: &str) {
        let named = item.attribute(ns::XSI, "type").and_then(|text| item.resolve(text));
        let is_typed = named.is_some_and(|name| self.types.named(&name).is_some());
        match self.types.import.schemas().element_named(&item.name) {
            None if !is_typed => self.report(item, otherwise),
            _ => self.if_declared(item),
        }
    }

    /// Validates an element if it is declared in the contract, or names its type; otherwise
    /// anything is allowed in it.
    pub(super) fn if_declared(&mut self, item: &Item) {
        let schemas = self.types.import.schemas();
        match schemas.element_named(&item.name) {
            Some(id) => self.element(item, schemas[id].type_id, Some(id)),
            None => self.element(item, TypeId::ANY, None),
        }
    }

    /// Validates an element of a type, by a declaration if there is one.
    pub(super) fn element(&mut self, item: &Item, type_id: TypeId, id: Option<ElementId>) {
        let types = self.types;
        self.known += 1;
        let declaration = id.map(|id| &types.import.schemas()[id]);
        if let Some(id) = id.filter(|_| declaration.is_some_and(|it| it.is_abstract)) {
            self.report(item, format!("the element is abstract: {}", stand_ins(types, id)));
        }
        let Some(type_id) = self.actual_type(item, type_id, declaration) else { return };
        let is_nil = self.is_nil(item, declaration);
        self.keys.open();
        match &types.import.schemas()[type_id].definition {
            TypeDefinition::Simple(_) => {
                let refers = self.reference_to_part(item, type_id).is_some();
                let is_free: fn(&QName) -> bool = if refers { |name| name.is("", "href") } else { |_| false };
                self.attributes(item, None, is_free);
                self.simple(item, type_id, declaration, is_nil);
            }
            TypeDefinition::Complex(_) => {
                if self.is_array(type_id) {
                    self.array(item, type_id);
                } else if let Some(normal) = types.import.schemas().content(type_id) {
                    self.complex(item, normal, declaration, is_nil);
                }
            }
        }
        let constraints = declaration.map_or(&[][..], |it| &it.constraints);
        let faults = self.keys.close(item, constraints);
        faults.into_iter().for_each(|(within, fault)| self.report_within(item, within, fault));
    }

    /// Returns the type that the element names, or else the declared one; `None` if the named type
    /// is invalid here.
    fn actual_type(&mut self, item: &Item, declared: TypeId, declaration: Option<&Element>) -> Option<TypeId> {
        let types = self.types;
        let named = item.attribute(ns::XSI, "type");
        let id = match named.map(|text| item.resolve(text).ok_or(text)) {
            None => declared,
            Some(Err(text)) => {
                self.report(item, format!("xsi:type {:?} has a prefix that is not declared", shortened(text)));
                return None;
            }
            Some(Ok(name)) => match types.named(&name) {
                Some(id) => id,
                // Where any element is allowed, it may be of types that are declared elsewhere.
                None if declaration.is_none() && declared == TypeId::ANY => declared,
                None => {
                    self.report(item, format!("xsi:type names {name}, which the WSDL does not define"));
                    return None;
                }
            },
        };
        let names = || [id, declared].map(|id| types.label(id).unwrap_or_else(|| "a type without a name".into()));
        let block = declaration.map(|it| it.block).unwrap_or_default();
        if !types.can_stand_for(id, declared, block) {
            let is_derived = types.can_be(id, declared);
            let [name, declared] = names();
            let why = if is_derived { "is blocked as a replacement of" } else { "is not derived from" };
            self.report(item, format!("xsi:type {name} {why} {declared}"));
            return None;
        }
        if self.report_abstract(item, id) { None } else { Some(id) }
    }

    /// Reports an element of an abstract type; returns true if it is one.
    pub(super) fn report_abstract(&mut self, item: &Item, id: TypeId) -> bool {
        let types = self.types;
        let is_abstract =
            matches!(&types.import.schemas()[id].definition, TypeDefinition::Complex(it) if it.is_abstract);
        if is_abstract {
            let label = types.label(id).unwrap_or_default();
            self.report(item, format!("{label} is abstract: xsi:type has to name a type derived from it"));
        }
        is_abstract
    }

    fn is_nil(&mut self, item: &Item, declaration: Option<&Element>) -> bool {
        let Some(text) = item.attribute(ns::XSI, "nil").map(str::trim_ascii) else { return false };
        if !matches!(text, "true" | "false" | "1" | "0") {
            self.report(item, format!("xsi:nil is true or false, not {:?}", shortened(text)));
        }
        let is_nil = matches!(text, "true" | "1");
        if declaration.is_some_and(|declaration| !declaration.is_nillable) {
            self.report(item, "nil, and the element is not nillable");
        }
        if is_nil && (!item.text.is_empty() || !item.children.is_empty()) {
            self.report(item, "nil, and there is content");
        }
        if is_nil && declaration.is_some_and(|declaration| declaration.fixed.is_some()) {
            self.report(item, "nil, and the element has a fixed value");
        }
        is_nil
    }

    pub(super) fn no_children(&mut self, item: &Item) {
        if let Some(child) = item.children.first() {
            self.within(child, |this| this.report(child, "no elements are allowed here"));
        }
    }

    /// Returns the content of a separate part, as text; `None` if no reference to a part is allowed
    /// here, or there is none.
    fn included(&mut self, item: &Item, type_id: TypeId) -> Option<String> {
        let (place, uri) = self.reference_to_part(item, type_id)?;
        let Some(part) = self.part else { return Some(String::new()) };
        let Some(bytes) = part(&uri) else {
            let text = format!("the message came without the part that {:?} refers to", shortened(uri.as_str()));
            match std::ptr::eq(place, item) {
                true => self.report(item, text),
                false => self.within(place, |this| this.report(place, text)),
            }
            return Some(String::new());
        };
        let mut text = Buffer::new();
        Base64::write(&bytes, &mut text);
        Some(String::from_utf8_lossy(text.as_slice()).into_owned())
    }

    /// Returns the part that binary content is in, and the element that refers to it: an
    /// `xop:Include` (XOP 1.0, section 2.1), or the element itself with an `href` (SOAP Messages
    /// with Attachments, section 3).
    fn reference_to_part<'i>(&self, item: &'i Item, type_id: TypeId) -> Option<(&'i Item, PartUri)> {
        use deltasoap_core::schema::Builtin::Base64Binary;
        let is_binary = matches!(self.types.import.schemas().variety(type_id), Some(Variety::Builtin(Base64Binary)));
        if !is_binary || item.has_text() {
            return None;
        }
        let (place, uri) = match &item.children[..] {
            [] => (item, item.attribute("", "href")?),
            [include] if include.name.is(ns::XOP, "Include") => {
                (include, include.attribute("", "href").unwrap_or_default())
            }
            _ => return None,
        };
        Some((place, PartUri::new(uri)))
    }

    /// Validates text of a simple type.
    pub(super) fn simple(&mut self, item: &Item, type_id: TypeId, declaration: Option<&Element>, is_nil: bool) {
        if let Some(text) = self.included(item, type_id).filter(|_| !is_nil) {
            if self.part.is_none() {
                return;
            }
            let fixed = declaration.and_then(|it| Fixed::of(it.fixed.as_deref(), it.value_name.as_ref()));
            self.value(item, type_id, (&text, None), fixed, None);
            return;
        }
        self.no_children(item);
        if is_nil {
            return;
        }
        let given = |text: &Option<Box<str>>| text.as_deref().filter(|_| item.text.is_empty()).map(ToOwned::to_owned);
        let text = declaration.and_then(|it| given(&it.default).or_else(|| given(&it.fixed)));
        let text = text.unwrap_or_else(|| item.text.clone());
        let fixed = declaration.and_then(|it| Fixed::of(it.fixed.as_deref(), it.value_name.as_ref()));
        // The default or fixed value of an empty element has the schema's prefixes.
        let own = declaration.and_then(|it| it.value_name.as_ref()).filter(|_| item.text.is_empty());
        let value = self.value(item, type_id, (&text, own), fixed, None);
        self.keys.text(item, value, &text);
    }

    /// Checks a text of a simple type, of an element or of its attribute, with the resolved name if
    /// that is known; returns its value.
    fn value(
        &mut self,
        item: &Item,
        type_id: TypeId,
        (text, own): (&str, Option<&QName>),
        fixed: Option<Fixed<'_>>,
        attribute: Option<&QName>,
    ) -> String {
        let schemas = self.types.import.schemas();
        let names = |text: &str| own.cloned().or_else(|| item.resolve(text));
        let of = attribute.map(|name| format!("attribute {}: ", name.local)).unwrap_or_default();
        if let Some(violation) = facets::violation_in(schemas, type_id, text, &names) {
            self.report(item, format!("{of}{violation}"));
        }
        let value = facets::canonical(schemas, type_id, text, &names);
        let meant = |fixed: Fixed<'_>| {
            let names = |text: &str| fixed.name.cloned().or_else(|| item.resolve(text));
            facets::canonical(schemas, type_id, fixed.text, &names)
        };
        if let Some(fixed) = fixed.filter(|&fixed| meant(fixed) != value) {
            let (text, fixed) = (shortened(text), shortened(fixed.text));
            self.report(item, format!("{of}{text:?} instead of the fixed value {fixed:?}"));
        }
        self.identify(item, type_id, text);
        value
    }

    /// Records `xsd:ID` and `xsd:IDREF` values.
    fn identify(&mut self, item: &Item, type_id: TypeId, text: &str) {
        use Builtin::{Id, IdRef, IdRefs};
        if !self.takes_ids {
            return;
        }
        let schemas = self.types.import.schemas();
        let mut variety = schemas.variety(type_id);
        if let Some(Variety::List(inner)) = variety {
            variety = schemas.variety(*inner);
        }
        match variety {
            Some(Variety::Builtin(Id)) if !self.ids.insert(text.trim_ascii().to_owned()) => {
                self.report(item, format!("another element has the ID {}", shortened(text.trim_ascii())));
            }
            Some(Variety::Builtin(IdRef | IdRefs)) => {
                self.references.push((text.to_owned(), item.offset));
            }
            _ => {}
        }
    }

    fn complex(&mut self, item: &Item, normal: &'c NormalizedType, declaration: Option<&Element>, is_nil: bool) {
        self.attributes(item, Some(normal), |_| false);
        match &normal.content {
            NormalizedContent::Text(id) => return self.simple(item, *id, declaration, is_nil),
            _ => self.keys.complex(item),
        }
        match &normal.content {
            _ if is_nil => return,
            content if is_empty(content) => {
                self.no_children(item);
                if !normal.is_mixed && !item.text.is_empty() {
                    self.report(item, "no text is allowed here, not even white space");
                }
            }
            NormalizedContent::Text(_) | NormalizedContent::Empty => {}
            NormalizedContent::Elements(particle) => {
                if !normal.is_mixed && item.has_text() {
                    self.report(item, "no text is allowed here");
                }
                self.children(item, particle, normal, declaration);
            }
        }
        let fixed = declaration.and_then(|it| it.fixed.as_deref());
        if let Some(fixed) =
            fixed.filter(|fixed| *fixed != item.text && !(item.text.is_empty() && item.children.is_empty()))
        {
            let (text, fixed) = (shortened(&item.text), shortened(fixed));
            self.report(item, format!("{text:?} instead of the fixed value {fixed:?}"));
        }
    }

    fn children(
        &mut self,
        item: &Item,
        particle: &'c Particle,
        normal: &NormalizedType,
        declaration: Option<&Element>,
    ) {
        if declaration.is_some_and(|it| it.fixed.is_some()) && normal.is_mixed {
            return self.no_children(item);
        }
        let types = self.types;
        let mut matching = Matcher::new(types, &item.children, &mut self.alternatives);
        let result = matching.run(particle);
        let assigned = matching.assigned;
        for (child, assigned) in item.children.iter().zip(&assigned) {
            self.within(child, |this| match assigned {
                Assigned::Element(id) => this.element(child, types.import.schemas()[*id].type_id, Some(*id)),
                Assigned::Any(process) => this.any(child, *process),
            });
        }
        let Err(message) = result else { return };
        match item.children.get(assigned.len()) {
            Some(child) => {
                // If only namespaces differ, the message contains them.
                let is_alike = message.contains('{') || message.contains(&format!("<{}>", child.name.local));
                let found = if is_alike { child.name.to_string() } else { child.name.local.to_string() };
                self.within(child, |this| this.report(child, format!("{message}, found <{found}>")));
            }
            None => self.report(item, message),
        }
    }

    /// Validates an element that a wildcard allows.
    fn any(&mut self, item: &Item, process: ProcessContents) {
        match process {
            ProcessContents::Strict => {
                self.declared(item, &format!("<{}> is not declared, which is required here", item.name));
            }
            ProcessContents::Lax => self.if_declared(item),
            ProcessContents::Skip => {}
        }
    }

    /// Checks attributes; `normal` is `None` for a type that has none. Free attributes, which are
    /// those of SOAP encoding, are allowed everywhere.
    pub(super) fn attributes(&mut self, item: &Item, normal: Option<&NormalizedType>, is_free: fn(&QName) -> bool) {
        let schemas = self.types.import.schemas();
        let uses = normal.map_or(&[][..], |normal| &normal.attributes);
        // Fields of constraints include these: `@*` selects `xsi:nil`.
        for (name, text) in item.attributes.iter().filter(|(name, _)| &*name.namespace == ns::XSI) {
            self.keys.attribute(item, name, text.clone(), text);
        }
        for (name, text) in item.attributes.iter().filter(|(name, _)| !is_of_the_envelope(name)) {
            let known = uses.iter().find(|it| schemas[it.attribute].name == *name);
            // Ids of SOAP encoding can be any text, since many senders use numbers, even where the
            // encoding's schema declares them.
            let is_id = |known: &AttributeUse| schemas[known.attribute].type_id == TypeId::from_builtin(Builtin::Id);
            if is_free(name) && known.is_none_or(is_id) {
                continue;
            }
            let any = normal.and_then(|normal| normal.any_attribute.as_ref());
            match (known, any) {
                (Some(known), _) => {
                    let declaration = &schemas[known.attribute];
                    let fixed = Fixed::of(known.fixed.as_deref(), known.value_name.as_ref())
                        .or_else(|| Fixed::of(declaration.fixed.as_deref(), declaration.value_name.as_ref()));
                    let value = self.value(item, schemas[known.attribute].type_id, (text, None), fixed, Some(name));
                    self.keys.attribute(item, name, value, text);
                }
                (None, Some(any)) if any.namespaces.allow(&name.namespace) => {
                    self.any_attribute(item, name, text, any);
                }
                _ => self.report(item, format!("the attribute {name} is not allowed here")),
            }
        }
        for missing in uses {
            let name = &schemas[missing.attribute].name;
            if item.attribute(&name.namespace, &name.local).is_none() {
                self.missing_attribute(item, missing);
            }
        }
    }

    /// Checks an attribute that a wildcard may allow.
    fn any_attribute(&mut self, item: &Item, name: &QName, text: &str, any: &Wildcard) {
        let schemas = self.types.import.schemas();
        match schemas.attribute_named(name).map(|id| &schemas[id]) {
            _ if any.process == ProcessContents::Skip => {}
            Some(known) => {
                let fixed = Fixed::of(known.fixed.as_deref(), known.value_name.as_ref());
                let value = self.value(item, known.type_id, (text, None), fixed, Some(name));
                self.keys.attribute(item, name, value, text);
            }
            None if any.process == ProcessContents::Strict => {
                self.report(item, format!("the attribute {name} is not declared, which is required here"));
            }
            None => {}
        }
    }

    /// Handles a missing attribute: it may be required, or have a default value.
    fn missing_attribute(&mut self, item: &Item, missing: &AttributeUse) {
        let schemas = self.types.import.schemas();
        let declaration = &schemas[missing.attribute];
        let name = &declaration.name;
        if missing.is_required {
            return self.report(item, format!("the attribute {} is missing", name.local));
        }
        let texts = [&missing.default, &missing.fixed, &declaration.default, &declaration.fixed];
        if let Some(text) = texts.into_iter().flatten().next() {
            let value = facets::canonical(schemas, declaration.type_id, text, &|text| item.resolve(text));
            self.keys.attribute(item, name, value, text);
            self.identify(item, declaration.type_id, text);
        }
    }
}

/// The only allowed value: as written in the schema, and its resolved name.
#[derive(Clone, Copy)]
struct Fixed<'s> {
    text: &'s str,
    name: Option<&'s QName>,
}

impl<'s> Fixed<'s> {
    fn of(text: Option<&'s str>, name: Option<&'s QName>) -> Option<Self> {
        text.map(|text| Fixed { text, name })
    }
}

/// Returns true for attributes that are allowed everywhere: those of schema instances and of SOAP.
pub(crate) fn is_of_the_envelope(name: &QName) -> bool {
    let is_of_instances = ["type", "nil", "schemaLocation", "noNamespaceSchemaLocation"].contains(&&*name.local);
    match &*name.namespace {
        ns::XSI => is_of_instances,
        namespace => Version::from_namespace(namespace).is_some(),
    }
}
