//! Goals on WSDLs: importing large ones, loading the compiled result, and decoding with them
//! instead of types.

mod decode;
mod import;
mod neighbours;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result};
use deltasoap::engine::decode::{Cursor, Decoder, Step};
use deltasoap::engine::{ErrorKind, Memory};
use deltasoap::schema::{ElementRef, QName, View};
use deltasoap::soap::{EnvelopeReader, Head, Receiver};
use deltasoap::types::Value;
use deltasoap_wsdl::{Importer, Lowered};

use super::{Effort, Task};

/// Returns the goals. `descriptions` is a folder of large WSDLs.
pub fn tasks(effort: Effort, descriptions: Option<PathBuf>) -> Vec<Task> {
    let mut tasks = import::tasks(effort, &descriptions.unwrap_or_else(testdata));
    tasks.extend(decode::tasks(effort));
    tasks.push(neighbours::task(effort));
    tasks
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wsdl")
}

/// A body as described by a WSDL.
#[derive(Clone)]
struct Body {
    lowered: Rc<Lowered>,
    name: QName,
    content: ElementRef,
}

impl Body {
    /// Returns the body with this element of a WSDL in `testdata`.
    fn of(description: &str, name: &QName) -> Result<Self> {
        let import = Importer::new().offline().file(&testdata().join(description))?;
        let lowered = import.lower();
        let methods = lowered.operations.iter().filter_map(|operation| operation.method.as_ref().ok());
        let bodies = methods.flat_map(|method| {
            let element = &method.element;
            [Some((&element.request_name, element.request)), element.response_name.as_ref().zip(element.response)]
        });
        let (_, content) = bodies.flatten().find(|(found, _)| *found == name).context("no such message")?;
        Ok(Body { name: name.clone(), content, lowered: Rc::new(lowered) })
    }

    fn view(&self) -> View<'_> {
        self.lowered.schema.view(self.content)
    }

    /// Reads a message, compared with the one in the memory.
    fn decode(&self, decoder: &mut Decoder, memory: Memory<Value>, message: &[u8]) -> Result<Memory<Value>> {
        let mut reader = EnvelopeReader::new(BodyReceiver { body: self, memory });
        decoder.decode(&mut reader, message)?;
        Ok(reader.into_parts().1.memory)
    }
}

/// Accepts one body.
struct BodyReceiver<'b> {
    body: &'b Body,
    memory: Memory<Value>,
}

impl Receiver for BodyReceiver<'_> {
    fn open_body(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        match self.body.name.is(namespace, local) {
            true => Ok(()),
            false => Err(ErrorKind::UnknownOperation(local.to_owned())),
        }
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, self.body.view())
    }
}
