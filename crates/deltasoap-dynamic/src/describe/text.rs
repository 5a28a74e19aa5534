//! Parts as text: one line each, in columns, with documentation above as a comment.

use super::Component;

/// Maximum width of the names that others are aligned with, in columns.
const WIDE: usize = 40;

/// Returns the part as lines of text.
pub(super) fn print(part: &Component) -> String {
    let mut out = String::new();
    heading(part, &mut out);
    let width = part.parts.iter().map(|it| width(it, 1)).max().unwrap_or_default().min(WIDE);
    part.parts.iter().for_each(|it| line(it, 1, width, &mut out));
    out
}

fn heading(part: &Component, out: &mut String) {
    comment(&part.documentation, 0, out);
    let mut heading = vec![part.kind.to_owned(), part.name.clone()];
    if !part.namespace.is_empty() {
        heading.push(format!("{{{}}}", part.namespace));
    }
    if !part.type_name.is_empty() {
        heading.push(format!(": {}", part.type_name));
    }
    *out += &heading.join(" ").replace('\n', " ");
    if !part.facts.is_empty() {
        *out += &format!("  ({})", part.facts.join("; ")).replace('\n', " ");
    }
    out.push('\n');
}

fn comment(text: &str, level: usize, out: &mut String) {
    if !text.is_empty() {
        *out += &format!("{}# {text}\n", indent(level));
    }
}

fn indent(level: usize) -> String {
    "  ".repeat(level)
}

/// Returns the content of the first column.
fn label(part: &Component) -> String {
    match part.kind {
        "element" | "attribute" | "parameter" if !part.name.is_empty() => part.name.clone(),
        "choice" => "one of".to_owned(),
        "all" => "in any order".to_owned(),
        "any" => "any element".to_owned(),
        "attribute" => "@*".to_owned(),
        "text" => "(text)".to_owned(),
        "items" => "(items)".to_owned(),
        kind if part.name.is_empty() => kind.to_owned(),
        kind => format!("{kind} {}", part.name),
    }
}

fn width(part: &Component, level: usize) -> usize {
    let own = indent(level).len() + label(part).chars().count();
    part.parts.iter().map(|it| width(it, level + 1)).max().unwrap_or_default().max(own)
}

fn line(part: &Component, level: usize, wide: usize, out: &mut String) {
    comment(&part.documentation, level, out);
    let label = format!("{}{}", indent(level), label(part));
    let columns = [part.type_name.clone(), occurrence(part), facts(part)];
    let rest: Vec<_> = columns.into_iter().filter(|it| !it.is_empty()).collect();
    // Names and facts come from the WSDL: none of them may begin a line.
    let line = format!("{label:wide$}  {}", rest.join("  ")).replace('\n', " ");
    *out += line.trim_end();
    out.push('\n');
    part.parts.iter().for_each(|it| self::line(it, level + 1, wide, out));
}

/// Returns the occurrence as `[0..1]`; empty for exactly once.
fn occurrence(part: &Component) -> String {
    match part.occurs {
        None | Some((1, Some(1))) => String::new(),
        Some((min, None)) => format!("[{min}..*]"),
        Some((min, Some(max))) => format!("[{min}..{max}]"),
    }
}

fn facts(part: &Component) -> String {
    if part.facts.is_empty() { String::new() } else { format!("({})", part.facts.join("; ")) }
}
