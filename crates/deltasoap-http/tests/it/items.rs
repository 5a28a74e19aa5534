//! Lists whose items are used while their message arrives: of requests by handlers, of responses by
//! callers.

use crate::common::{Answered, Pieces, message, serve};
use bytes::Bytes;
use deltasoap::attachments::Part;
use deltasoap::client::{CallError, CallOptions};
use deltasoap::engine::{ErrorKind, Limits};
use deltasoap::server::{
    BuildError, Extract, Handler, Operation, OverlaidReply, Reply, Scheduling, SmallFirst, SoapServiceBuilder,
};
use deltasoap::soap::Version;
use deltasoap::stream::{Items, Streamed};
use deltasoap::{Client, Context, Fault, Lease, Soap, SoapService};
use futures_util::{StreamExt, TryStreamExt};
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, StreamBody};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tower::ServiceExt;

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:lab", message, response = Summary)]
struct Report {
    station: String,
    level: Vec<f64>,
    checked: bool,
}

/// The same message for sending.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:lab", name = "Report", message, response = Summary)]
struct Outgoing {
    station: String,
    level: Streamed<f64>,
    checked: bool,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:lab", message)]
struct Summary {
    station: String,
    count: u64,
    total: f64,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:lab", message)]
struct Names {
    name: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:lab", message, response = Report)]
struct Ask {
    count: u32,
}

/// Maximum bytes of a message that are held at one time.
const LIMIT: u64 = 100_000;

fn report(count: usize) -> Report {
    Report { station: "north".to_owned(), level: (0..count).map(|n| n as f64).collect(), checked: true }
}

fn xml(count: usize) -> String {
    message(Version::Soap11, &[], &report(count))
}

fn summary(count: usize) -> Summary {
    let total = (0..count).fold(0.0, |sum, n| sum + n as f64);
    Summary { station: "north".to_owned(), count: count as u64, total }
}

async fn summarize(_: Context, mut items: Items<Report, f64, Fault>) -> Result<Summary, Fault> {
    let station = items.with_message(|report| report.station.clone());
    let (mut count, mut total) = (0, 0.0);
    while let Some(batch) = items.next_batch().await {
        let batch = batch?;
        count += batch.len() as u64;
        total += batch.iter().sum::<f64>();
    }
    let report = items.finish().await?;
    assert!(report.checked && report.level.is_empty());
    Ok(Summary { station, count, total })
}

fn level(report: &mut Report) -> &mut Vec<f64> {
    &mut report.level
}

fn builder() -> SoapServiceBuilder {
    let limits = Limits { message: LIMIT, ..Limits::default() };
    SoapService::builder().limits(limits)
}

fn summarizer() -> SoapService {
    let names = async |names: Lease<Names>| {
        Ok::<_, Fault>(Summary { station: String::new(), count: names.name.len() as u64, total: 0.0 })
    };
    builder().add_operation(Operation::with_items(level, summarize)).operation(names).build().expect("a service")
}

/// Returns a service with one handler.
fn handling<M>(
    handler: impl Handler<M, Arguments: Extract<()>, Request = Items<Report, f64, Fault>, Output = Result<Summary, Fault>>,
) -> SoapService {
    builder().add_operation(Operation::with_items(level, handler)).build().expect("a service")
}

async fn post<B>(service: &SoapService, media: &str, body: B) -> Answered
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let request = Request::post("/").header("content-type", media).body(body).expect("a request");
    let response = service.clone().oneshot(request).await.expect("it never fails");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    Answered { status: parts.status, headers: parts.headers, body: String::from_utf8(body.to_vec()).expect("UTF-8") }
}

/// Returns a body whose pieces are sent through a channel.
fn fed() -> (mpsc::Sender<Bytes>, impl Body<Data = Bytes, Error = Infallible> + Send + 'static) {
    let (feed, fed) = mpsc::channel::<Bytes>(1);
    let frames = futures_util::stream::unfold(fed, async |mut fed| {
        Some((Ok::<_, Infallible>(Frame::data(fed.recv().await?)), fed))
    });
    (feed, StreamBody::new(Box::pin(frames)))
}

fn assert_summary(answered: &Answered, count: usize) {
    let Summary { total, .. } = summary(count);
    let expected = format!("<count>{count}</count><total>{total}</total>");
    assert!(answered.status == StatusCode::OK && answered.body.contains(&expected), "{answered:?}");
}

#[tokio::test]
async fn all_items_come_whatever_the_pieces() {
    let service = summarizer();
    for version in [Version::Soap11, Version::Soap12] {
        let media = if version == Version::Soap11 { "text/xml" } else { "application/soap+xml" };
        for count in [0, 1, 2, 1000] {
            let xml = message(version, &[], &report(count));
            for size in [1, 13, 500, 1 << 20] {
                assert_summary(&post(&service, media, Pieces::of(xml.as_bytes(), size)).await, count);
            }
        }
    }
}

/// Much more than the service holds of a message.
#[tokio::test]
async fn messages_may_be_longer_than_what_is_held() {
    let xml = xml(50_000);
    assert!(xml.len() as u64 > 5 * LIMIT);
    assert_summary(&post(&summarizer(), "text/xml", Pieces::of(xml.as_bytes(), 8000)).await, 50_000);
}

#[tokio::test]
async fn what_is_held_is_bounded() {
    let service = summarizer();
    // One item, and the content after the list.
    let long = "1".repeat(2 * LIMIT as usize);
    for (place, with) in
        [("<level>7</level>", format!("<level>{long}</level>")), ("<checked>", format!("<!--{long}--><checked>"))]
    {
        let xml = xml(9).replace(place, &with);
        let answered = post(&service, "text/xml", Pieces::of(xml.as_bytes(), 1000)).await;
        assert_eq!(answered.status, StatusCode::PAYLOAD_TOO_LARGE, "{answered:?}");
    }
    // Other operations still have their limit, even if a request only announces its length.
    let names = message(Version::Soap11, &[], &Names { name: vec!["x".repeat(2000); 100] });
    let answered = post(&service, "text/xml", Pieces::of(names.as_bytes(), 1000)).await;
    assert_eq!(answered.status, StatusCode::PAYLOAD_TOO_LARGE, "{answered:?}");
    let announced = http_body_util::Full::new(Bytes::from(names));
    assert_eq!(post(&service, "text/xml", announced).await.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn the_handler_runs_while_the_message_arrives() {
    let (seen, mut sees) = mpsc::unbounded_channel();
    let service = handling(move |mut items: Items<Report, f64, Fault>| {
        let seen = seen.clone();
        async move {
            let mut count = 0;
            while let Some(level) = items.next().await {
                seen.send(level?).expect("the test runs");
                count += 1;
            }
            Ok(Summary { station: String::new(), count, total: 0.0 })
        }
    });
    let xml = xml(4);
    let cuts: Vec<usize> = xml.match_indices("</level>").map(|(at, end)| at + end.len()).collect();
    let (feed, body) = fed();
    let posting = tokio::spawn(async move { post(&service, "text/xml", body).await });
    let mut start = 0;
    // An item is returned when the next one has begun.
    for (n, cut) in cuts.iter().enumerate() {
        feed.send(xml.as_bytes()[start..*cut].to_vec().into()).await.expect("the body is read");
        start = *cut;
        if n > 0 {
            assert_eq!(sees.recv().await, Some((n - 1) as f64));
        }
        assert!(sees.is_empty() && !posting.is_finished());
    }
    feed.send(xml.as_bytes()[start..].to_vec().into()).await.expect("the body is read");
    drop(feed);
    assert_eq!(sees.recv().await, Some(3.0));
    let answered = posting.await.expect("no panic");
    assert!(answered.body.contains("<count>4</count>"), "{answered:?}");
}

/// Nothing is read that was not asked for.
#[tokio::test]
async fn the_sender_waits_for_the_handler() {
    let (go, gone) = oneshot::channel::<()>();
    let gone = Arc::new(Mutex::new(Some(gone)));
    let service = handling(move |mut items: Items<Report, f64, Fault>| {
        let gone = gone.lock().expect("no panic").take();
        async move {
            items.next().await.expect("an item")?;
            gone.expect("one call").await.expect("the test goes on");
            items.finish().await?;
            Ok(summary(0))
        }
    });
    let xml = xml(5000);
    let read = Arc::new(AtomicUsize::new(0));
    let pieces: Vec<_> = xml.as_bytes().chunks(500).map(Bytes::copy_from_slice).collect();
    let (all, counter) = (pieces.len(), Arc::clone(&read));
    let frames = futures_util::stream::iter(pieces.into_iter().map(move |piece| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok::<_, Infallible>(Frame::data(piece))
    }));
    let posting = tokio::spawn(async move { post(&service, "text/xml", StreamBody::new(frames)).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let before = read.load(Ordering::Relaxed);
    assert!((1..5).contains(&before), "{before} of {all} pieces");
    go.send(()).expect("the handler waits");
    assert_eq!(posting.await.expect("no panic").status, StatusCode::OK);
    assert_eq!(read.load(Ordering::Relaxed), all);
}

/// A handler that succeeds early does not make an invalid message valid.
#[tokio::test]
async fn the_rest_is_checked() {
    let service = handling(async |mut items: Items<Report, f64, Fault>| {
        items.next().await.expect("an item")?;
        Ok(summary(1))
    });
    let good = xml(5000);
    let answered = post(&service, "text/xml", Pieces::of(good.as_bytes(), 400)).await;
    assert!(answered.status == StatusCode::OK && answered.body.contains("<count>1</count>"), "{answered:?}");
    for (place, with) in
        [("<level>4990</level>", "<level>x</level>"), ("<checked>true", "<checked>maybe"), ("</soap:Body>", "")]
    {
        let bad = good.replace(place, with);
        let answered = post(&service, "text/xml", Pieces::of(bad.as_bytes(), 400)).await;
        assert!(answered.status.is_server_error() || answered.status.is_client_error(), "{place}: {answered:?}");
        assert!(answered.body.contains("Fault"), "{place}: {answered:?}");
    }
}

/// The handler gets the error, and so does the client, whatever the handler does with it.
#[tokio::test]
async fn errors_come_after_the_items_before_them() {
    for swallows in [false, true] {
        let seen = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&seen);
        let service = handling(move |mut items: Items<Report, f64, Fault>| {
            let counter = Arc::clone(&counter);
            async move {
                while let Some(item) = items.next().await {
                    match item {
                        Ok(_) => _ = counter.fetch_add(1, Ordering::Relaxed),
                        Err(fault) if swallows => assert!(fault.reason.contains("level[1001]"), "{fault}"),
                        Err(fault) => return Err(fault),
                    }
                }
                assert!(items.next().await.is_none());
                Ok(summary(0))
            }
        });
        let bad = xml(2000).replace("<level>1000</level>", "<level>x</level>");
        let answered = post(&service, "text/xml", Pieces::of(bad.as_bytes(), 100)).await;
        assert!(answered.body.contains("Fault") && answered.body.contains("level[1001]"), "{answered:?}");
        assert_eq!(seen.load(Ordering::Relaxed), 1000);
    }
}

/// The items before an error depend on the message, not on how its bytes were split.
#[tokio::test]
async fn the_items_before_an_error_are_the_same_in_pieces_of_any_length() {
    const MEDIA: &str = "text/xml; charset=us-ascii";
    const PLACE: &str = "<level>1000</level>";
    let good = xml(3000);
    let cases = [
        (good.replace(PLACE, "<level>x</level>"), 1000),
        (good.replace(PLACE, "<level>\u{e9}</level>"), 1000),
        (good.replace(PLACE, "<level><a/></level>"), 1000),
        // The last item in the list may not be finished.
        (good.replace(PLACE, "</other>"), 999),
        (good.replace(PLACE, "<level<"), 999),
        (good.replace(PLACE, "\u{e9}<level>1"), 999),
        (good.replace("<checked>true", "<checked>maybe"), 2999),
        (good.replace("</soap:Body>", ""), 2999),
        (good[..good.find(PLACE).expect("an item") + 3].to_owned(), 999),
        (good[..good.find(PLACE).expect("an item") + 9].to_owned(), 1000),
    ];
    let results = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&results);
    let service = handling(move |mut items: Items<Report, f64, Fault>| {
        let seen = Arc::clone(&seen);
        async move {
            let mut all = Vec::new();
            loop {
                match items.next().await.expect("an error") {
                    Ok(item) => all.push(item),
                    Err(fault) => {
                        seen.lock().expect("no panic").push((all, fault.reason.clone()));
                        return Err(fault);
                    }
                }
            }
        }
    });
    for (text, count) in cases {
        let expected: Vec<f64> = (0..count).map(f64::from).collect();
        let mut errors = Vec::new();
        for size in [1, 2, 7, 64, 333, 5000, 1 << 20] {
            let answered = post(&service, MEDIA, Pieces::of(text.as_bytes(), size)).await;
            let (items, reason) = results.lock().expect("no panic").pop().expect("the handler ran");
            assert!(answered.body.contains("Fault"), "{answered:?}");
            assert_eq!(items, expected, "{size} {reason}");
            let body = text.clone();
            let client = answering(MEDIA, StatusCode::OK, move || Pieces::of(body.as_bytes(), size));
            let mut items = client.call_items(&Ask { count: 1 }, level).await.expect("the first items");
            let mut all = Vec::new();
            let error = loop {
                match items.next().await.expect("an error") {
                    Ok(item) => all.push(item),
                    Err(error) => break error,
                }
            };
            assert!(items.next().await.is_none());
            assert_eq!(all, expected, "{size} {error:?}");
            errors.push((reason, format!("{error:?}")));
        }
        assert!(errors.windows(2).all(|pair| pair[0] == pair[1]), "{errors:#?}");
    }
}

#[tokio::test]
async fn a_message_that_breaks_off_is_refused() {
    let service = summarizer();
    let xml = xml(1000);
    let broken = [Ok(Frame::data(Bytes::from(xml[..xml.len() / 2].to_owned()))), Err("gone")];
    let body = StreamBody::new(futures_util::stream::iter(broken));
    let answered = post(&service, "text/xml", body).await;
    assert!(
        answered.status == StatusCode::BAD_REQUEST && answered.body.contains("did not arrive in full"),
        "{answered:?}"
    );
    let answered = post(&service, "text/xml", Pieces::of(&xml.as_bytes()[..xml.len() / 2], 100)).await;
    assert!(answered.body.contains("Fault"), "{answered:?}");
}

/// A message that stops arriving is aborted, also while its handler runs.
#[tokio::test]
async fn a_message_that_stops_is_given_up() {
    let handler = Operation::with_items(level, summarize);
    let service =
        builder().body_timeout(Some(Duration::from_millis(80))).add_operation(handler).build().expect("a service");
    let (feed, body) = fed();
    let posting = tokio::spawn(async move { post(&service, "text/xml", body).await });
    let xml = xml(100);
    feed.send(xml.as_bytes()[..xml.len() / 2].to_vec().into()).await.expect("the body is read");
    let answered = posting.await.expect("no panic");
    assert_eq!(answered.status, StatusCode::REQUEST_TIMEOUT, "{answered:?}");
    drop(feed);
}

/// The handler's time limit does not include the time in which the message arrives.
#[tokio::test]
async fn a_handler_has_its_time_between_two_reads() {
    let with_limit = |operation| {
        let limit = Some(Duration::from_millis(150));
        builder().handler_timeout(limit).add_operation(operation).build().expect("a service")
    };
    let service = with_limit(Operation::with_items(level, summarize));
    let (feed, body) = fed();
    let posting = tokio::spawn(async move { post(&service, "text/xml", body).await });
    let text = xml(100);
    for piece in text.as_bytes().chunks(text.len() / 6 + 1) {
        tokio::time::sleep(Duration::from_millis(60)).await;
        feed.send(piece.to_vec().into()).await.expect("the body is read");
    }
    drop(feed);
    assert_summary(&posting.await.expect("no panic"), 100);
    let sleeps = async |mut items: Items<Report, f64, Fault>| {
        items.next().await.expect("an item")?;
        tokio::time::sleep(Duration::from_secs(600)).await;
        Ok::<_, Fault>(summary(0))
    };
    let service = with_limit(Operation::with_items(level, sleeps));
    let answered = post(&service, "text/xml", Pieces::of(text.as_bytes(), 200)).await;
    assert!(answered.body.contains("took too long"), "{answered:?}");
}

#[tokio::test]
async fn a_fault_does_not_wait_for_the_rest() {
    let service = handling(async |mut items: Items<Report, f64, Fault>| {
        items.next().await.expect("an item")?;
        Err(Fault::sender("enough"))
    });
    let xml = xml(100);
    let answered = post(&service, "text/xml", Pieces::of(xml.as_bytes(), 100)).await;
    assert!(answered.body.contains("enough"), "{answered:?}");
    let (feed, body) = fed();
    let posting = tokio::spawn(async move { post(&service, "text/xml", body).await });
    feed.send(xml.as_bytes()[..xml.len() / 2].to_vec().into()).await.expect("the body is read");
    // The server waits a second for a short rest, so that the connection can be reused.
    let answered = tokio::time::timeout(Duration::from_secs(10), posting).await.expect("in time").expect("no panic");
    assert!(answered.body.contains("enough"), "{answered:?}");
    drop(feed);
}

#[tokio::test]
async fn a_panic_is_a_fault() {
    let service = handling(async |mut items: Items<Report, f64, Fault>| -> Result<Summary, Fault> {
        items.next().await.expect("an item")?;
        panic!("a secret")
    });
    let answered = post(&service, "text/xml", Pieces::of(xml(100).as_bytes(), 100)).await;
    assert!(answered.status == StatusCode::INTERNAL_SERVER_ERROR && !answered.body.contains("secret"), "{answered:?}");
}

/// The items may be passed on; then the response does not wait for them.
#[tokio::test]
async fn items_can_be_passed_on() {
    let (done, ends) = oneshot::channel();
    let done = Arc::new(Mutex::new(Some(done)));
    let service = handling(move |items: Items<Report, f64, Fault>| {
        let done = done.lock().expect("no panic").take();
        async move {
            tokio::spawn(async move {
                let mut stream = pin!(items.into_stream());
                let mut total = 0.0;
                while let Some(level) = stream.try_next().await.expect("valid") {
                    total += level;
                }
                done.expect("one call").send(total).expect("the test waits");
            });
            Ok(summary(0))
        }
    });
    let (feed, body) = fed();
    let text = xml(100);
    let (first, second) = text.split_at(text.len() / 2);
    let posting = tokio::spawn(async move { post(&service, "text/xml", body).await });
    feed.send(first.as_bytes().to_vec().into()).await.expect("the body is read");
    assert_eq!(posting.await.expect("no panic").status, StatusCode::OK);
    feed.send(second.as_bytes().to_vec().into()).await.expect("the body is read");
    drop(feed);
    assert_eq!(ends.await.expect("a total"), summary(100).total);
}

#[tokio::test]
async fn packages_are_read_whole() {
    let client = Client::with_service("http://localhost/", summarizer()).expect("a client");
    let options = CallOptions::new().part(Part::new("more", "text/plain", &b"more"[..]));
    let answer = client.call_as_with::<Summary>(&report(100), options).await.expect("a response");
    assert_eq!(answer.body, summary(100));
}

#[tokio::test]
async fn inspectors_need_whole_messages() {
    let operation = Operation::with_items(level, summarize);
    let built = builder().inspect(|_| Ok(())).add_operation(operation).build();
    assert!(matches!(built, Err(BuildError::InspectedItems(name)) if &*name.local == "Report"));
    let client = Client::builder("http://localhost/").inspect(|_| Ok(())).build_with(summarizer()).expect("a client");
    let refused = client.call_items(&Ask { count: 1 }, level).await;
    assert!(matches!(refused, Err(CallError::RefusedRequest(_))), "{refused:?}");
}

/// Over connections, with slots for which short requests have priority.
#[tokio::test]
async fn over_loopback() {
    let operation = Operation::with_items(level, summarize);
    let scheduling = Scheduling::SmallFirst(SmallFirst::default());
    let (address, _handle) =
        serve(builder().scheduling(scheduling).add_operation(operation).build().expect("a service")).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    for count in [100_000, 3, 0] {
        let request = Outgoing { station: "north".to_owned(), level: Streamed::default(), checked: true };
        let numbers = (0..count).map(|n| n as f64);
        let answer: Summary = client.call_overlaid(&request, numbers).await.expect("a response");
        assert_eq!(answer, summary(count));
    }
}

/// Returns a service that answers with the requested number of levels.
fn reporter() -> SoapService {
    let answer = async |ask: Lease<Ask>| match ask.count {
        13 => Err(Fault::sender("unlucky")),
        count => Ok(report(count as usize)),
    };
    SoapService::builder().operation(answer).build().expect("a service")
}

#[tokio::test]
async fn a_caller_takes_items_of_a_response() {
    let limits = Limits { message: LIMIT, ..Limits::default() };
    let (address, _handle) = serve(reporter()).await;
    let client = Client::builder(format!("http://{address}/")).limits(limits);
    let client = client.build().expect("a client");
    for count in [0, 1, 100_000] {
        let mut items = client.call_items(&Ask { count }, level).await.expect("a response");
        assert_eq!(items.with_message(|report| report.station.clone()), "north");
        let mut seen = 0;
        while let Some(item) = items.next().await {
            assert_eq!(item.expect("valid"), f64::from(seen));
            seen += 1;
        }
        assert_eq!(seen, count);
        assert!(items.finish().await.expect("valid").checked);
    }
    let whole = client.call_as::<Report>(&Ask { count: 100_000 }).await;
    assert!(matches!(whole, Err(CallError::Decode(_))), "{whole:?}");
    let fault = client.call_items(&Ask { count: 13 }, level).await;
    assert!(matches!(fault, Err(CallError::Fault(fault)) if fault.reason == "unlucky"));
}

/// Returns a service that answers with this body.
fn answering<B>(
    media: &'static str,
    status: StatusCode,
    body: impl Fn() -> B + Clone + Send + 'static,
) -> Client<
    impl tower::Service<Request<deltasoap::transport::Body>, Response = Response<B>, Error = Infallible, Future: Send>
    + Clone,
>
where
    B: Body<Data = Bytes> + Send + 'static,
{
    let service = tower::service_fn(move |_: Request<deltasoap::transport::Body>| {
        let response = Response::builder().status(status).header("content-type", media).body(body());
        std::future::ready(Ok::<_, Infallible>(response.expect("a response")))
    });
    Client::builder("http://localhost/")
        .timeout(Some(Duration::from_millis(100)))
        .build_with(service)
        .expect("a client")
}

#[tokio::test]
async fn errors_of_a_response_come_with_its_items() {
    let bad = xml(2000).replace("<level>1000</level>", "<level>x</level>");
    let client = answering("text/xml", StatusCode::OK, move || Pieces::of(bad.as_bytes(), 100));
    let mut items = client.call_items(&Ask { count: 1 }, level).await.expect("the first items");
    let mut seen = 0;
    let error = loop {
        match items.next().await.expect("an error") {
            Ok(_) => seen += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(seen, 1000);
    assert!(matches!(&error, CallError::Decode(error) if error.path().ends_with("level[1001]")), "{error:?}");
    assert!(items.next().await.is_none());
    let page = answering("text/html", StatusCode::BAD_GATEWAY, || Pieces::of(b"<p>no</p>", 4));
    let error = page.call_items(&Ask { count: 1 }, level).await.expect_err("a page");
    assert!(matches!(&error, CallError::Status(error) if error.excerpt == "<p>no</p>"), "{error:?}");
    let empty = answering("text/xml", StatusCode::OK, || Pieces::of(b"", 4));
    let error = empty.call_items(&Ask { count: 1 }, level).await.expect_err("nothing");
    assert!(matches!(&error, CallError::Status(_)), "{error:?}");
    let other = message(Version::Soap11, &[], &summary(1));
    let other = answering("text/xml", StatusCode::OK, move || Pieces::of(other.as_bytes(), 50));
    let error = other.call_items(&Ask { count: 1 }, level).await.expect_err("another message");
    assert!(matches!(&error, CallError::Decode(error) if matches!(error.kind(), ErrorKind::UnexpectedElement { .. })));
}

#[tokio::test]
async fn a_response_that_stops_is_given_up() {
    let text = xml(1000);
    let client = answering("text/xml", StatusCode::OK, move || {
        let half = Bytes::from(text[..text.len() / 2].to_owned());
        let frames = futures_util::stream::iter([Ok::<_, Infallible>(Frame::data(half))]);
        StreamBody::new(Box::pin(frames.chain(futures_util::stream::pending())))
    });
    let items = client.call_items(&Ask { count: 1 }, level).await.expect("the first items");
    assert!(matches!(items.finish().await, Err(CallError::Timeout(_))));
}

/// A response in a package is read completely first.
#[tokio::test]
async fn responses_in_packages() {
    let answer = async |ask: Lease<Ask>| {
        let part = Part::new("more", "text/plain", &b"more"[..]);
        Ok::<_, Fault>(Reply::new(report(ask.count as usize)).with_part(part))
    };
    let service = SoapService::builder().operation(answer).build().expect("a service");
    let client = Client::with_service("http://localhost/", service).expect("a client");
    let mut items = client.call_items(&Ask { count: 500 }, level).await.expect("a response");
    assert_eq!(items.next_batch().await.expect("items").expect("valid").len(), 500);
    assert!(items.next_batch().await.is_none());
}

/// Answers with the requested number of levels, written while they are sent.
async fn overlay(ask: Lease<Ask>) -> Result<OverlaidReply<Outgoing>, Fault> {
    let answer =
        Outgoing { station: "north".to_owned(), level: Streamed(vec![0.0; ask.count.min(1) as usize]), checked: true };
    Ok(Reply::new(answer).overlaid((1..ask.count).map(f64::from)))
}

/// As [`overlay`], from a stream that is not always ready.
async fn relay(ask: Lease<Ask>) -> Result<OverlaidReply<Outgoing>, Fault> {
    let answer = Outgoing { station: "north".to_owned(), level: Streamed::default(), checked: true };
    let levels = futures_util::stream::iter(0..ask.count).then(async |level| {
        if level % 1000 == 7 {
            tokio::task::yield_now().await;
        }
        if level == 1_000_000 { Err("the source is gone") } else { Ok(f64::from(level)) }
    });
    Ok(Reply::new(answer).overlaid_stream(levels))
}

#[tokio::test]
async fn responses_are_written_while_they_are_sent() {
    let in_full = Client::with_service("http://localhost/", reporter()).expect("a client");
    let overlaying = [
        SoapService::builder().operation(overlay).build().expect("a service"),
        SoapService::builder().operation(relay).build().expect("a service"),
    ];
    for service in overlaying {
        let (address, _handle) = serve(service.clone()).await;
        let client = Client::new(format!("http://{address}/")).expect("a client");
        for count in [0, 1, 2, 50_000] {
            let ask = Ask { count };
            let expected: Report = in_full.call_as(&ask).await.expect("a response");
            assert_eq!(client.call_as::<Report>(&ask).await.expect("a response"), expected);
            let xml =
                post(&service, "text/xml", http_body_util::Full::new(Bytes::from(message(Version::Soap11, &[], &ask))))
                    .await;
            assert_eq!(xml.body, message(Version::Soap11, &[], &expected), "as if written in full");
        }
        let mut items = client.call_items(&Ask { count: 50_000 }, level).await.expect("the first items");
        assert!(items.next_batch().await.expect("items").expect("valid").len() < 10_000);
        assert!(items.finish().await.expect("valid").checked);
    }
}

#[tokio::test]
async fn a_response_breaks_off_with_its_source() {
    let (address, _handle) = serve(SoapService::builder().operation(relay).build().expect("a service")).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    let items = client.call_items(&Ask { count: 2_000_000 }, level).await.expect("the first items");
    assert!(matches!(items.finish().await, Err(CallError::Http(_))));
}

#[tokio::test]
async fn a_response_without_a_place_for_items_is_a_fault() {
    let answer = async |_: Lease<Ask>| Ok::<_, Fault>(Reply::new(report(3)).overlaid(vec![1.0]));
    let client =
        Client::with_service("http://localhost/", SoapService::builder().operation(answer).build().expect("a service"));
    let answer = client.expect("a client").call_as::<Report>(&Ask { count: 1 }).await;
    assert!(
        matches!(&answer, Err(CallError::Fault(fault)) if fault.reason.contains("could not be written")),
        "{answer:?}"
    );
}

/// Forwards items from one connection to the next, without holding the list.
#[tokio::test]
async fn items_are_relayed() {
    let (address, _handle) = serve(summarizer()).await;
    let (source, _source) = serve(SoapService::builder().operation(overlay).build().expect("a service")).await;
    let from = Client::new(format!("http://{source}/")).expect("a client");
    let to = Client::new(format!("http://{address}/")).expect("a client");
    let items = from.call_items(&Ask { count: 30_000 }, level).await.expect("the first items");
    let request = Outgoing { station: "north".to_owned(), level: Streamed::default(), checked: true };
    let answer = to.call_overlaid_stream(&request, items.into_stream(), CallOptions::new()).await;
    assert_eq!(answer.expect("a response").body, summary(30_000));
    let broken = futures_util::stream::iter([Ok(1.0), Err("gone")]);
    let answer = to.call_overlaid_stream(&request, broken, CallOptions::new()).await;
    assert!(matches!(&answer, Err(CallError::Encode(_) | CallError::Http(_))), "{answer:?}");
}

/// A caller that stops waiting during a failure gets it the next time.
#[tokio::test]
async fn failures_are_kept_for_handlers_that_stop_waiting() {
    let service = handling(async |mut items: Items<Report, f64, Fault>| {
        let mut count = 0;
        loop {
            match tokio::time::timeout(Duration::from_millis(20), items.next()).await {
                Ok(Some(item)) => {
                    item?;
                    count += 1;
                }
                Ok(None) => return Ok(Summary { station: String::new(), count, total: 0.0 }),
                Err(_) => {}
            }
        }
    });
    let good = xml(60);
    let middle = good.find("<level>30<").expect("an item");
    for bad in ["<!-- \u{e9} -->", "<level>x</level>", "<other/>", "<<"] {
        let (feed, body) = fed();
        let service = service.clone();
        let posting = tokio::spawn(async move { post(&service, "text/xml; charset=us-ascii", body).await });
        for piece in [&good[..middle], bad, &good[middle..]] {
            feed.send(Bytes::copy_from_slice(piece.as_bytes())).await.expect("the body is read");
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
        drop(feed);
        let answered = posting.await.expect("no panic");
        assert!(answered.body.contains("Fault") && !answered.status.is_success(), "{bad}: {answered:?}");
    }
}

/// Items that nobody takes must be within the limit.
#[tokio::test]
async fn the_rest_is_bounded() {
    let service = handling(async |_: Items<Report, f64, Fault>| Ok(summary(0)));
    let answered = post(&service, "text/xml", Pieces::of(xml(50_000).as_bytes(), 8000)).await;
    assert_eq!(answered.status, StatusCode::PAYLOAD_TOO_LARGE, "{answered:?}");
}

#[tokio::test]
async fn a_panic_on_the_way_to_the_list_is_a_fault() {
    fn nowhere(report: &mut Report) -> &mut Vec<f64> {
        assert!(!report.station.is_empty(), "a secret");
        &mut report.level
    }
    let service = builder().add_operation(Operation::with_items(nowhere, summarize)).build().expect("a service");
    let answered = post(&service, "text/xml", Pieces::of(xml(9).as_bytes(), 10)).await;
    assert!(answered.status == StatusCode::INTERNAL_SERVER_ERROR && !answered.body.contains("secret"), "{answered:?}");
}

#[tokio::test]
async fn without_a_time_limit_in_effect() {
    let operation = Operation::with_items(level, summarize);
    let service = builder().handler_timeout(Duration::MAX).add_operation(operation).build().expect("a service");
    assert_summary(&post(&service, "text/xml", Pieces::of(xml(100).as_bytes(), 100)).await, 100);
}
