//! The program as its users see it, on workloads that are far too small.

mod figures;
mod load;
mod paper;
mod reproduce;
mod run;
mod send;
mod similar;
mod suite;
