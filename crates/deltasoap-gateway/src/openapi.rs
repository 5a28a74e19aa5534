//! The OpenAPI 3.1 document of a service.

use crate::backend::needs_whole;
use crate::config::ServiceConfig;
use crate::incoming::MEDIA;
use crate::parameters::Parameter;
use crate::problem::{self, PROBLEM};
use crate::targets::{Route, Target};
use deltasoap_dynamic::json::JsonSchemas;
use deltasoap_dynamic::{Contract, Operation};
use http::Method;
use serde_json::{Map, Value as Json, json};
use std::collections::HashSet;

/// What references to schemas begin with.
pub(crate) const SCHEMAS: &str = "#/components/schemas/";
/// The schema of errors.
const ERROR: &str = "Problem";
/// Longer examples are left out, to keep the document readable.
const MAX_EXAMPLE: usize = 16 << 10;

/// The schemas of an operation's messages.
#[derive(Debug, Clone)]
pub(crate) struct Messages {
    pub(crate) request: Json,
    response: Option<Json>,
    /// The header blocks of requests and their HTTP headers.
    headers: Vec<Json>,
    faults: Vec<(String, Json)>,
}

/// The schemas of all messages of a service.
#[derive(Debug)]
pub(crate) struct Schemas {
    /// For each target.
    pub(crate) messages: Vec<Messages>,
    pub(crate) definitions: Map<String, Json>,
    /// The names of definitions of values that contain bytes.
    with_bytes: HashSet<String>,
}

impl Schemas {
    /// Makes the schemas for the operations of a service.
    pub(crate) fn of(contract: &Contract, targets: &[Target]) -> Self {
        let mut schemas = JsonSchemas::new(contract, SCHEMAS);
        schemas.reserve(ERROR);
        let messages = targets.iter().map(|target| messages(&mut schemas, target)).collect();
        let mut definitions = schemas.finish();
        definitions.insert(ERROR.to_owned(), problem::schema());
        let with_bytes = with_bytes(&definitions);
        Schemas { messages, definitions, with_bytes }
    }

    /// Returns true if values of a schema contain bytes, which can be parts of their own.
    fn has_bytes(&self, schema: &Json) -> bool {
        has_bytes(schema, &self.with_bytes)
    }
}

/// Returns the names of the definitions of values that contain bytes.
fn with_bytes(definitions: &Map<String, Json>) -> HashSet<String> {
    let mut found = HashSet::new();
    loop {
        let known = found.len();
        for (name, schema) in definitions {
            if !found.contains(name) && has_bytes(schema, &found) {
                found.insert(name.clone());
            }
        }
        if found.len() == known {
            return found;
        }
    }
}

/// Returns true if a schema has bytes, or refers to one of these definitions.
fn has_bytes(schema: &Json, found: &HashSet<String>) -> bool {
    match schema {
        Json::Object(keys) => keys.iter().any(|(key, value)| match (&**key, value) {
            ("contentEncoding", _) => true,
            ("$ref", Json::String(name)) => name.strip_prefix(SCHEMAS).is_some_and(|name| found.contains(name)),
            _ => has_bytes(value, found),
        }),
        Json::Array(items) => items.iter().any(|item| has_bytes(item, found)),
        _ => false,
    }
}

fn messages(schemas: &mut JsonSchemas<'_>, target: &Target) -> Messages {
    let operation = &target.operation;
    let method = operation.method().ok();
    let declared = method.map_or(&[][..], |method| &method.request_headers);
    let headers = target.headers.iter().filter_map(|(header, name)| {
        let field = declared.iter().find(|field| field.name == *name)?;
        let schema = schemas.element(name, field.element);
        Some(json!({
            "name": header.as_str(),
            "in": "header",
            "required": false,
            "description": format!("The SOAP header block {}.", name.local),
            "content": { "application/json": { "schema": schema } }
        }))
    });
    let headers = headers.collect();
    let faults = method.map_or(&[][..], |method| &method.element.faults);
    let faults = faults.iter().map(|fault| (fault.name.local.to_string(), schemas.element(&fault.name, fault.element)));
    let faults = faults.collect();
    Messages {
        request: schemas.request(operation).unwrap_or_else(|| json!({})),
        response: schemas.response(operation),
        headers,
        faults,
    }
}

