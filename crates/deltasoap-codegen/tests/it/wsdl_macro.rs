//! `wsdl!`: its output, used through the facade: it compiles, and client and server work together.

use deltasoap::client::Failure;
use deltasoap::soap::TypedFault;
use deltasoap::{Client, Context, Fault, Lease, Nillable};
use weather::{
    Day, Forecast, ForecastChoice, ForecastFault, ForecastResponse, Rained, Sky, UnknownPlace,
    client::WeatherClient,
    server::{Weather, WeatherServer},
};

#[allow(clippy::all, dead_code, missing_docs)]
mod weather {
    deltasoap::wsdl!("../../examples/codegen/weather.wsdl");
}

/// A WSDL of another namespace.
#[allow(clippy::all, dead_code, missing_docs)]
mod archive {
    deltasoap::wsdl!("tests/data/archive.wsdl");
}

/// Knows one town.
struct Station;

impl Weather for Station {
    async fn forecast(&self, _: Context, request: Lease<Forecast>) -> Result<ForecastResponse, ForecastFault> {
        match &request.choice {
            ForecastChoice::City(name) if name == "Oslo" => {
                Ok(ForecastResponse { day: vec![Day { sky: Sky::Clear, celsius: Nillable::Nil }] })
            }
            ForecastChoice::City(name) => {
                let unknown = UnknownPlace { name: name.clone() };
                Err(ForecastFault::UnknownPlace(TypedFault::sender("where?", unknown)))
            }
            ForecastChoice::Position(_) => Err(Fault::receiver("not today").into()),
        }
    }

    async fn rained(&self, _: Context, _: Lease<Rained>) -> Result<(), Fault> {
        Ok(())
    }
}

#[tokio::test]
async fn clients_and_servers_understand_each_other() -> Result<(), Box<dyn std::error::Error>> {
    let client = WeatherClient::with_client(Client::with_service("http://localhost/", WeatherServer::new(Station))?);
    let ask = |city: &str| Forecast { choice: ForecastChoice::City(city.to_owned()), days: None };
    let forecast = client.forecast(&ask("Oslo")).await?;
    assert_eq!(forecast.day, [Day { sky: Sky::Clear, celsius: Nillable::Nil }]);
    let Err(Failure::Fault(fault)) = client.forecast(&ask("Atlantis")).await else { panic!("a fault was expected") };
    assert!(matches!(*fault, ForecastFault::UnknownPlace(fault) if fault.detail.name == "Atlantis"));
    client.rained(&Rained { millimetres: None }).await?;
    Ok(())
}

#[test]
fn one_crate_may_have_several() {
    assert_eq!(archive::client::ArchiveClient::ADDRESS, "http://localhost:8080/archive");
}
