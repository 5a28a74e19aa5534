//! The peer protocol of `bench/peers/PROTOCOL.md`, for XML libraries in Rust.
//!
//! A library defines how its [`Message`]s are read and written; [`serve`] does the rest: it reads
//! requests, keeps the one prepared workload, and measures time and memory.

mod checksum;
mod memory;
mod work;

use std::io::{self, BufRead, Read, Write};

pub use checksum::Checksum;

use work::{Decode, Encode, Work};

/// A result with a human-readable error.
pub type Result<T> = std::result::Result<T, String>;

/// The values of one kind of workload, and how the library reads and writes them.
pub trait Message: Sized + 'static {
    /// Decodes a complete message to owned values.
    ///
    /// # Errors
    /// When the message is not well-formed or of another operation.
    fn decode(message: &[u8]) -> Result<Self>;

    /// Appends the complete message to an empty buffer.
    ///
    /// # Errors
    /// When the library rejects the values.
    fn encode(&self, out: &mut String) -> Result<()>;

    /// Adds the values to a checksum.
    fn add_to(&self, sum: &mut Checksum);

    /// Returns the checksum of the values, in the protocol's format.
    fn checksum(&self) -> String {
        let mut sum = Checksum::default();
        self.add_to(&mut sum);
        sum.hex()
    }
}

/// A kind of workload such as `ints`.
pub struct Kind {
    name: &'static str,
    decode: fn(Vec<u8>) -> Result<Box<dyn Work>>,
    encode: fn(Vec<u8>) -> Result<Box<dyn Work>>,
}

/// Creates the kind with this name, whose values are an `M`.
#[must_use]
pub fn kind<M: Message>(name: &'static str) -> Kind {
    Kind {
        name,
        decode: |message| Ok(Box::new(Decode::<M>::new(message)?)),
        encode: |message| Ok(Box::new(Encode::<M>::new(&message)?)),
    }
}

/// Answers requests until the input ends.
///
/// # Errors
/// When standard input or output fails.
pub fn serve(name: &str, version: &str, kinds: &[Kind]) -> io::Result<()> {
    let (mut requests, mut answers) = (io::stdin().lock(), io::stdout().lock());
    let mut peer = Peer { name, version, kinds, prepared: None };
    let mut line = String::new();
    while requests.read_line(&mut line)? > 0 && line != "quit\n" {
        let answer = peer.answer(line.trim_end(), &mut requests);
        answers.write_all(&answer.unwrap_or_else(|error| refusal(&error)))?;
        answers.flush()?;
        line.clear();
    }
    Ok(())
}

fn refusal(error: &str) -> Vec<u8> {
    let plain = |character: char| if character.is_control() || "\"\\".contains(character) { ' ' } else { character };
    let text: String = error.chars().map(plain).collect();
    format!("{{\"ok\":false,\"error\":\"{text}\"}}\n").into_bytes()
}

struct Peer<'a> {
    name: &'a str,
    version: &'a str,
    kinds: &'a [Kind],
    prepared: Option<Box<dyn Work>>,
}

impl Peer<'_> {
    fn answer(&mut self, line: &str, requests: &mut impl Read) -> Result<Vec<u8>> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["hello"] => Ok(self.hello()),
            ["prepare", workload, _, length] => self.prepare(workload, read(requests, length)?),
            ["run", count] => self.run(number(count)?),
            ["output"] => self.output(),
            _ => Err(format!("this peer does not know {line:?}")),
        }
    }

    fn hello(&self) -> Vec<u8> {
        let of = |direction: &'static str| self.kinds.iter().map(move |kind| format!("\"{direction}-{}\"", kind.name));
        let workloads: Vec<String> = of("decode").chain(of("encode")).collect();
        let (name, version) = (self.name, self.version);
        format!("{{\"peer\":\"{name}\",\"version\":\"{version}\",\"workloads\":[{}]}}\n", workloads.join(",")).into_bytes()
    }

    fn prepare(&mut self, workload: &str, message: Vec<u8>) -> Result<Vec<u8>> {
        self.prepared = None;
        let (direction, name) = workload.split_once('-').ok_or("a workload is DIRECTION-KIND")?;
        let kind = self.kinds.iter().find(|kind| kind.name == name).ok_or("unknown kind of workload")?;
        let mut work = match direction {
            "decode" => (kind.decode)(message),
            "encode" => (kind.encode)(message),
            _ => Err("this peer decodes and encodes".to_owned()),
        }?;
        let (checksum, bytes) = (work.checksum()?, work.bytes());
        self.prepared = Some(work);
        Ok(format!("{{\"ok\":true,\"checksum\":\"{checksum}\",\"bytes\":{bytes}}}\n").into_bytes())
    }

    fn run(&mut self, count: usize) -> Result<Vec<u8>> {
        let work = self.prepared.as_mut().ok_or("nothing is prepared")?;
        let (times, peak) = work::run(&mut **work, count)?;
        let times: Vec<String> = times.iter().map(u64::to_string).collect();
        let checksum = work.checksum()?;
        Ok(format!("{{\"ns\":[{}],\"checksum\":\"{checksum}\",\"peak_bytes\":{peak}}}\n", times.join(",")).into_bytes())
    }

    fn output(&self) -> Result<Vec<u8>> {
        let output = self.prepared.as_ref().and_then(|work| work.output()).ok_or("nothing was encoded")?;
        Ok([format!("{}\n", output.len()).as_bytes(), output].concat())
    }
}

fn number(word: &str) -> Result<usize> {
    word.parse().map_err(|_| format!("{word:?} is no number"))
}

fn read(requests: &mut impl Read, length: &str) -> Result<Vec<u8>> {
    let mut message = Vec::new();
    let length = number(length)?;
    let read = requests.take(length as u64).read_to_end(&mut message).map_err(|error| error.to_string())?;
    if read == length { Ok(message) } else { Err("the message is cut".to_owned()) }
}
