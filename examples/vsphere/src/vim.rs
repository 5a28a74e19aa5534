//! The part of vSphere's Web Services API (`urn:vim25`) that a poller of properties needs.
//!
//! Types have only the fields that the program uses: clients skip elements that a type does not
//! have, of which this API has hundreds. `deltasoap generate` generates the whole API.

use deltasoap::Soap;
use deltasoap::types::Node;

/// A reference to an object of the server.
#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:vim25")]
pub struct ManagedObjectReference {
    #[soap(attribute, name = "type")]
    pub kind: String,
    #[soap(text)]
    pub value: String,
}

/// Declares messages: an operation's parameters, and its result.
macro_rules! messages {
    ($($(#[$doc:meta])* $request:ident { $($(#[$soap:meta])* $field:ident: $type:ty,)* } -> $response:ident { $($returned:ident: $result:ty)? })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Soap)]
        #[soap(namespace = "urn:vim25", message, response = $response, qualified, rename_all = "camelCase")]
        pub struct $request {
            #[soap(name = "_this")]
            pub this: ManagedObjectReference,
            $($(#[$soap])* pub $field: $type,)*
        }

        #[derive(Debug, Clone, PartialEq, Soap)]
        #[soap(namespace = "urn:vim25", message, qualified)]
        pub struct $response {
            $(pub $returned: $result,)?
        }
    )*};
}

messages! {
    RetrieveServiceContent {} -> RetrieveServiceContentResponse { returnval: ServiceContent }
    Login { user_name: String, password: String, } -> LoginResponse { returnval: UserSession }
    Logout {} -> LogoutResponse {}
    /// Creates a view of all objects of some kinds below a folder.
    CreateContainerView {
        container: ManagedObjectReference,
        #[soap(name = "type")]
        kinds: Vec<String>,
        recursive: bool,
    } -> CreateContainerViewResponse { returnval: ManagedObjectReference }
    DestroyView {} -> DestroyViewResponse {}
    /// Selects the changes that [`WaitForUpdatesEx`] reports.
    CreateFilter { spec: PropertyFilterSpec, partial_updates: bool, } -> CreateFilterResponse { returnval: ManagedObjectReference }
    WaitForUpdatesEx { version: Option<String>, options: Option<WaitOptions>, } -> WaitForUpdatesExResponse { returnval: Option<UpdateSet> }
    RetrievePropertiesEx { spec_set: Vec<PropertyFilterSpec>, options: RetrieveOptions, } -> RetrievePropertiesExResponse { returnval: Option<RetrieveResult> }
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct ServiceContent {
    pub root_folder: ManagedObjectReference,
    pub property_collector: ManagedObjectReference,
    pub view_manager: Option<ManagedObjectReference>,
    pub about: AboutInfo,
    pub session_manager: Option<ManagedObjectReference>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct AboutInfo {
    pub full_name: String,
    pub api_version: String,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct UserSession {
    pub key: String,
    pub user_name: String,
}

/// Selects properties of objects.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct PropertyFilterSpec {
    pub prop_set: Vec<PropertySpec>,
    pub object_set: Vec<ObjectSpec>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct PropertySpec {
    #[soap(name = "type")]
    pub kind: String,
    pub all: Option<bool>,
    pub path_set: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct ObjectSpec {
    pub obj: ManagedObjectReference,
    pub skip: Option<bool>,
    pub select_set: Vec<Selection>,
}

/// A step from one object to others. The element's `xsi:type` gives its kind.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", derived)]
pub enum Selection {
    Traversal(TraversalSpec),
    #[soap(other)]
    Other(Node),
}

/// A step to all objects that a property of objects of a kind refers to.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct TraversalSpec {
    pub name: Option<String>,
    #[soap(name = "type")]
    pub kind: String,
    pub path: String,
    pub skip: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct RetrieveOptions {
    pub max_objects: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct RetrieveResult {
    pub token: Option<String>,
    pub objects: Vec<ObjectContent>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct ObjectContent {
    pub obj: ManagedObjectReference,
    pub prop_set: Vec<DynamicProperty>,
}

/// A property, whose value may have any type, given by `xsi:type`.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified)]
pub struct DynamicProperty {
    pub name: String,
    pub val: Node,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct WaitOptions {
    pub max_wait_seconds: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct UpdateSet {
    pub version: String,
    pub filter_set: Vec<PropertyFilterUpdate>,
    pub truncated: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct PropertyFilterUpdate {
    pub filter: ManagedObjectReference,
    pub object_set: Vec<ObjectUpdate>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
pub struct ObjectUpdate {
    /// `enter`, `modify` or `leave`.
    pub kind: String,
    pub obj: ManagedObjectReference,
    pub change_set: Vec<PropertyChange>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:vim25", qualified)]
pub struct PropertyChange {
    pub name: String,
    pub op: String,
    pub val: Option<Node>,
}
