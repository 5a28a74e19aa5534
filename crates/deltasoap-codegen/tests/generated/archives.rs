//! Header blocks in both directions, and parts with and without MTOM.

use crate::archive::{
    Both, BothResponse, Full, Picture, Quota, Session, Store, StoreFault, StoreResponse,
    client::ArchiveClient,
    server::{Archive, ArchiveServer},
};
use deltasoap::attachments::Mtom;
use deltasoap::client::{CallOptions, Failure};
use deltasoap::engine::Differential;
use deltasoap::lexical::Base64;
use deltasoap::server::Reply;
use deltasoap::soap::{HeaderBlock, TypedFault, Version, decode_request};
use deltasoap::{Binary, Client, Context, Fault, Lease, Server};

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Returns the length of everything, and the number of bytes that are still free.
struct Shelf;

impl Archive for Shelf {
    async fn store(&self, mut context: Context, request: Lease<Store>) -> Result<Reply<StoreResponse>, StoreFault> {
        let Some(Ok(session)) = context.header::<Session>() else {
            return Err(Fault::sender("who is it?").into());
        };
        if let Binary::Part(uri) = &request.picture.value {
            context.attachments().keep().await.map_err(|error| Fault::sender(error.to_string()))?;
            let id = uri.content_id();
            let part = context.attachments().kept().find(|part| part.content_id() == id.as_deref());
            if part.and_then(|part| part.content_type()) != request.picture.content_type.as_deref() {
                return Err(Fault::sender("the part is of another media type").into());
            }
        }
        let mut bytes = Vec::new();
        for binary in request.data.iter().chain([&request.picture.value, &request.digest]) {
            let content = context.attachments().bytes(binary).await;
            let content = content.map_err(|error| Fault::sender(error.to_string()))?;
            bytes.push(i32::try_from(content.len()).unwrap_or(i32::MAX));
        }
        if session.user == "guest" {
            return Err(StoreFault::Full(TypedFault::receiver("no room", Full { free: 0 })));
        }
        let quota = HeaderBlock::from_message(&Quota(bytes.iter().sum()));
        // Clients understand it, since the WSDL declares it.
        let quota = quota.map_err(|error| Fault::receiver(error.to_string()))?.must_understand(Version::Soap11);
        let copy = Binary::from(vec![1; 5000]);
        Ok(Reply::new(StoreResponse { bytes, copy }).with_header(quota))
    }

    async fn both(&self, _: Context, request: Lease<Both>) -> Result<BothResponse, Fault> {
        Ok(BothResponse { session: request.session2.clone(), session2: request.session.clone() })
    }
}

/// Bodies of several elements, in both directions; a missing element, or an extra one, is an error.
#[tokio::test]
async fn several_elements_are_in_a_body() -> Result {
    let session = |user: &str| Session { user: user.to_owned() };
    let client = Client::with_service("http://localhost/", ArchiveServer::new(Shelf))?;
    let archive = ArchiveClient::with_client(client);
    for users in [["ada", "grace"], ["grace", "ada"], ["ada", "ada"]] {
        let [session, session2] = users.map(session);
        let answer = archive.both(&Both { session: session.clone(), session2: session2.clone() }).await?;
        assert_eq!(answer, BothResponse { session: session2, session2: session });
    }
    let read = |sessions: usize| {
        let entries = "<Session xmlns='urn:archive'><user>ada</user></Session>".repeat(sessions);
        decode_request::<Both>(&crate::body(&entries)).map(|(_, both)| both)
    };
    assert_eq!(read(2)?, Both { session: session("ada"), session2: session("ada") });
    for (sessions, expected) in
        [(0, "{urn:archive}Session"), (1, "{urn:archive}Session"), (3, "expected no more parts")]
    {
        let error = read(sessions).expect_err("the parts are not those").to_string();
        assert!(error.contains(expected), "{error}");
    }
    Ok(())
}

fn request(seed: u8) -> Store {
    Store {
        picture: Picture {
            content_type: Some("image/png".to_owned()),
            digest: Some(Base64(vec![1, 2, 3, 4])),
            value: Binary::from(vec![seed; 6000]),
        },
        data: vec![Binary::from(vec![seed; 5000]), Binary::from(vec![seed; 10])],
        digest: Binary::from(vec![seed; 4]),
    }
}

fn client() -> Result<ArchiveClient<impl deltasoap::client::Caller<Response<StoreResponse> = StoreResponse> + Clone>> {
    Ok(ArchiveClient::with_client(Client::with_service("http://localhost/", ArchiveServer::new(Shelf))?))
}

