//! Test types as they stand.

macro_rules! types {
    ($($item:item)*) => { $($item)* };
}
