//! A standalone server: accepts connections and serves each by its protocol, after a TLS handshake
//! if configured.
//!
//! Handshakes run on the tasks of their connections: a slow one occupies one of the server's
//! connection slots for a while, but delays no other connection.

#[cfg(feature = "_tls")]
use super::auth::PeerCertificates;
#[cfg(feature = "_tls")]
use super::context::Secure;
use super::disconnect::Watched;
use super::memory::Connection;
use super::stall::{Stalling, linger};
use super::workers::WorkerPool;
#[cfg(feature = "_tls")]
use crate::tls::{ServerTls, TlsError};
use crate::transport::Peer;
use crate::transport::{ConnectionLimits, Http, LAST_CALL, Listener, Protocol, Served, Stream, Terms, is_network};
use http::{Extensions, Request};
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin"))))]
use tokio::net::TcpSocket;
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, timeout_at};

/// Pause before accepting again when the system has no resources for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Length of the queue of connections that are not accepted yet, as [`TcpListener::bind`] sets it.
#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin"))))]
const BACKLOG: u32 = 1024;

/// How long a server that is asked to stop waits for the next connection in the queue. The first look
/// at the queue may need the runtime's help.
const QUEUE_PAUSE: Duration = Duration::from_millis(5);

/// Default maximum number of connections at one time.
const CONNECTIONS: usize = 10_000;

/// Default maximum number of headers of a request.
const HEADERS: usize = 100;

/// A listening server: HTTP/1.1 over TCP, with the feature `http2` also HTTP/2, unless it is created with another
/// [transport](Server::over).
///
/// ```no_run
/// # async fn run(service: deltasoap_http::SoapService) -> std::io::Result<()> {
/// use deltasoap_http::{Server, shutdown_signal};
///
/// let server = Server::bind("127.0.0.1:8080").await?;
/// server.serve_with_shutdown(service, shutdown_signal()).await
/// # }
/// ```
#[derive(Debug)]
pub struct Server<L = TcpListener, P = Http> {
    listener: L,
    protocol: P,
    limits: ConnectionLimits,
    shutdown_timeout: Duration,
    max_connections: usize,
    worker_threads: usize,
    handle: ServerHandle,
    security: Security,
}

/// Stops a [`Server`] from elsewhere, and reports its number of connections.
#[derive(Debug, Clone)]
pub struct ServerHandle {
    signal: watch::Sender<bool>,
    connections: Arc<AtomicUsize>,
}

impl ServerHandle {
    /// Asks the server to stop: it accepts no more connections but those that wait already, closes idle
    /// ones, and lets the others finish their current request. Connections without a request have half
    /// a second for their first one.
    pub fn shutdown(&self) {
        self.signal.send_replace(true);
    }

    /// Returns true once the server was asked to stop.
    pub fn is_stopping(&self) -> bool {
        *self.signal.borrow()
    }

    /// Current number of connections, including those in a handshake.
    pub fn connections(&self) -> usize {
        self.connections.load(Relaxed)
    }

    /// Counts a connection until the returned value is dropped.
    fn count(&self) -> Counted {
        Counted::new(&self.connections)
    }
}

/// A connection, counted until it is dropped.
pub(super) struct Counted(Arc<AtomicUsize>);

