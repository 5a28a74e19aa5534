//! Checks schema attributes for values that XML Schema does not allow there, and for values that
//! exclude each other (XSD 1.0 part 1, appendix A).

use crate::Place;
use crate::document::{Node, ns};

/// Notes such attributes, and how they are read.
pub(super) fn check(node: Node<'_>, notes: &mut Vec<(String, Place)>) {
    let element = node.local();
    let mut say = |what: String| notes.push((what, node.place()));
    for attribute in KEYWORD_ATTRIBUTES {
        let Some((keywords, read)) = keywords(element, attribute) else { continue };
        let Some(text) = node.attribute(attribute).map(str::trim_ascii) else { continue };
        if !keywords.contains(&text) {
            let keywords = keywords.join(", ");
            say(format!("`{attribute}=\"{text}\"` of <{element}> is not one of {keywords}; it is read as {read}"));
        }
    }
    for attribute in ["block", "final", "blockDefault", "finalDefault"] {
        let (Some(keywords), Some(text)) = (derivations(element, attribute), node.attribute(attribute)) else {
            continue;
        };
        let is_all = text.trim_ascii() == "#all";
        for word in text.split_ascii_whitespace().filter(|word| !is_all && !keywords.contains(word)) {
            let keywords = keywords.join(", ");
            say(format!(
                "`{attribute}` of <{element}> has `{word}`, which is not one of #all, {keywords}; it is ignored"
            ));
        }
    }
    if matches!(element, "any" | "anyAttribute") {
        let text = node.attribute("namespace").unwrap_or_default().trim_ascii();
        let is_whole = matches!(text, "##any" | "##other");
        let is_good = |word: &str| !word.starts_with("##") || matches!(word, "##targetNamespace" | "##local");
        for word in text.split_ascii_whitespace().filter(|word| !is_whole && !is_good(word)) {
            say(format!("`{word}` in `namespace=\"{text}\"` of <{element}> has no meaning there"));
        }
    }
    check_pairs(node, notes);
    if matches!(element, "restriction") {
        check_facets(node, notes);
    }
}

/// The attributes whose value is one of a few keywords.
const KEYWORD_ATTRIBUTES: [&str; 9] = [
    "use",
    "form",
    "elementFormDefault",
    "attributeFormDefault",
    "processContents",
    "nillable",
    "abstract",
    "mixed",
    "fixed",
];

const BOOLEANS: &[&str] = &["true", "false", "1", "0"];
const FORMS: &[&str] = &["qualified", "unqualified"];

/// Returns the keywords that an attribute allows, and how other values are read.
fn keywords(element: &str, attribute: &str) -> Option<(&'static [&'static str], &'static str)> {
    Some(match (attribute, element) {
        ("use", "attribute") => (&["optional", "prohibited", "required"], "optional"),
        ("form", "element" | "attribute") => (FORMS, "unqualified"),
        ("elementFormDefault" | "attributeFormDefault", "schema") => (FORMS, "unqualified"),
        ("processContents", "any" | "anyAttribute") => (&["lax", "skip", "strict"], "strict"),
        ("nillable", "element") | ("abstract", "element" | "complexType") => (BOOLEANS, "false"),
        ("mixed", "complexType" | "complexContent") => (BOOLEANS, "false"),
        ("fixed", element) if FACETS.contains(&element) => (BOOLEANS, "false"),
        _ => return None,
    })
}

/// Returns the keywords of an attribute that may have several.
fn derivations(element: &str, attribute: &str) -> Option<&'static [&'static str]> {
    Some(match (attribute, element) {
        ("block", "element") | ("blockDefault", "schema") => &["extension", "restriction", "substitution"],
        ("final", "element") | ("block" | "final", "complexType") => &["extension", "restriction"],
        ("final", "simpleType") => &["list", "restriction", "union"],
        ("finalDefault", "schema") => &["extension", "list", "restriction", "union"],
        _ => return None,
    })
}

/// Notes attributes that exclude each other: a reference cannot declare anything, and a value is
/// either a default or fixed.
fn check_pairs(node: Node<'_>, notes: &mut Vec<(String, Place)>) {
    let element = node.local();
    let own: &[&str] = match element {
        "element" => &["name", "type", "nillable", "default", "fixed", "form", "block"],
        "attribute" => &["name", "type", "form"],
        "group" | "attributeGroup" => &["name"],
        _ => return,
    };
    let has = |attribute: &&&str| node.attribute_in("", attribute).is_some();
    if node.attribute("ref").is_some() {
        for attribute in own.iter().filter(has) {
            notes.push((format!("`ref` of <{element}> counts; its `{attribute}` is ignored"), node.place()));
        }
    }
    if has(&&"default") && has(&&"fixed") {
        notes.push((format!("<{element}> has both `default` and `fixed`, which exclude each other"), node.place()));
    }
    let use_ = node.attribute("use").map(str::trim_ascii).filter(|it| matches!(*it, "required" | "prohibited"));
    if let Some(use_) = use_.filter(|_| element == "attribute" && has(&&"default")) {
        let text = format!("an attribute with `use=\"{use_}\"` has a `default`, which never applies");
        notes.push((text, node.place()));
    }
}

/// The facets that may occur once in a restriction.
pub(super) const FACETS: [&str; 12] = [
    "length",
    "minLength",
    "maxLength",
    "whiteSpace",
    "totalDigits",
    "fractionDigits",
    "minInclusive",
    "maxInclusive",
    "minExclusive",
    "maxExclusive",
    "precision",
    "scale",
];

fn check_facets(node: Node<'_>, notes: &mut Vec<(String, Place)>) {
    let facets = || node.children().filter(|it| it.namespace() == ns::XSD && FACETS.contains(&it.local()));
    for local in FACETS {
        for again in facets().filter(|it| it.local() == local).skip(1) {
            notes.push((format!("the facet {local} occurs twice; the last counts"), again.place()));
        }
    }
    for (inclusive, exclusive) in [("minInclusive", "minExclusive"), ("maxInclusive", "maxExclusive")] {
        let has = |local| facets().find(|it| it.local() == local);
        if let (Some(_), Some(other)) = (has(inclusive), has(exclusive)) {
            notes.push((format!("{inclusive} and {exclusive} exclude each other; both are applied"), other.place()));
        }
    }
}
