//! WSDLs of several documents: loaded with credentials, and served again by a mock.

use super::*;

/// Serves documents to clients with the password, for the rest of the test.
fn guarded(documents: Vec<(&'static str, String)>) -> String {
    let server = Answering::new(move |request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        let is_known = request.contains("Basic YWRhOnB3") && request.to_lowercase().contains("x-tenant: 7");
        let found = documents.iter().find(|(name, _)| is_known && *name == path);
        let (status, body) = found.map_or(("401 Unauthorized", ""), |(_, text)| ("200 OK", text));
        let length = body.len();
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
    });
    format!("http://{}", server.address)
}

#[test]
fn a_guarded_wsdl_is_loaded_and_served_again_with_what_it_imports() {
    let main = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' \
        xmlns:t='urn:t' targetNamespace='urn:t'><types><schema xmlns='http://www.w3.org/2001/XMLSchema'>\
        <import namespace='urn:t' schemaLocation='types/t.xsd'/></schema></types>\
        <message name='m'><part name='p' element='t:e'/></message><portType name='p'><operation name='Do'>\
        <input message='t:m'/><output message='t:m'/></operation></portType><binding name='b' type='t:p'>\
        <s:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='Do'><s:operation soapAction=''/>\
        <input><s:body use='literal'/></input><output><s:body use='literal'/></output></operation></binding>\
        <service name='S'><port name='P' binding='t:b'><s:address location='http://nowhere/'/></port></service>\
        </definitions>";
    let schema = "<schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'>\
        <element name='e' type='int'/></schema>";
    let url = guarded(vec![("/s/main.wsdl", main.to_owned()), ("/s/types/t.xsd", schema.to_owned())]);
    let wsdl = format!("{url}/s/main.wsdl");
    assert!(!run(&["list", &wsdl]).status.success());
    let access = ["--user", "ada:pw", "-H", "X-Tenant: 7"];
    let listed = run(&[&["list", &wsdl], &access[..]].concat());
    assert!(listed.status.success() && stdout(&listed).contains("Do"), "{}", stderr(&listed));
    let mock = serving(&[&["mock", &wsdl], &access[..]].concat());
    let served = format!("{}?wsdl", mock.url);
    let called = run(&["call", &served, "Do", "-d", "1", "--endpoint", &mock.url]);
    assert_eq!(json(&called), json!(1), "{}", stderr(&called));
    let generated = run(&[&["generate", &wsdl], &access[..]].concat());
    assert!(generated.status.success(), "{}", stderr(&generated));
}

/// Names in a WSDL from standard input are relative to the working directory.
#[test]
fn a_description_is_read_from_a_stream() {
    let list = |wsdl: &str, text: &str| {
        let mut command = command();
        let command = command
            .args(["list", wsdl])
            .current_dir(Path::new(&bench()).parent().expect("a folder"))
            .stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        child.stdin.take().expect("its input").write_all(text.as_bytes()).expect("written");
        child.wait_with_output().expect("an end")
    };
    let of = |location: &str| {
        format!(
            "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'><import namespace='urn:b' location='{location}'/></definitions>"
        )
    };
    let streams = if cfg!(unix) { &["-", "/dev/stdin"][..] } else { &["-"] };
    for stream in streams {
        let listed = list(stream, &of("bench.wsdl"));
        assert!(stdout(&listed).contains("echoVoid"), "{stream}: {}", stderr(&listed));
        let error = stderr(&list(stream, &of("nowhere.wsdl")));
        assert!(error.contains("(stream):1:") && error.contains("nowhere.wsdl: "), "{stream}: {error}");
    }
}

