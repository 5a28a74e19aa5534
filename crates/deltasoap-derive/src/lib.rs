//! `#[derive(Soap)]`: gives a Rust type its schema, and typed decoding and encoding.
//!
//! The macro emits data (a `static` schema of the type) and thin calls into the routines of
//! `deltasoap-core`, which do all the work. It never looks at the name of a field's type: the
//! type's `Occurs` implementation determines how often an element occurs.
//!
//! Each kind of type has its own module: `structs`, `choice`, `enumeration`, `union`, `derived`,
//! `newtype`. The implementations that structs and choices share are in `complex`, and those that
//! all kinds share in `target`.

#![forbid(unsafe_code)]

mod attributes;
mod choice;
mod complex;
mod derived;
mod enumeration;
mod faults;
mod group;
mod member;
mod names;
mod newtype;
mod structs;
mod target;
mod union;

use attributes::Flag;
use proc_macro2::TokenStream;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Result, parse_macro_input};
use target::Target;

/// Derives a type's schema, and its decoding from and encoding to XML.
///
/// | Rust type | XSD type |
/// |---|---|
/// | struct with named fields, or none | complex type |
/// | struct with a `text` field | complex type with simple content |
/// | tuple struct with one field | simple type that restricts the field's |
/// | enum of unit variants, and perhaps one for other texts | enumeration |
/// | enum with values | complex type with a choice |
/// | enum marked `union` | union of simple types |
/// | enum marked `derived` | a complex type or a type derived from it |
/// | tuple struct marked `transparent` | the type of its field |
///
/// # Elements
///
/// A field is a child element with the field's name. The field's type determines how often it
/// occurs: `T` once, `Option<T>` at most once, `Vec<T>` any number of times. `Nillable<T>` may be
/// `xsi:nil`, and `Option<Nillable<T>>` distinguishes absent, nil and empty; an `Option<T>` marked
/// `nillable` reads nil as absent. `SoapArray<T>` is an element that contains a SOAP array, and
/// `Box<T>` is the same as `T`.
///
/// ```
/// use deltasoap::{Message, Nillable, Soap};
/// use deltasoap::engine::decode::from_slice;
///
/// #[derive(Debug, PartialEq, Soap)]
/// #[soap(namespace = "urn:shop", qualified, rename_all = "camelCase", element = "order")]
/// struct Order {
///     #[soap(attribute)]
///     id: u32,
///     ship_to: String,
///     #[soap(name = "note")]
///     remark: Option<Nillable<String>>,
///     #[soap(name = "item")]
///     items: Vec<Item>,
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// #[soap(namespace = "urn:shop", qualified)]
/// struct Item {
///     sku: String,
///     #[soap(default = 1)]
///     quantity: u16,
/// }
///
/// let xml = br#"<order xmlns="urn:shop" id="7">
///     <shipTo>Bergen</shipTo>
///     <item><sku>A1</sku></item>
///     <item><sku>B2</sku><quantity>3</quantity></item>
/// </order>"#;
/// let order: Order = from_slice(xml, &Order::ELEMENT)?;
/// assert_eq!((order.id, &*order.ship_to, order.remark), (7, "Bergen", None));
/// assert_eq!(order.items[0], Item { sku: "A1".to_owned(), quantity: 1 });
/// assert_eq!(order.items[1].quantity, 3);
/// # Ok::<(), deltasoap::Error>(())
/// ```
///
/// # Choices, enumerations, unions, simple content
///
/// ```
/// use deltasoap::Soap;
/// use deltasoap::engine::decode::from_slice;
/// use deltasoap::schema::QName;
///
/// #[derive(Debug, PartialEq, Soap)]
/// struct Payment {
///     amount: Amount,
///     /// The card or the cash stands directly in the payment.
///     #[soap(inline)]
///     means: Means,
/// }
///
/// /// A number with an attribute.
/// #[derive(Debug, PartialEq, Soap)]
/// struct Amount {
///     #[soap(attribute)]
///     currency: Currency,
///     #[soap(text)]
///     value: Value,
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// #[soap(rename_all = "UPPERCASE")]
/// enum Currency {
///     Nok,
///     Eur,
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// #[soap(union)]
/// enum Value {
///     Number(i64),
///     Words(String),
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// #[soap(rename_all = "lowercase")]
/// enum Means {
///     Card(CardNumber),
///     /// An empty element.
///     Cash,
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// struct CardNumber(String);
///
/// let name = QName::new("", "payment");
/// let xml = br#"<payment><amount currency="EUR">12</amount><card>4711</card></payment>"#;
/// let payment: Payment = from_slice(xml, &name)?;
/// assert_eq!(payment.amount, Amount { currency: Currency::Eur, value: Value::Number(12) });
/// assert_eq!(payment.means, Means::Card(CardNumber("4711".to_owned())));
///
/// let xml = br#"<payment><amount currency="NOK">a lot</amount><cash/></payment>"#;
/// assert_eq!(from_slice::<Payment>(xml, &name)?.means, Means::Cash);
/// # Ok::<(), deltasoap::Error>(())
/// ```
///
/// # Derived types
///
/// ```
/// use deltasoap::Soap;
/// use deltasoap::types::Node;
///
/// #[derive(Debug, PartialEq, Soap)]
/// #[soap(message)]
/// struct Drawing {
///     shape: Vec<Shape>,
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// #[soap(derived)]
/// enum Shape {
///     Circle(Circle),
///     Square(Square),
///     #[soap(other)]
///     Other(Node),
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// struct Circle {
///     radius: f64,
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// struct Square {
///     side: f64,
/// }
///
/// let xml = br#"<Drawing xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
///     <shape xsi:type="Square"><side>2</side></shape>
///     <shape xsi:type="Star"><points>5</points></shape>
/// </Drawing>"#;
/// let drawing: Drawing = deltasoap::engine::decode::from_slice(xml, &deltasoap::schema::QName::new("", "Drawing"))?;
/// assert_eq!(drawing.shape[0], Shape::Square(Square { side: 2.0 }));
/// assert!(matches!(&drawing.shape[1], Shape::Other(star) if star.element("", "points").is_some()));
/// # Ok::<(), deltasoap::Error>(())
/// ```
///
/// # Attributes of a type
///
/// `#[soap(...)]` of a type has these. In parentheses, the types that may have them:
///
/// - `name = "..."` (all): the XSD type's name; by default the Rust name (for `transparent`
///   structs, the name of the field's type)
/// - `namespace = "..."` (all): the namespace of the type and of its message element; by default
///   none
/// - `qualified` (structs, choices): child elements are in the namespace too; by default they are
///   in no namespace
/// - `rename_all = "..."` (structs, choices, enumerations): converts Rust names to XML names:
///   `camelCase`, `PascalCase`, `lowercase`, `UPPERCASE`, `snake_case`, `SCREAMING_SNAKE_CASE`,
///   `kebab-case`, `SCREAMING-KEBAB-CASE`, `Train-Case`; by default unchanged
/// - `all` (structs): child elements come in any order, as in SOAP encoding; by default in the
///   order of the fields
/// - `open` (structs): other child elements may come anywhere and are ignored (`xsd:any`)
/// - `nillable` (structs): all fields that are an `Option` are `nillable` (below)
/// - `choice` (enums of unit variants): a choice of empty elements, not an enumeration
/// - `union` (enums): a union of simple types
/// - `derived` (enums): a type and the types derived from it: the element's `xsi:type` selects one
/// - `transparent` (tuple structs): the type is its field's type, of any kind, under its own `name`
///   if it has one: for an `element` of a type that other elements have too, and for a type that
///   restricts another
/// - `element = "..."` (structs, choices): the type has an element of this name: implements
///   `Message`; `element = ""`, on a struct without fields, is a message whose body is empty; with
///   `group`, a message whose fields are the elements in its body: no field is a list, and the
///   first is not an `Option`
/// - `message` (structs, choices): same as `element` with the type's name
/// - `response = Type` (messages): the response to this request: implements `RequestMessage`, so
///   that a client's `call` returns it
/// - `item_name = "..."` (all): the name of items of this type in SOAP arrays; by default `item`
/// - `compact` (all): compiles small: see [Compile time](#compile-time)
/// - `crate = "..."` (all): the path of the runtime; by default `::deltasoap::engine`
///
/// # Attributes of a field or variant
///
/// In parentheses, the fields or variants that may have them:
///
/// - `name = "..."` (fields, variants): the name in XML, or an enumerated value's text
/// - `namespace = "..."` (fields, variants of choices): its namespace
/// - `qualified`, `unqualified` (fields, variants of choices): in the type's namespace, or in no
///   namespace
/// - `attribute` (fields): an XML attribute: `T`, or `Option<T>` if it is optional; `T` is a simple
///   type or `QName`
/// - `text` (fields): the element's text: a simple type, `QName` or `Binary`; all other fields must
///   then be attributes
/// - `inline` (fields, variants of choices): the elements of a choice, or of a repeated group
///   (below), are here without an element around them; a `Node` is any element that no other field
///   takes (`xsd:any`); `namespace` gives the allowed namespaces in the notation of `xsd:any`, with
///   the type's own namespace after `##other`
/// - `group` (fields, variants of choices marked `group`): the elements of a choice between groups,
///   or of one of its branches (below)
/// - `min = N`, `max = N` (fields and variants that are a `Vec`): minimum number of occurrences, by
///   default 0, and maximum, by default unlimited; in `all` structs only whether the element is
///   required matters
/// - `nillable` (fields that are an `Option`): the element may be `xsi:nil`, which is the same as
///   absent: the rule of SOAP encoding (SOAP 1.1, section 5.1); written as absent
/// - `again` (fields): the element of an earlier field may come again here
/// - `base` (variants of `derived`): the type of elements without `xsi:type`; without such a
///   variant the type is abstract
/// - `other` (variants of `derived`): elements of all other types, as a `Node`
/// - `other` (one variant of an enumeration, which holds a `String`): all other texts: they are
///   kept as they are, and are no error
/// - `default`, `default = expression` (fields): the value if the element or attribute is absent:
///   an expression of the field's type
/// - `default_text = "..."` (fields and variants of simple types and of structs with a `text`;
///   `transparent` structs): the text of an empty element or an absent attribute: `default` and
///   `fixed` of XSD
///
/// # Choices between groups
///
/// If a branch of a choice has several elements, the enum is marked `group`, and so is a struct
/// with the elements of such a branch. Their elements are part of the type around them, in order.
/// It is an error if a message has elements of two branches, of no branch, or only some of the
/// required elements of a branch. Such types have no type parameters, and are decoded again as a
/// whole where a message differs from the previous one.
///
/// ```
/// use deltasoap::Soap;
/// use deltasoap::engine::decode::from_slice;
/// use deltasoap::schema::QName;
///
/// #[derive(Debug, PartialEq, Soap)]
/// struct Answer {
///     id: u32,
///     #[soap(group)]
///     outcome: Outcome,
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// #[soap(group, rename_all = "camelCase")]
/// enum Outcome {
///     #[soap(group)]
///     Good(Good),
///     Error(String),
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// #[soap(group)]
/// struct Good {
///     value: f64,
///     unit: Option<String>,
/// }
///
/// let xml = b"<r><id>7</id><value>0.5</value><unit>m</unit></r>";
/// let answer: Answer = from_slice(xml, &QName::new("", "r"))?;
/// assert_eq!(answer.outcome, Outcome::Good(Good { value: 0.5, unit: Some("m".to_owned()) }));
/// let both = b"<r><id>7</id><value>0.5</value><error>no</error></r>";
/// assert!(from_slice::<Answer>(both, &QName::new("", "r")).is_err());
/// # Ok::<(), deltasoap::Error>(())
/// ```
///
/// # Repeated groups
///
/// A `Vec` of groups is `inline`: each occurrence is a whole group, with the elements of all fields
/// of a struct, or of one branch of a choice. It ends with the first element that cannot come next
/// in it. So the name of an element must determine its field, in the group and after it, and a
/// group has no trees (`Node`) among its fields.
///
/// ```
/// use deltasoap::Soap;
/// use deltasoap::engine::decode::from_slice;
/// use deltasoap::schema::QName;
///
/// #[derive(Debug, PartialEq, Soap)]
/// struct Measurements {
///     #[soap(inline)]
///     of: Vec<Measured>,
/// }
///
/// #[derive(Debug, PartialEq, Soap)]
/// #[soap(group)]
/// struct Measured {
///     value: f64,
///     unit: Option<String>,
/// }
///
/// let xml = b"<r><value>1</value><value>0.5</value><unit>m</unit></r>";
/// let measurements: Measurements = from_slice(xml, &QName::new("", "r"))?;
/// assert_eq!(measurements.of.len(), 2);
/// assert!(from_slice::<Measurements>(b"<r><unit>m</unit></r>", &QName::new("", "r")).is_err());
/// # Ok::<(), deltasoap::Error>(())
/// ```
///
/// # Speed
///
/// Items of a `Vec` or a `SoapArray` are read and written at full speed if their type is *flat*: a
/// struct of required simple elements, or of structs that are flat themselves, in sequence, without
/// attributes, defaults, `all` or `open`.
///
/// # Compile time
///
/// The routines are compiled separately for each type. If there are many types, as for a large
/// WSDL, `compact` makes them share one copy, which looks up fields at run time: a type then costs
/// a fraction of the compile time and of the code size. It reads and writes the same messages.
/// Lists of compact types are read and written item by item, not as flat items; lists of numbers in
/// them are not affected. `compact` has no effect on tuple structs, unions and `derived` enums. A
/// compact enumeration is `Copy` (`Clone`, if it has a variant for other texts), and its variants
/// have no explicit discriminants.
///
/// # Limits
///
/// A type can have type parameters if it is a struct with named fields or a choice; each parameter
/// gets the bound `Typed`. Lifetime parameters are refused: values own their data. A variant with a
/// `Vec` is read as a whole in a choice with its own element, but item by item if the choice is
/// inline.
#[proc_macro_derive(Soap, attributes(soap))]
pub fn derive_soap(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Derives the traits of an enum of an operation's faults: conversions from and to `Fault`,
/// `Display`, `Error`, and `IntoFault`, by which WSDLs made from code declare them. Each variant
/// holds the `TypedFault` of a detail entry of its own; the last one is for all other faults.
/// `deltasoap::Faults` has an example.
#[proc_macro_derive(Faults)]
pub fn derive_faults(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    faults::expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let target = Target::parse(input)?;
    match &input.data {
        Data::Struct(data) => match &data.fields {
            fields @ Fields::Unnamed(_) => newtype::expand(&target, fields),
            fields => structs::expand(&target, fields),
        },
        Data::Enum(data) => expand_enum(&target, data),
        Data::Union(_) => Err(Error::new_spanned(&input.ident, "a Rust union has no schema; use an enum")),
    }
}

fn expand_enum(target: &Target, data: &DataEnum) -> Result<TokenStream> {
    let variants = data.variants.iter();
    let container = &target.container;
    let is_enumeration = enumeration::is_one(data)?;
    if data.variants.is_empty() {
        Err(Error::new_spanned(&target.ident, "an enum without variants has no values"))
    } else if container.has(Flag::Union) {
        union::expand(target, variants)
    } else if container.has(Flag::Derived) {
        derived::expand(target, variants)
    } else if container.has(Flag::Group) {
        group::expand(target, variants)
    } else if is_enumeration && !container.has(Flag::Choice) {
        enumeration::expand(target, variants)
    } else {
        choice::expand(target, variants)
    }
}
