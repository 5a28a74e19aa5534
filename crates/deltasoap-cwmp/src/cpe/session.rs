//! A session from the CPE's side (section 3.7.1).

use super::rpcs::IncomingRequest;
use super::wire::Envelope;
use super::{Cpe, Report, SessionError};
use crate::message::{self, Headers, SOAP_FAULT};
use crate::types::{Inform, Rpc};
use crate::{CwmpFault, Version, fault};
use bytes::Bytes;
use deltasoap::engine::Buffer;
use deltasoap::lexical::{Date, DateTime, Time, Zone};
use deltasoap::schema::QName;
use deltasoap::transport::{Body, BoxError};
use deltasoap::{Error, Fault, Message};
use http::{Request, Response};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};
use tower::Service;

/// Maximum number of times that a request is sent, if the ACS keeps asking for it again (8005).
const MAX_RETRIES: u32 = 5;
/// Maximum number of HTTP requests of a session: an ACS must not keep the device busy forever.
const MAX_POSTS: u32 = 100_000;

/// A type-erased request of the CPE.
pub(super) struct Outbound {
    response: QName,
    encode: Box<Encode>,
}

type Encode = dyn Fn(Version, &Headers) -> Result<Buffer, Error> + Send + Sync;

impl Outbound {
    pub(super) fn new<R: Rpc + Sync>(request: R) -> Self {
        let encode = Box::new(move |version, headers: &Headers| message::encode(version, headers, &request));
        Outbound { response: R::Response::ELEMENT, encode }
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbound").field("response", &self.response).finish_non_exhaustive()
    }
}

/// Progress of a session.
#[derive(Default)]
struct Progress {
    report: Report,
    /// True if the ACS asked to hold requests.
    is_held: bool,
    /// True once an empty request was sent while the ACS did not ask to hold requests: no requests
    /// may follow.
    is_done: bool,
    /// Counter for the IDs of our requests.
    number: u32,
}

