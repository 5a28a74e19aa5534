//! Parameters of paths and queries: which property of the request each one is.
//!
//! A parameter's text becomes a string in the request's JSON, which is read for any simple type. So
//! a parameter needs only a place, and to know whether several of it form a list; both follow from
//! the JSON schema of the request.

use crate::problem::Problem;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, HashSet};

/// Maximum number of references that are followed from one place of a schema.
const MAX_DEPTH: usize = 16;
/// Maximum number of parameters that a query may have.
const MAX_PARAMETERS: usize = 1000;

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) is_in_path: bool,
    /// The properties that lead to it, separated by `/`.
    target: String,
    is_list: bool,
    is_required: bool,
    schema: Json,
}

/// The schema of a request, with the definitions that it refers to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestSchema<'s> {
    pub(crate) schema: &'s Json,
    pub(crate) definitions: &'s Map<String, Json>,
}

/// Splits the path of a route into the template of the path, and the names of the parameters of its
/// query, if it lists them.
pub(crate) fn split(path: &str) -> (&str, Option<Vec<&str>>) {
    match path.split_once('?') {
        Some((path, query)) => (path, Some(query.split('&').filter(|name| !name.is_empty()).collect())),
        None => (path, None),
    }
}

/// Returns the parameters of a route.
///
/// # Errors
/// If a parameter has no place in the request, or its place has no simple value.
pub(crate) fn of_route(
    path: &str,
    has_body: bool,
    places: &BTreeMap<String, String>,
    request: RequestSchema<'_>,
) -> Result<Vec<Parameter>, String> {
    let (template, query) = split(path);
    let mut all = Vec::new();
    let in_path: Vec<_> = placeholders(template).collect();
    for name in &in_path {
        all.push(parameter(name, true, places, request)?);
    }
    match query {
        Some(names) => {
            for name in names {
                all.push(parameter(name, false, places, request)?);
            }
        }
        None if has_body => {}
        None => {
            let taken: HashSet<String> = all.iter().map(|it| it.target.clone()).collect();
            all.extend(request.simple_properties().into_iter().filter(|it| !taken.contains(&it.target)));
            let beyond = places.keys().filter(|name| !in_path.contains(&name.as_str()));
            for name in beyond {
                let own = parameter(name, false, places, request)?;
                all.retain(|it| it.is_in_path || it.name != own.name && it.target != own.target);
                all.push(own);
            }
        }
    }
    let mut names = HashSet::new();
    match all.iter().find(|it| !names.insert(&it.name)) {
        Some(twice) => Err(format!("the parameter {} is there twice", twice.name)),
        None => match places.keys().find(|name| all.iter().all(|it| it.name != **name)) {
            Some(unused) => Err(format!("the path has no parameter {unused}")),
            None => Ok(all),
        },
    }
}

fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}

fn parameter(
    name: &str,
    is_in_path: bool,
    places: &BTreeMap<String, String>,
    request: RequestSchema<'_>,
) -> Result<Parameter, String> {
    let target = places.get(name).map_or(name, String::as_str);
    let Some((schema, is_required)) = request.at(target) else {
        return Err(format!("the parameter {name} has no place: the request has no property {target}"));
    };
    let made = request.parameter(name, target, schema, is_required);
    let mut made =
        made.ok_or_else(|| format!("the parameter {name} cannot be {target}, which is not a simple value"))?;
    if is_in_path && made.is_list {
        return Err(format!("the parameter {name} of the path cannot be {target}, which is a list"));
    }
    (made.is_in_path, made.is_required) = (is_in_path, is_in_path || made.is_required);
    Ok(made)
}

impl<'s> RequestSchema<'s> {
    /// Returns the schema of a property at a path, and whether it is always there.
    pub(crate) fn at(&self, target: &str) -> Option<(&'s Json, bool)> {
        let mut place = (self.schema, true);
        for step in target.split('/') {
            let (schema, is_required) = match step.parse::<usize>() {
                Ok(_) => (self.found(place.0, &|schema| schema.get("items"), MAX_DEPTH)?, false),
                Err(_) => {
                    let property = |schema: &'s Json| schema.get("properties")?.get(step);
                    (self.found(place.0, &property, MAX_DEPTH)?, self.is_required(place.0, step))
                }
            };
            place = (schema, place.1 && is_required);
        }
        Some(place)
    }

