//! The form of an answer, by the header `Accept` (RFC 9110, section 12.5.1).

use crate::incoming;
use http::HeaderMap;
use http::header::ACCEPT;

/// The forms of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One JSON value.
    Json,
    /// The items of a list, each on its own line.
    Lines,
    /// JSON, and the bytes that it refers to as other parts.
    Multipart,
}

/// Returns the form that a client prefers; `None` if it accepts none of them.
pub(crate) fn form(headers: &HeaderMap) -> Option<Form> {
    let mut ranges = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let first = ranges.next();
    let Some(first) = first else { return Some(Form::Json) };
    let all = std::iter::once(first).chain(ranges).flat_map(|value| value.split(','));
    let mut best: Option<(Form, u16)> = None;
    for range in all {
        let (media, parameters) = range.split_once(';').unwrap_or((range, ""));
        let Some(form) = of_media(media.trim()) else { continue };
        let quality = quality(parameters);
        if quality > 0 && best.is_none_or(|(_, most)| quality > most) {
            best = Some((form, quality));
        }
    }
    best.map(|(form, _)| form)
}

fn of_media(media: &str) -> Option<Form> {
    let lowercase = media.to_ascii_lowercase();
    match &*lowercase {
        "*/*" | "application/*" | "application/json" => Some(Form::Json),
        media if incoming::is_lines(media) => Some(Form::Lines),
        "multipart/mixed" | "multipart/*" => Some(Form::Multipart),
        _ => None,
    }
}

/// Returns a weight in thousandths; a malformed one counts as 1.
fn quality(parameters: &str) -> u16 {
    let weight = parameters.split(';').find_map(|it| it.trim().strip_prefix("q="));
    let weight = weight.and_then(|weight| weight.trim().parse::<f32>().ok()).filter(|it| (0.0..=1.0).contains(it));
    weight.map_or(1000, |weight| (weight * 1000.0) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: &'static str) -> Option<Form> {
        form(&HeaderMap::from_iter([(ACCEPT, http::HeaderValue::from_static(accept))]))
    }

    #[test]
    fn the_first_of_the_best_forms_is_chosen() {
        assert_eq!(form(&HeaderMap::new()), Some(Form::Json));
        for (accept, expected) in [
            ("*/*", Some(Form::Json)),
            ("text/html, application/json;q=0.5", Some(Form::Json)),
            ("application/json;q=0.4, application/jsonl;q=0.5", Some(Form::Lines)),
            ("Application/X-NDJSON", Some(Form::Lines)),
            ("multipart/mixed, */*", Some(Form::Multipart)),
            ("application/json;q=0", None),
            ("text/html", None),
        ] {
            assert_eq!(chosen(accept), expected, "{accept}");
        }
    }
}
