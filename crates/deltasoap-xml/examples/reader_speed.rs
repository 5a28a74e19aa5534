//! Speed of the reader in MB/s over some generated documents, and over files given as arguments.
//!
//! ```text
//! cargo run --release -p deltasoap-xml --example reader_speed -- message.xml
//! ```

use deltasoap_xml::{Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError};
use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Time for which each document is read repeatedly.
const TIME: Duration = Duration::from_millis(500);

/// Bytes per chunk, as a network might deliver them.
const CHUNK: usize = 16 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    report("doubles", envelope("<item>", "</item>", |text, i| write!(text, "{}", (i as f64).sqrt())).as_bytes())?;
    report("rpc", envelope("<item xsi:type=\"xsd:int\">", "</item>", |text, i| write!(text, "{i}")).as_bytes())?;
    report("structs", envelope("<m:p><m:x>1</m:x><m:y>", "</m:y></m:p>", |text, i| write!(text, "{i}")).as_bytes())?;
    report("strings", envelope("<s>", "</s>", |text, _| text.write_str(&"some words of text ".repeat(20))).as_bytes())?;
    report("chinese", envelope("<s>", "</s>", |text, _| text.write_str(&"漢字かな交じり文".repeat(20))).as_bytes())?;
    for path in std::env::args().skip(1) {
        report(&path, &std::fs::read(&path)?)?;
    }
    Ok(())
}

/// A message of many elements.
fn envelope(open: &str, close: &str, value: impl Fn(&mut String, usize) -> std::fmt::Result) -> String {
    let mut text = concat!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\" ",
        "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\">",
        "<soap:Body><m:values xmlns:m=\"urn:measurements\">",
    )
    .to_owned();
    for i in 0..20_000 {
        text.push_str(open);
        value(&mut text, i).unwrap_or_default();
        text.push_str(close);
    }
    text + "</m:values></soap:Body></soap:Envelope>"
}

fn report(name: &str, document: &[u8]) -> Result<(), Box<XmlError>> {
    let (mut reader, mut feed) = (Reader::new(Limits::default(), Instructions::Skip), Feed::new(Limits::default()));
    let start = Instant::now();
    let (mut rounds, mut events) = (0u32, 0);
    while start.elapsed() < TIME {
        events = read(&mut reader, &mut feed, document)?;
        rounds += 1;
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(rounds);
    let speed = document.len() as f64 / 1e6 / seconds;
    println!(
        "{speed:7.0} MB/s  {:5.1} ns/event  {:9} bytes  {name}",
        seconds * 1e9 / f64::from(events),
        document.len()
    );
    Ok(())
}

/// Reads a document in chunks; returns the number of events.
fn read(reader: &mut Reader, feed: &mut Feed, document: &[u8]) -> Result<u32, Box<XmlError>> {
    reader.reset();
    feed.reset();
    let mut events = 0;
    let mut step = |window: &mut Window<'_>| loop {
        match reader.next(window) {
            Ok(Event::Done) => return Ok(()),
            Ok(event) => {
                black_box(event);
                events += 1;
            }
            Err(Stop::Pending) => return Err(None),
            Err(Stop::Error(error)) => return Err(Some(error)),
        }
    };
    for chunk in document.chunks(CHUNK) {
        feed.push(chunk, &mut step)?;
    }
    feed.finish(&mut step)?;
    Ok(events)
}
