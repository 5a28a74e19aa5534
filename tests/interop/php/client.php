<?php
// Fetches every case of the services /types and /encoded from our server with PHP's ext-soap, and sends it back to be checked.
//
//     php client.php TYPES-URL ENCODED-URL
//
// Prints one JSON object per test; tests/interop/README.md documents it.

declare(strict_types=1);

require __DIR__ . '/values.php';

const VERSIONS = ['1.1' => SOAP_1_1, '1.2' => SOAP_1_2];

const NAN_REASON = 'it is written as NAN, which is not a valid value';
const NAME_REASON = 'names are text: the declaration of the prefix is not kept';

/** What ext-soap does not offer, and why: features, or single tests of one. */
const LACKS = [
    'literal choice/repeated branches in their order' => 'elements with one name become one array: their order among others is lost',
    'literal primitives/not a number' => NAN_REASON,
    'encoded primitives/not a number' => NAN_REASON,
    'literal primitives/a qualified name' => NAME_REASON,
    'encoded primitives/a qualified name' => NAME_REASON,
    'encoded sparse' => 'positions become keys, which are not written',
];

/** With fewer digits, doubles do not round-trip. */
ini_set('precision', '17');

/** A client of one service in one version. */
function client(string $url, string $version, array $options = []): SoapClient
{
    $class = $options['class'] ?? SoapClient::class;
    unset($options['class']);
    return new $class("$url?wsdl", $options + [
        'soap_version' => VERSIONS[$version],
        'cache_wsdl' => WSDL_CACHE_NONE,
        'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
        'classmap' => CLASSES,
        'typemap' => typemap(),
        'location' => $url,
        'trace' => false,
    ]);
}

/** A client that writes its requests in UTF-16. */
final class Utf16Client extends SoapClient
{
    public function __doRequest(string $request, string $location, string $action, int $version, bool $oneWay = false): ?string
    {
        $text = str_replace('encoding="UTF-8"', 'encoding="UTF-16"', $request);
        $type = $version === SOAP_1_1 ? 'text/xml; charset=utf-16' : 'application/soap+xml; charset=utf-16';
        $context = stream_context_create(['http' => [
            'method' => 'POST',
            'header' => ["Content-Type: $type", "SOAPAction: \"$action\""],
            'content' => "\xff\xfe" . iconv('UTF-8', 'UTF-16LE', $text),
            'ignore_errors' => true,
        ]]);
        return file_get_contents($location, false, $context);
    }
}

final class Tests
{
    public function __construct(private string $style, private string $version, private SoapClient $client, private string $url)
    {
    }

    public function run(): void
    {
        $answer = $this->call('cases', []);
        foreach ($this->style === 'literal' ? $answer->case : $answer as $case) {
            $this->test($case->feature, $case->name, fn() => $this->check($this->client, $case->kind, $case->name));
        }
        $this->test('headers', 'a header block', fn() => $this->trace(true));
        $this->test('headers', 'no header block', fn() => $this->trace(false));
        foreach (['quota', '<a & b> 漢字'] as $code) {
            $this->test('faults', "a typed fault, code $code", fn() => $this->fail($code));
        }
        if ($this->style === 'literal') {
            $client = client($this->url, $this->version, ['class' => Utf16Client::class]);
            foreach (['texts', 'texts of many scripts'] as $name) {
                $this->test('utf-16', "$name in a request", fn() => $this->check($client, 'Texts', $name));
            }
        }
    }

    private function call(string $operation, array $arguments, ?SoapClient $client = null): mixed
    {
        return ($client ?? $this->client)->__soapCall($operation, $this->style === 'literal' ? [$arguments] : $arguments);
    }

    private function check(SoapClient $client, string $kind, string $name): void
    {
        $value = $this->call("sample$kind", ['case' => $name], $client);
        $value = $this->style === 'literal' ? $value->value : $value;
        $problem = $this->call("check$kind", ['case' => $name, 'value' => typed($value)], $client);
        expect($this->style === 'literal' ? $problem->problem : $problem, '', 'problem');
    }

    private function trace(bool $sends): void
    {
        $namespace = $this->style === 'literal' ? 'urn:types' : 'urn:encoded';
        $block = new SoapHeader($namespace, 'Trace', (object) ['id' => 'abc <1>', 'hops' => 41], true);
        $answered = [];
        $arguments = $this->style === 'literal' ? [[]] : [];
        $this->client->__soapCall('trace', $arguments, null, $sends ? [$block] : null, $answered);
        expect((array) ($answered['Trace'] ?? []), $sends ? ['id' => 'abc <1>', 'hops' => 42] : [], 'header block');
    }

    private function fail(string $code): void
    {
        try {
            $this->call('fail', ['code' => $code]);
        } catch (SoapFault $fault) {
            // Details are decoded without the WSDL: their content is text.
            $expected = ['code' => $code, 'limit' => (string) iconv_strlen($code, 'UTF-8')];
            expect((array) ($fault->detail->Failure ?? []), $expected, 'detail');
            return;
        }
        throw new RuntimeException('expected a fault, got a response');
    }

    private function test(string $feature, string $test, callable $run): void
    {
        $feature = "$this->style $feature";
        $skipped = LACKS[$feature] ?? LACKS["$feature/$test"] ?? null;
        $detail = '';
        try {
            $skipped ?? $run();
        } catch (Throwable $error) {
            $detail = substr($error->getMessage(), 0, 600) ?: get_class($error);
        }
        $line = ['soap' => $this->version, 'feature' => $feature, 'test' => $test, 'ok' => $detail === '', 'detail' => $detail];
        $line += $skipped === null ? [] : ['skipped' => $skipped];
        echo json_encode($line, JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
    }
}

function expect(mixed $actual, mixed $expected, string $what): void
{
    if ($actual !== $expected) {
        throw new RuntimeException("$what: expected " . json_encode($expected) . ', got ' . json_encode($actual));
    }
}

foreach (array_keys(VERSIONS) as $version) {
    foreach (['literal' => $argv[1], 'encoded' => $argv[2]] as $style => $url) {
        (new Tests($style, $version, client($url, $version), $url))->run();
    }
}
