//! Which operations are called, how often, and with what.

use super::template::{Rows, Template};
use crate::cli;
use crate::contract::call::{read, without_mark};
use crate::contract::operation;
use crate::files;
use crate::output::report;
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use deltasoap_dynamic::{Contract, Operation};
use serde::Deserialize;
use std::path::Path;

/// An operation in a load.
#[derive(Debug)]
pub struct Call {
    pub operation: Operation,
    /// Its weight relative to the others.
    pub weight: f64,
    /// Its request.
    pub template: Template,
}

/// Returns the calls that the arguments name.
pub fn calls(arguments: &cli::Load, contract: &Contract, rows: &Rows) -> Result<Vec<Call>> {
    let wsdl = arguments.wsdl.as_deref().unwrap_or_default();
    let call = |given: Given| -> Result<Call> {
        let operation = operation(contract, wsdl, &given.name)?;
        let text = match given.data {
            Some(text) => text,
            None => sample(&operation)?,
        };
        let template = Template::parse(&text, rows).with_context(|| format!("the request of {}", given.name))?;
        Ok(Call { operation, weight: given.weight, template })
    };
    if arguments.all {
        return all(contract, rows);
    }
    if let Some(name) = &arguments.operation {
        let data = arguments.data.as_deref().map(data).transpose()?;
        return Ok(vec![call(Given { name: name.clone(), weight: 1.0, data })?]);
    }
    let given = match &arguments.mix {
        Some(path) => mix(path)?,
        None => arguments.calls.iter().map(|text| argument(text)).collect::<Result<_>>()?,
    };
    given.into_iter().map(call).collect()
}

/// Calls all operations with samples. Those that cannot be called are left out, with a warning.
fn all(contract: &Contract, rows: &Rows) -> Result<Vec<Call>> {
    let mut calls = Vec::new();
    for operation in contract.operations() {
        match operation.method().map_err(anyhow::Error::from).and_then(|_| sample(&operation)) {
            Ok(text) => calls.push(Call { template: Template::parse(&text, rows)?, operation, weight: 1.0 }),
            Err(why) => report(format_args!("warning: {} is left out: {why:#}", operation.full_name())),
        }
    }
    ensure!(!calls.is_empty(), "the WSDL has no operation that can be called");
    Ok(calls)
}

fn sample(operation: &Operation) -> Result<String> {
    let sample = operation.request_sample();
    let sample = sample.with_context(|| format!("there is no sample of {}'s request", operation.full_name()))?;
    // Two braces in a text are no variable.
    Ok(operation.request_to_json(&sample)?.to_string().replace("{{", "{\\u007b"))
}

/// A call as it is named.
#[derive(Debug, PartialEq)]
struct Given {
    name: String,
    weight: f64,
    /// JSON with variables; `None` for a sample.
    data: Option<String>,
}

/// Parses `OPERATION[=WEIGHT][:JSON|:@FILE]`. The name may have a colon itself.
fn argument(text: &str) -> Result<Given> {
    let begin = [":{", ":@"].iter().filter_map(|start| text.find(start)).min();
    let (call, given) = begin.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
    let (name, share) = call.split_once('=').unwrap_or((call, "1"));
    let weight = share.parse().map_err(|_| anyhow!("--call {call}: {share:?} is not a weight"))?;
    Ok(Given { name: name.to_owned(), weight: checked(name, weight)?, data: given.map(data).transpose()? })
}

fn checked(name: &str, weight: f64) -> Result<f64> {
    ensure!(weight > 0.0 && weight.is_finite(), "the weight of {name} must be a number above 0");
    Ok(weight)
}

/// Returns JSON that is given itself or by its file.
fn data(argument: &str) -> Result<String> {
    argument.strip_prefix('@').map_or_else(|| Ok(argument.to_owned()), read)
}

/// A file of calls.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mix {
    call: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    operation: String,
    #[serde(default = "one")]
    weight: f64,
    data: Option<serde_json::Value>,
    file: Option<String>,
}

fn one() -> f64 {
    1.0
}

fn mix(path: &Path) -> Result<Vec<Given>> {
    let mix: Mix = toml::from_str(&without_mark(files::read_text(path)?))
        .with_context(|| format!("{} is not a file of calls", path.display()))?;
    ensure!(!mix.call.is_empty(), "{} has no calls", path.display());
    let folder = path.parent().unwrap_or(Path::new(""));
    let given = |entry: Entry| {
        let data = match (entry.data, entry.file) {
            (Some(_), Some(_)) => bail!("{}: {} has both data and file", path.display(), entry.operation),
            (Some(data), None) => Some(data.to_string()),
            (None, Some(file)) => Some(without_mark(files::read_text(&folder.join(file))?)),
            (None, None) => None,
        };
        Ok(Given { weight: checked(&entry.operation, entry.weight)?, name: entry.operation, data })
    };
    mix.call.into_iter().map(given).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_named_with_weight_and_request() {
        let given = |name: &str, weight, data: Option<&str>| Given {
            name: name.to_owned(),
            weight,
            data: data.map(ToOwned::to_owned),
        };
        for (text, expected) in [
            ("Order", given("Order", 1.0, None)),
            ("Order=2.5", given("Order", 2.5, None)),
            ("Get:GetInput=2:{\"a\": \"x=y:{z\"}", given("Get:GetInput", 2.0, Some("{\"a\": \"x=y:{z\"}"))),
            ("Order:{}", given("Order", 1.0, Some("{}"))),
        ] {
            assert_eq!(argument(text).expect("a call"), expected);
        }
        for text in ["Order=x", "Order=0", "Order=-1", "Order=inf", "Order:@/no/such/file"] {
            assert!(argument(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_has_calls() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("mix.toml");
        std::fs::write(folder.path().join("order.json"), "{\"n\": {{i}}}").expect("a file");
        let read = |text: &str| {
            std::fs::write(&path, text).expect("a file");
            mix(&path)
        };
        let text = "[[call]]\noperation = \"A\"\nweight = 3\nfile = \"order.json\"\n[[call]]\noperation = \"B\"\ndata.x = [1]\n";
        let given = read(text).expect("calls");
        assert_eq!((&*given[0].name, given[0].weight, given[0].data.as_deref()), ("A", 3.0, Some("{\"n\": {{i}}}")));
        assert_eq!((given[1].weight, given[1].data.as_deref()), (1.0, Some("{\"x\":[1]}")));
        for text in [
            "",
            "call = []",
            "[[call]]\noperation = \"A\"\nweigth = 1",
            "[[call]]\noperation = \"A\"\nweight = 0",
            "[[call]]\noperation = \"A\"\nfile = \"order.json\"\ndata.x = 1",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