impl Counted {
    pub(super) fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Relaxed);
        Counted(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Server {
    /// Listens on an address.
    ///
    /// # Errors
    /// When the address cannot be resolved, is taken, or may not be listened on. The error has the
    /// system's kind, and says what can be done.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        let addresses = lookup_host(address).await.map_err(|error| {
            io::Error::new(error.kind(), format!("the address to listen on cannot be resolved: {error}"))
        })?;
        let addresses: Vec<_> = addresses.collect();
        let listener = TcpListener::bind(&addresses[..]).await.map_err(|error| explained(&addresses, &error))?;
        Ok(Self::from_listener(listener))
    }

    /// Listens on an address as other processes do at the same time (`SO_REUSEPORT`), so that a new
    /// process can start before the old one is [stopped](ServerHandle::shutdown). All of them must listen
    /// this way, as the same user. Linux spreads connections among them; elsewhere the last one may get
    /// all.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin"))))]
    pub fn bind_reusing_port(address: SocketAddr) -> io::Result<Self> {
        let listen = || {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            socket.set_reuseaddr(true)?;
            socket.set_reuseport(true)?;
            socket.bind(address)?;
            socket.listen(BACKLOG)
        };
        Ok(Self::from_listener(listen().map_err(|error| explained(&[address], &error))?))
    }

    /// Uses an existing listener, such as one that systemd passes on.
    pub fn from_listener(listener: TcpListener) -> Self {
        Server::over(listener, Http::default())
    }

    /// Returns the address listened on.
    ///
    /// # Errors
    /// When the system does not report it.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl<L: Listener, P: Protocol> Server<L, P> {
    /// Serves the connections that a listener accepts, by a protocol; see
    /// [`transport`](crate::transport).
    pub fn over(listener: L, protocol: P) -> Self {
        Server {
            listener,
            protocol,
            limits: ConnectionLimits {
                head_timeout: Duration::from_secs(30),
                write_timeout: Duration::from_secs(30),
                max_headers: HEADERS,
                half_closed_timeout: Duration::from_secs(5),
            },
            shutdown_timeout: Duration::from_secs(30),
            max_connections: CONNECTIONS,
            worker_threads: 0,
            handle: ServerHandle { signal: watch::Sender::new(false), connections: Arc::default() },
            security: Security::default(),
        }
    }

    /// Serves over TLS only.
    ///
    /// ```no_run
    /// # async fn run(service: deltasoap_http::SoapService) -> Result<(), Box<dyn std::error::Error>> {
    /// use deltasoap_http::{Identity, Server, ServerTls};
    ///
    /// let identity = Identity::from_pem(std::fs::read("server.pem")?, std::fs::read("server.key")?)?;
    /// let server = Server::bind("0.0.0.0:443").await?.tls(ServerTls::new(identity))?;
    /// server.serve(service).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When certificate and key do not match or cannot be used, or there are no roots to verify
    /// clients with.
    #[cfg(feature = "_tls")]
    pub fn tls(mut self, tls: ServerTls) -> Result<Self, TlsError> {
        let timeout = tls.handshake_timeout;
        self.security = Security(Some((tls.config(self.protocol.alpn())?.into(), timeout)));
        Ok(self)
    }

    /// Sets the maximum time for a request's head, and the maximum idle time of a connection. After
    /// that the connection is closed. Default 30 s.
    #[must_use]
    pub fn header_read_timeout(mut self, timeout: Duration) -> Self {
        self.limits.head_timeout = timeout;
        self
    }

    /// Sets the maximum time in which a client accepts no bytes of a response. After that the
    /// connection is closed. Default 30 s.
    #[must_use]
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.limits.write_timeout = timeout;
        self
    }

    /// Sets how long a client that has closed its sending half after a request may wait for its
    /// answer. A client that has closed the whole connection looks the same. After that it counts
    /// as gone: the handler is dropped, and the connection is closed. A client whose connection is
    /// reset is gone immediately. Default 5 s.
    #[must_use]
    pub fn half_closed_timeout(mut self, timeout: Duration) -> Self {
        self.limits.half_closed_timeout = timeout;
        self
    }

    /// Sets the maximum number of headers of a request. A request with more is answered with status
    /// 431, as is a request whose head exceeds 64 KiB. Default 100.
    #[must_use]
    pub fn max_headers(mut self, headers: usize) -> Self {
        self.limits.max_headers = headers;
        self
    }

    /// Sets how long requests may continue after [`ServerHandle::shutdown`] before they are
    /// dropped. Default 30 s.
    #[must_use]
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.shutdown_timeout = timeout;
        self
    }

    /// Sets the maximum number of connections at one time, at least 1; others wait in the
    /// listener's queue until one ends. Default 10,000.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Serves connections on this many threads of the server's own.
    ///
    /// Each thread has a current-thread runtime on which a connection stays as long as it lasts;
    /// the number of [`processors`](std::thread::available_parallelism) is a good choice. Small
    /// requests are answered sooner than on a work-stealing runtime, but handlers that compute for
    /// long without yielding delay the connections of their thread. Tasks that handlers spawn, and
    /// one-way operations that are still running, end with the server. With 0, the default,
    /// connections are served on the runtime that [`serve`](Self::serve) is called on.
    ///
    /// Connections are accepted on the runtime that the listener belongs to, which must keep
    /// running.
    #[must_use]
    pub fn worker_threads(mut self, threads: usize) -> Self {
        self.worker_threads = threads;
        self
    }

    /// Returns a handle that stops the server; it may outlive the server.
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// Serves until it is stopped, with a [`SoapService`](crate::SoapService) or any other service,
    /// such as a router. Each request carries its [`Connection`], and a [`Peer`](crate::Peer) if it
    /// came over TCP.
    ///
    /// # Errors
    /// When a [worker thread](Self::worker_threads) cannot be started. An error of a connection
    /// ends only that connection.
    pub async fn serve<S: Served<P::RequestBody>>(mut self, service: S) -> io::Result<()> {
        let mut stopped = self.handle.signal.subscribe();
        let permits = Arc::new(Semaphore::new(self.max_connections));
        let mut pool = WorkerPool::new(self.worker_threads)?;
        loop {
            tokio::select! {
                () = signalled(&mut stopped) => break,
                accepted = accept(&mut self.listener, &permits) => match accepted {
                    Ok(accepted) => self.start(&mut pool, accepted, &service),
                    Err(error) => pause(&error).await,
                },
                () = pool.tidy() => {}
            }
        }
        let end = Instant::now() + self.shutdown_timeout;
        let last = Instant::now() + LAST_CALL.min(self.shutdown_timeout);
        // Connections that the system has accepted already, and would reset. More may come all the time.
        while let Ok(accepted) =
            timeout_at(last.min(Instant::now() + QUEUE_PAUSE), accept(&mut self.listener, &permits)).await
        {
            match accepted {
                Ok(accepted) => self.start(&mut pool, accepted, &service),
                Err(error) => tracing::warn!(%error, "failed to accept a connection"),
            }
            if Instant::now() >= last {
                break;
            }
        }
        drop(self.listener);
        if timeout_at(end, pool.finish()).await.is_err() {
            tracing::warn!("connections did not end in time and are closed");
        }
        Ok(())
    }

    /// As [`serve`](Self::serve), until a future completes, such as
    /// [`shutdown_signal`](crate::shutdown_signal): then the server stops accepting connections,
    /// and returns once the current requests are answered, at the latest after the
    /// [`shutdown_timeout`](Self::shutdown_timeout). A [handle](Self::handle) can stop it too.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub async fn serve_with_shutdown<S: Served<P::RequestBody>>(
        self,
        service: S,
        signal: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let handle = self.handle();
        let mut serving = pin!(self.serve(service));
        tokio::select! {
            ended = &mut serving => return ended,
            () = signal => handle.shutdown(),
        }
        serving.await
    }

    /// Starts serving a connection.
    fn start<S: Served<P::RequestBody>>(&self, pool: &mut WorkerPool, accepted: Accepted<L::Stream>, service: &S) {
        let (stream, extensions, permit) = accepted;
        let terms = Terms::new(self.limits, self.handle.signal.subscribe());
        let client = Client { protocol: self.protocol.clone(), terms, extensions };
        let (security, service) = (self.security.clone(), service.clone());
        let (is_elsewhere, counted) = (pool.is_elsewhere(), self.handle.count());
        pool.spawn(async move {
            match if is_elsewhere { L::adopt(stream) } else { Ok(stream) } {
                Ok(stream) => connect(stream, client, security, service).await,
                Err(error) => tracing::warn!(%error, "a connection could not be moved to its worker thread"),
            }
            drop((permit, counted));
        });
    }
}

