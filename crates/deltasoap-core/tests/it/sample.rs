//! Sample values of random schemas: they are written, and read back unchanged.

use crate::generate;
use deltasoap_core::Value;
use deltasoap_core::decode::{DecodeOptions, Decoder, ElementRoot};
use deltasoap_core::encode::Encoder;
use deltasoap_core::{Content, QName};
use deltasoap_test_support::Entropy;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_sample_is_read_again_as_it_is(entropy in prop::collection::vec(any::<u8>(), 0..400)) {
        let (schema, root) = generate::schema(&mut Entropy(&entropy));
        let view = schema.view(root);
        let sample = Value::sample(view).expect("a schema without recursion has samples");
        let mut encoder = Encoder::new();
        encoder.start(&QName::new("urn:t", "root"));
        sample.encode(&mut encoder, view);
        encoder.end();
        let document = encoder.finish().expect("a sample can be written");
        let mut read = ElementRoot::<Value>::new(view);
        let mut decoder = Decoder::new(DecodeOptions::default());
        decoder.push(&mut read, document.as_slice()).expect("a sample can be read");
        decoder.finish(&mut read).expect("a sample is whole");
        prop_assert_eq!(read.value, sample);
    }
}
