//! Compiled WSDL beside the documents that it was compiled from: a contract gives the same answers
//! for both.
//!
//! `DELTASOAP_WSDL_CORPUS=DIR cargo test --release -p deltasoap-dynamic --test compiled --
//! --ignored --nocapture` runs the comparison for any directory.

use deltasoap_core::Buffer;
use deltasoap_core::schema::ElementRef;
use deltasoap_core::soap::Envelope;
use deltasoap_core::{QName, Value};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_wsdl::fetch::Location;
use deltasoap_wsdl::{Import, Importer};
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use std::alloc::System;
use std::path::{Path, PathBuf};

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn compiled_descriptions_say_what_their_documents_say() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wsdl");
    assert!(compare_all(&folder) > 50);
}

#[test]
#[ignore = "needs a directory of descriptions"]
fn compiled_descriptions_of_a_corpus_say_what_their_documents_say() {
    let folder = std::env::var_os("DELTASOAP_WSDL_CORPUS").expect("DELTASOAP_WSDL_CORPUS names a directory");
    println!("{} compared", compare_all(Path::new(&folder)));
}

/// Compares everything that can be imported; returns the number of imports.
fn compare_all(folder: &Path) -> usize {
    let mut count = 0;
    for path in descriptions(folder) {
        let source = path.strip_prefix(folder).expect("below").components().next().expect("a source");
        let root = Some(folder.join(source)).filter(|root| root.is_dir()).unwrap_or_else(|| folder.to_owned());
        let importer = Importer::new().offline().root(&root);
        if let Ok(import) = importer.file(&path) {
            compare(import, &path, &root);
            count += 1;
        }
    }
    count
}

fn descriptions(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut ahead) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = ahead.pop() {
        for path in next.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()) {
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => ahead.push(path),
                Some("wsdl" | "xsd") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    found
}

fn compare(import: Import, path: &Path, root: &Path) {
    let file = import.compile();
    let location = Location::Text("a compiled file".to_owned());
    let compiled = Importer::new().offline().bytes(location, file.clone());
    let compiled = compiled.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(compiled.compile() == file, "{}: compiled again, it is another file", path.display());
    let (one, other) = (Contract::from(import), Contract::from(compiled));
    assert_eq!(one.lowered().schema, other.lowered().schema, "{}", path.display());
    // Compiled files are named by their path from the root.
    let root = format!("{}/", root.canonicalize().expect("a directory").display());
    let below_root = |texts: Vec<String>| texts.iter().map(|text| text.replace(&root, "")).collect::<Vec<_>>();
    assert_eq!(below_root(notes(&one)), notes(&other), "{}", path.display());
    assert_eq!(below_root(components(&one)), components(&other), "{}", path.display());
    let (of_one, of_other) = (one.operations(), other.operations());
    assert_eq!(of_one.len(), of_other.len(), "{}", path.display());
    for (one, other) in of_one.iter().zip(&of_other) {
        assert_eq!(said(one), said(other), "{}: {}", path.display(), one.full_name());
    }
}

fn notes(contract: &Contract) -> Vec<String> {
    let import = contract.description();
    let documents = import.documents().map(ToString::to_string);
    let notes = import.notes().iter().map(ToString::to_string);
    documents.chain(notes).chain(contract.lowered().notes.iter().cloned()).collect()
}

/// Returns the descriptions of all types and elements, and their positions.
fn components(contract: &Contract) -> Vec<String> {
    let import = contract.description();
    let mut said = Vec::new();
    for (_, it) in import.schemas().types() {
        let name = it.name.as_ref().map(ToString::to_string).unwrap_or_default();
        let place = it.place.map(|place| import.position(place).to_string()).unwrap_or_default();
        said.push(format!("{name} {place}"));
        said.extend(it.name.iter().flat_map(|_| contract.describe(&name)).map(|part| part.to_text()));
    }
    for (id, it) in import.schemas().elements() {
        let place = import.position(it.place);
        said.push(format!(
            "{it:?} {place} {:?} {:?}",
            import.schemas().substitutes(id),
            contract.lowered().element(id)
        ));
    }
    said
}