/// Returns the error of an address that cannot be listened on, with what can be done.
fn explained(addresses: &[SocketAddr], error: &io::Error) -> io::Error {
    use io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    let remedy = match error.kind() {
        AddrInUse => "; another program listens there: stop it, or use another port (0 takes a free one)",
        AddrNotAvailable => "; the address is not one of this machine's: 0.0.0.0 and [::] listen on all of them",
        PermissionDenied => "; ports below 1024 need the privilege CAP_NET_BIND_SERVICE: use another, or grant it",
        _ => "",
    };
    let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    io::Error::new(error.kind(), format!("cannot listen on {}: {error}{remedy}", addresses.join(", ")))
}

/// Waits for the signal to stop. The server keeps a sender, so the channel does not close before.
async fn signalled(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// A connection, the extensions of all its requests, and its slot.
type Accepted<T> = (T, Extensions, OwnedSemaphorePermit);

/// Accepts a connection with its extensions, once there is a slot for it.
async fn accept<L: Listener>(listener: &mut L, permits: &Arc<Semaphore>) -> io::Result<Accepted<L::Stream>> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, extensions) = listener.accept().await?;
    Ok((stream, extensions, permit))
}

/// The TLS configuration, if any.
#[derive(Clone, Default)]
struct Security(#[cfg(feature = "_tls")] Option<(tokio_rustls::TlsAcceptor, Duration)>);

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Security").finish_non_exhaustive()
    }
}

