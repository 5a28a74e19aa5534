// Encoding and decoding of values of XML Schema types that JavaScript's types cannot represent
// completely.

/** Formats an xsd:double or xsd:float. */
export function floating(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "INF" : "-INF";
  return Object.is(value, -0) ? "-0" : String(value);
}

function parseFloating(text) {
  const special = { INF: Infinity, "+INF": Infinity, "-INF": -Infinity, NaN: NaN };
  return text in special ? special[text] : Number(text);
}

/**
 * Options for node-soap: longs and decimals stay text, since JavaScript's numbers are doubles; so
 * do dates, which Date would convert to UTC.
 */
export const deserializers = {
  double: parseFloating,
  float: parseFloating,
  long: (text) => text,
  decimal: (text) => text,
  dateTime: (text) => text,
  date: (text) => text,
};

/** Unbounded integers stay text too. */
export const keeping = { ...deserializers, integer: (text) => text, unsignedLong: (text) => text };

/** Prepares a value for node-soap: formats numbers that JavaScript would format differently. */
export function written(value) {
  if (typeof value === "number") {
    return Number.isInteger(value) ? value : floating(value);
  }
  if (Array.isArray(value)) {
    return value.map(written);
  }
  if (value !== null && typeof value === "object" && !(value instanceof Date)) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, written(part)]));
  }
  return value;
}
