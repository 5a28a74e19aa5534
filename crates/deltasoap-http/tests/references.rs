//! Shared values over the wire: written once, or copied where that is said.

use deltasoap::http::{CallError, CallOptions, Client, SoapService};
use deltasoap::schema::Use;
use deltasoap::soap::{Fault, Version};
use deltasoap::{Lease, Shared, Soap};

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:g")]
struct Vertex {
    name: String,
    next: Option<Shared<Vertex>>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:g")]
struct Pair {
    one: Shared<Vertex>,
    other: Shared<Vertex>,
}

/// What came, and whether its values were shared.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:g")]
struct Seen {
    shared: bool,
    back: Pair,
}

async fn seen(pair: Lease<Pair>) -> Result<Seen, Fault> {
    Ok(Seen { shared: Shared::ptr_eq(&pair.one, &pair.other), back: pair.clone() })
}

fn client(version: Version, server: bool, own: bool) -> Client<SoapService> {
    let service = SoapService::builder().encoding(Use::Encoded).references(server).operation(seen);
    let client = Client::builder("http://localhost/").version(version).encoding(Use::Encoded).references(own);
    client.build_with(service.build().expect("a service")).expect("a client")
}

fn pair(name: &str) -> Pair {
    let one = Shared::new(Vertex { name: name.to_owned(), next: None });
    Pair { other: one.clone(), one }
}

fn is_shared(pair: &Pair) -> bool {
    Shared::ptr_eq(&pair.one, &pair.other)
}

/// Beyond 2 KiB templates are kept.
fn names() -> [String; 3] {
    ["a".to_owned(), "b".repeat(3000), "c".repeat(3000)]
}

#[tokio::test]
async fn each_side_says_whether_it_writes_references() {
    for (version, server, own) in [Version::Soap11, Version::Soap12]
        .into_iter()
        .flat_map(|it| [(true, true), (true, false), (false, true)].map(|(server, own)| (it, server, own)))
    {
        let client = client(version, server, own);
        for name in names() {
            let seen: Seen = client.call(&pair(&name)).await.expect("a response");
            assert_eq!((seen.shared, is_shared(&seen.back)), (own, server && own), "{version:?} {name}");
            let options = CallOptions::new().references(!own);
            let seen: Seen = client.call_with(&pair(&name), options).await.expect("a response").body;
            assert_eq!((seen.shared, is_shared(&seen.back)), (!own, server && !own), "{version:?} {name}");
        }
    }
}

#[tokio::test]
async fn a_cycle_cannot_be_copied() {
    let ring = Shared::cyclic(|ring| Vertex { name: "a".to_owned(), next: Some(ring) });
    let ring = Pair { one: ring.clone(), other: ring };
    let error = client(Version::Soap11, true, false).call::<_, Seen>(&ring).await.expect_err("a cycle");
    assert!(matches!(&error, CallError::Encode(it) if it.to_string().contains("a cycle")), "{error}");
    let fault = client(Version::Soap11, false, true).call::<_, Seen>(&ring).await.expect_err("a cycle");
    assert!(matches!(fault, CallError::Fault(_)), "{fault}");
    let seen: Seen = client(Version::Soap11, true, true).call(&ring).await.expect("a response");
    assert!(seen.shared && is_shared(&seen.back));
}
