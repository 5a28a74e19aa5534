//! Sources of documents: files, directories, archives and the network, and which of them are
//! forbidden.

use deltasoap_core::QName;
use deltasoap_wsdl::fetch::{Fetch, FetchError, Fetched, Location, Reach, Request};
use deltasoap_wsdl::{Error, ErrorKind, Import, Importer, Limits, NoteKind};
use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use url::Url;

/// A folder with files, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("deltasoap-wsdl-{}-{number}", std::process::id()));
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Folder(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn schema(namespace: &str, content: &str) -> String {
    format!(
        "<schema xmlns='http://www.w3.org/2001/XMLSchema' xmlns:a='urn:a' xmlns:b='urn:b' targetNamespace='{namespace}'>{content}</schema>"
    )
}

fn has_type(import: &Import, namespace: &str, local: &str) -> bool {
    import.schemas().type_named(&QName::owned(namespace, local)).is_some()
}

const A: &str = "<complexType name='A'><sequence><element name='b' type='b:B' minOccurs='0'/></sequence></complexType>";
const B: &str = "<complexType name='B'><sequence><element name='a' type='a:A' minOccurs='0'/></sequence></complexType>";

/// Two schemas that import each other; one of them does so twice.
fn cycle() -> Folder {
    let a = format!(
        "<import namespace='urn:b' schemaLocation='sub/b.xsd'/><import namespace='urn:b' schemaLocation='./sub/../sub/b.xsd'/>{A}"
    );
    let b = format!("<import namespace='urn:a' schemaLocation='..\\a.xsd'/>{B}");
    Folder::with(&[("a.xsd", &schema("urn:a", &a)), ("sub/b.xsd", &schema("urn:b", &b))])
}

#[test]
fn urls_that_cannot_be_loaded_are_named_without_their_passwords() {
    for (url, told) in [
        ("ftp://ada:secret@host/x", "ftp://host/x: ftp is none of http, https and file"),
        ("http://ada:secret@a host/x?wsdl", "http://a host/x?wsdl: the URL is malformed: "),
        ("https://ada:se/cret:secret@host:99999/x", "https://host:99999/x: the URL is malformed: "),
    ] {
        let error = Importer::new().import(url).expect_err(url).to_string();
        assert!(error.contains(told) && !error.contains("secret"), "{error}");
    }
}

#[test]
fn every_document_is_loaded_once_and_cycles_end() {
    let folder = cycle();
    let import = Importer::new().offline().file(&folder.path("a.xsd")).unwrap();
    assert_eq!(import.documents().filter(|location| matches!(location, Location::File(_))).count(), 2);
    assert!(has_type(&import, "urn:a", "A") && has_type(&import, "urn:b", "B"));
}

#[test]
fn compiled_the_same_documents_are_the_same_wherever_they_were() {
    let main =
        schema("urn:a", "<include schemaLocation='sub/b.xsd'/><import namespace='urn:c' schemaLocation='../c.xsd'/>");
    let files =
        [("a.xsd", &*main), ("sub/b.xsd", &*schema("urn:a", "<complexType name='B'><sequence/></complexType>"))];
    let folders = [Folder::with(&files), Folder::with(&files)];
    let compiled =
        folders.each_ref().map(|folder| Importer::new().offline().file(&folder.path("a.xsd")).unwrap().compile());
    assert!(compiled[0] == compiled[1]);
    for folder in &folders {
        let place = folder.0.to_string_lossy();
        assert!(!String::from_utf8_lossy(&compiled[0]).contains(&*place));
    }
    let import = Importer::new().bytes(Location::Text("a file".into()), compiled[0].clone()).unwrap();
    let locations: Vec<_> = import.documents().map(ToString::to_string).collect();
    assert_eq!(locations[..2], ["a.xsd", "sub/b.xsd"]);
    assert_eq!(import.notes()[0].position.document, "a.xsd");
    assert!(import.notes()[0].text.contains(": ../c.xsd: "), "{}", import.notes()[0]);
}

#[test]
fn directories_and_archives_are_imported_whole() {
    let folder = cycle();
    assert!(has_type(&Importer::new().offline().path(&folder.0).unwrap(), "urn:b", "B"));
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in ["a.xsd", "sub/b.xsd"] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&std::fs::read(folder.path(name)).unwrap()).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let import = Importer::new().offline().archive(bytes.clone()).unwrap();
    assert!(has_type(&import, "urn:b", "B"));
    std::fs::write(folder.path("all.zip"), &bytes).unwrap();
    assert!(Importer::new().offline().path(&folder.path("all.zip")).is_ok());
    let limits = Limits { bytes: 100, ..Limits::default() };
    let error = Importer::new().offline().limits(limits).path(&folder.path("all.zip")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { name: "bytes", limit: 100 }), "{error}");
    assert!(Importer::new().archive(bytes[..bytes.len() / 2].to_vec()).is_err());
}

