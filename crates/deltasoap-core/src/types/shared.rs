//! Values shared by several places of a message.
//!
//! Sharing is a property of a type: only [`Shared`] is checked for identity, so that values of
//! other types cost nothing. To find shared values of any type, the address of every value would be
//! needed, and an address does not identify a value: equal values and clones have others.
//!
//! Handles are `Arc`s, and `Weak` where a cycle closes, so that a message cannot create values that
//! are never freed. Indices into a graph would make every type of a message one of a graph.

use crate::content::Shortcuts;
use crate::content::{Content, Typed};
use crate::decode::{Cursor, Sharing, Step, skip_element};
use crate::encode::Encoder;
use crate::schema::{Element, QName, View};
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::{Arc, OnceLock, Weak};
use std::thread::LocalKey;

/// A value that several places of a message may share. SOAP encoding writes it once, and references
/// elsewhere (SOAP 1.1, section 5.1; SOAP 1.2 part 2, section 3.1.5). So graphs keep their shape,
/// including cycles:
///
/// ```
/// use deltasoap::Soap;
/// use deltasoap::types::Shared;
///
/// #[derive(Soap)]
/// struct Person {
///     name: String,
///     friend: Option<Shared<Person>>,
/// }
/// ```
///
/// A field of any other type can be read from a reference as well, and then gets a copy of the
/// target.
///
/// A handle is cheap to clone. Handles that close a cycle, which are those read inside the element
/// that they refer to, do not keep their value alive, so that nothing leaks: keep the message's
/// value alive while you traverse it.
///
/// Two handles are equal if they have the same shape and values, regardless of sharing.
pub struct Shared<T: 'static>(Handle<T>);

enum Handle<T> {
    Owner(Arc<OnceLock<T>>),
    Back(Weak<OnceLock<T>>),
}

impl<T: 'static> Shared<T> {
    /// Creates a value with a single handle.
    pub fn new(value: T) -> Self {
        Shared(Handle::Owner(Arc::new(OnceLock::from(value))))
    }

    /// Creates a value from handles to itself, which close cycles.
    ///
    /// ```
    /// use deltasoap_core::Shared;
    ///
    /// struct Ring(Shared<Ring>);
    ///
    /// let ring = Shared::cyclic(|ring| Ring(ring));
    /// let next = ring.get().map(|ring| ring.0.clone());
    /// assert!(next.is_some_and(|next| Shared::ptr_eq(&next, &ring)));
    /// ```
    pub fn cyclic(make: impl FnOnce(Shared<T>) -> T) -> Self {
        let shared = Shared::empty();
        let value = make(shared.weak());
        shared.set(value);
        shared
    }

    /// Like [`cyclic`](Self::cyclic), for a closure that can fail.
    ///
    /// # Errors
    /// Returns the error of `make`.
    pub fn try_cyclic<E>(make: impl FnOnce(Shared<T>) -> Result<T, E>) -> Result<Self, E> {
        let shared = Shared::empty();
        let value = make(shared.weak())?;
        shared.set(value);
        Ok(shared)
    }

    /// Returns the value. `None` if it was dropped: a handle that closes a cycle loses its value
    /// when the other handles are dropped.
    pub fn get(&self) -> Option<Held<T>> {
        let owner = match &self.0 {
            Handle::Owner(owner) => Arc::clone(owner),
            Handle::Back(back) => back.upgrade()?,
        };
        owner.get().is_some().then_some(Held(Some(owner)))
    }

    /// Returns a handle that does not keep the value alive, like those that close cycles.
    pub fn weak(&self) -> Self {
        Shared(Handle::Back(match &self.0 {
            Handle::Owner(owner) => Arc::downgrade(owner),
            Handle::Back(back) => Weak::clone(back),
        }))
    }

    /// Returns true if both are handles to the same value.
    pub fn ptr_eq(one: &Self, other: &Self) -> bool {
        one.address() == other.address()
    }

    /// Returns a number that identifies the value while it is alive: equal for two handles if and
    /// only if [`ptr_eq`](Self::ptr_eq) is true for them.
    pub fn address(&self) -> usize {
        match &self.0 {
            Handle::Owner(owner) => Arc::as_ptr(owner).addr(),
            Handle::Back(back) => back.as_ptr().addr(),
        }
    }

    /// Returns true if there are other handles.
    pub(crate) fn is_shared(&self) -> bool {
        match &self.0 {
            Handle::Owner(owner) => Arc::strong_count(owner) > 1 || Arc::weak_count(owner) > 0,
            Handle::Back(_) => true,
        }
    }

    /// Creates a handle whose value is set later.
    pub(crate) fn empty() -> Self {
        Shared(Handle::Owner(Arc::default()))
    }

    /// Sets the value of a handle, unless it has one.
    fn set(&self, value: T) {
        if let Handle::Owner(owner) = &self.0 {
            let _ = owner.set(value);
        }
    }

    /// Returns the value during decoding, if this is the only handle.
    fn get_mut(&mut self) -> Option<&mut T> {
        match &mut self.0 {
            Handle::Owner(owner) => Arc::get_mut(owner)?.get_mut(),
            Handle::Back(_) => None,
        }
    }
}

