//! The messages of both services: three operations for each kind.

use crate::*;
use deltasoap::{Message, Soap};

/// A kind with the messages that carry it in one of the services.
pub trait Exchange: 'static {
    /// The kind that is carried.
    type Kind: Kind;
    /// Asks for a case by its name.
    type Sample: Message + From<String> + Send + Sync + 'static;
    /// Contains the case.
    type SampleResponse: Message + From<Self::Kind> + Send + Sync + 'static;
    /// Contains a case by its name, as decoded by the client.
    type Check: Message + Send + Sync + 'static;
    /// Says what is wrong with it.
    type CheckResponse: Message + From<String> + Send + Sync + 'static;
    /// Contains any value.
    type Echo: Message + From<Self::Kind> + Send + Sync + 'static;
    /// Contains the same value.
    type EchoResponse: Message + From<Self::Kind> + Send + Sync + 'static;

    /// Returns the name of the requested case.
    fn name(sample: &Self::Sample) -> &str;
    /// Returns the name of a case, and the value that should equal it.
    fn claim(check: &Self::Check) -> (&str, &Self::Kind);
    /// Returns the value.
    fn value(echo: &Self::Echo) -> &Self::Kind;
    /// Returns the value.
    fn echoed(response: &Self::EchoResponse) -> &Self::Kind;
}

/// An action for each kind.
pub trait Visitor {
    /// Performs the action for one kind.
    fn visit<E: Exchange>(&mut self);
}

/// Declares a message with one field.
macro_rules! message {
    ($namespace:literal, $element:literal: $name:ident { $field:ident: $type:ty }) => {
        #[derive(Debug, Clone, PartialEq, Soap)]
        #[soap(compact, namespace = $namespace, element = $element)]
        pub struct $name {
            $field: $type,
        }

        impl From<$type> for $name {
            fn from($field: $type) -> Self {
                $name { $field }
            }
        }
    };
}

/// Declares the messages of one service, in its namespace, and a function that visits all of its
/// kinds.
macro_rules! service {
    (
        #[doc = $doc:literal] $service:ident in $module:ident, $namespace:literal: $($name:ident of $kind:ident:
        $sample:literal $sample_response:literal $check:literal $check_response:literal $echo:literal $echo_response:literal;)*
    ) => {
        mod $module {
            $(pub mod $name {
                use super::super::*;

                pub struct Messages;

                message! { $namespace, $sample: Sample { case: String } }
                message! { $namespace, $sample_response: SampleResponse { value: $kind } }
                message! { $namespace, $check_response: CheckResponse { problem: String } }
                message! { $namespace, $echo: Echo { value: $kind } }
                message! { $namespace, $echo_response: EchoResponse { value: $kind } }

                #[derive(Debug, Clone, PartialEq, Soap)]
                #[soap(compact, namespace = $namespace, element = $check)]
                pub struct Check {
                    case: String,
                    value: $kind,
                }

                impl Exchange for Messages {
                    type Kind = $kind;
                    type Sample = Sample;
                    type SampleResponse = SampleResponse;
                    type Check = Check;
                    type CheckResponse = CheckResponse;
                    type Echo = Echo;
                    type EchoResponse = EchoResponse;

                    fn name(sample: &Sample) -> &str {
                        &sample.case
                    }

                    fn claim(check: &Check) -> (&str, &$kind) {
                        (&check.case, &check.value)
                    }

                    fn value(echo: &Echo) -> &$kind {
                        &echo.value
                    }

                    fn echoed(response: &EchoResponse) -> &$kind {
                        &response.value
                    }
                }
            })*
        }

        #[doc = $doc]
        pub fn $service(visitor: &mut impl Visitor) {
            $(visitor.visit::<$module::$name::Messages>();)*
        }
    };
}