/// Names in upper case, Windows separators, and the files that macOS adds.
#[test]
fn archives_and_directories_have_names_as_systems_write_them() {
    let a = schema("urn:a", &format!("<import namespace='urn:b' schemaLocation='sub/b.xsd'/>{A}"));
    let b = schema("urn:b", &format!("<import namespace='urn:a' schemaLocation='..\\a.XSD'/>{B}"));
    let archive = |entries: &[(&str, &str)]| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, text) in entries {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    for entries in [[("a.XSD", &*a), ("sub/b.xsd", &*b)], [("a.XSD", &*a), ("sub\\b.xsd", &*b)]] {
        let junk = [("__MACOSX/._a.XSD", "\0"), ("._a.xsd", "\0"), ("sub/._b.xsd", "\0")];
        let bytes = archive(&[&entries[..], &junk].concat());
        let import = Importer::new().offline().archive(bytes).unwrap();
        assert!(has_type(&import, "urn:a", "A") && has_type(&import, "urn:b", "B"), "{entries:?}");
        assert_eq!(import.documents().len(), 2);
    }
    let folder = Folder::with(&[("a.XSD", &*a), ("._a.XSD", "\0"), ("sub/b.xsd", &*b)]);
    assert!(has_type(&Importer::new().offline().path(&folder.0).unwrap(), "urn:b", "B"));
}

#[test]
fn included_schemas_take_the_namespace_of_the_including_one() {
    // There is no default namespace, so unprefixed names are the part's own.
    let part = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:complexType name='P'><xs:sequence>\
        <xs:element ref='R'/><xs:element name='q' type='Q'/></xs:sequence></xs:complexType>\
        <xs:element name='R' type='xs:int'/><xs:simpleType name='Q'><xs:restriction base='xs:int'/></xs:simpleType>\
        </xs:schema>";
    let whole = |namespace| schema(namespace, "<include schemaLocation='part.xsd'/>");
    let both = "<schema xmlns='http://www.w3.org/2001/XMLSchema'><import namespace='urn:a' schemaLocation='a.xsd'/>\
        <import namespace='urn:b' schemaLocation='b.xsd'/></schema>";
    let files = [("a.xsd", &*whole("urn:a")), ("b.xsd", &*whole("urn:b")), ("part.xsd", part), ("both.xsd", both)];
    let folder = Folder::with(&files);
    let import = Importer::new().offline().file(&folder.path("both.xsd")).unwrap();
    for namespace in ["urn:a", "urn:b"] {
        assert!(has_type(&import, namespace, "P") && has_type(&import, namespace, "Q"));
    }
    assert!(import.notes().is_empty(), "{:?}", import.notes());
}

#[test]
fn redefined_components_replace_the_old_ones_and_build_on_them() {
    let old = "<complexType name='T'><sequence><element name='x' type='int'/></sequence></complexType>\
        <element name='e' type='a:T'/>";
    let new = "<redefine schemaLocation='old.xsd'><complexType name='T'><complexContent><extension base='a:T'><sequence>\
        <element name='y' type='int'/></sequence></extension></complexContent></complexType></redefine>";
    let folder = Folder::with(&[("old.xsd", &schema("urn:a", old)), ("new.xsd", &schema("urn:a", new))]);
    let import = Importer::new().offline().file(&folder.path("new.xsd")).unwrap();
    let schemas = import.schemas();
    let element = &schemas[schemas.element_named(&QName::owned("urn:a", "e")).unwrap()];
    assert_eq!(Some(element.type_id), schemas.type_named(&QName::owned("urn:a", "T")));
    let content = format!("{:?}", schemas.content(element.type_id).unwrap().content);
    assert_eq!(content.matches("Element(").count(), 2, "{content}");
}

