//! The program against a server that answers like a vCenter with three machines.

use super::*;
use deltasoap::types::Node;
use deltasoap::{Fault, Lease, Server, SoapService};

const MACHINES: usize = 3;

fn content() -> ServiceContent {
    ServiceContent {
        root_folder: reference("Folder", "group-d1"),
        property_collector: reference("PropertyCollector", "propertyCollector"),
        view_manager: Some(reference("ViewManager", "ViewManager")),
        about: AboutInfo { full_name: "a server for tests".to_owned(), api_version: "8.0".to_owned() },
        session_manager: Some(reference("SessionManager", "SessionManager")),
    }
}

fn machines() -> impl Iterator<Item = ManagedObjectReference> {
    (0..MACHINES).map(|number| reference("VirtualMachine", &format!("vm-{number}")))
}

fn value(name: &str) -> Node {
    let text = format!(
        "<val xmlns='urn:vim25' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
         xmlns:xsd='http://www.w3.org/2001/XMLSchema' xsi:type='xsd:string'>{name}</val>"
    );
    Node::parse(text.as_bytes()).expect("an element")
}

fn retrieved(asked: &PropertyFilterSpec) -> RetrieveResult {
    let property = |name: &String| DynamicProperty { name: name.clone(), val: value(name) };
    let properties: Vec<_> = asked.prop_set[0].path_set.iter().map(property).collect();
    let objects = machines().map(|obj| ObjectContent { obj, prop_set: properties.clone() }).collect();
    RetrieveResult { token: None, objects }
}

fn entered() -> UpdateSet {
    let change = PropertyChange { name: "name".to_owned(), op: "assign".to_owned(), val: Some(value("a")) };
    let update = |obj| ObjectUpdate { kind: "enter".to_owned(), obj, change_set: vec![change.clone()] };
    let filter = PropertyFilterUpdate {
        filter: reference("PropertyFilter", "filter-1"),
        object_set: machines().map(update).collect(),
    };
    UpdateSet { version: "1".to_owned(), filter_set: vec![filter], truncated: None }
}

fn service() -> SoapService {
    let login = async |login: Lease<Login>| match login.password.as_str() {
        "right" => {
            Ok(LoginResponse { returnval: UserSession { key: "1".to_owned(), user_name: login.user_name.clone() } })
        }
        _ => Err(Fault::sender("Cannot complete login due to an incorrect user name or password.")),
    };
    SoapService::builder()
        .operation(async |_: Lease<RetrieveServiceContent>| {
            Ok::<_, Fault>(RetrieveServiceContentResponse { returnval: content() })
        })
        .operation(login)
        .operation(async |_: Lease<CreateContainerView>| {
            Ok::<_, Fault>(CreateContainerViewResponse { returnval: reference("ContainerView", "session-1") })
        })
        .operation(async |_: Lease<CreateFilter>| {
            Ok::<_, Fault>(CreateFilterResponse { returnval: reference("PropertyFilter", "filter-1") })
        })
        .operation(async |_: Lease<WaitForUpdatesEx>| {
            Ok::<_, Fault>(WaitForUpdatesExResponse { returnval: Some(entered()) })
        })
        .operation(async |asked: Lease<RetrievePropertiesEx>| {
            Ok::<_, Fault>(RetrievePropertiesExResponse { returnval: Some(retrieved(&asked.spec_set[0])) })
        })
        .operation(async |_: Lease<DestroyView>| Ok::<_, Fault>(DestroyViewResponse {}))
        .operation(async |_: Lease<Logout>| Ok::<_, Fault>(LogoutResponse {}))
        .build()
        .expect("a service")
}

async fn serve() -> String {
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/sdk", server.local_addr().expect("an address"));
    tokio::spawn(server.serve(service()));
    url
}

#[tokio::test]
async fn machines_are_found_and_polled() -> Result<(), Box<dyn Error>> {
    let vsphere = Session::login(&serve().await, "ada".to_owned(), "right".to_owned()).await?;
    assert_eq!((vsphere.user.as_str(), vsphere.content.about.api_version.as_str()), ("ada", "8.0"));
    let view = vsphere.view("VirtualMachine").await?;
    assert_eq!(vsphere.first_update(&view).await?, MACHINES);
    let polled = vsphere.poll(&view, 20).await?;
    assert_eq!(polled.machines, MACHINES);
    assert!((0.0..=1.0).contains(&polled.anew), "{}", polled.anew);
    vsphere.logout(view).await?;
    Ok(())
}

#[tokio::test]
async fn a_wrong_password_is_told() {
    let refused = Session::login(&serve().await, "ada".to_owned(), "wrong".to_owned()).await;
    assert!(refused.err().is_some_and(|error| error.to_string().contains("Cannot complete login")));
}
