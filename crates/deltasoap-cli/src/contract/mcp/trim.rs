//! Answers of a size that fits a model's context: the parts that it selects, and long lists and
//! texts cut.

use serde_json::{Map, Value as Json};
use std::fmt::Write as _;

/// A path to parts of an answer: names of properties, of which `*` is any. Lists need no step:
/// `item/name` is the name of every item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(Vec<String>);

impl Path {
    /// Parses a path, such as `result/item/name`.
    pub fn parse(text: &str) -> Self {
        Path(text.split('/').filter(|step| !step.is_empty()).map(str::to_owned).collect())
    }
}

/// Returns the parts of a value that some paths lead to, in the structure around them; everything if
/// there is no path.
pub fn selected(value: Json, paths: &[Path]) -> Json {
    let steps: Vec<&[String]> = paths.iter().map(|path| path.0.as_slice()).collect();
    if steps.is_empty() { value } else { kept(value, &steps).unwrap_or(Json::Object(Map::new())) }
}

fn kept(value: Json, paths: &[&[String]]) -> Option<Json> {
    if paths.iter().any(|path| path.is_empty()) {
        return Some(value);
    }
    match value {
        Json::Array(items) => {
            let items: Vec<_> = items.into_iter().filter_map(|item| kept(item, paths)).collect();
            (!items.is_empty()).then_some(Json::Array(items))
        }
        Json::Object(properties) => {
            let mut found = Map::new();
            for (name, value) in properties {
                let is_step = |path: &&&[String]| path[0] == name || path[0] == "*";
                let rest: Vec<&[String]> = paths.iter().filter(is_step).map(|path| &path[1..]).collect();
                if let Some(value) = (!rest.is_empty()).then(|| kept(value, &rest)).flatten() {
                    found.insert(name, value);
                }
            }
            (!found.is_empty()).then_some(Json::Object(found))
        }
        _ => None,
    }
}

/// Returns a value as JSON of at most `limit` bytes, with notes on what was cut.
///
/// # Errors
/// If it is too large even with lists of one item and short texts: a text that says how to select
/// parts.
pub fn fitted(value: &Json, limit: usize) -> Result<String, String> {
    let whole = value.to_string();
    if whole.len() <= limit {
        return Ok(whole);
    }
    for (items, characters) in [(100, 4000), (50, 2000), (20, 1000), (10, 500), (5, 200), (2, 100), (1, 50)] {
        let mut cuts = Cuts { items, characters, notes: Vec::new() };
        let text = cuts.applied(value, &mut String::new()).to_string();
        if text.len() + cuts.notes.iter().map(String::len).sum::<usize>() <= limit {
            return Ok(cuts.noted(&text));
        }
    }
    Err(format!(
        "the answer has {} bytes, too many even if it is cut; `select` parts of it: {}",
        whole.len(),
        names(value)
    ))
}

/// Number of names that an error lists.
const MAX_NAMES: usize = 30;
/// Number of cuts that are named.
const MAX_NOTES: usize = 10;

/// How a value is cut.
struct Cuts {
    /// Items of a list that remain.
    items: usize,
    /// Characters of a text that remain.
    characters: usize,
    notes: Vec<String>,
}

