use deltasoap::decode::Decoder;
use deltasoap::schema::Use;
use deltasoap::soap::*;
use deltasoap::*;
use deltasoap_streams::arrays;
use std::time::Instant;
#[derive(Debug, Clone, Soap)]
#[soap(namespace = "urn:bench", element = "s")]
struct D {
    item: Vec<f64>,
}
#[derive(Debug, Clone, Soap)]
#[soap(namespace = "urn:bench", element = "s")]
struct I {
    item: Vec<i32>,
}
#[derive(Debug, Clone, Soap)]
#[soap(namespace = "urn:bench", element = "s")]
struct M {
    item: Vec<Mio>,
}
#[derive(Debug, Clone, Soap)]
#[soap(namespace = "urn:bench")]
struct Mio {
    x: i32,
    y: i32,
    v: f64,
}
fn probe<T: Message>(name: &str, sent: &T, back: &T) {
    let mut template = Template::new(Templating::default());
    let _ = template.encode(Version::Soap11, Use::Literal, &[], sent).unwrap();
    let hint = template.hint();
    let message = encode_message(Version::Soap11, Use::Literal, &[], back, Buffer::new()).unwrap().into_vec();
    let copies: Vec<_> = (0..8).map(|_| message.clone()).collect();
    let mut decoder = Decoder::new(DecodeOptions { differential: Differential::OFF, ..Default::default() });
    let mut best = [u128::MAX; 2];
    let mut found = 0;
    for turn in 0..60 {
        let with = turn % 2;
        let before = decoder.stats().hinted_leaves;
        let mut reader = EnvelopeReader::new(RequestReceiver::<T>::default());
        let message = &copies[turn / 2 % 8];
        let start = Instant::now();
        decoder.set_hint(if with == 1 { hint.clone() } else { None });
        decoder.decode(&mut reader, message).unwrap();
        best[with] = best[with].min(start.elapsed().as_nanos());
        found = decoder.stats().hinted_leaves - before;
    }
    println!(
        "{name:24} without {:8} with {:8}  ratio {:.2} found {found}",
        best[0] / 1000,
        best[1] / 1000,
        best[0] as f64 / best[1] as f64
    );
}
fn main() {
    let n = 100_000;
    let hard = D { item: arrays::hard_doubles(n) };
    let easy = D { item: (0..n).map(|i| i as f64 / 8.0).collect() };
    let vain = D { item: hard.item.iter().map(|v| v * 3.0).collect() };
    let part = |every: usize| D {
        item: hard
            .item
            .iter()
            .enumerate()
            .map(|(i, &v)| if (i.wrapping_mul(2654435761) >> 7) % 100 < every { v * 3.0 } else { v })
            .collect(),
    };
    probe("hard", &hard, &hard);
    probe("hard again", &hard, &hard);
    for p in [5, 10, 25, 35, 50, 75] {
        probe(&format!("hard {p}% other"), &hard, &part(p));
    }
    probe("hard vain", &hard, &vain);
    probe("easy", &easy, &easy);
    probe("easy vain", &hard, &easy);
    let ints = I { item: (0..n as i32).collect() };
    let other = I { item: (0..n as i32).map(|i| i + 7_000_000).collect() };
    probe("ints", &ints, &ints);
    probe("ints vain", &ints, &other);
    let long = I { item: (0..n as i32).map(|i| i.wrapping_mul(1_640_531_527)).collect() };
    probe("long ints", &long, &long);
    let mios =
        |by: f64| M { item: (0..n).map(|i| Mio { x: i as i32, y: -(i as i32), v: hard.item[i] * by }).collect() };
    probe("mios", &mios(1.0), &mios(1.0));
    probe("mios other v", &mios(1.0), &mios(3.0));
}
