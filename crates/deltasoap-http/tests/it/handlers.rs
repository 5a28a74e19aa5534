//! The shapes of handlers, and the arguments that are taken from the context of a request.

use crate::common::{Echo, EchoResponse, Notify, Ticket, Unserved, echo, echoed, serve};
use deltasoap::attachments::{AttachmentError, Attachments, Part};
use deltasoap::client::{CallError, CallOptions, Credentials};
use deltasoap::server::{
    Basic, BuildError, Extension, FromContext, FromRef, Header, Operation, Principal, Reply, State,
};
use deltasoap::soap::{HeaderBlock, Version};
use deltasoap::{Client, Context, Fault, Lease, Message, Soap, SoapService};
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tower::Layer;
use tower::util::MapRequestLayer;

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

fn client(service: Result<SoapService, BuildError>) -> Client<SoapService> {
    Client::with_service("http://localhost/", service.expect("a service")).expect("a client")
}

macro_rules! answers {
    ($handler:expr) => {{
        let client = client(SoapService::builder().operation($handler).build());
        for text in ["a", "b", "a"] {
            assert_eq!(client.call(&echo(text)).await?, echoed(&echo(text)));
        }
    }};
}

async fn by_function(request: Echo) -> EchoResponse {
    echoed(&request)
}

async fn with_everything(
    _: Attachments,
    _: Context,
    _: State<()>,
    request: Lease<Echo>,
) -> Result<Reply<EchoResponse>, Fault> {
    Ok(Reply::new(echoed(&request)))
}

#[tokio::test]
async fn every_shape_is_a_handler() -> Result<()> {
    answers!(by_function);
    answers!(with_everything);
    answers!(|request: Echo| echoed(&request));
    answers!(|request: Lease<Echo>| echoed(&request));
    answers!(|_: Context, request: Echo| Ok::<_, Fault>(echoed(&request)));
    answers!(|request: Echo| Reply::new(echoed(&request)));
    answers!(async |request: Lease<Echo>| echoed(&request));
    answers!(async |_: Context, request: Echo| Ok::<_, Infallible>(echoed(&request)));
    answers!(|request: Echo| async move { echoed(&request) });
    Ok(())
}

/// A request on lease returns to the service, one that its handler owns does not.
#[tokio::test]
async fn leases_keep_requests() -> Result<()> {
    let leased = SoapService::builder().operation(|request: Lease<Echo>| echoed(&request)).build()?;
    let owned = SoapService::builder().operation(|request: Echo| echoed(&request)).build()?;
    for (service, is_kept) in [(leased, true), (owned, false)] {
        let (address, _handle) = serve(service.clone()).await;
        let client = Client::new(format!("http://{address}/"))?;
        let request = Echo { text: "the same".to_owned(), numbers: vec![7; 5000] };
        for _ in 0..5 {
            client.call(&request).await?;
        }
        let differential = service.stats().snapshot().differential;
        assert_eq!(differential.fast_bytes > 0, is_kept, "{differential:?}");
    }
    Ok(())
}

#[derive(Clone)]
struct App {
    seen: Arc<AtomicUsize>,
    name: String,
}

impl FromRef<App> for String {
    fn from_ref(app: &App) -> Self {
        app.name.clone()
    }
}

#[tokio::test]
async fn state_is_shared_by_the_handlers_that_take_it() -> Result<()> {
    let app = App { seen: Arc::default(), name: "shop".to_owned() };
    let whole = |State(app): State<App>, request: Echo| {
        app.seen.fetch_add(1, Ordering::Relaxed);
        echoed(&request)
    };
    let part = async |State(name): State<String>, message: Lease<Notify>| {
        assert_eq!((name.as_str(), message.event.as_str()), ("shop", "sold"));
    };
    let client = client(SoapService::builder().state(app.clone()).operation(whole).operation(part).build());
    client.call(&echo("a")).await?;
    client.call(&echo("b")).await?;
    client.send(&Notify { event: "sold".to_owned() }).await?;
    assert_eq!(app.seen.load(Ordering::Relaxed), 2);
    Ok(())
}

fn fault<T: std::fmt::Debug>(result: Result<T, CallError>) -> Fault {
    match result {
        Err(CallError::Fault(fault)) => *fault,
        other => panic!("{other:?}"),
    }
}

#[derive(Soap)]
#[soap(namespace = "urn:test", element = "Ticket")]
struct BadTicket {
    number: String,
}

/// A header block that an argument takes need not be declared.
#[tokio::test]
async fn header_blocks_are_arguments() -> Result<()> {
    let required = |ticket: Header<Ticket>, mut request: Echo| {
        request.numbers = vec![ticket.number];
        echoed(&request)
    };
    let optional = |ticket: Option<Header<Ticket>>, message: Notify| {
        assert_eq!(ticket.is_some(), message.event == "with");
        Reply::new(EchoResponse { text: message.event, numbers: Vec::new() })
    };
    let client = client(SoapService::builder().operation(required).operation(optional).build());
    let ticket = || HeaderBlock::from_message(&Ticket { number: 7 }).map(|it| it.must_understand(Version::Soap11));
    let response = client.call_with(&echo("a"), CallOptions::new().header(ticket()?)).await?;
    assert_eq!(response.body.numbers, [7]);
    let missing = fault(client.call(&echo("a")).await);
    assert_eq!(missing.reason, "the header block <{urn:test}Ticket> is required");
    for (event, options) in [("with", CallOptions::new().header(ticket()?)), ("without", CallOptions::new())] {
        let answer = client.call_as_with::<EchoResponse>(&Notify { event: event.to_owned() }, options).await?;
        assert_eq!(answer.body.text, event);
    }
    let malformed = HeaderBlock::from_message(&BadTicket { number: "many".to_owned() })?;
    let refused = fault(client.call_with(&echo("a"), CallOptions::new().header(malformed)).await);
    assert!(refused.reason.starts_with("the header block <{urn:test}Ticket> is malformed: "), "{refused}");
    Ok(())
}

