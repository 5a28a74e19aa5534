//! The user guide's programs, compiled and run as doc tests.
//!
//! The chapters are in `src`, the folder of mdBook. A chapter that is missing here is not compiled;
//! the tests below find it.

#[cfg(doctest)]
#[doc = include_str!("src/introduction.md")]
struct Introduction;

#[cfg(doctest)]
#[doc = include_str!("src/first-client.md")]
struct FirstClient;

#[cfg(doctest)]
#[doc = include_str!("src/first-server.md")]
struct FirstServer;

#[cfg(doctest)]
#[doc = include_str!("src/from-a-wsdl.md")]
struct FromAWsdl;

#[cfg(doctest)]
#[doc = include_str!("src/without-code.md")]
struct WithoutCode;

#[cfg(doctest)]
#[doc = include_str!("src/diff.md")]
struct Diff;

#[cfg(doctest)]
#[doc = include_str!("src/gateway.md")]
struct Gateway;

#[cfg(doctest)]
#[doc = include_str!("src/mcp.md")]
struct Mcp;

#[cfg(doctest)]
#[doc = include_str!("src/fleets.md")]
struct Fleets;

#[cfg(doctest)]
#[doc = include_str!("src/load.md")]
struct Load;

#[cfg(doctest)]
#[doc = include_str!("src/testing.md")]
struct Testing;

#[cfg(doctest)]
#[doc = include_str!("src/proxy.md")]
struct Proxy;

#[cfg(doctest)]
#[doc = include_str!("src/archives.md")]
struct Archives;

#[cfg(doctest)]
#[doc = include_str!("src/tonic-and-reqwest.md")]
struct TonicAndReqwest;

#[cfg(doctest)]
#[doc = include_str!("src/python.md")]
struct Python;

#[cfg(doctest)]
#[doc = include_str!("src/numpy-and-arrow.md")]
struct NumpyAndArrow;

#[cfg(doctest)]
#[doc = include_str!("src/python-server.md")]
struct PythonServer;

#[cfg(doctest)]
#[doc = include_str!("src/rpc-encoded.md")]
struct RpcEncoded;

#[cfg(doctest)]
#[doc = include_str!("src/attachments.md")]
struct Attachments;

#[cfg(doctest)]
#[doc = include_str!("src/differential.md")]
struct Differential;

#[cfg(doctest)]
#[doc = include_str!("src/tls-and-credentials.md")]
struct TlsAndCredentials;

#[cfg(doctest)]
#[doc = include_str!("src/addressing.md")]
struct Addressing;

#[cfg(doctest)]
#[doc = include_str!("src/ws-security-onvif.md")]
struct WsSecurityOnvif;

#[cfg(doctest)]
#[doc = include_str!("src/ws-security-signed.md")]
struct WsSecuritySigned;

#[cfg(doctest)]
#[doc = include_str!("src/ws-security-saml.md")]
struct WsSecuritySaml;

#[cfg(doctest)]
#[doc = include_str!("src/ws-security-policy.md")]
struct WsSecurityPolicy;

#[cfg(doctest)]
#[doc = include_str!("src/headers-and-faults.md")]
struct HeadersAndFaults;

#[cfg(doctest)]
#[doc = include_str!("src/streaming.md")]
struct Streaming;

#[cfg(doctest)]
#[doc = include_str!("src/tuning.md")]
struct Tuning;

#[cfg(doctest)]
#[doc = include_str!("src/operating.md")]
struct Operating;

#[cfg(doctest)]
#[doc = include_str!("src/troubleshooting.md")]
struct Troubleshooting;

#[cfg(doctest)]
#[doc = include_str!("src/migrating-from-gsoap.md")]
struct MigratingFromGsoap;

#[cfg(doctest)]
#[doc = include_str!("src/migrating-from-cxf.md")]
struct MigratingFromCxf;

#[cfg(doctest)]
#[doc = include_str!("src/migrating-from-zeep.md")]
struct MigratingFromZeep;

#[cfg(doctest)]
#[doc = include_str!("src/migrating-from-spyne.md")]
struct MigratingFromSpyne;

