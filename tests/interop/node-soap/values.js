// How values of XML Schema are written and read where JavaScript has no type that holds them all.

/** Text of an xsd:double or xsd:float. */
export function floating(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "INF" : "-INF";
  return Object.is(value, -0) ? "-0" : String(value);
}

function parseFloating(text) {
  const special = { INF: Infinity, "+INF": Infinity, "-INF": -Infinity, NaN: NaN };
  return text in special ? special[text] : Number(text);
}

/** For node-soap: longs and decimals stay text, since numbers of JavaScript are doubles; so do dates, which Date would move to UTC. */
export const deserializers = {
  double: parseFloating,
  float: parseFloating,
  long: (text) => text,
  decimal: (text) => text,
  dateTime: (text) => text,
  date: (text) => text,
};