/// `--allow-private` has no effect with `--offline`.
#[test]
fn what_to_do_about_private_addresses_depends_on_the_network() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one.wsdl");
    let import = "<import namespace='urn:b' location='http://127.0.0.1:1/b.wsdl'/>";
    std::fs::write(&path, format!("<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'>{import}</definitions>"))
        .expect("a file");
    let path = path.to_string_lossy();
    for (options, helps) in [(&["list", &path][..], true), (&["list", "--offline", &path], false)] {
        let error = stderr(&run(options));
        assert!(error.contains("127.0.0.1") && error.contains("--allow-private") == helps, "{error}");
    }
}

#[test]
fn a_mock_of_a_file_serves_its_imports() {
    let folder = tempfile::tempdir().expect("a folder");
    let wsdl = std::fs::read_to_string(shop()).expect("a file");
    let start = wsdl.find("<xs:schema").expect("a schema");
    let end = wsdl.find("</xs:schema>").expect("its end") + "</xs:schema>".len();
    let (head, schema, tail) = (&wsdl[..start], &wsdl[start..end], &wsdl[end..]);
    let import = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>\
        <xs:import namespace='urn:shop' schemaLocation='shop.xsd'/></xs:schema>";
    let schema =
        schema.replacen("<xs:schema", "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:tns='urn:shop'", 1);
    std::fs::write(folder.path().join("shop.wsdl"), format!("{head}{import}{tail}")).expect("a file");
    std::fs::write(folder.path().join("shop.xsd"), schema).expect("a file");
    let path = folder.path().join("shop.wsdl");
    let path = path.to_string_lossy();
    let listed = run(&["list", &path]);
    assert!(listed.status.success(), "{}", stderr(&listed));
    let mock = serving(&["mock", &path]);
    let served = run(&["list", &format!("{}?wsdl", mock.url)]);
    assert!(served.status.success() && stdout(&served).contains("Order"), "{}", stderr(&served));
}

#[test]
fn a_mock_serves_files_around_its_own_and_those_in_other_encodings() {
    let folder = tempfile::tempdir().expect("a folder");
    let wsdl = std::fs::read_to_string(shop()).expect("a file");
    let start = wsdl.find("<xs:schema").expect("a schema");
    let end = wsdl.find("</xs:schema>").expect("its end") + "</xs:schema>".len();
    let import = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>\
        <xs:import namespace='urn:shop' schemaLocation='../xsd/shop.xsd'/></xs:schema>";
    let body = wsdl[..start].find("<definitions").expect("the root");
    let main = format!(
        "<?xml version='1.0' encoding='iso-8859-1'?><!-- \u{E9} -->{}{import}{}",
        &wsdl[body..start],
        &wsdl[end..]
    );
    let main = with_other_address(&main);
    let main: Vec<u8> = main.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
    let schema = wsdl[start..end].replacen(
        "<xs:schema",
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:tns='urn:shop'",
        1,
    );
    for below in ["wsdl", "xsd"] {
        std::fs::create_dir_all(folder.path().join(below)).expect("a folder");
    }
    std::fs::write(folder.path().join("wsdl/shop.wsdl"), main).expect("a file");
    std::fs::write(folder.path().join("xsd/shop.xsd"), schema).expect("a file");
    let path = folder.path().join("wsdl/shop.wsdl");
    let mock = serving(&["mock", &path.to_string_lossy()]);
    let url = format!("{}?wsdl", mock.url);
    let served = run(&["list", &url]);
    assert!(served.status.success() && stdout(&served).contains("Order"), "{}", stderr(&served));
    // Likewise for a WSDL from the network, whose documents have such names there.
    let again = serving(&["mock", &url]);
    let served = run(&["list", &format!("{}?wsdl", again.url)]);
    assert!(served.status.success() && stdout(&served).contains("Order"), "{}", stderr(&served));
}

/// Returns the WSDL with an address that is not an HTTP URL.
fn with_other_address(wsdl: &str) -> String {
    let start = wsdl.find("location=\"").expect("an address") + "location=\"".len();
    let end = start + wsdl[start..].find('"').expect("its end");
    format!("{}test://{}", &wsdl[..start], &wsdl[end..])
}
