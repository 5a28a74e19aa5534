//! The list of a dynamic message whose items are processed while the message arrives.
//!
//! A typed message provides its list by a function. A dynamic message has no functions: its list is
//! identified by the names of the fields that lead to it, or is the only list. Both are decided by
//! the schema alone, before any message is read. While the message is read, the list is looked up
//! again each time, since its containers are created with their elements.
//!
//! The same path finds the list of a message to be written, whose further items come while it is
//! sent ([`ListPlace`]).

use super::{Column, Table, Value};
use crate::decode::take_finished;
use crate::schema::{ComplexElement, Compositor, Element, ElementRef, Field, OpenElement, QName, Schema, View};
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// The position of a list in dynamic messages of one type: a field that can be repeated, or a SOAP
/// array of one dimension. Lists within the items of another list are excluded.
///
/// It is written like the paths of errors, starting at the content of the body's element:
/// `result/item`, with `{namespace}local` if several fields have the local name (`{}local` without
/// a namespace), and a number if several have the whole name (`item#1`, `item#2`). Choices and
/// groups without an element of their own are omitted, unless they are the items: `$choice`,
/// `$sequence`, and `$any` for elements of any name. The second in one type is `$choice#2`, as in
/// JSON. An element with a substitution group is such a choice; it can also be found by its local
/// name.
///
/// If a message names another type for an element on the path (`xsi:type`), the list is that of
/// this type; there may be none.
///
/// While the message is read ([`Cursor::stream_items`](crate::decode::Cursor::stream_items)), its
/// finished items are [taken](Self::take_finished) between two windows.
#[derive(Debug, Clone, PartialEq)]
pub struct ListPath {
    steps: Vec<PathStep>,
    /// The name and description of the items.
    item: Field,
}

/// A field on the path, with its index.
#[derive(Debug, Clone, PartialEq)]
struct PathStep {
    index: usize,
    name: QName,
    /// The written form; `None` for a choice or group without an element.
    shown: Option<String>,
}

/// The reason why a list was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListPathError {
    /// The message has no list whose items can be taken.
    NoList,
    /// There are several lists, or several fields with the name: some of their paths.
    Several(Vec<String>),
    /// The type has no field with this name.
    NoField {
        /// The name.
        name: String,
        /// The existing fields.
        fields: Vec<String>,
    },
    /// The field at this path occurs once, and is not an array.
    NoRepetition(String),
    /// The field is within the items of another list, which is at this path.
    WithinItems(String),
    /// The array at this path has several dimensions: its rows are known only when it is complete.
    Dimensions(String),
    /// Several places of a message can share the value at this path, which contains the list.
    Shared(String),
    /// The content of the body has no wrapper element.
    NoElement,
    /// A message to be written has no place for the list at this path: an element around it is
    /// absent, nil or of a type without the list, or fields are present that exclude the list.
    NoPlace(String),
}

impl fmt::Display for ListPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListPathError::NoList => f.write_str("the message has no list"),
            ListPathError::Several(paths) => write!(f, "ambiguous, name one of: {}", paths.join(", ")),
            ListPathError::NoField { name, fields } if fields.is_empty() => {
                write!(f, "no field {name}; there are no fields")
            }
            ListPathError::NoField { name, fields } => {
                write!(f, "no field {name}; the fields are: {}", fields.join(", "))
            }
            ListPathError::NoRepetition(path) => write!(f, "{path} is not a list"),
            ListPathError::WithinItems(path) => write!(f, "{path} is a list itself; lists in its items cannot be used"),
            ListPathError::Dimensions(path) => write!(f, "{path} is an array of several dimensions"),
            ListPathError::Shared(path) => write!(f, "{path} can be shared by several places of a message"),
            ListPathError::NoElement => f.write_str("the content of the body has no wrapper element"),
            ListPathError::NoPlace(path) => write!(f, "the message has no place for {path}"),
        }
    }
}

impl std::error::Error for ListPathError {}

/// Maximum number of paths in an error.
const MAX_NAMED: usize = 8;

/// Maximum nesting of choices and groups.
const DEPTH: usize = 32;

/// Maximum number of fields of a type to look at, including those of its choices and groups. No
/// imported description has as many.
const MAX_FIELDS: usize = 1 << 20;

