//! Exceptions for faults, and clients; in stubs, the operations of `client.service` and the types
//! of factories.

use super::text::{Lines, quoted};
use super::{Hiding, Writer};
use crate::names::preferred_module_name;
use crate::python::Python;
use crate::python::model::{Annotation, Client, DeclarationId, Field, Kind, Operation, Presence, Request};
use crate::python::names::{Scope, is_identifier};

/// Names of clients that are not operations.
const METHODS: [&str; 3] = ["client", "service", "_call"];

/// Names in a method that are no arguments of its operation.
const ARGUMENTS: [&str; 3] = ["self", "_result", "_soapheaders"];

/// Maximum length of a line.
const WIDTH: usize = 100;

/// A method with its Python names.
struct Method<'m> {
    operation: &'m Operation,
    name: String,
    /// Names and XML names.
    arguments: Vec<(String, &'m Field)>,
    hiding: Hiding,
}

impl<'m> Writer<'m> {
    /// Returns the texts of exceptions and clients.
    pub(super) fn services(&mut self) -> Vec<String> {
        if self.style == Python::Stub {
            return self.stubs();
        }
        let faults = self.faults();
        let names: Vec<String> = faults.iter().map(|(name, _)| name.clone()).collect();
        let mut texts: Vec<String> = faults.into_iter().map(|(_, text)| text).collect();
        for client in &self.module.clients {
            for is_async in [false, true] {
                texts.push(self.client(client, is_async, &names));
            }
        }
        texts
    }

    /// Returns the names and texts of exceptions.
    fn faults(&mut self) -> Vec<(String, String)> {
        let module = self.module;
        let mut faults = Vec::with_capacity(module.faults.len());
        for fault in &module.faults {
            let name = self.scope.class_name(&fault.preferred_name);
            let base = self.name("Fault", &Hiding::new());
            let mut out = Lines::default();
            out.add(0, format!("class {name}({base}):"));
            let mut docs = vec![format!("The fault with the detail `{}`.", fault.element.local)];
            docs.extend(fault.docs.iter().cloned());
            out.docstring(1, &docs);
            out.blank();
            out.add(1, format!("__deltasoap__ = {}", quoted(&fault.element.to_string())));
            out.blank();
            let detail = self.annotation(&fault.detail, &Hiding::from(["detail".to_owned()]));
            out.add(1, format!("detail: {detail}"));
            faults.push((name, out.text()));
        }
        faults
    }

    fn client(&mut self, client: &'m Client, is_async: bool, faults: &[String]) -> String {
        let (prefix, base) = if is_async { ("Async ", "AsyncServiceClient") } else { ("", "ServiceClient") };
        let name = self.scope.class_name(&format!("{prefix}{} Client", client.preferred_name));
        let base = self.name(base, &Hiding::new());
        let mut out = Lines::default();
        out.add(0, format!("class {name}({base}):"));
        let mut docs = vec![format!("The operations of `{}`.", client.preferred_name)];
        docs.extend(client.docs.iter().cloned());
        out.docstring(1, &docs);
        out.blank();
        out.add(1, format!("__deltasoap__ = {}", quoted(&client.binding.to_string())));
        if let Some((service, port)) = &client.port {
            out.add(1, format!("__deltasoap_port__ = ({}, {})", quoted(service), quoted(port)));
        }
        for method in methods(client) {
            out.blank();
            self.method(&method, is_async, faults, &mut out);
        }
        out.text()
    }

