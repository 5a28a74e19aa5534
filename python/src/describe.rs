//! Descriptions of contracts as dicts, for the classes in `deltasoap.xsd` and `deltasoap.wsdl`.

use crate::contract::{Model, version};
use deltasoap_dynamic::Operation;
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{
    AttributeGroupId, AttributeId, Attributes, ComplexType, Content, Derivation, ElementId, Particle, ProcessContents,
    SimpleType, Term, TypeDefinition, TypeId, Variety, WildcardNamespaces,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// Maximum depth of nested groups.
const MAX_DEPTH: usize = 64;

/// Returns the reference of a type: its name, or its number if it has none.
pub(crate) fn reference<'py>(py: Python<'py>, schemas: &Schemas, id: TypeId) -> PyResult<Bound<'py, PyAny>> {
    match &schemas[id].name {
        Some(name) => Ok(PyString::new(py, &name.to_string()).into_any()),
        None => Ok(id.index().into_pyobject(py)?.into_any()),
    }
}

pub(crate) fn services<'py>(py: Python<'py>, model: &Model) -> PyResult<Bound<'py, PyList>> {
    let all = model.contract.operations();
    let definitions = model.contract.description().definitions();
    let list = PyList::empty(py);
    for service in &definitions.services {
        let ports = PyList::empty(py);
        for port in &service.ports {
            let of_port = |it: &&Operation| {
                it.service().is_some_and(|it| it.name == service.name)
                    && it.port().is_some_and(|it| it.name == port.name)
            };
            let binding = &definitions.bindings[port.binding];
            let dict = PyDict::new(py);
            dict.set_item("name", &*port.name)?;
            dict.set_item("address", &*port.address)?;
            dict.set_item("binding", binding.name.to_string())?;
            dict.set_item("soap", version(binding.version))?;
            dict.set_item("operations", all.iter().filter(of_port).map(Operation::distinct_name).collect::<Vec<_>>())?;
            dict.set_item("documentation", port.documentation.as_deref())?;
            ports.append(dict)?;
        }
        let dict = PyDict::new(py);
        dict.set_item("name", service.name.to_string())?;
        dict.set_item("ports", ports)?;
        dict.set_item("documentation", service.documentation.as_deref())?;
        list.append(dict)?;
    }
    Ok(list)
}

pub(crate) fn namespaces(model: &Model) -> Vec<String> {
    let schemas = model.schemas();
    let types = schemas.types().filter(|(_, it)| it.place.is_some()).filter_map(|(_, it)| it.name.as_ref());
    let elements = schemas.elements().filter(|(_, it)| it.is_global).map(|(_, it)| &it.name);
    let mut all: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for name in elements.chain(types) {
        if known.insert(&name.namespace) {
            all.push(name.namespace.to_string());
        }
    }
    all
}

/// Describes an element declaration.
pub(crate) fn element<'py>(py: Python<'py>, schemas: &Schemas, id: ElementId) -> PyResult<Bound<'py, PyDict>> {
    let element = &schemas[id];
    let dict = PyDict::new(py);
    dict.set_item("name", element.name.to_string())?;
    dict.set_item("type", reference(py, schemas, element.type_id)?)?;
    dict.set_item("nillable", element.is_nillable)?;
    dict.set_item("abstract", element.is_abstract)?;
    dict.set_item("default", element.default.as_deref())?;
    dict.set_item("fixed", element.fixed.as_deref())?;
    dict.set_item("is_ref", element.is_global)?;
    dict.set_item("documentation", element.documentation.as_deref())?;
    Ok(dict)
}

/// Describes a type.
pub(crate) fn type_of<'py>(py: Python<'py>, model: &Model, id: TypeId) -> PyResult<Bound<'py, PyDict>> {
    let schemas = model.schemas();
    let of = &schemas[id];
    let dict = PyDict::new(py);
    dict.set_item("name", of.name.as_ref().map(ToString::to_string))?;
    dict.set_item("ref", reference(py, schemas, id)?)?;
    dict.set_item("documentation", of.documentation.as_deref())?;
    match &of.definition {
        TypeDefinition::Simple(simple) => simple_type(py, schemas, id, simple, &dict)?,
        TypeDefinition::Complex(complex) => complex_type(py, schemas, complex, &dict)?,
    }
    Ok(dict)
}