impl ListPath {
    /// Returns the only list of messages with this description.
    ///
    /// # Errors
    /// Returns an error if there is none, or if there are several. A type that contains itself has
    /// one list per level.
    pub fn only(view: View<'_>) -> Result<Self, ListPathError> {
        let (found, again) = all_lists(view);
        match &found[..] {
            [] => Err(ListPathError::NoList),
            [list] if !list.passes(view, &again) => Ok(list.clone()),
            several => Err(ListPathError::Several(several.iter().map(ToString::to_string).collect())),
        }
    }

    /// Returns the list at a path; see [`ListPath`]. An empty path stands for an array that is the
    /// body's element itself.
    ///
    /// # Errors
    /// Returns an error if there is no such field, or it is not a list.
    pub fn find(view: View<'_>, path: &str) -> Result<Self, ListPathError> {
        let (mut steps, mut view) = (Vec::new(), view);
        let mut names = names(path).peekable();
        while let Some(name) = names.next() {
            let content = plain(view).ok_or_else(|| ListPathError::Shared(shown(&steps)))?;
            if content.array().is_some() {
                return Err(ListPathError::WithinItems(shown(&steps)));
            }
            let fields = Fields::new(content);
            let at = fields.named(name)?;
            let Entry { field, content, .. } = fields.entries[at];
            steps.extend(fields.steps(at));
            view = content;
            if field.is_repeated() {
                return match names.peek() {
                    Some(_) => Err(ListPathError::WithinItems(written(&steps))),
                    None => Ok(ListPath { item: field.clone(), steps }),
                };
            }
        }
        let content = plain(view).ok_or_else(|| ListPathError::Shared(shown(&steps)))?;
        match content.array() {
            Some(array) if array.dimensions > 1 => Err(ListPathError::Dimensions(shown(&steps))),
            Some(_) => Ok(ListPath { item: item_of_array(content), steps }),
            None => Err(ListPathError::NoRepetition(shown(&steps))),
        }
    }

    /// Returns the name and description of an item, for a repeated field or an array.
    pub fn item(&self) -> &Field {
        &self.item
    }