/// A connection's peer, and how it is served.
struct Client<P> {
    protocol: P,
    terms: Terms,
    /// The extensions of all requests.
    extensions: Extensions,
}

/// Serves one connection to its end. A handshake ends when the server is asked to stop.
async fn connect<T: Stream, P: Protocol>(
    stream: T,
    mut client: Client<P>,
    security: Security,
    service: impl Served<P::RequestBody>,
) {
    let throughput = is_network::<T>().then(Arc::default);
    client.extensions.insert(Connection::over(throughput));
    #[cfg(feature = "_tls")]
    if let Security(Some((acceptor, limit))) = &security {
        let handshake = tokio::time::timeout(*limit, acceptor.accept(stream));
        let shaken = tokio::select! {
            shaken = handshake => shaken.unwrap_or_else(|elapsed| Err(elapsed.into())),
            () = client.terms.last_call() => return,
        };
        match shaken {
            Ok(stream) => {
                attach_certificates(&mut client.extensions, &stream);
                serve_stream(stream, client, service).await;
            }
            Err(error) => tracing::debug!(peer = ?client.peer(), %error, "the TLS handshake failed"),
        }
        return;
    }
    #[cfg(not(feature = "_tls"))]
    let _ = security;
    serve_stream(stream, client, service).await;
}

#[cfg(feature = "_tls")]
fn attach_certificates<T>(extensions: &mut Extensions, stream: &tokio_rustls::server::TlsStream<T>) {
    extensions.insert(Secure);
    if let Some(certificates) = stream.get_ref().1.peer_certificates() {
        extensions.insert(PeerCertificates::new(certificates.iter().map(|certificate| certificate.to_vec())));
    }
}

impl<P> Client<P> {
    fn peer(&self) -> Option<SocketAddr> {
        self.extensions.get::<Peer>().map(|peer| peer.0)
    }
}

/// Serves the requests of a stream. Each carries the extensions.
async fn serve_stream<P: Protocol>(stream: impl Stream, client: Client<P>, service: impl Served<P::RequestBody>) {
    let peer = client.peer();
    let Client { protocol, terms, extensions } = client;
    let throughput = extensions.get::<Connection>().and_then(Connection::throughput).cloned();
    let (stream, mut back) = Stalling::new(stream, terms.write_timeout(), throughput.clone());
    let stream = Watched::new(stream);
    let disconnected = stream.clone().disconnected(terms.half_closed_timeout());
    let watched = stream.clone();
    let service = tower::service_fn(move |mut request: Request<P::RequestBody>| {
        // Clients without pipelining wait for a response before they send the next request; those of
        // HTTP/2 do not.
        if let Some(throughput) = throughput.as_ref().filter(|_| request.version() != http::Version::HTTP_2) {
            throughput.note_turn();
        }
        request.extensions_mut().extend(extensions.clone());
        let (work, answer) = (watched.work(), service.answer(request));
        async move {
            let answer = answer.await;
            drop(work);
            Ok::<_, Infallible>(answer)
        }
    });
    tokio::select! {
        biased;
        ended = protocol.serve(stream, service, terms) => if let Err(error) = ended {
            tracing::debug!(?peer, %error, "the connection ended with an error");
        },
        () = disconnected => tracing::debug!(?peer, "the client disconnected while its request was being processed"),
    }
    if let Ok(stream) = back.try_recv() {
        linger(stream).await;
    }
}

/// Waits if accepting failed for lack of resources, which a busy loop would not free.
async fn pause(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if [ConnectionAborted, ConnectionRefused, ConnectionReset].contains(&error.kind()) {
        return;
    }
    tracing::warn!(%error, "failed to accept a connection");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}
