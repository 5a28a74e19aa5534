//! Elements and attributes in schemas that XML Schema does not have: most often slips, and what they were to say is lost.

use crate::NoteKind;
use crate::document::{Node, ns};
use crate::load::Sources;
use std::collections::HashSet;

/// Most notes of one import.
const MOST: usize = 100;

/// Notes them, each with its place. Attributes and elements of other namespaces may stand in a schema.
pub(super) fn note(sources: &mut Sources) {
    let mut seen = HashSet::new();
    let units = sources.units.iter().filter(|unit| seen.insert((unit.document, unit.element)));
    let mut notes = Vec::new();
    for unit in units {
        let mut ahead = vec![sources.node(unit.document, unit.element)];
        while let Some(node) = ahead.pop().filter(|_| notes.len() < MOST) {
            look_at(node, sources, &mut notes);
            ahead.extend(node.children().filter(|child| is_of_schemas(*child) && known(child.local()).is_some()));
        }
    }
    notes.truncate(MOST);
    notes.into_iter().for_each(|(text, place)| sources.note(NoteKind::Tolerated, text, place));
}

/// Looks at an element that is known: its attributes and its children.
fn look_at(node: Node<'_>, sources: &Sources, notes: &mut Vec<(String, crate::Place)>) {
    let Some(attributes) = known(node.local()) else { return };
    for (name, _) in node.attributes() {
        let (namespace, local) = (sources.names.namespace(name), sources.names.local(name));
        let is_known = local == "id" || attributes.split(' ').any(|it| it == local);
        if matches!(namespace, ns::XSD) || namespace.is_empty() && !is_known {
            notes.push((format!("<{}> has no attribute `{local}`; it is passed over", node.local()), node.place()));
        }
    }
    for child in node.children().filter(|child| is_of_schemas(*child) || child.namespace().is_empty()) {
        if !is_of_schemas(child) {
            let text = format!("<{}>, in no namespace, is not of XML Schema; it is passed over", child.local());
            notes.push((text, child.place()));
        } else if known(child.local()).is_none() {
            notes.push((format!("XML Schema 1.0 has no <{}>; it is passed over", child.local()), child.place()));
        }
    }
}

fn is_of_schemas(node: Node<'_>) -> bool {
    node.namespace() == ns::XSD
}

/// The attributes of an element of XML Schema beside `id` (XSD 1.0 part 1, appendix A); `None` for one that there is not. Those of drafts
/// that are read are known too.
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
        // A `location` is read too, and has its own note.
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
