//! A foreign parser, in a separate process: `parsers.py`.

use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// A foreign parser's result for a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Tree(String),
    Refused {
        /// The parser's error codes.
        codes: Vec<i32>,
        /// The position of the error, if the parser reports it.
        offset: usize,
        message: String,
    },
}

/// The foreign parsers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Expat,
    LibXml2,
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Expat, Kind::LibXml2];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Expat => "expat",
            Kind::LibXml2 => "libxml2",
        }
    }
}

/// A running parser; ended when dropped.
pub struct Parser {
    pub kind: Kind,
    process: Child,
    input: Option<BufWriter<ChildStdin>>,
    output: BufReader<ChildStdout>,
}

impl Parser {
    pub fn start(python: &Path, kind: Kind) -> Result<Self> {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("parsers.py");
        let mut command = Command::new(python);
        command.arg(program).arg(kind.name()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("cannot start {}", python.display()))?;
        let input = process.stdin.take().map(BufWriter::new);
        let output = BufReader::new(process.stdout.take().context("no standard output")?);
        Ok(Parser { kind, process, input, output })
    }

    /// Sends a batch. The parser reads all of it before it answers, so this does not block for
    /// long.
    pub fn send(&mut self, documents: &[Vec<u8>]) -> Result<()> {
        let input = self.input.as_mut().context("no standard input")?;
        input.write_all(&u32::try_from(documents.len())?.to_le_bytes())?;
        for document in documents {
            input.write_all(&u32::try_from(document.len())?.to_le_bytes())?;
            input.write_all(document)?;
        }
        input.flush().with_context(|| format!("{} has ended", self.kind.name()))
    }

    /// Returns the next answer.
    pub fn answer(&mut self) -> Result<Answer> {
        let mut length = [0; 4];
        self.output.read_exact(&mut length).with_context(|| format!("{} has ended", self.kind.name()))?;
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        self.output.read_exact(&mut bytes)?;
        Answer::parse(String::from_utf8(bytes)?)
    }
}

impl Answer {
    fn parse(mut text: String) -> Result<Self> {
        ensure!(!text.is_empty(), "an empty answer");
        match text.remove(0) {
            'T' => Ok(Answer::Tree(text)),
            'E' => refusal(&text).with_context(|| format!("a bad answer: {text:?}")),
            other => bail!("a bad answer begins with {other:?}"),
        }
    }
}

fn refusal(text: &str) -> Result<Answer> {
    let mut fields = text.splitn(3, '\0');
    let mut field = || fields.next().context("a field is missing");
    let codes = field()?.split(',').map(str::parse).collect::<Result<_, _>>()?;
    Ok(Answer::Refused { codes, offset: field()?.parse().unwrap_or(0), message: field()?.to_owned() })
}

impl Drop for Parser {
    fn drop(&mut self) {
        // The process ends with its input; it may have ended already.
        drop(self.input.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_trees_or_refusals() {
        let parse = |text: &str| Answer::parse(text.to_owned());
        assert_eq!(parse("T\u{1}a\u{4}\u{5}").unwrap(), Answer::Tree("\u{1}a\u{4}\u{5}".to_owned()));
        let refused = Answer::Refused { codes: vec![4, 9], offset: 7, message: "no\0way".to_owned() };
        assert_eq!(parse("E4,9\x007\0no\0way").unwrap(), refused);
        assert!(parse("").is_err() && parse("X").is_err() && parse("E4").is_err());
    }
}
