//! A value that tracks whether it may have changed.

use super::epoch::Epoch;
use crate::content::Shortcuts;
use crate::content::{Content, Message, RequestMessage, Typed};
use crate::decode::{Cursor, Step};
use crate::encode::Encoder;
use crate::encode::differential::Stamp;
use crate::schema::{Element, QName, View};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// A value that notes when it may have changed: whenever it is borrowed mutably. Until then a
/// [`Template`](crate::Template) that holds it skips it, regardless of its size. Around a whole
/// message, this reduces sending it again to one comparison.
///
/// In XML it looks like the value itself. A clone is a new value, which no template holds. A value
/// that can change without being borrowed mutably (a `Cell`, an atomic) must not be tracked: its
/// changes would be missed.
///
/// ```
/// use deltasoap::Soap;
/// use deltasoap::engine::{Template, Templating};
/// use deltasoap::soap::Envelope;
/// use deltasoap::types::{Tracked, TrackedVec};
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:lab", message)]
/// struct Report {
///     station: String,
///     level: TrackedVec<f64>,
/// }
///
/// let levels = (0..1000).map(f64::from).collect();
/// let mut report = Tracked::new(Report { station: "north".to_owned(), level: levels });
/// let mut template = Template::new(Templating::default());
/// let first = template.encode(&Envelope::new(&report))?.to_vec();
///
/// // Nothing was touched: it is not looked at again.
/// assert_eq!(template.encode(&Envelope::new(&report))?.to_vec(), first);
///
/// // The station's name is compared; of the levels, one.
/// report.level[17] = 0.5;
/// let second = template.encode(&Envelope::new(&report))?;
/// assert_ne!(second.to_vec(), first);
/// # Ok::<(), deltasoap::Error>(())
/// ```
#[derive(Debug)]
pub struct Tracked<T> {
    value: T,
    epoch: Epoch,
}

impl<T> Tracked<T> {
    /// Starts tracking a value.
    pub fn new(value: T) -> Self {
        Tracked { value, epoch: Epoch::new() }
    }

    /// Returns the value.
    pub fn get(&self) -> &T {
        &self.value
    }

    /// Replaces the value.
    pub fn set(&mut self, value: T) {
        **self = value;
    }

    /// Converts into the value, which is no longer tracked.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for Tracked<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

/// Notes that the value may have changed.
impl<T> DerefMut for Tracked<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.epoch.change();
        &mut self.value
    }
}

impl<T> From<T> for Tracked<T> {
    fn from(value: T) -> Self {
        Tracked::new(value)
    }
}

impl<T: Default> Default for Tracked<T> {
    fn default() -> Self {
        Tracked::new(T::default())
    }
}

/// A clone is a new value, which no template holds.
impl<T: Clone> Clone for Tracked<T> {
    fn clone(&self) -> Self {
        Tracked::new(self.value.clone())
    }
}

/// Compares the values; tracking state is ignored.
impl<T: PartialEq> PartialEq for Tracked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Tracked<T> {}

impl<T: PartialEq> PartialEq<T> for Tracked<T> {
    fn eq(&self, other: &T) -> bool {
        self.value == *other
    }
}

impl<T: Hash> Hash for Tracked<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl<T: fmt::Display> fmt::Display for Tracked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// Like the value's own content, but never flat: an untouched item is skipped as a whole.
impl<T: Content> Content for Tracked<T> {
    const REPLACES: bool = T::REPLACES;

    fn vacant(view: View<'_>) -> Self {
        Tracked::new(T::vacant(view))
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        (**self).decode(cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        self.epoch.seal();
        encoder.tracked(self.epoch.stamp(), |encoder| self.value.encode(encoder, view));
    }

    fn encode_inline(&self, encoder: &mut Encoder, view: View<'_>) {
        self.epoch.seal();
        self.value.encode_inline(encoder, view);
    }
}

impl<T: Content> Shortcuts for Tracked<T> {
    fn stamp(&self) -> Option<Stamp> {
        Some(self.epoch.stamp())
    }
}

impl<T: Typed> Typed for Tracked<T> {
    const TYPE_NAME: QName = T::TYPE_NAME;
    const ITEM_NAME: &'static str = T::ITEM_NAME;
    const NILLABLE: bool = T::NILLABLE;
    const CHOICE: bool = T::CHOICE;

    fn element() -> &'static Element {
        T::element()
    }
}

impl<T: Message> Message for Tracked<T> {
    const ELEMENT: QName = T::ELEMENT;
}

impl<T: RequestMessage> RequestMessage for Tracked<T> {
    type Response = T::Response;
}
