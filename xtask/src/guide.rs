//! `cargo xtask guide`: checks the links of all documents, and builds the user guide with mdBook.
//!
//! Each relative link must name a file of the repository, and each fragment a heading of that file.
//! The programs of the guide are doc tests of the package `deltasoap-guide`.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::shell;
use crate::tool::Tool;

/// What builds the guide.
const MDBOOK: Tool = Tool { name: "mdbook", version: "0.5.4", options: &["--no-default-features"] };

#[derive(clap::Args)]
pub struct Arguments {
    /// Only check links: mdBook is neither installed nor run
    #[arg(long)]
    links: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let broken = broken_links()?;
    broken.iter().for_each(|link| println!("{link}"));
    if !arguments.links {
        build()?;
    }
    println!("{} broken links", broken.len());
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds the book into `target/guide`.
fn build() -> Result<()> {
    let program = MDBOOK.installed()?;
    shell::run(Command::new(program).arg("build").arg(shell::root().join("docs/guide")))
}

/// Returns the broken relative links of all documents, each with its document.
fn broken_links() -> Result<Vec<String>> {
    let listed = shell::output(shell::command("git", ["ls-files", "*.md"]).current_dir(shell::root()))?;
    let mut documents = HashMap::new();
    for name in listed.lines().map(PathBuf::from) {
        let text = std::fs::read_to_string(shell::root().join(&name)).with_context(|| name.display().to_string())?;
        documents.insert(name, Document::parse(&text));
    }
    let mut broken = Vec::new();
    for (name, document) in &documents {
        let failed = document.links.iter().filter(|link| !is_valid(name, link, &documents));
        broken.extend(failed.map(|link| format!("{}: broken link {link}", name.display())));
    }
    broken.sort();
    Ok(broken)
}

/// The links of a document, and the anchors of its headings.
#[derive(Debug, Default, PartialEq)]
struct Document {
    links: Vec<String>,
    anchors: HashSet<String>,
}

impl Document {
    fn parse(text: &str) -> Self {
        let mut document = Document::default();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push(dest_url.into_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => document.add_anchor(&heading.take().unwrap_or_default()),
                Event::Text(text) | Event::Code(text) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&text));
                }
                _ => {}
            }
        }
        document
    }

    /// Adds the anchor of a heading, with a number if there is one already.
    fn add_anchor(&mut self, heading: &str) {
        let anchor = anchor(heading);
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(numbered).find(|it| !self.anchors.contains(it));
        self.anchors.extend(free);
    }
}

/// Returns the anchor of a heading: lower case, hyphens for spaces, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns true for links to other sites, and for those to a file and a heading that are there.
fn is_valid(from: &Path, link: &str, documents: &HashMap<PathBuf, Document>) -> bool {
    if link.contains("://") || link.starts_with("mailto:") {
        return true;
    }
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let folder = from.parent().unwrap_or(Path::new(""));
    let target = if path.is_empty() { from.to_owned() } else { normalized(&folder.join(path)) };
    let is_there = shell::root().join(&target).exists();
    let has_heading = || documents.get(&target).is_none_or(|document| document.anchors.contains(fragment));
    is_there && (fragment.is_empty() || has_heading())
}

/// Resolves `..` and `.` in a relative path.
fn normalized(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_of_github() {
        for (heading, expected) in [
            ("Where it costs", "where-it-costs"),
            ("`Templating`, and its options", "templating-and-its-options"),
            ("From gSOAP & co.", "from-gsoap--co"),
        ] {
            let document = Document::parse(&format!("# {heading}\n"));
            assert!(document.anchors.contains(expected), "{heading}: {:?}", document.anchors);
        }
        let twice = Document::parse("# Run it\n\n# Run it\n");
        assert_eq!(twice.anchors, ["run-it", "run-it-1"].map(str::to_owned).into());
    }

    #[test]
    fn links_name_files_and_headings() {
        let target = Document::parse("# Workspace\n");
        let documents = HashMap::from([(PathBuf::from("README.md"), target)]);
        let is_valid = |link: &str| is_valid(Path::new("docs/artifact.md"), link, &documents);
        for link in ["../README.md", "../README.md#workspace", "https://example.org/#x", "../Cargo.toml", "../crates"] {
            assert!(is_valid(link), "{link}");
        }
        for link in ["README.md", "../README.md#rooms", "../none.md"] {
            assert!(!is_valid(link), "{link}");
        }
        assert_eq!(Document::parse("[a](b.md#c) ![d](e.svg)").links, ["b.md#c", "e.svg"]);
    }
}
