//! One step of a session: the handling of each kind of message (section 3.7.2).

use super::exchange::Exchange;
use super::session::{CallError, Device, Outgoing, Session, SessionEnd};
use super::table::{Checkout, NoSession, Outstanding, Running, Token};
use super::{Core, unwritable};
use crate::message::{self, Headers};
use crate::types::{Inform, InformResponse, Rpc};
use crate::{CwmpFault, Version, fault};
use deltasoap::engine::content::Shortcuts;
use deltasoap::engine::decode::{Cursor, Step};
use deltasoap::engine::encode::Encoder;
use deltasoap::engine::{Content, Typed};
use deltasoap::schema::{Element, QName, View};
use deltasoap::server::MessageReply;
use deltasoap::types::Node;
use deltasoap::{Context, Fault, Lease, Message};
use futures_util::future::BoxFuture;
use http::StatusCode;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Maximum number of envelopes that either side sends at once (A.3.3.1): one, since version 1.0.
const MAX_ENVELOPES: u32 = 1;

/// A message of any kind, as a tree.
#[derive(Debug)]
pub(crate) struct AnyMessage(pub(crate) Node);

impl Content for AnyMessage {
    const REPLACES: bool = true;

    fn vacant(view: View<'_>) -> Self {
        AnyMessage(Node::vacant(view))
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        self.0.decode(cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        self.0.encode(encoder, view);
    }
}

impl Shortcuts for AnyMessage {}

impl Typed for AnyMessage {
    const TYPE_NAME: QName = Node::TYPE_NAME;

    fn element() -> &'static Element {
        <Node as Typed>::element()
    }
}

/// The name does not matter: operations of this type have names of their own, or accept everything
/// that no other operation does.
impl Message for AnyMessage {
    const ELEMENT: QName = QName::new("", "anything");
}

type Answered = Result<MessageReply, Box<Fault>>;

/// Returns the exchange of a request, which the server attaches.
fn exchange(context: &Context) -> Option<&Arc<Exchange>> {
    let exchange = context.extension::<Arc<Exchange>>();
    exchange.inspect(|exchange| exchange.take())
}

/// HTTP 400: the message belongs to no session, or answers no request.
fn bad_request() -> MessageReply {
    MessageReply::status(StatusCode::BAD_REQUEST)
}

/// HTTP 204: the server has nothing more to say.
fn nothing() -> MessageReply {
    MessageReply::status(StatusCode::NO_CONTENT)
}

fn reply<T: Message>(version: Version, headers: &Headers, body: &T) -> Answered {
    message::encode(version, headers, body).map(MessageReply::message).map_err(|error| unwritable(&error))
}

fn reply_fault(version: Version, headers: &Headers, fault: &CwmpFault) -> Answered {
    message::encode_fault(version, headers, fault).map(MessageReply::fault).map_err(|error| unwritable(&error))
}

impl Core {
    /// Begins a new session for an Inform, whatever came before (section 3.7.2.1).
    pub(crate) async fn inform(
        self: &Arc<Self>,
        version: Version,
        inform: Lease<Inform>,
        context: &Context,
    ) -> Answered {
        let Some(exchange) = exchange(context) else { return Ok(bad_request()) };
        self.end(exchange, SessionEnd::Replaced);
        let headers = Headers::read(context.head()).answering();
        let (id, principal) = (inform.device_id.clone(), exchange.principal());
        let device = Arc::new(Device { id, principal, peer: context.peer(), version });
        let accepted = match self.handler.inform(&device, &inform).await {
            Ok(accepted) => accepted,
            Err(fault) => return reply_fault(version, &headers, &fault),
        };
        let headers = Headers { hold_requests: accepted.hold_requests, ..headers };
        match self.begin(exchange, &device, inform, accepted.hold_requests) {
            Ok(()) => reply(version, &headers, &InformResponse { max_envelopes: MAX_ENVELOPES }),
            Err(fault) => reply_fault(version, &headers.answering(), &fault),
        }
    }

