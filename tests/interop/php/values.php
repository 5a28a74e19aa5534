<?php
// Classes for base types and their derived types, and the options with which ext-soap preserves values.

declare(strict_types=1);

class Shape
{
}

class Circle extends Shape
{
}

class Rectangle extends Shape
{
}

class Square extends Rectangle
{
}

/** The classes that types are decoded to. */
const CLASSES = ['Shape' => Shape::class, 'Circle' => Circle::class, 'Rectangle' => Rectangle::class, 'Square' => Square::class];

const XSD = 'http://www.w3.org/2001/XMLSchema';

/** Integers that exceed PHP's stay text. */
function typemap(): array
{
    $keep = fn(string $type) => [
        'type_ns' => XSD,
        'type_name' => $type,
        'from_xml' => fn(string $xml) => html_entity_decode(strip_tags($xml)),
        'to_xml' => fn(mixed $value) => "<$type>$value</$type>",
    ];
    return array_map($keep, ['integer', 'unsignedLong']);
}

/** Returns the value, with the type added to objects of the classes above, so that it is written. */
function typed(mixed $value): mixed
{
    if (is_array($value)) {
        return array_map(typed(...), $value);
    }
    if ($value instanceof Shape) {
        return new SoapVar($value, SOAP_ENC_OBJECT, get_class($value), 'urn:types');
    }
    if ($value instanceof stdClass && (isset($value->more) || isset($value->items))) {
        foreach (get_object_vars($value) as $name => $part) {
            $value->$name = typed($part);
        }
    }
    return $value;
}
