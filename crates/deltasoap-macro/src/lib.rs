//! `wsdl!`: Rust for a WSDL, generated where the macro is used.

#![forbid(unsafe_code)]

use deltasoap_codegen::{Builder, Generated};
use deltasoap_wsdl::Importer;
use proc_macro2::TokenStream;
use quote::quote;
use std::fmt::Display;
use std::path::PathBuf;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitBool, LitStr, Token, bracketed, parse_macro_input};

#[doc = include_str!("../docs/wsdl.md")]
#[proc_macro]
pub fn wsdl(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as Input);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// The arguments of the macro.
struct Input {
    path: LitStr,
    options: Vec<(Ident, Change)>,
}

/// What an option does to the builder.
type Change = Box<dyn Fn(Builder) -> Builder>;

/// A method of the builder.
type Setter<T> = fn(Builder, T) -> Builder;

const FLAGS: [(&str, Setter<bool>); 5] = [
    ("build_client", Builder::build_client),
    ("build_server", Builder::build_server),
    ("embed_wsdl", Builder::embed_wsdl),
    ("unknown_enum_values", Builder::unknown_enum_values),
    ("serde", Builder::serde),
];
const LISTS: [(&str, Setter<Vec<String>>); 2] = [("operations", Builder::operations), ("types", Builder::types)];

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self, Error> {
        let path = input.parse()?;
        let mut options: Vec<(Ident, Change)> = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let name: Ident = input.parse()?;
            if options.iter().any(|(other, _)| *other == name) {
                return Err(Error::new(name.span(), format!("`{name}` is set twice")));
            }
            let change = option(&name, input)?;
            options.push((name, change));
        }
        Ok(Input { path, options })
    }
}

/// Parses the value of an option.
fn option(name: &Ident, input: ParseStream<'_>) -> Result<Change, Error> {
    if let Some((_, set)) = FLAGS.into_iter().find(|(flag, _)| name == flag) {
        let value = value::<LitBool>(input).map_err(|_| Error::new(name.span(), format!("{name} = true, or false")))?;
        return Ok(Box::new(move |builder| set(builder, value.value)));
    }
    if let Some((_, set)) = LISTS.into_iter().find(|(list, _)| name == list) {
        let Names(names) =
            value(input).map_err(|_| Error::new(name.span(), format!("{name} = [\"...\"], with a name at least")))?;
        return Ok(Box::new(move |builder| set(builder, names.clone())));
    }
    let known: Vec<&str> = LISTS.iter().map(|(name, _)| *name).chain(FLAGS.iter().map(|(name, _)| *name)).collect();
    let known = known.join(", ");
    Err(Error::new(name.span(), format!("there is no option `{name}`; the options are {known}")))
}

