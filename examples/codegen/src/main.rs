//! A client and a server whose types are generated from a WSDL by the build script.
//!
//! ```text
//! cargo run -p example-codegen -- serve
//! cargo run -p example-codegen -- Oslo
//! ```

use deltasoap::client::Failure;
use deltasoap::server::shutdown_signal;
use deltasoap::soap::TypedFault;
use deltasoap::{Context, Fault, Lease, Nillable, Server};
use weather::{
    Day, Forecast, ForecastChoice, ForecastFault, ForecastResponse, Rained, Sky, UnknownPlace,
    client::WeatherClient,
    server::{Weather, WeatherServer},
};

#[allow(clippy::all, dead_code, missing_docs)]
mod weather {
    include!(concat!(env!("OUT_DIR"), "/weather.rs"));
}

/// Always forecasts sunshine.
struct Optimist;

impl Weather for Optimist {
    async fn forecast(&self, _: Context, request: Lease<Forecast>) -> Result<ForecastResponse, ForecastFault> {
        if let ForecastChoice::City(name) = &request.choice
            && name == "Atlantis"
        {
            let unknown = UnknownPlace { name: name.clone() };
            return Err(ForecastFault::UnknownPlace(TypedFault::sender("there is no such place", unknown)));
        }
        let tomorrow = Day { sky: Sky::Clear, celsius: Nillable::Value(21.5) };
        let later = Day { sky: Sky::Cloudy, celsius: Nillable::Nil };
        let days = std::iter::once(tomorrow).chain(std::iter::repeat(later));
        Ok(ForecastResponse { day: days.take(request.days.unwrap_or(2).into()).collect() })
    }

    async fn rained(&self, _: Context, report: Lease<Rained>) -> Result<(), Fault> {
        println!("{:?} mm, they say", report.millimetres);
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1) {
        Some(city) if city != "serve" => show(city).await,
        _ => {
            let server = Server::bind("127.0.0.1:8080").await?;
            println!("listening on http://{}/", server.local_addr()?);
            Ok(server.serve_with_shutdown(WeatherServer::new(Optimist), shutdown_signal()).await?)
        }
    }
}

async fn show(city: String) -> Result<(), Box<dyn std::error::Error>> {
    let client = WeatherClient::new(WeatherClient::ADDRESS)?;
    match client.forecast(&Forecast { choice: ForecastChoice::City(city), days: None }).await {
        Ok(forecast) => println!("{:#?}", forecast.day),
        Err(Failure::Fault(fault)) => println!("refused: {fault}"),
        Err(Failure::Call(error)) => return Err(error.into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::Client;
    use weather::Position;

    #[tokio::test]
    async fn the_client_gets_what_the_server_says() -> Result<(), Box<dyn std::error::Error>> {
        let service = WeatherServer::new(Optimist);
        let client = WeatherClient::with_client(Client::with_service("http://localhost/", service)?);

        let here = ForecastChoice::Position(Position { latitude: 60.4, longitude: 5.3 });
        let forecast = client.forecast(&Forecast { choice: here, days: Some(3) }).await?;
        assert_eq!(forecast.day.len(), 3);
        assert_eq!(forecast.day[0], Day { sky: Sky::Clear, celsius: Nillable::Value(21.5) });

        let nowhere = ForecastChoice::City("Atlantis".to_owned());
        let Err(Failure::Fault(fault)) = client.forecast(&Forecast { choice: nowhere, days: None }).await else {
            panic!("a fault was expected");
        };
        assert!(matches!(*fault, ForecastFault::UnknownPlace(fault) if fault.detail.name == "Atlantis"));

        client.rained(&Rained { millimetres: None }).await?;
        Ok(())
    }
}
