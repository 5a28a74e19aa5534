#!/bin/sh
# Three servers behind a load balancer.
#
#     fleet.sh start         starts the servers, and HAProxy with haproxy.cfg
#     fleet.sh restart N     asks server N to stop, waits until it has, and starts it again
#     fleet.sh roll          restarts all servers, one after the other
#     fleet.sh stop          stops everything
#
# Each process has a file with its number in FLEET_DIR, and a log. With FLEET_ENVOY, the program of
# Envoy, that is started with envoy.yaml in place of HAProxy.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${FLEET_PROGRAM:=$here/../../target/release/example-fleet}"
# What a server remembers is in it, so it is no folder that others can make.
: "${FLEET_DIR:=$here/../../target/fleet}"
umask 077
# by-url, by-source or by-cookie
: "${FLEET_AFFINITY:=by-url}"
: "${FLEET_LISTEN:=127.0.0.1:7547}"
: "${FLEET_SERVER_1:=127.0.0.1:7551}"
: "${FLEET_SERVER_2:=127.0.0.1:7552}"
: "${FLEET_SERVER_3:=127.0.0.1:7553}"
# Seconds for which a server that is to stop says so and goes on answering.
: "${FLEET_DRAIN:=2}"
# MiB of earlier messages that a server keeps.
: "${FLEET_MEMORY:=256}"
export FLEET_DIR FLEET_AFFINITY FLEET_LISTEN FLEET_SERVER_1 FLEET_SERVER_2 FLEET_SERVER_3

# Starts a command in the background, with a log and a file with its number. A shell waits for it, since
# Envoy ends with the process that has started it.
launch() {
    name=$1
    shift
    rm -f "$FLEET_DIR/$name.pid"
    (
        "$@" &
        echo $! >"$FLEET_DIR/$name.new"
        mv "$FLEET_DIR/$name.new" "$FLEET_DIR/$name.pid"
        wait
    ) >>"$FLEET_DIR/$name.log" 2>&1 </dev/null &
    until [ -f "$FLEET_DIR/$name.pid" ]; do sleep 0.01; done
}

# A process that has ended may still be there as a zombie.
is_running() {
    [ -f "$FLEET_DIR/$1.pid" ] || return 1
    process=$(cat "$FLEET_DIR/$1.pid")
    kill -0 "$process" 2>/dev/null && ! grep -q '^State:.*Z' "/proc/$process/status" 2>/dev/null
}

# Asks a process to stop, and waits until it has.
finish() {
    if is_running "$1"; then
        kill "$(cat "$FLEET_DIR/$1.pid")" 2>/dev/null || true
        while is_running "$1"; do sleep 0.05; done
    fi
    rm -f "$FLEET_DIR/$1.pid"
}

# Starts server N, and waits until it listens.
serve() {
    eval "address=\$FLEET_SERVER_$1"
    : >"$FLEET_DIR/s$1.log"
    launch "s$1" "$FLEET_PROGRAM" "$address" "$FLEET_DRAIN" "$FLEET_MEMORY" "$FLEET_DIR/s$1.memories"
    until grep -q '^listening' "$FLEET_DIR/s$1.log"; do
        is_running "s$1" || { cat "$FLEET_DIR/s$1.log" >&2; exit 1; }
        sleep 0.05
    done
}

# Envoy takes no variables: the ports are written into a copy of its configuration.
balance() {
    if [ -z "${FLEET_ENVOY:-}" ]; then
        launch balancer haproxy -db -f "$here/haproxy.cfg"
        return
    fi
    sed -e "s/port_value: 7547/port_value: ${FLEET_LISTEN##*:}/" \
        -e "s/port_value: 7551/port_value: ${FLEET_SERVER_1##*:}/" \
        -e "s/port_value: 7552/port_value: ${FLEET_SERVER_2##*:}/" \
        -e "s/port_value: 7553/port_value: ${FLEET_SERVER_3##*:}/" "$here/envoy.yaml" >"$FLEET_DIR/envoy.yaml"
    launch balancer "$FLEET_ENVOY" --use-dynamic-base-id --log-level warning -c "$FLEET_DIR/envoy.yaml"
}

case "${1:-}" in
start)
    mkdir -p "$FLEET_DIR"
    for server in 1 2 3; do serve $server; done
    balance
    # Long enough to read its configuration, and to see that the servers are ready.
    sleep 1.5
    is_running balancer || { cat "$FLEET_DIR/balancer.log" >&2; exit 1; }
    echo "listening on http://$FLEET_LISTEN/"
    ;;
restart)
    finish "s$2"
    serve "$2"
    ;;
roll)
    for server in 1 2 3; do
        finish "s$server"
        serve $server
        # HAProxy must see that it is ready again before the next one stops.
        sleep 1
    done
    ;;
stop)
    finish balancer
    for server in 1 2 3; do finish "s$server"; done
    ;;
*)
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
