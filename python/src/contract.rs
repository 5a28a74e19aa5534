//! Contracts: imported WSDLs and schemas, with the Python classes of their types.

use crate::errors::{self, Invalid};
use crate::from_python::{FromPython, parse_name};
use crate::gate;
use crate::names::{Layout, Layouts};
use crate::operation::PyOperation;
use crate::to_python::{ToPython, UnknownType};
use crate::{definitions, describe, lenient};
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{Builtin, ComplexElement, Element, ElementRef, OpenElement, Schema, Use};
use deltasoap_core::soap::Version;
use deltasoap_core::{Content, QName, Tolerance, Value};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_wsdl::fetch::{Fetch, FetchError, Fetched, Location, Request, WebClient};
use deltasoap_wsdl::xsd::{TypeId, Variety};
use deltasoap_wsdl::{Importer, Schemas};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyWeakrefReference};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use url::Url;

/// A contract, the names of its values, and the classes of its types.
pub(crate) struct Model {
    pub(crate) contract: Contract,
    pub(crate) layouts: Layouts,
    /// What makes the classes of types. The reference is weak since Python's collector does not see
    /// those that a contract has: a client that nobody needs would stay.
    classes: OnceLock<Py<PyWeakrefReference>>,
    /// The schema for messages that break its rules.
    relaxed: OnceLock<Schema>,
}

impl Model {
    fn new(contract: Contract) -> Self {
        Model { contract, layouts: Layouts::default(), classes: OnceLock::new(), relaxed: OnceLock::new() }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.contract.lowered().schema
    }

    /// Returns the schema for messages that break the rules of the [schema](Self::schema).
    pub(crate) fn relaxed(&self) -> &Schema {
        self.relaxed.get_or_init(|| lenient::relaxed(self.schema()))
    }

    pub(crate) fn schemas(&self) -> &Schemas {
        self.contract.description().schemas()
    }

    /// Returns the content of an element that a schema declares.
    pub(crate) fn element(&self, name: &QName) -> Option<ElementRef> {
        self.contract.lowered().element(self.schemas().element_named(name)?)
    }

    /// Returns the name of the type of some content, if it has one.
    pub(crate) fn type_name(&self, content: ElementRef) -> Option<QName> {
        let origin = self.contract.lowered().origin(content)?;
        self.schemas()[origin.type_id].name.clone()
    }

    /// Returns the built-in type of the items, if some content is a list. The engine keeps lists as
    /// their text.
    pub(crate) fn list_items(&self, content: ElementRef) -> Option<Builtin> {
        let origin = self.contract.lowered().origin(content)?;
        let Some(&Variety::List(item)) = self.schemas().variety(origin.type_id) else { return None };
        match self.schemas().variety(item) {
            Some(Variety::Builtin(builtin)) => Some(*builtin),
            _ => Some(Builtin::String),
        }
    }

