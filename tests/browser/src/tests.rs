//! Actions of a user, and what must be visible afterwards.

use crate::visit::{DESKTOP, FITS, PHONE, Screen, Visit};
use anyhow::{Result, ensure};

/// A test, which makes a visit.
pub type Test = fn(&mut Visit<'_>) -> Result<()>;

/// Tests by their claims.
pub type Tests = [(&'static str, Test)];

/// All tests, by their claims.
pub const TESTS: [(&str, Test); 9] = [
    ("the index lists the services and leads to them", index),
    ("the page lists the operations", operations),
    ("an operation is called and its reply shown", reply),
    ("a fault is shown as one", fault),
    ("what is no message is answered with a fault too", nonsense),
    ("the form is used by keyboard", keyboard),
    ("every control has a name", names),
    ("the page fits a phone", phone),
    ("nothing else runs in the page", policy),
];

const DARK: Screen = Screen { is_dark: true, ..DESKTOP };

/// True once a response is shown.
const ANSWERED: &str = "document.querySelector('#response .status') !== null";

fn index(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "/")?;
    visit.check_text("main", &["Bench", "CWMP", "vSphere Fetch", "Operations"])?;
    visit.screenshot("desktop-index", true)?;
    visit.click("main a[href='/bench']")?;
    visit.wait("location.pathname === '/bench' && document.querySelector('#form') !== null")
}

fn operations(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "/bench")?;
    visit.check_text("h1", &["Bench"])?;
    visit.check_text("header", &["urn:bench", "WSDL"])?;
    visit
        .check_text("#operations", &["echoVoid", "echoDoubles", "echoStruct", "sendMios", "fail", "urn:bench#fail"])?;
    visit.check(
        "[...document.querySelectorAll('.operations h3')].map((h) => h.innerText)
        .every((name, index, all) => index === 0 || all[index - 1] < name)",
    )?;
    visit.check(
        "document.querySelectorAll('.operations li').length === document.querySelector('#operation').options.length",
    )?;
    visit.check_text("#statistics", &["Differential decoding", "Differential serialization"])?;
    visit.check("fetch('?wsdl').then((answer) => answer.ok)")?;
    visit.wait("document.querySelector('#request').value !== ''")?;
    visit.screenshot("desktop-page", true)
}

/// Chooses an operation by its button, and a version.
fn choose(visit: &mut Visit<'_>, operation: &str, version: &str) -> Result<()> {
    visit.set("#version", version)?;
    visit.click(&format!("button[data-operation^='{{urn:bench}}{operation} ']"))?;
    let namespace = if version == "1.1" { "xmlsoap.org" } else { "www.w3.org/2003" };
    let shown = "document.querySelector('#request').value";
    visit.wait(&format!("{shown}.includes(':{operation} ') && {shown}.includes('{namespace}')"))?;
    visit.wait("!document.querySelector('#request').readOnly")
}

fn reply(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "/bench")?;
    for version in ["1.1", "1.2"] {
        choose(visit, "echoStruct", version)?;
        visit.edit("<name>text</name>", "<name>Gr\u{FC}\u{DF}e &amp; &lt;b&gt;</name>")?;
        visit.click("#send")?;
        visit.wait(ANSWERED)?;
        visit.check_text("#response .status", &["HTTP 200", " ms", "bytes sent", "bytes received"])?;
        let media = if version == "1.1" { "text/xml" } else { "application/soap+xml" };
        visit
            .check_text("#response", &[media, "echoStructResponse", "<name>Gr\u{FC}\u{DF}e &amp; &lt;b&gt;</name>"])?;
        visit.check("document.querySelector('.fault') === null && document.querySelector('#response b') === null")?;
        // Each element has a line of its own.
        visit.check("document.querySelector('#response pre').innerText.split('\\n').length > 10")?;
        visit.screenshot(&format!("desktop-reply-{version}"), false)?;
        visit.open(DARK, "/bench")?;
    }
    choose(visit, "echoMios", "1.1")?;
    visit.click("#send")?;
    visit.wait(ANSWERED)?;
    visit.check_text("#statistics", &["echoStruct"])?;
    visit.screenshot("desktop-dark", true)
}