#[test]
fn files_outside_of_the_root_are_forbidden() {
    let import = "<import namespace='urn:b' schemaLocation='../b.xsd'/>";
    let folder = Folder::with(&[("sub/a.xsd", &schema("urn:a", import)), ("b.xsd", &schema("urn:b", B))]);
    let error = Importer::new().offline().file(&folder.path("sub/a.xsd")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Fetch(FetchError::Forbidden(_))), "{error}");
    let allowed = Importer::new().offline().root(&folder.0).file(&folder.path("sub/a.xsd"));
    assert!(allowed.is_ok(), "{allowed:?}");
}

/// A repository with `wsdl/v1/a.xsd`, which includes `location`, and `b.xsd`; `out.xsd` is next to
/// the repository.
fn repository(location: &str) -> Folder {
    let include = format!("<include schemaLocation='{location}'/>");
    Folder::with(&[
        ("repository/.git/HEAD", ""),
        ("repository/wsdl/v1/a.xsd", &schema("urn:b", &include)),
        ("repository/b.xsd", &schema("urn:b", B)),
        ("out.xsd", &schema("urn:b", B)),
    ])
}

#[test]
fn a_trusted_tree_is_read_as_far_as_its_repository_goes() {
    let import = |location: &str, importer: Importer| {
        let folder = repository(location);
        importer.offline().file(&folder.path("repository/wsdl/v1/a.xsd"))
    };
    assert!(import("../../b.xsd", Importer::new()).is_err());
    let found = import("../../b.xsd", Importer::new().trust_tree()).unwrap();
    assert!(has_type(&found, "urn:b", "B"));
    let compiled = Importer::new().bytes(Location::Text("a file".into()), found.compile()).unwrap();
    assert_eq!(compiled.documents().map(ToString::to_string).collect::<Vec<_>>()[..2], ["a.xsd", "../../b.xsd"]);
    for outside in
        ["../../../out.xsd", "..\\..\\..\\out.xsd", "../../%2E%2E/out.xsd", "/etc/hostname", "file:///etc/hostname"]
    {
        let error = import(outside, Importer::new().trust_tree()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Fetch(FetchError::Forbidden(_))), "{outside}: {error}");
    }
    let error = import("../../../out.xsd", Importer::new().trust_tree()).unwrap_err().to_string();
    assert!(error.contains("repository, the folder that files are read from"), "{error}");
}

#[test]
fn a_root_that_is_said_is_the_trusted_folder() {
    let folder = repository("../../b.xsd");
    let importer = Importer::new().offline().trust_tree().root(folder.path("repository/wsdl"));
    assert!(importer.file(&folder.path("repository/wsdl/v1/a.xsd")).is_err());
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_a_trusted_tree() {
    let folder = repository("../../link/out.xsd");
    std::os::unix::fs::symlink(&folder.0, folder.path("repository/link")).unwrap();
    let error = Importer::new().offline().trust_tree().file(&folder.path("repository/wsdl/v1/a.xsd")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Fetch(FetchError::Forbidden(_))), "{error}");
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_root() {
    let import = "<include schemaLocation='link.xsd'/>";
    let folder = Folder::with(&[("sub/a.xsd", &schema("urn:b", import)), ("b.xsd", &schema("urn:b", B))]);
    std::os::unix::fs::symlink(folder.path("b.xsd"), folder.path("sub/link.xsd")).unwrap();
    let error = Importer::new().offline().file(&folder.path("sub/a.xsd")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Fetch(FetchError::Forbidden(_))), "{error}");
}

const CATALOG: &str = "<?xml version='1.0'?><!DOCTYPE catalog PUBLIC '-//OASIS//DTD Entity Resolution XML Catalog V1.0//EN' 'http://x/c.dtd'>
<catalog xmlns='urn:oasis:names:tc:entity:xmlns:xml:catalog'>";

