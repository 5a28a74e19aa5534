//! Notes what XML Schema does not allow at its position and what is skipped: unknown or misplaced
//! elements and attributes, and duplicates. Most often these are slips, and their content is lost.

use super::elements::is_model;
use super::keywords::{self, FACETS};
use crate::NoteKind;
use crate::document::{Node, ns};
use crate::load::Sources;
use std::collections::HashSet;
use std::iter;

/// Maximum number of notes per import.
const MAX_NOTES: usize = 100;

/// Adds the notes, each with its place. Attributes and elements of other namespaces are allowed in
/// a schema.
pub(super) fn note(sources: &mut Sources) {
    let mut seen = HashSet::new();
    let units = sources.units.iter().filter(|unit| seen.insert((unit.document, unit.element)));
    let (mut notes, mut invalid) = (Vec::new(), Vec::new());
    for unit in units {
        let mut ahead = vec![(sources.node(unit.document, unit.element), "")];
        while let Some((node, parent)) = ahead.pop().filter(|_| notes.len() < MAX_NOTES) {
            check(node, sources, &mut notes);
            check_positions(node, parent, &mut notes);
            if invalid.len() < MAX_NOTES {
                keywords::check(node, &mut invalid);
            }
            ahead.extend(known_children(node).map(|child| (child, node.local())));
        }
    }
    for (kind, mut notes) in [(NoteKind::Tolerated, notes), (NoteKind::Invalid, invalid)] {
        notes.truncate(MAX_NOTES);
        notes.into_iter().for_each(|(text, place)| sources.note(kind, text, place));
    }
}

/// Checks the attributes and children of a known element.
fn check(node: Node<'_>, sources: &Sources, notes: &mut Vec<(String, crate::Place)>) {
    let Some(attributes) = known(node.local()) else { return };
    for (name, _) in node.attributes() {
        let (namespace, local) = (sources.names.namespace(name), sources.names.local(name));
        let is_known = local == "id" || attributes.split(' ').any(|it| it == local);
        if matches!(namespace, ns::XSD) || namespace.is_empty() && !is_known {
            notes.push((format!("<{}> has no attribute `{local}`; it is ignored", node.local()), node.place()));
        }
    }
    for child in node.children().filter(|child| is_of_schemas(*child) || child.namespace().is_empty()) {
        if !is_of_schemas(child) {
            let text = format!("<{}>, in no namespace, is not part of XML Schema; it is ignored", child.local());
            notes.push((text, child.place()));
        } else if known(child.local()).is_none() {
            notes.push((format!("XML Schema 1.0 has no <{}>; it is ignored", child.local()), child.place()));
        }
    }
    match node.local() {
        "complexType" | "complexContent" | "simpleContent" | "restriction" | "extension" => check_models(node, notes),
        "element" | "attribute" => check_types(node, notes),
        _ => {}
    }
    if matches!(node.local(), "complexType" | "restriction" | "extension" | "attributeGroup") {
        check_attributes(node, notes);
    }
}

/// Notes children of an element, itself in `parent`, that are skipped because of their position.
/// Children that are read in spite of their position have other notes.
fn check_positions(node: Node<'_>, parent: &str, notes: &mut Vec<(String, crate::Place)>) {
    let is_derivation = matches!(node.local(), "restriction" | "extension");
    let is_derived = known_children(node).any(|child| CONTENTS.contains(&child.local()));
    for child in known_children(node).filter(|child| !ANNOTATIONS.contains(&child.local())) {
        if !may_hold(node.local(), parent, child.local(), is_derived) {
            let of = if is_derivation { format!(" of <{parent}>") } else { String::new() };
            let text = format!("<{}> is not allowed in <{}>{of}; it is ignored", child.local(), node.local());
            notes.push((text, child.place()));
        }
    }
}

/// Returns true if a child of an element, itself in `parent`, is read. Attributes beside a type's
/// derivation are not.
fn may_hold(element: &str, parent: &str, child: &str, is_derived: bool) -> bool {
    let is_model = matches!(child, "sequence" | "choice" | "all" | "group");
    let is_attribute = matches!(child, "attribute" | "attributeGroup" | "anyAttribute");
    let is_definition = matches!(child, "simpleType" | "complexType" | "group" | "attributeGroup");
    let of_simple = child == "simpleType" || matches!(child, "pattern" | "enumeration") || FACETS.contains(&child);
    match (parent, element) {
        (_, "schema") => {
            is_definition || matches!(child, "element" | "attribute" | "import" | "include" | "redefine" | "notation")
        }
        (_, "redefine") => is_definition,
        (_, "element") => matches!(child, "simpleType" | "complexType" | "unique" | "key" | "keyref"),
        (_, "attribute" | "list" | "union") => child == "simpleType",
        (_, "simpleType") => matches!(child, "restriction" | "extension" | "list" | "union"),
        (_, "complexType" | "complexContent" | "simpleContent") => {
            is_model || is_attribute && !is_derived || CONTENTS.contains(&child)
        }
        ("simpleType", "restriction") => of_simple,
        ("simpleContent", "restriction") | ("simpleType", "extension") => of_simple || is_attribute,
        ("simpleContent", "extension") => is_attribute,
        (_, "restriction" | "extension") => is_model || is_attribute,
        (_, "sequence" | "choice" | "all") => is_model || matches!(child, "element" | "any"),
        (_, "group") => is_model,
        (_, "attributeGroup") => is_attribute,
        (_, "unique" | "key" | "keyref") => matches!(child, "selector" | "field"),
        _ => false,
    }
}

