//! Message types, found by their body's element: requests and responses of the demo's services,
//! which are compiled in, or those of a contract.

use deltasoap::engine::decode::{Cursor, Step};
use deltasoap::engine::{Buffer, DifferentialStats, Memory};
use deltasoap::schema::{ElementRef, QName};
use deltasoap::soap::Envelope;
use deltasoap::types::Value;
use deltasoap::{Error, Message};
use deltasoap_dynamic::Contract;
use std::collections::{HashMap, HashSet};

/// The known message types, each with its index.
pub struct Types {
    all: Vec<MessageType>,
    /// By local name first, so that a lookup needs no owned name.
    by_local: HashMap<String, Vec<usize>>,
}

impl Types {
    /// Returns the types compiled in.
    pub fn compiled_in() -> Self {
        Self::new([benchmarks(), cwmp(), v_sphere()].into_iter().flatten().collect())
    }

    /// Returns the requests and responses of a contract's operations.
    pub fn from_contract(contract: &Contract) -> Self {
        let mut known = HashSet::new();
        let mut all = Vec::new();
        for operation in contract.operations() {
            for (name, content) in [operation.request(), operation.response()].into_iter().flatten() {
                // Bodies with no element, or with several, are not compared.
                if !name.local.is_empty() && known.insert(name.clone()) {
                    all.push(MessageType::dynamic(contract.clone(), name.clone(), content));
                }
            }
        }
        Self::new(all)
    }

    fn new(all: Vec<MessageType>) -> Self {
        let mut by_local = HashMap::<String, Vec<usize>>::new();
        for (index, each) in all.iter().enumerate() {
            by_local.entry(each.name.local.to_string()).or_default().push(index);
        }
        Types { all, by_local }
    }

    /// Returns the number of types.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the index of the type with this body element.
    pub fn find(&self, namespace: &str, local: &str) -> Option<usize> {
        let same_local = self.by_local.get(local)?;
        same_local.iter().copied().find(|&index| self.all[index].name.namespace == namespace)
    }
}

impl std::ops::Index<usize> for Types {
    type Output = MessageType;

    fn index(&self, index: usize) -> &MessageType {
        &self.all[index]
    }
}

/// A message type.
pub struct MessageType {
    /// The body's element.
    pub name: QName,
    start: Box<dyn Fn() -> Box<dyn Track>>,
}

impl MessageType {
    fn new<T: Message + 'static>() -> Self {
        MessageType { name: T::ELEMENT, start: Box::new(|| Box::new(TypedTrack(Memory::<T>::default()))) }
    }

    fn dynamic(contract: Contract, name: QName, content: ElementRef) -> Self {
        let own = name.clone();
        let start = move || {
            let track = DynamicTrack {
                contract: contract.clone(),
                name: own.clone(),
                content,
                memory: Memory::new(Value::Absent),
            };
            Box::new(track) as Box<dyn Track>
        };
        MessageType { name, start: Box::new(start) }
    }

    /// Creates a track for the messages of one stream.
    pub fn start(&self) -> Box<dyn Track> {
        (self.start)()
    }
}

/// The messages of one type in one stream, decoded one after another.
pub trait Track {
    /// Decodes the next message's body element; see [`Memory::decode`].
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step;

    /// Forgets the last message and its value.
    fn renew(&mut self);

    /// Returns the counters of differential decoding.
    fn stats(&self) -> DifferentialStats;

    /// Encodes the last message's value: different values give different bytes. Unlike a comparison
    /// of values, this distinguishes 0 from -0, and NaN equals itself.
    ///
    /// # Errors
    /// Returns an error if the value holds text that XML cannot represent.
    fn written(&self) -> Result<Buffer, Error>;
}

struct TypedTrack<T>(Memory<T>);

impl<T: Message> Track for TypedTrack<T> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.0.decode(cursor, T::view())
    }

    fn renew(&mut self) {
        self.0 = Memory::default();
    }

    fn stats(&self) -> DifferentialStats {
        self.0.stats()
    }

    fn written(&self) -> Result<Buffer, Error> {
        Envelope::new(self.0.value()).write(Buffer::new())
    }
}

/// Messages of a contract, decoded to dynamic values.
struct DynamicTrack {
    contract: Contract,
    name: QName,
    content: ElementRef,
    memory: Memory<Value>,
}

impl Track for DynamicTrack {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, self.contract.view(self.content))
    }

    fn renew(&mut self) {
        self.memory = Memory::new(Value::Absent);
    }

    fn stats(&self) -> DifferentialStats {
        self.memory.stats()
    }

    fn written(&self) -> Result<Buffer, Error> {
        Envelope::element(&self.name, self.memory.value(), self.contract.view(self.content)).write(Buffer::new())
    }
}

macro_rules! types {
    ($($name:ty),* $(,)?) => {
        vec![$(MessageType::new::<$name>()),*]
    };
}

fn benchmarks() -> Vec<MessageType> {
    use crate::services::bench::*;
    types![
        EchoVoid,
        EchoVoidResponse,
        EchoBooleans,
        EchoBooleansResponse,
        EchoInts,
        EchoIntsResponse,
        EchoLongs,
        EchoLongsResponse,
        EchoFloats,
        EchoFloatsResponse,
        EchoDoubles,
        EchoDoublesResponse,
        EchoDecimals,
        EchoDecimalsResponse,
        EchoDateTimes,
        EchoDateTimesResponse,
        EchoStrings,
        EchoStringsResponse,
        EchoMios,
        EchoMiosResponse,
        EchoBase64,
        EchoBase64Response,
        EchoStruct,
        EchoStructResponse,
        SendInts,
        SendIntsResponse,
        SendDoubles,
        SendDoublesResponse,
        SendStrings,
        SendStringsResponse,
        SendMios,
        SendMiosResponse,
        SendBase64,
        SendBase64Response,
        TraceRequest,
        TraceResponse,
        EchoAttachment,
        EchoAttachmentResponse,
        SendAttachment,
        SendAttachmentResponse,
        Notify,
        Notified,
        NotifiedResponse,
        Fail,
        FailResponse,
    ]
}

fn cwmp() -> Vec<MessageType> {
    use crate::services::tr069::{v1_0, v1_4};
    types![v1_0::Inform, v1_0::InformResponse, v1_4::Inform, v1_4::InformResponse]
}

fn v_sphere() -> Vec<MessageType> {
    use crate::services::vsphere::{Fetch, FetchResponse};
    types![Fetch, FetchResponse]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_own_name() {
        let types = Types::compiled_in();
        for index in 0..types.len() {
            let name = &types[index].name;
            assert_eq!(types.find(&name.namespace, &name.local), Some(index), "{name}");
        }
        assert_eq!(types.find("urn:other", "Inform"), None);
    }

    #[test]
    fn every_message_of_the_description_has_its_type() {
        let description = include_str!("../../data/bench.wsdl");
        let named = description.split("element=\"tns:").skip(1).filter_map(|rest| rest.split('"').next());
        let messages: Vec<_> = named.filter(|name| !["BenchFault", "Trace"].contains(name)).collect();
        let types = Types::compiled_in();
        let unknown: Vec<_> = messages.iter().filter(|name| types.find("urn:bench", name).is_none()).collect();
        assert!(messages.len() > 30 && unknown.is_empty(), "{unknown:?} of {messages:?}");
    }
}
