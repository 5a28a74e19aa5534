//! Calls of functions in Python, for requests that have been read.

use crate::contract::{self, Model, version};
use crate::errors::Invalid;
use crate::from_python::{FromPython, parse_name};
use crate::to_python::ToPython;
use bytes::Bytes;
use deltasoap_core::schema::{ElementRef, Field};
use deltasoap_core::soap::{Fault, FaultCode, HeaderBlock, Version};
use deltasoap_core::{Lease, Node, PartUri, QName, Value};
use deltasoap_dynamic::{Operation, Parts};
use deltasoap_http::{Attachments, Context, Part, Reply};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pyo3_async_runtimes::TaskLocals;
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Work for a thread that has, or takes, the GIL.
pub(crate) type Job = Box<dyn FnOnce(Python<'_>) + Send>;

/// Where the functions of a request run, attached to it.
#[derive(Clone)]
pub(crate) enum Runner {
    /// On the thread that waits for the response.
    Caller(mpsc::UnboundedSender<Job>),
    /// Those that are awaited: on this event loop; others in its context.
    Loop(TaskLocals),
}

/// What all operations of a service share.
pub(crate) struct Common {
    /// Returns the parts of a fault for an exception.
    pub(crate) explain: Py<PyAny>,
    /// Returns the event loop for requests that bring none.
    pub(crate) event_loop: Py<PyAny>,
    /// Bounds the threads on which functions run.
    pub(crate) threads: Arc<Semaphore>,
}

/// An operation, and the function that answers it.
pub(crate) struct Handler {
    pub(crate) model: Arc<Model>,
    pub(crate) operation: Operation,
    pub(crate) invoke: Py<PyAny>,
    pub(crate) is_async: bool,
    pub(crate) wants_context: bool,
    pub(crate) has_columns: bool,
    pub(crate) common: Arc<Common>,
}

/// A request that has arrived in full.
struct Received {
    request: Lease<Value>,
    parts: Parts,
    attachments: Vec<Attached>,
    context: Context,
}

/// An attachment: content ID, media type, bytes.
type Attached = (String, String, Bytes);

/// What a function returned: the value, header blocks with their names, and attachments.
type Returned<'py> = (Bound<'py, PyAny>, Vec<(Option<String>, Bound<'py, PyAny>)>, Vec<(String, String, Vec<u8>)>);

/// The parts of a fault: reason, code, actor, subcodes, and entries of the detail with their names.
type Explained<'py> = (String, Option<String>, Option<String>, Vec<String>, Vec<(Option<String>, Bound<'py, PyAny>)>);

impl Handler {
    /// Answers a request.
    ///
    /// # Errors
    /// The fault for what the function raised, or for a result that does not match the contract.
    pub(crate) async fn answer(
        self: Arc<Self>,
        mut context: Context,
        request: Lease<Value>,
    ) -> Result<Reply<Value>, Fault> {
        let parts = Parts::of(&request, context.attachments()).await.map_err(Fault::from)?;
        let attachments = match self.wants_context {
            true => received(context.attachments()).await?,
            false => Vec::new(),
        };
        let runner = context.extension::<Runner>().cloned();
        let received = Received { request, parts, attachments, context };
        match self.is_async {
            true => self.awaited(received, runner).await,
            false => self.called(received, runner).await,
        }
    }

