//! What signing and verifying add to a message: `cargo run --release --example speed`. Arguments: how
//! often to measure each, and the numbers of values in the messages.

use deltasoap::Soap;
use deltasoap::soap::HeaderBlock;
use deltasoap::types::{Node, TrackedVec};
use deltasoap_core::soap::{Envelope, Version};
use deltasoap_core::{QName, Template, Templating};
use deltasoap_security::{Identity, Protection, Requirements, Trust};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Soap)]
#[soap(namespace = "urn:lab", message, qualified)]
struct Report {
    level: TrackedVec<f64>,
}

fn main() {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).expect("a key");
    let certificate = rcgen::CertificateParams::default().self_signed(&key).expect("a certificate").pem();
    let identity = Identity::from_pem(&certificate, key.serialize_pem()).expect("an identity");
    let trust = Trust::nobody().certificates(&certificate).expect("a certificate");
    let protection = Protection::new().timestamp(Duration::from_secs(300)).sign(identity);
    let requirements = Arc::new(Requirements::new().trust(trust).signed_body().replays(None));
    let mut numbers = std::env::args().skip(1).filter_map(|number| number.parse().ok());
    let rounds = numbers.next().unwrap_or(60);
    let counts: Vec<u32> = numbers.collect();
    for &count in if counts.is_empty() { &[3, 100_000][..] } else { &counts } {
        let mut report = Report { level: (0..count).map(|i| f64::from(i).sqrt() * 1.000_000_1).collect() };
        let mut template = Template::new(Templating::default());
        let write = |template: &mut Template, report: &Report| {
            template
                .encode(&Envelope::new(report).canonical(protection.body_id().expect("a signed body")))
                .expect("a message")
        };
        let message = write(&mut template, &report);
        let sign = |message: &deltasoap_core::Outgoing| {
            protection.header(Version::Soap11, &[], message, &[]).expect("a header")
        };
        let signed = message.clone().with_header(sign(&message)).to_vec();
        println!("{} bytes", signed.len());
        println!("  sign    {:?}", best(rounds, || drop(black_box(sign(&message)))));
        println!(
            "  verify  {:?}",
            best(rounds, || {
                let mut verification = requirements.begin(deltasoap_xml::Limits::default());
                for piece in signed.chunks(64 << 10) {
                    verification.push(piece).expect("a valid head");
                }
                verification.finish().expect("a valid message");
            })
        );
        println!(
            "  SHA-256 {:?}",
            best(rounds, || _ = black_box(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &signed)))
        );
        report.level[0] += 1.0;
        let block = HeaderBlock { node: Node::with_text(QName::new("urn:session", "session"), "7") };
        let mut with_header = || template.encode(&Envelope::new(&report).header(block.clone())).expect("a message");
        println!("  header  {:?}", best(rounds, || drop(black_box(with_header()))));
        println!("  write   {:?}", best(rounds, || drop(black_box(write(&mut template, &report)))));
    }
}

fn best(rounds: u32, mut run: impl FnMut()) -> Duration {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}
