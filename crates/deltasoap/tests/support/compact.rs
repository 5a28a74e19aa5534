//! The same test types, compact: tests of them that are included once more read and write by the routines that such types share.

macro_rules! types {
    ($($(#[$meta:meta])* $vis:vis $kind:ident $name:ident $(<$parameter:ident>)? $body:tt $(;)?)*) => {
        $(types!(@one $(#[$meta])* $vis $kind $name $(<$parameter>)? $body);)*
    };
    (@one $(#[$meta:meta])* $vis:vis struct $name:ident ($($fields:tt)*)) => {
        $(#[$meta])* #[soap(compact)] $vis struct $name ($($fields)*);
    };
    (@one $(#[$meta:meta])* $vis:vis $kind:ident $name:ident $(<$parameter:ident>)? $body:tt) => {
        $(#[$meta])* #[soap(compact)] $vis $kind $name $(<$parameter>)? $body
    };
}
