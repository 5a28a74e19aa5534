"""What is raised."""

from deltasoap.exceptions import DTDForbidden
from deltasoap.exceptions import EntitiesForbidden
from deltasoap.exceptions import Error
from deltasoap.exceptions import ExternalReferenceForbidden
from deltasoap.exceptions import Fault
from deltasoap.exceptions import IncompleteMessage
from deltasoap.exceptions import IncompleteOperation
from deltasoap.exceptions import LookupError
from deltasoap.exceptions import NamespaceError
from deltasoap.exceptions import SignatureVerificationFailed
from deltasoap.exceptions import TransportError
from deltasoap.exceptions import UnexpectedElementError
from deltasoap.exceptions import ValidationError
from deltasoap.exceptions import WsdlSyntaxError
from deltasoap.exceptions import XMLParseError
from deltasoap.exceptions import XMLSyntaxError
from deltasoap.exceptions import ZeepWarning

__all__ = [
    "DTDForbidden",
    "EntitiesForbidden",
    "Error",
    "ExternalReferenceForbidden",
    "Fault",
    "IncompleteMessage",
    "IncompleteOperation",
    "LookupError",
    "NamespaceError",
    "SignatureVerificationFailed",
    "TransportError",
    "UnexpectedElementError",
    "ValidationError",
    "WsdlSyntaxError",
    "XMLParseError",
    "XMLSyntaxError",
    "ZeepWarning",
]
