//! Trouble on purpose.

use super::*;
use deltasoap_http::transport::HangUp;

#[tokio::test]
async fn faults_are_for_the_named_operation_and_repeat() {
    let run = async || {
        let target = Target::default();
        let proxy = target.proxy("[trouble]\nseed = 5\nfault_rate = [\"Order:50%\"]", None, |_, _| xml("<a/>"));
        let mut faults = Vec::new();
        for _ in 0..20 {
            let answer = send(&proxy, post(&order("Ada"))).await;
            faults.push(answer.text.contains("a fault on purpose"));
            assert_eq!(send(&proxy, post(&order("Ada").replace("Order", "Other"))).await.text, "<a/>");
        }
        assert_eq!(target.count(), 20 + faults.iter().filter(|is_fault| !**is_fault).count());
        faults
    };
    let first = run().await;
    assert!(first.contains(&true) && first.contains(&false), "{first:?}");
    assert_eq!(first, run().await, "by the seed");
}

#[tokio::test]
async fn connections_are_closed_and_answers_cut() {
    let target = Target::default();
    let proxy = target.proxy("[trouble]\ndrop_rate = [\"1\"]", None, |_, _| xml("<a/>"));
    let Ok(answer) = proxy.oneshot(post(&order("Ada"))).await;
    assert!(answer.extensions().get::<HangUp>().is_some());
    assert_eq!(target.count(), 0);
    let proxy = target.proxy("[trouble]\ncut_rate = [\"100%\"]", None, |_, _| xml("0123456789"));
    let Ok(answer) = proxy.oneshot(post(&order("Ada"))).await;
    let (mut body, mut text) = (answer.into_body(), Vec::new());
    let error = loop {
        match body.frame().await.expect("no end") {
            Ok(frame) => text.extend_from_slice(&frame.into_data().expect("data")),
            Err(error) => break error,
        }
    };
    assert_eq!((&text[..], error.to_string().as_str()), (&b"01234"[..], "the answer is cut off on purpose"));
}

#[tokio::test(start_paused = true)]
async fn answers_are_late_and_slow() {
    let target = Target::default();
    let config = "[trouble]\nlatency = [\"3000\"]\nslow = [\"10\"]";
    let proxy = target.proxy(config, None, |_, _| xml("0123456789".repeat(5)));
    let begun = tokio::time::Instant::now();
    let Ok(answer) = proxy.oneshot(post(&order("Ada"))).await;
    assert!(begun.elapsed().as_secs() >= 3);
    assert_eq!(got(answer).await.text.len(), 50);
    assert!((7..10).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
}
