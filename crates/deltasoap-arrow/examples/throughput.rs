//! How fast messages become Arrow record batches: megabytes of messages in a second of processor
//! time of one core, decoding included, in full and differentially.
//!
//!     cargo run --release -p deltasoap-arrow --example throughput [-- STREAM...] [--export DIRECTORY]
//!
//! With `--export`, the messages of each stream and their JSON are also written, for programs that are
//! compared: `STREAM.messages`, each message after its length in four bytes, and `STREAM.jsonl`.
//!
//! Every row is compared with the JSON of its message, leaf by leaf, before any time counts. Rounds
//! of the two modes alternate; the fastest of each counts.

#[path = "../tests/support/oracle.rs"]
mod oracle;

use bytes::Bytes;
use deltasoap_arrow::{MessageBuilder, MessageSchema, NoParts};
use deltasoap_core::decode::{Cursor, Decoder, Step};
use deltasoap_core::schema::ElementRef;
use deltasoap_core::soap::{EnvelopeReader, Head, Receiver};
use deltasoap_core::{DecodeOptions, Differential, Error, ErrorKind, Memory, QName, Value};
use deltasoap_dynamic::Contract;
use deltasoap_streams::prng::SplitMix64;
use deltasoap_streams::{arrays, similar, tr069, vsphere};
use deltasoap_test_support::files;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Number of rounds of each mode.
const ROUNDS: usize = 7;
/// Number of bytes of messages after which a record batch ends, as in archives.
const BATCH_BYTES: usize = 8 << 20;
/// Number of bytes of a round, at least.
const ROUND_BYTES: usize = 24 << 20;

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let at = names.iter().position(|name| name == "--export");
    let export = at.and_then(|at| names.drain(at..).nth(1));
    println!("{:<12}{:>10}{:>12}{:>14}{:>14}", "stream", "messages", "bytes", "full, MB/s", "differential");
    for stream in streams() {
        if names.is_empty() || names.contains(&stream.name.to_owned()) {
            measure(&stream, export.as_deref().map(Path::new));
        }
    }
}

/// Messages of several senders, in the order of their arrival.
struct Stream {
    name: &'static str,
    contract: Contract,
    messages: Vec<(u32, Bytes)>,
}

fn streams() -> Vec<Stream> {
    let import = |path: &str| Contract::import(&files::in_repository(path).to_string_lossy()).expect("a description");
    let invoices = || Contract::from_text(include_str!("../tests/data/invoices.wsdl")).expect("a description");
    let recorded = vsphere::fetch_pairs().flat_map(|(request, response)| [request, response]);
    let informs = tr069::inform_stream(1, 20, 100).filter(|message| message.xml.contains("urn:dslforum-org:cwmp-1-0"));
    let informs = informs.map(|message| (message.device, Bytes::from(message.xml)));
    vec![
        Stream { name: "doubles", contract: invoices(), messages: doubles() },
        Stream { name: "invoices", contract: invoices(), messages: submissions() },
        Stream {
            name: "tr069",
            contract: import("testdata/wsdl/BroadbandForum+cwmp-data-models/cwmp-1-0.xsd"),
            messages: informs.collect(),
        },
        Stream {
            name: "vsphere",
            contract: import("testdata/wsdl/vsphere-fetch.wsdl"),
            messages: recorded.map(|message| (0, Bytes::from_static(message))).collect(),
        },
    ]
}

/// Arrays of doubles of 17 digits, of which a hundredth changes from one message to the next.
fn doubles() -> Vec<(u32, Bytes)> {
    let mut random = SplitMix64::new(1);
    let mut values = arrays::hard_doubles(10_000);
    let message = |_| {
        for _ in 0..values.len() / 100 {
            let at = random.below(values.len() as u32) as usize;
            values[at] = similar::hard_double(&mut random);
        }
        let mut body = String::from("<t:Doubles xmlns:t=\"urn:invoices\">");
        for value in &values {
            let _ = write!(body, "<t:item>{}</t:item>", arrays::double(*value));
        }
        (0, enveloped(&body, "t:Doubles"))
    };
    (0..24).map(message).collect()
}

