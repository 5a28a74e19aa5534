//! PHP's ext-soap, from Debian's packages.

use std::process::Command;

use anyhow::Result;

use super::ours::Ours;
use super::process::Server;
use super::{Peer, PeerServer, Unsupported, ValueServers, ValueService};
use crate::{debian, shell};

pub struct Php;

const PACKAGES: [&str; 2] = ["php-cli", "php-soap"];

const NAN: &str = "it is written as NAN, which is not a valid value";
const NAME: &str = "names are text: the declaration of the prefix is not kept";
const UNSUPPORTED: Unsupported = &[
    ("literal primitives/not a number", NAN),
    ("encoded primitives/not a number", NAN),
    ("literal primitives/a qualified name", NAME),
    ("encoded primitives/a qualified name", NAME),
    ("encoded sparse", "positions become keys, which are not written"),
    (
        "literal choice/repeated branches in their order",
        "elements with one name become one array: their order among others is lost",
    ),
    (
        "encoded headers/a header block",
        "a header block with the name of an operation, ignoring case, is taken for a call of it",
    ),
];

impl Peer for Php {
    fn name(&self) -> &'static str {
        "PHP"
    }

    fn install(&self, _: &Ours) -> Result<()> {
        debian::install(&PACKAGES)
    }

    /// The script covers only values.
    fn client(&self) -> Result<Option<Command>> {
        Ok(None)
    }

    fn server(&self, _: &Ours) -> Result<Option<PeerServer>> {
        Ok(None)
    }

    fn value_clients(&self) -> Result<Option<(Vec<Command>, Unsupported)>> {
        Ok(Some((vec![shell::command("php", [shell::root().join("tests/interop/php/client.php")])], &[])))
    }

    fn value_servers(&self, ours: &Ours) -> Result<Option<ValueServers>> {
        let mut command = shell::command("php", [shell::root().join("tests/interop/php/serve.php")]);
        command.arg(&ours.types).arg(&ours.encoded);
        let server = Server::start("php", &mut command, 1)?;
        let types = ValueService { utf_16: Some(server.at("/types/utf-16")), ..ValueService::at(server.at("/types")) };
        let (types, encoded) = (Some(types), Some(ValueService::at(server.at("/encoded"))));
        Ok(Some(ValueServers { _servers: vec![server], types, encoded, unsupported: UNSUPPORTED }))
    }
}