/// A catalog with these entries, and `a.wsdl`, which names `http://h/...` and a namespace alone;
/// `schemas/b.xsd` includes `c.xsd`.
fn cataloged(entries: &str) -> Folder {
    let main = schema(
        "urn:a",
        &format!("<import namespace='urn:b' schemaLocation='http://h/x/b.xsd'/><import namespace='urn:n'/>{A}"),
    );
    let b = schema("urn:b", &format!("<include schemaLocation='../more/c.xsd'/>{B}"));
    Folder::with(&[
        ("main/a.xsd", &main),
        ("local/schemas/b.xsd", &b),
        ("local/more/c.xsd", &schema("urn:b", "")),
        ("local/n.xsd", &schema("urn:n", "<element name='n'/>")),
        ("local/catalog.xml", &format!("{CATALOG}{entries}</catalog>")),
        (
            "local/next.xml",
            &format!("{CATALOG}<nextCatalog catalog='catalog.xml'/><nextCatalog catalog='next.xml'/></catalog>"),
        ),
        (
            "local/other/c.xml",
            &format!(
                "{CATALOG}<uri name='http://h/x/b.xsd' uri='../schemas/b.xsd'/>\
                 <delegateURI uriStartString='http://h/x/' catalog='../catalog.xml'/></catalog>"
            ),
        ),
        ("local/none/c.xml", &format!("{CATALOG}</catalog>")),
        ("secret.xsd", &schema("urn:b", B)),
    ])
}

#[test]
fn catalogs_say_where_documents_are() {
    let namespace =
        "<public publicId='urn:n' uri='n.xsd'/><rewriteURI uriStartString='http://h/x/../' rewritePrefix='more/'/>";
    for entry in [
        "<system systemId='http://h/x/b.xsd' uri='schemas/b.xsd'/><system systemId='http://h/x/b.xsd' uri='none.xsd'/>",
        "<uri name='http://h/x/b.xsd' uri='schemas/b.xsd'/><rewriteURI uriStartString='http://h/' rewritePrefix='none/'/>",
        "<uri name='urn:b' uri='schemas/b.xsd'/>",
        "<group xml:base='schemas/'><rewriteSystem systemIdStartString='http://h/x/' rewritePrefix='./'/></group>",
        "<rewriteURI uriStartString='http://h/' rewritePrefix='none/'/><rewriteURI uriStartString='http://h/x/' rewritePrefix='schemas/'/>",
        "<uriSuffix uriSuffix='b.xsd' uri='none.xsd'/><uriSuffix uriSuffix='x/b.xsd' uri='schemas/b.xsd'/>",
        "<systemSuffix systemIdSuffix='/b.xsd' uri='schemas/b.xsd'/>",
        "<delegateURI uriStartString='http://h/' catalog='none/c.xml'/><delegateURI uriStartString='http://h/x/b' catalog='other/c.xml'/>",
        "<delegateSystem systemIdStartString='http://h/x/b' catalog='other/c.xml'/><uriSuffix uriSuffix='b.xs' uri='none.xsd'/>",
    ] {
        let folder = cataloged(&format!("{entry}{namespace}"));
        let import = Importer::new().offline().root(&folder.0).catalog(folder.path("local/next.xml")).unwrap();
        let import = import.file(&folder.path("main/a.xsd")).unwrap_or_else(|error| panic!("{entry}: {error}"));
        assert!(has_type(&import, "urn:b", "B") && import.documents().count() == 4, "{entry} {import:?}");
        assert!(import.schemas().element_named(&QName::owned("urn:n", "n")).is_some());
    }
}

/// OASIS XML Catalogs 1.1, 6.2, 6.4 and 7.2; RFC 3151.
#[test]
fn public_identifiers_may_be_written_as_urns() {
    let target = "uri='schemas/b.xsd'";
    for (id, urn) in [
        ("-//A//B  C::D//EN", "urn:publicid:-:A:B+C;D:EN"),
        ("urn:publicid:-:A:B+C;D:EN", "URN:PublicID:-:A:B+C%3A%3aD%2F%2FEN"),
        ("100%+'?#é", "urn:publicid:100%25%2B%27%3F%23é"),
        ("100%", "urn:publicid:100%"),
    ] {
        let folder = cataloged(&format!("<public publicId=\"{id}\" {target}/>"));
        let main = schema("urn:a", &format!("<import namespace='urn:b' schemaLocation='{urn}'/>{A}"));
        std::fs::write(folder.path("main/a.xsd"), main).unwrap();
        let import = Importer::new().offline().root(&folder.0).catalog(folder.path("local/catalog.xml")).unwrap();
        let import = import.file(&folder.path("main/a.xsd")).unwrap_or_else(|error| panic!("{urn}: {error}"));
        assert!(has_type(&import, "urn:b", "B"), "{urn}");
    }
}