/// A borrowed shared value.
pub struct Held<T: 'static>(Option<Arc<OnceLock<T>>>);

impl<T: 'static> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self.0.as_ref().and_then(|owner| owner.get()) {
            Some(value) => value,
            None => unreachable!("held without a value"),
        }
    }
}

impl<T: 'static> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(match &self.0 {
            Handle::Owner(owner) => Handle::Owner(Arc::clone(owner)),
            Handle::Back(back) => Handle::Back(Weak::clone(back)),
        })
    }
}

impl<T: 'static> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Shared::new(value)
    }
}

impl<T: 'static> Drop for Shared<T> {
    fn drop(&mut self) {
        if let Handle::Owner(owner) = std::mem::replace(&mut self.0, Handle::Back(Weak::new())) {
            release(owner);
        }
    }
}

impl<T: 'static> Drop for Held<T> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(release);
    }
}

thread_local! {
    /// Values whose last handle was dropped while another value was being dropped: they wait for
    /// that drop to end. Otherwise a chain of values, each holding the next, would be dropped by
    /// one nested call per value, and a message can create chains of any length.
    static WAITING: RefCell<Option<Vec<Box<dyn Any>>>> = const { RefCell::new(None) };
}

/// Drops a handle, and the value with the last handle.
fn release<T: 'static>(owner: Arc<OnceLock<T>>) {
    let Some(value) = Arc::into_inner(owner).and_then(OnceLock::into_inner) else { return };
    let mut value = Some(value);
    let wait = |waiting: &RefCell<Option<Vec<Box<dyn Any>>>>| match &mut *waiting.borrow_mut() {
        Some(waiting) => {
            waiting.extend(value.take().map(|value| Box::new(value) as Box<dyn Any>));
            false
        }
        none => {
            *none = Some(Vec::new());
            true
        }
    };
    // When the thread ends, the queue may already be destroyed.
    if !WAITING.try_with(wait).unwrap_or(false) {
        return;
    }
    let _end = EndOfDrops;
    drop(value);
    while let Some(next) = WAITING.with_borrow_mut(|waiting| waiting.as_mut().and_then(Vec::pop)) {
        drop(next);
    }
}

/// Resets the queue on drop, also after a panic, so that the next drop is the outermost again.
struct EndOfDrops;

impl Drop for EndOfDrops {
    fn drop(&mut self) {
        // Values left over by a panic are dropped by nested calls.
        drop(WAITING.take());
    }
}

/// Maximum nesting of shared values in a comparison or `Debug`: a message can chain any number of
/// them.
const MAX_DEPTH: usize = 32;

/// State of the outermost comparison, or the outermost `Debug`, of this thread.
struct Walk<K> {
    met: HashSet<K>,
    /// Current nesting of shared values.
    depth: usize,
    /// Deferred comparisons, which would have nested too deeply.
    later: Vec<Box<dyn FnOnce() -> bool>>,
}

/// How to proceed with a value that a walk meets.
#[derive(PartialEq, Eq)]
enum Meeting {
    New,
    Again,
    TooDeep,
}

type Walking<K> = RefCell<Option<Walk<K>>>;

thread_local! {
    /// Pairs that were or are being compared. They count as equal, unless the outermost comparison
    /// fails.
    static COMPARED: Walking<(usize, usize)> = const { RefCell::new(None) };
    static SHOWN: Walking<usize> = const { RefCell::new(None) };
}