#[tokio::test]
async fn header_blocks_go_both_ways() -> Result {
    let service = ArchiveServer::new(Shelf);
    let client = ArchiveClient::with_client(Client::with_service("http://localhost/", service)?);
    let refused = client.store(&request(1)).await;
    assert!(matches!(&refused, Err(Failure::Fault(fault)) if fault.to_string().contains("who is it?")), "{refused:?}");

    // Options that are set later leave the block.
    let options = CallOptions::new().timeout(std::time::Duration::from_secs(30));
    let client = client.with_header(&Session { user: "ada".to_owned() })?.with_options(options);
    let plain: StoreResponse = client.store(&request(1)).await?;
    assert_eq!(plain.bytes, [5000, 10, 6000, 4]);
    assert_eq!(plain.copy, Binary::from(vec![1; 5000]));

    let whole = client.whole().store(&request(2)).await?;
    assert_eq!(whole.header::<Quota>(), Some(Ok(Quota(11014))));
    assert_eq!(whole.body, plain);
    Ok(())
}

/// The responses differ from the previous one only in the number of bytes.
#[tokio::test]
async fn leased_responses_are_read_where_they_differ() -> Result {
    let differential = Differential { adaptive: false, ..Differential::default() };
    let client = Client::builder("http://localhost/").differential(differential);
    let client = client.build_with(ArchiveServer::new(Shelf))?;
    let archive = ArchiveClient::with_client(client.clone()).with_header(&Session { user: "ada".to_owned() })?;
    let (plain, leased) = (archive.clone(), archive.leased());
    for seed in [1, 20, 20, 255] {
        let response: Lease<StoreResponse> = leased.store(&request(seed)).await?;
        assert_eq!(*response, plain.store(&request(seed)).await?);
    }
    let stats = client.differential_stats();
    assert_eq!((stats.messages, stats.compared), (4, 3));
    assert!(stats.fast_bytes > 3 * 5000, "{stats:?}");
    Ok(())
}

#[tokio::test]
async fn faults_are_typed_whatever_is_around_them() -> Result {
    let client = client()?.with_header(&Session { user: "guest".to_owned() })?;
    let full = client.store(&request(3)).await;
    let Err(Failure::Fault(fault)) = full else { panic!("{full:?}") };
    assert!(matches!(*fault, StoreFault::Full(TypedFault { detail: Full { free: 0 }, .. })));
    Ok(())
}

/// Repeated, since encoding and decoding relative to the previous message must not change the
/// result.
#[tokio::test]
async fn bytes_may_come_in_parts() -> Result {
    let service = ArchiveServer::new(Shelf);
    let client = ArchiveClient::with_client(Client::with_service("http://localhost/", service)?);
    let client =
        client.with_options(CallOptions::new().mtom(Mtom::On)).with_header(&Session { user: "ada".to_owned() })?;
    let client = client.whole();
    for seed in 0..3 {
        let mut response = client.store(&request(seed)).await?;
        assert_eq!(response.body.bytes, [5000, 10, 6000, 4]);
        assert!(matches!(response.body.copy, Binary::Part(_)));
        assert_eq!(response.attachments.bytes(&response.body.copy).await?, vec![1; 5000]);
    }
    Ok(())
}

/// The service responds with MTOM to a request with MTOM.
#[tokio::test]
async fn a_policy_switches_mtom_on() -> Result {
    let server = Server::bind("127.0.0.1:0").await?;
    let (url, handle) = (format!("http://{}/", server.local_addr()?), server.handle());
    let serving = tokio::spawn(server.serve(ArchiveServer::new(Shelf)));
    let client = ArchiveClient::new(url)?.with_header(&Session { user: "ada".to_owned() })?.whole();
    let mut response = client.store(&request(4)).await?;
    assert!(matches!(response.body.copy, Binary::Part(_)));
    assert_eq!(response.attachments.bytes(&response.body.copy).await?, vec![1; 5000]);
    handle.shutdown();
    Ok(serving.await??)
}

/// As Apache CXF writes it: all bytes are in parts, however few.
#[test]
fn includes_stand_wherever_bytes_may() -> Result {
    let include = |id: &str| format!("<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:{id}'/>");
    let [picture, data, digest] = ["p@x", "d@x", "g@x"].map(include);
    let message = crate::body(&format!(
        "<Store xmlns='urn:archive'><picture m:contentType='image/png' xmlns:m='http://www.w3.org/2005/05/xmlmime'>{picture}</picture><data>{data}</data><data>AAEC</data>\
         <digest>{digest}</digest></Store>"
    ));
    let store = crate::round_trip::<Store>(&message, deltasoap::schema::Use::Literal);
    assert_eq!(store.picture.content_type.as_deref(), Some("image/png"));
    assert_eq!(store.picture.value, Binary::part("p@x"));
    assert_eq!(store.data, [Binary::part("d@x"), Binary::from(vec![0, 1, 2])]);
    assert_eq!(store.digest, Binary::part("g@x"));
    Ok(())
}