/// Submissions of 25 invoices each, of three senders: the numbers change, the form remains.
fn submissions() -> Vec<(u32, Bytes)> {
    let mut random = SplitMix64::new(2);
    let message = |index: u32| {
        let mut body =
            String::from("<t:Submit xmlns:t=\"urn:invoices\"><t:Token>PD94bWwgdmVyc2lvbj0iMS4wIj8+</t:Token>");
        let _ = write!(body, "<t:Count>25</t:Count>");
        for number in 0..25_u64 {
            let number = u64::from(index) * 25 + number;
            let net = f64::from(random.below(10_000_000)) / 100.0;
            let tax = (net * 21.0).round() / 100.0;
            let _ = write!(
                body,
                "<t:Invoice><t:Kind>1</t:Kind><t:DocumentType>80</t:DocumentType><t:DocumentNumber>{}</t:DocumentNumber>\
                 <t:From>{number}</t:From><t:To>{number}</t:To><t:Date>20260102</t:Date><t:Total>{}</t:Total>\
                 <t:Net>{net}</t:Net><t:Exempt>0</t:Exempt><t:Due>2026-02-01</t:Due><t:Currency>PES</t:Currency>\
                 <t:Rate>1</t:Rate><t:Taxes><t:Tax><t:Id>5</t:Id><t:Base>{net}</t:Base><t:Amount>{tax}</t:Amount>\
                 </t:Tax></t:Taxes></t:Invoice>",
                20_000_000_000 + u64::from(random.below(999_999_999)),
                net + tax,
            );
        }
        (index % 3, enveloped(&body, "t:Submit"))
    };
    (0..200).map(message).collect()
}

fn enveloped(body: &str, end: &str) -> Bytes {
    let soap = "http://schemas.xmlsoap.org/soap/envelope/";
    format!("<s:Envelope xmlns:s=\"{soap}\"><s:Body>{body}</{end}></s:Body></s:Envelope>").into()
}

fn measure(stream: &Stream, export: Option<&Path>) {
    // All in one batch, so that there is a row for each message.
    let mut reading = Reading { batch_bytes: usize::MAX, ..Reading::new(&stream.contract, true) };
    let (mut sample, mut compared) = (BTreeMap::<QName, Vec<&Bytes>>::new(), 0);
    for (sender, message) in &stream.messages {
        let name = reading.append(*sender, message).unwrap_or_else(|error| panic!("{}: {error}", stream.name));
        sample.entry(name).or_default().push(message);
    }
    for (name, of) in &mut reading.tables {
        let batch = of.builder.finish().expect("a batch");
        let messages = sample.get(name).map_or(&[][..], |messages| messages);
        assert_eq!(messages.len(), batch.num_rows());
        for (row, message) in messages.iter().enumerate() {
            let mut alone = Reading::new(&stream.contract, false);
            alone.read(0, message).expect("a message");
            let value = alone.senders[&0].memories[name].value();
            let json = stream.contract.to_json(name, of.content, value).expect("JSON");
            compared += oracle::compare(&json, &batch, row).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
    assert!(compared > stream.messages.len() / 2, "{compared} leaves");
    if let Some(folder) = export {
        write(stream, folder).expect("files");
    }
    let bytes: usize = stream.messages.iter().map(|(_, message)| message.len()).sum();
    let mut best = [Duration::MAX; 2];
    let repeats = ROUND_BYTES.div_ceil(bytes);
    for _ in 0..ROUNDS {
        for (mode, best) in best.iter_mut().enumerate() {
            let mut reading = Reading::new(&stream.contract, mode == 1);
            let begin = processor_time();
            for _ in 0..repeats {
                counted_messages(&mut reading, &stream.messages);
            }
            *best = (*best).min(processor_time() - begin);
        }
    }
    let speed = best.map(|time| (bytes * repeats) as f64 / time.as_secs_f64() / 1e6);
    println!("{:<12}{:>10}{bytes:>12}{:>14.0}{:>14.0}", stream.name, stream.messages.len(), speed[0], speed[1]);
}

/// Writes the messages of a stream, and their JSON.
fn write(stream: &Stream, folder: &Path) -> std::io::Result<()> {
    let (mut messages, mut lines) = (Vec::new(), String::new());
    let mut reading = Reading::new(&stream.contract, false);
    for (_, message) in &stream.messages {
        messages.extend((message.len() as u32).to_le_bytes());
        messages.extend_from_slice(message);
        let (name, content) = reading.read(0, message).expect("a message");
        let value = reading.senders[&0].memories[&name].value();
        let _ = writeln!(lines, "{}", stream.contract.to_json(&name, content, value).expect("JSON"));
    }
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(format!("{}.messages", stream.name)), messages)?;
    std::fs::write(folder.join(format!("{}.jsonl", stream.name)), lines)
}

/// What callgrind counts: `--toggle-collect='*counted_messages*'`.
#[inline(never)]
fn counted_messages(reading: &mut Reading<'_>, messages: &[(u32, Bytes)]) {
    for (sender, message) in messages {
        reading.append(*sender, message).expect("a message");
    }
}

/// Returns the processor time of this thread.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    Duration::from_nanos(text.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("nanoseconds"))
}