impl<K: Eq + Hash> Walk<K> {
    /// Meets a value within a walk. If it is new, the caller must call [`leave`](Self::leave)
    /// afterwards.
    fn meet(walking: &'static LocalKey<Walking<K>>, key: K) -> Meeting {
        walking.with_borrow_mut(|walk| match walk {
            Some(walk) if walk.met.contains(&key) => Meeting::Again,
            Some(walk) if walk.depth >= MAX_DEPTH => Meeting::TooDeep,
            Some(walk) => {
                walk.met.insert(key);
                walk.depth += 1;
                Meeting::New
            }
            None => Meeting::Again,
        })
    }

    fn leave(walking: &'static LocalKey<Walking<K>>) {
        walking.with_borrow_mut(|walk| walk.iter_mut().for_each(|walk| walk.depth -= 1));
    }
}

/// The outermost step of a walk: clears the state when dropped, also after a panic.
struct Outermost<K: 'static>(&'static LocalKey<Walking<K>>);

impl<K> Outermost<K> {
    /// Begins a walk, unless one is in progress.
    fn begin(walking: &'static LocalKey<Walking<K>>) -> Option<Self> {
        let is_first = walking.with_borrow(Option::is_none);
        is_first.then(|| {
            walking.set(Some(Walk { met: HashSet::new(), depth: 0, later: Vec::new() }));
            Outermost(walking)
        })
    }

    /// Runs the deferred comparisons, and those that they defer.
    fn make_up(&self) -> bool {
        let next = || self.0.with_borrow_mut(|walk| walk.as_mut()?.later.pop());
        std::iter::from_fn(next).all(|compare| compare())
    }
}

impl<K> Drop for Outermost<K> {
    fn drop(&mut self) {
        // Dropped outside the borrow, since deferred comparisons hold values.
        drop(self.0.take());
    }
}

/// Values are compared once per pair of handles, so graphs take linear time and cycles terminate.
impl<T: PartialEq + 'static> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        if Shared::ptr_eq(self, other) {
            return true;
        }
        let (Some(one), Some(two)) = (self.get(), other.get()) else {
            return self.get().is_none() && other.get().is_none();
        };
        let outermost = Outermost::begin(&COMPARED);
        let is_equal = match Walk::meet(&COMPARED, (self.address(), other.address())) {
            Meeting::Again => true,
            Meeting::New => {
                let is_equal = *one == *two;
                Walk::leave(&COMPARED);
                is_equal
            }
            Meeting::TooDeep => {
                let (one, other) = (self.clone(), other.clone());
                let later = Box::new(move || one == other);
                COMPARED.with_borrow_mut(|walk| walk.as_mut().map(|walk| walk.later.push(later)));
                true
            }
        };
        is_equal && outermost.is_none_or(|outermost| outermost.make_up())
    }
}

/// Each value is shown once, and none that is nested in more than 32 others.
impl<T: fmt::Debug + 'static> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = self.get() else { return f.write_str("Shared(gone)") };
        let _outermost = Outermost::begin(&SHOWN);
        match Walk::meet(&SHOWN, self.address()) {
            Meeting::New => {
                let shown = f.debug_tuple("Shared").field(&*value).finish();
                Walk::leave(&SHOWN);
                shown
            }
            Meeting::Again => f.write_str("Shared(shown before)"),
            Meeting::TooDeep => f.write_str("Shared(..)"),
        }
    }
}

/// Reading in place: there is a single handle.
const ALONE: u8 = 1;

impl<T: Content + Send + Sync + 'static> Content for Shared<T> {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        Shared::empty()
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let content = view.content();
        let (me, _) = cursor.enter();
        if cursor.frame(me).state != ALONE {
            match cursor.sharing::<T>(content)? {
                Sharing::Alone => {
                    *self = Shared::new(T::vacant(content));
                    cursor.frame(me).state = ALONE;
                }
                Sharing::Target { target, is_elsewhere, shared } => {
                    *self = match shared {
                        Some(shared) => pass(shared, cursor, is_elsewhere)?,
                        None => read(cursor, content, target, is_elsewhere)?,
                    };
                    cursor.leave(me);
                    return Ok(());
                }
            }
        }
        let Some(value) = self.get_mut() else { unreachable!("a value that is read has one handle") };
        value.decode(cursor, content)?;
        cursor.leave(me);
        Ok(())
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        let content = view.content();
        // Determined before another handle is created.
        let identity = (self.address(), self.is_shared());
        match self.get() {
            Some(value) => encoder.shared(identity, |encoder| value.encode(encoder, content)),
            None => encoder.fail("a handle to a shared value that was dropped"),
        }
    }
}

