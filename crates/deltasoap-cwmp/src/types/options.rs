//! Vouchers, and the options that they switch on (A.4.1.3, A.4.1.4, annex C).

use super::requests;
use deltasoap::lexical::DateTime;
use deltasoap::{Binary, Soap, SoapArray};

/// A signed voucher: an item of the type `base64`, as `xsd:base64Binary` is called in SOAP
/// encoding.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(transparent, name = "base64", namespace = "http://schemas.xmlsoap.org/soap/encoding/", item_name = "base64")]
pub struct Voucher(pub Binary);

/// An option (A.4.1.4, table 50).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "OptionStruct", rename_all = "PascalCase", compact)]
pub struct OptionStruct {
    /// Its name.
    pub option_name: String,
    /// The voucher's serial number.
    #[soap(name = "VoucherSN")]
    pub voucher_sn: u32,
    /// 0 to 3, of two bits: whether it is set up, and whether it is switched on.
    pub state: u32,
    /// 0: off, 1: on until a date, 2: on for good.
    pub mode: i32,
    /// When it begins.
    pub start_date: DateTime,
    /// When it ends; absent where it does not.
    pub expiration_date: Option<DateTime>,
    /// 1 where it can go to another device, else 0.
    pub is_transferable: i32,
}

/// Brings vouchers (A.4.1.3).
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
    /// A name; empty for all.
    pub option_name: String,
}

/// Options (A.4.1.4).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetOptionsResponse {
    /// One for each.
    pub option_list: SoapArray<OptionStruct>,
}

requests! { SetVouchers => SetVouchersResponse, GetOptions => GetOptionsResponse }