impl Cuts {
    fn applied(&mut self, value: &Json, path: &mut String) -> Json {
        match value {
            Json::Array(items) => {
                if items.len() > self.items {
                    self.note(format!("{} has {} items, of which {} are here", shown(path), items.len(), self.items));
                }
                Json::Array(items.iter().take(self.items).map(|item| self.applied(item, path)).collect())
            }
            Json::Object(properties) => {
                let length = path.len();
                let mut cut = Map::new();
                for (name, value) in properties {
                    let separator = if length == 0 { "" } else { "/" };
                    let _ = write!(path, "{separator}{name}");
                    cut.insert(name.clone(), self.applied(value, path));
                    path.truncate(length);
                }
                Json::Object(cut)
            }
            Json::String(text) => match text.char_indices().nth(self.characters) {
                Some((end, _)) => {
                    self.note(format!("{} has {} characters", shown(path), text.chars().count()));
                    Json::String(format!("{}…", &text[..end]))
                }
                None => value.clone(),
            },
            other => other.clone(),
        }
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn noted(&self, text: &str) -> String {
        format!("{text}\n\nCut to fit: {}. `select` paths to see other parts.", self.notes.join("; "))
    }
}

fn shown(path: &str) -> &str {
    if path.is_empty() { "the answer" } else { path }
}

/// Returns the paths of the first two levels.
fn names(value: &Json) -> String {
    let mut found = Vec::new();
    for (name, inner) in properties(value) {
        found.push(name.clone());
        found.extend(properties(inner).map(|(second, _)| format!("{name}/{second}")));
    }
    found.truncate(MAX_NAMES);
    found.join(", ")
}

/// Returns the properties of an object, or of the first one in a list.
fn properties(value: &Json) -> impl Iterator<Item = (&String, &Json)> {
    let object = match value {
        Json::Object(object) => Some(object),
        Json::Array(items) => items.first().and_then(Json::as_object),
        _ => None,
    };
    object.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn select(value: Json, paths: &[&str]) -> Json {
        selected(value, &paths.iter().map(|path| Path::parse(path)).collect::<Vec<_>>())
    }

    #[test]
    fn paths_lead_through_lists() {
        let answer = json!({ "item": [{ "name": "a", "price": 1 }, { "name": "b" }, { "price": 3 }], "total": 4 });
        assert_eq!(select(answer.clone(), &["item/name"]), json!({ "item": [{ "name": "a" }, { "name": "b" }] }));
        assert_eq!(select(answer.clone(), &["total", "/item/price/"])["item"], json!([{ "price": 1 }, { "price": 3 }]));
        assert_eq!(select(answer.clone(), &["*/name"]), json!({ "item": [{ "name": "a" }, { "name": "b" }] }));
        assert_eq!(select(answer.clone(), &["nothing"]), json!({}));
        assert_eq!(select(answer.clone(), &[]), answer);
        assert_eq!(select(answer.clone(), &["item/name", "item"])["item"], answer["item"]);
    }

    #[test]
    fn long_lists_and_texts_are_cut_and_named() {
        let answer = json!({ "item": (0..1000).collect::<Vec<_>>(), "note": "ä".repeat(3000) });
        let text = fitted(&answer, 2000).unwrap();
        assert!(text.len() <= 2000 + 200, "{}", text.len());
        assert!(text.contains("item has 1000 items, of which 10 are here; note has 3000 characters"), "{text}");
        assert!(text.starts_with(r#"{"item":[0,1,2,"#), "{text}");
        assert_eq!(fitted(&json!([1]), 2000).unwrap(), "[1]");
    }

    #[test]
    fn what_cannot_be_cut_is_an_error_with_names() {
        let wide: Map<String, Json> = (0..500).map(|n| (format!("name{n}"), json!({ "x": n }))).collect();
        let error = fitted(&Json::Object(wide), 1000).unwrap_err();
        assert!(error.contains("`select` parts of it: name0, name0/x, name1,"), "{error}");
        assert!(error.len() < 1000);
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![Just(Json::Null), any::<i64>().prop_map(Json::from), ".{0,300}".prop_map(Json::from)];
        leaf.prop_recursive(4, 200, 40, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..40).prop_map(Json::Array),
                prop::collection::hash_map("[a-c/*]{0,2}", inner, 0..4)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_answer_is_longer_than_the_limit(value in any_json(), limit in 100_usize..3000) {
            let length = fitted(&value, limit).map_or_else(|error| error.len().min(limit), |text| text.len());
            // Notes come on top.
            prop_assert!(length <= limit + 100);
        }

        #[test]
        fn to_select_everything_changes_nothing(value in any_json()) {
            prop_assert_eq!(selected(value.clone(), &[Path::parse("")]), value);
        }
    }
}
