//! The same test types, compact: tests that include them a second time read and write by the
//! routines that such types share.

macro_rules! types {
    () => {};
    ($(#[$meta:meta])* $vis:vis struct $name:ident <$parameter:ident> $body:tt $($rest:tt)*) => {
        $(#[$meta])* #[soap(compact)] $vis struct $name<$parameter> $body
        types!($($rest)*);
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident ($($fields:tt)*); $($rest:tt)*) => {
        $(#[$meta])* #[soap(compact)] $vis struct $name ($($fields)*);
        types!($($rest)*);
    };
    ($(#[$meta:meta])* $vis:vis $kind:ident $name:ident $body:tt $($rest:tt)*) => {
        $(#[$meta])* #[soap(compact)] $vis $kind $name $body
        types!($($rest)*);
    };
}
