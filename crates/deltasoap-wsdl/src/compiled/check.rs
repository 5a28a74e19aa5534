//! Checks what users of the model rely on, beyond valid references.
//!
//! Imports satisfy this by construction. A file can contain anything, and a cyclic chain of types
//! would be followed forever.

use super::{CompiledContent, Fault};
use crate::lower::Lowered;
use crate::normalize::members;
use crate::wsdl::{Binding, Definitions};
use crate::xsd::{SoapArray, Type, TypeDefinition, TypeId, Variety};
use crate::{Limits, Schemas};
use deltasoap_core::schema::{Builtin, ComplexElement, Element, ElementRef, Schema};

pub(super) fn check(parts: &CompiledContent, limits: &Limits) -> Result<(), Fault> {
    let CompiledContent { schemas, definitions, lowered, .. } = parts;
    require(has_builtin_types(schemas), "the built-in types are different")?;
    require(has_content(schemas), "complex types and their content do not match")?;
    require(are_acyclic(schemas), "a type is based on itself")?;
    let members = members(schemas).map_err(|_| Fault::Content("a type is based on itself"))?;
    require(members <= limits.particles, "there are too many union members")?;
    require(has_valid_references(definitions), "a reference of a service, binding or port type is invalid")?;
    require(is_bound(lowered, definitions), "an operation is not bound")?;
    let count = parts.lowered.schema.elements().len();
    require((0..count).all(|index| is_sound(&lowered.schema, index)), "a schema element is invalid")?;
    require(is_acyclic(count, |index, to| inlined(&lowered.schema, index, to)), "a choice contains itself")?;
    require(has_bounded_groups(&lowered.schema), "choices and groups are nested too deeply or have too many fields")
}

fn require(holds: bool, what: &'static str) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::Content(what)) }
}

/// Returns true if `xsd:anyType` and all built-in simple types have their usual numbers.
fn has_builtin_types(schemas: &Schemas) -> bool {
    let is_builtin = |(builtin, it): (&Builtin, &Type)| match &it.definition {
        TypeDefinition::Simple(simple) => simple.variety == Variety::Builtin(*builtin),
        TypeDefinition::Complex(_) => false,
    };
    match &schemas.types[..] {
        [any, any_simple, others @ ..] if others.len() >= Builtin::ALL.len() => {
            matches!(&any.definition, TypeDefinition::Complex(it) if it.base == TypeId::ANY)
                && matches!(&any_simple.definition, TypeDefinition::Simple(it) if it.variety == Variety::Any)
                && Builtin::ALL.iter().zip(others).all(is_builtin)
        }
        _ => false,
    }
}

/// Returns true if complex types have content and other types have none.
fn has_content(schemas: &Schemas) -> bool {
    let is_complex = |it: &Type| matches!(it.definition, TypeDefinition::Complex(_));
    schemas.types.iter().zip(&schemas.normal).all(|(it, normal)| is_complex(it) == normal.is_some())
}

/// Returns true if no type is derived from itself.
fn are_acyclic(schemas: &Schemas) -> bool {
    let count = schemas.types.len();
    is_acyclic(count, |index, to| to.extend(base(schemas, index)))
        && is_acyclic(count, |index, to| to.extend(schemas.derived(TypeId(index as u32)).iter().map(|it| it.index())))
}

fn base(schemas: &Schemas, index: usize) -> Option<usize> {
    match &schemas.types[index].definition {
        TypeDefinition::Simple(simple) => match simple.variety {
            Variety::Restriction(base) => Some(base.index()),
            _ => None,
        },
        TypeDefinition::Complex(complex) => Some(complex.base.index()).filter(|_| index != TypeId::ANY.index()),
    }
}

/// Returns true if no path leads from a node back to itself. `next` adds the successors of a node.
fn is_acyclic(count: usize, next: impl Fn(usize, &mut Vec<usize>)) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; count];
    let mut ahead = Vec::new();
    for start in 0..count {
        ahead.push(start);
        while let Some(&node) = ahead.last() {
            if states[node] != State::New {
                states[node] = State::Done;
                ahead.pop();
                continue;
            }
            states[node] = State::Open;
            let first = ahead.len();
            next(node, &mut ahead);
            if ahead[first..].iter().any(|&node| states[node] == State::Open) {
                return false;
            }
        }
    }
    true
}

/// Returns true if the indices of messages, port types, bindings and operations are valid.
fn has_valid_references(definitions: &Definitions) -> bool {
    let is_message = |message: usize| message < definitions.messages.len();
    let of_port_types = definitions.port_types.iter().flat_map(|it| &it.operations).all(|operation| {
        let mut parameters = operation.request.iter().chain(&operation.response).chain(&operation.faults);
        parameters.all(|parameter| is_message(parameter.message))
    });
    let mut ports = definitions.services.iter().flat_map(|service| &service.ports);
    of_port_types
        && definitions.bindings.iter().all(|binding| is_binding(binding, definitions))
        && ports.all(|port| port.binding < definitions.bindings.len())
}

fn is_binding(binding: &Binding, definitions: &Definitions) -> bool {
    let Some(port_type) = definitions.port_types.get(binding.port_type) else { return false };
    let is_message = |message: usize| message < definitions.messages.len();
    binding.operations.iter().all(|bound| {
        let mut headers = bound.request.iter().chain(&bound.response).flat_map(|how| &how.headers);
        bound.operation < port_type.operations.len()
            && headers.all(|it| is_message(it.message) && it.faults.iter().all(|(message, _)| is_message(*message)))
    })
}