/// The elements in a complex type that derive it.
const CONTENTS: [&str; 4] = ["simpleContent", "complexContent", "restriction", "extension"];

/// Elements that only inform readers. They may be anywhere.
const ANNOTATIONS: [&str; 3] = ["annotation", "documentation", "appinfo"];

/// Notes extra content models: a type has one. That of a derivation counts, otherwise the first.
fn check_models(node: Node<'_>, notes: &mut Vec<(String, crate::Place)>) {
    let children = || node.children().filter(|child| is_of_schemas(*child));
    let contents = children().filter(|it| matches!(it.local(), "simpleContent" | "complexContent"));
    let derivations = children().filter(|it| matches!(it.local(), "restriction" | "extension"));
    let models = children().filter(|it| is_model(*it));
    for lost in contents.chain(derivations).chain(models).skip(1) {
        let text = format!("<{}> has another content model, which counts; <{}> is ignored", node.local(), lost.local());
        notes.push((text, lost.place()));
    }
}

/// Notes extra types: an element or attribute has one. The type of a referenced declaration counts,
/// then a named type, then a simple type.
fn check_types(node: Node<'_>, notes: &mut Vec<(String, crate::Place)>) {
    let named = ["ref", "type"].into_iter().find(|name| node.attribute(name).is_some());
    let inline = |local| node.children().filter(move |it| is_of_schemas(*it) && it.local() == local);
    let of_elements = iter::once(node).filter(|it| it.local() == "element").flat_map(|_| inline("complexType"));
    for lost in inline("simpleType").chain(of_elements).skip(usize::from(named.is_none())) {
        let counts = named.map_or("another type".to_owned(), |name| format!("`{name}`"));
        let text = format!("{counts} of <{}> counts; the <{}> in it is ignored", node.local(), lost.local());
        notes.push((text, lost.place()));
    }
}

/// Notes duplicate attributes. The first counts.
fn check_attributes(node: Node<'_>, notes: &mut Vec<(String, crate::Place)>) {
    let mut seen = HashSet::new();
    for child in node.children().filter(|it| is_of_schemas(*it) && it.local() == "attribute") {
        let (name, reference) = (child.attribute("name"), child.attribute("ref"));
        let Some(shown) = reference.or(name) else { continue };
        // `form` decides on the namespace.
        let form = child.attribute("form").filter(|_| reference.is_none());
        if !seen.insert((shown, reference.is_some(), form)) {
            let text = format!("attribute `{shown}` occurs twice in <{}>; the first counts", node.local());
            notes.push((text, child.place()));
        }
    }
}

fn known_children<'s>(node: Node<'s>) -> impl Iterator<Item = Node<'s>> {
    node.children().filter(|child| is_of_schemas(*child) && known(child.local()).is_some())
}

fn is_of_schemas(node: Node<'_>) -> bool {
    node.namespace() == ns::XSD
}

/// Returns the attributes of an element of XML Schema, without `id` (XSD 1.0 part 1, appendix A);
/// `None` for an unknown element. Supported names from the drafts are included.
fn known(local: &str) -> Option<&'static str> {
    Some(match local {
        "schema" => "attributeFormDefault blockDefault elementFormDefault finalDefault targetNamespace version",
        "element" => {
            "abstract block default final fixed form maxOccurs minOccurs name nillable ref substitutionGroup type"
        }
        "attribute" => "default fixed form name ref type use",
        "complexType" => "abstract block final mixed name",
        "simpleType" => "final name",
        "complexContent" => "mixed",
        "simpleContent" | "annotation" => "",
        "extension" | "restriction" => "base",
        "sequence" | "choice" | "all" => "maxOccurs minOccurs",
        "group" => "maxOccurs minOccurs name ref",
        "attributeGroup" => "name ref",
        "any" => "maxOccurs minOccurs namespace processContents",
        "anyAttribute" => "namespace processContents",
        "list" => "itemType",
        "union" => "memberTypes",
        "documentation" | "appinfo" => "source",
        "import" => "namespace schemaLocation",
        // `location` is read too, with its own note.
        "include" | "redefine" => "schemaLocation location",
        "notation" => "name public system",
        "unique" | "key" => "name",
        "keyref" => "name refer",
        "selector" | "field" => "xpath",
        "pattern" | "enumeration" => "value",
        "length" | "minLength" | "maxLength" | "whiteSpace" | "totalDigits" | "fractionDigits" => "fixed value",
        "minInclusive" | "maxInclusive" | "minExclusive" | "maxExclusive" | "precision" | "scale" => "fixed value",
        _ => return None,
    })
}