fn simple_type(
    py: Python<'_>,
    schemas: &Schemas,
    id: TypeId,
    simple: &SimpleType,
    dict: &Bound<'_, PyDict>,
) -> PyResult<()> {
    dict.set_item("kind", "simple")?;
    let (variety, base, item, members) = match &simple.variety {
        Variety::Any | Variety::Builtin(_) => ("atomic", None, None, &[][..]),
        Variety::Restriction(base) => ("atomic", Some(*base), None, &[][..]),
        Variety::List(item) => ("list", None, Some(*item), &[][..]),
        Variety::Union(members) => ("union", None, None, &members[..]),
    };
    dict.set_item("variety", variety)?;
    let optional = |id: Option<TypeId>| id.map(|id| reference(py, schemas, id)).transpose();
    dict.set_item("base", optional(base)?)?;
    dict.set_item("item", optional(item)?)?;
    let members = members.iter().map(|&member| reference(py, schemas, member));
    dict.set_item("members", members.collect::<PyResult<Vec<_>>>()?)?;
    let enumeration = simple.facets.iter().flat_map(|facets| &facets.enumeration);
    let texts = enumeration.map(|value| value.value.to_string());
    dict.set_item("enumeration", texts.collect::<Vec<_>>())?;
    dict.set_item("builtin", builtin(schemas, id))
}

/// Returns the local name of the built-in type that a type is or restricts.
fn builtin(schemas: &Schemas, id: TypeId) -> Option<&'static str> {
    let mut at = id;
    for _ in 0..schemas.types().len() {
        match &schemas[at].definition {
            TypeDefinition::Simple(SimpleType { variety: Variety::Builtin(builtin), .. }) => {
                return Some(builtin.local());
            }
            TypeDefinition::Simple(SimpleType { variety: Variety::Restriction(base), .. }) => at = *base,
            _ => return None,
        }
    }
    None
}

fn complex_type(py: Python<'_>, schemas: &Schemas, complex: &ComplexType, dict: &Bound<'_, PyDict>) -> PyResult<()> {
    dict.set_item("kind", "complex")?;
    dict.set_item("abstract", complex.is_abstract)?;
    dict.set_item("mixed", complex.is_mixed)?;
    let derivation = match complex.derivation {
        _ if complex.base == TypeId::ANY => None,
        Derivation::Extension => Some("extension"),
        Derivation::Restriction => Some("restriction"),
    };
    let base = derivation.map(|_| reference(py, schemas, complex.base)).transpose()?;
    dict.set_item("base", base)?;
    dict.set_item("derivation", derivation)?;
    let (content, text) = match &complex.content {
        Content::Empty => (None, None),
        Content::Elements(of) => (Some(particle(py, schemas, of, 0)?), None),
        Content::Text(of) => (None, Some(of.unwrap_or(complex.base))),
    };
    dict.set_item("content", content)?;
    dict.set_item("text", text.map(|id| reference(py, schemas, id)).transpose()?)?;
    let list = PyList::empty(py);
    attributes(py, schemas, &complex.attributes, &list, 0)?;
    dict.set_item("attributes", list)?;
    dict.set_item("any_attribute", has_wildcard(schemas, &complex.attributes, 0))?;
    let array = complex.array.as_ref().map(|array| {
        let dict = PyDict::new(py);
        dict.set_item("item", reference(py, schemas, array.item)?)?;
        dict.set_item("dimensions", &*array.dimensions)?;
        PyResult::Ok(dict)
    });
    dict.set_item("array", array.transpose()?)
}

