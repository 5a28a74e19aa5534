//! Sessions of a device: three requests, whose answers are checked. A session that is lost is begun
//! again, as TR-069 demands (section 3.2.1.1).

use super::devices::{self, Device};
use deltasoap_load::{Answer, Failed, Failure, Target, Wire};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// A device waits this long for an answer: TR-069 has it wait at least 30 seconds.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// The pause before a session is begun again, in place of 5 to 10 seconds; it doubles each time, up to
/// the most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(800));
/// A device gives up after this many attempts: about a quarter of a minute.
const MAX_ATTEMPTS: usize = 24;
/// Wrong answers that are kept in full.
const MAX_WRONG: usize = 10;

/// What became of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sessions {
    /// Sessions that came to their end.
    pub complete: u64,
    /// Requests that were answered, and rightly.
    pub answered: u64,
    /// Requests that were lost, by what happened to them.
    pub lost: BTreeMap<String, u64>,
    /// Sessions of which a request was lost, and that came to their end later.
    pub repeated: u64,
    /// Sessions that were given up.
    pub given_up: u64,
    /// Wrong answers.
    pub wrong: Vec<String>,
}

impl Sessions {
    /// Adds others.
    pub fn add(&mut self, other: Sessions) {
        self.complete += other.complete;
        self.answered += other.answered;
        self.repeated += other.repeated;
        self.given_up += other.given_up;
        other.lost.into_iter().for_each(|(what, count)| *self.lost.entry(what).or_default() += count);
        self.wrong.extend(other.wrong);
        self.wrong.truncate(MAX_WRONG);
    }

    /// Returns the number of lost requests.
    pub fn lost(&self) -> u64 {
        self.lost.values().sum()
    }
}

/// A request that has no right answer.
#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    /// There was none, or one that says so: a server ended, or no longer knows the session.
    Lost(String),
    /// The answer is wrong.
    Wrong(String),
}

/// The cookies of a device.
#[derive(Debug, Clone, Default)]
pub struct Cookies {
    /// That of the load balancer, which names a server.
    balancer: Option<String>,
    /// That of the session.
    session: Option<String>,
}