fn value<T: Parse>(input: ParseStream<'_>) -> Result<T, Error> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// The names in brackets.
struct Names(Vec<String>);

impl Parse for Names {
    fn parse(input: ParseStream<'_>) -> Result<Self, Error> {
        let names;
        bracketed!(names in input);
        let names = Punctuated::<LitStr, Token![,]>::parse_terminated(&names)?;
        if names.is_empty() {
            return Err(input.error("no names"));
        }
        Ok(Names(names.iter().map(LitStr::value).collect()))
    }
}

impl Input {
    fn source(&self) -> PathBuf {
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
        package.join(self.path.value())
    }

    fn builder(&self) -> Builder {
        let builder = Builder::new(self.source()).importer(Importer::new().trust_tree().offline());
        self.options.iter().fold(builder, |builder, (_, change)| change(builder))
    }
}

fn expand(input: &Input) -> Result<TokenStream, Error> {
    let path = &input.path;
    let error = |error: &dyn Display| Error::new(path.span(), format!("{}: {error}", path.value()));
    if is_url(&path.value()) {
        return Err(Error::new(path.span(), download(&path.value())));
    }
    let Generated { code, mut files, .. } = input.builder().generate().map_err(|it| error(&it))?;
    if files.is_empty() {
        // One file with documents from elsewhere.
        files.push(input.source());
    }
    let code: TokenStream = code.parse().map_err(|it| error(&it))?;
    let files = files.iter().map(|file| file.to_string_lossy().into_owned());
    // Included files are watched.
    Ok(quote!(#code #(const _: &[u8] = include_bytes!(#files);)*))
}

fn is_url(path: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| path.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// Says how to download the WSDL at a URL.
fn download(url: &str) -> String {
    format!(
        "a URL cannot be read at compile time: download the WSDL, and name the file here. \
         `curl -o service.wsdl '{url}'` saves the document alone; \
         `deltasoap compile '{url}' -o service.bin` saves it in one file with all that it imports"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(path: &str) -> Result<String, String> {
        with_options(&format!("{path:?}"))
    }

    fn with_options(arguments: &str) -> Result<String, String> {
        let expanded = syn::parse_str::<Input>(arguments).and_then(|input| expand(&input));
        expanded.map(|code| code.to_string()).map_err(|error| error.to_string())
    }

    /// Includes imported documents, so that the crate is recompiled when one changes.
    #[test]
    fn all_documents_are_watched() {
        let events = "../../testdata/wsdl/FalkTannhaeuser+python-onvif-zeep/wsdl/events.wsdl";
        let code = expanded(events).expect("generated");
        let watched: Vec<&str> = code.split("include_bytes ! (").skip(1).collect();
        for file in ["events.wsdl", "bw-2.wsdl", "b-2.xsd"] {
            assert!(watched.iter().any(|path| path.split(')').next().is_some_and(|it| it.contains(file))), "{file}");
        }
    }

    #[test]
    fn errors_say_which_description_and_what() {
        let error = expanded("no/such.wsdl").expect_err("nothing there");
        assert!(error.starts_with("no/such.wsdl: "), "{error}");
        let error = expanded("Cargo.toml").expect_err("no description");
        assert!(error.starts_with("Cargo.toml: ") && error.contains(":1:1"), "{error}");
    }

    /// Of a compiled WSDL, no document needs to exist.
    #[test]
    fn a_compiled_description_is_watched_itself() {
        let text = std::fs::read_to_string("../../examples/codegen/weather.wsdl").expect("a file");
        let import = Importer::new().offline().text(&text).expect("imported");
        let path = std::env::temp_dir().join(format!("deltasoap-macro-{}.bin", std::process::id()));
        std::fs::write(&path, import.compile()).expect("a file");
        let code = expanded(path.to_str().expect("UTF-8"));
        std::fs::remove_file(&path).expect("the file");
        let watched = format!("include_bytes ! ({:?})", path.to_str().expect("UTF-8"));
        assert!(code.expect("generated").contains(&watched), "{watched}");
    }

    #[test]
    fn a_url_is_refused_with_the_commands_that_download_it() {
        for url in ["http://host/shop?wsdl", "HTTPS://host/shop?wsdl"] {
            let error = expanded(url).expect_err("no file");
            assert!(error.starts_with("a URL cannot be read at compile time"), "{error}");
            assert!(error.contains(&format!("`deltasoap compile '{url}' -o service.bin`")), "{error}");
        }
    }

    #[test]
    fn an_unknown_operation_is_answered_with_those_there_are() {
        let arguments = r#""../../examples/codegen/weather.wsdl", operations = ["forcast"]"#;
        let error = with_options(arguments).expect_err("no such operation");
        assert!(error.contains("there is no operation forcast with a SOAP binding; available: forecast, "), "{error}");
    }

    #[test]
    fn options_are_those_of_the_builder() {
        const WEATHER: &str = r#""../../examples/codegen/weather.wsdl""#;
        let code = |options: &str| with_options(&format!("{WEATHER}, {options}")).expect("generated");
        assert!(code("").contains("mod server") && code("").contains("struct Rained"));
        assert!(!code("").contains("serde") && !code("").contains("Unknown (String)"));
        let some = code(r#"operations = ["forecast"], build_server = false"#);
        assert!(some.contains("mod client") && !some.contains("mod server") && !some.contains("struct Rained"));
        assert!(code("serde = true,").contains(":: serde :: Serialize"));
        assert!(code("unknown_enum_values = true").contains("Unknown (String)"));
        assert!(!code("build_client = false").contains("mod client"));
        assert!(code(r#"types = ["rained"]"#).contains("struct Rained"));
        assert!(!code("embed_wsdl = false").contains("definitions"));
    }

    #[test]
    fn wrong_options_are_errors() {
        for (options, reason) in [
            ("serde", "serde = true, or false"),
            ("serde = 1", "serde = true, or false"),
            (r#"serde = ["a"]"#, "serde = true, or false"),
            ("types = true", r#"types = ["..."]"#),
            ("operations = []", r#"operations = ["..."], with a name at least"#),
            ("serde = true, serde = false", "`serde` is set twice"),
            ("client = true", "there is no option `client`; the options are operations,"),
        ] {
            let error =
                with_options(&format!(r#""../../examples/codegen/weather.wsdl", {options}"#)).expect_err(options);
            assert!(error.contains(reason), "{options}: {error}");
        }
    }
}