/// Writes the document.
pub(crate) fn document(
    config: &ServiceConfig,
    contract: &Contract,
    schemas: &Schemas,
    targets: &[Target],
    routes: &[Route],
) -> Json {
    let mut paths = Map::new();
    let takes_lines = needs_whole(config).is_none();
    for (index, target) in targets.iter().enumerate() {
        let mut described = operation(target, index, schemas, config);
        described["operationId"] = json!(identifier(&target.name));
        let request = &schemas.messages[index].request;
        described["requestBody"] = request_body(request, schemas.has_bytes(request), example(&target.operation));
        if takes_lines {
            describe_lines(&mut described, target);
        }
        paths.insert(format!("/operations/{}", target.name), json!({ "post": described }));
    }
    for route in routes {
        let target = &targets[route.target];
        let mut described = operation(target, route.target, schemas, config);
        described["operationId"] = json!(route_identifier(&route.method, &route.template));
        let own = route.parameters.iter().map(Parameter::describe);
        let headers = described["parameters"].as_array().cloned().unwrap_or_default();
        described["parameters"] = own.chain(headers).collect();
        if let Some(schema) = &route.body_schema {
            described["requestBody"] = request_body(schema, schemas.has_bytes(schema), None);
        }
        let path = paths.entry(route.template.clone()).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = described;
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": info(config, contract),
        "servers": [{ "url": if config.path.is_empty() { "/" } else { &config.path } }],
        "paths": paths,
        "components": {
            "schemas": schemas.definitions,
            "responses": {
                "Problem": {
                    "description": "The call failed.",
                    "content": { PROBLEM: { "schema": { "$ref": format!("{SCHEMAS}{ERROR}") } } }
                }
            }
        }
    });
    if let Some((name, scheme)) = security(config) {
        document["components"]["securitySchemes"] = json!({ name: scheme });
        document["security"] = json!([{ name: [] }]);
    }
    document
}

fn info(config: &ServiceConfig, contract: &Contract) -> Json {
    let definitions = contract.description().definitions();
    let service = definitions.services.first();
    let named = service.map(|service| service.name.local.to_string());
    let title = config.title.clone().or(named).unwrap_or_else(|| "SOAP service".to_owned());
    let mut info = json!({ "title": title, "version": config.version });
    if let Some(text) = service.and_then(|service| service.documentation.as_deref()) {
        info["description"] = json!(text.trim());
    }
    info
}

/// Describes how clients authenticate, if they do.
fn security(config: &ServiceConfig) -> Option<(&'static str, Json)> {
    use crate::config::CredentialsConfig::{BasicToUsernameToken, Pass};
    match config.credentials.as_ref()? {
        BasicToUsernameToken { .. } => Some(("basic", json!({ "type": "http", "scheme": "basic" }))),
        Pass { headers } if headers.iter().any(|name| name.eq_ignore_ascii_case("authorization")) => Some((
            "authorization",
            json!({
                "type": "apiKey",
                "in": "header",
                "name": "Authorization",
                "description": "Passed to the service as it is."
            }),
        )),
        _ => None,
    }
}

/// Describes what all paths to an operation have in common.
fn operation(target: &Target, index: usize, schemas: &Schemas, config: &ServiceConfig) -> Json {
    let messages = &schemas.messages[index];
    let mut described = json!({ "tags": [target.operation.port_name()] });
    if let Some(text) = target.operation.documentation() {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        described["description"] = json!(text);
    }
    if !messages.headers.is_empty() {
        described["parameters"] = json!(messages.headers);
    }
    let mut responses = Map::new();
    match &messages.response {
        Some(schema) => {
            let mut content = json!({ "application/json": { "schema": schema } });
            // Only where it is of use: generated clients take it for another form of the response.
            if schemas.has_bytes(schema) {
                content["multipart/mixed"] = json!({ "schema": { "type": "object" } });
            }
            let mut description = "The response.".to_owned();
            // OpenAPI 3.1 cannot describe lines.
            if let Some(list) = &target.list {
                description +=
                    &format!(" With `Accept: application/jsonl`, the items of {list}, each on its own line.");
            }
            responses.insert("200".to_owned(), json!({ "description": description, "content": content }));
        }
        None => {
            let accepted = json!({ "description": "Accepted; the operation has no response." });
            responses.insert("202".to_owned(), accepted);
        }
    }
    for (status, faults) in by_status(messages, config) {
        responses.insert(status, fault_response(&faults));
    }
    responses.insert("default".to_owned(), json!({ "$ref": "#/components/responses/Problem" }));
    described["responses"] = Json::Object(responses);
    described
}

