//! Servers that follow each other on one address.

#![cfg(unix)]

use super::*;
use command_fds::{CommandFdExt, FdMapping};
use std::net::TcpListener;

#[test]
fn a_new_server_starts_before_the_old_one_stops() {
    let mut old = serving(&["mock", &shop(), "--reuse-port"]);
    let address = old.address().to_string();
    let start = |more: &[&str]| {
        let mut command = command();
        command.args(["mock", &shop(), "--listen", &address]).args(more);
        command
    };
    let refused = start(&[]).output().expect("it runs");
    assert!(!refused.status.success() && stderr(&refused).contains("another program listens there"), "{refused:?}");
    let _new = Serving::start(&mut start(&["--reuse-port"]));
    old.signal("TERM");
    assert!(old.child.wait().expect("an end").success());
    let output = run(&["call", &shop(), "Order", "-d", ORDER, "--endpoint", &old.url]);
    assert!(output.status.success(), "{output:?}");
}

/// As by a systemd socket unit: the listener outlives the servers.
#[test]
fn servers_take_the_sockets_of_systemd() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let start = |program: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", "LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_deltasoap")]);
        command.args(program);
        let parent_fd = listener.try_clone().expect("a copy").into();
        command.fd_mappings(vec![FdMapping { parent_fd, child_fd: 3 }]).expect("no collision");
        command
    };
    for _ in 0..2 {
        let mut server = Serving::start(&mut start(&["mock", &shop(), "--listen", "127.0.0.1:1"]));
        assert_eq!(server.address(), address);
        let output = run(&["call", &shop(), "Order", "-d", ORDER, "--endpoint", &server.url]);
        assert!(output.status.success(), "{output:?}");
        server.signal("TERM");
        assert!(server.child.wait().expect("an end").success());
    }
    let other = std::fs::File::open("/dev/null").expect("a file");
    let mut command = Command::new("sh");
    command.args(["-c", "LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_deltasoap")]);
    command.args(["mock", &shop()]);
    command.fd_mappings(vec![FdMapping { parent_fd: other.into(), child_fd: 3 }]).expect("no collision");
    let refused = command.output().expect("it runs");
    assert!(!refused.status.success() && stderr(&refused).contains("LISTEN_FDS"), "{refused:?}");
}