#[test]
fn a_catalog_that_names_are_delegated_to_decides_alone() {
    // `other/c.xml` and the catalog itself delegate to each other, and neither knows
    // `http://h/x/z.xsd`.
    let entries = "<delegateURI uriStartString='http://h/x/z' catalog='other/c.xml'/><uriSuffix uriSuffix='.xsd' uri='n.xsd'/>\
                   <delegateURI uriStartString='http://h/x/q' catalog='other/c.xml'/>";
    let folder = cataloged(entries);
    let importer = Importer::new().offline().root(&folder.0).catalog(folder.path("local/catalog.xml")).unwrap();
    let import = |url: &str| importer.import(url).map(|import| import.documents().count());
    // The catalog's own entry takes precedence.
    assert_eq!(import("http://h/x/q.xsd").ok(), Some(1));
    assert_eq!(import("http://h/x/other").ok(), None);
    let only = cataloged(
        &entries.replace("<uriSuffix uriSuffix='.xsd' uri='n.xsd'/>", "<uri name='http://h/x/b.xsd' uri='none.xsd'/>"),
    );
    let importer = Importer::new().offline().root(&only.0).catalog(only.path("local/catalog.xml")).unwrap();
    assert!(importer.import("http://h/x/z.xsd").is_err());
    let (next, last) =
        ("<nextCatalog catalog='last.xml'/>", format!("{CATALOG}<uriSuffix uriSuffix='.xsd' uri='n.xsd'/></catalog>"));
    let stopped = cataloged(&format!("<delegateURI uriStartString='http://h/x/z' catalog='none/c.xml'/>{next}"));
    std::fs::write(stopped.path("local/last.xml"), last).unwrap();
    let importer = Importer::new().offline().root(&stopped.0).catalog(stopped.path("local/catalog.xml")).unwrap();
    assert!(importer.import("http://h/x/z.xsd").is_err() && importer.import("http://h/x/y.xsd").is_ok());
}

#[test]
fn catalogs_trust_the_folders_that_they_name_and_no_others() {
    let folder = cataloged("<rewriteURI uriStartString='http://h/x/' rewritePrefix='schemas/'/>");
    let importer = Importer::new().offline().catalog(folder.path("local/catalog.xml")).unwrap();
    let error = importer.file(&folder.path("main/a.xsd")).unwrap_err();
    assert!(error.to_string().contains("more/c.xsd is outside of"), "{error}");
    for escape in
        ["http://h/x/../../secret.xsd", "http://h/x/..%2F..%2Fsecret.xsd", "http://h/x/%2e%2e/%2e%2e/secret.xsd"]
    {
        let net = Net::with(&[("http://h/a", &importing(escape), false)]);
        let import = importer.clone().fetch_with(net).import("http://h/a");
        assert!(import.is_err(), "{escape}");
    }
}

#[test]
fn what_is_no_catalog_or_leads_nowhere_is_refused() {
    let folder = cataloged("");
    for path in ["main/a.xsd", "none"] {
        assert!(Importer::new().catalog(folder.path(path)).is_err(), "{path}");
    }
    let files: Vec<_> = (0..200)
        .map(|number| {
            (format!("{number}.xml"), format!("{CATALOG}<nextCatalog catalog='{}.xml'/></catalog>", number + 1))
        })
        .collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let error = Importer::new().catalog(Folder::with(&files).path("0.xml")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { name: "catalogs", limit: 100 }), "{error}");
}

