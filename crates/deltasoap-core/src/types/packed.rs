//! Arrays of numbers as the base64 of their bytes, which may be in a separate part: [`Packed`].

use super::binary::{Binary, PartUri, write_include};
use crate::Lexical;
use crate::content::{Content, Shortcuts, Typed};
use crate::decode::simple::{Target, decode_binary};
use crate::decode::{Cursor, OpenText, Step};
use crate::encode::Encoder;
use crate::encode::complex::Text;
use crate::schema::{Builtin, Element, EnumerationValues, Packing, QName, SimpleElement, View};
use deltasoap_xml::lexical::{ByteOrder, LexicalError, LittleEndian, PackedNumber, PackedText};

/// Numbers in one element, as the base64 of their bytes (`xsd:base64Binary`): in the message, or
/// with MTOM in a separate part.
///
/// The numbers are [`i16`], [`i32`], [`i64`], [`u16`], [`u32`], [`u64`], [`f32`] or [`f64`] (IEEE
/// 754), one after the other. Their bytes are in little-endian order, or with
/// [`BigEndian`](crate::lexical::BigEndian) in the order of XDR. Numbers are exact, including
/// not-a-number, and nothing is converted to decimal text. A message does not identify the type and
/// the byte order: both sides must agree on them, for instance by an annotation in the WSDL
/// (`docs/packed.md`).
///
/// As with [`Binary`], the sender chooses whether the bytes are in a part, and a message is decoded
/// without its parts. When a message is written with MTOM, values of enough bytes become parts.
/// [`lexical::PackedText`](PackedText) is text only, for lists and attributes.
///
/// ```
/// use deltasoap_core::Packed;
/// use deltasoap_core::lexical::BigEndian;
///
/// let packed: Packed<f64> = vec![1.0, -0.5].into();
/// assert_eq!(packed.values(), Some(&[1.0, -0.5][..]));
/// // 16 bytes, in the order of XDR:
/// let bytes = [0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0xBF, 0xE0, 0, 0, 0, 0, 0, 0];
/// let read = Packed::<f64, BigEndian>::from_bytes(&bytes)?;
/// assert_eq!(read.into_values(), Some(vec![1.0, -0.5]));
/// # Ok::<(), deltasoap_core::lexical::LexicalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Packed<T: PackedNumber, O: ByteOrder = LittleEndian> {
    /// Numbers inside the message, or numbers to be sent with it.
    Values(PackedText<T, O>),
    /// Numbers whose bytes are in another part.
    Part(PartUri),
}

impl<T: PackedNumber, O: ByteOrder> Packed<T, O> {
    /// Creates a reference to the part with this content ID, which has no angle brackets.
    pub fn part(content_id: &str) -> Self {
        Packed::Part(PartUri::from_content_id(content_id))
    }

    /// Converts bytes, such as those of a part, to numbers.
    ///
    /// # Errors
    /// Returns an error if the length is not a multiple of the size of a number.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LexicalError> {
        PackedText::from_bytes(bytes).map(Packed::Values)
    }

    /// Returns the numbers if they are inside the message.
    pub fn values(&self) -> Option<&[T]> {
        match self {
            Packed::Values(text) => Some(&text.values),
            Packed::Part(_) => None,
        }
    }

    /// Converts into the numbers, without a copy, if they are inside the message.
    pub fn into_values(self) -> Option<Vec<T>> {
        match self {
            Packed::Values(text) => Some(text.values),
            Packed::Part(_) => None,
        }
    }

    /// Returns the numbers mutably; those of a part are replaced by an empty list.
    fn text_mut(&mut self) -> &mut PackedText<T, O> {
        if let Packed::Part(_) = self {
            *self = Packed::default();
        }
        match self {
            Packed::Values(text) => text,
            Packed::Part(_) => unreachable!("just replaced"),
        }
    }
}

impl<T: PackedNumber, O: ByteOrder> Default for Packed<T, O> {
    fn default() -> Self {
        Packed::Values(Vec::new().into())
    }
}

impl<T: PackedNumber, O: ByteOrder> From<Vec<T>> for Packed<T, O> {
    fn from(values: Vec<T>) -> Self {
        Packed::Values(values.into())
    }
}

impl<T: PackedNumber, O: ByteOrder> Content for Packed<T, O> {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        Packed::default()
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        decode_binary(self, cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        match self {
            Packed::Values(_) => {
                encoder.type_attribute(view.element.type_name());
                self.encode_text(encoder);
            }
            Packed::Part(uri) => Binary::Part(uri.clone()).encode(encoder, view),
        }
    }
}

impl<T: PackedNumber, O: ByteOrder> Shortcuts for Packed<T, O> {}

impl<T: PackedNumber, O: ByteOrder> Text for Packed<T, O> {
    fn encode_text(&self, encoder: &mut Encoder) {
        match self {
            Packed::Values(text) if encoder.wants_part(text.byte_len()) => {
                Binary::from(text.to_bytes()).encode_text(encoder);
            }
            Packed::Values(text) => encoder.leaf(text),
            Packed::Part(uri) => write_include(encoder, uri),
        }
    }
}

impl<T: PackedNumber, O: ByteOrder> Typed for Packed<T, O> {
    const TYPE_NAME: QName = Builtin::Base64Binary.name();

    fn element() -> &'static Element {
        static ELEMENTS: [[Element; 8]; 2] = [elements(false), elements(true)];
        &ELEMENTS[usize::from(O::IS_BIG_ENDIAN)][T::NUMBER]
    }
}