    /// Calls a function on a thread that may wait.
    async fn called(self: Arc<Self>, received: Received, runner: Option<Runner>) -> Result<Reply<Value>, Fault> {
        let (sender, receiver) = oneshot::channel();
        let (threads, is_one_way) = (Arc::clone(&self.common.threads), self.operation.is_one_way());
        let locals = match &runner {
            Some(Runner::Loop(locals)) => Some(locals.clone()),
            _ => None,
        };
        let job: Job = Box::new(move |py| {
            let version = received.context.version();
            let context = locals.map(|locals| locals.context(py));
            let replied =
                self.begin(py, received, context.as_ref()).and_then(|returned| self.finish(py, &returned, version));
            // Nobody waits any more if the client has gone.
            let _ = sender.send(replied);
        });
        let job = match runner {
            // The caller has its answer before the function of a one-way operation ends.
            Some(Runner::Caller(jobs)) if !is_one_way => jobs.send(job).err().map(|unsent| unsent.0),
            _ => Some(job),
        };
        if let Some(job) = job {
            let permit = threads.acquire_owned().await.map_err(|_| stopped())?;
            tokio::task::spawn_blocking(move || {
                Python::attach(job);
                drop(permit);
            });
        }
        receiver.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Calls a function whose result is awaited by an event loop.
    async fn awaited(self: Arc<Self>, received: Received, runner: Option<Runner>) -> Result<Reply<Value>, Fault> {
        let version = received.context.version();
        let awaiting = Python::attach(|py| {
            let locals = match runner {
                Some(Runner::Loop(locals)) => locals,
                _ => self.own_loop(py).map_err(|error| self.explained(py, error, version))?,
            };
            let awaitable = self.begin(py, received, None)?;
            let awaiting = pyo3_async_runtimes::into_future_with_locals(&locals, awaitable);
            awaiting.map_err(|error| self.explained(py, error, version))
        })?;
        let returned = awaiting.await;
        Python::attach(|py| match returned {
            Ok(returned) => self.finish(py, returned.bind(py), version),
            Err(error) => Err(self.explained(py, error, version)),
        })
    }

    fn own_loop(&self, py: Python<'_>) -> PyResult<TaskLocals> {
        TaskLocals::new(self.common.event_loop.bind(py).call0()?).copy_context(py)
    }

    /// Calls the function. The request can be the memory of the next one as soon as its values are
    /// converted.
    fn begin<'py>(
        &self,
        py: Python<'py>,
        received: Received,
        context: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>, Fault> {
        let version = received.context.version();
        let known = match self.wants_context {
            true => self.known(py, &received).map_err(|error| self.explained(py, error, version))?.into_any(),
            false => py.None().into_bound(py),
        };
        let unreadable = |error: PyErr| Fault::sender(format!("the request cannot be read: {}", error.value(py)));
        let values = self.values(py, received).map_err(unreadable)?;
        let returned = match context {
            Some(context) => context.call_method1("run", (&self.invoke, values, known)),
            None => self.invoke.bind(py).call1((values, known)),
        };
        returned.map_err(|error| self.explained(py, error, version))
    }

    fn values<'py>(&self, py: Python<'py>, received: Received) -> PyResult<Bound<'py, PyAny>> {
        let Received { request, parts, .. } = received;
        let part = |uri: &PartUri| parts.bytes(uri).map(|bytes| bytes.to_vec());
        let converter = ToPython::new(py, &self.model, &part).with_empty_values();
        let Some((_, content)) = self.operation.request() else { return Ok(py.None().into_bound(py)) };
        if !self.has_columns {
            return converter.content(&request, content);
        }
        let request = Arc::new(request);
        let converter = converter.with_columns(Arc::clone(&self.model), Arc::clone(&request) as _);
        converter.content(&request, content)
    }

    /// Returns what is known about a request besides its values.
    fn known<'py>(&self, py: Python<'py>, received: &Received) -> PyResult<Bound<'py, PyDict>> {
        let (context, dict) = (&received.context, PyDict::new(py));
        let head = context.parts();
        dict.set_item("operation", self.operation.name())?;
        dict.set_item("soap", version(context.version()))?;
        dict.set_item("action", context.action())?;
        dict.set_item("target", head.uri.to_string())?;
        dict.set_item("peer", context.peer().map(|peer| (peer.ip().to_string(), peer.port())))?;
        dict.set_item("principal", context.principal().map(|principal| &*principal.0))?;
        let latin1 = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect::<String>();
        let headers = head.headers.iter().map(|(name, value)| (name.as_str(), latin1(value.as_bytes())));
        dict.set_item("http_headers", headers.collect::<Vec<_>>())?;
        let converter = ToPython::new(py, &self.model, &|_| None).with_empty_values();
        let blocks = context.head().headers.iter().map(|block| {
            let mut node = block.node.clone();
            // They are about the block, not part of its value.
            node.attributes.retain(|(name, _)| Version::from_namespace(&name.namespace).is_none());
            Ok((node.name.to_string(), converter.element(&node)?))
        });
        dict.set_item("headers", blocks.collect::<PyResult<Vec<_>>>()?)?;
        let attachments = received.attachments.iter();
        let attachments = attachments.map(|(id, media, bytes)| (id, media, PyBytes::new(py, bytes)));
        dict.set_item("attachments", attachments.collect::<Vec<_>>())?;
        Ok(dict)
    }

    /// Converts what the function returned.
    fn finish(&self, py: Python<'_>, returned: &Bound<'_, PyAny>, version: Version) -> Result<Reply<Value>, Fault> {
        self.reply(py, returned).map_err(|error| self.explained(py, error, version))
    }

    fn reply(&self, py: Python<'_>, returned: &Bound<'_, PyAny>) -> PyResult<Reply<Value>> {
        let (value, headers, attachments): Returned<'_> = returned.extract()?;
        let Some((name, content)) = self.operation.response() else { return Ok(Reply::new(Value::Absent)) };
        let body = match value.is_none() {
            true => Value::Nil,
            false => {
                let converted = FromPython::new(py, &self.model)?.content(&value, content, name);
                converted.map_err(|error| error.into_py_err(py))?
            }
        };
        let declared = self.operation.method().map_or(&[][..], |method| &method.response_headers);
        let block = |(name, value): &(Option<String>, Bound<'_, PyAny>)| {
            self.element(py, name.as_deref(), value, declared).map(|node| HeaderBlock { node })
        };
        let headers = headers.iter().map(block).collect::<PyResult<_>>()?;
        let parts = attachments.into_iter().map(|(id, media, bytes)| Part::new(id, media, bytes)).collect();
        Ok(Reply { headers, body, parts })
    }

    /// Makes an element: one that is declared, by its name, or what stands for an element itself.
    fn element(
        &self,
        py: Python<'_>,
        name: Option<&str>,
        value: &Bound<'_, PyAny>,
        declared: &[Field],
    ) -> PyResult<Node> {
        let converter = FromPython::new(py, &self.model)?;
        let Some(text) = name else { return converter.any_element(value).map_err(|error| error.into_py_err(py)) };
        let unknown = || PyTypeError::new_err(format!("the WSDL declares no element {text} here"));
        let (name, content) = self.declared(text, declared).ok_or_else(unknown)?;
        let written = converter.content(value, content, &name).and_then(|value| {
            let document = contract::write(&self.model, &name, content, &value)?;
            Node::parse(&document).map_err(|error| Invalid::new(error.to_string()))
        });
        written.map_err(|error| error.within(&name.local).into_py_err(py))
    }

    /// Returns an element by its full or local name: among those of the message, else of a schema.
    fn declared(&self, text: &str, fields: &[Field]) -> Option<(QName, ElementRef)> {
        let name = parse_name(text)?;
        let is_it = |field: &&Field| match name.namespace.is_empty() {
            true => field.name.local == name.local,
            false => field.name == name,
        };
        match fields.iter().find(is_it) {
            Some(field) => Some((field.name.clone(), field.element)),
            None => self.model.element(&name).map(|content| (name, content)),
        }
    }

    /// Returns the fault for an exception.
    fn explained(&self, py: Python<'_>, error: PyErr, version: Version) -> Fault {
        let explain = |error: PyErr| {
            let made = self.common.explain.bind(py).call1((error.into_value(py), self.operation.full_name()))?;
            self.fault(py, made.extract()?, version)
        };
        // A detail that cannot be written is an error of its own.
        explain(error).or_else(explain).unwrap_or_else(|_| Fault::receiver("internal error"))
    }

    fn fault(&self, py: Python<'_>, explained: Explained<'_>, version: Version) -> PyResult<Fault> {
        let (reason, code, role, subcodes, details) = explained;
        let mut fault = Fault::new(code.map_or(FaultCode::Receiver, |code| code_of(&code, version)), reason);
        fault.role = role;
        fault.subcodes = subcodes.iter().filter_map(|name| parse_name(name)).collect();
        let declared = self.operation.method().map_or(&[][..], |method| &method.element.faults);
        let details = details.iter().map(|(name, value)| self.element(py, name.as_deref(), value, declared));
        fault.detail = details.collect::<PyResult<_>>()?;
        Ok(fault)
    }
}

/// Returns the code of a name. The dotted ones are those of SOAP 1.1, whatever the version is.
fn code_of(text: &str, version: Version) -> FaultCode {
    let Some(name) = parse_name(text) else { return FaultCode::Receiver };
    let first = name.local.split('.').next().unwrap_or_default();
    let is_soaps = ["Client", "Server", "MustUnderstand", "VersionMismatch"].contains(&first);
    match name.namespace.is_empty() && is_soaps && first.len() < name.local.len() {
        true => FaultCode::Other(QName::owned(version.namespace(), &name.local)),
        false => FaultCode::from_name(&name),
    }
}

/// Reads the attachments that the values do not refer to.
async fn received(attachments: &mut Attachments) -> Result<Vec<Attached>, Fault> {
    let mut all = Vec::new();
    while let Some(attachment) = attachments.next().await.map_err(Fault::from)? {
        let id = attachment.content_id().unwrap_or_default().to_owned();
        let media = attachment.content_type().unwrap_or("application/octet-stream").to_owned();
        all.push((id, media, attachment.bytes().await.map_err(Fault::from)?));
    }
    Ok(all)
}

#[cold]
fn stopped() -> Fault {
    Fault::receiver("the service stopped")
}
