//! Messages without an element in their body, types of `xsd:anyType` content, and helpers for
//! building values.

use crate::bare::{
    Find, Found, Op, Owner, Ping, PingResponse, PutResponse, Quota, Stop, client::BareClient, server::BareServer,
};
use deltasoap::engine::Buffer;
use deltasoap::soap::{Envelope, Version};
use deltasoap::types::Node;
use deltasoap::{Client, Context, Fault, Lease};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tokio::sync::Notify;

#[derive(Default)]
struct Bare {
    pings: AtomicUsize,
    stopped: Arc<Notify>,
}

fn quota() -> Quota {
    Quota { limit: Some(7), owner: Some(Owner { name: "Ada".to_owned() }) }
}

const VAL: &str = "<val xmlns='urn:bare' xmlns:q='urn:bare' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:type='q:Quota'>\
    <limit>7</limit><owner><name>Ada</name></owner></val>";

impl crate::bare::server::Bare for Bare {
    async fn ping(&self, _: Context, _: Lease<Ping>) -> Result<PingResponse, Fault> {
        self.pings.fetch_add(1, SeqCst);
        Ok(PingResponse::default())
    }

    async fn find(&self, _: Context, _: Lease<Find>) -> Result<Found, Fault> {
        let count = i32::try_from(self.pings.load(SeqCst)).map_err(|_| Fault::receiver("too many"))?;
        let val = Node::parse(VAL.as_bytes())?;
        Ok(Found { op: Some(Op::Assign), val: Some(val), name: "quota".to_owned(), count, ..Found::default() })
    }

    async fn put(&self, _: Context, found: Lease<Found>) -> Result<PutResponse, Fault> {
        self.pings.store(usize::try_from(found.count).unwrap_or_default(), SeqCst);
        Ok(PutResponse::default())
    }

    async fn stop(&self, _: Context, _: Lease<Stop>) -> Result<(), Fault> {
        self.stopped.notify_one();
        Ok(())
    }
}

#[tokio::test]
async fn bodies_of_nothing_are_told_by_their_action() {
    let bare = Bare::default();
    let stopped = Arc::clone(&bare.stopped);
    let service = BareServer::new(bare);
    for version in [Version::Soap11, Version::Soap12] {
        let http = Client::builder("http://localhost/").version(version).build_with(service.clone()).expect("a client");
        let client = BareClient::with_client(http);
        client.put(&Found { name: "x".to_owned(), ..Found::default() }).await.expect("an answer");
        for count in 1..4 {
            assert_eq!(client.ping(&Ping::default()).await.expect("an answer"), PingResponse {});
            let found = client.find(&Find {}).await.expect("an answer");
            assert_eq!((found.count, found.op, found.note), (count, Some(Op::Assign), None));
            let val = found.val.expect("a value");
            assert_eq!(val.downcast::<Quota>().expect("a quota"), Some(quota()));
            assert_eq!(val.downcast::<Owner>().expect("no owner"), None);
        }
        client.stop(&Stop {}).await.expect("accepted");
        stopped.notified().await;
    }
}

#[test]
fn a_message_without_an_element_has_an_empty_body() {
    let written = Envelope::new(&Ping {}).write(Buffer::new()).expect("written");
    let text = String::from_utf8(written.into_vec()).expect("UTF-8");
    assert!(text.contains("<soap:Body/>"), "{text}");
    assert!(deltasoap::soap::decode_request::<Ping>(text.as_bytes()).is_ok());
    let other = text.replace("<soap:Body/>", "<soap:Body><x/></soap:Body>");
    let error = deltasoap::soap::decode_request::<Ping>(other.as_bytes()).expect_err("an element");
    assert!(error.to_string().contains("an empty Body"), "{error}");
    let error = deltasoap::soap::decode_request::<Found>(text.as_bytes()).expect_err("no element");
    assert!(error.to_string().contains("the Body is empty"), "{error}");
}
