//! Canonical forms beside those of libxml2 (`canonical.py`): of documents and of elements in them,
//! with each method.
//!
//! Documents are those of [`generate`], and mutations that we read. Every form is made twice: from
//! the document in one piece, and in pieces of random sizes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use deltasoap_xml::c14n::{C14nError, Method};
use deltasoap_xml::{Event, Limits};
use fastrand::Rng;

use crate::generate;
use crate::mutate::Mutator;
use crate::walk::{Form, Walk, count_elements, read};

/// Number of documents that are sent at one time.
const BATCH: u64 = 256;
/// Number of forms of a document.
const FORMS: usize = 16;
/// Maximum number of differences that are printed.
const SHOWN: u64 = 5;

/// Compares the canonical forms of this many documents; half of them are mutations. Returns true if
/// all differences are known.
///
/// # Errors
/// Returns an error if libxml2 cannot be run.
pub fn compare(python: &Path, mutator: &Mutator, count: u64, seed: u64) -> Result<bool> {
    let mut library = Library::start(python)?;
    let mut tally = Tally::default();
    println!("\ncanonical forms of {count} documents and elements of them, seed {seed}");
    for first in (0..count).step_by(BATCH as usize) {
        let cases: Vec<_> = (first..count.min(first + BATCH)).filter_map(|n| Case::new(mutator, seed, n)).collect();
        library.send(&cases)?;
        for case in &cases {
            let theirs = library.answer()?;
            tally.note(case, theirs.as_deref());
        }
    }
    tally.print();
    Ok(tally.is_good())
}

/// A document whose forms are compared.
struct Case {
    name: String,
    document: Vec<u8>,
    /// Number of an element in document order.
    element: usize,
    /// The prefixes to treat as in inclusive canonicalization.
    prefixes: Vec<&'static str>,
    random: Rng,
}

impl Case {
    /// Returns the case with a number, unless we refuse its document.
    fn new(mutator: &Mutator, seed: u64, number: u64) -> Option<Self> {
        let (kind, document) = match number % 2 {
            0 => ("generated", generate::document(seed, number)),
            _ => ("mutation", mutator.document(number)),
        };
        let elements = count_elements(&document).ok()?;
        let mut random = Rng::with_seed(seed ^ number << 20);
        let element = random.usize(..elements);
        let all = ["#default", "p", "q", "a", "é", "xsi", "soap", "none"];
        let prefixes = all.into_iter().filter(|_| random.u8(..3) == 0).collect();
        Some(Case { name: format!("{kind} {number} of seed {seed}"), document, element, prefixes, random })
    }

    /// Returns our forms in the order of `canonical.py`, and which element and method each is of.
    fn forms(&self) -> Vec<(bool, Method, Form)> {
        let listed = || Method::exclusive().inclusive_prefixes(self.prefixes.iter().copied());
        let methods = [Method::inclusive(), Method::exclusive(), listed(), Method::inclusive_11()];
        let mut forms = Vec::with_capacity(FORMS);
        for is_element in [false, true] {
            for method in methods.iter().flat_map(|method| [method.clone(), method.clone().with_comments()]) {
                let form = self.form(is_element, &method);
                forms.push((is_element, method, form));
            }
        }
        forms
    }

    /// Returns one form. The same document in pieces must give it too.
    fn form(&self, is_element: bool, method: &Method) -> Form {
        if !is_element {
            return deltasoap_xml::c14n::canonicalize(&self.document, Limits::NONE, method);
        }
        let whole = Walk::new(self.element, method, true).run([&*self.document].into_iter());
        let most = [1, 3, 64][self.random.clone().usize(..3)];
        let cut = Walk::new(self.element, method, true).run(self.document.chunks(most));
        assert_eq!(whole, cut, "{} in pieces of {most} bytes", self.name);
        whole
    }

    /// Returns the namespaces that the document declares.
    fn namespaces(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        // It is well-formed, since its elements were counted.
        _ = read(&self.document, |event, reader| {
            if event == Event::Start {
                found.extend(reader.declarations().map(|(_, uri)| uri.to_owned()));
            }
        });
        found
    }
}

/// Returns true for a URI without a scheme.
fn is_relative(uri: &str) -> bool {
    let before = uri.split(['/', '?', '#']).next().unwrap_or_default();
    !uri.is_empty() && !before.contains(':')
}