    /// Returns the indices of the fields on the path. Each is that of a field of the type, choice or
    /// group that the fields before it lead to.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().map(|step| step.index)
    }

    /// Returns the list's place in a message to be written, where an
    /// [`Overlay`](crate::Overlay::described) adds items. The list may have items already, or be
    /// absent. `content` is the description of the message, in `schema`.
    ///
    /// # Errors
    /// Returns [`ListPathError::NoPlace`] if an element around the list is absent, nil, or of a type
    /// without the list, or if fields are present that exclude it.
    pub fn place<'v>(
        &self,
        message: &'v Value,
        schema: &Arc<Schema>,
        content: ElementRef,
    ) -> Result<ListPlace<'v>, ListPathError> {
        let list = self.list_in(message, schema.view(content));
        let missing = || ListPathError::NoPlace(shown(&self.steps));
        Ok(ListPlace { message, list: list.ok_or_else(missing)?, schema: Arc::clone(schema), content })
    }

    /// Returns the list in a whole message; it may be absent.
    fn list_in<'v>(&self, message: &'v Value, view: View<'_>) -> Option<&'v Value> {
        let (mut value, mut view, mut is_repeated) = (message, view, false);
        for step in &self.steps {
            let (content, of) = named(value, view)?;
            let (Value::Record(record), Some(complex)) = (content, of.complex()) else { return None };
            let index = step.index_in(complex)?;
            if record.excludes(complex, index) {
                return None;
            }
            let field = complex.fields.get(index)?;
            (value, view, is_repeated) = (record.fields.get(index)?, of.follow(field.element), field.is_repeated());
        }
        if is_repeated {
            return Some(value).filter(|list| **list == Value::Absent || list.occurrences().is_some());
        }
        let (list, of) = named(value, view)?;
        let is_array = of.array().is_some_and(|array| array.dimensions <= 1);
        Some(list).filter(|list| is_array && matches!(list, Value::Absent | Value::List(_)))
    }

    /// Takes the items out of the list of a message that is being read, except the last one, which
    /// may be unfinished. `view` is that of the message.
    pub fn take_finished<T: FromList>(&self, message: &mut Value, view: View<'_>) -> Vec<T> {
        self.take(message, view, true)
    }

    /// Takes all items, after the message was read.
    pub fn take_all<T: FromList>(&self, message: &mut Value, view: View<'_>) -> Vec<T> {
        self.take(message, view, false)
    }

    fn take<T: FromList>(&self, message: &mut Value, view: View<'_>, keeps_last: bool) -> Vec<T> {
        let Some(list) = self.list(message, view) else { return Vec::new() };
        let taken = list.take_items(keeps_last);
        if taken.occurrences() == Some(0) {
            return Vec::new();
        }
        T::from_list(taken, &self.item, view.follow(self.item.element))
    }

    /// Returns the list, if reading has reached it.
    fn list<'v>(&self, message: &'v mut Value, view: View<'_>) -> Option<&'v mut Value> {
        let (mut value, mut view) = (message, view);
        for step in &self.steps {
            let (content, of) = opened(value, view)?;
            let (Value::Record(record), Some(complex)) = (content, of.complex()) else { return None };
            let index = step.index_in(complex)?;
            view = of.follow(complex.fields[index].element);
            value = record.fields.get_mut(index)?;
        }
        if value.occurrences().is_none() {
            (value, view) = opened(value, view)?;
            // The type named by the message may be an array of several dimensions, whose rows are
            // built from its items only at the end.
            if view.array().is_some_and(|array| array.dimensions > 1) {
                return None;
            }
        }
        value.occurrences().is_some().then_some(value)
    }

    /// Returns true if the path to the list passes one of `types`.
    fn passes(&self, view: View<'_>, types: &HashSet<*const Element>) -> bool {
        let mut around = Some(view);
        for step in &self.steps {
            let Some(view) = around.and_then(plain) else { return false };
            if types.contains(&std::ptr::from_ref(view.element)) {
                return true;
            }
            let field = view.complex().and_then(|complex| complex.fields.get(step.index));
            around = field.map(|field| view.follow(field.element));
        }
        false
    }
}

impl fmt::Display for ListPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&written(&self.steps))
    }
}

impl PathStep {
    /// Returns the index of the field in a type, which may be derived from the type that the path
    /// was created for.
    fn index_in(&self, complex: &ComplexElement) -> Option<usize> {
        let has_name = |field: &Field| field.name == self.name;
        let is_there = complex.fields.get(self.index).is_some_and(has_name);
        if is_there { Some(self.index) } else { complex.fields.iter().position(has_name) }
    }
}

fn written(steps: &[PathStep]) -> String {
    steps.iter().filter_map(|step| step.shown.as_deref()).collect::<Vec<_>>().join("/")
}

/// A dynamic message to be written, and the place of a list in it: see [`ListPath::place`].
#[derive(Debug, Clone)]
pub struct ListPlace<'v> {
    message: &'v Value,
    list: &'v Value,
    schema: Arc<Schema>,
    content: ElementRef,
}

impl<'v> ListPlace<'v> {
    /// Returns the message.
    pub fn message(&self) -> &'v Value {
        self.message
    }

    /// Returns the description of the message.
    pub fn view(&self) -> View<'_> {
        self.schema.view(self.content)
    }

    /// Returns the address of the list, by which it is recognized while its message is written.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self.list).addr()
    }

    /// Returns the schema of the message.
    pub(crate) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }
}

/// Returns a path for an error.
fn shown(steps: &[PathStep]) -> String {
    if steps.is_empty() { "the body".to_owned() } else { written(steps) }
}

/// Splits a path into its steps. Namespaces may contain slashes.
fn names(path: &str) -> impl Iterator<Item = &str> {
    let mut is_within = false;
    let parts = path.split(move |character| {
        is_within = (is_within || character == '{') && character != '}';
        character == '/' && !is_within
    });
    parts.filter(|part| !part.is_empty())
}

