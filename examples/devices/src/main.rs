//! Many devices that reconnect for each message: what is saved when the service compares the
//! messages of all of them.
//!
//! ```text
//! cargo run --release -p example-devices -- [DEVICES] [ROUNDS]
//! ```
//!
//! Each device reports the same parameters with values of its own, in turn. Prints a line for each
//! way of decoding: the decode time per message, as measured by the service, and the counters of
//! differential decoding.

use deltasoap::engine::Differential;
use deltasoap::server::{Sharing, SoapServiceBuilder, StatsSnapshot};
use deltasoap::soap::Envelope;
use deltasoap::{Lease, Server, Soap, SoapService};
use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[derive(Debug, Soap)]
#[soap(namespace = "urn:devices", message)]
struct Report {
    device: String,
    uptime: u32,
    parameter: Vec<Parameter>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:devices")]
struct Parameter {
    name: String,
    value: String,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:devices", message)]
struct Noted {
    parameters: i32,
}

const NAMES: [&str; 10] = [
    "Device.DeviceInfo.HardwareVersion",
    "Device.DeviceInfo.SoftwareVersion",
    "Device.DeviceInfo.ProvisioningCode",
    "Device.ManagementServer.ParameterKey",
    "Device.ManagementServer.ConnectionRequestURL",
    "Device.WANDevice.1.WANConnectionDevice.1.WANIPConnection.1.ExternalIPAddress",
    "Device.LANDevice.1.WLANConfiguration.1.Channel",
    "Device.LANDevice.1.WLANConfiguration.1.TotalAssociations",
    "Device.LANDevice.1.Hosts.HostNumberOfEntries",
    "Device.Time.CurrentLocalTime",
];

impl Report {
    /// Creates a device's message: some values are shared by all devices, some are the device's
    /// own, some are new each time.
    fn new(device: usize, round: usize) -> Self {
        let value = |index: usize| match index {
            0..=3 => format!("1.{index}.0"),
            4..=6 => format!("http://10.0.{}.{}:7547/", device / 256, device % 256),
            _ => format!("{}", (device * 31 + round * 17 + index) % 200),
        };
        let parameter = NAMES.iter().enumerate();
        let parameter = parameter.map(|(index, name)| Parameter { name: (*name).to_owned(), value: value(index) });
        Report { device: format!("{device:06}"), uptime: 1000 + 60 * round as u32, parameter: parameter.collect() }
    }

    /// Returns the HTTP request, the last of its connection.
    fn request(&self) -> Result<Vec<u8>, deltasoap::Error> {
        let body = Envelope::new(self).to_vec()?;
        let head =
            "POST / HTTP/1.1\r\nHost: h\r\nUser-Agent: device/1.0\r\nContent-Type: text/xml\r\nConnection: close\r\n";
        let mut request = format!("{head}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        request.extend_from_slice(&body);
        Ok(request)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse::<usize>());
    let (devices, rounds) = (number(200)?, number(50)?);
    println!("{:>22} {:>12} {:>10} {:>9} {:>12}", "", "decode, µs", "compared", "skipped", "kept, bytes");
    let builder = SoapService::builder;
    print("regular", &run(builder().differential(Differential::OFF), devices, rounds).await?);
    print("by connection", &run(builder(), devices, rounds).await?);
    print("shared by operation", &run(builder().sharing(Sharing::Operation), devices, rounds).await?);
    Ok(())
}

/// Sends all messages to a service; returns its counters.
async fn run(builder: SoapServiceBuilder, devices: usize, rounds: usize) -> Result<StatsSnapshot, Box<dyn Error>> {
    let noted = async |report: Lease<Report>| Ok::<_, Infallible>(Noted { parameters: report.parameter.len() as i32 });
    let service = builder.operation(noted).build()?;
    let stats = service.stats();
    let server = Server::bind("127.0.0.1:0").await?;
    let (address, handle) = (server.local_addr()?, server.handle());
    let serving = tokio::spawn(server.serve(service));
    for round in 0..rounds {
        for device in 0..devices {
            exchange(address, &Report::new(device, round).request()?).await?;
        }
    }
    let now = stats.snapshot();
    handle.shutdown();
    serving.await??;
    Ok(now)
}

/// Prints a service's line.
fn print(label: &str, now: &StatsSnapshot) {
    let micros = now.decode_time.as_secs_f64() * 1e6 / now.messages as f64;
    let differential = &now.differential;
    let skipped = differential.fast_bytes as f64 / (differential.fast_bytes + differential.regular_bytes).max(1) as f64;
    let (compared, skipped) = (100.0 * differential.compared as f64 / now.messages as f64, 100.0 * skipped);
    println!("{label:>22} {micros:>12.2} {compared:>8.1} % {skipped:>7.1} % {:>12}", differential.memory);
}

/// Sends a request over a connection of its own and reads the answer to its end.
async fn exchange(address: SocketAddr, request: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    if answer.starts_with(b"HTTP/1.1 200") { Ok(()) } else { Err(String::from_utf8_lossy(&answer).into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICES: usize = 5;
    const ROUNDS: usize = 4;

    #[tokio::test]
    async fn only_those_that_share_are_compared() -> Result<(), Box<dyn Error>> {
        for (sharing, compared) in [(Sharing::default(), 0), (Sharing::Operation, DEVICES * ROUNDS - 1)] {
            let differential = Differential { adaptive: false, ..Differential::default() };
            let builder = SoapService::builder().sharing(sharing).differential(differential);
            let counted = run(builder, DEVICES, ROUNDS).await?;
            assert_eq!((counted.messages, counted.faults), ((DEVICES * ROUNDS) as u64, 0));
            assert_eq!(counted.differential.compared, compared as u64, "{sharing:?}");
        }
        Ok(())
    }
}
