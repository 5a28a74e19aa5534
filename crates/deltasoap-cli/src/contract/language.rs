//! The user's language, from the environment (POSIX, 8.2).

/// Returns the preferred languages, best first; empty if the environment names none.
pub fn preferred() -> Vec<String> {
    let named = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(|name| std::env::var(name).ok());
    let locale = named.into_iter().find(|value| !value.is_empty());
    locale.map(|locale| languages(&locale)).unwrap_or_default()
}

/// Returns the languages of a locale: `de_AT.UTF-8@euro` gives `de-AT` and `de`. `C` and `POSIX`
/// give none.
fn languages(locale: &str) -> Vec<String> {
    let name = locale.split(['.', '@']).next().unwrap_or_default();
    if matches!(name, "" | "C" | "POSIX") {
        return Vec::new();
    }
    let full = name.replace('_', "-");
    let cut = full.rfind('-').map(|_| full.split('-').next().unwrap_or_default().to_owned());
    std::iter::once(full).chain(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_are_languages() {
        assert_eq!(languages("de_AT.UTF-8"), ["de-AT", "de"]);
        assert_eq!(languages("fr"), ["fr"]);
        assert_eq!(languages("ca_ES@valencia"), ["ca-ES", "ca"]);
        for none in ["C", "POSIX", "C.UTF-8", "", ".UTF-8"] {
            assert_eq!(languages(none), [""; 0], "{none}");
        }
    }
}
