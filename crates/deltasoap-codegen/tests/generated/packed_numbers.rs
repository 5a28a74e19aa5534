//! Packed numbers according to a WSDL's annotation: inline and in parts.

use crate::packed::{
    Scale, ScaleResponse, Track,
    client::SeriesClient,
    server::{Series, SeriesServer},
};
use deltasoap::attachments::Mtom;
use deltasoap::client::CallOptions;
use deltasoap::lexical::Base64;
use deltasoap::schema::Use;
use deltasoap::types::Packed;
use deltasoap::{Binary, Client, Context, Fault, Lease};

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

struct Scaler;

impl Series for Scaler {
    async fn scale(&self, mut context: Context, request: Lease<Scale>) -> Result<ScaleResponse, Fault> {
        let attachments = context.attachments();
        let values = attachments.numbers(&request.values).await?;
        let values = values.iter().map(|value| value * request.factor).collect::<Vec<_>>();
        let mut total = 0;
        if let Some(counts) = &request.counts {
            total += attachments.numbers(counts).await?.iter().copied().map(i64::from).sum::<i64>();
        }
        for row in &request.row {
            total += attachments.numbers(row).await?.len() as i64;
        }
        if let Some(track) = &request.track {
            total += attachments.numbers(&track.value).await?.len() as i64;
        }
        Ok(ScaleResponse { values: values.into(), total })
    }
}

fn request(len: usize) -> Scale {
    Scale {
        factor: 2.0,
        values: (0..len).map(|n| n as f64).collect::<Vec<_>>().into(),
        few: Some(vec![0.5].into()),
        counts: Some(vec![1, 2, -1_000_000].into()),
        row: vec![vec![1.0, 2.0].into(), Packed::default(), vec![f64::MIN; len].into()],
        track: Some(Track { unit: Some("m".to_owned()), digest: Some(Base64(vec![1])), value: vec![0.25; len].into() }),
        plain: Some(Binary::from(vec![1, 2, 3])),
    }
}

#[tokio::test]
async fn numbers_are_sent_inline_and_in_parts() -> Result {
    for mtom in [Mtom::Off, Mtom::On] {
        let client = Client::with_service("http://localhost/", SeriesServer::new(Scaler))?;
        let client = SeriesClient::with_client(client).with_options(CallOptions::new().mtom(mtom)).whole();
        // Repeated, since encoding and decoding relative to the previous message must not change
        // the result.
        for len in [3, 3000, 3000, 5, 2999] {
            let mut response = client.scale(&request(len)).await?;
            let is_part = matches!(response.body.values, Packed::Part(_));
            assert_eq!(is_part, mtom == Mtom::On && len > 1000, "{len}");
            let expected = (0..len).map(|n| 2.0 * n as f64).collect::<Vec<_>>();
            assert_eq!(*response.attachments.numbers(&response.body.values).await?, expected);
            assert_eq!(response.body.total, 2 * len as i64 + 2 - 999_997);
        }
    }
    Ok(())
}

#[test]
fn messages_have_the_bytes_in_their_order() {
    let message = crate::body(
        "<Scale xmlns='urn:series'><factor>1</factor><values>AAAAAAAA8D8AAAAAAAAIwA==</values><counts>AAAAAQAAAAI=</counts></Scale>",
    );
    let scale = crate::round_trip::<Scale>(&message, Use::Literal);
    assert_eq!(scale.values.values(), Some(&[1.0, -3.0][..]));
    assert_eq!(scale.counts.and_then(Packed::into_values), Some(vec![1, 2]));
}

/// A part whose length is not a multiple of a double's is the sender's fault.
#[tokio::test]
async fn parts_that_are_cut_are_refused() -> Result {
    let client = Client::with_service("http://localhost/", SeriesServer::new(Scaler))?;
    let part = deltasoap::attachments::Part::new("cut@x", "application/octet-stream", vec![0; 4001]);
    let scale = Scale { values: Packed::part("cut@x"), ..request(3) };
    let options = CallOptions::new().mtom(Mtom::On).part(part);
    let error = client.call_as_with::<ScaleResponse>(&scale, options).await.expect_err("no whole number").to_string();
    assert!(error.contains("\"cid:cut@x\"") && error.contains("not a multiple of 8, the size of a double"), "{error}");
    Ok(())
}