    /// Makes an instance of the class of a complex type; the dict itself if there are no classes.
    pub(crate) fn instance<'py>(
        &self,
        py: Python<'py>,
        content: ElementRef,
        complex: &ComplexElement,
        layout: &Layout,
        values: Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let classes = self.classes.get().and_then(|classes| classes.bind(py).upgrade());
        let (Some(classes), ElementRef::Index(index)) = (classes, content) else { return Ok(values.into_any()) };
        let known = classes.getattr(intern!(py, "instances"))?.cast_into::<PyDict>()?;
        if let Some(instance) = known.get_item(index)? {
            return instance.call1((values,));
        }
        let class = self.class(py, &classes, content, complex, layout)?;
        let instance = class.getattr("_from_engine")?;
        known.set_item(index, &instance)?;
        instance.call1((values,))
    }

    fn class<'py>(
        &self,
        py: Python<'py>,
        classes: &Bound<'py, PyAny>,
        content: ElementRef,
        complex: &ComplexElement,
        layout: &Layout,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reference = self.reference(py, content)?;
        let name = match complex.name.local.is_empty() {
            true => String::new(),
            false => complex.name.to_string(),
        };
        classes.call_method1("make", (reference, name, layout.names(complex)))
    }

    /// Returns the reference of the type of some content; `None` of Python for the bodies of rpc
    /// messages, which have no type.
    pub(crate) fn reference<'py>(&self, py: Python<'py>, content: ElementRef) -> PyResult<Bound<'py, PyAny>> {
        match self.contract.lowered().origin(content) {
            Some(origin) => describe::reference(py, self.schemas(), origin.type_id),
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// Returns the names of the values of some content; none for content that is simple.
    pub(crate) fn value_names(&self, py: Python<'_>, content: ElementRef) -> Vec<String> {
        let view = self.schema().view(content);
        match view.element {
            Element::Open(OpenElement { base: Some(base), .. }) => self.value_names(py, *base),
            Element::Complex(complex) => self.layouts.of(py, content, complex, view).names(complex),
            _ => Vec::new(),
        }
    }

    /// Returns the type with a reference: its name, or its number if it has none.
    fn type_id(&self, reference: &Bound<'_, PyAny>) -> PyResult<TypeId> {
        let unknown = || PyKeyError::new_err(format!("no type {reference}"));
        if let Ok(index) = reference.extract::<usize>() {
            return self.schemas().types().nth(index).map(|(id, _)| id).ok_or_else(unknown);
        }
        let name: String = reference.extract()?;
        let name = parse_name(&name).ok_or_else(unknown)?;
        let builtin = || Schemas::builtin_named(&name);
        self.schemas().type_named(&name).or_else(builtin).ok_or_else(unknown)
    }

    fn type_content(&self, reference: &Bound<'_, PyAny>) -> PyResult<ElementRef> {
        let id = self.type_id(reference)?;
        let unused = || PyValueError::new_err(format!("no message has a value of the type {reference}"));
        self.contract.lowered().exactly(id, Use::Literal).ok_or_else(unused)
    }
}

/// A contract: an imported WSDL or schema.
#[pyclass(name = "Contract", module = "deltasoap._engine", frozen)]
pub(crate) struct PyContract {
    pub(crate) model: Arc<Model>,
}

#[pymethods]
impl PyContract {
    /// Imports a WSDL or a schema from a URL, a file, a directory or a zip archive.
    ///
    /// `load` fetches documents from the network; `progress` is called with each location before it
    /// is read.
    #[staticmethod]
    #[pyo3(signature = (location, *, load=None, progress=None))]
    fn load(py: Python<'_>, location: &str, load: Option<Py<PyAny>>, progress: Option<Py<PyAny>>) -> PyResult<Self> {
        Self::import(py, load, progress, |importer| importer.import(location))
    }

