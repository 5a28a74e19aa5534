//! SOAP messages as [Arrow](https://arrow.apache.org) record batches.
//!
//! A [`MessageSchema`] is the Arrow schema of one element's content, such as the request of an
//! operation. Its [builder](MessageSchema::builder) appends decoded values, one row a message; a
//! [`Flattener`] turns the rows into plain tables, one for each repeated element.
//!
//! Columns have the names of the properties in the [JSON](deltasoap_dynamic::json) of a message.
//! Only the schema determines the columns, never a message, so that the files of years fit together:
//!
//! | content | column |
//! |---|---|
//! | a complex type | a struct; its attributes are `@name`, its text beside them is `$` |
//! | an element that can occur more than once, a SOAP array | a list |
//! | an element that is absent or nil | null |
//! | a choice | a null for each branch that is absent, among the other columns |
//! | a choice that can occur more than once | a list `$choice` of structs with a column for each branch |
//! | an empty type | a boolean: true where the element is there |
//! | attributes that only `xs:anyAttribute` allows | a map `@*` of their names and texts |
//! | boolean, float, double, integers of up to 64 bits | the same |
//! | other integers | `Decimal128(38, 0)` |
//! | a decimal whose facets bound its digits, both in all and after the point, to at most 38 | `Decimal128` of these bounds |
//! | any other decimal | text, with all its digits |
//! | `xsd:dateTime` | a timestamp in microseconds and UTC; a moment without a zone counts as UTC |
//! | `xsd:date` | `Date32`; its zone is left out |
//! | base64, hexadecimal | binary |
//! | packed numbers | a list of them |
//! | other simple types, unions, lists, and types with a pattern | text as in the message |
//! | content whose type the message can choose | a struct: the columns of the declared type, the name of the chosen one in `$type`, the text of a simple value in `$`, and in `$json` what these do not hold |
//! | `xsd:any`, `xsd:anyType`, values that several places share | JSON text |
//! | a type within itself, and what would take more than 2048 columns | JSON text from there |
//!
//! A column never holds another value than the message: one that does not fit, such as an integer
//! of 50 digits, is an [error](AppendError), and the message adds no row. What is left out is
//! named above; attributes beside nil are left out as well.
//!
//! ```
//! use deltasoap_arrow::{MessageSchema, NoParts};
//! use deltasoap_dynamic::Contract;
//! use serde_json::json;
//!
//! # const WSDL: &str = include_str!("../tests/data/shop.wsdl");
//! let contract = Contract::from_text(WSDL)?;
//! let order = contract.operation("Order")?;
//! let (name, content) = order.request().expect("a request");
//! let mut builder = MessageSchema::of(&contract, name, content).builder();
//! let request = order.request_from_json(&json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] }))?;
//! builder.append(&request, &NoParts)?;
//! let batch = builder.finish()?;
//! assert_eq!((batch.num_rows(), batch.schema().field(1).name().as_str()), (1, "customer"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod buffers;
mod builder;
mod columns;
mod error;
mod flatten;
mod message;
mod moments;
mod shape;

pub use builder::{NoParts, Parts};
pub use columns::column_array;
pub use error::{AppendError, Misfit};
pub use flatten::{Flattener, TableSchema};
pub use message::{MessageBuilder, MessageSchema};
pub use moments::microseconds;