/// Returns the description of the content for a message that names no other type; `None` if several
/// places can share the content.
fn plain(mut view: View<'_>) -> Option<View<'_>> {
    while let Element::Open(OpenElement { base: Some(base), .. }) = view.element {
        view = view.follow(*base);
    }
    (!matches!(view.element, Element::Shared(_))).then_some(view)
}

/// Returns a value without the name of its type, and the description of that type.
fn named<'v, 's>(mut value: &'v Value, mut view: View<'s>) -> Option<(&'v Value, View<'s>)> {
    while let Element::Open(open) = view.element {
        match value {
            Value::Typed(typed) => {
                view = view.follow(open.named(&typed.name)?);
                value = &typed.value;
            }
            _ => view = view.follow(open.base?),
        }
    }
    Some((value, view))
}

/// Like [`named`], for a value that is changed.
fn opened<'v, 's>(mut value: &'v mut Value, mut view: View<'s>) -> Option<(&'v mut Value, View<'s>)> {
    while let Element::Open(open) = view.element {
        match value {
            Value::Typed(typed) => {
                view = view.follow(open.named(&typed.name)?);
                value = &mut typed.value;
            }
            _ => view = view.follow(open.base?),
        }
    }
    Some((value, view))
}

fn item_of_array(view: View<'_>) -> Field {
    let Some(array) = view.array() else { unreachable!("the items of no array") };
    let (name, element, nillable) = (array.item_name.clone(), array.item, array.nillable);
    Field { name, element, min: 0, max: None, nillable, inline: false }
}

/// The fields of a type, and those of its choices and groups without an element of their own, in
/// the order of the schema.
struct Fields<'s> {
    entries: Vec<Entry<'s>>,
}

#[derive(Clone, Copy)]
struct Entry<'s> {
    /// The entry of the choice or group that contains this one.
    around: Option<usize>,
    /// The index among the fields of that choice or group, or of the type.
    index: usize,
    field: &'s Field,
    content: View<'s>,
}

impl<'s> Entry<'s> {
    /// Returns true for a choice or group whose fields are listed among the surrounding ones.
    fn is_among(&self) -> bool {
        self.field.inline && !self.field.is_repeated() && self.content.complex().is_some()
    }

    /// Returns the mark of an entry without an element of its own.
    fn mark(&self) -> Option<&'static str> {
        let mark = match self.content.complex() {
            Some(it) if it.compositor == Compositor::Choice || it.is_choice_of_groups() => "$choice",
            Some(_) => "$sequence",
            None => "$any",
        };
        self.field.inline.then_some(mark)
    }

    /// Returns true if `name` is the element's name, with or without the namespace, or the entry's
    /// mark.
    fn is_named(&self, name: &str) -> bool {
        let QName { namespace, local } = &self.field.name;
        let full = name.strip_prefix('{').and_then(|rest| rest.rsplit_once('}'));
        match self.mark() {
            Some(mark) => name == mark,
            None => name == &**local || full.is_some_and(|full| full == (&**namespace, &**local)),
        }
    }
}

impl<'s> Fields<'s> {
    fn new(view: View<'s>) -> Self {
        let mut fields = Fields { entries: Vec::new() };
        fields.add(view, None, 0);
        fields
    }

    fn add(&mut self, view: View<'s>, around: Option<usize>, depth: usize) {
        let Some(complex) = view.complex().filter(|_| depth < DEPTH) else { return };
        let room = MAX_FIELDS.saturating_sub(self.entries.len());
        for (index, field) in complex.fields.iter().enumerate().take(room) {
            let entry = Entry { around, index, field, content: view.follow(field.element) };
            self.entries.push(entry);
            if entry.is_among() {
                self.add(entry.content, Some(self.entries.len() - 1), depth + 1);
            }
        }
    }

    /// Returns the entries with names, and their positions.
    fn shown(&self) -> impl Iterator<Item = (usize, &Entry<'s>)> {
        self.entries.iter().enumerate().filter(|(_, entry)| !entry.is_among())
    }

    /// Returns the only entry with a name.
    fn named(&self, name: &str) -> Result<usize, ListPathError> {
        let (plain, number) = numbered(name);
        let named: Vec<_> = self.shown().filter(|(_, entry)| entry.is_named(plain)).collect();
        let is_one_name = named.windows(2).all(|pair| pair[0].1.field.name == pair[1].1.field.name);
        let is_marked = named.iter().any(|(_, entry)| entry.mark().is_some());
        match number {
            None if named.is_empty() => self.substituted(name),
            None if named.len() > 1 && !is_marked => Err(self.several(&named)),
            Some(_) if !is_one_name && !is_marked => Err(self.several(&named)),
            _ => {
                let nth = number.unwrap_or(1).checked_sub(1).and_then(|nth| named.get(nth));
                nth.map(|(at, _)| *at).ok_or_else(|| self.without(name))
            }
        }
    }