/// Decodes messages into record batches.
struct Reading<'c> {
    contract: &'c Contract,
    is_differential: bool,
    batch_bytes: usize,
    senders: BTreeMap<u32, Sender>,
    tables: BTreeMap<QName, Table>,
}

struct Sender {
    decoder: Decoder,
    memories: BTreeMap<QName, Memory<Value>>,
}

struct Table {
    content: ElementRef,
    builder: MessageBuilder,
    waiting: usize,
}

impl<'c> Reading<'c> {
    fn new(contract: &'c Contract, is_differential: bool) -> Self {
        let (senders, tables) = (BTreeMap::new(), BTreeMap::new());
        Reading { contract, is_differential, batch_bytes: BATCH_BYTES, senders, tables }
    }

    /// Decodes a message into the memory of its sender. Returns the name of the body's element.
    fn read(&mut self, sender: u32, message: &Bytes) -> Result<(QName, ElementRef), Error> {
        let differential = if self.is_differential { Differential::default() } else { Differential::OFF };
        let of = self.senders.entry(sender).or_insert_with(|| Sender {
            decoder: Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() }),
            memories: BTreeMap::new(),
        });
        let body = Body { contract: self.contract, memories: &mut of.memories, opened: None };
        let mut reader = EnvelopeReader::new(body);
        of.decoder.decode_bytes(&mut reader, message.clone())?;
        Ok(reader.receiver.opened.expect("an opened body"))
    }

    fn append(&mut self, sender: u32, message: &Bytes) -> Result<QName, Error> {
        let (name, content) = self.read(sender, message)?;
        let value = self.senders[&sender].memories[&name].value();
        let contract = self.contract;
        let table = self.tables.entry(name.clone()).or_insert_with(|| Table {
            content,
            builder: MessageSchema::of(contract, &name, content).builder(),
            waiting: 0,
        });
        table.builder.append(value, &NoParts).expect("a row");
        table.waiting += message.len();
        if table.waiting > self.batch_bytes {
            table.waiting = 0;
            std::hint::black_box(table.builder.finish().expect("a batch"));
        }
        Ok(name)
    }
}

/// Receives an element that the contract declares.
struct Body<'b> {
    contract: &'b Contract,
    memories: &'b mut BTreeMap<QName, Memory<Value>>,
    opened: Option<(QName, ElementRef)>,
}

impl Receiver for Body<'_> {
    fn open_body(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        let name = QName::owned(namespace.to_owned(), local.to_owned());
        let declared = self.contract.description().schemas().element_named(&name);
        let content = declared.and_then(|id| self.contract.lowered().element(id)).expect("a declared element");
        self.memories.entry(name.clone()).or_insert_with(|| Memory::new(Value::Absent));
        self.opened = Some((name, content));
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        let (name, content) = self.opened.as_ref().expect("an opened body");
        let memory = self.memories.get_mut(name).expect("a memory");
        memory.decode(cursor, self.contract.view(*content))
    }
}
