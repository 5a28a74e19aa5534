//! `#[derive(Soap)]`: gives a Rust type its schema and its typed decode and encode.
//!
//! What the macro emits is data (a `static` description of the type) and thin calls into the
//! routines of `deltasoap-core`, which do all the work. It never looks at the name of a field's
//! type: how often an element occurs is what the type's `Occurs` implementation says.
//!
//! Each kind of type has its module: `structs`, `choice`, `enumeration`, `union`, `derived`,
//! `newtype`. The implementations that structs and choices share are in `complex`, those that all
//! have in `target`.

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

/// Derives a type's schema, and how it is read from and written to XML.
///
/// | Rust type | XSD type |
/// |---|---|
/// | struct with named fields, or none | complex type |
/// | struct with a `text` field | complex type with simple content |
/// | tuple struct with one field | simple type that restricts the field's |
/// | enum of unit variants | enumeration |
/// | enum with values | complex type that is a choice |
/// | enum marked `union` | union of simple types |
/// | enum marked `derived` | a complex type or one of those derived from it |
/// | tuple struct marked `transparent` | the type of its field |
///
/// # Elements
///
/// A field is a child element of its name. The field's type says how often it occurs: `T` once,
/// `Option<T>` at most once, `Vec<T>` any number of times; `Nillable<T>` may be `xsi:nil`, and
/// `Option<Nillable<T>>` tells absent, nil and empty apart. `SoapArray<T>` is an element that holds
/// a SOAP array, `Box<T>` is `T`.
///
/// ```
/// use deltasoap::{Message, Nillable, Soap, decode::from_slice};
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
/// use deltasoap::{QName, Soap, decode::from_slice};
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
/// use deltasoap::{Node, Soap};
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
/// let drawing: Drawing = deltasoap::decode::from_slice(xml, &deltasoap::QName::new("", "Drawing"))?;
/// assert_eq!(drawing.shape[0], Shape::Square(Square { side: 2.0 }));
/// assert!(matches!(&drawing.shape[1], Shape::Other(star) if star.element("", "points").is_some()));
/// # Ok::<(), deltasoap::Error>(())
/// ```
///
/// # Attributes of a type
///
/// | `#[soap(...)]` | on | meaning |
/// |---|---|---|
/// | `name = "..."` | all | the XSD type's name; by default the Rust name (of `transparent` structs, that of the field's type) |
/// | `namespace = "..."` | all | the namespace of the type and of its message element; by default none |
/// | `qualified` | structs, choices | child elements are in the namespace too; by default they are in none |
/// | `rename_all = "..."` | structs, choices, enumerations | how names are made from Rust names: `camelCase`, `PascalCase`, `lowercase`, `UPPERCASE`, `snake_case`, `SCREAMING_SNAKE_CASE`, `kebab-case`, `SCREAMING-KEBAB-CASE`, `Train-Case`; by default as they are |
/// | `all` | structs | child elements come in any order, as in SOAP encoding; by default in that of the fields |
/// | `open` | structs | other child elements may come anywhere and are passed over (`xsd:any`) |
/// | `choice` | enums of unit variants | a choice of empty elements, not an enumeration |
/// | `union` | enums | a union of simple types |
/// | `derived` | enums | a type and those derived from it: the element's `xsi:type` tells which |
/// | `transparent` | tuple structs | the type is its field's, whatever that is, under its own `name` if it is given one: for an `element` of a type that others have too, and for a type that restricts another |
/// | `element = "..."` | structs, choices | the type has an element of this name: implements `Message`; `element = ""`, on a struct without fields, is a message whose body is empty; with `group`, one whose fields are the elements in its body: no lists, and the first no `Option` |
/// | `message` | structs, choices | as `element` with the type's name |
/// | `item_name = "..."` | all | the name of items of this type in SOAP arrays; by default `item` |
/// | `compact` | all | compiles small: see [Compile time](#compile-time) |
/// | `crate = "..."` | all | the path of the runtime; by default `::deltasoap` |
///
/// # Attributes of a field or variant
///
/// | `#[soap(...)]` | on | meaning |
/// |---|---|---|
/// | `name = "..."` | fields, variants | the name in XML, or an enumerated value's text |
/// | `namespace = "..."` | fields, variants of choices | its namespace |
/// | `qualified`, `unqualified` | fields, variants of choices | in the type's namespace, or in none |
/// | `attribute` | fields | an XML attribute: `T`, or `Option<T>` where it need not be there; `T` is a simple type, or `QName` |
/// | `text` | fields | the element's text, of a simple type, `QName` or `Binary`; all other fields are attributes then |
/// | `inline` | fields, variants of choices | the elements of a choice, or of a group that is repeated (below), stand here without an element around them; a `Node` is any element that no other field is (`xsd:any`); `namespace` says of which namespaces, as that of `xsd:any`, with the type's own written after `##other` |
/// | `group` | fields, variants of choices marked `group` | the elements of a choice between groups, or of one of its branches (below) |
/// | `min = N`, `max = N` | fields and variants that are a `Vec` | how often the element occurs at least, by default 0, and at most, by default any number; in `all` structs only whether it must be there counts |
/// | `again` | fields | the element of a field further up may come once more here |
/// | `base` | variants of `derived` | the type of elements without `xsi:type`; without such a variant the type is abstract |
/// | `other` | variants of `derived` | elements of all other types, as a `Node` |
/// | `default`, `default = expression` | fields | the value where the element or attribute is not there: an expression of the field's type |
/// | `default_text = "..."` | fields and variants of simple types and of structs with a `text`; `transparent` structs | the text that an element stands for where it is empty, or an attribute where it is absent: `default` and `fixed` of XSD |
///
/// # Choices between groups
///
/// Where a branch of a choice has several elements, the enum is marked `group`, and so is a struct
/// that holds such a branch. Their elements stand in the type around them, in order. Messages with
/// elements of two branches, without any, or with half of a branch are errors. Such types have no
/// type parameters, and are read again as a whole where a message differs from the one before.
///
/// ```
/// use deltasoap::{QName, Soap, decode::from_slice};
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
/// # Groups that are repeated
///
/// A `Vec` of groups is `inline`: each occurrence is a group, whole, with the elements of all
/// fields of a struct, or of one branch of a choice. It ends with the first element that cannot
/// come next in it. So the name of an element must tell which field it is, in the group and after
/// it, and a group has no trees (`Node`) among its fields.
///
/// ```
/// use deltasoap::{QName, Soap, decode::from_slice};
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
/// The routines are compiled for each type anew. Where types are many, as those of a large
/// description are, `compact` makes them share one copy, which finds fields at run time: a type
/// costs a fraction of the compile time and of the code. What it reads and writes is the same.
/// Lists of compact types are read and written item by item, not as flat items; lists of numbers in
/// them are not concerned. On tuple structs, unions and `derived` enums it changes nothing. A
/// compact enumeration is `Copy`, and its values have no numbers.
///
/// # Limits
///
/// A type can have type parameters if it is a struct with named fields or a choice; each of them
/// gets the bound `Typed`. Lifetime parameters are refused: values own their data. A variant with a
/// `Vec` is read whole in a choice with an element of its own, but item by item where the choice is
/// inline.
#[proc_macro_derive(Soap, attributes(soap))]
pub fn derive_soap(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Derives what makes an enum the faults of an operation: conversions from and to `Fault`,
/// `Display` and `Error`. A variant holds the `TypedFault` of a detail entry each; the last one is
/// for all other faults. `deltasoap::Faults` has an example.
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
    let is_enumeration = data.variants.iter().all(|variant| matches!(variant.fields, Fields::Unit));
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