service! {
    /// Visits the kinds of `types.wsdl`: document/literal.
    literal in literal_messages, "urn:types":
        integers of Integers: "sampleIntegers" "sampleIntegersResponse" "checkIntegers" "checkIntegersResponse" "echoIntegers" "echoIntegersResponse";
        reals of Reals: "sampleReals" "sampleRealsResponse" "checkReals" "checkRealsResponse" "echoReals" "echoRealsResponse";
        times of Times: "sampleTimes" "sampleTimesResponse" "checkTimes" "checkTimesResponse" "echoTimes" "echoTimesResponse";
        calendar of Calendar: "sampleCalendar" "sampleCalendarResponse" "checkCalendar" "checkCalendarResponse" "echoCalendar" "echoCalendarResponse";
        texts of Texts: "sampleTexts" "sampleTextsResponse" "checkTexts" "checkTextsResponse" "echoTexts" "echoTextsResponse";
        qualified of Qualified: "sampleQualified" "sampleQualifiedResponse" "checkQualified" "checkQualifiedResponse" "echoQualified" "echoQualifiedResponse";
        nils of Nils: "sampleNils" "sampleNilsResponse" "checkNils" "checkNilsResponse" "echoNils" "echoNilsResponse";
        contacts of Contacts: "sampleContacts" "sampleContactsResponse" "checkContacts" "checkContactsResponse" "echoContacts" "echoContactsResponse";
        steps of Steps: "sampleSteps" "sampleStepsResponse" "checkSteps" "checkStepsResponse" "echoSteps" "echoStepsResponse";
        drawing of Drawing: "sampleDrawing" "sampleDrawingResponse" "checkDrawing" "checkDrawingResponse" "echoDrawing" "echoDrawingResponse";
        lists of Lists: "sampleLists" "sampleListsResponse" "checkLists" "checkListsResponse" "echoLists" "echoListsResponse";
        large of Large: "sampleLarge" "sampleLargeResponse" "checkLarge" "checkLargeResponse" "echoLarge" "echoLargeResponse";
}

service! {
    /// Visits the kinds of `encoded.wsdl`: rpc/encoded.
    encoded in encoded_messages, "urn:encoded":
        integers of Integers: "sampleIntegers" "sampleIntegersResponse" "checkIntegers" "checkIntegersResponse" "echoIntegers" "echoIntegersResponse";
        reals of Reals: "sampleReals" "sampleRealsResponse" "checkReals" "checkRealsResponse" "echoReals" "echoRealsResponse";
        times of Times: "sampleTimes" "sampleTimesResponse" "checkTimes" "checkTimesResponse" "echoTimes" "echoTimesResponse";
        calendar of Calendar: "sampleCalendar" "sampleCalendarResponse" "checkCalendar" "checkCalendarResponse" "echoCalendar" "echoCalendarResponse";
        texts of Texts: "sampleTexts" "sampleTextsResponse" "checkTexts" "checkTextsResponse" "echoTexts" "echoTextsResponse";
        qualified of Qualified: "sampleQualified" "sampleQualifiedResponse" "checkQualified" "checkQualifiedResponse" "echoQualified" "echoQualifiedResponse";
        nils of Nils: "sampleNils" "sampleNilsResponse" "checkNils" "checkNilsResponse" "echoNils" "echoNilsResponse";
        drawing of EncodedDrawing: "sampleDrawing" "sampleDrawingResponse" "checkDrawing" "checkDrawingResponse" "echoDrawing" "echoDrawingResponse";
        anything of Anything: "sampleAnything" "sampleAnythingResponse" "checkAnything" "checkAnythingResponse" "echoAnything" "echoAnythingResponse";
        arrays of Arrays: "sampleArrays" "sampleArraysResponse" "checkArrays" "checkArraysResponse" "echoArrays" "echoArraysResponse";
        jagged of Jagged: "sampleJagged" "sampleJaggedResponse" "checkJagged" "checkJaggedResponse" "echoJagged" "echoJaggedResponse";
        grids of Grids: "sampleGrids" "sampleGridsResponse" "checkGrids" "checkGridsResponse" "echoGrids" "echoGridsResponse";
        sparse of Sparse: "sampleSparse" "sampleSparseResponse" "checkSparse" "checkSparseResponse" "echoSparse" "echoSparseResponse";
        large of LargeArray: "sampleLarge" "sampleLargeResponse" "checkLarge" "checkLargeResponse" "echoLarge" "echoLargeResponse";
        graph of Graph: "sampleGraph" "sampleGraphResponse" "checkGraph" "checkGraphResponse" "echoGraph" "echoGraphResponse";
}
