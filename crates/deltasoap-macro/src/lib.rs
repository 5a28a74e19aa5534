//! `wsdl!`: Rust for a WSDL, generated where the macro is used.

#![forbid(unsafe_code)]

use deltasoap_codegen::{Builder, Generated};
use deltasoap_wsdl::Importer;
use proc_macro2::TokenStream;
use quote::quote;
use std::fmt::Display;
use std::path::PathBuf;
use syn::{Error, LitStr, parse_macro_input};

/// Generates types, clients and server traits for a WSDL, like `deltasoap-codegen`. The path is
/// relative to the folder of the package (`CARGO_MANIFEST_DIR`). Documents are read only from
/// files, and the crate is recompiled when one of them changes.
///
/// ```
/// #[allow(clippy::all, dead_code, missing_docs)]
/// mod weather {
///     deltasoap::wsdl!("../../examples/codegen/weather.wsdl");
/// }
///
/// let rained = weather::Rained { millimetres: None };
/// let client = weather::client::WeatherClient::new(weather::client::WeatherClient::ADDRESS)?;
/// # Ok::<(), deltasoap::client::InvalidUrl>(())
/// ```
///
/// Errors in a WSDL are compiler errors at the macro, with document, line and column.
#[proc_macro]
pub fn wsdl(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let path = parse_macro_input!(input as LitStr);
    expand(&path).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(path: &LitStr) -> Result<TokenStream, Error> {
    let error = |error: &dyn Display| Error::new(path.span(), format!("{}: {error}", path.value()));
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let builder = Builder::new(package.join(path.value())).importer(Importer::new().trust_tree().offline());
    let Generated { code, files, .. } = builder.generate().map_err(|it| error(&it))?;
    let code: TokenStream = code.parse().map_err(|it| error(&it))?;
    let files = files.iter().map(|file| file.to_string_lossy().into_owned());
    // Included files are watched.
    Ok(quote!(#code #(const _: &[u8] = include_bytes!(#files);)*))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;

    fn expanded(path: &str) -> Result<String, String> {
        let expanded = expand(&LitStr::new(path, Span::call_site()));
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
}