    /// Imports a WSDL or a schema from its text. References are relative to `location`, a URL or
    /// the path of a file. Files are read only below `root`, if it is given.
    #[staticmethod]
    #[pyo3(signature = (document, location="", *, load=None, root=None))]
    fn parse(
        py: Python<'_>,
        document: Vec<u8>,
        location: &str,
        load: Option<Py<PyAny>>,
        root: Option<PathBuf>,
    ) -> PyResult<Self> {
        let place = match Url::parse(location) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Location::Web(url),
            _ if location.is_empty() => Location::Text("(text)".to_owned()),
            _ => Location::File(PathBuf::from(location)),
        };
        Self::import(py, load, None, |importer| match root {
            Some(root) => importer.root(root).bytes(place, document),
            None => importer.bytes(place, document),
        })
    }

    /// Returns the contract as bytes that `parse` reads, the same for the same documents. Only the version
    /// of the package that wrote them can read them.
    fn compile<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &gate::leave(py, || self.model.contract.description().compile()))
    }

    /// The services: their names, and their ports with addresses, bindings and operations.
    #[getter]
    fn services<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        describe::services(py, &self.model)
    }

    /// The messages, port types, bindings and services as the WSDL defines them.
    #[getter]
    fn definitions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        definitions::describe(py, &self.model)
    }

    /// The namespaces of all types and elements, in the order of the schemas.
    #[getter]
    fn namespaces(&self) -> Vec<String> {
        describe::namespaces(&self.model)
    }

    /// The names of all types that have one, but for built-in ones.
    #[getter]
    fn type_names(&self) -> Vec<String> {
        let own = self.model.schemas().types().filter(|(_, it)| it.place.is_some());
        own.filter_map(|(_, it)| it.name.as_ref().map(ToString::to_string)).collect()
    }

    /// The names of all elements that a schema declares.
    #[getter]
    fn element_names(&self) -> Vec<String> {
        let elements = self.model.schemas().elements().filter(|(_, it)| it.is_global);
        elements.map(|(_, it)| it.name.to_string()).collect()
    }

    /// Describes a type by its name, or its number if it has none.
    fn r#type<'py>(&self, reference: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        describe::type_of(reference.py(), &self.model, self.model.type_id(reference)?)
    }

    /// Describes an element that a schema declares.
    fn element<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let found = parse_name(name).and_then(|name| self.model.schemas().element_named(&name));
        let id = found.ok_or_else(|| PyKeyError::new_err(format!("no element {name}")))?;
        describe::element(py, self.model.schemas(), id)
    }

    /// Describes an attribute that a schema declares.
    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let found = parse_name(name).and_then(|name| self.model.schemas().attribute_named(&name));
        let id = found.ok_or_else(|| PyKeyError::new_err(format!("no attribute {name}")))?;
        describe::attribute(py, self.model.schemas(), id)
    }

    /// Returns an operation of a binding.
    fn operation(&self, py: Python<'_>, binding: &str, name: &str) -> PyResult<PyOperation> {
        let is_it = |it: &Operation| {
            let is_name = it.name() == name || it.distinct_name() == name;
            is_name && it.binding().name.to_string() == binding
        };
        let all = self.model.contract.operations();
        let found = all.into_iter().find(is_it);
        let unknown = || PyKeyError::new_err(format!("the binding {binding} has no operation {name}"));
        PyOperation::new(py, Arc::clone(&self.model), found.ok_or_else(unknown)?)
    }

    /// Sets what makes the classes of complex types: its method `make` is called with the reference
    /// of a type (`None` if it has none), its name, and the names of its values, once for each type
    /// that is needed; the dict `instances` keeps what makes instances. The caller keeps it alive.
    fn set_classes(&self, classes: &Bound<'_, PyAny>) -> PyResult<()> {
        let classes = PyWeakrefReference::new(classes)?.unbind();
        self.model.classes.set(classes).map_err(|_| PyValueError::new_err("the classes have been set"))
    }

    /// Writes an element that a schema declares, as a document.
    fn encode_element<'py>(&self, name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let unknown = || PyKeyError::new_err(format!("no element {name}"));
        let name = parse_name(name).ok_or_else(unknown)?;
        let content = self.model.element(&name).ok_or_else(unknown)?;
        self.encode(&name, content, value)
    }

    /// Writes a value of a type in an element of this name, as a document.
    fn encode_type<'py>(
        &self,
        reference: &Bound<'py, PyAny>,
        name: &str,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let content = self.model.type_content(reference)?;
        let name = parse_name(name).ok_or_else(|| PyValueError::new_err(format!("{name:?} is no name")))?;
        self.encode(&name, content, value)
    }

    /// Reads an element of any name as a value of a type.
    #[pyo3(signature = (reference, document, *, tolerance="strict"))]
    fn decode_type<'py>(
        &self,
        reference: &Bound<'py, PyAny>,
        document: &[u8],
        tolerance: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        decode(reference.py(), &self.model, self.model.type_content(reference)?, document, tolerance)
    }

    /// The names of the values of a complex type, in order.
    fn value_names(&self, reference: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        Ok(self.model.value_names(reference.py(), self.model.type_content(reference)?))
    }
}