    fn method(&mut self, method: &Method<'_>, is_async: bool, faults: &[String], out: &mut Lines) {
        let Method { operation, name, hiding, .. } = method;
        let headers = self.annotation(&Annotation::Plain("Headers | None"), hiding);
        let mut parameters = self.parameters(method, "None");
        parameters.push(format!("_soapheaders: {headers} = None"));
        let returns = self.annotation(&operation.returns, hiding);
        let start = if is_async { "async def" } else { "def" };
        signature(&format!("{start} {name}("), &parameters, &format!(") -> {returns}:"), out);
        out.docstring(2, &operation.docs);
        let arguments = match &operation.request {
            Request::Value(_) => "(value,)".to_owned(),
            Request::Fields(_) => dictionary(3, &method.arguments),
        };
        let faults: Vec<&str> = operation.faults.iter().map(|&index| &*faults[index]).collect();
        let faults = match &faults[..] {
            [] => "()".to_owned(),
            [one] => format!("({one},)"),
            several => format!("({})", several.join(", ")),
        };
        let call = [quoted(&operation.name), arguments, returns.clone(), faults, "_soapheaders".to_owned()];
        let awaits = if is_async { "await " } else { "" };
        match operation.returns {
            Annotation::None => broken(2, &format!("{awaits}self._call("), &call, out),
            _ => {
                broken(2, &format!("_result: {returns} = {awaits}self._call("), &call, out);
                out.add(2, "return _result");
            }
        }
    }

    /// Returns the parameters of an operation, `self` included. `absent` is the default of those
    /// that are optional.
    fn parameters(&mut self, method: &Method<'_>, absent: &str) -> Vec<String> {
        let mut parameters = vec!["self".to_owned()];
        if let Request::Value(of) = &method.operation.request {
            let of = self.annotation(of, &method.hiding);
            parameters.push(format!("value: {of}"));
        }
        parameters.push("*".to_owned());
        for (name, field) in &method.arguments {
            let of = self.argument(&field.annotation, &method.hiding);
            parameters.push(match field.presence {
                Presence::Required => format!("{name}: {of}"),
                _ if matches!(field.annotation, Annotation::Any | Annotation::Optional(_)) => {
                    format!("{name}: {of} = {absent}")
                }
                _ => format!("{name}: {of} | None = {absent}"),
            });
        }
        parameters
    }

    /// Returns the annotation of an argument: any sequence for a list.
    fn argument(&mut self, of: &Annotation, hiding: &Hiding) -> String {
        match of {
            Annotation::List(item) => {
                let item = self.annotation(item, hiding);
                format!("{}[{item}]", self.name("Sequence", hiding))
            }
            of => self.annotation(of, hiding),
        }
    }

    fn stubs(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        for client in &self.module.clients {
            for is_async in [false, true] {
                texts.push(self.stub(client, is_async));
            }
        }
        texts.extend(self.factories());
        texts
    }

    /// Returns the operations of `client.service`.
    fn stub(&mut self, client: &'m Client, is_async: bool) -> String {
        let prefix = if is_async { "Async " } else { "" };
        let name = self.scope.class_name(&format!("{prefix}{} Service", client.preferred_name));
        let base = self.name("Protocol", &Hiding::new());
        let mut out = Lines::default();
        out.add(0, format!("class {name}({base}):"));
        let of = if is_async { "`AsyncClient.service`" } else { "`Client.service`" };
        let mut docs = vec![format!("{of} for the operations of `{}`.", client.preferred_name)];
        docs.extend(client.docs.iter().cloned());
        out.docstring(1, &docs);
        for method in methods(client).iter().filter(|method| method.name == method.operation.preferred_name) {
            let mut parameters = self.parameters(method, "...");
            let headers = self.annotation(&Annotation::Plain("Headers | None"), &method.hiding);
            parameters.push(format!("_soapheaders: {headers} = ..."));
            let returns = self.annotation(&method.operation.returns, &method.hiding);
            let start = if is_async { "async def" } else { "def" };
            let end = if method.operation.docs.is_empty() { ": ..." } else { ":" };
            signature(&format!("{start} {}(", method.name), &parameters, &format!(") -> {returns}{end}"), &mut out);
            out.docstring(2, &method.operation.docs);
        }
        out.text()
    }