fn fault(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "/bench")?;
    for (version, code) in [("1.1", "Server"), ("1.2", "Receiver")] {
        choose(visit, "fail", version)?;
        visit.edit("<code>text</code>", "<code>E42</code>")?;
        visit.click("#send")?;
        visit.wait(&format!("{ANSWERED} && document.querySelector('.fault').innerText.includes('{code}')"))?;
        visit.check_text("#response .status.bad", &["HTTP 500"])?;
        visit.check_text(".fault", &["Fault", "this operation always fails", "BenchFault", "<code>E42</code>"])?;
    }
    visit.screenshot("desktop-fault", false)?;
    choose(visit, "echoInts", "1.1")?;
    visit.edit("<item>1</item>", "<item>many</item>")?;
    visit.click("#send")?;
    visit.wait("document.querySelector('.fault')?.innerText.includes('not a valid int') === true")?;
    visit.check_text(".fault", &["Client", "item[1]"])?;
    visit.expect_refusals(3)
}

fn nonsense(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "/bench")?;
    visit.wait("document.querySelector('#request').value !== ''")?;
    visit.set("#request", "<a><b></a><script>document.title = 'run'</script>")?;
    visit.click("#send")?;
    visit.wait("document.querySelector('.fault') !== null")?;
    visit.check("document.title === 'Bench'")?;
    visit.expect_refusals(1)
}

fn keyboard(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "/bench")?;
    visit.wait("document.querySelector('#request').value !== ''")?;
    visit.press("Tab", false)?;
    visit.check("document.activeElement.classList.contains('skip')")?;
    visit.press("Enter", false)?;
    visit.wait("location.hash === '#operations'")?;
    visit.focus("#operation")?;
    for expected in ["version", "reset", "request", "send"] {
        visit.press("Tab", false)?;
        visit.check(&format!("document.activeElement.id === '{expected}'"))?;
    }
    visit.focus("#request")?;
    visit.press("Enter", true)?;
    visit.wait(ANSWERED)?;
    visit.check_text("#response .status", &["HTTP 200"])
}

fn names(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "/bench")?;
    visit.check(
        "[...document.querySelectorAll('select, textarea, input, button, [role=region]')].every((control) =>
            control.labels?.length || control.ariaLabel || control.innerText.trim()
            || document.getElementById(control.getAttribute('aria-labelledby')))",
    )?;
    visit.check("document.documentElement.lang === 'en' && document.querySelectorAll('h1').length === 1")?;
    visit.check(
        "[...document.querySelectorAll('[aria-labelledby]')].every((element) =>
            document.getElementById(element.getAttribute('aria-labelledby')) !== null)",
    )
}

fn phone(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(PHONE, "/bench")?;
    visit.check(FITS)?;
    visit.wait("document.querySelector('#request').value !== ''")?;
    visit.screenshot("phone-page", true)?;
    choose(visit, "echoStruct", "1.2")?;
    visit.click("#send")?;
    visit.wait(ANSWERED)?;
    visit.check(FITS)?;
    visit.screenshot("phone-reply", true)?;
    visit.open(PHONE, "/")?;
    visit.check(FITS)?;
    visit.screenshot("phone-index", true)
}

fn policy(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "/bench")?;
    let refused = |element: &str, property: &str, value: &str| {
        format!(
            "new Promise((resolve) => {{
                document.addEventListener('securitypolicyviolation', () => resolve(true), {{ once: true }});
                const element = document.createElement('{element}');
                element.{property} = `{value}`;
                document.body.append(element);
                setTimeout(() => resolve(false), 2000);
            }})"
        )
    };
    visit.check(&refused("script", "textContent", "window.ran = true"))?;
    visit.check(&refused("img", "src", "http://127.0.0.1:9/x.png"))?;
    visit.check(&refused("iframe", "src", "http://127.0.0.1:9/"))?;
    visit.check("window.ran === undefined")?;
    let complaints = visit.take_complaints();
    ensure!(complaints.len() >= 3, "the browser says what it refused: {complaints:?}");
    Ok(())
}
