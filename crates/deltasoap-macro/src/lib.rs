//! `wsdl!`: Rust for a WSDL, generated where the macro stands.

#![forbid(unsafe_code)]

use deltasoap_codegen::{Builder, Generated};
use deltasoap_wsdl::Importer;
use proc_macro2::TokenStream;
use quote::quote;
use std::path::PathBuf;
use syn::{Error, LitStr, parse_macro_input};

/// Generates types, clients and server traits for a WSDL, as `deltasoap-codegen` does. The path is relative to the folder of the
/// package. Documents are read from files alone; the crate is compiled anew when one of them changes.
///
/// ```ignore
/// #[allow(clippy::all, dead_code, missing_docs)]
/// mod weather {
///     deltasoap::wsdl!("wsdl/weather.wsdl");
/// }
/// ```
#[proc_macro]
pub fn wsdl(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let path = parse_macro_input!(input as LitStr);
    expand(&path).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(path: &LitStr) -> Result<TokenStream, Error> {
    let error = |error: &dyn std::fmt::Display| Error::new(path.span(), error);
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let builder = Builder::new(package.join(path.value())).importer(Importer::new().offline());
    let Generated { code, files } = builder.generate().map_err(|it| error(&it))?;
    let code: TokenStream = code.parse().map_err(|it| error(&it))?;
    let files = files.iter().map(|file| file.to_string_lossy().into_owned());
    Ok(quote!(#code #(const _: &[u8] = include_bytes!(#files);)*))
}