fn particle<'py>(py: Python<'py>, schemas: &Schemas, of: &Particle, depth: usize) -> PyResult<Bound<'py, PyDict>> {
    let (kind, items) = match &of.term {
        Term::Sequence(items) => ("sequence", &items[..]),
        Term::Choice(items) => ("choice", &items[..]),
        Term::All(items) => ("all", &items[..]),
        Term::Group(id) => {
            let group = &schemas[*id];
            let dict = PyDict::new(py);
            dict.set_item("kind", "group")?;
            dict.set_item("name", group.name.to_string())?;
            let items = PyList::empty(py);
            if depth < MAX_DEPTH {
                items.append(particle(py, schemas, &group.particle, depth + 1)?)?;
            }
            dict.set_item("items", items)?;
            return occurring(dict, of);
        }
        Term::Element(id) => {
            let dict = element(py, schemas, *id)?;
            dict.set_item("kind", "element")?;
            return occurring(dict, of);
        }
        Term::Any(wildcard) => {
            let dict = PyDict::new(py);
            dict.set_item("kind", "any")?;
            dict.set_item("namespaces", wildcard_label(&wildcard.namespaces))?;
            dict.set_item("process", process(wildcard.process))?;
            return occurring(dict, of);
        }
    };
    let dict = PyDict::new(py);
    dict.set_item("kind", kind)?;
    let inner = items.iter().filter(|_| depth < MAX_DEPTH).map(|item| particle(py, schemas, item, depth + 1));
    dict.set_item("items", inner.collect::<PyResult<Vec<_>>>()?)?;
    occurring(dict, of)
}

fn occurring<'py>(dict: Bound<'py, PyDict>, of: &Particle) -> PyResult<Bound<'py, PyDict>> {
    dict.set_item("min", of.min)?;
    dict.set_item("max", of.max)?;
    Ok(dict)
}

fn wildcard_label(namespaces: &WildcardNamespaces) -> String {
    match namespaces.label() {
        label if label.is_empty() => "##any".to_owned(),
        label => label,
    }
}

fn process(process: ProcessContents) -> &'static str {
    match process {
        ProcessContents::Strict => "strict",
        ProcessContents::Lax => "lax",
        ProcessContents::Skip => "skip",
    }
}

fn attributes(
    py: Python<'_>,
    schemas: &Schemas,
    of: &Attributes,
    list: &Bound<'_, PyList>,
    depth: usize,
) -> PyResult<()> {
    for it in of.uses.iter().filter(|it| !it.is_prohibited) {
        let dict = attribute(py, schemas, it.attribute)?;
        dict.set_item("required", it.is_required)?;
        if it.default.is_some() || it.fixed.is_some() {
            dict.set_item("default", it.default.as_deref())?;
            dict.set_item("fixed", it.fixed.as_deref())?;
        }
        list.append(dict)?;
    }
    for group in of.groups.iter().filter(|_| depth < MAX_DEPTH) {
        attributes(py, schemas, &schemas[*group].attributes, list, depth + 1)?;
    }
    Ok(())
}

/// Describes an attribute declaration.
pub(crate) fn attribute<'py>(py: Python<'py>, schemas: &Schemas, id: AttributeId) -> PyResult<Bound<'py, PyDict>> {
    let declared = &schemas[id];
    let dict = PyDict::new(py);
    dict.set_item("name", declared.name.to_string())?;
    dict.set_item("type", reference(py, schemas, declared.type_id)?)?;
    dict.set_item("required", false)?;
    dict.set_item("default", declared.default.as_deref())?;
    dict.set_item("fixed", declared.fixed.as_deref())?;
    Ok(dict)
}

fn has_wildcard(schemas: &Schemas, of: &Attributes, depth: usize) -> bool {
    let of_group =
        |group: &AttributeGroupId| depth < MAX_DEPTH && has_wildcard(schemas, &schemas[*group].attributes, depth + 1);
    of.any.is_some() || of.groups.iter().any(of_group)
}