    /// Follows references and alternatives until something is found.
    fn found(&self, schema: &'s Json, find: &dyn Fn(&'s Json) -> Option<&'s Json>, depth: usize) -> Option<&'s Json> {
        let depth = depth.checked_sub(1)?;
        if let Some(found) = find(schema) {
            return Some(found);
        }
        self.within(schema).find_map(|inner| self.found(inner, find, depth))
    }

    /// Returns what a schema refers to, and its parts.
    fn within(&self, schema: &'s Json) -> impl Iterator<Item = &'s Json> + use<'s> {
        let name = schema.get("$ref").and_then(Json::as_str).and_then(|reference| reference.rsplit('/').next());
        let referred = name.and_then(|name| self.definitions.get(name));
        let parts = ["allOf", "anyOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
        referred.into_iter().chain(parts)
    }

    fn is_required(&self, schema: &'s Json, property: &str) -> bool {
        let required = self.found(schema, &|schema| schema.get("required"), MAX_DEPTH);
        required.and_then(Json::as_array).is_some_and(|all| all.iter().any(|it| it == property))
    }

    /// Returns true for a schema whose values are strings, numbers and booleans, or nil.
    fn is_simple(&self, schema: &'s Json, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let is_simple = |kind: &Json| !matches!(kind.as_str(), Some("object" | "array"));
        match schema.get("type") {
            Some(Json::Array(kinds)) => kinds.iter().all(is_simple),
            Some(kind) => is_simple(kind),
            // Nil and parts are objects beside the value.
            None => self.within(schema).next().is_some_and(|first| self.is_simple(first, depth)),
        }
    }

    /// Returns the schema of the items of a list; `None` for other values.
    fn items(&self, schema: &'s Json) -> Option<&'s Json> {
        let is_list = |schema: &&Json| schema.get("type").is_some_and(|kind| kind == "array");
        self.found(schema, &|schema| Some(schema).filter(is_list)?.get("items"), MAX_DEPTH)
    }

    fn parameter(&self, name: &str, target: &str, schema: &'s Json, is_required: bool) -> Option<Parameter> {
        let item = if self.is_simple(schema, MAX_DEPTH) { None } else { Some(self.items(schema)?) };
        if item.is_some_and(|item| !self.is_simple(item, MAX_DEPTH)) {
            return None;
        }
        let (name, target) = (name.to_owned(), target.to_owned());
        Some(Parameter {
            name,
            is_in_path: false,
            target,
            is_list: item.is_some(),
            is_required,
            schema: schema.clone(),
        })
    }

    /// Returns a parameter for each property with a simple value, or a list of such.
    fn simple_properties(&self) -> Vec<Parameter> {
        let properties = self.found(self.schema, &|schema| schema.get("properties"), MAX_DEPTH);
        let all = properties.and_then(Json::as_object).into_iter().flatten();
        let is_own = |name: &&String| !name.starts_with('$') && !name.contains('/');
        let all = all.filter(|(name, _)| is_own(name));
        all.filter_map(|(name, schema)| {
            let short = name.strip_prefix('@').unwrap_or(name);
            self.parameter(short, name, schema, self.is_required(self.schema, name))
        })
        .collect()
    }
}

impl Parameter {
    /// Returns the path of its property.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Describes the parameter in OpenAPI.
    pub(crate) fn describe(&self) -> Json {
        let place = if self.is_in_path { "path" } else { "query" };
        let mut parameter =
            json!({ "name": self.name, "in": place, "required": self.is_required, "schema": self.schema });
        if let Some(text) = self.schema.get("description") {
            parameter["description"] = text.clone();
        }
        parameter
    }
}

/// Returns the values of a request's parameters, by the paths of their properties.
///
/// # Errors
/// If there is a parameter that the route does not have, or several of one that is no list.
pub(crate) fn values<'p>(
    parameters: &'p [Parameter],
    in_path: impl Iterator<Item = (String, String)>,
    query: Option<&str>,
) -> Result<Vec<(&'p str, Json)>, Problem> {
    let mut values: Vec<(&Parameter, Json)> = Vec::new();
    let query = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let query = query.map(|(name, value)| (name.into_owned(), value.into_owned()));
    let all = in_path.map(|pair| (true, pair)).chain(query.map(|pair| (false, pair)));
    for (index, (is_in_path, (name, text))) in all.enumerate() {
        if index >= MAX_PARAMETERS {
            return Err(Problem::malformed(format!("there are more than {MAX_PARAMETERS} parameters")));
        }
        let known = parameters.iter().find(|it| it.name == name && it.is_in_path == is_in_path);
        let Some(known) = known else { return Err(unknown(&name, parameters)) };
        match values.iter_mut().find(|(other, _)| other.name == known.name) {
            Some((_, Json::Array(items))) if known.is_list => items.push(Json::String(text)),
            Some(_) => return Err(Problem::parameter(&name, format!("the parameter {name:?} is there twice"))),
            None if known.is_list => values.push((known, Json::Array(vec![Json::String(text)]))),
            None => values.push((known, Json::String(text))),
        }
    }
    Ok(values.into_iter().map(|(parameter, value)| (&*parameter.target, value)).collect())
}

fn unknown(name: &str, parameters: &[Parameter]) -> Problem {
    let known: Vec<_> = parameters.iter().filter(|it| !it.is_in_path).map(|it| &*it.name).collect();
    let known = if known.is_empty() { "none are".to_owned() } else { format!("known: {}", known.join(", ")) };
    Problem::parameter(name, format!("the parameter {name:?} is not known; {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definitions() -> Map<String, Json> {
        let definitions = json!({
            "Find": {
                "type": "object",
                "properties": {
                    "status": { "type": "string" },
                    "tag": { "type": "array", "items": { "$ref": "#/Tag" } },
                    "page": { "$ref": "#/Page" },
                    "@limit": { "type": ["integer", "string"] }
                },
                "required": ["status", "page"]
            },
            "Tag": { "type": "string" },
            "Page": { "anyOf": [{ "type": "object", "properties": { "from": { "type": "integer" } } }, { "type": "null" }] }
        });
        definitions.as_object().expect("an object").clone()
    }

    fn made(path: &str, places: &[(&str, &str)]) -> Result<Vec<Parameter>, String> {
        let (definitions, schema) = (definitions(), json!({ "$ref": "#/Find" }));
        let places = places.iter().map(|(name, place)| ((*name).to_owned(), (*place).to_owned())).collect();
        of_route(path, false, &places, RequestSchema { schema: &schema, definitions: &definitions })
    }

    #[test]
    fn simple_properties_are_parameters() {
        let all = made("/find/{from}", &[("from", "page/from")]).expect("parameters");
        let shown: Vec<_> = all.iter().map(|it| (&*it.name, it.is_in_path, it.is_list, it.is_required)).collect();
        assert_eq!(
            shown,
            [
                ("from", true, false, true),
                ("status", false, false, true),
                ("tag", false, true, false),
                ("limit", false, false, false)
            ]
        );
        let listed = made("/find?tag", &[]).expect("parameters");
        assert_eq!(listed.len(), 1);
    }

    #[test]
    fn parameters_without_a_place_are_errors() {
        for (path, places, expected) in [
            ("/find/{id}", &[][..], "no property id"),
            ("/find?page", &[], "not a simple value"),
            ("/find/{tag}", &[], "which is a list"),
            ("/find?status&status", &[], "twice"),
            ("/find?status", &[("other", "page/from")], "no parameter other"),
        ] {
            let error = made(path, places).expect_err(path);
            assert!(error.contains(expected), "{path}: {error}");
        }
    }

    #[test]
    fn values_are_strings_at_their_places() {
        let all = made("/find/{from}", &[("from", "page/from")]).expect("parameters");
        let path = || std::iter::once(("from".to_owned(), "3".to_owned()));
        let found = values(&all, path(), Some("tag=a&tag=b%20c&status=x")).expect("values");
        assert_eq!(found, [("page/from", json!("3")), ("tag", json!(["a", "b c"])), ("status", json!("x"))]);
        assert!(values(&all, path(), Some("status=1&status=2")).is_err());
        assert!(values(&all, path(), Some("other=1")).is_err());
        assert!(values(&all, path(), Some("from=1")).is_err());
        let many = "tag=1&".repeat(MAX_PARAMETERS + 1);
        assert!(values(&all, path(), Some(&many)).is_err());
    }
}