fn is_bound(lowered: &Lowered, definitions: &Definitions) -> bool {
    let is_bound = |binding: usize, operation: usize| {
        definitions.bindings.get(binding).is_some_and(|it| operation < it.operations.len())
    };
    lowered.operations.iter().all(|it| is_bound(it.binding, it.operation))
}

/// Returns true if a schema element has what the engine relies on.
fn is_sound(schema: &Schema, index: usize) -> bool {
    let view = |reference: ElementRef| schema.view(reference).element;
    let is_text =
        |reference: ElementRef| !matches!(view(reference), Element::Complex(_) | Element::Open(_) | Element::Shared(_));
    let is_closed = |reference: ElementRef| !matches!(view(reference), Element::Open(_) | Element::Shared(_));
    match &schema.elements()[index] {
        Element::Simple(_) | Element::Any => true,
        Element::Union(union) => union.members.iter().all(|&it| match view(it) {
            Element::Simple(_) => true,
            Element::Union(list) => list.list && !union.list,
            _ => false,
        }),
        Element::Array(array) => (1..=SoapArray::MAX_DIMENSIONS as u32).contains(&array.dimensions),
        Element::Shared(content) => matches!(view(*content), Element::Complex(_) | Element::Open(_)),
        Element::Open(open) => {
            open.base.is_none_or(is_closed)
                && open.types.iter().all(|(_, content)| is_closed(*content))
                && open.types.is_sorted_by(|one, other| one.0 < other.0)
        }
        Element::Complex(complex) => {
            complex.attributes.iter().all(|it| is_text(it.element))
                && complex.text.is_none_or(is_text)
                && (complex.text.is_none() || complex.fields.is_empty())
                && complex.has_sound_choices()
                && complex.fields.iter().all(|it| !it.inline || is_inline(view(it.element)))
        }
    }
}

/// Returns true for content that can be without an element around it.
fn is_inline(element: &Element) -> bool {
    let is_bare = |it: &ComplexElement| it.attributes.is_empty() && it.text.is_none();
    match element {
        Element::Any => true,
        Element::Complex(complex) => is_bare(complex),
        _ => false,
    }
}

/// Maximum nesting of choices and groups. Imports have fewer.
const MAX_GROUP_DEPTH: usize = 32;
/// Maximum number of fields of an element, including those of its choices and groups at any depth.
const MAX_FIELDS: usize = 1 << 24;

/// Returns true if fields without their own element are neither too deep nor too many: readers
/// search them at each tag. Nothing may contain itself.
fn has_bounded_groups(schema: &Schema) -> bool {
    let count = schema.elements().len();
    let mut known: Vec<Option<(usize, usize)>> = vec![None; count];
    let (mut ahead, mut inner) = ((0..count).collect::<Vec<_>>(), Vec::new());
    while let Some(&index) = ahead.last() {
        inner.clear();
        inlined(schema, index, &mut inner);
        let before = ahead.len();
        ahead.extend(inner.iter().filter(|inner| known[**inner].is_none()));
        if ahead.len() > before {
            continue;
        }
        ahead.pop();
        let within = inner.iter().filter_map(|&inner| known[inner]);
        let depth = within.clone().map(|(depth, _)| depth + 1).max().unwrap_or_default();
        let own = if let Element::Complex(complex) = &schema.elements()[index] { complex.fields.len() } else { 0 };
        let fields = within.fold(own, |sum, (_, fields)| sum.saturating_add(fields));
        if depth > MAX_GROUP_DEPTH || fields > MAX_FIELDS {
            return false;
        }
        known[index] = Some((depth, fields));
    }
    true
}

/// Returns the choices and groups directly inside an element, a choice or a group.
fn inlined(schema: &Schema, index: usize, to: &mut Vec<usize>) {
    let Element::Complex(complex) = &schema.elements()[index] else { return };
    let inline = complex.fields.iter().filter(|field| field.inline);
    to.extend(inline.filter_map(|field| match field.element {
        ElementRef::Index(index) => Some(index as usize),
        ElementRef::Static(_) => None,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_core::QName;
    use deltasoap_core::schema::{Compositor, Field};

    /// Returns `depth` nested choices, each of which contains the next one `times` times.
    fn nested(depth: u32, times: usize) -> Schema {
        let field = |index| Field {
            name: QName::new("", "f"),
            element: ElementRef::Index(index + 1),
            min: 0,
            max: None,
            nillable: false,
            inline: true,
        };
        let choice = |index| {
            Element::Complex(ComplexElement {
                name: QName::default(),
                compositor: Compositor::Choice,
                fields: vec![field(index); times].into(),
                attributes: Vec::new().into(),
                text: None,
                open: false,
                any_attribute: false,
                choices: Vec::new().into(),
            })
        };
        Schema::from((0..depth).map(choice).chain([Element::Any]).collect::<Vec<_>>())
    }

    #[test]
    fn groups_within_groups_are_neither_deep_nor_too_many() {
        assert!(has_bounded_groups(&nested(32, 1)) && has_bounded_groups(&nested(20, 2)));
        assert!(!has_bounded_groups(&nested(33, 1)));
        assert!(!has_bounded_groups(&nested(30, 2)));
        assert!(!has_bounded_groups(&nested(100_000, 1)));
    }
}