/// Returns everything that a contract reports about an operation: its port, its description,
/// samples of its messages in XML and JSON, and the findings in them.
fn said(operation: &Operation) -> Vec<String> {
    let mut said = vec![
        format!(
            "{} {:?} {:?} {:?}",
            operation.full_name(),
            operation.version(),
            operation.address(),
            operation.bound()
        ),
        format!("{:?}", operation.method().map_err(|error| error.to_string())),
        operation.describe().to_text(),
    ];
    let messages =
        [(operation.request(), operation.request_sample()), (operation.response(), operation.response_sample())];
    for ((name, content), sample) in messages.into_iter().filter_map(|(body, sample)| body.zip(sample)) {
        let json = operation.contract().to_json(name, content, &sample);
        said.push(format!("{json:?}"));
        said.extend(message(operation, name, content, &sample));
    }
    said
}

fn message(operation: &Operation, name: &QName, content: ElementRef, sample: &Value) -> Vec<String> {
    let Ok(method) = operation.method() else { return Vec::new() };
    let envelope = Envelope::element(name, sample, operation.view(content));
    let encoded = envelope.version(operation.version()).encoding(method.element.encoding).write(Buffer::new());
    let Ok(encoded) = encoded else { return Vec::new() };
    let mut said: Vec<String> =
        operation.contract().validate(encoded.as_slice()).iter().map(ToString::to_string).collect();
    said.push(String::from_utf8_lossy(encoded.as_slice()).into_owned());
    said
}

/// Files with some bytes changed, with a valid checksum.
mod changed {
    use super::*;
    use deltasoap_test_support::Chance;
    use proptest::prelude::*;
    use std::time::{Duration, Instant};

    /// Bytes of magic and version, of the checksum, and of the length.
    const HEADER: usize = 24;

    fn file() -> Vec<u8> {
        compiled(include_str!("data/shop.wsdl"))
    }

    fn compiled(text: &str) -> Vec<u8> {
        Importer::new().offline().text(text).expect("a description").compile()
    }

    /// Returns the file with a valid checksum and length.
    fn with_checksum(mut file: Vec<u8>) -> Vec<u8> {
        let checksum = crc32fast::hash(&file[HEADER..]);
        let length = (file.len() - HEADER) as u64;
        file[12..16].copy_from_slice(&checksum.to_le_bytes());
        file[16..24].copy_from_slice(&length.to_le_bytes());
        file
    }

    /// Returns true if a file is accepted; in that case, uses every function of the contract.
    fn is_taken(file: Vec<u8>) -> bool {
        let location = Location::Text("a changed file".to_owned());
        let Ok(import) = Importer::new().offline().bytes(location, file) else { return false };
        let contract = Contract::from(import);
        let said = components(&contract).len() + contract.operations().iter().map(|it| said(it).len()).sum::<usize>();
        assert!(said > 0);
        true
    }

    /// The result of a run.
    #[derive(Debug, Default)]
    struct Tally {
        files: usize,
        taken: usize,
        slowest: Duration,
        largest: usize,
    }

    impl Tally {
        fn count(&mut self, file: Vec<u8>) {
            ALLOCATOR.reset_peak_memory();
            let start = Instant::now();
            self.taken += usize::from(is_taken(file));
            self.files += 1;
            self.slowest = self.slowest.max(start.elapsed());
            self.largest = self.largest.max(ALLOCATOR.get_peak_memory());
        }
    }

    /// Changes every `step`th byte in several ways, and truncates the file at each of them. Each
    /// change is tested once as it is, and once with a valid checksum and length.
    fn damaged(step: usize) -> Tally {
        let texts = [include_str!("data/shop.wsdl"), include_str!("data/graph.wsdl"), include_str!("data/bare.wsdl")];
        let mut tally = Tally::default();
        for whole in texts.map(compiled) {
            for at in (HEADER..whole.len()).step_by(step) {
                for change in [0x01, 0xFF] {
                    let mut file = whole.clone();
                    file[at] ^= change;
                    assert!(!is_taken(file.clone()), "the checksum of byte {at}");
                    tally.count(with_checksum(file));
                }
                assert!(!is_taken(whole[..at].to_vec()), "the length of {at} bytes");
                assert!(!is_taken(with_checksum(whole[..at].to_vec())), "{at} bytes");
            }
            for at in 0..HEADER {
                let mut file = whole.clone();
                file[at] ^= 0xFF;
                assert!(!is_taken(file), "byte {at} of the header");
                assert!(!is_taken(whole[..at].to_vec()), "{at} bytes of the header");
            }
        }
        tally
    }

    #[test]
    fn damaged_files_are_refused_or_can_be_used() {
        let tally = damaged(97);
        assert!(tally.files > 100 && tally.slowest < Duration::from_secs(5), "{tally:?}");
    }