    /// Returns the only choice that stands for an element of this name and the members of its
    /// substitution group.
    fn substituted(&self, name: &str) -> Result<usize, ListPathError> {
        let is_head = |entry: &Entry<'_>| entry.mark() == Some("$choice") && &*entry.field.name.local == name;
        let heads: Vec<_> = self.shown().filter(|(_, entry)| is_head(entry)).collect();
        match &heads[..] {
            [] => Err(self.without(name)),
            [(at, _)] => Ok(*at),
            several => Err(self.several(several)),
        }
    }

    fn several(&self, named: &[(usize, &Entry<'_>)]) -> ListPathError {
        ListPathError::Several(named.iter().take(MAX_NAMED).map(|(at, _)| self.label(*at)).collect())
    }

    fn without(&self, name: &str) -> ListPathError {
        let fields = self.shown().take(MAX_NAMED).map(|(at, _)| self.label(at)).collect();
        ListPathError::NoField { name: name.to_owned(), fields }
    }

    /// Returns the unique name of an entry in a path.
    fn label(&self, at: usize) -> String {
        let entry = &self.entries[at];
        let nth = |is_same: &dyn Fn(&Entry<'_>) -> bool| {
            let mut same = self.shown().filter(|(_, other)| is_same(other)).map(|(at, _)| at);
            same.position(|other| other == at).unwrap_or_default() + 1
        };
        if let Some(mark) = entry.mark() {
            return match nth(&|other| other.mark() == Some(mark)) {
                1 => mark.to_owned(),
                number => format!("{mark}#{number}"),
            };
        }
        let name = &entry.field.name;
        let namesakes =
            || self.shown().filter(|(_, other)| other.mark().is_none() && other.field.name.local == name.local);
        let written = match namesakes().all(|(_, other)| other.field.name == *name) {
            true => name.local.to_string(),
            false => format!("{{{}}}{}", name.namespace, name.local),
        };
        match namesakes().filter(|(_, other)| other.field.name == *name).count() {
            1 => written,
            _ => format!("{written}#{}", nth(&|other| other.mark().is_none() && other.field.name == *name)),
        }
    }

    /// Returns the steps to an entry.
    fn steps(&self, at: usize) -> Vec<PathStep> {
        let path = std::iter::successors(Some(at), |at| self.entries[*at].around);
        let step = |place: usize| {
            let Entry { index, field, .. } = self.entries[place];
            PathStep { index, name: field.name.clone(), shown: (place == at).then(|| self.label(at)) }
        };
        let mut steps: Vec<_> = path.map(step).collect();
        steps.reverse();
        steps
    }
}

/// Splits a name into the name without a number, and the number. A namespace may contain the mark.
fn numbered(name: &str) -> (&str, Option<usize>) {
    let split = name.rsplit_once('#').and_then(|(plain, number)| Some((plain, Some(number.parse().ok()?))));
    split.unwrap_or((name, None))
}

/// A type found on the way to lists. All are kept, so each only needs to store where it was found.
struct VisitedType<'s> {
    around: Option<FieldPosition>,
    fields: Fields<'s>,
}

/// A field of a found type: the type's number, and the field's position among its [fields](Fields).
#[derive(Clone, Copy)]
struct FieldPosition {
    of: usize,
    at: usize,
}

/// Returns the steps to a field.
fn steps_to(visited: &[VisitedType<'_>], place: Option<FieldPosition>) -> Vec<PathStep> {
    let mut path: Vec<_> = std::iter::successors(place, |place| visited[place.of].around).collect();
    path.reverse();
    path.into_iter().flat_map(|FieldPosition { of, at }| visited[of].fields.steps(at)).collect()
}

/// Returns the lists of a message, up to the number that an error names, and the types that were
/// found more than once. Time and memory are proportional to the number of fields, at any depth.
fn all_lists(view: View<'_>) -> (Vec<ListPath>, HashSet<*const Element>) {
    let (mut found, mut visited, mut seen, mut again) = (Vec::new(), Vec::new(), HashSet::new(), HashSet::new());
    let mut ahead = VecDeque::from([(None, view)]);
    while let Some((around, view)) = ahead.pop_front()
        && found.len() < MAX_NAMED
    {
        let Some(view) = plain(view) else { continue };
        match view.element {
            Element::Array(array) if array.dimensions <= 1 => {
                found.push(ListPath { item: item_of_array(view), steps: steps_to(&visited, around) });
            }
            Element::Complex(_) if !seen.insert(std::ptr::from_ref(view.element)) => {
                again.insert(std::ptr::from_ref(view.element));
            }
            Element::Complex(_) => {
                let of = visited.len();
                visited.push(VisitedType { around, fields: Fields::new(view) });
                for (at, Entry { field, content, .. }) in visited[of].fields.shown() {
                    let place = Some(FieldPosition { of, at });
                    if field.is_repeated() && found.len() < MAX_NAMED {
                        found.push(ListPath { item: (*field).clone(), steps: steps_to(&visited, place) });
                    }
                    let leads_on =
                        matches!(content.element, Element::Complex(_) | Element::Array(_) | Element::Open(_));
                    if leads_on && !field.is_repeated() {
                        ahead.push_back((place, *content));
                    }
                }
            }
            _ => {}
        }
    }
    (found, again)
}

/// Consecutive items of a dynamic list that arrived together, in one window of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Batch {
    /// Items of a simple type that has columns: each is a plain value of it.
    Column(Column),
    /// Items of a struct of such values, all of which are present. Boxed, since it is larger than
    /// the other variants.
    Table(Box<Table>),
    /// Items of any other type, or with an item that is nil or incomplete.
    Values(Vec<Value>),
}

impl Batch {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        match self {
            Batch::Column(column) => column.len(),
            Batch::Table(table) => table.len(),
            Batch::Values(values) => values.len(),
        }
    }

