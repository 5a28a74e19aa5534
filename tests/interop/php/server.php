<?php
// Echoes every kind of /types and /encoded with ext-soap: a script for `php -S`, which serve.php runs.
//
// The environment variables TYPES and ENCODED name the WSDL files. With /utf-16 after the path, responses are in UTF-16.

declare(strict_types=1);

require __DIR__ . '/values.php';

ini_set('precision', '17');

/** The operations of all kinds. */
final class Service
{
    public function __construct(private string $style)
    {
    }

    public function __call(string $operation, array $arguments): mixed
    {
        if (!str_starts_with($operation, 'echo')) {
            throw new SoapFault('Client', "no operation $operation");
        }
        $literal = $this->style === 'types';
        $value = typed($literal ? $arguments[0]->value : $arguments[0]);
        return $literal ? ['value' => $value] : $value;
    }

    /** Handles the header block, whose name PHP does not distinguish from the operation's, then the operation. */
    public function trace(mixed ...$arguments): mixed
    {
        $block = $arguments[0] ?? null;
        if (isset($block->hops)) {
            return (object) ['id' => $block->id, 'hops' => $block->hops + 1];
        }
        return $this->style === 'types' ? new stdClass() : null;
    }

    public function fail(mixed $request): mixed
    {
        $code = $this->style === 'types' ? $request->code : $request;
        $detail = (object) ['code' => $code, 'limit' => iconv_strlen($code, 'UTF-8')];
        $detail = $this->style === 'types' ? (object) ['Failure' => $detail] : $detail;
        throw new SoapFault('Server', 'this operation always fails', null, $detail, 'Failure');
    }
}

$parts = explode('/', trim(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH), '/'));
$style = $parts[0] === 'encoded' ? 'encoded' : 'types';
$is12 = str_contains($_SERVER['CONTENT_TYPE'] ?? '', 'application/soap+xml');
$server = new SoapServer(getenv(strtoupper($style)), [
    'cache_wsdl' => WSDL_CACHE_NONE,
    'soap_version' => $is12 ? SOAP_1_2 : SOAP_1_1,
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
    'classmap' => CLASSES,
    'typemap' => typemap(),
]);
$server->setObject(new Service($style));
ob_start();
$server->handle();
$answer = ob_get_clean();
if (in_array('utf-16', $parts, true)) {
    $answer = "\xff\xfe" . iconv('UTF-8', 'UTF-16LE', str_replace('encoding="UTF-8"', 'encoding="UTF-16"', $answer));
    header('Content-Type: ' . ($is12 ? 'application/soap+xml' : 'text/xml') . '; charset=utf-16');
}
header('Content-Length: ' . strlen($answer));
echo $answer;
