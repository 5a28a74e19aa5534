//! The threads that serve connections: those of the runtime that the server runs on, or the
//! server's own.
//!
//! Each of the server's own threads has its own runtime, on which a connection stays as long as it
//! lasts. So no task is woken on another processor, and no thread steals work from others. One loop
//! accepts for all and assigns a connection to the thread with the fewest. A listener for each
//! thread on one port (`SO_REUSEPORT`) would instead distribute connections by a hash, unevenly if
//! there are few, let other programs of the same user join the port unnoticed, and work only for
//! TCP.
//!
//! What an uneven distribution costs was measured by assigning connections at random. On two cores,
//! with the load generator on the same machine, the server answered 33,900 to 45,200 `echoVoid`
//! requests a second with the present scheme and 34,700 to 43,600 at random (three alternating runs
//! each): no difference. The price of threads that keep their connections is that idle ones do not
//! help others; heavy work goes to the pool for blocking work anyway.

use super::serve::Counted;
use crate::settle::Settled;
use futures_util::future::BoxFuture;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// The connections of a server.
pub(super) enum WorkerPool {
    /// Connections on the current runtime.
    Here(JoinSet<()>),
    /// Connections on the server's own threads.
    Workers(Vec<Worker>),
}

/// A thread that serves connections.
pub(super) struct Worker {
    connections: mpsc::UnboundedSender<BoxFuture<'static, ()>>,
    /// The number of its connections.
    count: Arc<AtomicUsize>,
    /// Completes when the thread's work has ended. When it is dropped, so is everything on the
    /// thread.
    ended: oneshot::Receiver<()>,
}

impl WorkerPool {
    /// Starts this many threads; with none, the current runtime serves.
    ///
    /// # Errors
    /// When the system cannot create a thread or a runtime for a worker.
    pub(super) fn new(workers: usize) -> io::Result<Self> {
        if workers == 0 {
            return Ok(WorkerPool::Here(JoinSet::new()));
        }
        (0..workers).map(Worker::start).collect::<io::Result<_>>().map(WorkerPool::Workers)
    }

    /// Returns true if connections are served on other threads.
    pub(super) fn is_elsewhere(&self) -> bool {
        matches!(self, WorkerPool::Workers(_))
    }

    /// Serves a connection.
    pub(super) fn spawn(&mut self, connection: impl Future<Output = ()> + Send + 'static) {
        match self {
            WorkerPool::Here(connections) => _ = connections.spawn(Settled::new(connection)),
            WorkerPool::Workers(workers) => {
                if let Some(worker) = workers.iter().min_by_key(|worker| worker.count.load(Relaxed)) {
                    worker.serve(connection);
                }
            }
        }
    }

    /// Removes connections that have ended, for as long as it is polled.
    pub(super) async fn tidy(&mut self) {
        if let WorkerPool::Here(connections) = self {
            all_ended(connections).await;
        }
        std::future::pending::<()>().await;
    }

    /// Waits until all connections have ended; no more are added. Remaining connections are cut off
    /// when the pool is dropped.
    pub(super) async fn finish(&mut self) {
        match self {
            WorkerPool::Here(connections) => all_ended(connections).await,
            WorkerPool::Workers(workers) => {
                let ends = workers.drain(..).map(|Worker { ended, .. }| ended);
                futures_util::future::join_all(ends).await;
            }
        }
    }
}

async fn all_ended(connections: &mut JoinSet<()>) {
    while connections.join_next().await.is_some() {}
}

impl Worker {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (connections, to_serve) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        let name = format!("deltasoap-worker-{number}");
        thread::Builder::new().name(name).spawn(move || run(runtime, to_serve, end))?;
        Ok(Worker { connections, count: Arc::default(), ended })
    }

    fn serve(&self, connection: impl Future<Output = ()> + Send + 'static) {
        let counted = Counted::new(&self.count);
        let connection = async move {
            connection.await;
            drop(counted);
        };
        // If the thread is gone, the connection is closed.
        let _ = self.connections.send(Box::pin(connection));
    }
}

fn run(runtime: Runtime, to_serve: mpsc::UnboundedReceiver<BoxFuture<'static, ()>>, mut end: oneshot::Sender<()>) {
    runtime.block_on(work(to_serve, &mut end));
    // Handlers that block threads are not waited for.
    runtime.shutdown_background();
    let _ = end.send(());
}

/// Serves connections until no more arrive and all have ended, or until nobody waits for that.
async fn work(mut to_serve: mpsc::UnboundedReceiver<BoxFuture<'static, ()>>, end: &mut oneshot::Sender<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            connection = to_serve.recv() => match connection {
                Some(connection) => _ = connections.spawn(Settled::new(connection)),
                None => break,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    tokio::select! {
        () = all_ended(&mut connections) => {}
        () = end.closed() => {}
    }
}
