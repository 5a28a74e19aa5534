//! Splits messages into chunks: each message of a stream at its own positions.

use deltasoap_test_support::Chance;

/// How the messages of one stream are split.
#[derive(Debug, Clone, Copy)]
enum Manner {
    Whole,
    Bytes,
    Even(usize),
    /// At random positions.
    Anywhere(usize),
    /// In white space, most often in that before an end tag.
    White(usize),
    /// At about the same distance from the end as in the previous message.
    FromEnd(usize),
    /// Where the message differs from the neighbouring one.
    Changed(Side),
}

/// A position relative to a difference.
#[derive(Debug, Clone, Copy)]
enum Side {
    /// At its beginning, at its end.
    Begin,
    End,
    /// In the white space between tags before it, after it.
    Before,
    Behind,
}

/// Returns the cuts for all messages of a stream.
pub fn all(messages: &[Vec<u8>], chance: &mut Chance) -> Vec<Vec<usize>> {
    let (manner, is_mixed) = (manner(chance), chance.one_in(4));
    let cut = |(index, message): (usize, &Vec<u8>)| {
        let manner = if is_mixed { self::manner(chance) } else { manner };
        let beside = if index == 0 { messages.get(1) } else { messages.get(index - 1) };
        positions(message, beside.unwrap_or(message), manner, chance)
    };
    messages.iter().enumerate().map(cut).collect()
}

fn manner(chance: &mut Chance) -> Manner {
    match chance.below(16) {
        0 | 1 => Manner::Whole,
        2 => Manner::Bytes,
        3 | 4 => Manner::Even(*chance.pick(&[2, 3, 7, 16, 33, 64, 100, 501, 1024, 4096, 16 << 10])),
        5 | 6 => Manner::Anywhere(chance.between(1, 6)),
        7 => Manner::FromEnd(chance.below(200)),
        8..=11 => Manner::Changed(*chance.pick(&[
            Side::Begin,
            Side::End,
            Side::Before,
            Side::Behind,
            Side::Behind,
            Side::Behind,
        ])),
        _ => Manner::White(chance.between(1, 3)),
    }
}

fn positions(message: &[u8], beside: &[u8], manner: Manner, chance: &mut Chance) -> Vec<usize> {
    let len = message.len();
    let mut cuts = match manner {
        Manner::Whole => Vec::new(),
        Manner::Bytes => (1..len).collect(),
        Manner::Even(size) => (1..=len / size).map(|at| at * size).collect(),
        Manner::Anywhere(count) => (0..count).map(|_| chance.below(len + 1)).collect(),
        Manner::White(count) => in_white_space(message, count, chance),
        Manner::FromEnd(rest) => vec![len.saturating_sub(rest + chance.below(4))],
        Manner::Changed(side) => vec![at_change(message, beside, side, chance)],
    };
    cuts.sort_unstable();
    cuts.dedup();
    cuts.retain(|&cut| cut > 0 && cut < len);
    cuts
}

fn in_white_space(message: &[u8], count: usize, chance: &mut Chance) -> Vec<usize> {
    let gaps = gaps(message);
    let before_ends: Vec<_> = gaps.iter().copied().filter(|gap| message[gap.1..].starts_with(b"</")).collect();
    let mut cuts = Vec::new();
    for _ in 0..count {
        let all = if chance.one_in(3) { &gaps } else { &before_ends };
        if let Some(&(from, to)) = chance.choose(all) {
            cuts.push(chance.between(from, to));
        }
    }
    cuts
}

/// Returns a position near a difference between two messages; 0 if there is none.
fn at_change(message: &[u8], beside: &[u8], side: Side, chance: &mut Chance) -> usize {
    let shorter = message.len().min(beside.len());
    let begin = message.iter().zip(beside).take_while(|(one, other)| one == other).count();
    let back = message.iter().rev().zip(beside.iter().rev()).take_while(|(one, other)| one == other).count();
    let end = message.len() - back.min(shorter - begin);
    let within = |gap: Option<&(usize, usize)>, chance: &mut Chance| gap.map_or(0, |gap| chance.between(gap.0, gap.1));
    match side {
        Side::Begin => (begin + chance.below(5)).saturating_sub(2),
        Side::End => (end + chance.below(5)).saturating_sub(2),
        Side::Before => within(gaps(message).iter().rfind(|gap| gap.1 <= begin), chance),
        Side::Behind => within(gaps(message).iter().find(|gap| gap.0 >= end), chance),
    }
}

/// Returns the ranges of white space between tags.
fn gaps(message: &[u8]) -> Vec<(usize, usize)> {
    let mut gaps = Vec::new();
    let mut at = 0;
    while let Some(close) = message[at..].iter().position(|&byte| byte == b'>') {
        let from = at + close + 1;
        let len = message[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if len > 0 && message.get(from + len) == Some(&b'<') {
            gaps.push((from, from + len));
        }
        at = from + len;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_white_space_between_tags() {
        assert_eq!(gaps(b"<a> <b>c </b>\n\t</a>"), [(3, 4), (13, 15)]);
    }

    #[test]
    fn cuts_beside_what_differs() {
        let (one, other) = (b"<r> <a>17</a>  <b>2</b></r>", b"<r> <a>1</a>  <b>2</b></r>");
        let mut chance = Chance::new(3, 0);
        let mut places = |side| (0..100).map(|_| at_change(one, other, side, &mut chance)).collect::<Vec<_>>();
        for (side, range) in
            [(Side::Begin, 6..=10), (Side::End, 7..=11), (Side::Before, 3..=4), (Side::Behind, 13..=15)]
        {
            let places = places(side);
            assert!(places.iter().all(|at| range.contains(at)) && places.contains(range.end()), "{side:?} {places:?}");
        }
    }

    #[test]
    fn successive_messages_are_cut_at_places_of_their_own() {
        let messages = vec![b"<a>\n    <b>1</b>\n        </a>".to_vec(); 5];
        let mut chance = Chance::new(3, 0);
        let all: Vec<_> = (0..200).map(|_| self::all(&messages, &mut chance)).collect();
        let within_last_gap = |cuts: &Vec<usize>| matches!(cuts[..], [at] if (17..25).contains(&at));
        assert!(all.iter().any(|cuts| cuts[0] != cuts[1] && cuts.iter().all(within_last_gap)), "{all:?}");
        assert!(all.iter().flatten().all(|cuts| cuts.is_sorted() && cuts.iter().all(|&cut| cut < messages[0].len())));
    }
}
