//! `deltasoap query`: SQL over the tables of an archive.

use crate::cli::Query;
use anyhow::Result;

/// Says how to get queries.
#[cfg(not(feature = "query"))]
pub async fn run(_: &Query) -> Result<()> {
    anyhow::bail!(
        "this build has no queries: install one with `cargo install deltasoap-cli --features query`, or query the \
         files of the tables with DuckDB, as in: duckdb -c \"select * from 'tables/messages/*.parquet'\""
    )
}

/// Maximum number of rows of a printed table.
#[cfg(feature = "query")]
const MOST_ROWS: usize = 1000;

/// Prints or writes the rows.
#[cfg(feature = "query")]
pub async fn run(arguments: &Query) -> Result<()> {
    use crate::output::{exact_stdout, print_line, report, stdout};
    use deltasoap_archive::{QueryError, QueryTables};
    use deltasoap_report::Grid;
    use std::io::{IsTerminal as _, Write};

    let tables = QueryTables::open(&arguments.tables, arguments.limit_memory as usize)?;
    let rows = tables.select(&arguments.sql).await?;
    let written = match &arguments.output {
        Some(path) => {
            let count = rows.write_parquet(path).await?;
            report(format_args!("{count} rows in {}", path.display()));
            return Ok(());
        }
        None if arguments.json => rows.write_json(stdout()).await,
        // A file gets the values as they are: escapes mean nothing in this format.
        None if arguments.csv => {
            let is_terminal = exact_stdout().is_terminal();
            let out: Box<dyn Write> = if is_terminal { Box::new(stdout()) } else { Box::new(exact_stdout()) };
            rows.write_csv(out).await
        }
        None => {
            let columns = rows.columns();
            let (texts, is_cut) = rows.texts(MOST_ROWS).await?;
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            print_line(Grid::new("", &columns, columns.len()).with(texts).terminal())?;
            if is_cut {
                report(format_args!("only the first {MOST_ROWS} rows are shown: --json, --csv and --output have all"));
            }
            return Ok(());
        }
    };
    match written {
        Ok(_) => Ok(()),
        // A reader that has enough is no error, which the end of the command finds by the error's type.
        Err(QueryError::Output(error)) => Err(error.into()),
        Err(error) => Err(error.into()),
    }
}
