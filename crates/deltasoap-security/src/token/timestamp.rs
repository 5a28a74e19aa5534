//! `wsu:Timestamp`: when a message was created, and until when it is valid (SOAP Message Security
//! 1.1, section 10).

use crate::error::SecurityError;
use crate::ns;
use crate::received::Tree;
use jiff::Timestamp;
use std::time::{Duration, SystemTime};

/// Returns a time as `xsd:dateTime` in UTC, in milliseconds: the Basic Security Profile advises
/// against more digits (R3220), and some receivers refuse them.
pub(crate) fn date_time(time: SystemTime) -> Result<String, SecurityError> {
    let out_of_range = |_| SecurityError::Write("the clock shows a time that xsd:dateTime cannot express".to_owned());
    Ok(Timestamp::try_from(time).map_err(out_of_range)?.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string())
}

/// Reads an `xsd:dateTime`; without a time zone it counts as UTC.
pub(crate) fn parse_date_time(text: &str) -> Result<SystemTime, SecurityError> {
    let malformed = || SecurityError::Malformed(format!("{text:?} is not a time"));
    let time = text.parse::<Timestamp>().or_else(|_| format!("{text}Z").parse()).map_err(|_| malformed())?;
    Ok(time.into())
}

/// Returns a `Timestamp` element in canonical form.
pub(crate) fn write(id: &str, now: SystemTime, valid_for: Duration) -> Result<String, SecurityError> {
    Ok(format!(
        "<wsu:Timestamp xmlns:wsu=\"{wsu}\" wsu:Id=\"{id}\"><wsu:Created>{created}</wsu:Created>\
         <wsu:Expires>{expires}</wsu:Expires></wsu:Timestamp>",
        wsu = ns::WSU,
        created = date_time(now)?,
        expires = date_time(now + valid_for)?,
    ))
}

/// The limits on the age of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Freshness {
    /// Maximum difference of the clocks.
    pub(crate) skew: Duration,
    /// Maximum age of a message, whatever it says.
    pub(crate) age: Duration,
}

impl Freshness {
    /// Checks the times of a `Timestamp` element. Returns until when the message may be accepted.
    ///
    /// # Errors
    /// Returns an error if the message is too old, expired, or from the future.
    pub(crate) fn check(self, tree: &Tree, timestamp: usize, now: SystemTime) -> Result<SystemTime, SecurityError> {
        let time = |local| tree.text_of(timestamp, ns::WSU, local).map(parse_date_time).transpose();
        let (created, expires) = (time("Created")?, time("Expires")?);
        let created =
            created.ok_or_else(|| SecurityError::Malformed(format!("{} has no Created", tree.path(timestamp))))?;
        let latest = self.check_created(created, now)?;
        match expires {
            Some(expires) if expires < created => {
                Err(SecurityError::Malformed("the message expires before it was created".to_owned()))
            }
            Some(expires) if expires + self.skew <= now => {
                Err(SecurityError::Expired(format!("the message expired at {}", shown(expires))))
            }
            Some(expires) => Ok(latest.min(expires + self.skew)),
            None => Ok(latest),
        }
    }

    /// Checks the time at which something was created. Returns until when it may be accepted.
    ///
    /// # Errors
    /// Returns an error if it is too old, or from the future.
    pub(crate) fn check_created(self, created: SystemTime, now: SystemTime) -> Result<SystemTime, SecurityError> {
        let latest = created + self.age + self.skew;
        if created > now + self.skew {
            return Err(SecurityError::Expired(format!(
                "the message was created in the future, at {}",
                shown(created)
            )));
        }
        if latest <= now {
            return Err(SecurityError::Expired(format!(
                "the message is too old: it was created at {}",
                shown(created)
            )));
        }
        Ok(latest)
    }
}

pub(crate) fn shown(time: SystemTime) -> String {
    date_time(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_usual_forms() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123);
        assert_eq!(date_time(time).as_deref(), Ok("2023-11-14T22:13:20.123Z"));
        for text in ["2023-11-14T22:13:20.123Z", "2023-11-14T23:13:20.123+01:00", "2023-11-14T22:13:20.123"] {
            assert_eq!(parse_date_time(text), Ok(time), "{text}");
        }
        for text in ["", "2023-11-14", "now", "2023-11-14T25:00:00Z", "2023-11-14T22:13:20Z<"] {
            assert!(parse_date_time(text).is_err(), "{text}");
        }
    }

    /// CXF refuses more digits than milliseconds have.
    #[test]
    fn timestamps_are_in_milliseconds() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_700_000_000_123_456_789);
        let written = write("t", time, Duration::from_secs(1)).expect("a timestamp");
        for element in ["<wsu:Created>2023-11-14T22:13:20.123Z<", "<wsu:Expires>2023-11-14T22:13:21.123Z<"] {
            assert!(written.contains(element), "{written}");
        }
    }

    #[test]
    fn messages_are_fresh_for_a_while() {
        let freshness = Freshness { skew: Duration::from_secs(60), age: Duration::from_secs(300) };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let created = |seconds: i64| {
            let distance = Duration::from_secs(seconds.unsigned_abs());
            let time = if seconds < 0 { now - distance } else { now + distance };
            freshness.check_created(time, now).is_ok()
        };
        assert_eq!([-361, -360, -359, 0, 60, 61].map(created), [false, false, true, true, true, false]);
    }
}
