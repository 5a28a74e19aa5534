//! The options of the builder, and its messages.

use crate::support::wsdl;
use deltasoap::soap::TypedFault;
use deltasoap::{Fault, Faults, Soap, SoapService};
use deltasoap_codegen::{Builder, Error, Generated};
use deltasoap_wsdl::Importer;
use deltasoap_wsdl::lower::LoweredOperation;
use std::collections::BTreeSet;

fn archive() -> Builder {
    Builder::new(wsdl("../../crates/deltasoap-codegen/tests/data/archive.wsdl")).importer(Importer::new().offline())
}

#[test]
fn operations_that_are_not_generated_have_a_reason() {
    let Generated { omitted, files, .. } = archive().generate().expect("generated");
    assert_eq!(omitted, ["Archive.Moved: the service starts it"]);
    assert_eq!(files.len(), 1);
}

#[test]
fn types_are_generated_by_name() {
    let bare = || {
        Builder::new(wsdl("../../crates/deltasoap-codegen/tests/data/bare.wsdl")).importer(Importer::new().offline())
    };
    let has = |builder: Builder| {
        let code = builder.generate().expect("generated").code;
        let all = ["Found", "Quota", "Owner", "Op", "BareClient", "Ping", "Stop"];
        all.into_iter()
            .filter(|name| {
                [" struct ", " enum "]
                    .iter()
                    .any(|kind| code.contains(&format!("{kind}{name} ")) || code.contains(&format!("{kind}{name}<")))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(has(bare()), ["Found", "Quota", "Owner", "Op", "BareClient", "Ping", "Stop"]);
    assert_eq!(has(bare().types(["Quota"])), ["Quota", "Owner"]);
    assert_eq!(has(bare().types(["{urn:bare}Owner", "found"])), ["Found", "Owner", "Op"]);
    assert_eq!(has(bare().operations(["Ping"])), ["BareClient", "Ping"]);
    assert_eq!(has(bare().operations(["Put"]).types(["Owner"])), ["Found", "Owner", "Op", "BareClient"]);
    for unknown in ["Nobody", "{urn:other}Owner", "string"] {
        assert!(matches!(bare().types([unknown]).generate(), Err(Error::NoType(name)) if name == unknown));
    }
}

/// The names that are most like the one that is missing come first.
#[test]
fn an_unknown_operation_is_answered_with_those_there_are() {
    let message = |name: &str| archive().operations([name]).generate().expect_err(name).to_string();
    let expected = "there is no operation Archive.Stroe with a SOAP binding; available: Store, ";
    assert!(message("Archive.Stroe").starts_with(expected), "{}", message("Archive.Stroe"));
    let events = wsdl("FalkTannhaeuser+python-onvif-zeep/wsdl/events.wsdl");
    let events = Builder::new(events).importer(Importer::new().trust_tree().offline());
    let error = events.operations(["pullmesages"]).generate().expect_err("no such operation").to_string();
    assert!(error.contains("available: PullMessages, ") && error.contains(", and "), "{error}");
    let none =
        Importer::new().offline().text("<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'/>").expect("imported");
    let error = Builder::new("none.wsdl").operations(["a"]).generate_for(&none).expect_err("no operation");
    assert_eq!(error.to_string(), "there is no operation a with a SOAP binding; the WSDL has none");
}

#[test]
fn other_elements_are_as_many_as_the_schema_allows() {
    let any = |most: &str| {
        format!(
            "<xs:complexType name='T{most}'><xs:sequence><xs:any namespace='##other' minOccurs='0' maxOccurs='{most}'/></xs:sequence>\
             </xs:complexType>"
        )
    };
    let schema = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'>";
    let schema = format!("{schema}{}{}</xs:schema>", any("2"), any("unbounded"));
    let import = Importer::new().offline().text(&schema).expect("imported");
    let builder = Builder::new("t.xsd").types(["T2", "Tunbounded"]);
    let code = builder.generate_for(&import).expect("generated").code;
    assert!(code.contains("#[soap(inline, max = 2, ") && code.contains("#[soap(inline, namespace"), "{code}");
}

#[test]
fn header_blocks_of_types_are_in_the_namespace_of_the_binding() {
    let header = |namespace: &str| format!("<s:header message='t:H' part='h' use='encoded' namespace='{namespace}'/>");
    let binding = |name: &str, namespace: &str| {
        format!(
            "<binding name='{name}' type='t:P'><s:binding style='rpc' transport='http://schemas.xmlsoap.org/soap/http'/>\
             <operation name='Go'><s:operation soapAction=''/><input><s:body use='encoded' namespace='urn:b'/>{}</input>\
             </operation></binding>",
            header(namespace)
        )
    };
    let text = format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:t='urn:t' \
         xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'><message name='M'/><message name='H'>\
         <part name='h' type='xs:string'/></message><portType name='P'><operation name='Go'><input message='t:M'/></operation>\
         </portType>{}{}</definitions>",
        binding("One", "urn:one"),
        binding("Two", "urn:two"),
    );
    let import = Importer::new().offline().text(&text).expect("imported");
    let code = Builder::new("t.wsdl").generate_for(&import).expect("generated").code;
    for namespace in ["urn:one", "urn:two"] {
        assert!(code.contains(&format!("namespace = \"{namespace}\", element = \"h\"")), "{code}");
    }
}

/// Operations that cannot be called are left out, and so are those that the service starts.
#[test]
fn what_is_left_out_is_what_has_no_messages_or_is_begun_by_the_service() {
    let index = std::fs::read_to_string(wsdl("INDEX.tsv")).expect("the index");
    let mut count = 0;
    for path in index.lines().skip(1).map(|line| line.split('\t').next().unwrap_or_default()) {
        let root = wsdl(path.split('/').next().unwrap_or_default());
        let import = Importer::new().offline().root(root).file(wsdl(path).as_ref()).expect("imported");
        let Ok(Generated { omitted, .. }) = Builder::new(path).generate_for(&import) else { continue };
        let name = |line: &str| line.split_once('.')?.1.split_once(": ").map(|(name, _)| name.to_owned());
        let omitted: BTreeSet<String> = omitted.iter().filter_map(|line| name(line)).collect();
        let lowered = import.lower();
        let definitions = import.definitions();
        let is_solicited = |it: &LoweredOperation| {
            let binding = &definitions.bindings[it.binding];
            let declared = binding.operations[it.operation].operation;
            definitions.port_types[binding.port_type].operations[declared].is_solicited
        };
        let is_left_out = |it: &&LoweredOperation| match &it.method {
            Ok(_) => is_solicited(it),
            Err(_) => true,
        };
        let expected = lowered.operations.iter().filter(is_left_out).map(|it| it.name.to_string());
        assert_eq!(omitted, expected.collect::<BTreeSet<_>>(), "{path}");
        count += omitted.len();
    }
    assert!(count > 0);
}

#[test]
fn parts_with_types_are_elements_of_their_names() {
    let text = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/'
        xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'>
        <message name='in'><part name='count' type='xs:int'/></message>
        <portType name='P'><operation name='op'><input message='t:in'/></operation></portType>
        <binding name='B' type='t:P'><soap:binding/><operation name='op'><input><soap:body use='literal'/></input></operation></binding>
        </definitions>";
    let import = Importer::new().offline().text(text).expect("imported");
    let Generated { code, omitted, .. } = Builder::new("t").generate_for(&import).expect("generated");
    assert!(omitted.is_empty() && code.contains("pub async fn op("), "{code}");
    assert!(code.contains("\"urn:t\"") && code.contains("i32"), "{code}");
}

#[test]
fn operations_that_are_named_bring_their_types_alone() {
    let events = wsdl("FalkTannhaeuser+python-onvif-zeep/wsdl/events.wsdl");
    let events = Builder::new(events).importer(Importer::new().offline()).embed_wsdl(false);
    let all = events.generate().expect("generated").code;
    let one = events.clone().operations(["Renew"]).generate().expect("generated").code;
    assert!(one.contains("pub async fn renew(") && !one.contains("pub async fn subscribe("));
    assert!(one.len() * 4 < all.len(), "{} of {} bytes", one.len(), all.len());
    assert!(
        matches!(events.operations(["Renew", "Forget"]).generate(), Err(Error::NoOperation { name, .. }) if name == "Forget")
    );
}

/// In the form that `deltasoap list` prints.
#[test]
fn overloaded_operations_are_named_by_their_inputs() {
    let text = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/'
        xmlns:soap12='http://schemas.xmlsoap.org/wsdl/soap12/'
        xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'>
        <message name='A'><part name='a' type='xs:int'/></message><message name='B'><part name='b' type='xs:int'/></message>
        <portType name='P'><operation name='Get'><input name='byA' message='t:A'/></operation>
            <operation name='Get'><input name='byB' message='t:B'/></operation></portType>
        <binding name='One' type='t:P'><soap:binding/>
            <operation name='Get'><soap:operation soapAction='urn:a'/><input name='byA'><soap:body use='literal'/></input></operation>
            <operation name='Get'><soap:operation soapAction='urn:b'/><input name='byB'><soap:body use='literal'/></input></operation>
        </binding>
        <binding name='Two' type='t:P'><soap12:binding/>
            <operation name='Get'><soap12:operation soapAction='urn:a'/><input name='byA'><soap12:body use='literal'/></input></operation>
            <operation name='Get'><soap12:operation soapAction='urn:b'/><input name='byB'><soap12:body use='literal'/></input></operation>
        </binding>
        <service name='S'><port name='Po' binding='t:One'><soap:address location='http://h/'/></port>
            <port name='Two' binding='t:Two'><soap12:address location='http://h/'/></port></service></definitions>";
    let import = Importer::new().offline().text(text).expect("imported");
    let actions = |name: &str| {
        let code = Builder::new("t").operations([name]).generate_for(&import).map(|it| it.code);
        code.map(|code| ["urn:a", "urn:b"].map(|action| code.contains(action)))
    };
    for name in ["Get:byA", "S.Po.Get:byA", "Po/Get(byA)", "S.Two.Get:byA"] {
        assert_eq!(actions(name).expect(name), [true, false], "{name}");
    }
    assert_eq!(actions("Get:byB").expect("generated"), [false, true]);
    assert_eq!(actions("S.Po.Get").expect("generated"), [true, true]);
    assert!(actions("Get:byC").is_err() && actions("S.No.Get:byA").is_err() && actions("T.Po.Get").is_err());
}

/// Errors name the file, as they are usually read in the output of a build script.
#[test]
fn errors_name_the_file() {
    let missing = Builder::new("no/such.wsdl").generate().expect_err("nothing there");
    assert!(missing.to_string().contains("no/such.wsdl"), "{missing}");
    let folder = archive().out_dir("no/such/folder").build().expect_err("nowhere to write to");
    assert!(folder.to_string().contains("no/such/folder/archive.rs"), "{folder}");
}

/// Types have no names of the prelude that the code uses without a path, nor those of the modules
/// of clients and servers.
#[test]
fn names_that_the_code_needs_are_not_taken() {
    let type_of = |name: &str| format!("<xs:element name='{name}'><xs:complexType/></xs:element>");
    let elements: String = ["String", "Option", "client"].map(type_of).concat();
    let schema = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'>{elements}</xs:schema>"
    );
    let import = Importer::new().offline().text(&schema).expect("imported");
    let code = Builder::new("t").generate_for(&import).expect("generated").code;
    for name in ["String", "Option", "client"] {
        assert!(!code.contains(&format!("struct {name} ")), "{code}");
    }
}

#[test]
fn either_side_can_be_left_out() {
    let has = |client: bool, server: bool| {
        let code = archive().build_client(client).build_server(server).generate().expect("generated").code;
        ["Client<", "pub trait ", "Server {", "pub enum ListFault", "pub struct Entry"].map(|word| code.contains(word))
    };
    let both = has(true, true);
    assert!(both[..3].iter().all(|it| *it), "{both:?}");
    assert_eq!(has(true, false)[..3], [true, false, false]);
    assert_eq!(has(false, true)[..3], [false, true, true]);
    assert_eq!(has(false, false)[..3], [false; 3]);
}

#[test]
fn structs_have_a_default_if_their_required_fields_have_one() {
    let schema = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t' xmlns='urn:t'>
        <xs:simpleType name='Size'><xs:restriction base='xs:int'><xs:maxInclusive value='9'/></xs:restriction></xs:simpleType>
        <xs:simpleType name='Color'><xs:restriction base='xs:string'><xs:enumeration value='red'/></xs:restriction></xs:simpleType>
        <xs:complexType name='Plain'><xs:sequence>
            <xs:element name='text' type='xs:string'/><xs:element name='size' type='Size'/>
            <xs:element name='when' type='xs:date' minOccurs='0'/><xs:element name='color' type='Color' nillable='true'/>
            <xs:element name='total' type='xs:nonNegativeInteger'/><xs:element name='data' type='xs:base64Binary'/>
            <xs:element name='dates' type='xs:date' maxOccurs='9'/><xs:element name='any' type='xs:anyType'/>
        </xs:sequence></xs:complexType>
        <xs:complexType name='Outer'><xs:sequence><xs:element name='plain' type='Plain'/></xs:sequence></xs:complexType>
        <xs:complexType name='Dated'><xs:sequence><xs:element name='when' type='xs:date'/></xs:sequence></xs:complexType>
        <xs:complexType name='Colored'><xs:attribute name='color' type='Color' use='required'/></xs:complexType>
        <xs:complexType name='Counted'><xs:sequence><xs:element name='count' type='xs:positiveInteger'/></xs:sequence></xs:complexType>
        <xs:complexType name='Chosen'><xs:choice>
            <xs:element name='a' type='xs:int'/><xs:element name='b' type='xs:int'/></xs:choice></xs:complexType>
        <xs:complexType name='Around'><xs:sequence><xs:element name='dated' type='Dated'/></xs:sequence></xs:complexType>
        <xs:complexType name='Loop'><xs:sequence><xs:element name='loop' type='Loop'/></xs:sequence></xs:complexType>
        <xs:complexType name='Base'><xs:sequence/></xs:complexType>
        <xs:complexType name='More'><xs:complexContent><xs:extension base='Base'/></xs:complexContent></xs:complexType>
        <xs:complexType name='HasBase'><xs:sequence><xs:element name='base' type='Base'/></xs:sequence></xs:complexType>
        </xs:schema>";
    let import = Importer::new().offline().text(schema).expect("imported");
    let code = Builder::new("t.xsd").generate_for(&import).expect("generated").code;
    let has_default = |name: &str| {
        let before = code.split(&format!("pub struct {name} ")).next().unwrap_or_default();
        before.rsplit("#[derive(").next().unwrap_or_default().contains("Default,")
    };
    for name in ["Plain", "Outer", "Loop", "Base", "More", "HasBase"] {
        assert!(has_default(name), "{name}: {code}");
    }
    for name in ["Dated", "Colored", "Counted", "Chosen", "Around"] {
        assert!(!has_default(name), "{name}: {code}");
    }
    assert!(code.contains("impl ::core::default::Default for AnyBase"), "{code}");
}

/// A handler's error type declares faults in the WSDL that is made from code, and code generated
/// from that has them.
#[test]
fn faults_of_a_handler_reach_clients_by_way_of_the_wsdl() {
    #[derive(Soap)]
    #[soap(namespace = "urn:shop", message)]
    struct Buy {
        sku: String,
    }

    #[derive(Debug, Soap)]
    #[soap(namespace = "urn:shop", element = "SoldOut")]
    struct NoneLeft {
        left: u32,
    }

    #[derive(Debug, Soap)]
    #[soap(namespace = "urn:shop", message)]
    struct Closed {}

    #[derive(Debug, Faults)]
    enum Refusal {
        NoneLeft(TypedFault<NoneLeft>),
        Closed(TypedFault<Closed>),
        Other(Fault),
    }

    let buy = async |buy: Buy| Ok::<_, Refusal>(buy);
    let service = SoapService::builder().name("Shop").operation(buy).build().expect("a service");
    let import = Importer::new().offline().text(&service.wsdl().expect("a WSDL")).expect("imported");
    let code = Builder::new("shop.wsdl").generate_for(&import).expect("generated").code;
    let faults = code.split_once("pub enum BuyFault {").expect("faults").1.split_once("\n}").expect("an end").0;
    let faults = faults.lines().map(str::trim).filter(|line| !line.starts_with("///")).collect::<String>();
    let expected = "SoldOut(deltasoap::soap::TypedFault<NoneLeft>),Closed(deltasoap::soap::TypedFault<Closed>),\
                    Other(deltasoap::Fault),";
    assert_eq!(faults, expected, "{code}");
    assert!(code.contains("deltasoap::client::Failure<super::BuyFault>"), "{code}");
}

/// Generates code for the secured service with changes to its WSDL.
fn secured(changes: &[(&str, &str)]) -> String {
    let mut text =
        std::fs::read_to_string(wsdl("../../crates/deltasoap-codegen/tests/data/secured.wsdl")).expect("a file");
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let import = Importer::new().offline().text(&text).expect("imported");
    Builder::new("secured.wsdl").generate_for(&import).expect("generated").code
}

#[test]
fn policies_of_operations_count_for_the_client() {
    const ADDRESSING: &str = "<wsam:Addressing><wsp:Policy/></wsam:Addressing>";
    const ENDPOINT: &str = "<wsp:Policy wsu:Id=\"Endpoint\">\n    <wsam:Addressing><wsp:Policy/></wsam:Addressing>";
    let moved = secured(&[
        (ENDPOINT, "<wsp:Policy wsu:Id=\"Endpoint\">"),
        ("<wsp:Policy wsu:Id=\"Message\">", &format!("<wsp:Policy wsu:Id=\"Message\">{ADDRESSING}")),
    ]);
    assert!(moved.contains(".addressing(deltasoap::soap::addressing::Addressing::V10)"), "{moved}");
    let none = secured(&[(ADDRESSING, "")]);
    assert!(!none.contains(".addressing(") && none.contains("AsymmetricBinding, SignedParts"), "{none}");
}

/// If policies differ between operations, only what they require is known.
#[test]
fn policies_that_differ_are_named() {
    let operation = "<operation name=\"Open\"><input message=\"t:Open\"/><output message=\"t:Opened\"/></operation>";
    let code = secured(&[
        (operation, &[operation, &operation.replace("Open\"", "Close\"").replace("t:Close", "t:Open")].concat()),
        (
            "  </binding>",
            "<operation name=\"Close\"><soap:operation soapAction=\"urn:vault#Close\"/>\
             <input><soap:body use=\"literal\"/></input><output><soap:body use=\"literal\"/></output></operation></binding>",
        ),
    ]);
    let start = code.find("pub const POLICIES").expect("policies");
    let constant = &code[start..start + 300];
    assert!(constant.contains("\"AsymmetricBinding, SignedParts\"") && constant.contains("\"\","), "{constant}");
    assert!(!constant.contains("<Policy"), "{constant}");
}
