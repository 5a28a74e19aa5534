//! [quick-xml](https://docs.rs/quick-xml) with serde as a peer: derived types, `from_str` and the
//! serializer into a reused string.

mod message;
mod values;

use std::io;

use message::{SendBase64, SendDoubles, SendDoubles64, SendEvents, SendInts, SendMios, SendStrings};
use protocol::kind;

fn main() -> io::Result<()> {
    let kinds = [
        kind::<SendInts>("ints"),
        kind::<SendDoubles>("easy"),
        kind::<SendDoubles>("hard"),
        kind::<SendStrings>("strings"),
        kind::<SendMios>("structs"),
        kind::<SendEvents>("events"),
        kind::<SendBase64>("base64"),
        kind::<SendDoubles64>("doubles64"),
    ];
    protocol::serve("quick-xml", "0.42.0", &kinds)
}
