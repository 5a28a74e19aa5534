// The kinds of values of one of the two WSDLs, and the differences of the code that is generated
// from them: ENCODED is defined for encoded.wsdl. An operation in rpc style takes its parts, one in
// document style a message with them.

#pragma once

#include <string>

#ifdef ENCODED

#include "EncodedSoap11.nsmap"
#define STYLE "encoded"
#define KINDS(KIND)                                                                                        \
  KIND(Integers) KIND(Reals) KIND(Times) KIND(Calendar) KIND(Texts) KIND(Qualified) KIND(Nils) KIND(Drawing) \
  KIND(Anything) KIND(Arrays) KIND(Jagged) KIND(Grids) KIND(Sparse) KIND(Large) KIND(Graph)
using Block = ns1__Trace;
#define TRACE ns2__Trace

#else

#include "TypesSoap11.nsmap"
#define STYLE "literal"
#define KINDS(KIND)                                                                                            \
  KIND(Integers) KIND(Reals) KIND(Times) KIND(Calendar) KIND(Texts) KIND(Qualified) KIND(Nils) KIND(Contacts) \
  KIND(Steps) KIND(Drawing) KIND(Lists) KIND(Large)
using Block = ns1__Trace;
#define TRACE ns1__Trace_

#endif
