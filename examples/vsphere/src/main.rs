//! Polls the virtual machines of a vCenter, an ESXi host or `vcsim`: a session with cookies, a
//! view, a filter with updates, and properties that are fetched again and again.
//!
//! ```text
//! go install github.com/vmware/govmomi/vcsim@latest && vcsim -tls=false -vm 200 &
//! cargo run --release -p example-vsphere -- http://127.0.0.1:8989/sdk user pass
//! ```
//!
//! The answers to polls are similar. A *lease* on an answer returns it to the client afterwards, so
//! that only the differences of the next answer are decoded. The program prints the time of a poll
//! with and without leases.

mod vim;

use deltasoap::Client;
use deltasoap::client::CallError;
use std::error::Error;
use std::time::{Duration, Instant};
use vim::*;

/// The properties that are polled.
const PROPERTIES: [&str; 4] = ["name", "runtime", "summary", "config.hardware"];
/// Number of polls of each kind, which alternate.
const POLLS: usize = 100;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let (url, user, password) = (argument("http://127.0.0.1:8989/sdk"), argument("user"), argument("pass"));
    let vsphere = Session::login(&url, user, password).await?;
    println!("{}, API {}, as {}", vsphere.content.about.full_name, vsphere.content.about.api_version, vsphere.user);
    let view = vsphere.view("VirtualMachine").await?;
    let machines = vsphere.first_update(&view).await?;
    println!("{machines} virtual machines");
    let polled = vsphere.poll(&view, POLLS).await?;
    println!("{:>8} {:>14} {:>14} {:>16}", "", "ms a poll", "machines", "read anew, %");
    println!("{:>8} {:>14.3} {:>14} {:>16}", "whole", millis(polled.whole), polled.machines, 100);
    println!("{:>8} {:>14.3} {:>14} {:>16.1}", "leased", millis(polled.leased), polled.machines, 100.0 * polled.anew);
    vsphere.logout(view).await?;
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A logged-in client.
struct Session {
    client: Client,
    content: ServiceContent,
    manager: ManagedObjectReference,
    user: String,
}

/// The cost of polls, as medians.
struct Polled {
    whole: Duration,
    leased: Duration,
    machines: usize,
    /// Share of the leased answers' bytes that was not skipped.
    anew: f64,
}

impl Session {
    async fn login(url: &str, user_name: String, password: String) -> Result<Self, Box<dyn Error>> {
        // The session is a cookie.
        let client = Client::builder(url).cookies(true).action("urn:vim25/6.5").build()?;
        let this = reference("ServiceInstance", "ServiceInstance");
        let answer = client.call(&RetrieveServiceContent { this }).await?;
        let content = answer.returnval;
        let manager = content.session_manager.clone().ok_or("the server has no session manager")?;
        let login = Login { this: manager.clone(), user_name, password };
        let user = client.call(&login).await?.returnval.user_name;
        Ok(Session { client, content, manager, user })
    }

    async fn logout(self, view: ManagedObjectReference) -> Result<(), CallError> {
        self.client.call(&DestroyView { this: view }).await?;
        self.client.call(&Logout { this: self.manager }).await?;
        Ok(())
    }

    /// Creates a view of all objects of a kind.
    async fn view(&self, kind: &str) -> Result<ManagedObjectReference, Box<dyn Error>> {
        let this = self.content.view_manager.clone().ok_or("the server has no view manager")?;
        let container = self.content.root_folder.clone();
        let create = CreateContainerView { this, container, kinds: vec![kind.to_owned()], recursive: true };
        Ok(self.client.call(&create).await?.returnval)
    }

    /// Creates a filter for the view's machines, and waits for the first update, which contains all
    /// of them. Returns their number.
    async fn first_update(&self, view: &ManagedObjectReference) -> Result<usize, Box<dyn Error>> {
        let this = self.content.property_collector.clone();
        let spec = wanted(view, &["name", "runtime.powerState"]);
        let filter = CreateFilter { this: this.clone(), spec, partial_updates: true };
        self.client.call(&filter).await?;
        let options = Some(WaitOptions { max_wait_seconds: Some(10) });
        let wait = WaitForUpdatesEx { this, version: None, options };
        let update = self.client.call(&wait).await?.returnval;
        let update = update.ok_or("no update within 10 s")?;
        Ok(update.filter_set.iter().map(|filter| filter.object_set.len()).sum())
    }

    /// Fetches the properties in full and with leases, alternately.
    async fn poll(&self, view: &ManagedObjectReference, polls: usize) -> Result<Polled, Box<dyn Error>> {
        let this = self.content.property_collector.clone();
        let options = RetrieveOptions { max_objects: None };
        let retrieve = RetrievePropertiesEx { this, spec_set: vec![wanted(view, &PROPERTIES)], options };
        let (mut whole, mut leased, mut machines) = (Vec::new(), Vec::new(), 0);
        for _ in 0..polls {
            let begin = Instant::now();
            let answer = self.client.call(&retrieve).await?;
            whole.push(begin.elapsed());
            machines = count(&answer);
            drop(answer);
            let begin = Instant::now();
            let answer = self.client.call_leased_as::<RetrievePropertiesExResponse>(&retrieve).await?;
            leased.push(begin.elapsed());
            if count(&answer) != machines {
                return Err("the number of machines changed".into());
            }
        }
        let stats = self.client.differential_stats();
        let (skipped, read) = (stats.fast_bytes as f64, stats.regular_bytes as f64);
        Ok(Polled { whole: median(whole), leased: median(leased), machines, anew: read / (skipped + read).max(1.0) })
    }
}

fn count(answer: &RetrievePropertiesExResponse) -> usize {
    answer.returnval.as_ref().map_or(0, |result| result.objects.len())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the filter for properties of the machines in a view.
fn wanted(view: &ManagedObjectReference, properties: &[&str]) -> PropertyFilterSpec {
    let path_set = properties.iter().map(|&path| path.to_owned()).collect();
    let machines = PropertySpec { kind: "VirtualMachine".to_owned(), all: None, path_set };
    let (kind, path) = ("ContainerView".to_owned(), "view".to_owned());
    let into_view = Selection::Traversal(TraversalSpec { name: None, kind, path, skip: None });
    let from = ObjectSpec { obj: view.clone(), skip: Some(true), select_set: vec![into_view] };
    PropertyFilterSpec { prop_set: vec![machines], object_set: vec![from] }
}

fn reference(kind: &str, value: &str) -> ManagedObjectReference {
    ManagedObjectReference { kind: kind.to_owned(), value: value.to_owned() }
}

#[cfg(test)]
mod tests;
