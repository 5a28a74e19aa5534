//! Tests of the program's commands, on workloads that are far too small.

mod figures;
mod load;
mod paper;
mod reproduce;
mod run;
mod send;
mod similar;
mod suite;
