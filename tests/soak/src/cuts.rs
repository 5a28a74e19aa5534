//! Where messages are cut into chunks: each message of a stream at places of its own.

use crate::chance::Chance;

/// How the messages of one stream are cut.
#[derive(Debug, Clone, Copy)]
enum Manner {
    Whole,
    Bytes,
    Even(usize),
    /// At random places.
    Anywhere(usize),
    /// In white space, most often in that which precedes an end tag.
    White(usize),
    /// As far from the end as in the message before, or nearly so.
    FromEnd(usize),
}

/// Cuts for all messages of a stream.
pub fn all(messages: &[Vec<u8>], chance: &mut Chance) -> Vec<Vec<usize>> {
    let (manner, is_mixed) = (manner(chance), chance.one_in(4));
    let cut = |message: &Vec<u8>| {
        let manner = if is_mixed { self::manner(chance) } else { manner };
        positions(message, manner, chance)
    };
    messages.iter().map(cut).collect()
}

fn manner(chance: &mut Chance) -> Manner {
    match chance.below(12) {
        0 | 1 => Manner::Whole,
        2 => Manner::Bytes,
        3 | 4 => Manner::Even(*chance.pick(&[2, 3, 7, 16, 33, 64, 100, 501, 1024, 4096, 16 << 10])),
        5 | 6 => Manner::Anywhere(chance.between(1, 6)),
        7 => Manner::FromEnd(chance.below(200)),
        _ => Manner::White(chance.between(1, 3)),
    }
}

fn positions(message: &[u8], manner: Manner, chance: &mut Chance) -> Vec<usize> {
    let len = message.len();
    let mut cuts = match manner {
        Manner::Whole => Vec::new(),
        Manner::Bytes => (1..len).collect(),
        Manner::Even(size) => (1..=len / size).map(|at| at * size).collect(),
        Manner::Anywhere(count) => (0..count).map(|_| chance.below(len + 1)).collect(),
        Manner::White(count) => in_white_space(message, count, chance),
        Manner::FromEnd(rest) => vec![len.saturating_sub(rest + chance.below(4))],
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

/// Where white space stands between tags: where it begins and ends.
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
    fn successive_messages_are_cut_at_places_of_their_own() {
        let messages = vec![b"<a>\n    <b>1</b>\n        </a>".to_vec(); 5];
        let mut chance = Chance::new(3, 0);
        let all: Vec<_> = (0..200).map(|_| self::all(&messages, &mut chance)).collect();
        let within_last_gap = |cuts: &Vec<usize>| matches!(cuts[..], [at] if (17..25).contains(&at));
        assert!(all.iter().any(|cuts| cuts[0] != cuts[1] && cuts.iter().all(within_last_gap)), "{all:?}");
        assert!(all.iter().flatten().all(|cuts| cuts.is_sorted() && cuts.iter().all(|&cut| cut < messages[0].len())));
    }
}
