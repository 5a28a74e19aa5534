//! Columns: the simple values of a repeated field, contiguous in a typed buffer.
//!
//! The items of most long lists are numbers or texts of one type. As a [`Value`] each takes 32
//! bytes and a check of its kind. In a column it takes only the size of its type, and the routines
//! of typed lists read and write it. A list becomes a column if its description allows nothing else
//! ([`Column::for_field`]). A message can still hold content that the description does not allow
//! but reading accepts, namely an item with `xsi:nil`: the column is then [spread](Value::spread)
//! into a list of values. Both are equal if their items are.
//!
//! A decoder whose shortcuts are off creates lists only. The random streams of the tests compare
//! the two.

use super::record::Occurrences;
use super::{CONTENT, Simple, Value, list};
use crate::content::Content;
use crate::decode::differential::Mend;
use crate::decode::flat::{self, Patch, Run};
use crate::decode::items::{open_item, splice_items, still_there};
use crate::decode::{Cursor, FlatSource, Step};
use crate::encode::flat::encode_items;
use crate::encode::{Encoder, FlatSink};
use crate::schema::{Builtin, Element, Field, SimpleElement, View};
use deltasoap_xml::lexical::{DateTime, Lexical};

macro_rules! columns {
    (($d:tt) $($variant:ident($type:ty)),* $(,)?) => {
        /// The items of a repeated field of a numeric type, of `xsd:boolean`, `xsd:dateTime` or
        /// `xsd:string`, contiguous and in the order of the message.
        ///
        /// ```
        /// use deltasoap_core::Column;
        ///
        /// let column = Column::Double(vec![0.5, 2.0]);
        /// let Column::Double(numbers) = &column else { unreachable!() };
        /// assert_eq!(numbers.iter().sum::<f64>(), 2.5);
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Column {
            $(#[doc = concat!("See [`Builtin::", stringify!($variant), "`].")] $variant(Vec<$type>),)*
        }

        impl Column {
            /// Creates a column without items; `None` for types that have no column.
            pub fn new(builtin: Builtin) -> Option<Self> {
                match builtin {
                    $(Builtin::$variant => Some(Column::$variant(Vec::new())),)*
                    _ => None,
                }
            }

            /// Returns the type of the items.
            pub fn builtin(&self) -> Builtin {
                match self { $(Column::$variant(_) => Builtin::$variant,)* }
            }

            /// Returns the item at a position.
            pub fn get(&self, place: usize) -> Option<Simple> {
                match self { $(Column::$variant(items) => items.get(place).cloned().map(Simple::$variant),)* }
            }

            /// Appends a value; returns false if it has another type.
            pub fn push(&mut self, value: &Simple) -> bool {
                match (self, value) {
                    $((Column::$variant(items), Simple::$variant(value)) => {
                        items.push(value.clone());
                        true
                    })*
                    _ => false,
                }
            }

            /// Takes items out of the column: all, or, while it is being read, only the finished
            /// ones.
            pub(super) fn take_items(&mut self, keeps_last: bool) -> Self {
                match self { $(Column::$variant(items) => Column::$variant(list::take(items, keeps_last)),)* }
            }

            /// Replaces an item; returns false if there is none, or the value has another type.
            pub fn set(&mut self, place: usize, value: &Simple) -> bool {
                match (self, value) {
                    $((Column::$variant(items), Simple::$variant(value)) => {
                        items.get_mut(place).map(|item| item.clone_from(value)).is_some()
                    })*
                    _ => false,
                }
            }
        }

        /// Runs the same expression on the items of any column.
        macro_rules! with_items {
            ($d column:expr, $d items:ident => $d work:expr) => {
                match $d column { $(Column::$variant($d items) => $d work,)* }
            };
        }
    };
}

columns! {
    ($) Boolean(bool), Byte(i8), Short(i16), Int(i32), Long(i64), UnsignedByte(u8), UnsignedShort(u16), UnsignedInt(u32),
    UnsignedLong(u64), Float(f32), Double(f64), DateTime(DateTime), String(String),
}

impl Column {
    /// Creates the column for a field's items, if they can only be texts of one of these types.
    pub(super) fn for_field(field: &Field, view: View<'_>) -> Option<Self> {
        if field.is_repeated() { Column::for_values(field, view) } else { None }
    }

    /// Creates a column for the values of a field, regardless of how often it occurs.
    pub(super) fn for_values(field: &Field, view: View<'_>) -> Option<Self> {
        match view.element {
            Element::Simple(SimpleElement { base, enumeration, default: None, .. })
                if !field.inline && !field.nillable && enumeration.is_empty() =>
            {
                Column::new(*base)
            }
            _ => None,
        }
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        with_items!(self, items => items.len())
    }

    /// Returns true if there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an iterator over the items.
    pub fn iter(&self) -> impl Iterator<Item = Simple> {
        (0..self.len()).map_while(|place| self.get(place))
    }

    /// Returns the items as separate values.
    pub fn to_values(&self) -> Vec<Value> {
        self.iter().map(Value::Simple).collect()
    }

    /// Reads the item at a position. Its frames are those of a [`Value`]: between two messages a
    /// column may replace a list, or a list a column.
    pub(super) fn decode(&mut self, place: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let (me, fresh) = cursor.enter();
        if fresh {
            if !cursor.is_seeking() {
                cursor.go_over(me);
            }
            cursor.frame(me).state = CONTENT;
        }
        let place = still_there(place, self.len());
        with_items!(self, items => match items.get_mut(place) {
            Some(item) => item.decode(cursor, view)?,
            None => unreachable!("an occurrence that was not opened"),
        });
        cursor.leave(me);
        Ok(())
    }

    /// Reads a leaf as the item at a position, or as the next one. If the leaf deviates, the item
    /// is unspecified.
    #[inline(always)]
    pub(super) fn scan<S: FlatSource>(&mut self, place: usize, scan: &mut S) -> Option<()> {
        with_items!(self, items => {
            if place == items.len() {
                items.push(Lexical::vacant());
            }
            scan.leaf(items.get_mut(place)?)
        })
    }

    /// Reads a leaf as the next item.
    pub(super) fn scan_leaf<S: FlatSource>(&mut self, scan: &mut S) -> Option<()> {
        let count = self.len();
        let read = self.scan(count, scan);
        if read.is_none() {
            self.truncate(count);
        }
        read
    }

    /// Reserves capacity for exactly `count` more items.
    pub(super) fn reserve_exact(&mut self, count: usize) {
        with_items!(self, items => items.reserve_exact(count));
    }

    /// Reserves capacity for `count` more items.
    pub(super) fn reserve(&mut self, count: usize) {
        with_items!(self, items => items.reserve(count));
    }

    /// Passes an item to a sink.
    #[inline(always)]
    pub(super) fn write_leaf<S: FlatSink>(&self, place: usize, sink: &mut S) {
        with_items!(self, items => if let Some(item) = items.get(place) { sink.leaf(item) });
    }

    /// Compares up to 64 items, starting at `from`, with their images, which are `apart` bytes
    /// apart, and sets the bit of each item that differs. Returns the size of an image.
    pub(super) fn mark_changed(&self, from: usize, images: &[u8], apart: usize, marks: &mut u64) -> usize {
        fn mark<T: Lexical>(items: &[T], images: &[u8], apart: usize, marks: &mut u64) -> usize {
            let size = T::IMAGE.bytes();
            for (index, (item, image)) in items.iter().zip(images.chunks(apart)).enumerate().take(64) {
                let differs = image.get(..size).is_some_and(|image| *image != item.image()[..size]);
                *marks |= u64::from(differs) << index;
            }
            size
        }
        with_items!(self, items => mark(items.get(from..).unwrap_or_default(), images, apart, marks))
    }

    /// Replaces an item with the last one.
    pub(super) fn move_last(&mut self, place: usize) {
        with_items!(self, items => drop(items.swap_remove(place)));
    }

    /// Replaces the text of an item.
    pub(super) fn mend(&mut self, place: usize, mend: &Mend<'_>) -> Option<()> {
        with_items!(self, items => mend.read(items.get_mut(place)?))
    }

    pub(super) fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        with_items!(self, items => encode_items(items, encoder, field, view));
    }

    /// Writes the content of an item.
    pub(super) fn encode_item(&self, place: usize, encoder: &mut Encoder, view: View<'_>) {
        with_items!(self, items => if let Some(item) = items.get(place) { item.encode(encoder, view) });
    }
}

impl Occurrences for Column {
    fn open(&mut self, place: usize, view: View<'_>) -> usize {
        with_items!(self, items => open_item(items, place, view))
    }

    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        with_items!(self, items => splice_items(items, place, removed, inserted, view))
    }

    fn truncate(&mut self, count: usize) {
        with_items!(self, items => items.truncate(count));
    }

    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run {
        with_items!(self, items => flat::run(items, cursor, std::ptr::from_ref(field).addr(), view))
    }

    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        with_items!(self, items => flat::patch(items, cursor, view))
    }
}