impl Cookies {
    fn header(&self) -> String {
        self.balancer.iter().chain(&self.session).map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    /// Takes the cookies that an answer sets.
    fn take(&mut self, head: &[u8]) {
        let head = String::from_utf8_lossy(head);
        let set = head.lines().filter_map(|line| line.split_once(':'));
        let set = set.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
        for pair in set.filter_map(|(_, value)| value.split(';').next()) {
            let pair = pair.trim().to_owned();
            if pair.starts_with("cwmp=") {
                self.session = Some(pair);
            } else {
                self.balancer = Some(pair);
            }
        }
    }
}

/// Has a device make a session, again and again until it comes to its end.
pub async fn make(device: &Device, target: &Target, host: &str, session: usize, cookies: &mut Cookies) -> Sessions {
    let mut made = Sessions::default();
    let mut pause = PAUSE.0;
    for attempt in 0..MAX_ATTEMPTS {
        cookies.session = None;
        let outcome = self::attempt(device, target, host, (session, attempt), cookies, &mut made.answered).await;
        match outcome {
            Ok(()) => {
                made.complete = 1;
                made.repeated = u64::from(attempt > 0);
                return made;
            }
            Err(Trouble::Lost(what)) => *made.lost.entry(what).or_default() += 1,
            Err(Trouble::Wrong(what)) => {
                made.wrong.push(what);
                return made;
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE.1);
    }
    made.given_up = 1;
    made
}

async fn attempt(
    device: &Device,
    target: &Target,
    host: &str,
    (session, attempt): (usize, usize),
    cookies: &mut Cookies,
    answered: &mut u64,
) -> Result<(), Trouble> {
    let connecting = timeout(MAX_WAIT, Wire::connect(target)).await;
    let mut wire = connecting.unwrap_or(Err(Failure::Timeout.into())).map_err(|failed| lost(&failed, "to connect"))?;
    let (inform, key) = device.inform(session, attempt);
    let answer = exchange(&mut wire, device, host, cookies, &inform).await?;
    informed(&answer, &devices::id(session, attempt))?;
    *answered += 1;
    let answer = exchange(&mut wire, device, host, cookies, "").await?;
    let id = asked(&answer, &key)?;
    *answered += 1;
    let done = "<cwmp:SetParameterValuesResponse><Status>0</Status></cwmp:SetParameterValuesResponse>";
    let answer = exchange(&mut wire, device, host, cookies, &devices::envelope(&id, done)).await?;
    ended(&answer)?;
    *answered += 1;
    Ok(())
}

/// An answer's status and body.
type Answered = (u16, String);

async fn exchange(
    wire: &mut Wire,
    device: &Device,
    host: &str,
    cookies: &mut Cookies,
    body: &str,
) -> Result<Answered, Trouble> {
    if !wire.is_open() {
        return Err(Trouble::Lost("closed between requests".to_owned()));
    }
    let request = device.request(host, &cookies.header(), body);
    let answer = timeout(MAX_WAIT, wire.exchange(&request)).await.unwrap_or(Err(Failure::Timeout.into()));
    let answer: Answer<'_> = answer.map_err(|failed| lost(&failed, "in a request"))?;
    cookies.take(answer.head());
    Ok((answer.status, String::from_utf8_lossy(answer.body).into_owned()))
}

/// Returns the trouble that a failure is: an answer that is not HTTP is wrong.
fn lost(failed: &Failed, when: &str) -> Trouble {
    match failed.failure {
        Failure::Connect | Failure::Closed | Failure::Timeout => {
            Trouble::Lost(format!("{} {when}", failed.failure.name()))
        }
        _ => Trouble::Wrong(format!("{}: {}", failed.failure.name(), failed.detail)),
    }
}

/// Returns the trouble with an answer that has not the expected status. Load balancers answer with
/// 502 to 504 where a server does not; a server answers with 400 in a session that it does not know,
/// which was begun with another one.
fn refused((status, body): &Answered, is_begun: bool) -> Trouble {
    match status {
        502..=504 => Trouble::Lost(format!("status {status}")),
        400 if is_begun && body.is_empty() => Trouble::Lost("status 400: the session is unknown".to_owned()),
        _ => Trouble::Wrong(format!("status {status}: {}", body.chars().take(300).collect::<String>())),
    }
}

fn informed(answer: &Answered, id: &str) -> Result<(), Trouble> {
    if answer.0 != 200 {
        return Err(refused(answer, false));
    }
    let is_right = text(&answer.1, "ID") == Some(id) && answer.1.contains(":InformResponse>");
    let is_right = is_right && text(&answer.1, "MaxEnvelopes") == Some("1");
    if is_right { Ok(()) } else { Err(Trouble::Wrong(format!("to the Inform {id}: {}", answer.1))) }
}

/// Checks the server's request, which has the key of all that the device has reported. Returns its ID.
fn asked(answer: &Answered, key: &str) -> Result<String, Trouble> {
    if answer.0 != 200 {
        return Err(refused(answer, true));
    }
    match (text(&answer.1, "ParameterKey"), text(&answer.1, "ID")) {
        (Some(found), Some(id)) if found == key && answer.1.contains(":SetParameterValues>") => Ok(id.to_owned()),
        _ => Err(Trouble::Wrong(format!("the key is not {key}: {}", answer.1))),
    }
}

fn ended(answer: &Answered) -> Result<(), Trouble> {
    if answer.0 == 204 { Ok(()) } else { Err(refused(answer, true)) }
}

/// Returns the text of the first element with this local name.
fn text<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let is_start = |at: &usize| xml[..*at].ends_with(['<', ':']) && xml[at + name.len()..].starts_with(['>', ' ']);
    let at = xml.match_indices(name).map(|(at, _)| at).find(is_start)?;
    xml[at..].split_once('>')?.1.split('<').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = "<e:Envelope><e:Header><c:ID e:mustUnderstand=\"1\">42</c:ID></e:Header><e:Body>\
                         <c:SetParameterValues><ParameterKey>00ff</ParameterKey></c:SetParameterValues></e:Body></e:Envelope>";

    #[test]
    fn answers_are_right_or_lost_or_wrong() {
        let answer = |status: u16, body: &str| (status, body.to_owned());
        assert_eq!(asked(&answer(200, ASKED), "00ff"), Ok("42".to_owned()));
        assert!(matches!(asked(&answer(200, ASKED), "00fe"), Err(Trouble::Wrong(_))));
        assert!(matches!(asked(&answer(400, ""), "00ff"), Err(Trouble::Lost(_))));
        assert!(matches!(asked(&answer(400, "<fault/>"), "00ff"), Err(Trouble::Wrong(_))));
        assert!(matches!(asked(&answer(500, ""), "00ff"), Err(Trouble::Wrong(_))));
        let informs = "<c:ID>1-0</c:ID><c:InformResponse><MaxEnvelopes>1</MaxEnvelopes></c:InformResponse>";
        assert_eq!(informed(&answer(200, informs), "1-0"), Ok(()));
        assert!(matches!(informed(&answer(200, informs), "2-0"), Err(Trouble::Wrong(_))));
        assert!(matches!(informed(&answer(400, ""), "1-0"), Err(Trouble::Wrong(_))));
        assert!(matches!(informed(&answer(503, "no server"), "1-0"), Err(Trouble::Lost(_))));
        assert_eq!(ended(&answer(204, "")), Ok(()));
        assert!(matches!(ended(&answer(200, ASKED)), Err(Trouble::Wrong(_))));
        assert!(matches!(lost(&Failure::Malformed.into(), "now"), Trouble::Wrong(_)));
        assert!(matches!(lost(&Failure::Closed.into(), "now"), Trouble::Lost(_)));
    }

    #[test]
    fn an_answer_that_was_cut_or_changed_is_not_right() {
        let answer = |body: &str| (200, body.to_owned());
        for at in 0..ASKED.len() {
            let cut = asked(&answer(&ASKED[..at]), "00ff");
            assert!(cut.is_err() || ASKED[..at].contains("<ParameterKey>00ff"), "{at}");
        }
        let mut chance = deltasoap_test_support::Chance::seeded(1);
        for _ in 0..2000 {
            let mut bytes = ASKED.as_bytes().to_vec();
            for _ in 0..chance.between(1, 9) {
                let at = chance.below(bytes.len());
                bytes[at] = chance.below(256) as u8;
            }
            let text = String::from_utf8_lossy(&bytes);
            let is_right = asked(&answer(&text), "00ff").is_ok();
            assert!(!is_right || text.contains("00ff"), "{text}");
        }
    }

    #[test]
    fn texts_are_found_with_and_without_attributes() {
        assert_eq!(
            (text(ASKED, "ID"), text(ASKED, "ParameterKey"), text(ASKED, "None")),
            (Some("42"), Some("00ff"), None)
        );
        assert_eq!(text("<a:ID>7</a:ID>", "ID"), Some("7"));
    }

    #[test]
    fn cookies_are_sent_as_they_were_set() {
        let mut cookies = Cookies::default();
        assert_eq!(cookies.header(), "");
        cookies.take(b"HTTP/1.1 200 OK\r\nSet-Cookie: cwmp=12; Path=/\r\nset-cookie: SERVER=s2; path=/\r\n\r\n");
        assert_eq!(cookies.header(), "SERVER=s2; cwmp=12");
        cookies.take(b"HTTP/1.1 200 OK\r\n\r\n");
        assert_eq!(cookies.header(), "SERVER=s2; cwmp=12");
    }
}