/// OASIS XML Catalogs 1.1: catalogs that fail are skipped (8), and so are elements of other
/// namespaces (6.1).
#[test]
fn catalogs_that_cannot_be_read_and_what_is_of_others_is_passed_over() {
    let right = "<uri name='http://h/x/b.xsd' uri='schemas/b.xsd'/>";
    for named in ["<nextCatalog catalog='none.xml'/>", "<delegateURI uriStartString='urn:' catalog='schemas/b.xsd'/>"] {
        let folder = cataloged(&format!("{named}{right}"));
        let importer = Importer::new().offline().root(&folder.0).catalog(folder.path("local/catalog.xml")).unwrap();
        let import = importer.file(&folder.path("main/a.xsd")).unwrap();
        assert!(has_type(&import, "urn:b", "B"));
        let note = import.notes().iter().find(|note| note.text.contains("a catalog is skipped"));
        assert_eq!(note.map(|note| note.kind), Some(NoteKind::Missing), "{named}");
    }
    let other = "<o:uri xmlns:o='urn:other' name='http://h/x/b.xsd' uri='none.xsd'/>\
                 <o:nextCatalog xmlns:o='urn:other' catalog='none.xml'/>";
    let folder = cataloged(&format!("{other}{right}"));
    let importer = Importer::new().offline().root(&folder.0).catalog(folder.path("local/catalog.xml")).unwrap();
    let import = importer.file(&folder.path("main/a.xsd")).unwrap();
    assert!(has_type(&import, "urn:b", "B") && import.notes().is_empty());
}

#[test]
fn files_are_mapped_in_the_place_of_urls_the_first_one_too() {
    let folder = cataloged("");
    let b = folder.path("local/schemas/b.xsd");
    let import = Importer::new().offline().root(&folder.0).map("http://h/x/b.xsd", &b).unwrap();
    assert!(has_type(&import.file(&folder.path("main/a.xsd")).unwrap(), "urn:b", "B"));
    let whole = Importer::new().offline().map("http://h/a?wsdl", folder.path("main/a.xsd")).unwrap();
    let whole = whole.map("http://h/x/b.xsd", folder.path("secret.xsd")).unwrap();
    assert!(has_type(&whole.import("http://h/a?wsdl").unwrap(), "urn:b", "B"));
    assert!(Importer::new().map("http://h/a", folder.path("none")).is_err());
}

/// A network that is a table; it records the requests.
#[derive(Clone, Default)]
struct Net {
    pages: HashMap<&'static str, (String, bool)>,
    asked: Arc<Mutex<Vec<(String, Reach)>>>,
}

impl Net {
    fn with(pages: &[(&'static str, &str, bool)]) -> Self {
        let pages = pages.iter().map(|&(url, text, is_private)| (url, (text.to_owned(), is_private)));
        Net { pages: pages.collect(), asked: Arc::default() }
    }

    fn import(&self, url: &str) -> Result<Import, Error> {
        Importer::new().fetch_with(self.clone()).import(url)
    }
}

impl Fetch for Net {
    fn fetch(&self, request: &Request<'_>) -> Result<Fetched, FetchError> {
        self.asked.lock().unwrap().push((request.url.to_string(), request.reach));
        let (text, is_private) = self.pages.get(request.url.as_str()).ok_or(FetchError::Unavailable("404".into()))?;
        let moved = request.url.query_pairs().find(|(name, _)| name == "moved");
        let moved_to = moved.map(|(_, to)| Url::parse(&to).unwrap());
        Ok(Fetched { bytes: text.as_bytes().to_vec(), is_private: *is_private, moved_to })
    }
}

fn importing(location: &str) -> String {
    schema("urn:a", &format!("<import namespace='urn:b' schemaLocation='{location}'/>{A}"))
}

#[test]
fn an_importer_that_is_offline_fetches_nothing() {
    let net = Net::with(&[("http://h/a.xsd", &schema("urn:a", A), false)]);
    for importer in
        [Importer::new().offline().fetch_with(net.clone()), Importer::new().fetch_with(net.clone()).offline()]
    {
        let error = importer.import("http://h/a.xsd").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Fetch(FetchError::Offline)), "{error}");
    }
    assert!(net.asked.lock().unwrap().is_empty());
}

