//! The three tools, and what they do.

use super::secrets::Secrets;
use super::trim::{self, Path};
use crate::output::{one_line, with_causes};
use deltasoap_dynamic::describe::Component;
use deltasoap_dynamic::{Contract, DynamicClient, DynamicError, Operation};
use deltasoap_http::{CallOptions, HttpTransport};
use http::{HeaderName, HeaderValue};
use rmcp::model::{JsonObject, Tool as Declaration, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Search,
    Describe,
    Call,
}

impl Tool {
    /// All tools.
    pub const ALL: [Tool; 3] = [Tool::Search, Tool::Describe, Tool::Call];

    /// Returns the tool of a name.
    pub fn named(name: &str) -> Option<Self> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Tool::Search => "search",
            Tool::Describe => "describe",
            Tool::Call => "call",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Tool::Search => {
                "Find operations of the service by words in their names and documentation. Returns names, one a line, \
                 and which of them may be called."
            }
            Tool::Describe => {
                "Describe an operation, an element or a type: its parts, their types, how often they occur, and what \
                 the documentation says. For an operation, with a request in JSON to start from."
            }
            Tool::Call => {
                "Call an operation with a request in JSON, as `describe` shows it: attributes begin with @, nil is \
                 null, repeated elements are arrays, $type names a derived type. Returns the response as JSON."
            }
        }
    }

    fn parameters(self) -> Json {
        match self {
            Tool::Search => json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "Words; all operations without them" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 200, "default": 30 },
                },
            }),
            Tool::Describe => json!({
                "type": "object",
                "properties": { "name": { "type": "string", "description": "Operation, Port.Operation, element or type" } },
                "required": ["name"],
            }),
            Tool::Call => json!({
                "type": "object",
                "properties": {
                    "operation": { "type": "string" },
                    "request": { "type": "object", "description": "The content of the request" },
                    "select": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "Paths to the parts of the response to return, such as result/item/name; * is any name",
                    },
                },
                "required": ["operation"],
            }),
        }
    }

    /// Returns the declaration that clients get.
    pub fn declared(self) -> Declaration {
        let parameters = self.parameters().as_object().cloned().unwrap_or_default();
        let annotations = ToolAnnotations::new().read_only(self != Tool::Call).open_world(self == Tool::Call);
        Declaration::new(self.name(), self.description(), parameters).with_annotations(annotations)
    }
}

/// The service that the tools are for.
pub struct Service {
    pub client: DynamicClient<HttpTransport>,
    /// Full names of the operations that may be called.
    pub allowed: BTreeSet<String>,
    /// HTTP headers of each call.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Bytes of an answer.
    pub max_answer: usize,
    pub secrets: Secrets,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    #[serde(default)]
    query: String,
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    30
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Describe {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    operation: String,
    #[serde(default = "empty")]
    request: Json,
    #[serde(default)]
    select: Vec<String>,
}

fn empty() -> Json {
    json!({})
}

impl Service {
    /// Runs a tool; returns its answer, or what is wrong, for the model to read.
    pub async fn run(&self, tool: Tool, arguments: JsonObject) -> Result<String, String> {
        match tool {
            Tool::Search => Ok(self.search(&parsed(arguments)?)),
            Tool::Describe => self.describe(&parsed(arguments)?),
            Tool::Call => self.call(parsed(arguments)?).await,
        }
    }

    fn contract(&self) -> &Contract {
        self.client.contract()
    }

    fn search(&self, search: &Search) -> String {
        let operations = self.contract().operations();
        let words: Vec<String> = search.query.split_whitespace().map(str::to_lowercase).collect();
        let mut found: Vec<(usize, &Operation)> =
            operations.iter().map(|it| (score(it, &words), it)).filter(|(score, _)| *score > 0).collect();
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let (count, mut text) = (found.len(), String::new());
        for (_, operation) in found.into_iter().take(search.limit.clamp(1, 200)) {
            let line = self.line(operation);
            if text.len() + line.len() > self.max_answer {
                break;
            }
            text += &line;
        }
        let shown = text.lines().count();
        match count {
            0 => format!("none of {} operations has these words; search without words lists them", operations.len()),
            count if count > shown => format!("{text}{} more; search for other words", count - shown),
            _ => text,
        }
    }

    fn line(&self, operation: &Operation) -> String {
        let mark = if self.may_call(operation) { "" } else { " (must not be called)" };
        let about = operation.documentation().map(first_sentence).unwrap_or_default();
        let separator = if about.is_empty() { "" } else { ": " };
        format!("{}{mark}{separator}{about}\n", operation.full_name())
    }

    fn may_call(&self, operation: &Operation) -> bool {
        self.allowed.contains(&operation.full_name())
    }

    fn describe(&self, describe: &Describe) -> Result<String, String> {
        let parts = self.contract().describe(&describe.name);
        if parts.is_empty() {
            let similar = self.contract().similar_names(&describe.name).join(", ");
            let hint =
                if similar.is_empty() { "`search` finds operations".to_owned() } else { format!("similar: {similar}") };
            return Err(format!("there is no operation, element or type {}; {hint}", describe.name));
        }
        let mut text = parts.iter().map(Component::to_text).collect::<Vec<_>>().join("\n");
        if let Ok(operation) = self.contract().operation(&describe.name) {
            if !self.may_call(&operation) {
                text += "\nThis operation must not be called.\n";
            }
            if let Some(sample) = sample(&operation) {
                let _ = write!(text, "\nA request to start from, with all optional parts:\n{sample}\n");
            }
        }
        Ok(shortened(text, self.max_answer))
    }