    /// Returns the types of `client.type_factory` for each namespace.
    fn factories(&mut self) -> Vec<String> {
        let module = self.module;
        let mut namespaces: Vec<(&str, Vec<(&str, DeclarationId)>)> = Vec::new();
        for &id in &module.declarations {
            let declaration = module.declaration(id);
            let name = match &declaration.kind {
                Kind::Class(class) => class.name.as_ref(),
                _ => None,
            };
            let Some(name) = name.filter(|name| is_identifier(&name.local)) else { continue };
            match namespaces.iter_mut().find(|(namespace, _)| *namespace == &*name.namespace) {
                Some((_, types)) => types.push((&name.local, id)),
                None => namespaces.push((&name.namespace, vec![(&name.local, id)])),
            }
        }
        namespaces.into_iter().map(|(namespace, types)| self.factory(namespace, &types)).collect()
    }

    fn factory(&mut self, namespace: &str, types: &[(&str, DeclarationId)]) -> String {
        let name = self.scope.class_name(&format!("{} Factory", preferred_module_name(namespace)));
        let base = self.name("Protocol", &Hiding::new());
        let hiding: Hiding = types.iter().map(|(name, _)| (*name).to_owned()).collect();
        let mut out = Lines::default();
        out.add(0, format!("class {name}({base}):"));
        out.docstring(1, &[format!("`Client.type_factory` for the namespace `{namespace}`.")]);
        out.blank();
        for (local, id) in types {
            let of = self.annotation(&Annotation::Declared(*id), &hiding);
            out.add(1, format!("{local}: type[{of}]"));
        }
        out.text()
    }
}

/// Returns the methods of a client, and the names that they hide from annotations.
fn methods(client: &Client) -> Vec<Method<'_>> {
    let mut scope = Scope::without(METHODS);
    let named = client.operations.iter().map(|operation| (operation, scope.value_name(&operation.preferred_name)));
    let named: Vec<_> = named.collect();
    let of_client: Hiding = named.iter().map(|(_, name)| name.clone()).collect();
    named.into_iter().map(|(operation, name)| arguments(operation, name, &of_client)).collect()
}

fn arguments<'m>(operation: &'m Operation, name: String, of_client: &Hiding) -> Method<'m> {
    let mut scope = Scope::without(ARGUMENTS);
    let fields = match &operation.request {
        Request::Fields(fields) => &fields[..],
        Request::Value(_) => &[],
    };
    let arguments: Vec<_> = fields.iter().map(|field| (scope.value_name(&field.name), field)).collect();
    let mut hiding = of_client.clone();
    hiding.extend(arguments.iter().map(|(name, _)| name.clone()));
    hiding.insert("value".to_owned());
    Method { operation, name, arguments, hiding }
}

/// Adds the first lines of a method.
fn signature(start: &str, parameters: &[String], end: &str, out: &mut Lines) {
    let no_arguments = parameters.len() == 2 && parameters[1] == "*";
    let parameters = if no_arguments { &parameters[..1] } else { parameters };
    let line = format!("{start}{}{end}", parameters.join(", "));
    if line.chars().count() + 4 <= WIDTH {
        return out.add(1, line);
    }
    out.add(1, start);
    parameters.iter().for_each(|parameter| out.add(2, format!("{parameter},")));
    out.add(1, end);
}

/// Returns a dictionary of arguments, with an entry a line if it is long.
fn dictionary(indent: usize, arguments: &[(String, &Field)]) -> String {
    let entries = arguments.iter().map(|(name, field)| format!("{}: {name}", quoted(&field.name)));
    let entries: Vec<String> = entries.collect();
    let line = format!("{{{}}}", entries.join(", "));
    if line.chars().count() + 4 * indent < WIDTH {
        return line;
    }
    let (inner, outer) = ("    ".repeat(indent + 1), "    ".repeat(indent));
    let lines: String = entries.iter().map(|entry| format!("{inner}{entry},\n")).collect();
    format!("{{\n{lines}{outer}}}")
}

/// Adds a call, with an argument a line if it is long.
fn broken(indent: usize, start: &str, arguments: &[String], out: &mut Lines) {
    let line = format!("{start}{})", arguments.join(", "));
    if line.chars().count() + 4 * indent <= WIDTH {
        return out.add(indent, line);
    }
    out.add(indent, start);
    arguments.iter().for_each(|argument| out.add(indent + 1, format!("{argument},")));
    out.add(indent, ")");
}
