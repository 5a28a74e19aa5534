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

    #[test]
    fn every_chapter_is_in_the_summary() {
        for chapter in chapters() {
            assert!(include_str!("src/SUMMARY.md").contains(&format!("({chapter})")), "SUMMARY.md lacks {chapter}");
        }
    }
}
