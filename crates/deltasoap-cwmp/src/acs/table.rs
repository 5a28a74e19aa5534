//! The sessions of a server, by the tokens in their cookies and by their devices.
//!
//! An exchange checks its session out, so two requests never advance it at once; dropping a
//! checked-out session ends it. User code, such as a driver's destructor, never runs under the
//! table's lock.

use super::Limits;
use super::exchange::Exchange;
use super::session::{Delivery, Device, Outgoing, SessionEnd};
use crate::types::DeviceId;
use deltasoap::schema::QName;
use deltasoap::server::Principal;
use futures_util::future::BoxFuture;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// The name of a session: 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Token(u128);

impl Token {
    /// Creates a token that cannot be guessed; `None` if the system has no random numbers.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(Token(u128::from_le_bytes(bytes)))
    }

    pub(crate) fn text(self) -> String {
        format!("{:032x}", self.0)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_ours = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u128::from_str_radix(text, 16).ok().filter(|_| is_ours).map(Token)
    }

    /// Returns a number that may be public: the token cannot be derived from it.
    pub(crate) fn number(self) -> u32 {
        (self.0 >> 96) as u32 ^ 0x5a5a_5a5a
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// The owner of a session: a device, as identified by a principal.
type Owner = (Option<Principal>, DeviceId);

/// A session.
pub(crate) struct Entry {
    token: Token,
    pub(crate) device: Arc<Device>,
    state: Mutex<State>,
}

struct State {
    /// `None` while an exchange has the session checked out.
    running: Option<Box<Running>>,
    /// End of the last exchange.
    since: Instant,
}

/// Progress of a session.
pub(crate) struct Running {
    /// The future of user code; `None` once it has ended.
    pub(crate) driver: Option<BoxFuture<'static, ()>>,
    pub(crate) requests: mpsc::Receiver<Outgoing>,
    /// The request that was sent and is not answered yet.
    pub(crate) outstanding: Option<Outstanding>,
    /// True once the CPE has announced that it has no more requests.
    pub(crate) is_cpe_done: bool,
    /// True if the CPE was asked to hold its requests.
    pub(crate) is_held: bool,
    pub(crate) messages: u32,
    pub(crate) bytes: u64,
}

/// A request that waits for its response.
pub(crate) struct Outstanding {
    pub(crate) id: String,
    pub(crate) response: QName,
    pub(crate) reply: oneshot::Sender<Delivery>,
}

/// The sessions.
pub(crate) struct Table {
    pub(crate) limits: Limits,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    by_token: HashMap<Token, Arc<Entry>>,
    by_owner: HashMap<Owner, Token>,
    /// True while a task removes idle sessions.
    is_swept: bool,
}

/// Why a request belongs to no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoSession {
    /// The cookie names no session of the sender.
    Unknown,
    /// Another request has the session checked out.
    Busy,
    /// The session has exceeded a limit.
    TooLong,
}

