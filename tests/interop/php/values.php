<?php
// Classes for types that others are derived from, and what ext-soap has to be told to keep values as they are.

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

/** Types with the classes that they are read as. */
const CLASSES = ['Shape' => Shape::class, 'Circle' => Circle::class, 'Rectangle' => Rectangle::class, 'Square' => Square::class];

const XSD = 'http://www.w3.org/2001/XMLSchema';

/** Integers that PHP's have no room for stay text. */
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

/** The value with objects of the classes above marked with their type, so that it is written. */
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