    async fn call(&self, call: Call) -> Result<String, String> {
        let operation = self.contract().operation(&call.operation);
        let operation = operation.map_err(|error| format!("{error}; `search` finds operations"))?;
        if !self.may_call(&operation) {
            let name = operation.full_name();
            return Err(format!("{name} must not be called: the user did not allow it (`--allow {name}`)"));
        }
        let name = operation.full_name();
        let options = self
            .headers
            .iter()
            .fold(CallOptions::new(), |options, (name, value)| options.http_header(name.clone(), value.clone()));
        match self.client.prepare_operation(operation).options(options).send_json(&call.request).await {
            Ok(Some(reply)) => {
                let answer = reply.to_json().map_err(|error| error.to_string())?;
                let paths: Vec<Path> = call.select.iter().map(|path| Path::parse(path)).collect();
                trim::fitted(&trim::selected(answer, &paths), self.max_answer)
            }
            Ok(None) => Ok("accepted; the operation is one-way".to_owned()),
            Err(error) => Err(shortened(explained(&name, &error), self.max_answer)),
        }
    }
}

fn parsed<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, String> {
    serde_json::from_value(Json::Object(arguments))
        .map_err(|error| format!("the arguments do not fit the tool: {error}"))
}

/// Returns how well an operation fits some words: each must be somewhere; those in the name count
/// more. Zero if one is missing.
fn score(operation: &Operation, words: &[String]) -> usize {
    let (name, about) =
        (operation.full_name().to_lowercase(), operation.documentation().unwrap_or_default().to_lowercase());
    let own = operation.name().to_lowercase();
    let points = words.iter().map(|word| match () {
        () if own == *word => 8,
        () if own.contains(word) => 4,
        () if name.contains(word) => 2,
        () => usize::from(about.contains(word)),
    });
    let points: Vec<usize> = points.collect();
    if points.contains(&0) { 0 } else { points.into_iter().sum::<usize>() + 1 }
}

/// Bytes of a documentation's first sentence, at most.
const MAX_SENTENCE: usize = 160;

fn first_sentence(text: &str) -> String {
    let text = one_line(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    shortened(text[..end].to_owned(), MAX_SENTENCE)
}

/// Cuts a text.
fn shortened(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit.saturating_sub(4);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

fn sample(operation: &Operation) -> Option<String> {
    let sample = operation.request_sample()?;
    Some(operation.request_to_json(&sample).ok()?.to_string())
}

/// Explains an error to the model, with what it can do.
fn explained(name: &str, error: &DynamicError) -> String {
    match error {
        DynamicError::Fault(fault) => json!({ "fault": fault.to_json() }).to_string(),
        DynamicError::Json(error) => {
            format!("the request does not fit {name}: {error}; `describe` shows one that does")
        }
        DynamicError::NoEndpoint(name) => format!("the WSDL gives no URL for {name}"),
        error => format!("{name} failed: {}", with_causes(error)),
    }
}

/// Verbs of operations that only read.
const READING: [&str; 26] = [
    "browse", "check", "compare", "compute", "count", "describe", "download", "echo", "exists", "fetch", "find", "get",
    "has", "is", "list", "lookup", "ping", "query", "read", "resolve", "retrieve", "search", "show", "status",
    "validate", "verify",
];

/// Words in names of operations that also change something.
const WRITING: [&str; 18] = [
    "add", "approve", "cancel", "change", "clear", "create", "delete", "insert", "lock", "pay", "remove", "reset",
    "save", "send", "set", "store", "submit", "update",
];

/// Returns whether an operation reads and changes nothing, by its name: it begins with a verb of
/// reading, and has none of writing. WSDL has no better sign.
pub fn seems_to_read(name: &str) -> bool {
    let words = words(name);
    let is_reading = words.first().is_some_and(|first| READING.contains(&first.as_str()));
    is_reading && !words.iter().any(|word| WRITING.contains(&word.as_str()))
}

/// Returns the words of a name, in lower case: `GetURLList` has three.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let next_is_small = letters.get(at + 1).is_some_and(|it| it.is_lowercase());
        let is_start = letter.is_uppercase()
            && before.is_some_and(|before| before.is_lowercase() || (before.is_uppercase() && next_is_small));
        if is_start || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words.iter_mut().next_back().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_words() {
        assert_eq!(words("GetURLList"), ["get", "url", "list"]);
        assert_eq!(words("get_all-users2"), ["get", "all", "users2"]);
        assert_eq!(words("ID"), ["id"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn operations_that_change_something_do_not_seem_to_read() {
        for name in ["GetQuote", "listUsers", "find_by_name", "RetrieveProperties", "IsAlive", "Ping"] {
            assert!(seems_to_read(name), "{name}");
        }
        for name in ["Order", "GetAndDeleteMessage", "Getaway", "setTime", "CheckAndUpdate", "Listen", "", "Login"] {
            assert!(!seems_to_read(name), "{name}");
        }
    }

    #[test]
    fn the_declarations_are_small_whatever_the_wsdl() {
        let declared = serde_json::to_string(&Tool::ALL.map(Tool::declared)).unwrap();
        assert!(declared.len() < 8 << 10, "{}", declared.len());
        assert_eq!(Tool::ALL.map(|tool| Tool::named(tool.name())), Tool::ALL.map(Some));
    }

    #[test]
    fn sentences_are_cut_between_characters() {
        assert_eq!(first_sentence(" One\n two. Three."), "One two.");
        let long = first_sentence(&"ä".repeat(200));
        assert!(long.len() <= MAX_SENTENCE && long.ends_with('…'));
    }
}