impl Table {
    pub(crate) fn new(limits: Limits) -> Self {
        Table { limits, sessions: Mutex::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.sessions().by_token.len()
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a session. Returns the previous session of its device, and whether the caller should
    /// start a task that removes idle sessions.
    ///
    /// # Errors
    /// Returns `running` if there are too many sessions.
    pub(crate) fn insert(
        &self,
        token: Token,
        device: &Arc<Device>,
        running: Box<Running>,
    ) -> Result<(Option<Arc<Entry>>, bool), Box<Running>> {
        let owner = (device.principal.clone(), device.id.clone());
        let mut sessions = self.sessions();
        let before = sessions.by_owner.get(&owner).copied().and_then(|token| sessions.take(&token));
        if sessions.by_token.len() >= self.limits.sessions {
            if let Some(before) = before {
                sessions.put(owner, before);
            }
            return Err(running);
        }
        let state = Mutex::new(State { running: Some(running), since: Instant::now() });
        sessions.put(owner, Arc::new(Entry { token, device: Arc::clone(device), state }));
        let is_swept = std::mem::replace(&mut sessions.is_swept, true);
        Ok((before, !is_swept))
    }

    /// Checks a session out for an exchange, and counts the exchange's message.
    ///
    /// # Errors
    /// Returns an error if the exchange belongs to no session, or the session cannot be continued.
    pub(crate) fn check_out(self: &Table, exchange: &Exchange) -> Result<(Arc<Entry>, Box<Running>), NoSession> {
        let token = exchange.token().ok_or(NoSession::Unknown)?;
        let entry = self.sessions().by_token.get(&token).cloned().ok_or(NoSession::Unknown)?;
        if entry.device.principal != exchange.principal() {
            return Err(NoSession::Unknown);
        }
        let mut running = entry.state().running.take().ok_or(NoSession::Busy)?;
        running.messages += 1;
        running.bytes += exchange.bytes();
        let is_too_long = running.messages > self.limits.messages || running.bytes > self.limits.bytes;
        if is_too_long {
            entry.put_back(running);
            return Err(NoSession::TooLong);
        }
        Ok((entry, running))
    }

    /// Removes the session of a token, if it belongs to this principal.
    pub(crate) fn remove(&self, token: &Token, principal: &Option<Principal>) -> Option<Arc<Entry>> {
        let mut sessions = self.sessions();
        let is_theirs = sessions.by_token.get(token).is_some_and(|entry| entry.device.principal == *principal);
        if is_theirs { sessions.take(token) } else { None }
    }

    /// Removes a session, if it is still there.
    pub(crate) fn remove_entry(&self, entry: &Entry) -> Option<Arc<Entry>> {
        self.sessions().take(&entry.token)
    }

    /// Removes idle sessions. Returns them, and whether any sessions are left.
    pub(crate) fn sweep(&self) -> (Vec<Arc<Entry>>, bool) {
        let (now, idle) = (Instant::now(), self.limits.idle);
        let mut sessions = self.sessions();
        let is_silent = |entry: &&Arc<Entry>| {
            let state = entry.state();
            state.running.is_some() && now.saturating_duration_since(state.since) >= idle
        };
        let silent: Vec<_> = sessions.by_token.values().filter(is_silent).map(|entry| entry.token).collect();
        let removed = silent.iter().filter_map(|token| sessions.take(token)).collect();
        sessions.is_swept = !sessions.by_token.is_empty();
        (removed, sessions.is_swept)
    }
}

impl Sessions {
    fn put(&mut self, owner: Owner, entry: Arc<Entry>) {
        self.by_owner.insert(owner, entry.token);
        self.by_token.insert(entry.token, entry);
    }

    fn take(&mut self, token: &Token) -> Option<Arc<Entry>> {
        let entry = self.by_token.remove(token)?;
        let owner = (entry.device.principal.clone(), entry.device.id.clone());
        if self.by_owner.get(&owner) == Some(token) {
            self.by_owner.remove(&owner);
        }
        Some(entry)
    }
}

impl Entry {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a session in after an exchange.
    pub(crate) fn put_back(&self, running: Box<Running>) {
        let mut state = self.state();
        state.running = Some(running);
        state.since = Instant::now();
    }
}

/// A session that an exchange has checked out. Dropping it ends the session, unless it is [put
/// back](Self::put_back).
pub(crate) struct Checkout {
    core: Arc<super::Core>,
    pub(crate) entry: Arc<Entry>,
    running: Option<Box<Running>>,
    end: SessionEnd,
}

impl Checkout {
    pub(crate) fn new(core: Arc<super::Core>, entry: Arc<Entry>, running: Box<Running>) -> Self {
        Checkout { core, entry, running: Some(running), end: SessionEnd::Abandoned }
    }

    pub(crate) fn running(&mut self) -> &mut Running {
        match &mut self.running {
            Some(running) => running,
            None => unreachable!("a session that is out"),
        }
    }

    /// Leaves the session for the next exchange.
    pub(crate) fn put_back(mut self) {
        if let Some(running) = self.running.take() {
            self.entry.put_back(running);
        }
    }

    /// Ends the session.
    pub(crate) fn end(mut self, end: SessionEnd) {
        self.end = end;
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            let removed = self.core.table.remove_entry(&self.entry);
            self.core.ended(removed, self.end);
            drop(running);
        }
    }
}