impl<S, B> Cpe<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    /// Runs a whole session: Inform with the [events](Self::events), the device's own
    /// [requests](Self::request), and whatever the ACS asks for.
    ///
    /// # Errors
    /// Returns an error if the session fails. Its events, and the requests that were not sent, are
    /// kept for the next session.
    pub async fn session(&mut self) -> Result<Report, SessionError> {
        self.state.note_scheduled();
        self.state.note_transfers();
        let events = self.state.events.clone();
        self.wire.begin();
        match self.run().await {
            Ok(report) => {
                self.retry_count = 0;
                Ok(report)
            }
            Err(error) => {
                self.retry_count = self.retry_count.saturating_add(1);
                events.into_iter().for_each(|event| self.state.note(event));
                Err(error)
            }
        }
    }

    async fn run(&mut self) -> Result<Report, SessionError> {
        let mut progress = Progress::default();
        self.inform(&mut progress).await?;
        // They were reported; new events of this session are for the next one.
        self.state.events.clear();
        let transfers = std::mem::take(&mut self.state.transfers);
        transfers.iter().for_each(|transfer| self.request(transfer.complete()));
        let mut asked: Option<Envelope> = None;
        while self.wire.posts < MAX_POSTS {
            if let Some(envelope) = asked.take() {
                asked = self.answer(&envelope, &mut progress).await?;
            } else if !progress.is_held && !progress.is_done && !self.requests.is_empty() {
                self.send_request(&mut progress).await?;
                continue;
            } else {
                progress.is_done |= !progress.is_held;
                asked = self.wire.post(None).await?;
            }
            progress.is_held = asked.as_ref().is_some_and(|envelope| Headers::read(&envelope.head).hold_requests);
            // Neither side has anything more to send (section 3.7.1.4). After a hold it is the
            // CPE's turn once more.
            if asked.is_none() && progress.is_done {
                progress.report.posts = self.wire.posts;
                return Ok(progress.report);
            }
        }
        Err(SessionError::Invalid("the session does not end".to_owned()))
    }

    /// Begins the session (section 3.7.1.1).
    async fn inform(&mut self, progress: &mut Progress) -> Result<(), SessionError> {
        let inform = Inform {
            device_id: self.id.clone(),
            event: self.state.events.clone().into(),
            max_envelopes: 1,
            current_time: now(),
            retry_count: self.retry_count,
            parameter_list: self.state.informed().into(),
        };
        self.call(&Outbound::new(inform), progress).await?.map_err(SessionError::Refused)
    }

    /// Sends the next request of the device.
    async fn send_request(&mut self, progress: &mut Progress) -> Result<(), SessionError> {
        let Some(request) = self.requests.pop_front() else { return Ok(()) };
        let outcome = self.call(&request, progress).await;
        if outcome.is_err() {
            self.requests.push_front(request);
        }
        progress.report.requested.push(outcome?);
        Ok(())
    }

    /// Sends a request of the device, and repeats it if the ACS asks for that (8005).
    async fn call(
        &mut self,
        request: &Outbound,
        progress: &mut Progress,
    ) -> Result<Result<(), CwmpFault>, SessionError> {
        for _ in 0..MAX_RETRIES {
            progress.number += 1;
            let headers = Headers { id: Some(progress.number.to_string()), hold_requests: false };
            let message = (request.encode)(self.version, &headers).map_err(|error| unwritable(&error))?;
            let Some(answer) = self.wire.post(Some(message)).await? else {
                return Err(SessionError::Invalid("an empty answer to a request".to_owned()));
            };
            let received = Headers::read(&answer.head);
            if received.id.is_some_and(|id| Some(id) != headers.id) {
                return Err(SessionError::Invalid("an answer with a different ID".to_owned()));
            }
            progress.is_held = received.hold_requests;
            match self.outcome(request, &answer)? {
                Err(fault) if fault.code == fault::ACS_RETRY_REQUEST => {}
                outcome => return Ok(outcome),
            }
        }
        Ok(Err(CwmpFault::from_code(fault::ACS_RETRY_REQUEST)))
    }

    fn outcome(&self, request: &Outbound, answer: &Envelope) -> Result<Result<(), CwmpFault>, SessionError> {
        let name = &answer.body.name;
        if *name == SOAP_FAULT {
            let fault = Fault::from_node(&answer.body).map_err(|error| SessionError::Invalid(error.to_string()))?;
            let found = CwmpFault::from_soap(&fault);
            return found.map(Err).ok_or_else(|| SessionError::Invalid(fault.to_string()));
        }
        if name.local == request.response.local && name.namespace == self.version.namespace() {
            return Ok(Ok(()));
        }
        Err(SessionError::Invalid(format!("{name} instead of {}", request.response.local)))
    }

    /// Answers a request of the ACS; returns the ACS's next message.
    async fn answer(&mut self, envelope: &Envelope, progress: &mut Progress) -> Result<Option<Envelope>, SessionError> {
        let name = &envelope.body.name;
        if *name == SOAP_FAULT {
            return Err(SessionError::Invalid("a fault that answers no request".to_owned()));
        }
        if Version::from_namespace(&name.namespace) != Some(self.version) {
            return Err(SessionError::Invalid(format!("{name} in a version other than the Inform's")));
        }
        progress.report.answered.push(name.local.to_string());
        let headers = Headers::read(&envelope.head).answering();
        let request = &envelope.body;
        let incoming = IncomingRequest { version: self.version, tolerance: self.tolerance, headers: &headers, request };
        let answer = match message::not_understood(&envelope.head) {
            Some(name) => message::encode_not_understood(self.version, &headers, &name),
            None => incoming.answer(&mut self.state),
        };
        self.wire.post(Some(answer.map_err(|error| unwritable(&error))?)).await
    }
}

fn unwritable(error: &Error) -> SessionError {
    SessionError::Invalid(format!("a message cannot be written: {error}"))
}

/// Returns the time in UTC, to the second.
fn now() -> DateTime {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, u32::try_from(seconds % 86_400).unwrap_or_default());
    let (year, month, day) = civil(i64::try_from(days).unwrap_or_default());
    let part = |value: u32| u8::try_from(value).unwrap_or_default();
    let date = Date::new(year, month, day);
    let time = Time::new(part(second / 3600), part(second / 60 % 60), part(second % 60), 0);
    match (date, time) {
        (Some(date), Some(time)) => DateTime::new(date, time).with_zone(Some(Zone::UTC)),
        _ => crate::types::unknown_time(),
    }
}

/// Converts a number of days since 1970 to year, month and day in the Gregorian calendar. It counts
/// in eras of 400 years that begin in March, so that a leap day is the last day of its year.
fn civil(days: i64) -> (i32, u8, u8) {
    const ERA: i64 = 146_097;
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (i32::try_from(year).unwrap_or(i32::MAX), u8::try_from(month).unwrap_or(1), u8::try_from(day).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_782, (2026, 11, 25)),
        ] {
            assert_eq!(civil(days), date, "{days}");
        }
    }
}
