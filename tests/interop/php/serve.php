<?php
// Runs server.php in PHP's development web server, on a free port.
//
//     php serve.php TYPES-WSDL ENCODED-WSDL

declare(strict_types=1);

$socket = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($socket, false);
fclose($socket);
putenv("TYPES=$argv[1]");
putenv("ENCODED=$argv[2]");
// The server ends with this script, however the script ends.
$command = ['setpriv', '--pdeathsig', 'KILL', PHP_BINARY, '-q', '-S', $address, __DIR__ . '/server.php'];
$server = proc_open($command, [], $pipes);
[$host, $port] = explode(':', $address);
for ($tries = 0; $tries < 100 && !@fsockopen($host, (int) $port); $tries++) {
    usleep(50_000);
}
echo "listening on http://$address/types\n";
while (proc_get_status($server)['running']) {
    sleep(1);
}