/// Returns true for what is no URI: it has characters that URIs cannot have, or those are in the
/// scheme, or the port is no number.
fn is_no_uri(uri: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&'()*+,;=%".contains(c);
    let is_escape = |rest: &str| rest.get(..2).is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()));
    let authority =
        uri.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let port = authority.rsplit('@').next().and_then(|host| host.split_once(':')).map(|(_, port)| port);
    let is_port = |port: &str| !port.is_empty() && port.chars().all(|c| c.is_ascii_digit());
    let scheme = uri.split(['/', '?', '#']).next().and_then(|first| first.split_once(':')).map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    !uri.chars().all(is_allowed)
        || scheme.is_some_and(|scheme| !is_scheme(scheme))
        || uri.split('%').skip(1).any(|rest| !is_escape(rest))
        || uri.matches('#').count() > 1
        || port.is_some_and(|port| !is_port(port))
}

/// libxml2 in a process of its own; ended when dropped.
struct Library {
    process: Child,
    input: Option<BufWriter<ChildStdin>>,
    output: BufReader<ChildStdout>,
}

impl Library {
    fn start(python: &Path) -> Result<Self> {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("canonical.py");
        let mut command = Command::new(python);
        command.arg(program).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("cannot start {}", python.display()))?;
        let input = process.stdin.take().map(BufWriter::new);
        let output = BufReader::new(process.stdout.take().context("no standard output")?);
        Ok(Library { process, input, output })
    }

    /// Sends cases. They are all read before the first answer.
    fn send(&mut self, cases: &[Case]) -> Result<()> {
        let input = self.input.as_mut().context("no standard input")?;
        let mut batch = u32::try_from(cases.len())?.to_le_bytes().to_vec();
        for Case { document, element, prefixes, .. } in cases {
            let prefixes = prefixes.join(" ");
            batch.extend(u32::try_from(document.len())?.to_le_bytes());
            batch.extend_from_slice(document);
            batch.extend(u32::try_from(*element)?.to_le_bytes());
            batch.extend(u32::try_from(prefixes.len())?.to_le_bytes());
            batch.extend_from_slice(prefixes.as_bytes());
        }
        input.write_all(&batch)?;
        input.flush().context("libxml2 has ended")
    }

    /// Returns the forms of the next case; `None` if libxml2 refuses the document.
    fn answer(&mut self) -> Result<Option<Vec<Option<Vec<u8>>>>> {
        match self.number()? {
            0 => Ok(None),
            _ => (0..FORMS).map(|_| self.form()).collect::<Result<_>>().map(Some),
        }
    }

    fn form(&mut self) -> Result<Option<Vec<u8>>> {
        let length = self.number()?;
        if length == u32::MAX {
            return Ok(None);
        }
        let mut bytes = vec![0; length as usize];
        self.output.read_exact(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn number(&mut self) -> Result<u32> {
        let mut bytes = [0; 4];
        self.output.read_exact(&mut bytes).context("libxml2 has ended")?;
        Ok(u32::from_le_bytes(bytes))
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // The process ends with its input; it may have ended already.
        drop(self.input.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Counts of results.
#[derive(Default)]
struct Tally {
    documents: u64,
    refused: u64,
    /// Forms that are the same, by the kind of the method.
    same: BTreeMap<String, u64>,
    /// Forms that both sides lack.
    lacking: u64,
    classes: BTreeMap<&'static str, u64>,
    unknown: u64,
}

impl Tally {
    fn note(&mut self, case: &Case, theirs: Option<&[Option<Vec<u8>>]>) {
        let Some(theirs) = theirs else {
            self.refused += 1;
            return;
        };
        self.documents += 1;
        for ((is_element, method, ours), theirs) in case.forms().into_iter().zip(theirs) {
            match (&ours, theirs) {
                (Ok(form), Some(other)) if form == other => {
                    let of = if is_element { "element" } else { "document" };
                    *self.same.entry(format!("{of}, {}", method.uri())).or_default() += 1;
                }
                (Err(_), None) => self.lacking += 1,
                _ => match class(case, &ours, theirs.as_deref()) {
                    Some(class) => *self.classes.entry(class).or_default() += 1,
                    None => self.note_unknown(case, is_element, &method, &ours, theirs.as_deref()),
                },
            }
        }
    }

    fn note_unknown(&mut self, case: &Case, is_element: bool, method: &Method, ours: &Form, theirs: Option<&[u8]>) {
        self.unknown += 1;
        if self.unknown <= SHOWN {
            let shown = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]).into_owned();
            println!(
                "DIFFERENCE in {}, {method:?}{}: {:?}\n  we:   {:?}\n  they: {:?}",
                case.name,
                if is_element { format!(", element {}", case.element) } else { String::new() },
                shown(&case.document),
                ours.as_deref().map(shown),
                theirs.map(shown),
            );
        }
    }

    fn is_good(&self) -> bool {
        self.unknown == 0 && !self.same.is_empty()
    }

    fn print(&self) {
        println!("{:8} documents, {} more that libxml2 refuses", self.documents, self.refused);
        for (method, count) in &self.same {
            println!("{count:8} the same: {method}");
        }
        println!("{:8} without a form on both sides", self.lacking);
        for (class, count) in &self.classes {
            println!("{count:8} {class}");
        }
        if self.unknown > 0 {
            println!("UNKNOWN  {:8} forms", self.unknown);
        }
    }
}

/// Returns the class of a difference, if it is known. `docs/reliability.md` explains each.
fn class(case: &Case, ours: &Form, theirs: Option<&[u8]>) -> Option<&'static str> {
    match (ours, theirs) {
        (Err(C14nError::InheritedBase), Some(_)) => Some("inherited base"),
        (Ok(_), None) if case.namespaces().iter().any(|uri| is_relative(uri)) => Some("unused relative namespace"),
        (Ok(_), None) if case.namespaces().iter().any(|uri| is_no_uri(uri)) => Some("namespace that is no URI"),
        (Ok(form), Some(theirs)) if with_raw_ampersands(case, form).as_bytes() == theirs => {
            Some("ampersand in a namespace")
        }
        _ => None,
    }
}

/// Returns a form in which `&` in namespaces is not escaped.
fn with_raw_ampersands(case: &Case, form: &[u8]) -> String {
    let form = String::from_utf8_lossy(form).into_owned();
    case.namespaces().iter().filter(|uri| uri.contains('&')).fold(form, |form, uri| {
        let (escaped, raw) = (format!("=\"{}\"", uri.replace('&', "&amp;")), format!("=\"{uri}\""));
        form.split(" xmlns").map(|part| part.replacen(&escaped, &raw, 1)).collect::<Vec<_>>().join(" xmlns")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(document: &str, element: usize) -> Case {
        let document = document.as_bytes().to_vec();
        Case { name: String::new(), document, element, prefixes: vec!["p"], random: Rng::with_seed(1) }
    }

    #[test]
    fn forms_are_in_the_order_of_the_other_side() {
        let forms = case("<a xmlns:p='urn:p'><!--c--><b/></a>", 1).forms();
        let text = |index: usize| String::from_utf8(forms[index].2.clone().expect("a form")).expect("UTF-8");
        assert_eq!(forms.len(), FORMS);
        assert_eq!(text(1), "<a xmlns:p=\"urn:p\"><!--c--><b></b></a>");
        assert_eq!(text(2), "<a><b></b></a>");
        assert_eq!(text(8), "<b xmlns:p=\"urn:p\"></b>");
        assert_eq!(text(10), "<b></b>");
        assert_eq!(text(12), "<b xmlns:p=\"urn:p\"></b>");
    }

    #[test]
    fn known_differences_are_of_a_class() {
        let based = case("<a xml:base='http://a/'><b/></a>", 1);
        assert_eq!(class(&based, &based.form(true, &Method::inclusive_11()), Some(b"<b/>")), Some("inherited base"));
        let relative = case("<a xmlns:p='u'><b/></a>", 1);
        let form = relative.form(true, &Method::exclusive());
        assert_eq!(class(&relative, &form, None), Some("unused relative namespace"));
        assert_eq!(class(&relative, &form, Some(b"<c></c>")), None);
        assert_eq!(class(&case("<a xmlns:p='urn:u'><b/></a>", 1), &form, None), None);
        let ampersand = case("<p:a xmlns:p='urn:&amp;'/>", 0);
        let (form, theirs) = (ampersand.form(false, &Method::exclusive()), b"<p:a xmlns:p=\"urn:&\"></p:a>");
        assert_eq!(class(&ampersand, &form, Some(theirs)), Some("ampersand in a namespace"));
        assert_eq!(class(&case("<a xmlns:p='urn: '><b/></a>", 1), &form, None), Some("namespace that is no URI"));
    }
}