#[test]
fn documents_from_the_network_are_joined_to_their_urls() {
    let net = Net::with(&[
        ("http://h/s/a?xsd", &importing("b.xsd#x"), false),
        (
            "http://h/s/b.xsd",
            &schema("urn:b", &format!("<import namespace='urn:a' schemaLocation='a?xsd'/>{B}")),
            false,
        ),
    ]);
    let import = net.import("http://h/s/a?xsd").unwrap();
    assert!(has_type(&import, "urn:b", "B"));
    let asked = net.asked.lock().unwrap().clone();
    assert_eq!(asked, [("http://h/s/a?xsd".to_owned(), Reach::Origin), ("http://h/s/b.xsd".to_owned(), Reach::Public)]);
}

/// The base of relative references is the URL that a document came from, after redirects (RFC 3986,
/// 5.1.3).
#[test]
fn documents_are_relative_to_where_redirects_led() {
    const ASKED: &str = "http://h/s?moved=http://other/v2/a.xsd";
    let a = schema(
        "urn:a",
        &format!("<import namespace='urn:b' schemaLocation='b.xsd'/><include schemaLocation='a.xsd'/>{A}"),
    );
    let net = Net::with(&[(ASKED, &a, false), ("http://other/v2/b.xsd", &schema("urn:b", B), false)]);
    let import = net.import(ASKED).unwrap();
    assert!(has_type(&import, "urn:a", "A") && has_type(&import, "urn:b", "B"));
    assert_eq!(net.asked.lock().unwrap().len(), 2, "the document itself is known by the URL that it came from");
}

const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// Importing a namespace is enough to use its built-in definitions; a document of the author's own
/// replaces them if it can be read.
#[test]
fn built_in_definitions_stand_for_documents_that_are_not_there() {
    let addressing = "http://www.w3.org/2005/08/addressing";
    let importing = |location: &str| {
        schema("urn:a", &format!("<import namespace='{XML}' {location}/><import namespace='{addressing}'/>{A}"))
            .replace("type='b:B' ", "")
    };
    let own = schema(XML, "<simpleType name='own'><restriction base='string'/></simpleType>");
    let envelope = "<import namespace='http://www.w3.org/2003/05/soap-envelope'/>";
    let import = Importer::new().text(&schema("urn:a", envelope)).unwrap();
    assert_eq!(import.notes(), [], "built-in definitions that refer to others bring them");
    assert!(import.schemas().attribute_named(&QName::new(XML, "lang")).is_some());
    let has_lang = |import: &Import| import.schemas().attribute_named(&QName::new(XML, "lang")).is_some();
    for (location, files, is_own) in [
        ("", &[][..], false),
        ("schemaLocation='http://www.w3.org/2001/xml.xsd'", &[], false),
        ("schemaLocation='xml.xsd'", &[], false),
        ("schemaLocation='xml.xsd'", &[("xml.xsd", "<schema")], false),
        ("schemaLocation='xml.xsd'", &[("xml.xsd", &*schema("urn:other", ""))], false),
        ("schemaLocation='xml.xsd'", &[("xml.xsd", &*own)], true),
    ] {
        let folder = Folder::with(&[files, &[("a.xsd", &*importing(location))]].concat());
        let import = Importer::new().file(&folder.path("a.xsd")).unwrap();
        assert!(has_type(&import, addressing, "EndpointReferenceType"), "{location}");
        assert_eq!((has_type(&import, XML, "own"), has_lang(&import)), (is_own, !is_own), "{location} {files:?}");
        let notes: Vec<_> = import.notes().iter().filter(|note| note.text.contains("built-in definitions")).collect();
        let is_said = location.contains("'xml.xsd'") && !is_own;
        assert!(
            notes.len() == usize::from(is_said) && notes.iter().all(|it| it.kind == NoteKind::Tolerated),
            "{notes:?}"
        );
    }
}

#[test]
fn documents_from_the_network_name_no_files_and_no_private_addresses() {
    let forbidden = [
        "file:///etc/passwd",
        "http://127.0.0.1/b",
        "http://localhost:8080/b",
        "http://[::1]/b",
        "ftp://h/b",
        "http://169.254.169.254/latest",
        "http://10.0.0.1/b",
        "gopher://h/",
    ];
    for location in forbidden {
        let net = Net::with(&[("http://h/a", &importing(location), false)]);
        let error = net.import("http://h/a").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Fetch(FetchError::Forbidden(_))), "{location}: {error}");
        assert_eq!(net.asked.lock().unwrap().len(), 1, "{location}");
    }
}