/// Returns the descriptions of all types of numbers, by their type number.
const fn elements(is_big_endian: bool) -> [Element; 8] {
    [
        element(Builtin::Short, is_big_endian),
        element(Builtin::UnsignedShort, is_big_endian),
        element(Builtin::Int, is_big_endian),
        element(Builtin::UnsignedInt, is_big_endian),
        element(Builtin::Long, is_big_endian),
        element(Builtin::UnsignedLong, is_big_endian),
        element(Builtin::Float, is_big_endian),
        element(Builtin::Double, is_big_endian),
    ]
}

const fn element(items: Builtin, is_big_endian: bool) -> Element {
    Element::Simple(SimpleElement {
        name: Builtin::Base64Binary.name(),
        base: Builtin::Base64Binary,
        enumeration: EnumerationValues::ANY,
        default: None,
        packed: Some(Packing { items, is_big_endian }),
    })
}

/// Numbers read so far are in the value, so that a checkpoint can be in the middle of a long text.
impl<T: PackedNumber, O: ByteOrder> Target for Packed<T, O> {
    const STREAMED: bool = true;
    const REFERS: bool = true;

    #[inline(always)]
    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
        self.text_mut().scan_into(bytes)
    }

    fn parse_into(&mut self, text: &str) -> Result<(), LexicalError> {
        *self.text_mut() = PackedText::parse(text)?;
        Ok(())
    }

    fn vacate(&mut self, _: &mut OpenText) {
        self.text_mut().clear();
    }

    fn append(&mut self, piece: &str, text: &mut OpenText) -> Result<(), LexicalError> {
        self.text_mut().append(piece, &mut text.partial)
    }

    fn finish(&mut self, text: &mut OpenText) -> Result<(), LexicalError> {
        self.text_mut().finish(&mut text.partial)
    }

    fn refer(&mut self, uri: PartUri) {
        *self = Packed::Part(uri);
    }

    fn progress(&self) -> usize {
        self.values().map_or(0, <[T]>::len)
    }

    fn keep(&mut self, progress: usize) {
        self.text_mut().keep(progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{ElementRoot, from_slice};
    use crate::lexical::BigEndian;
    use crate::{DecodeOptions, Error, decode::Decoder};
    use deltasoap_xml::lexical::Lexical;

    fn read(text: &str) -> Result<Packed<f64>, Error> {
        let whole = from_slice::<Packed<f64>>(text.as_bytes(), &QName::new("", "a"));
        let mut decoder = Decoder::new(DecodeOptions::default());
        let mut root = ElementRoot::<Packed<f64>>::new(Packed::<f64>::view());
        let pushed = text.as_bytes().chunks(1).try_for_each(|byte| decoder.push(&mut root, byte));
        let in_bytes = pushed.and_then(|()| decoder.finish(&mut root)).map(|()| root.value);
        assert_eq!(whole, in_bytes, "{text}");
        whole
    }

    #[test]
    fn text_and_references_in_all_spellings() {
        let numbers = Ok(Packed::from(vec![1.0, -3.0]));
        assert_eq!(read("<a/>"), Ok(Packed::default()));
        assert_eq!(read("<a>AAAAAAAA8D8AAAAAAAAIwA==</a>"), numbers);
        assert_eq!(read("<a xmlns:m='urn:m' m:contentType='x/y'>AAAAAAAA8D8A\nAAAAAAAI&#x77;A==</a>"), numbers);
        assert_eq!(read("<a> AAAAAAAA8D8<!-- -->AAAAAA<![CDATA[AAI]]>wA&#x3D;=</a>"), numbers);
        let include = "<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:a%20b@c'";
        assert_eq!(read(&format!("<a>\n {include}><n/></x:Include>\n</a>")), Ok(Packed::part("a b@c")));
        assert_eq!(read("<a href=' cid:a%20b@c '/>"), Ok(Packed::part("a b@c")));
    }

    /// Errors report the position and the cause.
    #[test]
    fn what_is_neither_is_refused() {
        let include = "<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:x'/>";
        for (wrong, reason) in [
            ("<a>AAAA</a>", "the bytes are not a multiple of 8, the size of a double"),
            ("<a>AAAAAAAA8D8</a>", "not a multiple of four characters"),
            ("<a>1.0</a>", "not a multiple of four characters"),
            ("<a>1.05</a>", "not base64"),
            ("<a><b/></a>", "text, or one xop:Include"),
            ("<a href='#id'/>", "#id"),
            ("<a href='cid:x'>AAAA</a>", "character data"),
            (&format!("<a>AAAAAAAA8D8={include}</a>"), "text, or one xop:Include"),
            (&format!("<a>A{include}</a>"), "text, or one xop:Include"),
            (&format!("<a>{include}{include}</a>"), "text, or one xop:Include"),
        ] {
            let error = read(wrong).expect_err(wrong);
            assert!(error.to_string().contains(reason), "{wrong}: {error}");
            assert!(error.path().starts_with("/a"), "{wrong}: {}", error.path());
        }
    }

    #[test]
    fn each_type_has_its_own_description() {
        macro_rules! check {
            ($($type:ident),*) => {$(
                for (element, is_big_endian) in
                    [(Packed::<$type>::element(), false), (Packed::<$type, BigEndian>::element(), true)]
                {
                    let Element::Simple(simple) = element else { panic!("{element:?}") };
                    let items = Builtin::from_local(<$type as Lexical>::XSD_NAME).expect("a type");
                    assert_eq!(simple.packed, Packing::new(items, is_big_endian));
                    assert_eq!(simple.packed.map(Packing::size), Some(<$type as PackedNumber>::SIZE));
                }
            )*};
        }
        check!(i16, u16, i32, u32, i64, u64, f32, f64);
        assert_eq!(Packing::new(Builtin::Byte, false), None);
    }
}