#[tokio::test]
async fn parts_and_the_sender_are_arguments() -> Result<()> {
    let parts = async |mut parts: Attachments, context: Context, request: Echo| {
        assert_eq!(context.version(), Version::Soap11);
        let mut numbers = Vec::new();
        while let Some(part) = parts.next().await? {
            numbers.push(part.bytes().await?.len() as i32);
        }
        Ok::<_, AttachmentError>(EchoResponse { text: request.text, numbers })
    };
    let sender = |Principal(name): Principal, message: Notify| EchoResponse {
        text: format!("{} from {name}", message.event),
        numbers: Vec::new(),
    };
    let service = SoapService::builder()
        .operation(parts)
        .operation(sender)
        .authenticate(Basic::users("test", [("ada", "secret")]))
        .build()?;
    let client = Client::builder("http://localhost/").credentials(Credentials::basic("ada", "secret")?);
    let client = client.build_with(service)?;
    let options = CallOptions::new().part(Part::new("a@example.org", "text/plain", vec![1; 5]));
    assert_eq!(client.call_with(&echo("a"), options).await?.body.numbers, [5]);
    let answer: EchoResponse = client.call_as(&Notify { event: "news".to_owned() }).await?;
    assert_eq!(answer.text, "news from ada");
    let nobody = |_: Principal, request: Echo| echoed(&request);
    let client = self::client(SoapService::builder().operation(nobody).build());
    assert_eq!(fault(client.call(&echo("a")).await).reason, "the sender of the request is not authenticated");
    Ok(())
}

/// A context has the attachments, so an argument after it cannot. A handler must not mistake that
/// for a message without attachments.
#[tokio::test]
async fn attachments_are_given_out_once() -> Result<()> {
    let late = async |_: Context, _: Attachments, request: Echo| echoed(&request);
    let client = self::client(SoapService::builder().operation(late).build());
    let options = CallOptions::new().part(Part::new("a@example.org", "text/plain", vec![1; 5]));
    assert_eq!(fault(client.call_with(&echo("a"), options).await).reason, "internal error");
    Ok(())
}

/// An argument of the test.
struct Length(usize);

impl<S> FromContext<S> for Length {
    fn from_context(context: &mut Context, _: &S) -> Result<Self, Fault> {
        let length = context.parts().headers.get(http::header::CONTENT_TYPE).map(http::HeaderValue::len);
        length.map(Length).ok_or_else(|| Fault::sender("no media type"))
    }
}

#[tokio::test]
async fn extensions_and_other_types_are_arguments() -> Result<()> {
    let handler = |Extension(number): Extension<i32>, Length(length): Length, _: Echo| EchoResponse {
        text: String::new(),
        numbers: vec![number, length as i32],
    };
    let service = SoapService::builder().operation(handler).build()?;
    let attach = MapRequestLayer::new(|mut request: http::Request<deltasoap::transport::Body>| {
        request.extensions_mut().insert(42);
        request
    });
    let client = Client::with_service("http://localhost/", attach.layer(service.clone()))?;
    assert_eq!(client.call(&echo("a")).await?.numbers[0], 42);
    let client = Client::with_service("http://localhost/", service)?;
    assert_eq!(fault(client.call(&echo("a")).await).reason, "internal error");
    Ok(())
}

/// A handler that returns nothing makes a one-way operation, which is accepted before it ends.
#[tokio::test]
async fn handlers_without_a_result_are_one_way() -> Result<()> {
    let (events, mut received) = mpsc::unbounded_channel();
    let gate = Arc::new(tokio::sync::Notify::new());
    let waiting = Arc::clone(&gate);
    let operation = Operation::new(move |message: Notify| {
        let (events, waiting) = (events.clone(), Arc::clone(&waiting));
        async move {
            waiting.notified().await;
            events.send(message.event).map_err(|error| Fault::receiver(error.to_string()))
        }
    });
    assert_eq!(operation.method().response, None);
    let client = client(SoapService::builder().add_operation(operation).build());
    client.send(&Notify { event: "later".to_owned() }).await?;
    assert!(received.try_recv().is_err());
    gate.notify_one();
    assert_eq!(received.recv().await.as_deref(), Some("later"));
    Ok(())
}

/// A panic in a handler that is not `async`, or in an argument, ends one call alone.
#[tokio::test]
async fn panics_end_one_call() -> Result<()> {
    struct Panics;
    impl<S> FromContext<S> for Panics {
        fn from_context(_: &mut Context, _: &S) -> Result<Self, Fault> {
            panic!("asked for")
        }
    }
    let calls = Arc::new(Mutex::new(0));
    let handler = move |request: Echo| {
        let mut calls = calls.lock().expect("not poisoned");
        *calls += 1;
        let is_first = *calls == 1;
        drop(calls);
        assert!(!is_first, "asked for");
        echoed(&request)
    };
    let client = client(SoapService::builder().operation(handler).operation(|_: Panics, _: Unserved| ()).build());
    assert_eq!(fault(client.call(&echo("a")).await).reason, "an internal error");
    client.call(&echo("a")).await?;
    client.send(&Unserved {}).await?;
    client.call(&echo("a")).await?;
    Ok(())
}

#[test]
fn arguments_declare_the_header_blocks_that_they_take() {
    let operation = Operation::new(|_: Header<Ticket>, request: Echo| echoed(&request));
    assert_eq!(&operation.method().headers[..], [Ticket::ELEMENT]);
}
