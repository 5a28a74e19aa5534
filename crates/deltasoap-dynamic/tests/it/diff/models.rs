//! Random content models: the changes between two of them, compared with all short sequences of
//! children, which the validator judges one by one.

use super::cases::{op, wsdl};
use super::{contract, proved};
use deltasoap_dynamic::Contract;
use deltasoap_dynamic::diff::Verdict;
use deltasoap_test_support::Chance;
use deltasoap_wsdl::NoteKind;

/// The names of children.
const NAMES: [&str; 3] = ["a", "b", "c"];
/// Maximum number of children that are tried.
const LONGEST: usize = 4;

#[test]
fn verdicts_are_those_of_all_short_sequences() {
    let messages = messages();
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..1_500 {
        let mut chance = Chance::seeded(seed);
        let old_model = model(&mut chance);
        let new_model = match chance.one_in(2) {
            true => model(&mut chance),
            false => old_model.replacen("minOccurs='0'", "", 1),
        };
        let [old, new] = [&old_model, &new_model].map(|model| contract(&wsdl(&op(model))));
        // The validator relies on models that are deterministic and have content.
        if [&old, &new].iter().any(|it| it.notes().iter().any(|note| note.kind == NoteKind::Invalid)) {
            continue;
        }
        let about = format!("seed {seed}\n{old_model}\n{new_model}");
        let diff = old.diff(&new);
        proved(&diff, &old, &new, &about);
        let allowed = [&old, &new].map(|it| allowed(it, &messages));
        for (one, other, of) in [(0, 1, "clients"), (1, 0, "servers")] {
            let verdicts = diff.changes.iter().map(|it| if of == "clients" { &it.clients } else { &it.servers });
            let verdicts: Vec<&Verdict> = verdicts.collect();
            let shows = allowed[one].iter().zip(&allowed[other]).position(|(one, other)| *one && !other);
            let shown = shows.map(|at| &messages[at]);
            let is_breaking = verdicts.iter().any(|it| it.is_breaking());
            assert!(shown.is_none() || is_breaking, "{of}: {shown:?}\n{about}\n{diff:#?}");
            refused += usize::from(is_breaking);
        }
        compared += 1;
    }
    assert!(compared > 80 && refused > 80, "{compared} compared, {refused} refused");
}

/// Returns messages with all sequences of children up to a length.
fn messages() -> Vec<String> {
    let (mut all, mut last) = (vec![String::new()], vec![String::new()]);
    for _ in 0..LONGEST {
        last = last.iter().flat_map(|word| NAMES.map(|name| format!("{word}<{name}>1</{name}>"))).collect();
        all.extend(last.clone());
    }
    all.into_iter().map(|children| format!("<Op xmlns='urn:t'>{children}</Op>")).collect()
}

fn allowed(contract: &Contract, messages: &[String]) -> Vec<bool> {
    messages.iter().map(|message| contract.validate(message.as_bytes()).is_empty()).collect()
}

/// Returns a random content model.
fn model(chance: &mut Chance) -> String {
    if chance.one_in(6) {
        let mut names = NAMES.to_vec();
        let count = chance.between(1, 3);
        let parts = (0..count).map(|_| {
            let name = names.remove(chance.below(names.len()));
            format!("<xs:element name='{name}' type='xs:int' minOccurs='{}'/>", chance.below(2))
        });
        return format!("<xs:all>{}</xs:all>", parts.collect::<String>());
    }
    format!("<xs:sequence>{}{}</xs:sequence>", part(chance, 2), part(chance, 2))
}

fn part(chance: &mut Chance, depth: usize) -> String {
    let occurs = chance.word(&[
        "",
        "",
        "minOccurs='0'",
        "minOccurs='0' maxOccurs='unbounded'",
        "maxOccurs='2'",
        "minOccurs='2' maxOccurs='3'",
    ]);
    let parts = |chance: &mut Chance| part(chance, depth - 1) + &part(chance, depth - 1);
    match chance.below(5) {
        0 if depth > 0 => format!("<xs:sequence {occurs}>{}</xs:sequence>", parts(chance)),
        1 | 2 if depth > 0 => format!("<xs:choice {occurs}>{}</xs:choice>", parts(chance)),
        _ => format!("<xs:element name='{}' type='xs:int' {occurs}/>", chance.word(&NAMES)),
    }
}
