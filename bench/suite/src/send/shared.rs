//! First messages of an operation whose array is already in a template of another.

use anyhow::{Context, Result};
use deltasoap::Message;
use deltasoap::engine::Typed;
use deltasoap::engine::encode::differential::{EncodeStats, RunPool, Template, Templating};
use deltasoap::schema::QName;
use deltasoap::soap::Envelope;

use super::script::Start;
use super::shape::Shape;
use super::writer::{Writer, Written};

/// Writes through a template that shares with that of another operation, which has sent the same
/// values.
pub struct Shared<S: Shape> {
    values: S::Plain,
    pool: RunPool,
    template: Template,
    /// The other template.
    other: Result<Template>,
}

impl<S: Shape> Shared<S> {
    /// Creates a writer of these items, which must not change.
    pub fn new(items: &[S::Item], options: Templating) -> Self {
        let (values, pool) = (S::Plain::from(items.to_vec()), RunPool::new());
        let other = send_other::<S>(&values, Template::with_pool(options, pool.clone()));
        let template = Template::with_pool(options, pool.clone());
        Shared { values, pool, template, other }
    }
}

/// Writes the values as a message of another operation.
fn send_other<S: Shape>(values: &S::Plain, mut other: Template) -> Result<Template> {
    let name = QName::owned(S::Plain::ELEMENT.namespace, "other");
    other.encode(&Envelope::element(&name, values, S::Plain::view()))?;
    Ok(other)
}

impl<S: Shape> Writer<S> for Shared<S> {
    fn forget(&mut self, _: Start) {
        self.template = Template::with_pool(*self.template.options(), self.pool.clone());
    }

    fn set(&mut self, place: usize, item: &S::Item) {
        S::set(&mut self.values, place, item);
    }

    fn write(&mut self) -> Result<Written> {
        self.other.as_ref().ok().context("the other operation's message cannot be written")?;
        Ok(Written::Frames(self.template.encode(&Envelope::new(&self.values))?))
    }

    /// The message is dropped: the template copies what it still needs.
    fn take_back(&mut self, _: Written) {}

    fn stats(&self) -> Option<EncodeStats> {
        Some(self.template.stats())
    }
}