#[cfg(doctest)]
#[doc = include_str!("src/migrating-from-node-soap.md")]
struct MigratingFromNodeSoap;

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The names of the chapters' files.
    fn chapters() -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let entries = folder.read_dir().expect("the chapters").map(|entry| entry.expect("an entry").file_name());
        let names = entries.map(|name| name.into_string().expect("UTF-8"));
        names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect()
    }

    #[test]
    fn every_chapter_is_compiled() {
        for chapter in chapters() {
            let included = format!("#[doc = include_str!(\"src/{chapter}\")]");
            assert!(include_str!("doctests.rs").contains(&included), "doctests.rs lacks {chapter}");
        }
    }

    /// A row of the table of programs: its name, our lines, and the lines of the others.
    struct Row<'a> {
        program: &'a str,
        ours: usize,
        others: Vec<usize>,
    }

    /// Reads a row that begins with a link: `| [program](#anchor) | lines | lines name | |`.
    fn row(line: &str) -> Option<Row<'_>> {
        let (program, cells) = line.strip_prefix("| [")?.split_once(']')?;
        let (_, cells) = cells.split_once('|')?;
        let (ours, others) = cells.split_once('|')?;
        let numbers = others.split_whitespace().filter_map(|word| word.parse().ok());
        Some(Row { program, ours: ours.trim().parse().ok()?, others: numbers.collect() })
    }

    /// Returns the lines of code of the program under a heading.
    fn lines_under(page: &str, heading: &str) -> usize {
        let (_, section) = page.split_once(&format!("\n## {heading}\n")).expect("a section");
        let (_, program) = section.split_once("```rust").expect("a program");
        let (program, _) = program.split_once("\n```").expect("the program's end");
        let is_code = |line: &&str| !(line.trim().is_empty() || line.trim_start().starts_with("//"));
        program.lines().skip(1).filter(is_code).count()
    }

    #[test]
    fn programs_are_as_long_as_the_table_says_and_no_longer_than_others() {
        let page = include_str!("src/tonic-and-reqwest.md");
        let rows: Vec<Row<'_>> = page.lines().filter_map(row).collect();
        assert_eq!(rows.len(), 8);
        for Row { program, ours, others } in rows {
            assert_eq!(lines_under(page, program), ours, "{program}");
            assert!(others.iter().all(|&lines| ours <= lines), "{program}: {ours} lines, others {others:?}");
        }
    }

    #[test]
    fn every_chapter_is_in_the_summary() {
        for chapter in chapters() {
            assert!(include_str!("src/SUMMARY.md").contains(&format!("({chapter})")), "SUMMARY.md lacks {chapter}");
        }
    }

    /// Returns the messages in the first column of the tables, which are in code.
    fn messages(page: &str) -> Vec<&str> {
        let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
        cells
            .flat_map(|cell| cell.trim_matches('`').split("`, `"))
            .map(|message| message.trim_matches(['`', ' ']))
            .collect()
    }

    /// Returns the parts of a message that do not vary, as far as one literal of the sources may
    /// contain them.
    fn phrases(message: &str) -> impl Iterator<Item = &str> {
        let ends = ["…", ": ", "; ", ", ", " (", "\"", "`", "<", ">"];
        let mut phrases = vec![message];
        for end in ends {
            phrases = phrases.into_iter().flat_map(|phrase| phrase.split(end)).collect();
        }
        phrases.into_iter().map(str::trim).filter(|phrase| phrase.contains(' '))
    }

    /// Returns the sources of all crates; literals over several lines are joined.
    fn sources(folder: &Path) -> String {
        let mut all = String::new();
        for entry in folder.read_dir().expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                all += &sources(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(path).expect("UTF-8");
                let mut parts = text.split("\\\n");
                all += parts.next().unwrap_or_default();
                parts.for_each(|part| all += part.trim_start());
            }
        }
        all
    }

    #[test]
    fn the_messages_of_troubleshooting_are_those_of_the_sources() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
        let folders = crates.read_dir().expect("the crates").map(|entry| entry.expect("an entry").path().join("src"));
        let sources: String = folders.map(|folder| sources(&folder)).collect();
        let messages = messages(include_str!("src/troubleshooting.md"));
        assert!(messages.len() > 50, "{messages:?}");
        for message in messages {
            for phrase in phrases(message) {
                assert!(sources.contains(phrase), "{phrase:?} of {message:?} is in no source");
            }
        }
    }
}
