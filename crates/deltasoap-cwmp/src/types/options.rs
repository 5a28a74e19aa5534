//! Vouchers, and the options that they enable (A.4.1.3, A.4.1.4, annex C).

use super::requests;
use deltasoap::lexical::DateTime;
use deltasoap::{Binary, Soap, SoapArray};

/// A signed voucher: an item of the type `base64`, the SOAP encoding's name for `xsd:base64Binary`.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(transparent, name = "base64", namespace = "http://schemas.xmlsoap.org/soap/encoding/", item_name = "base64")]
pub struct Voucher(pub Binary);

/// An option (A.4.1.4, table 50).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "OptionStruct", rename_all = "PascalCase", compact)]
pub struct OptionStruct {
    /// The name.
    pub option_name: String,
    /// The voucher's serial number.
    #[soap(name = "VoucherSN")]
    pub voucher_sn: u32,
    /// 0 to 3, two bits: whether the option is set up, and whether it is enabled.
    pub state: u32,
    /// 0: disabled, 1: enabled until a date, 2: enabled permanently.
    pub mode: i32,
    /// Start of the option.
    pub start_date: DateTime,
    /// End of the option; absent if it does not expire.
    pub expiration_date: Option<DateTime>,
    /// 1 if the option can be transferred to another device, otherwise 0.
    pub is_transferable: i32,
}

/// Sets vouchers (A.4.1.3).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct SetVouchers {
    /// Signed vouchers.
    pub voucher_list: SoapArray<Voucher>,
}

/// The vouchers are in use (A.4.1.3).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct SetVouchersResponse {}

/// Asks for options (A.4.1.4).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetOptions {
    /// A name; empty for all options.
    pub option_name: String,
}

/// Options (A.4.1.4).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetOptionsResponse {
    /// The options.
    pub option_list: SoapArray<OptionStruct>,
}

requests! { SetVouchers => SetVouchersResponse, GetOptions => GetOptionsResponse }
