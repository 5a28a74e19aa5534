//! Test types without options.

macro_rules! types {
    ($($item:item)*) => { $($item)* };
}