impl PyContract {
    fn import(
        py: Python<'_>,
        load: Option<Py<PyAny>>,
        progress: Option<Py<PyAny>>,
        import: impl FnOnce(Importer) -> Result<deltasoap_wsdl::Import, deltasoap_wsdl::Error> + Send,
    ) -> PyResult<Self> {
        let raised = Arc::new(Mutex::new(None));
        // The user of a program names the WSDL, so files near it may be read. What loads documents
        // decides which.
        let importer = Importer::new().trust_tree();
        let importer = if load.is_some() { importer.allow_private() } else { importer };
        let importer = match load.is_some() || progress.is_some() {
            true => importer.fetch_with(PyFetch { load, progress, raised: Arc::clone(&raised) }),
            false => importer,
        };
        let imported = gate::leave(py, || import(importer).map(Contract::from));
        if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        let contract = imported.map_err(|error| errors::import(py, &error))?;
        Ok(PyContract { model: Arc::new(Model::new(contract)) })
    }

    fn encode<'py>(
        &self,
        name: &QName,
        content: ElementRef,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = value.py();
        let converted = match value.is_none() {
            true => Ok(Value::Nil),
            false => FromPython::new(py, &self.model)?.content(value, content, name),
        };
        let converted = converted.map_err(|error| error.into_py_err(py))?;
        let bytes = write(&self.model, name, content, &converted).map_err(|error| error.into_py_err(py))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

/// Reads an element of any name as the content of one.
pub(crate) fn decode<'py>(
    py: Python<'py>,
    model: &Model,
    content: ElementRef,
    document: &[u8],
    tolerance: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let decoded = match tolerance {
        "lenient" => lenient::decode(model, content, document),
        // What asks for less than the strict rules wants no errors about texts either.
        "any_order" => lenient::decode_with(model.relaxed(), content, document, Tolerance::AnyOrder).map(|it| it.0),
        other => lenient::decode_with(model.schema(), content, document, self::tolerance(other)?).map(|it| it.0),
    };
    let value = decoded.map_err(|error| errors::raise(py, "XMLParseError", (errors::with_causes(&error),), &[]))?;
    let unknown_type = if tolerance == "lenient" { UnknownType::Lenient } else { UnknownType::Skipping };
    ToPython::new(py, model, &|_| None).with_unknown_types(unknown_type).content(&value, content)
}

/// Writes an element as a document.
pub(crate) fn write(model: &Model, name: &QName, content: ElementRef, value: &Value) -> Result<Vec<u8>, Invalid> {
    let mut encoder = Encoder::new();
    encoder.start(name);
    match value {
        Value::Nil => encoder.nil(),
        value => value.encode(&mut encoder, model.schema().view(content)),
    }
    encoder.end();
    encoder.finish().map(deltasoap_core::Buffer::into_vec).map_err(|error| Invalid::new(error.to_string()))
}

/// Returns the tolerance of a name.
pub(crate) fn tolerance(name: &str) -> PyResult<Tolerance> {
    match name {
        "strict" => Ok(Tolerance::Strict),
        "unknown" => Ok(Tolerance::Unknown),
        "any_order" => Ok(Tolerance::AnyOrder),
        other => Err(PyValueError::new_err(format!("{other:?} is none of strict, unknown, any_order"))),
    }
}

/// Returns the version of SOAP as its number.
pub(crate) fn version(version: Version) -> &'static str {
    match version {
        Version::Soap11 => "1.1",
        Version::Soap12 => "1.2",
    }
}

/// Fetches documents by a function in Python.
struct PyFetch {
    load: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    /// The first exception, which is more than its text.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Fetch for PyFetch {
    fn fetch(&self, request: &Request<'_>) -> Result<Fetched, FetchError> {
        let fetched = gate::attach(|py| {
            if let Some(progress) = &self.progress {
                progress.bind(py).call1((request.url.as_str(),))?;
            }
            let load = self.load.as_ref().map(|load| load.bind(py).call1((request.url.as_str(),)));
            load.map(|bytes| bytes?.extract::<Vec<u8>>()).transpose()
        });
        let fetched = fetched.unwrap_or_else(|| match gate::sleep() {});
        match fetched {
            Ok(Some(bytes)) => Ok(Fetched { bytes, is_private: true, ..Fetched::default() }),
            Ok(None) => WebClient::default().fetch(request),
            Err(error) => {
                let text = error.to_string();
                self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                Err(FetchError::Unavailable(text))
            }
        }
    }
}
