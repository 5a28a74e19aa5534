//! Arrays that SOAP 1.1 can encode partially: partially transmitted arrays (section 5.4.2.1), which
//! omit the first items, and sparse arrays (section 5.4.2.2), whose items have positions. SOAP 1.2
//! has neither; there they are encoded in full.
//!
//! They are decoded like all arrays. The encoding is here and not in the engine, since it is never
//! required: it only tests what other toolkits decode.

use crate::{Case, Kind, Point};
use deltasoap::engine::content::Shortcuts;
use deltasoap::engine::decode::{Cursor, Step};
use deltasoap::engine::encode::Encoder;
use deltasoap::engine::{Content, Typed};
use deltasoap::schema::{Element, QName, View};
use deltasoap::soap::Version;
use deltasoap::{Nillable, Soap, SoapArray};

const ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";

/// Both kinds of arrays.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Sparse {
    pub numbers: Partial,
    pub points: Scattered,
}

/// Numbers, without the zeros at the beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct Partial(pub SoapArray<i32>);

/// Points, without those that are nil.
#[derive(Debug, Clone, PartialEq)]
pub struct Scattered(pub SoapArray<Nillable<Point>>);

impl Partial {
    fn encode_part(&self, encoder: &mut Encoder, view: View<'_>) {
        let omitted = self.0.iter().take_while(|number| **number == 0).count();
        begin(encoder, view, self.0.len());
        encoder.attribute(&QName::new(ENCODING, "offset"), &format!("[{omitted}]"));
        encoder.open_end();
        for number in &self.0[omitted..] {
            item(encoder, view, None, |encoder, view| number.encode(encoder, view));
        }
    }
}

impl Scattered {
    fn encode_part(&self, encoder: &mut Encoder, view: View<'_>) {
        begin(encoder, view, self.0.len());
        encoder.open_end();
        for (place, point) in self.0.iter().enumerate() {
            if let Nillable::Value(point) = point {
                item(encoder, view, Some(place), |encoder, view| point.encode(encoder, view));
            }
        }
    }
}

/// Writes the attributes that every array has.
fn begin(encoder: &mut Encoder, view: View<'_>, size: usize) {
    let Some(array) = view.array() else { return };
    encoder.type_attribute(Some(&array.name));
    let item_type = encoder.qname_text(&array.item_type);
    encoder.attribute(&QName::new(ENCODING, "arrayType"), &format!("{item_type}[{size}]"));
}

fn item(encoder: &mut Encoder, view: View<'_>, place: Option<usize>, content: impl FnOnce(&mut Encoder, View<'_>)) {
    let Some(array) = view.array() else { return };
    encoder.start(&array.item_name);
    if let Some(place) = place {
        encoder.attribute(&QName::new(ENCODING, "position"), &format!("[{place}]"));
    }
    content(encoder, view.follow(array.item));
    encoder.end();
}

/// Both are arrays that differ only in their encoding.
macro_rules! arrays {
    ($($name:ident of $array:ty),*) => {$(
        impl Content for $name {
            const REPLACES: bool = true;

            fn vacant(view: View<'_>) -> Self {
                $name(Content::vacant(view))
            }

            fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
                self.0.decode(cursor, view)
            }

            fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
                match encoder.version() {
                    Version::Soap11 => self.encode_part(encoder, view),
                    Version::Soap12 => self.0.encode(encoder, view),
                }
            }
        }

        impl Shortcuts for $name {}

        impl Typed for $name {
            const TYPE_NAME: QName = <$array>::TYPE_NAME;

            fn element() -> &'static Element {
                <$array>::element()
            }
        }
    )*};
}

arrays! { Partial of SoapArray<i32>, Scattered of SoapArray<Nillable<Point>> }

impl Kind for Sparse {
    const NAME: &'static str = "Sparse";
    const FEATURE: &'static str = "sparse";
    const CASES: &'static [Case<Self>] = &[
        ("a partially transmitted array", || sparse([0, 0, 0, 4, 5], [true; 4])),
        ("a sparse array", || sparse([1, 2, 3, 4, 5], [false, true, false, true])),
        ("both", || sparse([0, 2, 0, 4, 5], [true, false, false, true])),
    ];
}

fn sparse(numbers: [i32; 5], is_there: [bool; 4]) -> Sparse {
    let point = |(n, is_there)| if is_there { Nillable::Value(Point::nth(n)) } else { Nillable::Nil };
    let points = (0..).zip(is_there).map(point).collect::<Vec<_>>();
    Sparse { numbers: Partial(numbers.to_vec().into()), points: Scattered(points.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::schema::Use;
    use deltasoap::soap::Envelope;

    fn written(version: Version) -> String {
        let value = Sparse::case("both").expect("a case");
        let name = QName::new("urn:t", "echo");
        let envelope = Envelope::element(&name, &value, Sparse::view()).version(version).encoding(Use::Encoded);
        String::from_utf8(envelope.to_vec().expect("writable")).expect("UTF-8")
    }

    #[test]
    fn what_is_left_out_is_not_written() {
        let text = written(Version::Soap11);
        assert!(
            text.contains("int[5]") && text.contains("offset=\"[1]\"") && !text.contains("offset=\"[0]\""),
            "{text}"
        );
        assert!(text.contains("Point[4]") && text.matches("position=").count() == 2, "{text}");
        assert!(text.contains("position=\"[0]\"") && text.contains("position=\"[3]\""), "{text}");
    }

    #[test]
    fn soap_1_2_has_whole_arrays() {
        let text = written(Version::Soap12);
        assert!(!text.contains("offset=") && !text.contains("position=") && text.contains("arraySize=\"5\""), "{text}");
    }
}
