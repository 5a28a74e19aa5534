//! Generates `weather.rs`.

fn main() -> Result<(), deltasoap_codegen::Error> {
    deltasoap_codegen::Builder::new("weather.wsdl").build()
}
