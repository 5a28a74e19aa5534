//! Tests of a service by its contract: requests at the edges of the schema, and checks on every
//! answer.
//!
//! [`Operation::cases`](crate::Operation::cases) makes the requests: valid ones, which must be
//! answered by the contract, and invalid ones, which must be refused. Each differs from a typical
//! request in one thing, and the validator of this crate confirms what it is (`cases`): the texts
//! at the edges of simple types (`texts`), the sequences of children at the edges of content models
//! (`words`), attributes, nil, derived types, the envelope, and other forms of the same XML
//! ([`Form`]). A seed determines them.
//!
//! A [`Tester`] sends them (`run`, `link`), puts every answer to the [checks](Check) (`answer`), and
//! makes requests that fail smaller as long as they fail in the same way (`shrink`).
//!
//! ```
//! use deltasoap_dynamic::testing::{Access, Settings, Tester};
//! use deltasoap_dynamic::{Contract, Mock};
//!
//! # const WSDL: &str = include_str!("../../tests/data/shop.wsdl");
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let contract = Contract::from_text(WSDL)?;
//! let service = Mock::new(contract.clone()).service()?;
//! let settings = Settings { max_cases: 20, ..Settings::default() };
//! let tester = Tester::new(service, Access::to("http://localhost/".parse()?), settings);
//! let report = tester.run(&[contract.operation("Catalogue")?], &|_| {}).await;
//! assert!(report.findings.is_empty());
//! # Ok(())
//! # }
//! ```

mod answer;
mod cases;
mod chance;
mod checks;
mod draft;
mod edits;
mod form;
mod kinds;
mod link;
mod report;
mod run;
mod same;
mod shrink;
mod spots;
mod texts;
mod words;

pub use answer::{Answer, Outcome};
pub use cases::{Case, Cases, Generation};
pub use checks::{Check, Checks, Severity};
pub use draft::{Damage, Draft};
pub use form::Form;
pub use kinds::{Aspect, Breach, Kind};
pub use link::{Access, http_headers};
pub use report::{Finding, Report, Stop, Tally, Tested};
pub use run::{Event, Settings, Tester};