    /// Creates a session and puts it into the table.
    fn begin(
        self: &Arc<Self>,
        exchange: &Exchange,
        device: &Arc<Device>,
        inform: Lease<Inform>,
        is_held: bool,
    ) -> Result<(), CwmpFault> {
        let token = Token::random().ok_or_else(|| CwmpFault::from_code(fault::ACS_INTERNAL_ERROR))?;
        let (session, requests) = Session::new(Arc::clone(device), inform, token, is_held);
        let running = Box::new(Running {
            driver: Some(self.handler.session(session)),
            requests,
            outstanding: None,
            is_cpe_done: false,
            is_held,
            messages: 1,
            bytes: exchange.bytes(),
        });
        let inserted = self.table.insert(token, device, running);
        let Ok((before, is_to_sweep)) = inserted else {
            return Err(CwmpFault::from_code(fault::ACS_RESOURCES_EXCEEDED));
        };
        self.ended(before, SessionEnd::Replaced);
        exchange.begin(token);
        if is_to_sweep {
            self.sweep();
        }
        Ok(())
    }

    /// Removes idle sessions periodically, as long as there are any sessions.
    fn sweep(self: &Arc<Self>) {
        let (core, every) = (Arc::downgrade(self), (self.table.limits.idle / 4).max(Duration::from_millis(10)));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                let Some(core) = core.upgrade() else { return };
                let (silent, is_to_go_on) = core.table.sweep();
                silent.into_iter().for_each(|entry| core.ended(Some(entry), SessionEnd::Idle));
                if !is_to_go_on {
                    return;
                }
            }
        });
    }

    /// Checks out the session that a request belongs to.
    ///
    /// # Errors
    /// Returns the answer to send if there is none.
    fn check_out(self: &Arc<Self>, context: &Context) -> Result<Checkout, MessageReply> {
        let Some(exchange) = exchange(context) else { return Err(bad_request()) };
        match self.table.check_out(exchange) {
            Ok((entry, running)) => Ok(Checkout::new(Arc::clone(self), entry, running)),
            Err(reason) => {
                tracing::debug!(?reason, "a message belongs to no session");
                if reason == NoSession::TooLong {
                    self.end(exchange, SessionEnd::TooLong);
                }
                Err(bad_request())
            }
        }
    }

    /// Answers a request of the CPE. It is allowed as long as the CPE has not announced that it has
    /// no more requests, was not asked to hold them, and owes no response (section 3.7.1.3).
    pub(crate) async fn request<R: Rpc>(
        self: &Arc<Self>,
        version: Version,
        context: &Context,
        answering: impl FnOnce(Arc<Device>) -> BoxFuture<'static, Result<R::Response, CwmpFault>>,
    ) -> Answered {
        let mut session = match self.check_out(context) {
            Ok(session) => session,
            Err(reply) => return Ok(reply),
        };
        let headers = Headers::read(context.head()).answering();
        let running = session.running();
        if running.is_cpe_done || running.is_held || running.outstanding.is_some() {
            session.put_back();
            return reply_fault(version, &headers, &CwmpFault::from_code(fault::ACS_REQUEST_DENIED));
        }
        let answer = answering(Arc::clone(&session.entry.device)).await;
        session.put_back();
        match answer {
            Ok(response) => reply(version, &headers, &response),
            Err(fault) => reply_fault(version, &headers, &fault),
        }
    }

    /// Handles an empty request: the CPE has no requests, or was asked to hold them (section
    /// 3.7.1.3).
    pub(crate) async fn empty(self: &Arc<Self>, context: &Context) -> Answered {
        let mut session = match self.check_out(context) {
            Ok(session) => session,
            Err(reply) => return Ok(reply),
        };
        let running = session.running();
        if running.outstanding.is_some() {
            session.end(SessionEnd::Invalid);
            return Ok(bad_request());
        }
        running.is_cpe_done |= !running.is_held;
        self.go_on(session).await
    }

    /// Handles a response of the CPE.
    pub(crate) async fn response(
        self: &Arc<Self>,
        name: &QName,
        response: Box<dyn Any + Send>,
        context: &Context,
    ) -> Answered {
        self.answered(Some(name), Ok(response), context).await
    }

    /// Handles a fault of the CPE.
    pub(crate) async fn fault(self: &Arc<Self>, fault: &AnyMessage, context: &Context) -> Answered {
        let fault = Fault::from_node(&fault.0).unwrap_or_else(|error| Fault::sender(error.to_string()));
        let error = CwmpFault::from_soap(&fault).map_or_else(|| CallError::Soap(Box::new(fault)), CallError::Fault);
        self.answered(None, Err(error), context).await
    }

    /// Delivers an answer to the caller that waits for it. An answer that no caller waits for, or
    /// that belongs to another request, ends the session.
    async fn answered(
        self: &Arc<Self>,
        name: Option<&QName>,
        answer: Result<Box<dyn Any + Send>, CallError>,
        context: &Context,
    ) -> Answered {
        let mut session = match self.check_out(context) {
            Ok(session) => session,
            Err(reply) => return Ok(reply),
        };
        let id = Headers::read(context.head()).id;
        // Some devices send no ID. With one envelope at a time, there is only one request that they
        // can mean.
        let is_it = |outstanding: &mut Outstanding| {
            name.is_none_or(|name| *name == outstanding.response) && id.is_none_or(|id| id == outstanding.id)
        };
        let Some(outstanding) = session.running().outstanding.take_if(is_it) else {
            session.end(SessionEnd::Invalid);
            return Ok(bad_request());
        };
        // The caller may have stopped waiting.
        let _ = outstanding.reply.send(answer);
        self.go_on(session).await
    }

    /// Handles a message of an unknown operation. A response cannot belong to a request of ours; a
    /// request is answered with a fault (section 3.5).
    pub(crate) async fn unknown(self: &Arc<Self>, message: &AnyMessage, context: &Context) -> Answered {
        let session = match self.check_out(context) {
            Ok(session) => session,
            Err(reply) => return Ok(reply),
        };
        let version = session.entry.device.version;
        if message.0.name.local.ends_with("Response") {
            session.end(SessionEnd::Invalid);
            return Ok(bad_request());
        }
        session.put_back();
        let headers = Headers::read(context.head()).answering();
        reply_fault(version, &headers, &CwmpFault::from_code(fault::ACS_METHOD_NOT_SUPPORTED))
    }

    /// Answers with the server's next request, or with nothing (section 3.7.2.3).
    async fn go_on(self: &Arc<Self>, mut session: Checkout) -> Answered {
        let running = session.running();
        let deciding = next_request(&mut running.driver, &mut running.requests);
        match tokio::time::timeout(self.table.limits.decision, deciding).await {
            Ok(Some(Outgoing { id, response, hold_requests, message, reply })) => {
                running.is_held = hold_requests;
                running.outstanding = Some(Outstanding { id, response, reply });
                session.put_back();
                Ok(MessageReply::message(message))
            }
            Ok(None) => {
                Self::finish(session);
                Ok(nothing())
            }
            Err(_) => {
                session.end(SessionEnd::Undecided);
                Ok(nothing())
            }
        }
    }

    /// Handles the end of user code. A CPE that was asked to hold its requests may send them now
    /// (section 3.5); otherwise the session ends.
    fn finish(mut session: Checkout) {
        let running = session.running();
        if running.is_cpe_done {
            session.end(SessionEnd::Completed);
        } else {
            running.is_held = false;
            session.put_back();
        }
    }
}

/// Returns the next request of user code that a caller still waits for; `None` once user code has
/// ended.
async fn next_request(
    driver: &mut Option<BoxFuture<'static, ()>>,
    requests: &mut mpsc::Receiver<Outgoing>,
) -> Option<Outgoing> {
    loop {
        let Some(running) = driver else { return None };
        tokio::select! {
            biased;
            Some(outgoing) = requests.recv() => {
                if !outgoing.reply.is_closed() {
                    return Some(outgoing);
                }
            }
            () = running => *driver = None,
        }
    }
}
