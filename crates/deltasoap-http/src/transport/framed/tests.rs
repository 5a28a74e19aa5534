//! Written frames are read back, however they are split; arbitrary bytes cause nothing but an
//! error.

use super::head::Head;
use super::reader::Reader;
use super::writer::Writer;
use crate::body::Body;
use crate::error::BoxError;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use http_body::Frame;
use http_body_util::StreamBody;
use proptest::prelude::*;
use std::future::poll_fn;
use tokio::io::AsyncRead;

/// Runs a future that waits for nothing external.
fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

fn pieces(pieces: Vec<Vec<u8>>) -> impl http_body::Body<Data = Bytes, Error = BoxError> {
    StreamBody::new(futures_util::stream::iter(pieces.into_iter().map(|piece| Ok(Frame::data(Bytes::from(piece))))))
}

/// Reads heads and bodies to the end, or to the first error.
async fn read_all<R: AsyncRead + Unpin>(mut reader: Reader<R>) -> Result<Vec<(Bytes, Vec<u8>)>, super::FramesError> {
    let mut read = Vec::new();
    while let Some(head) = reader.head().await? {
        let mut body = Vec::new();
        while let Some(data) = poll_fn(|context| reader.poll_data(context)).await? {
            body.extend_from_slice(&data);
        }
        read.push((head, body));
    }
    Ok(read)
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        exchanges in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20_000), 0..4), 1..4),
        chunk in 1_usize..30_000,
    ) {
        run(async move {
            let (near, far) = tokio::io::duplex(chunk);
            let bodies = exchanges.clone();
            let writing = async move {
                let mut writer = Writer::new(near);
                for (number, body) in bodies.into_iter().enumerate() {
                    writer.send(&[number as u8], pieces(body)).await.expect("sent");
                }
            };
            let ((), read) = tokio::join!(writing, read_all(Reader::new(far)));
            let expected = exchanges.iter().enumerate().map(|(number, body)| (Bytes::from(vec![number as u8]), body.concat()));
            assert!(read.expect("exchanges").into_iter().eq(expected));
        });
    }

    #[test]
    fn any_bytes_are_frames_or_an_error(
        frames in prop::collection::vec((prop::sample::select(b"HDEX?".to_vec()), 0_u32..20, 0_usize..20), 0..10),
    ) {
        let frames = frames.into_iter().flat_map(|(kind, len, given)| {
            [&[kind], &len.to_be_bytes()[..], &vec![7; given]].concat()
        });
        let bytes: Vec<u8> = frames.collect();
        // The reader terminates without a panic.
        let _ = run(read_all(Reader::new(&bytes[..])));
    }

    #[test]
    fn heads_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let bytes = Bytes::from(bytes);
        if let Ok((head, length)) = Head::<Uri>::read(bytes.clone()) {
            let again = Head::<Uri>::read(head.write(length).expect("a head").freeze()).expect("the head again");
            assert_eq!((again.0.start, again.1), (head.start, length));
        }
        let _ = Head::<StatusCode>::read(bytes);
    }
}

#[test]
fn fields_travel_but_those_of_the_connection() {
    let mut fields = HeaderMap::new();
    for (name, value) in [("soapaction", "\"a\""), ("x-two", "1"), ("connection", "close"), ("content-length", "9")] {
        fields.append(name, HeaderValue::from_static(value));
    }
    fields.append("x-two", HeaderValue::from_static("2"));
    let head = Head { start: StatusCode::OK, fields };
    let (read, length) = Head::<StatusCode>::read(head.write(Some(3)).expect("a head").freeze()).expect("a head");
    assert_eq!((read.start, length, read.fields.len()), (StatusCode::OK, Some(3), 4));
    assert!(read.fields.get_all("x-two").iter().eq(["1", "2"]));
    assert!(!read.fields.contains_key("connection") && read.fields["content-length"] == "3");
}

#[test]
fn heads_have_bounds() {
    let mut fields = HeaderMap::new();
    (0..101).for_each(|_| _ = fields.append("x", HeaderValue::from_static("")));
    let many = Head { start: StatusCode::OK, fields }.write(None).expect("a head");
    assert!(Head::<StatusCode>::read(many.freeze()).is_err());
    let mut fields = HeaderMap::new();
    (0..9).for_each(|_| _ = fields.append("x", HeaderValue::try_from("y".repeat(8 << 10)).expect("a value")));
    assert!(Head { start: StatusCode::OK, fields }.write(None).is_err());
}

#[test]
fn small_messages_are_one_write() {
    struct Counted(usize);
    impl tokio::io::AsyncWrite for Counted {
        fn poll_write(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            bytes: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            self.0 += 1;
            std::task::Poll::Ready(Ok(bytes.len()))
        }
        fn poll_flush(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }
        fn poll_shutdown(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }
    }
    let mut stream = Counted(0);
    run(Writer::new(&mut stream).send(b"head", Body::from("a body".to_owned()))).expect("sent");
    assert_eq!(stream.0, 1);
}