    /// Returns true if there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Converts into separate values.
    pub fn into_values(self) -> Vec<Value> {
        match self {
            Batch::Column(column) => column.to_values(),
            Batch::Table(table) => table.to_values(),
            Batch::Values(values) => values,
        }
    }
}

/// The form in which items of a dynamic list are taken: each as a [`Value`], or together as a
/// [`Batch`]. There are no others.
pub trait FromList: sealed::Sealed + Sized + Send + 'static {
    /// Converts a list with items, described by `field` and `view`.
    #[doc(hidden)]
    fn from_list(list: Value, field: &Field, view: View<'_>) -> Vec<Self>;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Value {}
    impl Sealed for super::Batch {}
}

impl FromList for Value {
    fn from_list(mut list: Value, _: &Field, _: View<'_>) -> Vec<Self> {
        list.spread().map(std::mem::take).unwrap_or_default()
    }
}

impl FromList for Batch {
    fn from_list(mut list: Value, field: &Field, view: View<'_>) -> Vec<Self> {
        // A column or table requires that none of these items is nil; other items of the list may
        // be.
        list.gather(&Field { nillable: false, ..field.clone() }, view);
        vec![match list {
            Value::Column(column) => Batch::Column(column),
            Value::Table(table) => Batch::Table(table),
            mut list => Batch::Values(list.spread().map(std::mem::take).unwrap_or_default()),
        }]
    }
}

impl Value {
    /// Takes the items out of a list, keeping its form.
    fn take_items(&mut self, keeps_last: bool) -> Value {
        match self {
            Value::List(items) => Value::List(take(items, keeps_last)),
            Value::Column(column) => Value::Column(column.take_items(keeps_last)),
            Value::Table(table) => Value::Table(Box::new(table.take_items(keeps_last))),
            _ => Value::Absent,
        }
    }
}

/// Takes items out of a list: all, or, while it is being read, only the finished ones.
pub(super) fn take<T>(items: &mut Vec<T>, keeps_last: bool) -> Vec<T> {
    if keeps_last { take_finished(items) } else { std::mem::take(items) }
}