#[test]
fn documents_from_a_private_address_name_others_of_it() {
    let pages = [
        ("http://127.0.0.1:8080/a", &*importing("http://127.0.0.1:8080/b"), true),
        ("http://127.0.0.1:8080/b", &*schema("urn:b", B), true),
    ];
    assert!(Net::with(&pages).import("http://127.0.0.1:8080/a").is_ok());
    let other_port = importing("http://127.0.0.1:22/b");
    let net = Net::with(&[("http://127.0.0.1:8080/a", &other_port, true)]);
    assert!(net.import("http://127.0.0.1:8080/a").is_err());
    let allowed = Importer::new().fetch_with(net).allow_private().import("http://127.0.0.1:8080/a");
    assert!(!matches!(allowed.unwrap_err().kind(), ErrorKind::Fetch(FetchError::Forbidden(_))));
}

#[test]
fn local_documents_go_on_without_private_addresses() {
    let asked = |importer: Importer, net: Net| {
        let text = schema("urn:a", "<import namespace='urn:b' schemaLocation='http://10.0.0.1/b'/><element name='e'/>");
        let folder = Folder::with(&[("a.xsd", &text)]);
        let import = importer.fetch_with(net.clone()).file(&folder.path("a.xsd")).unwrap();
        let asked = net.asked.lock().unwrap().clone();
        (asked, import.notes().iter().map(|note| note.text.clone()).collect::<Vec<_>>())
    };
    let net = || Net::with(&[("http://10.0.0.1/b", &schema("urn:b", ""), true)]);
    let (requests, notes) = asked(Importer::new(), net());
    assert!(requests.is_empty() && notes[0].contains("is a private address"), "{requests:?} {notes:?}");
    let (requests, notes) = asked(Importer::new().allow_private(), net());
    assert_eq!((requests, notes.len()), (vec![("http://10.0.0.1/b".to_owned(), Reach::All)], 0));
}

#[test]
fn what_could_not_be_loaded_is_missed_where_it_is_used() {
    let unused = schema("urn:a", "<import namespace='urn:b' schemaLocation='http://h/b'/><element name='e'/>");
    let import = Importer::new().offline().text(&unused).unwrap();
    assert_eq!(import.notes()[0].kind, NoteKind::Unloaded);
    let error = Importer::new().offline().text(&importing("http://h/b")).unwrap_err();
    let ErrorKind::Undefined { name, cause: Some(cause), .. } = error.kind() else { panic!("{error}") };
    assert!(name.is("urn:b", "B") && cause.contains("offline"), "{error}");
}

#[test]
fn limits_hold_for_documents_and_bytes() {
    let folder = cycle();
    let with = |limits| Importer::new().offline().limits(limits).file(&folder.path("a.xsd")).unwrap_err();
    let limited = |limits, wanted: &str| {
        let error = with(limits);
        assert!(matches!(error.kind(), ErrorKind::Limit { name, .. } if *name == wanted), "{error}");
    };
    limited(Limits { documents: 1, ..Limits::default() }, "documents");
    limited(Limits { document_bytes: 100, ..Limits::default() }, "document_bytes");
    limited(Limits { bytes: 400, ..Limits::default() }, "bytes");
    limited(Limits { components: 3, ..Limits::default() }, "components");
    limited(Limits { particles: 2, ..Limits::default() }, "particles");
}

#[test]
fn archives_are_bounded_by_what_they_hold() {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("a.xsd", zip::write::SimpleFileOptions::default()).unwrap();
    let spaces = vec![b' '; 1 << 20];
    (0..16).for_each(|_| zip.write_all(&spaces).unwrap());
    let bytes = zip.finish().unwrap().into_inner();
    let limits = Limits { document_bytes: 1 << 20, ..Limits::default() };
    let error = Importer::new().limits(limits).archive(bytes).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { name: "document_bytes", .. }), "{error}");
}

#[test]
fn other_documents_are_refused_by_name() {
    let error = Importer::new().text("<html/>").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OtherDocument { root } if root.is("", "html")));
    assert!(Importer::new().file(Path::new("/nowhere/x.wsdl")).is_err());
    assert!(Importer::new().offline().url(Url::parse("http://h/x").unwrap()).is_err());
}
