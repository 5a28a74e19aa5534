//! Tests that the commands in README, guide and docs are commands of this program: each one is
//! parsed, and none is run.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;

use crate::cli::Arguments;

#[test]
fn every_documented_command_is_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents = vec![root.join("README.md"), root.join("crates/deltasoap-cli/README.md")];
    documents.extend(pages(&root.join("docs")));
    documents.extend(pages(&root.join("docs/guide/src")));
    let mut count = 0;
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for command in commands(&text) {
            let words = shlex::split(&command).unwrap_or_else(|| panic!("{}: {command}", document.display()));
            let parsed = Arguments::command().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{}: {command}: {}", document.display(), parsed.unwrap_err());
            count += 1;
        }
    }
    assert!(count > 60, "only {count} commands");
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Returns the commands in shell code blocks: `deltasoap ...`, or `cargo run --release -- ...`, up
/// to a comment, a pipe or a redirection.
fn commands(text: &str) -> Vec<String> {
    let lines = text.replace("\\\n", " ");
    let lines = lines.lines().map(|line| line.trim_start().trim_start_matches("$ "));
    // The opening fence of a block names its language, the closing fence does not.
    let in_block = lines.scan(false, |is_shell, line| {
        if let Some(language) = line.strip_prefix("```") {
            *is_shell = language == "sh";
        }
        Some((*is_shell, line.to_owned()))
    });
    let of_ours = |line: &str| {
        let arguments = line.strip_prefix("deltasoap ").or(line.strip_prefix("cargo run --release -- "))?;
        Some(format!("deltasoap {}", arguments_only(arguments)))
    };
    in_block.filter_map(|(is_shell, line)| is_shell.then(|| of_ours(&line)).flatten()).collect()
}

/// Cuts off what the shell does with the output.
fn arguments_only(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, character) in line.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, '|' | '>' | '<' | '&' | ';') => return &line[..at],
            (None, '#') if before == ' ' => return &line[..at],
            _ => {}
        }
        before = character;
    }
    line
}

#[test]
fn commands_end_where_the_shell_takes_over() {
    let text = "deltasoap is a toolkit\n```toml\ndeltasoap = \"1\"\n```\n```sh\ndeltasoap list a.wsdl > b # c\n$ deltasoap call 'a#b|c' -d '{\"d\": 1}' | head\n\
                cargo run --release -- demo # e\nls\n```\n";
    let expected = ["deltasoap list a.wsdl ", "deltasoap call 'a#b|c' -d '{\"d\": 1}' ", "deltasoap demo "];
    assert_eq!(commands(text), expected);
}
