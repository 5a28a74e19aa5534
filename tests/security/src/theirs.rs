//! Messages that the others sign and we verify.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use deltasoap_security::{Requirements, SecurityError, Verified};

use crate::keys;

/// Has the messages written, and verifies them. Returns true if all results are right.
///
/// # Errors
/// Returns an error if the others cannot be run.
pub fn compare(folder: &Path, oracle: impl Fn(&str) -> Result<String>) -> Result<bool> {
    oracle("sign")?;
    let list = std::fs::read_to_string(folder.join("theirs.tsv"))?;
    let (mut counts, mut wrong) = (BTreeMap::<&str, usize>::new(), 0);
    for line in list.lines() {
        let (name, key) = line.split_once('\t').context("a line without a key")?;
        let message = std::fs::read_to_string(folder.join(format!("{name}.xml")))?;
        *counts.entry(name.split('-').next().unwrap_or_default()).or_default() += 1;
        if let Err(error) = verify(&message, folder, key)? {
            wrong += 1;
            println!("WRONG {name} is refused: {error}");
        }
        let changed = match key {
            // A digest covers the nonce.
            "user" if name.ends_with("digest") => message.replacen("</wsse:Nonce>", "AAAA</wsse:Nonce>", 1),
            "user" => message.replacen("pass &amp; word", "another", 1),
            _ => message.replacen(" 0.1 ", " 0.1", 1),
        };
        ensure!(changed != message, "{name} lacks what is to be changed");
        if verify(&changed, folder, key)?.is_ok() {
            wrong += 1;
            println!("WRONG {name} is accepted after a change");
        }
    }
    println!("{} messages of others", list.lines().count());
    for (tool, count) in &counts {
        println!("{tool:8} {count:4} verified, and refused after a change");
    }
    Ok(wrong == 0 && counts.len() == 2)
}

/// Verifies a message in one piece, byte by byte and in pieces, which must give the same result.
fn verify(message: &str, folder: &Path, key: &str) -> Result<Result<(), SecurityError>> {
    let requirements = match key {
        "user" => Requirements::new().users(|user: &str| (user == "ada").then_some("pass & word")),
        key => Requirements::new().trust(keys::trust(folder, key)?).signed_body().signed_timestamp(),
    };
    let requirements = Arc::new(requirements.timestamp().replays(None));
    let outcome =
        |len: usize| in_pieces(message.as_bytes(), len, &requirements).map(|verified| verified.is_body_signed);
    let whole = outcome(message.len());
    for len in [1, 100] {
        ensure!(outcome(len) == whole, "in pieces of {len} bytes the result is another one");
    }
    Ok(whole.map(|_| ()))
}

fn in_pieces(message: &[u8], len: usize, requirements: &Arc<Requirements>) -> Result<Verified, SecurityError> {
    let mut verification = requirements.begin(Default::default());
    for piece in message.chunks(len) {
        verification.push(piece.to_vec())?;
    }
    verification.finish()
}
