//! Tests of services: the requests, the checks, what is found and what is not.

use deltasoap_dynamic::trial::{Access, Report, Settings, Tester};
use deltasoap_dynamic::{Contract, Mock};
use deltasoap_test_support::files;

fn access() -> Access {
    Access::to("http://localhost/".parse().expect("a URL"))
}

async fn tested(contract: &Contract, settings: Settings) -> Report {
    let service = Mock::new(contract.clone()).service().expect("a service");
    let operations: Vec<_> = contract.operations().into_iter().filter(|it| it.method().is_ok()).take(4).collect();
    Tester::new(service, access(), settings).run(&operations, &|_| {}).await
}

#[tokio::test]
async fn corpus() {
    let mut count = 0;
    let folder = files::in_repository("testdata/wsdl");
    for path in files::below(&folder, &["wsdl"]) {
        let Ok(contract) = Contract::import(&path.to_string_lossy()) else { continue };
        if Mock::new(contract.clone()).service().is_err() { continue }
        let report = tested(&contract, Settings { max_cases: 60, ..Settings::default() }).await;
        count += 1;
        for it in &report.operations { println!("{} {} {:?} {}", it.operation, it.cases, it.tallies, report.requests); }
        println!("{:?}", report.stop);
        for it in &report.operations { if let Some(why) = &it.skipped { println!("SKIPPED {} {why}", it.operation); } }
        for finding in &report.findings {
            println!("{} {} {:?} {} {} {}: {}\n   {}\n   {:?}", path.display(), finding.operation, finding.severity, finding.check, finding.kind, finding.what, finding.reason,
                String::from_utf8_lossy(&finding.request), finding.outcome);
        }
    }
    println!("{count} services");
}