/// Returns the declared faults by their status.
fn by_status<'m>(messages: &'m Messages, config: &ServiceConfig) -> Vec<(String, Vec<&'m (String, Json)>)> {
    let mut all: Vec<(String, Vec<_>)> = Vec::new();
    for fault in &messages.faults {
        let status = config.faults.get(&fault.0).copied().unwrap_or(500).to_string();
        match all.iter_mut().find(|(other, _)| *other == status) {
            Some((_, faults)) => faults.push(fault),
            None => all.push((status, vec![fault])),
        }
    }
    all
}

fn fault_response(faults: &[&(String, Json)]) -> Json {
    let names: Vec<_> = faults.iter().map(|(name, _)| name.as_str()).collect();
    let details: Map<_, _> = faults.iter().map(|(name, schema)| (name.clone(), schema.clone())).collect();
    let fault = json!({ "properties": { "fault": { "properties": { "detail": { "properties": details } } } } });
    let schema = json!({ "allOf": [{ "$ref": format!("{SCHEMAS}{ERROR}") }, fault] });
    json!({
        "description": format!("The call failed; among the reasons may be: {}.", names.join(", ")),
        "content": { PROBLEM: { "schema": schema } }
    })
}

fn request_body(schema: &Json, has_bytes: bool, example: Option<Json>) -> Json {
    let mut json = json!({ "schema": schema });
    if let Some(example) = example {
        json["example"] = example;
    }
    let mut content = json!({ "application/json": json });
    if has_bytes {
        content["multipart/form-data"] = json!({
            "schema": {
                "type": "object",
                "properties": { "request": schema },
                "required": ["request"],
                "additionalProperties": { "type": "string", "contentMediaType": "application/octet-stream" }
            },
            "encoding": { "request": { "contentType": "application/json" } }
        });
    }
    json!({ "required": true, "content": content })
}

/// Describes requests in JSON lines, for operations with a list in the request.
fn describe_lines(described: &mut Json, target: &Target) {
    let [first, ..] = &target.items[..] else { return };
    let (list, parameter) = match target.items.len() {
        1 => (first.as_str(), None),
        _ => ("a list", Some("The list of the request that the lines are items of, for JSON lines.")),
    };
    let lines = format!(
        "With `Content-Type: application/jsonl`, the first line is the request without the items of {list}, \
         and each further line is one of them: so a long list is sent on while it arrives."
    );
    described["requestBody"]["description"] = json!(lines);
    // OpenAPI 3.1 cannot describe lines.
    let schema = json!({ "type": "string", "description": "Lines of JSON." });
    described["requestBody"]["content"][MEDIA[0]] = json!({ "schema": schema });
    if let Some(description) = parameter {
        let schema = json!({ "type": "string", "examples": target.items });
        let items =
            json!({ "name": "items", "in": "query", "required": false, "description": description, "schema": schema });
        match &mut described["parameters"] {
            Json::Array(parameters) => parameters.push(items),
            none => *none = json!([items]),
        }
    }
}

/// Returns a request that contains every field, unless it is long.
fn example(operation: &Operation) -> Option<Json> {
    let sample = operation.request_sample()?;
    let json = operation.request_to_json(&sample).ok()?;
    Some(json).filter(|json| json.to_string().len() <= MAX_EXAMPLE)
}

/// Returns a name that programs can use for an operation.
fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Returns the name of a route, which no operation has: it contains a method and a slash.
fn route_identifier(method: &Method, template: &str) -> String {
    format!("{}{}", method.as_str().to_ascii_lowercase(), identifier(template))
}