    /// `cargo xtask attacks` runs it: alone, since it measures the memory of the process.
    #[test]
    #[ignore = "takes minutes, and wants to be alone"]
    fn attack_with_damaged_compiled_files() {
        let start = Instant::now();
        let Tally { files, taken, slowest, largest } = damaged(7);
        println!(
            "| compiled descriptions: one byte in seven of three files changed in two ways under a right checksum, and as many lengths | {files} files: {} refused with an \
             error, {taken} usable, no panic | {:.1} s; slowest {:.0} ms | at most {} KiB for a file |",
            files - taken,
            start.elapsed().as_secs_f64(),
            slowest.as_secs_f64() * 1e3,
            largest >> 10
        );
        assert!(slowest < Duration::from_secs(2) && largest < 64 << 20);
    }

    /// Damages a file in one to three places: bits, bytes, numbers of four and eight bytes (which
    /// may be lengths), bytes removed or inserted, pieces copied elsewhere, and its end.
    fn mutate(file: &mut Vec<u8>, random: &mut Chance) {
        const NUMBERS: [u64; 8] = [0, 1, 0x7F, 0xFF, 0x7FFF_FFFF, 0xFFFF_FFFF, u64::MAX / 2, u64::MAX];
        for _ in 0..=random.below(3) {
            if file.len() <= HEADER {
                return;
            }
            let at = HEADER + random.below(file.len() - HEADER);
            let end = (at + 1 + random.below(16)).min(file.len());
            match random.below(8) {
                0 | 1 => file[at] ^= 1 << random.below(8),
                2 => file[at] = random.bits() as u8,
                3 => {
                    let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                    let width = [4, 8][random.below(2)].min(file.len() - at);
                    file[at..at + width].copy_from_slice(&number[..width]);
                }
                4 => drop(file.drain(at..end)),
                5 => {
                    let piece = file[at..end].to_vec();
                    file.splice(at..at, piece);
                }
                6 => {
                    let piece = file[at..end].to_vec();
                    let to = HEADER + random.below(file.len() - HEADER);
                    let length = piece.len().min(file.len() - to);
                    file[to..to + length].copy_from_slice(&piece[..length]);
                }
                _ => file.truncate(at),
            }
        }
    }

    fn from_environment(name: &str, default: u64) -> u64 {
        std::env::var(name)
            .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
    }

    fn mutated(count: u64, seed: u64) -> Tally {
        let texts = [include_str!("data/shop.wsdl"), include_str!("data/graph.wsdl"), include_str!("data/bare.wsdl")];
        let (whole, mut random, mut tally) = (texts.map(compiled), Chance::seeded(seed), Tally::default());
        for _ in 0..count {
            let mut file = whole[random.below(whole.len())].clone();
            mutate(&mut file, &mut random);
            // One in eight stays as a damaged disk would return it. The others get a matching
            // checksum and length.
            tally.count(if random.below(8) == 0 { file } else { with_checksum(file) });
        }
        tally
    }

    #[test]
    fn mutated_files_are_refused_or_can_be_used() {
        let tally = mutated(1_000, 1);
        assert!(tally.taken > 0 && tally.taken < tally.files, "{tally:?}");
    }

    /// `DELTASOAP_COMPILED_MUTATIONS` and `DELTASOAP_COMPILED_SEED` set the number and the seed.
    #[test]
    #[ignore = "takes longer, and wants to be alone; cargo xtask attacks runs it"]
    fn attack_with_mutated_compiled_files() {
        let count = from_environment("DELTASOAP_COMPILED_MUTATIONS", 20_000);
        let seed = from_environment("DELTASOAP_COMPILED_SEED", 1);
        let start = Instant::now();
        let Tally { files, taken, slowest, largest } = mutated(count, seed);
        println!(
            "| compiled descriptions: bits, bytes, lengths, pieces and ends of three files mutated, seed {seed} | {files} files: {} refused with an error, \
             {taken} usable, no panic | {:.1} s; slowest {:.0} ms | at most {} KiB for a file |",
            files - taken,
            start.elapsed().as_secs_f64(),
            slowest.as_secs_f64() * 1e3,
            largest >> 10
        );
        assert!(slowest < Duration::from_secs(2) && largest < 64 << 20);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// An accepted file supports every function of a contract.
        #[test]
        fn files_are_refused_or_can_be_used(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..3)) {
            let mut file = file();
            for (index, byte) in changes {
                let at = HEADER + index.index(file.len() - HEADER);
                file[at] = byte;
            }
            is_taken(with_checksum(file));
        }
    }
}