impl<T: Content + Send + Sync + 'static> Shortcuts for Shared<T> {}

/// Skips an element whose value was read before.
fn pass<T>(shared: Shared<T>, cursor: &mut Cursor<'_>, is_elsewhere: bool) -> Step<Shared<T>> {
    if is_elsewhere {
        cursor.expect_nothing()?;
    } else {
        skip_element(cursor)?;
    }
    Ok(shared)
}

/// Reads the value of an element with an id. The message is complete by now, so nothing pauses
/// here.
fn read<T: Content + Send + Sync + 'static>(
    cursor: &mut Cursor<'_>,
    view: View<'_>,
    target: usize,
    is_elsewhere: bool,
) -> Step<Shared<T>> {
    let shared = Shared::empty();
    cursor.share::<T>(target, view, shared.clone());
    let back = if is_elsewhere { Some(cursor.go(target)?) } else { None };
    let mut value = T::vacant(view);
    value.decode(cursor, view)?;
    cursor.come_back(back);
    shared.set(value);
    Ok(shared)
}

impl<T: Typed> Shared<T> {
    const ELEMENT: &'static Element = &Element::Shared(T::REFERENCE);
}

impl<T: Typed + Send + Sync + 'static> Typed for Shared<T> {
    const TYPE_NAME: QName = T::TYPE_NAME;
    const ITEM_NAME: &'static str = T::ITEM_NAME;
    const NILLABLE: bool = T::NILLABLE;

    fn element() -> &'static Element {
        Self::ELEMENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    struct Link {
        next: Option<Shared<Link>>,
        dropped: Arc<AtomicUsize>,
        /// A handle to the link itself, so that there is a weak handle too.
        back: Shared<Link>,
    }

    impl Drop for Link {
        fn drop(&mut self) {
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    fn chain(length: usize, dropped: &Arc<AtomicUsize>) -> Shared<Link> {
        let link = |next| Shared::cyclic(|back| Link { next, dropped: Arc::clone(dropped), back });
        (1..length).fold(link(None), |next, _| link(Some(next)))
    }

    #[test]
    fn chains_of_any_length_are_dropped() {
        const LENGTH: usize = 200_000;
        let dropped = Arc::new(AtomicUsize::new(0));
        drop(chain(LENGTH, &dropped));
        assert_eq!(dropped.swap(0, Relaxed), LENGTH);
        // The last handle may be obtained from another one.
        let first = chain(LENGTH, &dropped);
        let held = first.get().expect("a value");
        drop(first);
        assert!(dropped.load(Relaxed) == 0 && held.next.is_some() && held.back.get().is_some());
        drop(held);
        assert_eq!(dropped.swap(0, Relaxed), LENGTH);
    }

    #[test]
    fn chains_of_any_length_are_compared_and_shown() {
        #[derive(Debug, PartialEq)]
        struct Chain(u8, Option<Shared<Chain>>);
        let chain =
            |last| (0..200_000).fold(Shared::new(Chain(last, None)), |next, _| Shared::new(Chain(0, Some(next))));
        assert!(chain(1) == chain(1));
        // A deferred comparison finds the difference.
        assert!(chain(1) != chain(2));
        assert!(chain(1) == chain(1), "a comparison that is over leaves nothing behind");
        let shown = format!("{:?}", chain(1));
        assert_eq!(shown.matches("Chain").count(), MAX_DEPTH, "{shown}");
        assert!(shown.contains("Shared(..)"), "{shown}");
    }

    #[test]
    fn values_are_dropped_after_a_panic_too() {
        struct Bomb(#[expect(dead_code, reason = "it is dropped")] Shared<Link>);
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("not now");
            }
        }
        let dropped = Arc::new(AtomicUsize::new(0));
        let bomb = Shared::new(Bomb(chain(3, &dropped)));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(bomb))).is_err());
        drop(chain(3, &dropped));
        assert_eq!(dropped.load(Relaxed), 6);
    }
}
